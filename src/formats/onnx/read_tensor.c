/* Reading ONNX: tensors. Raw data is pointed at where it lies; what is misaligned, packed to 4 bits or spread over typed
 * fields is copied to the model's arena. Nothing is allocated before the file was seen to hold that much. */
#include <inttypes.h>
#include <string.h>

#include "base/size.h"
#include "base/text.h"
#include "formats/onnx/reader.h"
#include "ops/op.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "ONNX's numbers are little-endian, and so must we be");

/* The fields that can hold the elements. ORDER: source (the tables below) */
enum source { RAW, EXTERNAL, FLOATS, INT32S, STRINGS, INT64S, DOUBLES, UINT64S, SOURCE_COUNT };

static const struct {
    const char *word;
    uint32_t field;
} sources[SOURCE_COUNT] = {
    [RAW] = { "raw_data", TENSOR_RAW_DATA },           [EXTERNAL] = { "external_data", TENSOR_EXTERNAL_DATA },
    [FLOATS] = { "float_data", TENSOR_FLOAT_DATA },    [INT32S] = { "int32_data", TENSOR_INT32_DATA },
    [STRINGS] = { "string_data", TENSOR_STRING_DATA }, [INT64S] = { "int64_data", TENSOR_INT64_DATA },
    [DOUBLES] = { "double_data", TENSOR_DOUBLE_DATA }, [UINT64S] = { "uint64_data", TENSOR_UINT64_DATA },
};

/* The typed field of a type (onnx.proto's comments). */
static enum source typed_source(tare_dtype dtype) {
    switch (dtype) {
    case TARE_F32: return FLOATS;
    case TARE_F64: return DOUBLES;
    case TARE_S64: return INT64S;
    case TARE_U32:
    case TARE_U64: return UINT64S;
    case TARE_STRING: return STRINGS;
    default: return INT32S;
    }
}

static bool is_nibble(tare_dtype dtype) { return dtype == TARE_S4 || dtype == TARE_U4; }

/* A TensorProto before its elements are looked at. */
typedef struct head {
    const char *name;
    int64_t type, location;
    size_t rank;
    int64_t dim[RANK_HEADER_MAX];
    bool has_raw, has_segment;
    tare_span raw, bytes;
    tare_spans entries;        /* of external_data */
    size_t have[SOURCE_COUNT]; /* elements, or bytes of RAW */
    /* known once the type is */
    tare_dtype dtype;
    tare_shape shape;
    size_t count;
} head;

/* ---- the head ---- */

static tare_status take_dim(void *context, uint64_t bits, tare_error *err) {
    head *to = context;
    if (to->rank == RANK_HEADER_MAX) return tare_fail(err, TARE_E_LIMIT, "more than %d dimensions", RANK_HEADER_MAX);
    to->dim[to->rank++] = (int64_t)bits;
    return TARE_OK;
}

static tare_status count_items(const tare_wire *wire, const tare_wire_field *field, enum source source, head *to,
                               tare_error *err) {
    tare_span item = { 0 };
    size_t count = 0, size = source == FLOATS ? 4 : 8;
    if (source == STRINGS || source == EXTERNAL) {
        TARE_TRY(tare_wire_item(wire, field, &item, err));
        count = 1;
    } else if (source == FLOATS || source == DOUBLES) {
        TARE_TRY(tare_wire_fixed(wire, field, size, &item, err));
        count = item.size / size;
    } else {
        TARE_TRY(tare_wire_varint_count(wire, field, &count, err));
    }
    to->have[source] += count;
    return TARE_OK;
}

static tare_status read_field(tare_onnx_reader *reader, tare_wire *wire, const tare_wire_field *field, head *to,
                              tare_spans *other, tare_error *err) {
    tare_span bytes;
    switch (field->number) {
    case TENSOR_DIMS: return tare_wire_varints(wire, field, take_dim, to, err);
    case TENSOR_DATA_TYPE: return tare_wire_s64(wire, field, &to->type, err);
    case TENSOR_DATA_LOCATION: return tare_wire_s64(wire, field, &to->location, err);
    case TENSOR_SEGMENT: to->has_segment = true; return TARE_OK;
    case TENSOR_NAME:
        TARE_TRY(tare_wire_bytes(wire, field, &bytes, err));
        return tare_onnx_take_name(reader, wire, field, &to->name, err);
    case TENSOR_RAW_DATA:
        to->has_raw = true;
        TARE_TRY(tare_wire_bytes(wire, field, &to->raw, err));
        to->have[RAW] = to->raw.size;
        return TARE_OK;
    case TENSOR_EXTERNAL_DATA:
        TARE_TRY(count_items(wire, field, EXTERNAL, to, err));
        return tare_vec_push(reader->scratch, &to->entries, field->payload) ? TARE_OK : tare_fail_memory(err, 0);
    case TENSOR_FLOAT_DATA: return count_items(wire, field, FLOATS, to, err);
    case TENSOR_INT32_DATA: return count_items(wire, field, INT32S, to, err);
    case TENSOR_STRING_DATA: return count_items(wire, field, STRINGS, to, err);
    case TENSOR_INT64_DATA: return count_items(wire, field, INT64S, to, err);
    case TENSOR_DOUBLE_DATA: return count_items(wire, field, DOUBLES, to, err);
    case TENSOR_UINT64_DATA: return count_items(wire, field, UINT64S, to, err);
    default: return tare_onnx_keep(reader, other, field, err);
    }
}

static tare_status read_head(tare_onnx_reader *reader, tare_span bytes, head *to, tare_spans *other, tare_error *err) {
    tare_wire wire;
    tare_wire_field field;
    *to = (head){ .name = "", .bytes = bytes };
    tare_wire_open(&wire, reader->base, bytes, "TensorProto");
    for (;;) {
        TARE_TRY(tare_wire_next(&wire, &field, err));
        if (!field.number) return TARE_OK;
        TARE_TRY(read_field(reader, &wire, &field, to, other, err));
    }
}

static tare_status settle_type(head *to, tare_error *err) {
    to->dtype = tare_dtype_from_onnx(to->type);
    if (to->type <= 0 || to->type >= ELEMENT_TYPE_COUNT)
        return tare_fail(err, TARE_E_MALFORMED, "data_type %" PRId64 " is no type of ONNX", to->type);
    if (!to->dtype)
        return tare_fail(err, TARE_E_UNSUPPORTED,
                         "data_type %" PRId64 " (complex, or a float or integer of 8 bits or "
                         "less that tare does not have) is not supported",
                         to->type);
    return TARE_OK;
}

/* "2x3" whatever the rank and the numbers. */
static const char *print_dims(tare_onnx_reader *reader, const head *of) {
    tare_text text = { .arena = reader->scratch };
    for (size_t i = 0; i < of->rank; i++) tare_text_printf(&text, "%s%" PRId64, i ? "x" : "", of->dim[i]);
    if (!of->rank) tare_text_puts(&text, "scalar");
    return text.failed ? "?" : text.at;
}

/* The number of elements; SIZE_MAX for what no file can hold, which is found when the data is compared with it. */
static tare_status settle_shape(tare_onnx_reader *reader, head *to, tare_error *err) {
    bool is_empty = false;
    to->count = 1;
    for (size_t i = 0; i < to->rank; i++) {
        if (to->dim[i] < 0)
            return tare_fail(err, TARE_E_MALFORMED, "dims %s hold a negative number", print_dims(reader, to));
        is_empty |= to->dim[i] == 0;
        if (!tare_size_mul(to->count, (size_t)to->dim[i] + (to->dim[i] == 0), &to->count)) to->count = SIZE_MAX;
        if (to->count > (size_t)1 << 40) to->count = SIZE_MAX;
        if (i < TARE_RANK_MAX) to->shape.dim[i] = to->dim[i];
    }
    if (is_empty) to->count = 0;
    to->shape.rank = (int)to->rank;
    return TARE_OK;
}

/* dims can be past the limits only when they hold a 0: the data would not fit otherwise. */
static tare_status check_shape(tare_onnx_reader *reader, const head *of, tare_error *err) {
    if (of->rank > TARE_RANK_MAX)
        return tare_fail(err, TARE_E_UNSUPPORTED, "%zu dimensions, at most %d are supported", of->rank, TARE_RANK_MAX);
    for (size_t i = 0; i < of->rank; i++)
        if (of->dim[i] > INT32_MAX)
            return tare_fail(err, TARE_E_LIMIT, "dims %s, a dimension may be %d at most", print_dims(reader, of),
                             INT32_MAX);
    return TARE_OK;
}

/* ---- where the elements are ---- */

static tare_status fail_amount(tare_onnx_reader *reader, const head *of, enum source source, size_t want,
                               tare_error *err) {
    const char *unit = source == RAW ? "bytes" : "numbers", *dims = print_dims(reader, of);
    if (of->count == SIZE_MAX)
        return tare_fail(err, TARE_E_MALFORMED, "%s has %zu %s, dims %s want more than 2^40 elements",
                         sources[source].word, of->have[source], unit, dims);
    return tare_fail(err, TARE_E_MALFORMED, "%s has %zu %s, dims %s of %s want %zu", sources[source].word,
                     of->have[source], unit, dims, tare_dtype_name(of->dtype), want);
}

/* The one field that holds the elements. */
static tare_status find_source(const head *of, enum source *to, tare_error *err) {
    bool is_external = of->location == LOCATION_EXTERNAL;
    enum source typed = typed_source(of->dtype), found = SOURCE_COUNT;
    if (of->location != LOCATION_DEFAULT && !is_external)
        return tare_fail(err, TARE_E_MALFORMED, "data_location %" PRId64 ", want 0 or 1", of->location);
    if (of->has_segment) return tare_fail(err, TARE_E_MALFORMED, "a segment of a tensor, which no model may hold");
    for (enum source i = 0; i < SOURCE_COUNT; i++) {
        if (!of->have[i] || (i == EXTERNAL && !is_external)) continue;
        if (found != SOURCE_COUNT)
            return tare_fail(err, TARE_E_MALFORMED, "both %s and %s hold data", sources[found].word, sources[i].word);
        found = i;
    }
    if (is_external && found == SOURCE_COUNT) found = EXTERNAL;
    if (found == SOURCE_COUNT) found = of->has_raw && typed != STRINGS ? RAW : typed;
    bool fits = found == typed || ((found == RAW || found == EXTERNAL) && typed != STRINGS);
    if (!fits)
        return tare_fail(err, TARE_E_MALFORMED, "%s holds the data, which for %s belongs in %s", sources[found].word,
                         tare_dtype_name(of->dtype), sources[typed].word);
    *to = found;
    return TARE_OK;
}

/* ---- elements from bytes ---- */

/* Two to a byte, the lower four bits first. */
static tare_status unpack(tare_onnx_reader *reader, const head *of, const uint8_t *from, tare_tensor *to,
                          tare_error *err) {
    uint8_t *codes = tare_arena_alloc_raw(reader->model->arena, of->count + 1, 1);
    if (!codes) return tare_fail_memory(err, of->count);
    for (size_t i = 0; i < of->count; i++) {
        unsigned nibble = i % 2 ? from[i / 2] >> 4 : from[i / 2] & 15U;
        codes[i] = (uint8_t)(of->dtype == TARE_S4 && nibble > 7 ? nibble + 0xf0 : nibble);
    }
    to->data = codes;
    return TARE_OK;
}

/* A truth value is 0 or 1; other bytes count as true, as they do elsewhere. */
static tare_status take_bools(tare_onnx_reader *reader, const head *of, const uint8_t *from, tare_tensor *to,
                              tare_error *err) {
    bool is_plain = true;
    for (size_t i = 0; i < of->count; i++) is_plain &= from[i] < 2;
    if (is_plain) return TARE_OK;
    uint8_t *truth = tare_arena_alloc_raw(reader->model->arena, of->count, 1);
    if (!truth) return tare_fail_memory(err, of->count);
    for (size_t i = 0; i < of->count; i++) truth[i] = from[i] != 0;
    to->data = truth;
    tare_log_note(reader->options->log, "tensor '%s': truth values other than 0 and 1 are read as 1", of->name);
    return TARE_OK;
}

static tare_status take_bytes(tare_onnx_reader *reader, const head *of, tare_span bytes, tare_tensor *to,
                              tare_error *err) {
    static const uint64_t nothing[1];
    if (is_nibble(of->dtype)) return unpack(reader, of, bytes.at, to, err);
    /* Constants are never written to, so pointing at the read-only file is fine. */
    to->data = (void *)(uintptr_t)(bytes.size ? (const void *)bytes.at : nothing);
    if (of->dtype == TARE_BOOL) return take_bools(reader, of, bytes.at, to, err);
    if ((uintptr_t)to->data % tare_dtype_size(of->dtype) == 0) return TARE_OK;
    to->data = tare_arena_alloc_raw(reader->model->arena, bytes.size, 1);
    if (!to->data) return tare_fail_memory(err, bytes.size);
    memcpy(to->data, bytes.at, bytes.size);
    return TARE_OK;
}

/* ---- elements from typed fields ---- */

typedef struct filler {
    const head *of;
    uint8_t *at;    /* the next element */
    size_t element; /* bytes of one */
} filler;

/* Does int32_data's number fit the type? 16-bit floats are held as their bits. */
static bool fits(tare_dtype dtype, int64_t number) {
    switch (dtype) {
    case TARE_BOOL: return number == 0 || number == 1;
    case TARE_F16:
    case TARE_BF16: return number >= 0 && number <= UINT16_MAX;
    case TARE_S4:
    case TARE_U4: return number >= INT8_MIN && number <= UINT8_MAX; /* a byte of two */
    case TARE_U32: return number >= 0 && number <= UINT32_MAX;
    case TARE_S64:
    case TARE_U64: return true;
    default: return number >= tare_dtype_lowest(dtype) && number <= tare_dtype_highest(dtype);
    }
}

static tare_status take_number(void *context, uint64_t bits, tare_error *err) {
    filler *fill = context;
    /* An int32 below 0 has ten bytes on the wire; some writers give it five. */
    bool is_short =
        fill->of->dtype != TARE_S64 && fill->of->dtype != TARE_U64 && fill->of->dtype != TARE_U32 && bits >> 31 == 1;
    int64_t number = is_short ? (int64_t)(int32_t)(uint32_t)bits : (int64_t)bits;
    if (!fits(fill->of->dtype, number))
        return tare_fail(err, TARE_E_MALFORMED, "%" PRId64 " does not fit in %s", number,
                         tare_dtype_name(fill->of->dtype));
    memcpy(fill->at, &number, fill->element);
    fill->at += fill->element;
    return TARE_OK;
}

static tare_status take_string(tare_onnx_reader *reader, const tare_wire *wire, const tare_wire_field *field,
                               filler *fill, tare_error *err) {
    const char *text;
    TARE_TRY(tare_onnx_take_text(reader, wire, field, &text, err));
    memcpy(fill->at, &text, sizeof text);
    fill->at += sizeof text;
    return TARE_OK;
}

static tare_status take_item(tare_onnx_reader *reader, const tare_wire *wire, const tare_wire_field *field,
                             enum source source, filler *fill, tare_error *err) {
    tare_span item;
    if (source == STRINGS) return take_string(reader, wire, field, fill, err);
    if (source != FLOATS && source != DOUBLES) return tare_wire_varints(wire, field, take_number, fill, err);
    TARE_TRY(tare_wire_fixed(wire, field, fill->element, &item, err));
    if (item.size) memcpy(fill->at, item.at, item.size);
    fill->at += item.size;
    return TARE_OK;
}

/* The room is that of the numbers counted before. */
static tare_status take_typed(tare_onnx_reader *reader, const head *of, enum source source, size_t count,
                              tare_tensor *to, tare_error *err) {
    filler fill = { .of = of, .element = is_nibble(of->dtype) ? 1 : tare_dtype_size(of->dtype) };
    tare_wire wire;
    tare_wire_field field;
    fill.at = tare_arena_alloc_raw(reader->model->arena, count ? count : 1, fill.element);
    if (!fill.at) return tare_fail_memory(err, count);
    uint8_t *const start = fill.at;
    tare_wire_open(&wire, reader->base, of->bytes, "TensorProto");
    for (;;) {
        TARE_TRY(tare_wire_next(&wire, &field, err));
        if (!field.number) break;
        if (field.number == sources[source].field) TARE_TRY(take_item(reader, &wire, &field, source, &fill, err));
    }
    to->data = start;
    return is_nibble(of->dtype) ? unpack(reader, of, start, to, err) : TARE_OK;
}

/* ---- the whole ---- */

static tare_status read_data(tare_onnx_reader *reader, const head *of, tare_tensor *to, tare_error *err) {
    enum source source = RAW;
    TARE_TRY(find_source(of, &source, err));
    size_t packed = is_nibble(of->dtype) && of->count != SIZE_MAX ? of->count / 2 + of->count % 2 : of->count, want;
    if (!tare_size_mul(packed, source == RAW || source == EXTERNAL ? tare_dtype_size(of->dtype) : 1, &want))
        want = SIZE_MAX;
    if (source == EXTERNAL) {
        tare_span bytes;
        if (want == SIZE_MAX)
            return tare_fail(err, TARE_E_MALFORMED, "dims %s want more than 2^40 elements", print_dims(reader, of));
        TARE_TRY(tare_onnx_read_external(reader, &of->entries, want, &bytes, err));
        return take_bytes(reader, of, bytes, to, err);
    }
    if (of->have[source] != want) return fail_amount(reader, of, source, want, err);
    TARE_TRY(check_shape(reader, of, err));
    return source == RAW ? take_bytes(reader, of, of->raw, to, err) : take_typed(reader, of, source, want, to, err);
}

static tare_status read_tensor(tare_onnx_reader *reader, head *of, tare_tensor *to, tare_error *err) {
    TARE_TRY(settle_type(of, err));
    TARE_TRY(settle_shape(reader, of, err));
    if (of->rank > TARE_RANK_MAX) return check_shape(reader, of, err);
    to->dtype = of->dtype;
    to->shape = of->shape;
    TARE_TRY(read_data(reader, of, to, err));
    to->size = of->count * tare_dtype_size(of->dtype);
    return check_shape(reader, of, err);
}

tare_status tare_onnx_read_tensor(tare_onnx_reader *reader, tare_span bytes, const char **name, tare_tensor **to,
                                  tare_spans *other, tare_error *err) {
    head of;
    *to = tare_arena_alloc(reader->model->arena, 1, sizeof **to);
    if (!*to) return tare_fail_memory(err, sizeof **to);
    TARE_TRY(read_head(reader, bytes, &of, other, err));
    *name = of.name;
    if (read_tensor(reader, &of, *to, err) == TARE_OK) return TARE_OK;
    return *of.name ? tare_within(err, "tensor '%s'", of.name) : err->status;
}
