/* Concat on TIDL's codes: s_acc = (largest scale of an input) / 2^7, and of each input
 *   y = clamp((x s_x/s_acc + 2^(n-1)) >> n), 2^n = s_y / s_acc: one rounding, half up
 * Source: TIDL's import tool (accScale = min(inScale) 2^7 in its reciprocal scales); formulas only. */
#include "targets/tidl/tidl.h"

enum { BITS = 7 };

static const char *refuses(const tare_int_node *n) { return tare_tidl_common_refuses(n, BITS); }

static tare_status prepare(const tare_int_node *n, tare_prepare *p, tare_error *err) {
    tare_join_codes *join;
    tare_requant requant;
    int32_t products[256];
    TARE_TRY(tare_join_codes_prepare(&join, n, p, err));
    tare_requant_start(&requant, TARE_REQUANT_SHIFT, n->output, p->clamp_lo, p->clamp_hi);
    TARE_TRY(tare_requant_alloc(&requant, 1, p->arena, err));
    requant.step = 0;
    tare_requant_set(&requant, 0, tare_tidl_output_ratio(n, BITS));
    for (int i = 0; i < n->node->input_count; i++) {
        const int32_t factor = (int32_t)tare_tidl_factor(n, i, BITS);
        for (int byte = 0; byte < 256; byte++)
            products[byte] = tare_code_of(n->inputs[i]->code, (uint8_t)byte) * factor;
        tare_requantize(&requant, join[i].table, products, 0, 256);
    }
    return TARE_OK;
}

const tare_int_row tare_tidl_concat = {
    .profiles = 1,
    .codes = 1u << TARE_S8 | 1u << TARE_U8,
    .mixes = true,
    .refuses = refuses,
    .prepare = prepare,
    .run = tare_join_codes_run,
};
