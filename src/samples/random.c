/* random:N: numbers made up from the places they stand at, the same in every run and on every machine. For trying
 * things out; figures made with them say so. */
#include "samples/data.h"

/* SplitMix64's finalizer (Steele, Lea, Flood 2014) of a counter. */
static uint64_t mix(uint64_t x) {
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* Each dimension that is open becomes 1, if it is the first; others must be known. */
static tare_status closed_shape(tare_shape *out, const tare_value *value, tare_error *err) {
    char want[256];
    *out = value->shape;
    if (out->rank > 0 && out->dim[0] < 0) out->dim[0] = 1;
    if (tare_shape_is_static(out)) return TARE_OK;
    tare_shape_print(want, sizeof want, &value->shape, value->graph->model->symbols.at);
    return tare_fail(err, TARE_E_USAGE,
                     "it wants %s, whose open dimensions random numbers cannot tell; pass --input-shape %s=…", want,
                     value->name);
}

/* Uniform in -1…1 in steps of 2^-23, or a pixel value 0…255 when there is a normalization to undo; integers 0 or 1,
 * which are valid indices nearly everywhere, but all codes of 8-bit types. */
static float real_of(uint64_t bits, const tare_normalize *normalize, size_t channel) {
    if (normalize->is_given) return tare_normalize_one(normalize, (float)(bits >> 56), channel);
    return (float)((int64_t)(bits >> 40) - (1 << 23)) * 0x1p-23f;
}

tare_status tare_random_tensor(const tare_feed *feed, size_t item, tare_tensor **out, tare_arena *arena,
                               tare_error *err) {
    tare_shape shape;
    TARE_TRY(closed_shape(&shape, feed->value, err));
    tare_dtype dtype = feed->value->dtype == TARE_DTYPE_NONE ? TARE_F32 : feed->value->dtype;
    tare_picture_shape picture;
    int64_t count = 0, channels = 1, inner = 1;
    if (!tare_shape_count(&shape, &count)) return tare_fail(err, TARE_E_LIMIT, "it wants more than 2^40 elements");
    if (tare_picture_shape_of(&picture, &shape, &feed->plan)) {
        channels = shape.dim[picture.channel_axis];
        inner = tare_shape_product(&shape, picture.channel_axis + 1, shape.rank);
    }
    uint64_t base = mix(mix(feed->input) ^ item);
    bool is_float = tare_dtype_is_float(dtype);
    tare_tensor *made;
    TARE_TRY(tare_tensor_new(arena, is_float ? TARE_F32 : dtype, &shape, &made, err));
    size_t size = tare_dtype_size(made->dtype);
    for (int64_t i = 0; i < count; i++) {
        uint64_t bits = mix(base + (uint64_t)i);
        if (is_float) {
            ((float *)made->data)[i] = real_of(bits, &feed->plan.normalize, (size_t)(i / inner % channels));
        } else {
            uint8_t *at = (uint8_t *)made->data + (size_t)i * size;
            for (size_t k = 1; k < size; k++) at[k] = 0;
            at[0] = (uint8_t)(dtype == TARE_S8 || dtype == TARE_U8 ? bits >> 56 : bits >> 63);
        }
    }
    if (is_float && dtype != TARE_F32) return tare_convert_reals(out, made->data, &shape, dtype, arena, err);
    *out = made;
    return TARE_OK;
}
