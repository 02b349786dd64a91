/* Pad nodes as attribute pads. */
#include "passes/pads.h"

#include <string.h>

#include "base/size.h"
#include "ops/attr.h"
#include "passes/rewrite.h"

/* The axes a Pad names, or all. */
static bool read_axes(const tare_node *pad, int rank, int64_t *axes, size_t *count) {
    const tare_value *value = tare_node_input(pad, 3);
    if (value) {
        if (!tare_value_read_s64(value, axes, TARE_RANK_MAX, count)) return false;
        for (size_t i = 0; i < *count; i++)
            if (!tare_axis_normalize(&axes[i], rank)) return false;
        return true;
    }
    *count = (size_t)rank;
    for (int i = 0; i < rank; i++) axes[i] = i;
    return true;
}

bool tare_pads_read(const tare_node *pad, tare_pads *out) {
    int64_t amounts[2 * TARE_RANK_MAX], axes[TARE_RANK_MAX];
    size_t amount_count, count;
    int rank = pad->inputs[0]->shape.rank;
    *out = (tare_pads){ .spatial = rank > 2 ? (size_t)(rank - 2) : 0 };
    if (rank < 3 || !tare_attr_is(pad, "mode", "constant", "constant") || !read_axes(pad, rank, axes, &count) ||
        !tare_value_read_s64(tare_node_input(pad, 1), amounts, 2 * TARE_RANK_MAX, &amount_count) ||
        amount_count != 2 * count)
        return false;
    const tare_value *value = tare_node_input(pad, 2);
    if (value && !tare_value_read_scalar(value, &out->value)) return false;
    for (size_t i = 0; i < count; i++) {
        for (size_t end = 0; end < 2; end++) {
            int64_t amount = amounts[end * count + i];
            if (amount < 0 || (amount && axes[i] < 2)) return false;
            if (axes[i] >= 2) out->around[end * out->spatial + (size_t)axes[i] - 2] += amount;
        }
    }
    return true;
}

bool tare_pads_can_drop(const tare_node *pad) {
    const tare_value *input = pad->inputs[0], *output = pad->outputs[0];
    return tare_value_has_one_use(output) && output->uses.at[0].index == 0 &&
           output->uses.at[0].node->graph == output->graph &&
           (!output->quant || tare_rewrite_same_quant(output->quant, input->quant));
}

tare_status tare_pads_drop(tare_node *pad, tare_node *reader, const tare_pads *pads, tare_error *err) {
    int64_t grown[TARE_PADS_MAX];
    tare_ints own = tare_attr_ints(reader, "pads");
    for (size_t i = 0; i < 2 * pads->spatial; i++)
        if (!tare_i64_add(pads->around[i], i < own.count ? own.at[i] : 0, &grown[i]))
            return tare_fail(err, TARE_E_LIMIT, "node '%s' (Pad): pads do not fit in 64 bits", pad->name);
    TARE_TRY(tare_attr_set_ints(reader, "pads", grown, 2 * pads->spatial, err));
    tare_attr_set_word(reader, "auto_pad", "NOTSET");
    TARE_TRY(tare_node_set_input(reader, 0, pad->inputs[0], err));
    return tare_rewrite_remove(&pad, 1, reader, err);
}
