/* Raw files: numbers of a type and shape that the user says, or NV12 frames; one after the other, without a header. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "samples/data.h"

static bool parse_dims(tare_shape *shape, const char *text) {
    shape->rank = 0;
    for (;;) {
        char *end;
        if (text[0] < '0' || text[0] > '9' || shape->rank == TARE_RANK_MAX) return false;
        unsigned long long dim = strtoull(text, &end, 10);
        if (dim == 0 || dim > INT32_MAX) return false;
        shape->dim[shape->rank++] = (int64_t)dim;
        if (*end == '\0') return true;
        if (*end != 'x') return false;
        text = end + 1;
    }
}

bool tare_raw_parse(tare_data *data, const char *suffix) {
    const char *colon = strchr(suffix, ':');
    char type[8];
    size_t length = colon == NULL ? sizeof type : (size_t)(colon - suffix), size;
    if (length >= sizeof type) return false;
    memcpy(type, suffix, length);
    type[length] = '\0';
    tare_shape shape;
    if (!parse_dims(&shape, colon + 1)) return false;
    if (strcmp(type, "nv12") == 0) {
        if (shape.rank != 2) return false;
        data->kind = TARE_DATA_NV12;
        data->raw_shape = tare_shape_of(2, (const int64_t[]){ shape.dim[1], shape.dim[0] });
        return true;
    }
    tare_dtype dtype = tare_dtype_find(type);
    if (dtype == TARE_DTYPE_NONE || dtype == TARE_STRING || dtype == TARE_S4 || dtype == TARE_U4) return false;
    if (!tare_tensor_size(dtype, &shape, &size)) return false;
    data->kind = TARE_DATA_RAW;
    data->raw_dtype = dtype;
    data->raw_shape = shape;
    return true;
}

size_t tare_raw_size(const tare_data *data) {
    size_t size;
    if (data->kind == TARE_DATA_NV12) return tare_nv12_size((int)data->raw_shape.dim[1], (int)data->raw_shape.dim[0]);
    return tare_tensor_size(data->raw_dtype, &data->raw_shape, &size) ? size : 0;
}

static tare_status check_frame(const tare_data *data, char *what, size_t room, tare_error *err) {
    int64_t height = data->raw_shape.dim[0], width = data->raw_shape.dim[1];
    if (width % 2 != 0 || height % 2 != 0) {
        return tare_fail(err, TARE_E_USAGE, "NV12 frames have even sides, not %lldx%lld", (long long)width,
                         (long long)height);
    }
    TARE_TRY(tare_image_check_size((uint64_t)width, (uint64_t)height, err));
    snprintf(what, room, "an NV12 frame of %lldx%lld", (long long)width, (long long)height);
    return TARE_OK;
}

tare_status tare_raw_count(const tare_data *data, uint64_t size, size_t *count, tare_error *err) {
    char what[160], shape[128];
    if (data->kind == TARE_DATA_NV12) {
        TARE_TRY(check_frame(data, what, sizeof what, err));
    } else {
        tare_shape_print(shape, sizeof shape, &data->raw_shape, NULL);
        snprintf(what, sizeof what, "%s %s", tare_dtype_name(data->raw_dtype), shape);
    }
    uint64_t one = tare_raw_size(data);
    if (size == 0 || size % one != 0) {
        return tare_fail(err, TARE_E_USAGE,
                         "has %llu bytes, %s takes %llu: no whole number of them; pass the size it has",
                         (unsigned long long)size, what, (unsigned long long)one);
    }
    *count = (size_t)(size / one);
    return TARE_OK;
}
