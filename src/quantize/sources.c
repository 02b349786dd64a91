/* Where a value's numbers come from: values that are moved, joined or cut inherit what was seen of their sources. */
#include <string.h>

#include "quantize/scheme.h"

/* The walk keeps to this many values and then says the source is unknown. */
enum { VALUES_MAX = 4096, PLACES = 2 * VALUES_MAX };

typedef struct walk {
    const tare_ranges *ranges; /* NULL: none was seen */
    bool before;               /* calibration: what it would see counts as seen */
    tare_source_visit *visit;
    void *context;
    bool complete;
    size_t met, open;
    const tare_value *ahead[VALUES_MAX]; /* met and not looked at: the last is next */
    const tare_value *place[PLACES];     /* of those that were met, from where their address says on */
} walk;

/* Joins may lead to one value in more ways than can be walked: each value counts once. */
static bool is_new(walk *w, const tare_value *value) {
    size_t at = (size_t)((uint64_t)(uintptr_t)value * 0x9e3779b97f4a7c15u >> 32) % PLACES;
    for (; w->place[at]; at = (at + 1) % PLACES)
        if (w->place[at] == value) return false;
    w->place[at] = value;
    return true;
}

static void meet(walk *w, const tare_value *value) {
    if (w->met == VALUES_MAX)
        w->complete = false;
    else if (is_new(w, value))
        w->met++, w->ahead[w->open++] = value;
}

static void look(walk *w, const tare_value *value) {
    const tare_range *range = w->ranges ? tare_ranges_find(w->ranges, value->name) : NULL;
    const tare_node *producer = value->producer;
    const tare_quant_kind kind = producer ? tare_node_quant_kind(producer) : TARE_QUANT_KEEP_FLOAT;
    if (range || (w->before && tare_calibrate_observes(value)))
        w->visit(w->context, value, range);
    else if (tare_value_is_constant(value))
        return;
    else if (kind == TARE_QUANT_PASS)
        meet(w, producer->inputs[0]);
    else if (kind != TARE_QUANT_SAME)
        w->complete = false;
    else
        for (int i = producer->input_count - 1; i >= 0; i--) /* so that the first is looked at first */
            if (producer->inputs[i] && tare_node_input_is_data(producer, i)) meet(w, producer->inputs[i]);
}

static bool follow(const tare_ranges *ranges, bool before, const tare_value *value, tare_source_visit *visit,
                   void *context) {
    walk w; /* too much to clear all of it */
    w.ranges = ranges, w.before = before, w.visit = visit, w.context = context;
    w.complete = true, w.met = 0, w.open = 0;
    memset(w.place, 0, sizeof w.place);
    meet(&w, value);
    while (w.open) look(&w, w.ahead[--w.open]);
    return w.complete;
}

bool tare_sources_visit(const tare_ranges *ranges, const tare_value *value, tare_source_visit *visit, void *context) {
    return follow(ranges, false, value, visit, context);
}

void tare_sources_list(const tare_value *value, tare_source_visit *visit, void *context) {
    follow(NULL, true, value, visit, context);
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
