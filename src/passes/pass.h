/* Graph rewrites. A pass keeps what the float graph computes (its names too: what it removes it records as alias or
 * gone). To add one: a file passes/<verb>_<what>.c, whose head shows before, after and when, and a line in passes.def. */
#ifndef TARE_PASSES_PASS_H
#define TARE_PASSES_PASS_H

#include "graph/graph.h"
#include "ops/op.h"

typedef struct tare_pass_context {
    tare_graph *graph;
    tare_log *log;
    bool explain;   /* one line to the log for each rewrite, by tare_pass_explain */
    size_t changes; /* counted by tare_pass_changed */
} tare_pass_context;

typedef struct tare_pass {
    const char *name; /* "fuse-bn-into-conv" */
    const char *help; /* one line: what and when */
    /* Either local: called for each node of these op types ("" ends; none: every node), in order, until nothing
     * changes (bounded); may rewrite around the node and remove it … */
    const char *const *roots;
    tare_status (*rewrite)(tare_pass_context *context, tare_node *node, tare_error *err);
    /* … or over the whole graph, bodies included. */
    tare_status (*run)(tare_pass_context *context, tare_error *err);
} tare_pass;

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
 * assertions. `totals` has tare_pass_count() entries, or is NULL. */
tare_status tare_passes_run(tare_model *model, const tare_pass_options *options, tare_log *log, tare_pass_total *totals,
                            tare_error *err);

/* What every model goes through when it is read, before anything else: canonical forms (op->upgrade), Q/DQ absorbed
 * into values. Not optional, changes no number. */
tare_status tare_passes_normalize(tare_model *model, tare_log *log, tare_error *err);

#endif
