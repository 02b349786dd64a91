/* Every pass has cases: tests/passes/<pass>.case holds, in ONNX's text, graphs before and after.
 *
 *   # what it shows
 *   BEFORE
 *   ---
 *   AFTER, as tare_model_print prints it; what went away and the warnings behind it, as comments
 *   ===
 *   the next one
 *
 * For each: the pass gives AFTER; a second run changes nothing; both graphs give the same floats on random data, to the
 * bit unless the pass computes anew. BEFORE is normalized first; normalize.case shows just that, with no pass. With
 * TARE_UPDATE=1 in the environment what stands behind --- is written anew: look at the difference. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "graph/text_form.h"
#include "passes/pass.h"
#include "run/run.h"
#include "support/support.h"

enum { PRINTED_MAX = 256, SYMBOL_SIZE = 3, RUNS = 3, PASSES_MAX = 64 };

typedef struct listener {
    tare_text *text;
} listener;

static void keep_line(void *context, tare_log_level level, const char *text) {
    const listener *l = context;
    tare_text_printf(l->text, "# %s %s\n", level == TARE_LOG_NOTE ? "note" : "warning", text);
}

typedef struct test_case {
    const char *file;
    const char *before, *after; /* not ended by NUL */
    size_t before_size, after_size;
    int number;
} test_case;

/* ---- running ---- */

/* Whole numbers for integers; reals around 0 on both sides, some of them large, some 0. */
static void fill(tare_tensor *tensor, test_random *random) {
    size_t count = tensor->size / tare_dtype_size(tensor->dtype);
    for (size_t i = 0; i < count; i++) {
        double unit = test_random_unit(random);
        if (tensor->dtype == TARE_F32)
            ((float *)tensor->data)[i] = unit < 0.05 ? 0.0f : (float)((unit - 0.5) * (i % 7 ? 4 : 24));
        else if (tensor->dtype == TARE_S64)
            ((int64_t *)tensor->data)[i] = (int64_t)(unit * 3);
        else if (tensor->dtype == TARE_S32)
            ((int32_t *)tensor->data)[i] = (int32_t)(unit * 3);
        else
            ((uint8_t *)tensor->data)[i] = (uint8_t)(unit * (tensor->dtype == TARE_BOOL ? 2 : 256));
    }
}

static tare_tensor **make_inputs(const tare_model *model, tare_arena *arena, uint64_t seed) {
    const tare_graph *graph = model->graph;
    tare_tensor **inputs = tare_arena_alloc(arena, graph->inputs.count + 1, sizeof(tare_tensor *));
    test_random random = { .state = seed };
    for (size_t i = 0; i < graph->inputs.count; i++) {
        tare_shape shape = graph->inputs.at[i]->shape;
        if (graph->inputs.at[i]->constant) continue;
        for (int k = 0; k < shape.rank; k++)
            if (shape.dim[k] < 0) shape.dim[k] = SYMBOL_SIZE;
        assert_ok(tare_tensor_new(arena, graph->inputs.at[i]->dtype, &shape, &inputs[i], &err));
        fill(inputs[i], &random);
    }
    return inputs;
}

static tare_session *run_model(const tare_model *model, tare_tensor *const *inputs) {
    /* Values that normalizing quantized are rounded as the nodes did. */
    const tare_session_options options = { .backend = TARE_BACKEND_QDQ, .cpu = tare_cpu_detect() };
    tare_session *session;
    assert_ok(tare_session_new(&session, model, &options, &err));
    assert_ok(tare_session_run(session, inputs, &err));
    return session;
}

static void check_tensor(const test_case *c, const char *name, const tare_tensor *a, const tare_tensor *b, bool exact) {
    assert_int_equal(a->dtype, b->dtype);
    assert_int_equal(a->size, b->size);
    if (exact || a->dtype != TARE_F32) {
        if (memcmp(a->data, b->data, a->size))
            fail_msg("%s %d: '%s' is not the same to the bit", c->file, c->number, name);
        return;
    }
    const float *x = a->data, *y = b->data;
    double most = 0;
    for (size_t i = 0; i < a->size / sizeof *x; i++)
        if (isfinite(x[i])) most = fmax(most, fabs((double)x[i]));
    for (size_t i = 0; i < a->size / sizeof *x; i++)
        if (memcmp(&x[i], &y[i], sizeof x[i]) && !(fabs((double)x[i] - (double)y[i]) <= 1e-6 * most))
            fail_msg("%s %d: '%s'[%zu] was %.9g and is %.9g", c->file, c->number, name, i, (double)x[i], (double)y[i]);
}

/* Does the pass only move and drop, so that nothing may change at all? */
static bool is_exact(const tare_pass *pass) {
    return !pass || !(strstr(pass->name, "fuse-") == pass->name || strstr(pass->name, "recognise-") == pass->name);
}

/* Old forms are only rewritten, not run. */
static bool can_run(const tare_model *model) {
    tare_for_nodes (node, model->graph)
        if (!node->op || (!node->op->run && !(node->op->flags & TARE_OP_CONTROL))) return false;
    return true;
}

static void check_floats(const test_case *c, const tare_pass *pass, const tare_model *before, const tare_model *after) {
    if (!can_run(before)) return;
    tare_arena *arena = tare_arena_new();
    assert_int_equal(before->graph->outputs.count, after->graph->outputs.count);
    for (uint64_t run = 0; run < RUNS; run++) {
        tare_tensor **inputs = make_inputs(before, arena, run + 1);
        tare_session *a = run_model(before, inputs), *b = run_model(after, inputs);
        for (size_t i = 0; i < before->graph->outputs.count; i++) {
            const char *name = before->graph->outputs.at[i]->name;
            assert_string_equal(name, after->graph->outputs.at[i]->name);
            check_tensor(c, name, tare_session_output(a, i), tare_session_output(b, i), is_exact(pass));
        }
        tare_session_free(a);
        tare_session_free(b);
    }
    tare_arena_free(arena);
}

/* ---- a case ---- */

static size_t apply(tare_model *model, const tare_pass *pass, tare_log *log) {
    if (!pass) {
        assert_ok(tare_passes_normalize(model, NULL, log, &err));
        return 0;
    }
    const tare_pass_options options = { .explain = true, .only = { .at = &pass->name, .count = 1 } };
    tare_pass_total totals[PASSES_MAX];
    size_t changes = 0;
    assert_true(tare_pass_count() <= PASSES_MAX);
    assert_ok(tare_passes_run(model, &options, log, totals, &err));
    for (size_t i = 0; i < tare_pass_count(); i++) changes += totals[i].changes;
    return changes;
}

static tare_model *parse(const test_case *c, const char *text, size_t size) {
    tare_model *model;
    tare_error err = { 0 };
    if (tare_model_parse(&model, text, size, &err) != TARE_OK) fail_msg("%s %d: %s", c->file, c->number, err.text);
    if (tare_graph_infer(model->graph, &err) != TARE_OK) fail_msg("%s %d: %s", c->file, c->number, err.text);
    return model;
}

static const char *trim(tare_arena *arena, const char *text, size_t size) {
    while (size && strchr(" \n", *text)) text++, size--;
    while (size && strchr(" \n", text[size - 1])) size--;
    return tare_arena_copy(arena, text, size);
}

/* Passes meet models that were normalized. */
static tare_model *read_before(const test_case *c, const tare_pass *pass) {
    tare_model *model = parse(c, c->before, c->before_size);
    if (pass) assert_ok(tare_passes_normalize(model, NULL, NULL, &err));
    return model;
}

/* Runs a case; appends what came out to `updated`. */
static void run_case(const test_case *c, const tare_pass *pass, tare_text *updated) {
    tare_arena *arena = tare_arena_new();
    tare_text got = { .arena = arena }, notes = { .arena = arena };
    listener l = { .text = &notes };
    tare_log log = { .line = keep_line, .context = &l };
    tare_model *before = read_before(c, pass), *after = read_before(c, pass);
    apply(after, pass, &log);
    tare_model_print(&got, after, PRINTED_MAX);
    if (notes.length) tare_text_append(&got, notes.at, notes.length);
    const char *wanted = trim(arena, c->after, c->after_size), *printed = trim(arena, got.at, got.length);
    if (!getenv("TARE_UPDATE") && strcmp(wanted, printed))
        fail_msg("%s %d gives\n%s\n\nwant\n%s", c->file, c->number, printed, wanted);
    tare_text_printf(updated, "%s%s\n---\n%s\n", updated->length ? "===\n" : "", trim(arena, c->before, c->before_size),
                     printed);
    assert_ok(tare_graph_verify(after->graph, &err));
    check_floats(c, pass, before, after);
    if (apply(after, pass, NULL)) fail_msg("%s %d: a second run changes more", c->file, c->number);
    tare_model_free(before);
    tare_model_free(after);
    tare_arena_free(arena);
}

/* ---- a file ---- */

/* The next line that is just `mark`, or the end. */
static const char *find_mark(const char *at, const char *end, const char *mark) {
    size_t length = strlen(mark);
    for (; at < end; at = memchr(at, '\n', (size_t)(end - at)), at = at ? at + 1 : end)
        if ((size_t)(end - at) >= length && !memcmp(at, mark, length) && (at + length == end || at[length] == '\n'))
            return at;
    return end;
}

static void run_file(const char *name, const tare_pass *pass) {
    tare_arena *arena = tare_arena_new();
    tare_text updated = { .arena = arena };
    const char *path = test_source(tare_arena_printf(arena, "tests/passes/%s.case", name));
    tare_file file;
    assert_ok(tare_file_open(&file, path, &err));
    const char *at = (const char *)file.data, *end = at + file.size;
    for (int number = 1; at < end; number++) {
        const char *last = find_mark(at, end, "==="), *middle = find_mark(at, last, "---");
        size_t skip = middle < last ? 4 : 0;
        const test_case c = { .file = name,
                              .before = at,
                              .before_size = (size_t)(middle - at),
                              .after = middle + skip,
                              .after_size = (size_t)(last - middle) - skip,
                              .number = number };
        run_case(&c, pass, &updated);
        at = last < end ? last + 4 : end;
    }
    assert_true(updated.length > 0);
    tare_file_close(&file);
    if (getenv("TARE_UPDATE")) assert_ok(tare_file_write(path, updated.at, updated.length, &err));
    tare_arena_free(arena);
}

static void test_pass(void **state) {
    const tare_pass *pass = *state;
    run_file(pass->name, pass);
}

static void test_normalize(void **state) {
    (void)state;
    run_file("normalize", NULL);
}

static void test_names(void **state) {
    (void)state;
    tare_model *model;
    const char text[] = "<ir_version: 8, opset_import: [\"\" : 17]> g (float x) => (float y) { y = Relu(x) }";
    const char *wrong = "fuse-bn-into-conf";
    const tare_pass_options only = { .only = { .at = &wrong, .count = 1 } }, skip = { .skip = only.only };
    assert_ok(tare_model_parse(&model, text, sizeof text - 1, &err));
    assert_error(tare_passes_run(model, &only, NULL, NULL, &err), TARE_E_USAGE, "did you mean 'fuse-bn-into-conv'?");
    assert_error(tare_passes_run(model, &skip, NULL, NULL, &err), TARE_E_USAGE, "no pass 'fuse-bn-into-conf'");
    assert_ok(tare_passes_run(model, NULL, NULL, NULL, &err));
    for (size_t i = 0; i < tare_pass_count(); i++) {
        assert_ptr_equal(tare_pass_find(tare_pass_at(i)->name), tare_pass_at(i));
        assert_non_null(tare_pass_at(i)->help);
    }
    tare_model_free(model);
}

int main(void) {
    struct CMUnitTest tests[PASSES_MAX + 2] = { cmocka_unit_test(test_names), cmocka_unit_test(test_normalize) };
    size_t count = 2;
    for (size_t i = 0; i < tare_pass_count(); i++) {
        tare_pass pass = *tare_pass_at(i);
        static tare_pass passes[PASSES_MAX];
        passes[i] = pass;
        tests[count++] = (struct CMUnitTest){ .name = pass.name, .test_func = test_pass, .initial_state = &passes[i] };
    }
    return _cmocka_run_group_tests("passes", tests, count, NULL, NULL);
}
