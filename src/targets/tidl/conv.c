/* Conv on TIDL's codes: sums in s32, the bias at their scale; then
 *   y = clamp((sum + 2^(n-1)) >> n), 2^n = s_y / (s_x s_w): one rounding, half up; n <= 0: sum << -n
 * Source: TIDL's import tool (outScale = accScale / 2^n) and documentation; formulas only. What width and scale the bias has
 * on the device is not published; here it is s32 at the scale of the sums. */
#include "targets/tidl/tidl.h"

static double ratio(const tare_int_node *n, size_t channel) {
    const tare_quant *w = n->inputs[1];
    return (double)n->inputs[0]->scale[0] * (double)w->scale[w->count == 1 ? 0 : channel] / (double)n->output->scale[0];
}

static const char *refuses(const tare_int_node *n) {
    const tare_quant *w = n->inputs[1];
    const char *why = tare_conv_codes_refuses(n);
    if (!why) why = tare_conv_bias_refuses(n, 0, 1e-6f);
    if (!why) why = tare_tidl_refuses(n);
    for (size_t c = 0; !why && c < w->count; c++) {
        if (w->zero_point[c]) why = "its weight has a zero point";
        if (!tare_tidl_is_shift(ratio(n, c))) why = "its scales are not a power of two apart";
    }
    return why;
}

static tare_status prepare(const tare_int_node *n, tare_prepare *p, tare_error *err) {
    tare_conv_codes *c;
    TARE_TRY(tare_conv_codes_prepare(&c, TARE_REQUANT_SHIFT, n, p, err));
    for (size_t m = 0; m < c->outputs; m++) tare_requant_set(&c->requant, m, ratio(n, m));
    return TARE_OK;
}

const tare_int_row tare_tidl_conv = {
    .profiles = 1,
    .codes = 1u << TARE_S8 | 1u << TARE_U8,
    .mixes = true,
    .refuses = refuses,
    .prepare = prepare,
    .run = tare_conv_codes_run,
};
