/* Where a value's numbers come from: values that are moved, joined or cut inherit what was seen of their sources. */
#include "quantize/scheme.h"

/* Chains of moves are as long as the graph; the walk keeps to this many steps and then says the source is unknown. */
enum { STEPS_MAX = 4096 };

typedef struct walk {
    const tare_ranges *ranges; /* NULL: none was seen */
    bool before;               /* calibration: what it would see counts as seen */
    tare_source_visit *visit;
    void *context;
    int steps;
    bool complete;
} walk;

/* Depth is bounded by the steps; Concat branches, moves do not. */
static void follow(walk *w, const tare_value *value, int depth) {
    for (;;) {
        const tare_range *range = w->ranges ? tare_ranges_find(w->ranges, value->name) : NULL;
        if (range || (w->before && tare_calibrate_observes(value))) {
            w->visit(w->context, value, range);
            return;
        }
        const tare_node *producer = value->producer;
        tare_quant_kind kind = producer ? tare_node_quant_kind(producer) : TARE_QUANT_KEEP_FLOAT;
        if (tare_value_is_constant(value)) return;
        if (++w->steps > STEPS_MAX || depth > 64 || (kind != TARE_QUANT_PASS && kind != TARE_QUANT_SAME)) {
            w->complete = false;
            return;
        }
        if (kind == TARE_QUANT_PASS) {
            value = producer->inputs[0];
            continue;
        }
        for (int i = 0; i < producer->input_count; i++)
            if (producer->inputs[i] && tare_node_input_is_data(producer, i)) follow(w, producer->inputs[i], depth + 1);
        return;
    }
}

bool tare_sources_visit(const tare_ranges *ranges, const tare_value *value, tare_source_visit *visit, void *context) {
    walk w = { .ranges = ranges, .visit = visit, .context = context, .complete = true };
    follow(&w, value, 0);
    return w.complete;
}

void tare_sources_list(const tare_value *value, tare_source_visit *visit, void *context) {
    walk w = { .before = true, .visit = visit, .context = context };
    follow(&w, value, 0);
}

static void widen(void *context, const tare_value *value, const tare_range *range) {
    (void)value;
    float *extremes = context;
    if (range->min < extremes[0]) extremes[0] = range->min;
    if (range->max > extremes[1]) extremes[1] = range->max;
}

void tare_sources_extremes(const tare_ranges *ranges, const tare_value *value, float *lo, float *hi) {
    float extremes[2] = { *lo, *hi };
    tare_sources_visit(ranges, value, widen, extremes);
    *lo = extremes[0];
    *hi = extremes[1];
}
