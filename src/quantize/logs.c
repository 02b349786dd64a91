/* A logarithm makes a distance of a ratio: an error as large as the number itself is as bad for a small number as for a large
 * one. Where what a Log reads is mostly far below its largest, as the power of sound is, every product before it stays
 * float, the errors of one pass through all that follow. */
#include <math.h>

#include "base/words.h"
#include "quantize/scheme.h"

/* With this share of all numbers below what codes resolve, the Log gives noise. */
static const double lost_most = 0.1;

typedef struct logs {
    const tare_scheme *scheme;
    const tare_ranges *ranges;
    size_t *bits;            /* by number of the node: of the coarsest codes in what it reads and all before; 0: none */
    bool *before;            /* by number of the node: its errors reach a Log that cannot bear them */
    const tare_node *first;  /* of those, in the order of the graph, */
    double lost, first_bits; /* and what it would lose by how many */
} logs;

/* What codes of so many bits of an amplitude resolve of a power: numbers below this share of the largest are lost in rounding. */
static double resolved(size_t bits) { return ldexp(1, -2 * (int)bits); }

const tare_value *tare_log_input(const tare_node *node) {
    return node->op && node->op->quant.reads_ratios ? node->inputs[0] : NULL;
}

static size_t coarser(size_t a, size_t b) { return !a || (b && b < a) ? b : a; }

static void find_bits(logs *l) {
    tare_for_nodes (node, l->scheme->model->graph) {
        size_t *bits = &l->bits[tare_number_of(node)];
        for (int i = 0; i < node->input_count; i++) {
            const tare_value *value = node->inputs[i];
            if (!value || value->dtype != TARE_F32 || tare_value_is_constant(value)) continue;
            *bits = coarser(*bits, 8 * tare_dtype_size(tare_code_of(l->scheme, value)));
            if (value->producer) *bits = coarser(*bits, l->bits[tare_number_of(value->producer)]);
        }
    }
}

/* What was seen of all sources of what a Log reads. */
typedef struct sight {
    float largest, least; /* least: what is not lost */
    double count, lost;
} sight;

static void see_largest(void *context, const tare_value *value, const tare_range *range) {
    sight *s = context;
    (void)value;
    if (range->max > s->largest) s->largest = range->max;
}

static void see_lost(void *context, const tare_value *value, const tare_range *range) {
    sight *s = context;
    (void)value;
    s->count += (double)range->count;
    s->lost += (double)range->count * tare_range_share_outside(range, s->least, s->largest);
}

/* The share of numbers that codes would lose before the node, 0 when it is no Log. */
static double lost_share(const logs *l, const tare_node *node) {
    const tare_value *value = tare_log_input(node);
    sight s = { 0 };
    if (!value || !l->ranges) return 0;
    tare_sources_visit(l->ranges, value, see_largest, &s);
    s.least = s.largest * (float)resolved(l->bits[tare_number_of(node)]);
    if (s.largest > 0) tare_sources_visit(l->ranges, value, see_lost, &s);
    return s.count > 0 ? s.lost / s.count : 0;
}

/* Marks all nodes before one that must not see codes. */
static void mark_before(logs *l) {
    for (tare_node *node = l->scheme->model->graph->last; node; node = node->previous) {
        const double share = lost_share(l, node);
        if (share >= lost_most) l->first = node, l->lost = share, l->first_bits = (double)l->bits[tare_number_of(node)];
        if (share < lost_most && !l->before[tare_number_of(node)]) continue;
        for (int i = 0; i < node->input_count; i++)
            if (node->inputs[i] && node->inputs[i]->producer)
                l->before[tare_number_of(node->inputs[i]->producer)] = true;
    }
}

tare_status tare_spare_before_logs(tare_scheme *s, const tare_ranges *ranges, tare_error *err) {
    logs l = { .scheme = s, .ranges = ranges };
    l.bits = tare_arena_alloc(s->arena, s->node_count + 1, sizeof *l.bits);
    l.before = tare_arena_alloc(s->arena, s->node_count + 1, sizeof *l.before);
    if (!l.bits || !l.before) return tare_fail_memory(err, s->node_count * sizeof *l.bits);
    find_bits(&l);
    mark_before(&l);
    uint64_t macs = 0;
    size_t count = 0, unknown = 0;
    for (size_t i = 0; i < s->products.count; i++) {
        const tare_product *p = &s->products.at[i];
        if (l.before[tare_number_of(p->node)]) macs += p->macs, count++, unknown += !p->macs;
    }
    const bool spares = count && !unknown && tare_may_spare(s, macs);
    for (size_t i = 0; spares && i < s->products.count; i++)
        if (l.before[tare_number_of(s->products.at[i].node)])
            tare_spare_product(s, &s->products.at[i], "a logarithm reads what codes would lose");
    if (count)
        tare_log_note(
            s->log,
            "node '%s' (%s): %.0f %% of the numbers it reads are below 2^-%g of the largest, which %g bits before it "
            "cannot hold: the %zu product%s before it %s, %.1f %% of the multiply-accumulates",
            l.first->name, l.first->type, 100 * l.lost, 2 * l.first_bits, l.first_bits, count,
            tare_plural(count, "", "s"),
            spares ? tare_plural(count, "stays float", "stay float")
                   : tare_plural(count, "is quantized all the same", "are quantized all the same"),
            100 * (double)macs / (double)(s->macs ? s->macs : 1));
    return TARE_OK;
}
