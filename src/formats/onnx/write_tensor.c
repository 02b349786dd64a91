/* Writing ONNX: tensors, always as raw bytes but for strings; types and shapes of values. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "formats/onnx/schema.h"
#include "formats/onnx/writer.h"

enum { PIECE = 4096 }; /* bytes packed at a time */

static bool is_nibble(tare_dtype dtype) { return dtype == TARE_S4 || dtype == TARE_U4; }

size_t tare_onnx_packed_size(const tare_tensor *tensor) {
    if (tensor->dtype == TARE_STRING) return 0;
    return is_nibble(tensor->dtype) ? tensor->size / 2 + tensor->size % 2 : tensor->size;
}

bool tare_onnx_pack(const tare_tensor *tensor, tare_onnx_sink *sink, void *context) {
    if (!is_nibble(tensor->dtype)) return sink(context, tensor->data, tensor->size);
    const uint8_t *codes = tensor->data;
    uint8_t piece[PIECE];
    size_t used = 0;
    for (size_t i = 0; i < tensor->size; i += 2) {
        unsigned high = i + 1 < tensor->size ? codes[i + 1] & 15U : 0;
        piece[used++] = (uint8_t)((codes[i] & 15U) | high << 4);
        if (used < PIECE) continue;
        if (!sink(context, piece, used)) return false;
        used = 0;
    }
    return sink(context, piece, used);
}

static bool to_stream(void *context, const void *bytes, size_t size) { return pb_write(context, bytes, size); }

static bool emit_entry(pb_ostream_t *to, const void *context, const void *item) {
    return tare_emit_item(to, ENTRY_KEY, context) && tare_emit_item(to, ENTRY_VALUE, item);
}

static bool emit_external(pb_ostream_t *to, const tare_onnx_named_tensor *named) {
    char offset[24], length[24];
    snprintf(offset, sizeof offset, "%" PRIu64, named->place->offset);
    snprintf(length, sizeof length, "%zu", named->place->size);
    return tare_emit_message(to, TENSOR_EXTERNAL_DATA, emit_entry, "location", named->location) &&
           tare_emit_message(to, TENSOR_EXTERNAL_DATA, emit_entry, "offset", offset) &&
           tare_emit_message(to, TENSOR_EXTERNAL_DATA, emit_entry, "length", length) &&
           tare_emit_s64(to, TENSOR_DATA_LOCATION, LOCATION_EXTERNAL);
}

static bool emit_data(pb_ostream_t *to, const tare_tensor *tensor) {
    if (tensor->dtype == TARE_STRING) return true;
    return pb_encode_tag(to, PB_WT_STRING, TENSOR_RAW_DATA) && pb_encode_varint(to, tare_onnx_packed_size(tensor)) &&
           (to->callback ? tare_onnx_pack(tensor, to_stream, to) : pb_write(to, NULL, tare_onnx_packed_size(tensor)));
}

static bool emit_strings(pb_ostream_t *to, const tare_tensor *tensor) {
    const char *const *strings = tensor->data;
    for (size_t i = 0; tensor->dtype == TARE_STRING && i < tensor->size / sizeof *strings; i++)
        if (!tare_emit_item(to, TENSOR_STRING_DATA, strings[i])) return false;
    return true;
}

bool tare_onnx_emit_tensor(pb_ostream_t *to, const void *context, const void *item) {
    const tare_onnx_named_tensor *named = item;
    const tare_tensor *tensor = named->tensor;
    (void)context;
    for (int i = 0; i < tensor->shape.rank; i++)
        if (!tare_emit_s64(to, TENSOR_DIMS, tensor->shape.dim[i])) return false;
    if (!tare_emit_s64(to, TENSOR_DATA_TYPE, tare_dtype_to_onnx(tensor->dtype)) || !emit_strings(to, tensor) ||
        !tare_emit_text(to, TENSOR_NAME, named->name))
        return false;
    if (!(named->place ? emit_external(to, named) : emit_data(to, tensor))) return false;
    for (size_t i = 0; named->other && i < named->other->count; i++)
        if (!tare_emit_span(to, named->other->at[i])) return false;
    return true;
}

/* ---- types ---- */

static bool emit_dim(pb_ostream_t *to, const void *context, const void *item) {
    const tare_model *model = context;
    int64_t dim = *(const int64_t *)item;
    if (dim >= 0) return tare_emit_s64(to, DIM_VALUE, dim);
    return dim == TARE_DIM_UNKNOWN || tare_emit_text(to, DIM_PARAM, model->symbols.at[-2 - dim]);
}

static bool emit_shape(pb_ostream_t *to, const void *context, const void *item) {
    const tare_shape *shape = item;
    for (int i = 0; i < shape->rank; i++)
        if (!tare_emit_message(to, SHAPE_DIM, emit_dim, context, &shape->dim[i])) return false;
    return true;
}

static bool emit_tensor_type(pb_ostream_t *to, const void *context, const void *item) {
    const tare_value *value = item;
    if (!tare_emit_s64(to, TENSOR_TYPE_ELEM, tare_dtype_to_onnx(value->dtype))) return false;
    return value->shape.rank < 0 || tare_emit_message(to, TENSOR_TYPE_SHAPE, emit_shape, context, &value->shape);
}

static bool emit_type(pb_ostream_t *to, const void *context, const void *item) {
    return tare_emit_message(to, TYPE_PROTO_TENSOR, emit_tensor_type, context, item);
}

/* The file's own words say more than tare keeps (denotations, sequences); they hold while the value is what it was. */
static bool is_as_read(const tare_onnx_value *extra, const tare_value *value) {
    return extra && extra->type.at && extra->dtype == value->dtype && tare_shape_equal(&extra->shape, &value->shape);
}

bool tare_onnx_emit_info(pb_ostream_t *to, const void *context, const void *item) {
    const tare_onnx_writing *writing = context;
    const tare_value *value = item;
    const tare_onnx_value *extra = writing->extra ? value->extra : NULL;
    if (!tare_emit_item(to, VALUE_NAME, value->name)) return false;
    if (is_as_read(extra, value)) {
        if (!tare_emit_bytes(to, VALUE_TYPE, extra->type.at, extra->type.size)) return false;
    } else if (value->dtype && !tare_emit_message(to, VALUE_TYPE, emit_type, writing->model, value)) {
        return false;
    }
    if (!tare_emit_text(to, VALUE_DOC_STRING, value->doc)) return false;
    for (size_t i = 0; extra && i < extra->info.count; i++)
        if (!tare_emit_span(to, extra->info.at[i])) return false;
    return true;
}
