/* Add on TIDL's codes (eltwise): s_acc = max(s_a, s_b) / 2^6, a code is multiplied by s / s_acc, the sum is shifted,
 *   y = clamp((a s_a/s_acc + b s_b/s_acc + 2^(n-1)) >> n), 2^n = s_y / s_acc: one rounding, half up
 * Source: TIDL's import tool (accScale = min(inScale) 2^6 in its reciprocal scales); formulas only. */
#include "targets/tidl/tidl.h"

enum { BITS = 6 };

static const char *refuses(const tare_int_node *n) { return tare_tidl_common_refuses(n, BITS); }

static void fill(int32_t table[256], const tare_int_node *n, int input) {
    const int32_t factor = (int32_t)tare_tidl_factor(n, input, BITS);
    for (int byte = 0; byte < 256; byte++) table[byte] = tare_code_of(n->inputs[input]->code, (uint8_t)byte) * factor;
}

static tare_status prepare(const tare_int_node *n, tare_prepare *p, tare_error *err) {
    tare_sum_codes *sum;
    TARE_TRY(tare_sum_codes_prepare(&sum, TARE_REQUANT_SHIFT, n, p, err));
    fill(sum->a, n, 0);
    fill(sum->b, n, 1);
    tare_requant_set(&sum->requant, 0, tare_tidl_output_ratio(n, BITS));
    return TARE_OK;
}

const tare_int_row tare_tidl_add = {
    .profiles = 1,
    .codes = 1u << TARE_S8 | 1u << TARE_U8,
    .mixes = true,
    .refuses = refuses,
    .prepare = prepare,
    .run = tare_sum_codes_run,
};
