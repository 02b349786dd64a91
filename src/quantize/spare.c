/* Products that stay float because codes would ruin them: a rule a file, and one budget for all, so that nearly all
 * multiply-accumulates are integer whatever the rules find. */
#include "quantize/scheme.h"

/* Of all multiply-accumulates, what may stay float: at least nine tenths are integer. */
static const double macs_most = 0.1;

typedef void rule(tare_scheme *scheme, const tare_ranges *ranges);

static rule *const rules[] = { tare_spare_before_logs, tare_spare_starved };

/* A shape whose open dimensions hold as many numbers as calibration saw in a sample. */
static tare_shape seen_shape(const tare_ranges *ranges, const tare_value *value) {
    const tare_range *range = ranges ? tare_ranges_find(ranges, value->name) : NULL;
    tare_shape shape = value->shape;
    int64_t known = 1, *open = NULL;
    if (!range || !tare_ranges_samples(ranges)) return shape;
    for (int d = 0; d < shape.rank; d++) {
        if (shape.dim[d] >= 0) {
            known *= shape.dim[d];
            continue;
        }
        shape.dim[d] = 1;
        if (!open) open = &shape.dim[d];
    }
    if (open && known > 0) *open = (int64_t)(range->count / tare_ranges_samples(ranges)) / known;
    return shape;
}

/* Of a sample; 0: not known. */
static uint64_t macs_of(const tare_ranges *ranges, const tare_node *product) {
    if (!product->op->macs) return 0;
    tare_node node = *product;
    tare_value data = *node.inputs[0], out = *node.outputs[0];
    tare_value *inputs[] = { &data, node.inputs[1] }, *outputs[] = { &out };
    data.shape = seen_shape(ranges, &data);
    out.shape = seen_shape(ranges, &out);
    node.inputs = inputs, node.input_count = 2;
    node.outputs = outputs, node.output_count = 1;
    return node.op->macs(&node);
}

bool tare_may_spare(const tare_scheme *scheme, uint64_t macs) {
    return macs > 0 && (double)(scheme->spared_macs + macs) <= macs_most * (double)scheme->macs;
}

void tare_spare_product(tare_scheme *scheme, tare_product *product) {
    scheme->spared_macs += product->macs;
    product->spared = true;
    product->node->mark = 0;
}

void tare_scheme_spare(tare_scheme *scheme, const tare_ranges *ranges) {
    size_t kept = 0;
    for (size_t i = 0; i < scheme->products.count; i++) {
        scheme->products.at[i].macs = macs_of(ranges, scheme->products.at[i].node);
        scheme->macs += scheme->products.at[i].macs;
    }
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) rules[i](scheme, ranges);
    for (size_t i = 0; i < scheme->products.count; i++)
        if (!scheme->products.at[i].spared) scheme->products.at[kept++] = scheme->products.at[i];
    scheme->products.count = kept;
}
