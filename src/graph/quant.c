/* Codes of numbers, and who decided a scale, in words. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "graph/graph.h"

/* ORDER: origin. `name` is what files say, and never changes; `words` what people read. */
static const struct {
    const char *name, *words;
} kinds[TARE_ORIGIN_COUNT] = {
    [TARE_ORIGIN_QDQ] = { "qdq", "qdq" },
    [TARE_ORIGIN_CLIP] = { "clip", "clip (QAT)" },
    [TARE_ORIGIN_QONNX] = { "qonnx", "qonnx" },
    [TARE_ORIGIN_MINMAX] = { "minmax", "minmax" },
    [TARE_ORIGIN_AVERAGE] = { "average", "average" },
    [TARE_ORIGIN_PERCENTILE] = { "percentile", "percentile" },
    [TARE_ORIGIN_ENTROPY] = { "entropy", "entropy" },
    [TARE_ORIGIN_MSE] = { "mse", "mse" },
    [TARE_ORIGIN_FIXED] = { "fixed", "fixed by" },
    [TARE_ORIGIN_SAME] = { "same", "same as" },
    [TARE_ORIGIN_WEIGHT] = { "weight", "weight" },
    [TARE_ORIGIN_BIAS] = { "bias", "bias = s_x*s_w" },
    [TARE_ORIGIN_CONSTANT] = { "constant", "constant" },
    [TARE_ORIGIN_RECIPE] = { "recipe", "recipe" },
    [TARE_ORIGIN_REPAIRED] = { "repaired", "repaired" },
};

const char *tare_origin_kind_name(tare_origin_kind kind) { return kinds[kind].name; }

bool tare_origin_kind_find(const char *name, tare_origin_kind *kind) {
    for (int k = 0; k < TARE_ORIGIN_COUNT; k++) {
        if (strcmp(kinds[k].name, name) != 0) continue;
        *kind = (tare_origin_kind)k;
        return true;
    }
    return false;
}

void tare_origin_print(char *to, size_t size, const tare_origin *origin) {
    const char *word = kinds[origin->kind].words, *detail = origin->detail ? origin->detail : "";
    const char *tried = origin->is_tried ? "auto: " : "";
    int n;
    if (origin->kind == TARE_ORIGIN_PERCENTILE)
        n = snprintf(to, size, "%s%s %.9g", tried, word, origin->number);
    else if (origin->kind == TARE_ORIGIN_SAME)
        n = snprintf(to, size, "%s '%s'", word, detail);
    else
        n = snprintf(to, size, "%s%s%s%s", tried, word, *detail ? " " : "", detail);
    if (origin->was && n >= 0 && (size_t)n < size) snprintf(to + n, size - (size_t)n, " (was %s)", origin->was);
}

int32_t tare_quant_code(const tare_quant *quant, size_t index, float real) {
    const int64_t lowest = tare_dtype_lowest(quant->code) + (quant->narrow ? 1 : 0);
    const int64_t highest = tare_dtype_highest(quant->code), zero_point = quant->zero_point[index];
    const float low = (float)(lowest - zero_point), high = (float)(highest - zero_point);
    float steps = real / quant->scale[index];
    steps = steps > low ? steps : low;
    const int64_t code = (int64_t)rintf(steps < high ? steps : high) + zero_point;
    return (int32_t)(code < lowest ? lowest : code > highest ? highest : code);
}
