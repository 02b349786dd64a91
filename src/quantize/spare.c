/* Products that stay float because codes would ruin them: a rule a file, and one budget for all, so that nearly all
 * multiply-accumulates are integer whatever the rules find. */
#include "quantize/scheme.h"

/* Of all multiply-accumulates, what may stay float: at least nine tenths are integer. */
static const double macs_most = 0.1;

typedef tare_status rule(tare_scheme *scheme, const tare_ranges *ranges, tare_error *err);

static rule *const rules[] = { tare_spare_before_logs, tare_spare_starved };

/* Sizes of open dimensions, from how many numbers calibration counted in a sample. */
typedef struct sizes {
    const tare_ranges *ranges;
    int64_t *symbol; /* by number; 0: not known */
    size_t symbol_count;
} sizes;

static int64_t size_of(const sizes *s, int64_t dim) {
    const size_t symbol = dim < TARE_DIM_UNKNOWN ? (size_t)(-2 - dim) : SIZE_MAX;
    return dim < 0 && symbol < s->symbol_count ? s->symbol[symbol] : dim > 0 ? dim : 0;
}

static const int64_t numbers_most = (int64_t)1 << 40; /* of a value, as everywhere */

/* Puts sizes in for dimensions; the first that has none, NULL when all have, and the product of the others. */
static int64_t *fill_in(const sizes *s, tare_shape *shape, int64_t *known, int *open_count) {
    int64_t *open = NULL;
    *known = 1, *open_count = 0;
    for (int d = 0; d < shape->rank; d++) {
        const int64_t size = size_of(s, shape->dim[d]);
        if (shape->dim[d] >= 0 || size > 0) {
            shape->dim[d] = size;
            *known = size > 0 && *known > numbers_most / size ? numbers_most : *known * size;
            continue;
        }
        ++*open_count;
        if (!open) open = &shape->dim[d];
    }
    return open;
}

/* Of a sample; 0: not seen. */
static int64_t numbers_of(const sizes *s, const tare_value *value) {
    const tare_range *range = s->ranges ? tare_ranges_find(s->ranges, value->name) : NULL;
    const uint64_t samples = range ? tare_ranges_samples(s->ranges) : 0;
    return samples ? (int64_t)(range->count / samples) : 0;
}

/* One symbol is one size wherever it stands: a value that was counted and has nothing else open tells it. */
static bool find_sizes(sizes *s, const tare_scheme *scheme) {
    const tare_model *model = scheme->model;
    s->symbol_count = model->symbols.count;
    s->symbol = tare_arena_alloc(scheme->arena, s->symbol_count + 1, sizeof *s->symbol);
    if (!s->symbol) return false;
    for (size_t i = 0; i < model->graph->values.entries.count; i++) {
        const tare_value *value = model->graph->values.entries.at[i].value;
        if (!value || value->shape.rank < 0) continue;
        tare_shape shape = value->shape;
        int64_t known;
        int open_count;
        const int64_t *open = fill_in(s, &shape, &known, &open_count), seen = numbers_of(s, value);
        if (open && open_count == 1 && *open < TARE_DIM_UNKNOWN && known > 0 && seen > 0)
            s->symbol[-2 - *open] = seen / known;
    }
    return true;
}

/* A shape whose open dimensions hold as many numbers as were counted of the value, or of one that is `like` it. */
static tare_shape seen_shape(const sizes *s, const tare_value *value, const tare_value *like) {
    tare_shape shape = value->shape;
    int64_t known, seen = numbers_of(s, value);
    int open_count;
    if (!seen && like) seen = numbers_of(s, like);
    int64_t *open = fill_in(s, &shape, &known, &open_count);
    if (!open || known <= 0 || seen <= 0) return shape;
    for (int d = 0; d < shape.rank; d++)
        if (shape.dim[d] < 0) shape.dim[d] = 1;
    *open = seen / known;
    return shape;
}

/* Of a sample; 0: not known. */
static uint64_t macs_of(const sizes *s, const tare_product *product) {
    if (!product->node->op->macs) return 0;
    tare_node node = *product->node;
    tare_value data = *node.inputs[0], out = *node.outputs[0];
    tare_value *inputs[] = { &data, node.inputs[1] }, *outputs[] = { &out };
    data.shape = seen_shape(s, &data, NULL);
    out.shape = seen_shape(s, &out, product->out);
    node.inputs = inputs, node.input_count = 2;
    node.outputs = outputs, node.output_count = 1;
    return node.op->macs(&node);
}

bool tare_may_spare(const tare_scheme *scheme, uint64_t macs) {
    return macs > 0 && (double)(scheme->spared_macs + macs) <= macs_most * (double)scheme->macs;
}

void tare_spare_product(tare_scheme *scheme, tare_product *product, const char *why) {
    scheme->spared_macs += product->macs;
    product->spared = why;
}

static tare_status tell_spared(const tare_scheme *scheme, const tare_product *product, tare_error *err) {
    union {
        const char *from;
        void *to;
    } why = { .from = product->spared };
    tare_map *spared = scheme->options->spared;
    if (!spared || tare_map_put(spared, product->node->outputs[0]->name, why.to)) return TARE_OK;
    return tare_fail_memory(err, 0);
}

tare_status tare_scheme_spare(tare_scheme *scheme, const tare_ranges *ranges, tare_error *err) {
    size_t kept = 0;
    sizes s = { .ranges = ranges };
    if (!find_sizes(&s, scheme)) return tare_fail_memory(err, scheme->model->symbols.count * sizeof(int64_t));
    for (size_t i = 0; i < scheme->products.count; i++) {
        scheme->products.at[i].macs = macs_of(&s, &scheme->products.at[i]);
        scheme->macs += scheme->products.at[i].macs;
    }
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) TARE_TRY(rules[i](scheme, ranges, err));
    for (size_t i = 0; i < scheme->products.count; i++) {
        if (scheme->products.at[i].spared)
            TARE_TRY(tell_spared(scheme, &scheme->products.at[i], err));
        else
            scheme->products.at[kept++] = scheme->products.at[i];
    }
    scheme->products.count = kept;
    return TARE_OK;
}
