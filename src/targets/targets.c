/* The list of targets. */
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

size_t tare_target_count(void) { return sizeof targets / sizeof targets[0]; }
const tare_target *tare_target_at(size_t index) { return targets[index]; }

const tare_target *tare_target_find(const char *name) {
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
