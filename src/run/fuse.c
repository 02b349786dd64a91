/* Relu and Clip as the last step of the node before: when nobody can see what lies between. */
#include <math.h>

#include "run/session.h"

static bool read_bound(tare_plan *plan, const tare_session *session, const tare_node *node, int index, float *bound) {
    double number;
    tare_value *value = tare_node_input(node, index);
    if (!value) return true;
    const tare_plan_value *known = tare_plan_value_of(plan, session, value);
    if (!known || known->is_pinned || !tare_value_read_scalar(value, &number) || isnan(number)) return false;
    *bound = (float)number;
    return true;
}

static bool read_clamp(tare_plan *plan, const tare_session *session, const tare_node *node, float *lo, float *hi) {
    *lo = -INFINITY;
    *hi = INFINITY;
    if (tare_node_is(node, "Relu")) {
        *lo = 0;
        return true;
    }
    return tare_node_is(node, "Clip") && read_bound(plan, session, node, 1, lo) &&
           read_bound(plan, session, node, 2, hi);
}

tare_node *tare_plan_find_activation(tare_plan *plan, const tare_session *session, const tare_node *node, float *lo,
                                     float *hi) {
    tare_value *between = node->outputs[0];
    if (!(node->op->flags & TARE_OP_FUSES_CLAMP) || node->output_count != 1) return NULL;
    if (plan->stop || between->dtype != TARE_F32) return NULL;
    if (!tare_value_has_one_use(between)) return NULL;
    tare_node *next = between->uses.at[0].node;
    if (next->graph != node->graph || next->mark != TARE_NODE_NEEDED || between->uses.at[0].index != 0) return NULL;
    if (!read_clamp(plan, session, next, lo, hi)) return NULL;
    const tare_plan_value *value = tare_plan_value_of(plan, session, between);
    const tare_plan_value *result = tare_plan_value_of(plan, session, next->outputs[0]);
    return value && result && !value->quant && !value->is_pinned ? next : NULL;
}

tare_node *tare_plan_find_clamp(tare_plan *plan, const tare_session *session, const tare_node *node, float *lo,
                                float *hi) {
    tare_node *next = tare_plan_find_activation(plan, session, node, lo, hi);
    if (!next) return NULL;
    const tare_plan_value *value = tare_plan_value_of(plan, session, node->outputs[0]);
    const tare_plan_value *result = tare_plan_value_of(plan, session, next->outputs[0]);
    /* A twin of the result needs what lies between. */
    return !value->tapped && !value->twin_tapped && !result->twin_tapped ? next : NULL;
}
