/* Reading ONNX: sparse initializers, made dense. */
#include <string.h>

#include "base/size.h"
#include "formats/onnx/reader.h"

typedef struct sparse {
    bool has_values, has_indices;
    tare_span values, indices;
    int rank;
    int64_t dim[RANK_HEADER_MAX];
} sparse;

static tare_status take_dim(void *context, uint64_t bits, tare_error *err) {
    sparse *to = context;
    if (to->rank == TARE_RANK_MAX) return tare_fail(err, TARE_E_LIMIT, "more than %d dimensions", TARE_RANK_MAX);
    to->dim[to->rank++] = (int64_t)bits;
    return TARE_OK;
}

static tare_status read_parts(tare_onnx_reader *reader, tare_span bytes, sparse *to, tare_error *err) {
    tare_wire wire;
    tare_wire_field field;
    *to = (sparse){ 0 };
    tare_wire_open(&wire, reader->base, bytes, "SparseTensorProto");
    for (;;) {
        TARE_TRY(tare_wire_next(&wire, &field, err));
        switch (field.number) {
        case 0: break;
        case SPARSE_VALUES:
            to->has_values = true;
            TARE_TRY(tare_wire_bytes(&wire, &field, &to->values, err));
            continue;
        case SPARSE_INDICES:
            to->has_indices = true;
            TARE_TRY(tare_wire_bytes(&wire, &field, &to->indices, err));
            continue;
        case SPARSE_DIMS: TARE_TRY(tare_wire_varints(&wire, &field, take_dim, to, err)); continue;
        default: continue;
        }
        break;
    }
    if (to->has_values && to->has_indices) return TARE_OK;
    return tare_fail(err, TARE_E_MALFORMED, "a sparse tensor without values or indices");
}

/* indices are [n] positions in the whole, or [n, rank] coordinates. */
static tare_status check_indices(const tare_tensor *indices, int64_t count, int rank, tare_error *err) {
    const tare_shape *shape = &indices->shape;
    if (indices->dtype != TARE_S64)
        return tare_fail(err, TARE_E_MALFORMED, "indices are %s, want s64", tare_dtype_name(indices->dtype));
    bool fits = (shape->rank == 1 || (shape->rank == 2 && shape->dim[1] == rank)) && shape->dim[0] == count;
    if (fits) return TARE_OK;
    char text[160];
    tare_shape_print(text, sizeof text, shape, NULL);
    return tare_fail(err, TARE_E_MALFORMED, "indices are %s for %lld values of rank %d", text, (long long)count, rank);
}

/* The position of value i; -1 when a coordinate is outside. */
static int64_t position(const tare_tensor *indices, const tare_shape *shape, int64_t i, int64_t count) {
    const int64_t *at = indices->data;
    if (indices->shape.rank == 1) return at[i] >= 0 && at[i] < count ? at[i] : -1;
    int64_t place = 0;
    for (int k = 0; k < shape->rank; k++) {
        int64_t index = at[i * shape->rank + k];
        if (index < 0 || index >= shape->dim[k]) return -1;
        place = place * shape->dim[k] + index;
    }
    return place;
}

static tare_status scatter(const tare_tensor *values, const tare_tensor *indices, tare_tensor *to, tare_error *err) {
    size_t element = tare_dtype_size(values->dtype);
    int64_t last = -1, count = tare_shape_elements(&to->shape);
    for (int64_t i = 0; i < values->shape.dim[0]; i++) {
        int64_t place = position(indices, &to->shape, i, count);
        if (place < 0) return tare_fail(err, TARE_E_MALFORMED, "index %lld lies outside of dims", (long long)i);
        if (place <= last) return tare_fail(err, TARE_E_MALFORMED, "index %lld is not in order", (long long)i);
        last = place;
        memcpy((uint8_t *)to->data + (size_t)place * element, (const uint8_t *)values->data + (size_t)i * element,
               element);
    }
    return TARE_OK;
}

static tare_status make_dense(tare_onnx_reader *reader, const sparse *from, const tare_tensor *values,
                              const tare_tensor *indices, tare_tensor **to, tare_error *err) {
    size_t size;
    if (values->dtype == TARE_STRING)
        return tare_fail(err, TARE_E_UNSUPPORTED, "a sparse tensor of strings is not supported");
    if (values->shape.rank != 1)
        return tare_fail(err, TARE_E_MALFORMED, "values have rank %d, want 1", values->shape.rank);
    for (int i = 0; i < from->rank; i++)
        if (from->dim[i] < 0 || from->dim[i] > INT32_MAX)
            return tare_fail(err, TARE_E_MALFORMED, "dimension %d is %lld", i, (long long)from->dim[i]);
    const tare_shape shape = tare_shape_of(from->rank, from->dim);
    TARE_TRY(check_indices(indices, values->shape.dim[0], from->rank, err));
    if (!tare_tensor_size(values->dtype, &shape, &size) || size > SPARSE_SIZE_MAX - reader->dense)
        return tare_fail(err, TARE_E_LIMIT, "sparse tensors are more than %zu bytes when they are made dense",
                         SPARSE_SIZE_MAX);
    if (size > SPARSE_SIZE_FREE && (size - SPARSE_SIZE_FREE) / SPARSE_RATIO_MAX > values->size)
        return tare_fail(err, TARE_E_LIMIT,
                         "%zu bytes when it is made dense, %d times those of its values and more: store it dense", size,
                         SPARSE_RATIO_MAX);
    reader->dense += size;
    TARE_TRY(tare_tensor_new(reader->model->arena, values->dtype, &shape, to, err));
    memset((*to)->data, 0, size);
    return scatter(values, indices, *to, err);
}

tare_status tare_onnx_read_sparse(tare_onnx_reader *reader, tare_span bytes, const char **name, tare_tensor **to,
                                  tare_error *err) {
    sparse from;
    const char *nobody;
    tare_tensor *values, *indices;
    tare_spans other = { 0 };
    TARE_TRY(read_parts(reader, bytes, &from, err));
    TARE_TRY(tare_onnx_read_tensor(reader, from.values, name, &values, &other, err));
    tare_status status = tare_onnx_read_tensor(reader, from.indices, &nobody, &indices, &other, err);
    if (status == TARE_OK) status = make_dense(reader, &from, values, indices, to, err);
    return status == TARE_OK ? TARE_OK : tare_within(err, "tensor '%s'", *name);
}
