/* The walker over protobuf's wire format. Groups are refused: ONNX has none. */
#include "formats/onnx/wire.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/size.h"

void tare_wire_open(tare_wire *wire, const uint8_t *base, tare_span bytes, const char *message) {
    *wire = (tare_wire){ .stream = pb_istream_from_buffer(bytes.at, bytes.size),
                         .base = base,
                         .end = bytes.at + bytes.size,
                         .message = message };
}

static const uint8_t *here(const tare_wire *wire) { return wire->end - wire->stream.bytes_left; }

static size_t offset_of(const tare_wire *wire, const uint8_t *at) { return (size_t)(at - wire->base); }

tare_status tare_wire_fail(const tare_wire *wire, const tare_wire_field *field, tare_error *err, const char *format,
                           ...) {
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return tare_fail(err, TARE_E_MALFORMED, "byte %zu: field %u of %s: %s", offset_of(wire, field->whole.at),
                     (unsigned)field->number, wire->message, text);
}

/* The same where no field is known yet. */
static tare_status fail_tag(const tare_wire *wire, const uint8_t *at, const char *what, tare_error *err) {
    return tare_fail(err, TARE_E_MALFORMED, "byte %zu: %s in %s", offset_of(wire, at), what, wire->message);
}

/* The model itself ends where the file does. */
static bool is_file(const tare_wire *wire) { return !strcmp(wire->message, "ModelProto"); }

static const char *reason(const tare_wire *wire) {
    if (wire->stream.bytes_left == 0) return "the message ends inside it";
    return wire->stream.errmsg ? wire->stream.errmsg : "cannot be decoded";
}

static tare_status read_payload(tare_wire *wire, tare_wire_field *field, tare_error *err) {
    uint32_t half = 0;
    switch (field->type) {
    case PB_WT_VARINT:
        if (pb_decode_varint(&wire->stream, &field->bits)) return TARE_OK;
        break;
    case PB_WT_64BIT:
        if (pb_decode_fixed64(&wire->stream, &field->bits)) return TARE_OK;
        break;
    case PB_WT_32BIT:
        if (!pb_decode_fixed32(&wire->stream, &half)) break;
        field->bits = half;
        return TARE_OK;
    case PB_WT_STRING:
        if (!pb_decode_varint(&wire->stream, &field->bits)) break;
        if (field->bits > wire->stream.bytes_left)
            return tare_wire_fail(wire, field, err,
                                  "length %llu goes past the end of the message, %zu bytes are left%s",
                                  (unsigned long long)field->bits, wire->stream.bytes_left,
                                  is_file(wire) ? "; the file is cut short: fetch it again" : "");
        field->payload = (tare_span){ here(wire), (size_t)field->bits };
        if (pb_read(&wire->stream, NULL, field->payload.size)) return TARE_OK;
        break;
    default:
        return tare_wire_fail(wire, field, err, "wire type %d, which ONNX does not have; is this an ONNX file?",
                              (int)field->type);
    }
    return tare_wire_fail(wire, field, err, "%s", reason(wire));
}

tare_status tare_wire_next(tare_wire *wire, tare_wire_field *field, tare_error *err) {
    *field = (tare_wire_field){ 0 };
    if (wire->stream.bytes_left == 0) return TARE_OK;
    const uint8_t *start = here(wire);
    bool at_end = false;
    uint32_t number = 0;
    if (!pb_decode_tag(&wire->stream, &field->type, &number, &at_end))
        return fail_tag(wire, start, "a tag that cannot be decoded", err);
    if (number == 0) return fail_tag(wire, start, "field number 0", err);
    field->number = number;
    field->whole.at = start;
    TARE_TRY(read_payload(wire, field, err));
    field->whole.size = (size_t)(here(wire) - start);
    return TARE_OK;
}

static tare_status want_type(const tare_wire *wire, const tare_wire_field *field, pb_wire_type_t type,
                             tare_error *err) {
    if (field->type == type) return TARE_OK;
    return tare_wire_fail(wire, field, err, "wire type %d, want %d", (int)field->type, (int)type);
}

static tare_status want_once(tare_wire *wire, const tare_wire_field *field, pb_wire_type_t type, tare_error *err) {
    TARE_TRY(want_type(wire, field, type, err));
    uint64_t bit = (uint64_t)1 << (field->number & 63);
    if (wire->seen & bit) return tare_wire_fail(wire, field, err, "stands twice");
    wire->seen |= bit;
    return TARE_OK;
}

tare_status tare_wire_bytes(tare_wire *wire, const tare_wire_field *field, tare_span *to, tare_error *err) {
    TARE_TRY(want_once(wire, field, PB_WT_STRING, err));
    *to = field->payload;
    return TARE_OK;
}

tare_status tare_wire_s64(tare_wire *wire, const tare_wire_field *field, int64_t *to, tare_error *err) {
    TARE_TRY(want_once(wire, field, PB_WT_VARINT, err));
    *to = (int64_t)field->bits;
    return TARE_OK;
}

tare_status tare_wire_f32(tare_wire *wire, const tare_wire_field *field, float *to, tare_error *err) {
    TARE_TRY(want_once(wire, field, PB_WT_32BIT, err));
    union {
        uint32_t bits;
        float number;
    } same = { .bits = (uint32_t)field->bits };
    *to = same.number;
    return TARE_OK;
}

tare_status tare_wire_item(const tare_wire *wire, const tare_wire_field *field, tare_span *to, tare_error *err) {
    TARE_TRY(want_type(wire, field, PB_WT_STRING, err));
    *to = field->payload;
    return TARE_OK;
}

tare_status tare_wire_fixed(const tare_wire *wire, const tare_wire_field *field, size_t size, tare_span *to,
                            tare_error *err) {
    if (field->type == (size == 4 ? PB_WT_32BIT : PB_WT_64BIT)) {
        *to = (tare_span){ field->whole.at + (field->whole.size - size), size };
        return TARE_OK;
    }
    TARE_TRY(want_type(wire, field, PB_WT_STRING, err));
    if (field->payload.size % size)
        return tare_wire_fail(wire, field, err, "%zu bytes are no whole number of %zu-byte numbers",
                              field->payload.size, size);
    *to = field->payload;
    return TARE_OK;
}

tare_status tare_wire_varint_count(const tare_wire *wire, const tare_wire_field *field, size_t *count,
                                   tare_error *err) {
    *count = 1;
    if (field->type == PB_WT_VARINT) return TARE_OK;
    TARE_TRY(want_type(wire, field, PB_WT_STRING, err));
    size_t ends = 0;
    for (size_t i = 0; i < field->payload.size; i++) ends += field->payload.at[i] < 0x80;
    if (field->payload.size && field->payload.at[field->payload.size - 1] >= 0x80)
        return tare_wire_fail(wire, field, err, "the list ends inside a number");
    *count = ends;
    return TARE_OK;
}

tare_status tare_wire_varints(const tare_wire *wire, const tare_wire_field *field, tare_wire_take *take, void *context,
                              tare_error *err) {
    if (field->type == PB_WT_VARINT) return take(context, field->bits, err);
    TARE_TRY(want_type(wire, field, PB_WT_STRING, err));
    pb_istream_t stream = pb_istream_from_buffer(field->payload.at, field->payload.size);
    while (stream.bytes_left) {
        uint64_t bits;
        if (!pb_decode_varint(&stream, &bits))
            return tare_wire_fail(wire, field, err, "a number at its byte %zu cannot be decoded",
                                  field->payload.size - stream.bytes_left);
        TARE_TRY(take(context, bits, err));
    }
    return TARE_OK;
}
