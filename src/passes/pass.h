/* Graph rewrites. A pass keeps what the float graph computes (its names too: what it removes it records as alias or
 * gone). To add one: a file passes/<verb>_<what>.c, whose head shows before, after and when, and a line in passes.def. */
#ifndef TARE_PASSES_PASS_H
#define TARE_PASSES_PASS_H

#include "graph/graph.h"
#include "ops/op.h"

typedef struct tare_pass tare_pass;

typedef struct tare_pass_context {
    tare_model *model;
    const tare_pass *pass; /* the one that runs */
    tare_log *log;
    bool explain;   /* one line to the log for each rewrite, by tare_pass_changed */
    size_t changes; /* counted by tare_pass_changed */
} tare_pass_context;

struct tare_pass {
    const char *name; /* "fuse-bn-into-conv" */
    const char *help; /* one line: what and when */
    /* Either local: called for each node of these op types of ONNX's own domain (NULL ends; none: every node), in order,
     * bodies with them, until nothing changes (bounded); may rewrite around the node, and remove it and nodes before
     * it, not nodes behind it. Makes its changes whole: what it adds is inferred … */
    const char *const *roots;
    tare_status (*rewrite)(tare_pass_context *context, tare_node *node, tare_error *err);
    /* … or over a whole graph; called for bodies first, then for the graph around them. */
    tare_status (*run)(tare_pass_context *context, tare_graph *graph, tare_error *err);
};

/* Says what was done ("node 'bn1' (BatchNormalization) folded into 'conv1'") and counts it. */
void tare_pass_changed(tare_pass_context *context, const char *format, ...) __attribute__((format(printf, 2, 3)));

typedef struct tare_pass_options {
    bool explain;
    tare_strings only; /* names; empty: all */
    tare_strings skip;
} tare_pass_options;

size_t tare_pass_count(void);
const tare_pass *tare_pass_at(size_t index);
const tare_pass *tare_pass_find(const char *name);

typedef struct tare_pass_total {
    const char *name;
    size_t changes;
} tare_pass_total;

/* Runs the list to its fixed point; infers shapes before and after, and verifies after each pass in builds with
 * assertions. `totals` has tare_pass_count() entries, or is NULL. TARE_E_USAGE: a name in `only` or `skip` that is no
 * pass's. `options` may be NULL. */
tare_status tare_passes_run(tare_model *model, const tare_pass_options *options, tare_log *log, tare_pass_total *totals,
                            tare_error *err);

typedef struct tare_normalize_options {
    /* A scale that is 0, negative or no number is an error (TARE_E_MALFORMED, naming tensor and channel). With this, it
     * becomes 1 where that changes nothing, with a warning: in constants, for channels whose codes all mean 0. */
    bool repair_scales;
} tare_normalize_options;

/* What every model goes through when it is read, before anything else: sorted, canonical forms (op->upgrade), shapes
 * inferred, Q/DQ absorbed into values. Not optional, changes no number. `options` may be NULL. */
tare_status tare_passes_normalize(tare_model *model, const tare_normalize_options *options, tare_log *log,
                                  tare_error *err);

#define PASS(x) extern const tare_pass tare_pass_##x;
#include "passes/passes.def"
#undef PASS

#endif
