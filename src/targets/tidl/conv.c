/* Conv on TIDL's codes: sums in s32, the bias at their scale; then
 *   y = clamp((sum + 2^(n-1)) >> n), 2^n = s_y / (s_x s_w): one rounding, half up; n <= 0: sum << -n
 * Source: TIDL's import tool (outScale = accScale / 2^n) and documentation; formulas only. What width and scale the bias has
 * on the device is not published; here it is s32 at the scale of the sums. */
#include "targets/tidl/tidl.h"

static const char *refuses(const tare_int_node *n) {
    const char *why = tare_conv_codes_refuses(n);
    if (!why) why = tare_conv_bias_refuses(n, 0, 1e-6f);
    if (!why) why = tare_tidl_refuses(n);
    if (!why) why = tare_conv_weight_refuses(n);
    for (size_t c = 0; !why && c < n->inputs[1]->count; c++)
        if (!tare_tidl_is_shift(tare_conv_ratio_f64(n, c))) why = "its scales are not a power of two apart";
    return why;
}

static tare_status prepare(const tare_int_node *n, tare_prepare *p, tare_error *err) {
    return tare_conv_codes_prepare(n, TARE_REQUANT_SHIFT, tare_conv_ratio_f64, p, err);
}

const tare_int_row tare_tidl_conv = {
    .profiles = 1,
    .codes = 1u << TARE_S8 | 1u << TARE_U8,
    .mixes = true,
    .refuses = refuses,
    .prepare = prepare,
    .run = tare_conv_codes_run,
};
