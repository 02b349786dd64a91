/* Before:  y = Conv<pads = p>(Pad(x, q), W, b)
 * After:   y = Conv<pads = p + q>(x, W, b)
 * When:    the Pad is constant, of zeros, on spatial dimensions, cuts nothing and is read by the Conv alone; the Conv has
 *          explicit pads or none. A quantization of the padded value must be that of x: its zero is a code. */
#include "ops/attr.h"
#include "passes/pads.h"
#include "passes/rewrite.h"

static tare_status rewrite(tare_pass_context *context, tare_node *node, tare_error *err) {
    tare_pads pads;
    tare_node *pad = node->inputs[0]->producer;
    if (!tare_node_is(pad, "Pad") || pad->graph != node->graph || !tare_pads_can_drop(pad) ||
        !tare_pads_read(pad, &pads) || pads.value != 0 ||
        !(tare_attr_is(node, "auto_pad", "NOTSET", "NOTSET") || tare_attr_is(node, "auto_pad", "VALID", "NOTSET")))
        return TARE_OK;
    tare_pass_changed(context, "node '%s' (Pad) folded into '%s' (Conv)", pad->name, node->name);
    return tare_pads_drop(pad, node, &pads, err);
}

const tare_pass tare_pass_fold_pad_into_conv = {
    .name = "fold-pad-into-conv",
    .help = "Pad with zeros into the pads of the Conv behind it",
    .roots = (const char *const[]){ "Conv", NULL },
    .rewrite = rewrite,
};
