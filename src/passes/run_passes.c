/* The list of passes, and its run to the fixed point. */
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "passes/pass.h"

/* A pass that has not come to rest after so many sweeps, or a list after so many rounds, goes in circles. */
enum { SWEEPS_MAX = 1000, ROUNDS_MAX = 50 };

static const tare_pass *const passes[] = {
#define PASS(x) &tare_pass_##x,
#include "passes/passes.def"
#undef PASS
};
enum { PASS_COUNT = sizeof passes / sizeof *passes };

size_t tare_pass_count(void) { return PASS_COUNT; }

const tare_pass *tare_pass_at(size_t index) { return passes[index]; }

const tare_pass *tare_pass_find(const char *name) {
    for (size_t i = 0; i < PASS_COUNT; i++)
        if (!strcmp(passes[i]->name, name)) return passes[i];
    return NULL;
}

void tare_pass_changed(tare_pass_context *context, const char *format, ...) {
    char text[512];
    va_list args;
    context->changes++;
    if (!context->explain) return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    tare_log_note(context->log, "%s: %s", context->pass->name, text);
}

/* ---- one pass ---- */

/* A node whose first output nobody wants is no one's business but dead code's. */
static bool is_root(const tare_pass *pass, const tare_node *node) {
    if (!tare_node_output(node, 0)) return false;
    if (!pass->roots) return true;
    for (const char *const *root = pass->roots; *root; root++)
        if (tare_node_is(node, *root)) return true;
    return false;
}

/* Once over the nodes, bodies with them. Depth: graphs nest at most 32 deep. */
static tare_status sweep(tare_pass_context *context, tare_graph *graph, tare_error *err) {
    for (tare_node *node = graph->first, *next; node; node = next) {
        tare_graph *body;
        for (int i = 0; (body = tare_node_body(node, i)); i++) TARE_TRY(sweep(context, body, err));
        next = node->next;
        if (is_root(context->pass, node)) TARE_TRY(context->pass->rewrite(context, node, err));
    }
    return TARE_OK;
}

static tare_status run_whole(tare_pass_context *context, tare_graph *graph, tare_error *err) {
    tare_for_nodes (node, graph) {
        tare_graph *body;
        for (int i = 0; (body = tare_node_body(node, i)); i++) TARE_TRY(run_whole(context, body, err));
    }
    return context->pass->run(context, graph, err);
}

static tare_status run_pass(tare_pass_context *context, tare_error *err) {
    tare_graph *graph = context->model->graph;
    for (int i = 0;; i++) {
        size_t before = context->changes;
        TARE_TRY(context->pass->run ? run_whole(context, graph, err) : sweep(context, graph, err));
        if (context->changes == before) return TARE_OK;
#ifndef NDEBUG
        TARE_TRY(tare_graph_verify(graph, err));
#endif
        if (i == SWEEPS_MAX)
            return tare_fail(err, TARE_E_BUG, "pass %s does not come to rest; skip it", context->pass->name);
    }
}

/* ---- all of them ---- */

static bool names(const tare_strings *list, const char *name) {
    for (size_t i = 0; i < list->count; i++)
        if (!strcmp(list->at[i], name)) return true;
    return false;
}

static tare_status check_names(const tare_strings *list, tare_error *err) {
    const char *known[PASS_COUNT + 1];
    for (size_t i = 0; i < PASS_COUNT; i++) known[i] = passes[i]->name;
    known[PASS_COUNT] = NULL;
    for (size_t i = 0; i < list->count; i++) {
        if (tare_pass_find(list->at[i])) continue;
        const char *near = tare_text_nearest(list->at[i], known);
        return tare_fail(err, TARE_E_USAGE, "no pass '%s'%s%s%s", list->at[i], near ? ", did you mean '" : "",
                         near ? near : "", near ? "'?" : "");
    }
    return TARE_OK;
}

static tare_status run_round(tare_pass_context *context, const tare_pass_options *options, size_t *counts,
                             tare_error *err) {
    for (size_t i = 0; i < PASS_COUNT; i++) {
        if ((options->only.count && !names(&options->only, passes[i]->name)) || names(&options->skip, passes[i]->name))
            continue;
        size_t before = context->changes;
        context->pass = passes[i];
        tare_status status = run_pass(context, err);
        if (status != TARE_OK) return tare_within(err, "pass %s", passes[i]->name);
        counts[i] += context->changes - before;
    }
    return TARE_OK;
}

tare_status tare_passes_run(tare_model *model, const tare_pass_options *options, tare_log *log, tare_pass_total *totals,
                            tare_error *err) {
    static const tare_pass_options none;
    size_t counts[PASS_COUNT] = { 0 };
    if (!options) options = &none;
    TARE_TRY(check_names(&options->only, err));
    TARE_TRY(check_names(&options->skip, err));
    tare_pass_context context = { .model = model, .log = log, .explain = options->explain };
    for (int round = 0;; round++) {
        size_t before = context.changes;
        TARE_TRY(tare_graph_infer(model->graph, err));
        TARE_TRY(run_round(&context, options, counts, err));
        if (context.changes == before) break;
        if (round == ROUNDS_MAX) return tare_fail(err, TARE_E_BUG, "the passes do not come to rest");
    }
    for (size_t i = 0; totals && i < PASS_COUNT; i++)
        totals[i] = (tare_pass_total){ .name = passes[i]->name, .changes = counts[i] };
    return TARE_OK;
}
