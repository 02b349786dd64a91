/* The two kinds of side, and how their values are joined. */
#ifndef TARE_COMPARE_SIDE_H
#define TARE_COMPARE_SIDE_H

#include "compare/compare.h"
#include "samples/dump.h"

struct tare_side {
    tare_arena *arena;
    const char *name;
    const tare_model *model; /* NULL: a dump */
    tare_backend backend;
    tare_runner runner;        /* run NULL: the comparison runs the model itself */
    const tare_target *target; /* of the int backend */
    int profile;
    bool (*is_quantized)(void *context, const tare_value *value);
    void *filter_context;
    tare_dump *dump; /* NULL: a model */
};

/* A sample's index in the dump; SIZE_MAX: it has none. A file is any sample's. */
size_t tare_side_find(const tare_side *side, const char *id);
/* Opens the tensors of a sample that the dump has. */
tare_status tare_side_open_sample(const tare_side *side, const char *id, tare_npz **out, tare_error *err);

/* A value of both sides. Side 0 is the reference. */
typedef struct tare_pair {
    tare_compared said;
    const char *key[2];         /* the name on each side */
    const tare_value *value[2]; /* NULL: a dump's */
    tare_class classes;         /* by the reference */
    const tare_node *behind;    /* both tensors are taken through this activation; NULL: none */
    int moved;                  /* the side whose tensor is brought to the other's form by `alias`; -1: neither */
    tare_alias alias;           /* other form = factor * tensor + offset, its dimension i being permutation[i] here */
    struct {
        double scale,
            zero_point; /* what codes at an output mean: the side's tensor is made real by them; scale 0: it is */
    } codes[2];
    size_t next[2]; /* the next pair with the same key on that side; SIZE_MAX: none */
} tare_pair;

typedef struct tare_join {
    tare_arena *arena;
    TARE_VEC(tare_pair) pairs;
    TARE_VEC(tare_unmatched) unmatched;
    TARE_VEC(const char *) names[2]; /* by side; empty where names are exact */
    tare_map first[2];               /* by side: key -> size_t *, the index of a pair; SIZE_MAX: none any more */
} tare_join;

/* keys: of dumps, what the first sample holds; NULL for models. Names of .npy files cannot have all that names of values
 * can: where either side is such, names that look alike are one, when only one name on each side does. */
tare_status tare_join_sides(tare_join *join, const tare_side *const side[2], tare_npz *const keys[2], bool outputs_only,
                            tare_error *err);
/* The values of one model that have something quantized in or around their node: for the local comparison. */
tare_status tare_join_alone(tare_join *join, const tare_model *model, bool outputs_only, tare_error *err);
/* Values that only an activation reads, in that model, get it as `behind`; or those that another join's other side has. */
void tare_join_behind(tare_join *join, const tare_model *activations);
void tare_join_behind_like(tare_join *join, const tare_join *like);
/* The first pair with this key on a side; SIZE_MAX: none. */
size_t tare_join_first(const tare_join *join, int side, const char *key);

/* The tensor in the form that the alias describes, on the arena. */
tare_status tare_alias_apply(const tare_alias *alias, const tare_tensor *from, tare_arena *arena, tare_tensor **out,
                             tare_error *err);

#endif
