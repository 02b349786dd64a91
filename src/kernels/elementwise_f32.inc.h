/* Template: f32 arithmetic, clamp, row sums and maxima, in the words of vector.inc.h. */
#include <math.h>

/* One operand or both may be a single number: it is spread out once. */
#define BINARY(slot, expression)                                                                                       \
    void VARIANT(slot)(float *to, const float *a, size_t a_stride, const float *b, size_t b_stride, size_t count) {    \
        size_t i = 0;                                                                                                  \
        if (count == 0) return;                                                                                        \
        v x = v_set(*a), y = v_set(*b);                                                                                \
        for (; i + LANES <= count; i += LANES) {                                                                       \
            if (a_stride) x = v_load(a + i);                                                                           \
            if (b_stride) y = v_load(b + i);                                                                           \
            v_store(to + i, (expression));                                                                             \
        }                                                                                                              \
        if (i == count) return;                                                                                        \
        if (a_stride) x = v_load_tail(a + i, count - i, 1);                                                            \
        if (b_stride) y = v_load_tail(b + i, count - i, 1);                                                            \
        v_store_tail(to + i, (expression), count - i);                                                                 \
    }

BINARY(add_f32, v_add(x, y))
BINARY(sub_f32, v_sub(x, y))
BINARY(mul_f32, v_mul(x, y))
BINARY(div_f32, v_div(x, y))
BINARY(max_f32, v_select(v_nan(x), x, v_greater(x, y)))
BINARY(min_f32, v_select(v_nan(x), x, v_less(x, y)))
#undef BINARY

void VARIANT(clamp_f32)(float *to, const float *from, size_t count, float lo, float hi) {
    v least = v_set(lo), most = v_set(hi);
    size_t i = 0;
    for (; i + LANES <= count; i += LANES) v_store(to + i, v_clamp(v_load(from + i), least, most));
    if (i < count) v_store_tail(to + i, v_clamp(v_load_tail(from + i, count - i, 0), least, most), count - i);
}

enum { LANE_VECTORS = TARE_LANES / LANES };

/* The tree 8-4-2-1 is a matter of a few steps: it needs no vectors. */
float VARIANT(reduce_sum_f32)(const float *from, size_t count) {
    v sum[LANE_VECTORS];
    float lanes[TARE_LANES];
    unroll (j, LANE_VECTORS) sum[j] = v_set(0);
    for (; count >= TARE_LANES; from += TARE_LANES, count -= TARE_LANES)
        unroll (j, LANE_VECTORS) sum[j] = v_add(sum[j], v_load(from + j * LANES));
    unroll (j, LANE_VECTORS) v_store(lanes + j * LANES, sum[j]);
    for (size_t i = 0; i < count; i++) lanes[i] += from[i];
    for (size_t half = TARE_LANES / 2; half > 0; half /= 2)
        for (size_t i = 0; i < half; i++) lanes[i] += lanes[i + half];
    return lanes[0];
}

/* v_greater drops a NaN on its left side; whether there was one is kept beside. */
float VARIANT(reduce_max_f32)(const float *from, size_t count) {
    v max[LANE_VECTORS], seen[LANE_VECTORS];
    float lanes[TARE_LANES], nans[TARE_LANES];
    unroll (j, LANE_VECTORS) {
        max[j] = v_set(-INFINITY);
        seen[j] = v_set(0);
    }
    for (; count >= TARE_LANES; from += TARE_LANES, count -= TARE_LANES) {
        unroll (j, LANE_VECTORS) {
            v x = v_load(from + j * LANES);
            max[j] = v_greater(x, max[j]);
            seen[j] = v_select(v_nan(x), x, seen[j]);
        }
    }
    unroll (j, LANE_VECTORS) {
        v_store(lanes + j * LANES, max[j]);
        v_store(nans + j * LANES, seen[j]);
    }
    for (size_t i = 0; i < count; i++) {
        if (isnan(from[i])) return from[i];
        if (from[i] > lanes[i]) lanes[i] = from[i];
    }
    for (size_t i = 0; i < TARE_LANES; i++)
        if (isnan(nans[i])) return nans[i];
    for (size_t half = TARE_LANES / 2; half > 0; half /= 2)
        for (size_t i = 0; i < half; i++)
            if (lanes[i + half] > lanes[i]) lanes[i] = lanes[i + half];
    return lanes[0];
}
