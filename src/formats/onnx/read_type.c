/* Reading ONNX: what is declared of values. */
#include <inttypes.h>

#include "base/text.h"
#include "formats/onnx/reader.h"
#include "ops/op.h"

/* A TypeProto, as far as tare has words for it. */
typedef struct declared {
    tare_dtype dtype;
    tare_shape shape;
} declared;

static tare_status read_dim(tare_onnx_reader *reader, tare_span bytes, bool with_symbols, int64_t *to,
                            tare_error *err) {
    tare_wire wire;
    tare_wire_field field;
    *to = TARE_DIM_UNKNOWN;
    tare_wire_open(&wire, reader->base, bytes, "TensorShapeProto.Dimension");
    for (;;) {
        TARE_TRY(tare_wire_next(&wire, &field, err));
        if (!field.number) return TARE_OK;
        if (field.number == DIM_VALUE) {
            TARE_TRY(tare_wire_s64(&wire, &field, to, err));
            if (*to > INT32_MAX) {
                tare_wire_fail(&wire, &field, err, "dimension %" PRId64 ", at most %d is allowed", *to, INT32_MAX);
                return err->status = TARE_E_LIMIT;
            }
            /* -1 for "any" is written by several exporters. */
            if (*to < -1) return tare_wire_fail(&wire, &field, err, "dimension %" PRId64, *to);
        } else if (field.number == DIM_PARAM) {
            const char *name;
            tare_span text;
            TARE_TRY(tare_wire_bytes(&wire, &field, &text, err));
            TARE_TRY(tare_onnx_take_name(reader, &wire, &field, &name, err));
            if (*name && with_symbols) *to = tare_model_symbol(reader->model, name);
        }
    }
}

static tare_status read_shape(tare_onnx_reader *reader, tare_span bytes, bool with_symbols, tare_shape *to,
                              tare_error *err) {
    tare_wire wire;
    tare_wire_field field;
    int rank = 0;
    *to = (tare_shape){ .rank = 0 };
    tare_wire_open(&wire, reader->base, bytes, "TensorShapeProto");
    for (;;) {
        tare_span dim;
        int64_t number;
        TARE_TRY(tare_wire_next(&wire, &field, err));
        if (!field.number) break;
        if (field.number != SHAPE_DIM) continue;
        TARE_TRY(tare_wire_item(&wire, &field, &dim, err));
        if (rank == RANK_HEADER_MAX) return tare_fail(err, TARE_E_LIMIT, "more than %d dimensions", RANK_HEADER_MAX);
        TARE_TRY(read_dim(reader, dim, with_symbols, &number, err));
        if (rank < TARE_RANK_MAX) to->dim[rank] = number;
        rank++;
    }
    if (rank <= TARE_RANK_MAX)
        to->rank = rank;
    else
        *to = tare_shape_unknown();
    return TARE_OK;
}

static tare_status read_tensor_type(tare_onnx_reader *reader, tare_span bytes, bool with_symbols, declared *to,
                                    tare_error *err) {
    tare_wire wire;
    tare_wire_field field;
    tare_wire_open(&wire, reader->base, bytes, "TypeProto.Tensor");
    for (;;) {
        TARE_TRY(tare_wire_next(&wire, &field, err));
        if (!field.number) return TARE_OK;
        if (field.number == TENSOR_TYPE_ELEM) {
            int64_t number;
            TARE_TRY(tare_wire_s64(&wire, &field, &number, err));
            if (number < 0 || number >= ELEMENT_TYPE_COUNT)
                return tare_wire_fail(&wire, &field, err, "elem_type %" PRId64 " is no type of ONNX", number);
            to->dtype = tare_dtype_from_onnx(number);
        } else if (field.number == TENSOR_TYPE_SHAPE) {
            tare_span shape;
            TARE_TRY(tare_wire_bytes(&wire, &field, &shape, err));
            TARE_TRY(read_shape(reader, shape, with_symbols, &to->shape, err));
        }
    }
}

static tare_status read_type(tare_onnx_reader *reader, tare_span bytes, bool with_symbols, declared *to,
                             tare_error *err) {
    tare_wire wire;
    tare_wire_field field;
    tare_wire_open(&wire, reader->base, bytes, "TypeProto");
    for (;;) {
        tare_span tensor;
        TARE_TRY(tare_wire_next(&wire, &field, err));
        if (!field.number) return TARE_OK;
        if (field.number != TYPE_PROTO_TENSOR) continue;
        TARE_TRY(tare_wire_bytes(&wire, &field, &tensor, err));
        TARE_TRY(read_tensor_type(reader, tensor, with_symbols, to, err));
    }
}

tare_onnx_value *tare_onnx_value_extra(tare_onnx_reader *reader, tare_value *value, tare_error *err) {
    /* The reader made it, and nobody else knows it yet. */
    if (value->extra) return (tare_onnx_value *)(uintptr_t)value->extra;
    tare_onnx_value *extra = tare_arena_alloc(reader->model->arena, 1, sizeof *extra);
    if (extra)
        value->extra = extra;
    else
        tare_fail_memory(err, sizeof *extra);
    return extra;
}

tare_status tare_onnx_read_info_name(tare_onnx_reader *reader, tare_span bytes, const char **name, tare_error *err) {
    tare_wire wire;
    tare_wire_field field;
    *name = "";
    tare_wire_open(&wire, reader->base, bytes, "ValueInfoProto");
    for (;;) {
        tare_span text;
        TARE_TRY(tare_wire_next(&wire, &field, err));
        if (!field.number) return TARE_OK;
        if (field.number != VALUE_NAME) continue;
        TARE_TRY(tare_wire_bytes(&wire, &field, &text, err));
        TARE_TRY(tare_onnx_take_name(reader, &wire, &field, name, err));
    }
}

/* A known dimension wins over a symbol, a symbol over nothing. */
static bool merge_dim(int64_t *to, int64_t other) {
    if (*to >= 0 && other >= 0) return *to == other;
    if (other >= 0 || *to == TARE_DIM_UNKNOWN) *to = other;
    return true;
}

tare_status tare_onnx_declare(const tare_onnx_reader *reader, tare_value *value, tare_dtype dtype,
                              const tare_shape *shape, tare_error *err) {
    tare_shape merged = value->shape.rank < 0 ? *shape : value->shape;
    bool fits = shape->rank < 0 || merged.rank == shape->rank;
    for (int i = 0; fits && i < shape->rank; i++) fits = merge_dim(&merged.dim[i], shape->dim[i]);
    if (fits && dtype && value->dtype) fits = dtype == value->dtype;
    if (fits) {
        value->shape = merged;
        if (dtype) value->dtype = dtype;
        return TARE_OK;
    }
    char one[160], two[160];
    const char *const *symbols = reader->model->symbols.at;
    tare_shape_print(one, sizeof one, &value->shape, symbols);
    tare_shape_print(two, sizeof two, shape, symbols);
    return tare_fail(err, TARE_E_MALFORMED, "it is %s %s in one place and %s %s in another",
                     value->dtype ? tare_dtype_name(value->dtype) : "any", one, dtype ? tare_dtype_name(dtype) : "any",
                     two);
}

static tare_status read_info(tare_onnx_reader *reader, tare_span bytes, tare_value *value, bool with_symbols,
                             tare_onnx_value *extra, tare_error *err) {
    tare_wire wire;
    tare_wire_field field;
    declared said = { .shape = tare_shape_unknown() };
    tare_span type = { 0 }, doc;
    tare_wire_open(&wire, reader->base, bytes, "ValueInfoProto");
    for (;;) {
        TARE_TRY(tare_wire_next(&wire, &field, err));
        if (!field.number) break;
        switch (field.number) {
        case VALUE_NAME: continue;
        case VALUE_TYPE:
            TARE_TRY(tare_wire_bytes(&wire, &field, &type, err));
            TARE_TRY(read_type(reader, type, with_symbols, &said, err));
            continue;
        case VALUE_DOC_STRING:
            TARE_TRY(tare_wire_bytes(&wire, &field, &doc, err));
            if (value->doc || !tare_onnx_is_text(doc)) continue;
            value->doc = tare_arena_copy(reader->model->arena, doc.at, doc.size);
            if (!value->doc) return tare_fail_memory(err, doc.size);
            continue;
        default: TARE_TRY(tare_onnx_keep(reader, &extra->info, &field, err)); continue;
        }
    }
    TARE_TRY(tare_onnx_declare(reader, value, said.dtype, &said.shape, err));
    /* With symbols left out the words of the file would say more than the value does. */
    if (!with_symbols) return TARE_OK;
    extra->type = type;
    extra->dtype = said.dtype;
    extra->shape = said.shape;
    return TARE_OK;
}

tare_status tare_onnx_read_info(tare_onnx_reader *reader, tare_span bytes, tare_value *value, bool with_symbols,
                                tare_error *err) {
    tare_onnx_value *extra = tare_onnx_value_extra(reader, value, err);
    if (extra && read_info(reader, bytes, value, with_symbols, extra, err) == TARE_OK) return TARE_OK;
    return tare_within(err, "tensor '%s'", value->name);
}
