/* Which value of one side is which of the other: by name, and through what passes have recorded of values they took
 * out of either model. */
#include <string.h>

#include "compare/side.h"
#include "ops/op.h"

typedef struct walk {
    tare_join *join;
    const tare_side *const *side;
    tare_npz *const *keys;
    bool outputs_only;
} walk;

static tare_status add_pair(tare_join *join, const tare_pair *pair, tare_error *err) {
    size_t index = join->pairs.count;
    if (!tare_vec_push(join->arena, &join->pairs, *pair)) return tare_fail_memory(err, 0);
    for (int s = 0; s < 2; s++) {
        size_t *head = tare_map_get(&join->first[s], pair->key[s]);
        join->pairs.at[index].next[s] = head ? *head : SIZE_MAX;
        if (!head) {
            head = tare_arena_alloc(join->arena, 1, sizeof *head);
            if (!head || !tare_map_put(&join->first[s], pair->key[s], head)) return tare_fail_memory(err, 0);
        }
        *head = index;
    }
    return TARE_OK;
}

size_t tare_join_first(const tare_join *join, int side, const char *key) {
    const size_t *head = tare_map_get(&join->first[side], key);
    return head ? *head : SIZE_MAX;
}

static tare_status add_unmatched(tare_join *join, const char *name, bool is_reference, const char *reason,
                                 tare_error *err) {
    const tare_unmatched unmatched = { .name = tare_arena_strdup(join->arena, name),
                                       .is_reference = is_reference,
                                       .reason = tare_arena_strdup(join->arena, reason) };
    if (!unmatched.name || !unmatched.reason || !tare_vec_push(join->arena, &join->unmatched, unmatched))
        return tare_fail_memory(err, 0);
    return TARE_OK;
}

/* ---- what a side has ---- */

/* A value that a run shows: made by a node or fed, of floats or an output. */
static bool is_shown(const tare_value *value) {
    if (value->constant || (!value->producer && !value->is_input)) return false;
    return tare_dtype_is_float(value->dtype) || value->is_output;
}

/* ---- names that look alike ---- */

/* What a tool makes of a character that file names cannot have, or that it does not trust. */
static char plain(char c) {
    const bool is_kept = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' ||
                         c == '-' || (unsigned char)c >= 0x80 || c == '\0';
    return is_kept ? c : '_';
}

static bool look_alike(const char *a, const char *b) {
    while (plain(*a) == '_') a++;
    while (plain(*b) == '_') b++;
    for (; *a && plain(*a) == plain(*b); a++) b++;
    return plain(*a) == plain(*b);
}

/* The name on a side that `name` is, or, if only one does, looks like; NULL: none. */
static const char *stands_for(const tare_join *join, int side, const char *name) {
    const char *found = NULL;
    size_t count = 0;
    for (size_t i = 0; i < join->names[side].count; i++) {
        const char *own = join->names[side].at[i];
        if (!strcmp(own, name)) return own;
        if (!look_alike(own, name)) continue;
        found = own;
        count++;
    }
    return count == 1 ? found : NULL;
}

static tare_status add_names(tare_join *join, int s, const tare_map *map, tare_error *err) {
    for (size_t i = 0; i < map->entries.count; i++)
        if (map->entries.at[i].value && !tare_vec_push(join->arena, &join->names[s], map->entries.at[i].key))
            return tare_fail_memory(err, 0);
    return TARE_OK;
}

/* All names of both sides, those that passes took out among them, when one is a directory of .npy. */
static tare_status list_names(tare_join *join, const tare_side *const side[2], tare_npz *const keys[2],
                              tare_error *err) {
    const bool has_files = (keys[0] && tare_npz_is_directory(keys[0])) || (keys[1] && tare_npz_is_directory(keys[1]));
    for (int s = 0; s < 2 && has_files; s++) {
        if (side[s]->model) {
            TARE_TRY(add_names(join, s, &side[s]->model->graph->values, err));
            TARE_TRY(add_names(join, s, &side[s]->model->aliases, err));
        }
        for (size_t i = 0; keys[s] && i < tare_npz_count(keys[s]); i++) {
            const char *name = tare_arena_strdup(join->arena, tare_npz_name(keys[s], i));
            if (!name || !tare_vec_push(join->arena, &join->names[s], name)) return tare_fail_memory(err, 0);
        }
    }
    return TARE_OK;
}

/* Finds `name` on a side: itself, or what took its place. False: why not, in *reason. */
static bool find_exactly(const tare_side *side, tare_npz *keys, const char *name, tare_alias *alias,
                         const tare_value **value, const char **reason) {
    *alias = (tare_alias){ .target = name, .factor = 1 };
    *value = NULL;
    if (!side->model) {
        *reason = "not in the dump";
        return tare_npz_find(keys, name) != SIZE_MAX;
    }
    *value = tare_map_get(&side->model->graph->values, name);
    if (!*value) {
        if (!tare_model_resolve(side->model, name, alias)) {
            *reason = alias->reason ? alias->reason : "not in the other model";
            return false;
        }
        *value = tare_map_get(&side->model->graph->values, alias->target);
    }
    if (*value && is_shown(*value)) return true;
    *reason = !*value ? "in a body of the other model" : "constant or no real numbers in the other model";
    return false;
}

/* The same of a name of the other side, which may only look alike here. */
static bool find_on(const walk *w, int to, const char *name, tare_alias *alias, const tare_value **value,
                    const char **reason) {
    const char *here = stands_for(w->join, to, name), *back = here ? stands_for(w->join, 1 - to, here) : NULL;
    const bool is_one = back && !strcmp(back, name);
    return find_exactly(w->side[to], w->keys[to], is_one ? here : name, alias, value, reason);
}

static void describe(tare_pair *pair) {
    const tare_value *of = pair->value[1] ? pair->value[1] : pair->value[0];
    const tare_value *reference = pair->value[0] ? pair->value[0] : pair->value[1];
    const tare_node *producer = reference ? reference->producer : NULL;
    pair->said.name = pair->key[0];
    pair->said.other = strcmp(pair->key[0], pair->key[1]) ? pair->key[1] : NULL;
    pair->said.value = of;
    pair->said.is_output = !reference || reference->is_output;
    pair->classes = tare_output_class(reference);
    if (!producer) return;
    pair->said.node = producer->name;
    pair->said.op = producer->type;
}

static bool has_numbers(const tare_pair *pair, int s) {
    return tare_dtype_is_float(pair->value[s]->dtype) || pair->codes[s].scale > 0;
}

/* Codes that differ in meaning, and codes beside numbers, are compared as what they mean. False: one side is numbers, and
 * what the other's mean is not known. */
static bool read_codes(tare_pair *pair) {
    for (int s = 0; s < 2; s++)
        if (!tare_dtype_is_float(pair->value[s]->dtype) &&
            !tare_value_read_meaning(pair->value[s], &pair->codes[s].scale, &pair->codes[s].zero_point))
            pair->codes[s].scale = 0;
    if (has_numbers(pair, 0) && has_numbers(pair, 1)) return true;
    pair->codes[0].scale = pair->codes[1].scale = 0;
    return !tare_dtype_is_float(pair->value[0]->dtype) && !tare_dtype_is_float(pair->value[1]->dtype);
}

/* Pairs what side `from` calls `name` with its partner. A value without one is told; one whose partner is not asked for is
 * not. */
static tare_status pair_with(const walk *w, int from, const char *name, const tare_value *value, tare_error *err) {
    int to = 1 - from;
    tare_pair pair = { .moved = -1 };
    const tare_value *other;
    const char *reason;
    if (!find_on(w, to, name, &pair.alias, &other, &reason)) return add_unmatched(w->join, name, !from, reason, err);
    if (w->outputs_only && !value && other && !other->is_output) return TARE_OK;
    pair.key[from] = name;
    pair.key[to] = pair.alias.target;
    pair.value[from] = value;
    pair.value[to] = other;
    if (value && other && !read_codes(&pair))
        return add_unmatched(w->join, name, !from, "numbers on one side, codes on the other", err);
    if (pair.alias.has_permutation || pair.alias.factor != 1 || pair.alias.offset != 0) pair.moved = to;
    describe(&pair);
    return add_pair(w->join, &pair, err);
}

/* ---- walking over what a side has ---- */

/* The reference's values, each with its partner. */
static tare_status visit_reference(const walk *w, const char *name, const tare_value *value, tare_error *err) {
    if (w->outputs_only && value && !value->is_output) return TARE_OK;
    return pair_with(w, 0, name, value, err);
}

/* The other's values that no pair has yet: what the reference's passes took out. */
static tare_status visit_other(const walk *w, const char *name, const tare_value *value, tare_error *err) {
    if (w->outputs_only && value && !value->is_output) return TARE_OK;
    if (tare_join_first(w->join, 1, name) != SIZE_MAX) return TARE_OK;
    return pair_with(w, 1, name, value, err);
}

typedef tare_status visit(const walk *w, const char *name, const tare_value *value, tare_error *err);

static tare_status walk_model(const walk *w, const tare_model *model, visit *f, tare_error *err) {
    const tare_graph *graph = model->graph;
    for (size_t i = 0; i < graph->inputs.count; i++) {
        const tare_value *value = graph->inputs.at[i];
        if (is_shown(value)) TARE_TRY(f(w, value->name, value, err));
    }
    tare_for_nodes (node, graph) {
        for (int i = 0; i < node->output_count; i++) {
            const tare_value *value = node->outputs[i];
            if (value && is_shown(value)) TARE_TRY(f(w, value->name, value, err));
        }
    }
    return TARE_OK;
}

static tare_status walk_side(const walk *w, int s, visit *f, tare_error *err) {
    if (w->side[s]->model) return walk_model(w, w->side[s]->model, f, err);
    for (size_t i = 0; i < tare_npz_count(w->keys[s]); i++) {
        const char *name = tare_arena_strdup(w->join->arena, tare_npz_name(w->keys[s], i));
        if (!name) return tare_fail_memory(err, 0);
        TARE_TRY(f(w, name, NULL, err));
    }
    return TARE_OK;
}

static void init(tare_join *join) {
    tare_map_init(&join->first[0], join->arena);
    tare_map_init(&join->first[1], join->arena);
}

tare_status tare_join_sides(tare_join *join, const tare_side *const side[2], tare_npz *const keys[2], bool outputs_only,
                            tare_error *err) {
    const walk w = { .join = join, .side = side, .keys = keys, .outputs_only = outputs_only };
    init(join);
    TARE_TRY(list_names(join, side, keys, err));
    TARE_TRY(walk_side(&w, 0, visit_reference, err));
    TARE_TRY(walk_side(&w, 1, visit_other, err));
    if (join->pairs.count) return TARE_OK;
    return tare_fail(err, TARE_E_USAGE,
                     "'%s' and '%s' have no value in common, by name or by what passes recorded: is one made of the "
                     "other? `tare info` shows what each has",
                     side[0]->name, side[1]->name);
}

static tare_status visit_alone(const walk *w, const char *name, const tare_value *value, tare_error *err) {
    tare_pair pair = { .key = { name, name }, .value = { value, value }, .moved = -1 };
    if (w->outputs_only && !value->is_output) return TARE_OK;
    describe(&pair);
    return add_pair(w->join, &pair, err);
}

tare_status tare_join_alone(tare_join *join, const tare_model *model, bool outputs_only, tare_error *err) {
    const walk w = { .join = join, .outputs_only = outputs_only };
    init(join);
    return walk_model(&w, model, visit_alone, err);
}

/* ---- activations ---- */

/* Its function of one number is all that becomes of input 0; what else it reads is constant. */
static bool is_activation(const tare_node *node) {
    if (!node->op || !(node->op->curve || tare_node_is(node, "Clip")) || node->output_count != 1) return false;
    for (int i = 1; i < node->input_count; i++)
        if (node->inputs[i] && !tare_value_is_constant(node->inputs[i])) return false;
    return true;
}

void tare_join_behind(tare_join *join, const tare_model *activations) {
    for (size_t i = 0; i < join->pairs.count; i++) {
        tare_pair *pair = &join->pairs.at[i];
        const tare_value *value = tare_map_get(&activations->graph->values, pair->key[0]);
        const bool is_read_once = value && value->dtype == TARE_F32 && tare_value_has_one_use(value);
        if (!is_read_once || value->uses.at[0].index != 0 || value->uses.at[0].node->graph != value->graph ||
            !is_activation(value->uses.at[0].node))
            continue;
        pair->behind = value->uses.at[0].node;
        pair->said.behind = pair->behind->type;
    }
}

void tare_join_behind_like(tare_join *join, const tare_join *like) {
    for (size_t i = 0; i < join->pairs.count; i++) {
        tare_pair *pair = &join->pairs.at[i];
        const size_t index = tare_join_first(like, 1, pair->key[0]);
        if (index == SIZE_MAX || !like->pairs.at[index].behind) continue;
        pair->behind = like->pairs.at[index].behind;
        pair->said.behind = pair->behind->type;
    }
}

/* ---- other forms ---- */

tare_status tare_alias_apply(const tare_alias *alias, const tare_tensor *from, tare_arena *arena, tare_tensor **out,
                             tare_error *err) {
    int rank = from->shape.rank;
    int64_t strides[TARE_RANK_MAX], index[TARE_RANK_MAX] = { 0 };
    tare_shape shape = from->shape;
    tare_shape_strides(strides, &from->shape);
    for (int i = 0; alias->has_permutation && i < rank; i++) shape.dim[i] = from->shape.dim[alias->permutation[i]];
    TARE_TRY(tare_tensor_new(arena, TARE_F32, &shape, out, err));
    int64_t count = tare_shape_elements(&shape), at = 0;
    for (int64_t n = 0; n < count; n++) {
        double number = tare_dtype_f64_at(from->dtype, from->data, (size_t)at);
        ((float *)(*out)->data)[n] = (float)(alias->factor * number + alias->offset);
        for (int i = rank - 1; i >= 0; i--) {
            int64_t step = strides[alias->has_permutation ? alias->permutation[i] : i];
            at += step;
            if (++index[i] < shape.dim[i]) break;
            at -= step * shape.dim[i];
            index[i] = 0;
        }
    }
    return TARE_OK;
}
