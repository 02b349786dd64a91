/* Figures of outputs. Sums go in the order of the numbers and of the samples, whatever ran them. */
#include "api/seen.h"

#include <math.h>
#include <stdlib.h>

#include "compare/compare.h"

/* All numbers are one vector: as many as its longest dimension. */
static bool is_vector(const tare_shape *shape, uint64_t count) {
    int64_t longest = 0;
    for (int i = 0; i < shape->rank; i++)
        if (shape->dim[i] > longest) longest = shape->dim[i];
    return count > 1 && count == (uint64_t)longest;
}

/* Keeps the largest, of equals the first, in their order. */
static void rank(tare_seen *seen, size_t index, double score) {
    size_t at = seen->top_count;
    while (at && score > seen->top[at - 1].score) at--;
    if (at == TARE_RAN_TOP) return;
    const size_t last = seen->top_count < TARE_RAN_TOP ? seen->top_count++ : TARE_RAN_TOP - 1;
    for (size_t i = last; i > at; i--) seen->top[i] = seen->top[i - 1];
    seen->top[at] = (tare_ran_class){ .index = index, .score = score };
}

void tare_seen_look(tare_seen *seen, const tare_value *value, const tare_tensor *tensor) {
    *seen = (tare_seen){
        .is_set = true, .dtype = tensor->dtype, .shape = tensor->shape, .min = INFINITY, .max = -INFINITY
    };
    seen->count = (uint64_t)tare_shape_elements(&tensor->shape);
    if (tensor->dtype == TARE_STRING) return;
    const bool ranks = tare_dtype_is_float(tensor->dtype) && is_vector(&tensor->shape, seen->count) &&
                       tare_output_is_class(tare_output_class(value), &tensor->shape);
    for (size_t i = 0; i < seen->count; i++) {
        const double number = tare_dtype_f64_at(tensor->dtype, tensor->data, i);
        if (!isfinite(number)) {
            seen->nonfinite++;
            continue;
        }
        if (number < seen->min) seen->min = number;
        if (number > seen->max) seen->max = number;
        seen->sum += number;
        if (ranks) rank(seen, i, number);
    }
}

/* ---- all samples ---- */

static int by_index(const void *a, const void *b) {
    const size_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* The classes that most samples have on top. */
static tare_status count_classes(tare_ran_output *out, const tare_seen *seen, size_t samples, size_t stride,
                                 tare_error *err) {
    tare_arena *arena = tare_arena_new();
    size_t *first = arena ? tare_arena_alloc(arena, samples + 1, sizeof *first) : NULL, count = 0;
    if (!first) {
        tare_arena_free(arena);
        return tare_fail_memory(err, samples * sizeof *first);
    }
    for (size_t i = 0; i < samples; i++)
        if (seen[i * stride].top_count) first[count++] = seen[i * stride].top[0].index;
    qsort(first, count, sizeof *first, by_index);
    tare_seen ranked = { .top_count = 0 };
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && first[end] == first[i]; end++) continue;
        rank(&ranked, first[i], (double)(end - i));
    }
    for (size_t i = 0; i < ranked.top_count; i++)
        out->top[i] = (tare_ran_class){ .index = ranked.top[i].index, .samples = (size_t)ranked.top[i].score };
    out->top_count = ranked.top_count;
    tare_arena_free(arena);
    return TARE_OK;
}

tare_status tare_seen_total(tare_ran_output *out, const tare_value *value, const tare_seen *seen, size_t samples,
                            size_t stride, tare_error *err) {
    double sum = 0;
    *out = (tare_ran_output){ .value = value, .dtype = value->dtype, .shape = value->shape };
    out->min = INFINITY, out->max = -INFINITY;
    for (size_t i = 0; i < samples; i++) {
        const tare_seen *one = &seen[i * stride];
        if (!one->is_set) continue;
        if (!out->count && !out->varies) out->dtype = one->dtype, out->shape = one->shape;
        out->varies |= !tare_shape_equal(&out->shape, &one->shape);
        out->count += one->count;
        out->nonfinite += one->nonfinite;
        out->min = fmin(out->min, one->min);
        out->max = fmax(out->max, one->max);
        sum += one->sum;
    }
    const uint64_t finite = out->count - out->nonfinite;
    const bool has_numbers = finite && out->dtype != TARE_STRING;
    if (!has_numbers) out->min = out->max = NAN;
    out->mean = has_numbers ? sum / (double)finite : NAN;
    if (samples > 1) return count_classes(out, seen, samples, stride, err);
    for (size_t i = 0; samples && i < seen->top_count; i++) out->top[out->top_count++] = seen->top[i];
    return TARE_OK;
}
