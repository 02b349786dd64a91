/* Whole comparisons: models and dumps as sides, any number of threads, values that passes renamed, the local comparison. */
#include "compare/compare.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "samples/npz.h"
#include "support/fail_nth.h"
#include "support/graphs.h"

enum { SAMPLES = 7, SEED = 11 };

static const char *const text =
    "<ir_version: 8, opset_import: [\"\" : 18]>\n"
    "g (float[1,2,4,4] x) => (float[1,3,4,4] y, float[1,3] z)\n"
    "<float[3,2,1,1] w = {1, -2, 0.5, 3, -1, 2}, float[3] b = {0.1, 0.2, 0.3}, int64[2] s = {1, 3}> {\n"
    "t = Conv(x, w, b)\n u = Relu(t)\n y = Sigmoid(u)\n v = GlobalAveragePool(u)\n z = Reshape(v, s) }";

typedef struct fixture {
    tare_model *model;
    tare_samples *samples;
} fixture;

static void open_fixture(fixture *f) {
    const tare_source source = { .path = "random:7" };
    f->model = graphs_parse(text);
    graphs_quantize(f->model, SEED);
    assert_ok(tare_samples_open(&f->samples, f->model, &source, 1, NULL, NULL, &err));
    assert_int_equal(tare_samples_count(f->samples), SAMPLES);
}

static void close_fixture(fixture *f) {
    tare_samples_close(f->samples);
    tare_model_free(f->model);
}

static tare_comparison *compare(tare_side *a, tare_side *b, const tare_samples *samples, size_t threads) {
    const tare_compare_options options = { .threads = threads, .cpu = tare_cpu_detect() };
    tare_comparison *comparison = NULL;
    assert_ok(tare_compare(&comparison, a, b, samples, &options, NULL, &err));
    return comparison;
}

/* NaN is NaN. */
static void check_same_numbers(double a, double b) {
    if (memcmp(&a, &b, sizeof a) != 0 && !(isnan(a) && isnan(b))) fail_msg("%.17g is not %.17g", a, b);
}

static void check_same(const tare_comparison *a, const tare_comparison *b) {
    assert_int_equal(tare_comparison_count(a), tare_comparison_count(b));
    for (size_t i = 0; i < tare_comparison_count(a); i++) {
        const tare_compared *x = tare_comparison_at(a, i), *y = tare_comparison_at(b, i);
        assert_string_equal(x->name, y->name);
        assert_int_equal(x->metrics.samples, SAMPLES);
        assert_int_equal(x->metrics.codes_used, y->metrics.codes_used);
        assert_string_equal(x->metrics.worst_sample, y->metrics.worst_sample);
        check_same_numbers(x->metrics.sqnr_db, y->metrics.sqnr_db);
        check_same_numbers(x->metrics.cosine, y->metrics.cosine);
        check_same_numbers(x->metrics.l1, y->metrics.l1);
        check_same_numbers(x->metrics.chebyshev, y->metrics.chebyshev);
        check_same_numbers(x->metrics.worst_channel_db, y->metrics.worst_channel_db);
        check_same_numbers(x->metrics.saturated_high, y->metrics.saturated_high);
    }
}

/* Every number of a sample, as it should be, and as it is on the other side. */
static void any_threads(void **state) {
    (void)state;
    fixture f;
    tare_side *a, *b;
    open_fixture(&f);
    assert_ok(tare_side_open_model(&a, "float", f.model, TARE_BACKEND_FLOAT, &err));
    assert_ok(tare_side_open_model(&b, "qdq", f.model, TARE_BACKEND_QDQ, &err));
    tare_comparison *one = compare(a, b, f.samples, 1);
    assert_int_equal(tare_comparison_count(one), 6); /* x t u y v z */
    assert_true(tare_comparison_find(one, "y")->is_output);
    assert_string_equal(tare_comparison_find(one, "t")->op, "Conv");
    assert_null(tare_comparison_find(one, "w"));
    for (size_t threads = 2; threads < 9; threads += 3) {
        tare_comparison *other = compare(a, b, f.samples, threads);
        check_same(one, other);
        tare_comparison_free(other);
    }
    tare_comparison_free(one);
    tare_side_close(a);
    tare_side_close(b);
    close_fixture(&f);
}

static void numbers_are_right(void **state) {
    (void)state;
    fixture f;
    tare_side *a, *b;
    open_fixture(&f);
    assert_ok(tare_side_open_model(&a, "float", f.model, TARE_BACKEND_FLOAT, &err));
    assert_ok(tare_side_open_model(&b, "qdq", f.model, TARE_BACKEND_QDQ, &err));
    tare_comparison *got = compare(a, b, f.samples, 2);
    double aa = 0, dd = 0, max = 0;
    for (size_t i = 0; i < SAMPLES; i++) {
        tare_arena *arena = tare_arena_new();
        tare_sample sample;
        tare_map real, rounded;
        assert_ok(tare_samples_get(f.samples, i, arena, &sample, &err));
        graphs_evaluate(&real, f.model, sample.inputs, TARE_BACKEND_FLOAT, arena);
        graphs_evaluate(&rounded, f.model, sample.inputs, TARE_BACKEND_QDQ, arena);
        const tare_tensor *x = tare_map_get(&real, "y"), *y = tare_map_get(&rounded, "y");
        for (int64_t k = 0; k < tare_shape_elements(&x->shape); k++) {
            double p = (double)((const float *)x->data)[k], d = (double)((const float *)y->data)[k] - p;
            aa += p * p;
            dd += d * d;
            max = fmax(max, fabs(d));
        }
        tare_arena_free(arena);
    }
    const tare_metrics *m = &tare_comparison_find(got, "y")->metrics;
    assert_true(dd > 0);
    assert_true(fabs(m->sqnr_db - 10 * log10(aa / dd)) < 1e-9);
    assert_true(m->chebyshev == max);
    tare_comparison_free(got);
    tare_side_close(a);
    tare_side_close(b);
    close_fixture(&f);
}

/* Runs the float model and writes y (plus `extra`) and z of each sample. */
static void dump(const fixture *f, const char *directory, float extra) {
    const tare_session_options options = { .cpu = tare_cpu_detect() };
    tare_session *session;
    assert_ok(tare_session_new(&session, f->model, &options, &err));
    for (size_t i = 0; i < SAMPLES; i++) {
        tare_arena *arena = tare_arena_new();
        tare_sample sample;
        assert_ok(tare_samples_get(f->samples, i, arena, &sample, &err));
        assert_ok(tare_session_run(session, sample.inputs, &err));
        ((float *)tare_session_output(session, 0)->data)[3] += extra;
        const tare_npz_array arrays[] = { { "y", tare_session_output(session, 0) },
                                          { "z", tare_session_output(session, 1) },
                                          { "nobody", tare_session_output(session, 1) } };
        char name[64];
        snprintf(name, sizeof name, "%s.npz", sample.id);
        assert_ok(tare_npz_write(test_path(directory, name), arrays, 3, &err));
        tare_arena_free(arena);
    }
    tare_session_free(session);
}

static void dumps_as_sides(void **state) {
    (void)state;
    fixture f;
    tare_side *model, *exact, *off;
    const char *first = test_directory(), *second = test_directory();
    open_fixture(&f);
    dump(&f, first, 0);
    dump(&f, second, 0.5f);
    assert_ok(tare_side_open_model(&model, "model", f.model, TARE_BACKEND_FLOAT, &err));
    assert_ok(tare_side_open_dump(&exact, "exact", first, &err));
    assert_ok(tare_side_open_dump(&off, "off", second, &err));
    tare_side *const pairs[][2] = {
        { model, exact }, { exact, model }, { model, off }, { off, model }, { exact, off }
    };
    for (size_t i = 0; i < 5; i++) {
        bool are_dumps = i == 4, differs = i > 1;
        tare_comparison *c = compare(pairs[i][0], pairs[i][1], are_dumps ? NULL : f.samples, 3);
        assert_int_equal(tare_comparison_find(c, "y")->metrics.is_exact, !differs);
        if (differs) assert_true(fabs(tare_comparison_find(c, "y")->metrics.chebyshev - 0.5) < 1e-6);
        assert_true(tare_comparison_find(c, "z")->metrics.is_exact);
        assert_int_equal(tare_comparison_find(c, "z")->metrics.samples, SAMPLES);
        assert_int_equal(tare_comparison_unmatched_count(c), are_dumps ? 0 : 5); /* x t u v; nobody */
        tare_comparison_free(c);
    }
    const tare_compare_options options = { .cpu = tare_cpu_detect() };
    tare_comparison *none;
    remove(test_path(first, "000003.npz"));
    tare_side_close(exact);
    assert_ok(tare_side_open_dump(&exact, "exact", first, &err));
    assert_error(tare_compare(&none, model, exact, f.samples, &options, NULL, &err), TARE_E_USAGE,
                 "'exact' has no tensors of sample '000003'");
    tare_side_close(model);
    tare_side_close(exact);
    tare_side_close(off);
    close_fixture(&f);
}

/* Shapes that differ are an error that names the value, not a number. */
static void shapes_differ(void **state) {
    (void)state;
    fixture f;
    tare_side *a, *b;
    open_fixture(&f);
    tare_model *other = graphs_parse("<ir_version: 8, opset_import: [\"\" : 18]>\n"
                                     "g (float[1,2,4,4] x) => (float[1,2,4,4] y) { y = Sigmoid(x) }");
    const tare_compare_options options = { .cpu = tare_cpu_detect() };
    tare_comparison *none;
    assert_ok(tare_side_open_model(&a, "three", f.model, TARE_BACKEND_FLOAT, &err));
    assert_ok(tare_side_open_model(&b, "two", other, TARE_BACKEND_FLOAT, &err));
    assert_error(tare_compare(&none, a, b, f.samples, &options, NULL, &err), TARE_E_MALFORMED,
                 "value 'y' is f32 1x3x4x4 in 'three', but f32 1x2x4x4 in 'two'");
    tare_side_close(a);
    tare_side_close(b);
    tare_model_free(other);
    close_fixture(&f);
}

/* What a pass took out is found under its new name, in its new form. */
static void values_found_by_alias(void **state) {
    (void)state;
    fixture f;
    tare_side *a, *b;
    open_fixture(&f);
    tare_model *other = graphs_parse("<ir_version: 8, opset_import: [\"\" : 18]>\n"
                                     "g (float[1,2,4,4] x) => (float[1,4,4,2] y) <float two = {2}> {\n"
                                     "n = Transpose<perm = [0, 2, 3, 1]>(x)\n y = Mul(n, two) }");
    tare_model *old = graphs_parse("<ir_version: 8, opset_import: [\"\" : 18]>\n"
                                   "g (float[1,2,4,4] x) => (float[1,2,4,4] was) { was = Neg(x) }");
    /* was = -0.5 y, dimension i of was being dimension permutation[i] of y */
    const tare_alias alias = { .target = "y", .has_permutation = true, .permutation = { 0, 3, 1, 2 }, .factor = -0.5 };
    assert_ok(tare_model_add_alias(other, "was", &alias, &err));
    assert_ok(tare_side_open_model(&a, "old", old, TARE_BACKEND_FLOAT, &err));
    assert_ok(tare_side_open_model(&b, "new", other, TARE_BACKEND_FLOAT, &err));
    tare_comparison *c = compare(a, b, f.samples, 1);
    assert_string_equal(tare_comparison_find(c, "was")->other, "y");
    assert_true(tare_comparison_find(c, "was")->metrics.is_exact);
    tare_comparison_free(c);
    c = compare(b, a, f.samples, 1); /* the removed name is on the other side */
    assert_true(tare_comparison_find(c, "y")->metrics.is_exact);
    tare_comparison_free(c);
    tare_side_close(a);
    tare_side_close(b);
    tare_model_free(old);
    tare_model_free(other);
    close_fixture(&f);
}

static void local_errors(void **state) {
    (void)state;
    fixture f;
    open_fixture(&f);
    const tare_compare_options options = { .cpu = tare_cpu_detect(), .threads = 2 };
    tare_comparison *local;
    assert_ok(tare_compare_local(&local, f.model, NULL, NULL, f.samples, &options, NULL, &err));
    size_t shown = 0;
    for (size_t i = 0; i < tare_comparison_count(local); i++) {
        const tare_compared *c = tare_comparison_at(local, i);
        assert_int_equal(c->metrics.samples, SAMPLES);
        assert_ptr_equal(tare_comparison_find(local, c->name), c);
        shown++;
    }
    assert_true(shown > 2);
    tare_comparison_free(local);
    close_fixture(&f);
}

static tare_status try_compare(void *context, tare_error *err) {
    fixture *f = context;
    const tare_compare_options options = { .cpu = tare_cpu_detect(), .threads = 1 };
    tare_side *a = NULL, *b = NULL;
    tare_comparison *comparison = NULL;
    tare_status status = tare_side_open_model(&a, "float", f->model, TARE_BACKEND_FLOAT, err);
    if (status == TARE_OK) status = tare_side_open_model(&b, "qdq", f->model, TARE_BACKEND_QDQ, err);
    if (status == TARE_OK) status = tare_compare(&comparison, a, b, f->samples, &options, NULL, err);
    tare_comparison_free(comparison);
    tare_side_close(a);
    tare_side_close(b);
    return status;
}

static void every_allocation_fails(void **state) {
    (void)state;
    fixture f;
    open_fixture(&f);
    assert_true(test_fail_allocations(try_compare, &f) > 20);
    close_fixture(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_threads),
        cmocka_unit_test(numbers_are_right),
        cmocka_unit_test(dumps_as_sides),
        cmocka_unit_test(shapes_differ),
        cmocka_unit_test(values_found_by_alias),
        cmocka_unit_test(local_errors),
        cmocka_unit_test(every_allocation_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
