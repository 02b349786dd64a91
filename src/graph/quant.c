/* Who decided a scale, in words. */
#include <stdio.h>

#include "graph/graph.h"

/* ORDER: origin. %s is the detail, %g the number. */
static const char *const words[TARE_ORIGIN_COUNT] = {
    [TARE_ORIGIN_QDQ] = "qdq",           [TARE_ORIGIN_CLIP] = "clip (QAT)", [TARE_ORIGIN_QONNX] = "qonnx",
    [TARE_ORIGIN_MINMAX] = "minmax",     [TARE_ORIGIN_AVERAGE] = "average", [TARE_ORIGIN_PERCENTILE] = "percentile",
    [TARE_ORIGIN_ENTROPY] = "entropy",   [TARE_ORIGIN_MSE] = "mse",         [TARE_ORIGIN_FIXED] = "fixed by",
    [TARE_ORIGIN_SAME] = "same as",      [TARE_ORIGIN_WEIGHT] = "weight",   [TARE_ORIGIN_BIAS] = "bias = s_x*s_w",
    [TARE_ORIGIN_CONSTANT] = "constant", [TARE_ORIGIN_RECIPE] = "recipe",   [TARE_ORIGIN_REPAIRED] = "repaired",
};

void tare_origin_print(char *to, size_t size, const tare_origin *origin) {
    const char *word = words[origin->kind], *detail = origin->detail ? origin->detail : "";
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
