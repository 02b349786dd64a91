/* Fields of the protobuf wire format, put out. */
#include "formats/onnx/emit.h"

#include <string.h>

bool tare_emit_s64(pb_ostream_t *to, uint32_t field, int64_t number) {
    return pb_encode_tag(to, PB_WT_VARINT, field) && pb_encode_varint(to, (uint64_t)number);
}

bool tare_emit_f32(pb_ostream_t *to, uint32_t field, float number) {
    return pb_encode_tag(to, PB_WT_32BIT, field) && pb_encode_fixed32(to, &number);
}

bool tare_emit_bytes(pb_ostream_t *to, uint32_t field, const void *bytes, size_t size) {
    return pb_encode_tag(to, PB_WT_STRING, field) && pb_encode_string(to, bytes, size);
}

bool tare_emit_item(pb_ostream_t *to, uint32_t field, const char *text) {
    return tare_emit_bytes(to, field, text, strlen(text));
}

bool tare_emit_text(pb_ostream_t *to, uint32_t field, const char *text) {
    return !text || !*text || tare_emit_item(to, field, text);
}

bool tare_emit_span(pb_ostream_t *to, tare_span whole) { return pb_write(to, whole.at, whole.size); }

bool tare_emit_message(pb_ostream_t *to, uint32_t field, tare_emit_body *body, const void *context, const void *item) {
    pb_ostream_t measure = PB_OSTREAM_SIZING;
    if (!body(&measure, context, item)) return false;
    if (!pb_encode_tag(to, PB_WT_STRING, field) || !pb_encode_varint(to, measure.bytes_written)) return false;
    if (!to->callback) return pb_write(to, NULL, measure.bytes_written);
    return body(to, context, item);
}
