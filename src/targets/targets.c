/* The list of targets, and their rows. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "targets/target.h"

#define TARGET(x) extern const tare_target tare_target_##x;
#include "targets/targets.def"
#undef TARGET

static const tare_target *const targets[] = {
#define TARGET(x) &tare_target_##x,
#include "targets/targets.def"
#undef TARGET
};

const char *const tare_target_names[] = {
#define TARGET(x) #x,
#include "targets/targets.def"
#undef TARGET
    NULL
};

size_t tare_target_count(void) { return sizeof targets / sizeof targets[0]; }
const tare_target *tare_target_at(size_t index) { return targets[index]; }

const tare_target *tare_target_find(const char *name) {
    if (!name) return targets[0];
    for (size_t i = 0; i < tare_target_count(); i++)
        if (!strcmp(targets[i]->name, name)) return targets[i];
    return NULL;
}

const tare_target_row *tare_target_row_of(const tare_target *target, const tare_node *node) {
    static const tare_target_row none = { .kind = TARE_INT_NONE };
    if (!node->op || *node->domain) return &none;
    for (const tare_target_row *row = target->rows; row->op; row++)
        if (!strcmp(row->op, node->type)) return row;
    return &none;
}

tare_status tare_target_get(const tare_target **out, const char *name, bool quantizes, tare_error *err) {
    char there[128];
    size_t length = 0;
    *out = tare_target_find(name);
    if (*out && ((*out)->quantizes || !quantizes)) return TARE_OK;
    for (size_t i = 0; i < tare_target_count(); i++)
        if (targets[i]->quantizes || !quantizes)
            length += (size_t)snprintf(there + length, sizeof there - length, " %s", targets[i]->name);
    return tare_fail(err, TARE_E_USAGE, "--target: no '%.64s'%s; there is:%s", name,
                     quantizes ? " to make models for" : "", there);
}

tare_status tare_target_get_profile(int *out, const tare_target *target, const char *name, tare_error *err) {
    char there[128];
    size_t length = 0;
    *out = 0;
    if (!name) return TARE_OK;
    for (int i = 0; target->profiles[i]; i++) {
        *out = i;
        if (!strcmp(target->profiles[i], name)) return TARE_OK;
        length += (size_t)snprintf(there + length, sizeof there - length, " %s", target->profiles[i]);
    }
    return tare_fail(err, TARE_E_USAGE, "--profile: target %s has no '%.64s'; there is:%s", target->name, name, there);
}

/* ---- rows that compute ---- */

static const char *check_quant(const tare_quant *quant, const tare_int_row *row) {
    if (!(row->codes >> quant->code & 1)) return "the target has no row for its code types";
    if (quant->count != 1 || quant->block) return "its data have a scale per channel";
    return isfinite(quant->scale[0]) && quant->scale[0] > 0 ? NULL : "a scale is not above 0";
}

static const char *check_data(const tare_int_row *row, const tare_int_node *n) {
    if (!n->output && !row->gives_numbers) return "its output is not quantized";
    const char *why = n->output ? check_quant(n->output, row) : NULL;
    for (int i = 0; !why && i < n->node->input_count; i++) {
        if (!n->node->inputs[i] || !tare_node_input_is_data(n->node, i)) continue;
        if (i == 1 && n->node->op->quant.has_weight) continue; /* activations too have what weights may have */
        if (!n->inputs[i]) return "an input is not quantized";
        why = check_quant(n->inputs[i], row);
        if (!why && n->output && n->inputs[i]->code != n->output->code && !row->mixes)
            why = "its input and output code types differ";
    }
    return why;
}

bool tare_target_multiplies(const tare_target *target, tare_dtype code) {
    for (const tare_target_row *row = target->rows; row->op; row++)
        if (row->kind == TARE_INT_PRODUCT && row->codes && row->codes->codes >> code & 1) return true;
    return false;
}

const tare_int_row *tare_target_int_row(const tare_target *target, int profile, const tare_int_node *n,
                                        const char **why) {
    *why = "the target has no row for it";
    for (const tare_target_row *row = target->rows; row->op; row++) {
        if (!row->codes || !(row->codes->profiles >> profile & 1) || !tare_node_is(n->node, row->op)) continue;
        *why = check_data(row->codes, n);
        if (!*why && row->codes->refuses) *why = row->codes->refuses(n);
        if (!*why) return row->codes;
    }
    return NULL;
}
