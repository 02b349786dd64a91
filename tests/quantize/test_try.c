/* Method auto: who wins is who wins when each range is put into the model and run through codes, alone; for any number of
 * threads. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "quantize/support/quantized.h"
#include "support/fail_nth.h"

enum { SAMPLES = 6, SIZE = 2 * 6 * 6, OUTLIERS = 7 };

/* Of one reader and of several, behind a Relu, joined, moved; a value that both operands of a MatMul have. */
static char *net_text(void) {
    tare_text text = { .arena = tare_arena_new() };
    tare_text_puts(&text, "<ir_version: 8, opset_import: [\"\" : 18]>\n"
                          "g (float[1,2,6,6] x) => (float[1,4,6,6] z, float[1,3,6,6] m)\n<");
    quantized_add_weight(&text, "a", "4,2,3,3", 4 * 2 * 9);
    quantized_add_weight(&text, "b", "4,4,1,1", 16);
    quantized_add_weight(&text, "c", "4,4,3,3", 16 * 9);
    quantized_add_weight(&text, "d", "3,4,1,1", 12);
    quantized_add_weight(&text, "e", "4,4,1,1", 16);
    tare_text_puts(&text,
                   "> {\n"
                   "p = Conv<pads = [1, 1, 1, 1]>(x, a)\n q = Relu(p)\n r = Conv(q, b)\n"
                   "s = Conv<pads = [1, 1, 1, 1]>(q, c)\n t = Add(r, s)\n u = Relu(t)\n"
                   "w = MatMul(u, s)\n v = Transpose<perm = [0, 1, 3, 2]>(w)\n m = Conv(v, d)\n z = Conv(u, e)\n }");
    char *copy = strdup(text.at);
    tare_arena_free(text.arena);
    return copy;
}

/* Two-sided with heavy tails. */
static void fill(float *numbers, size_t count) {
    test_random random = { 22 };
    for (size_t i = 0; i < count; i++) {
        const double u = test_random_unit(&random) - 0.5;
        numbers[i] = (float)(u / (0.51 - fabs(u)) * (i % OUTLIERS ? 1 : 2));
    }
}

typedef struct fixture {
    char *text;
    float numbers[SAMPLES * SIZE];
    quantized *plain;  /* by minmax */
    tare_model *model; /* without scales */
    tare_samples *samples;
    tare_arena *arena;
    tare_map winners;
} fixture;

static fixture *open_fixture(void) {
    fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    const tare_quantize_options options = { .method = "minmax" };
    const char *path = test_path(test_directory(), "tried.bin");
    char data[512];
    snprintf(data, sizeof data, "%s:f32:%dx1x2x6x6", path, SAMPLES);
    const tare_source source = { .path = data };
    f->text = net_text();
    f->model = graphs_parse(f->text);
    fill(f->numbers, SAMPLES * SIZE);
    test_write_file(path, f->numbers, sizeof f->numbers);
    f->plain = quantized_open(f->text, f->numbers, SAMPLES * SIZE, &options);
    assert_ok(tare_samples_open(&f->samples, f->plain->model, &source, 1, NULL, NULL, &err));
    f->arena = tare_arena_new();
    return f;
}

static void close_fixture(fixture *f) {
    tare_samples_close(f->samples);
    tare_arena_free(f->arena);
    quantized_close(f->plain);
    tare_model_free(f->model);
    free(f->text);
    free(f);
}

static const size_t held[] = { 1, 4 };

static tare_status try_ranges(fixture *f, const tare_quantize_options *options, size_t threads) {
    const tare_try_options how = { .indexes = held, .count = 2, .cpu = tare_cpu_detect(), .threads = threads };
    tare_error err = { 0 };
    tare_map_init(&f->winners, f->arena);
    return tare_quantize_try(&f->winners, f->model, f->plain->ranges, options, f->samples, &how, NULL, &err);
}

/* ---- what wins, by brute force ---- */

typedef struct seen {
    tare_arena *arena;
    tare_map values; /* name -> tare_tensor * */
} seen;

static tare_status keep(void *context, const tare_value *value, const tare_tensor *real, const tare_tensor *before,
                        tare_error *e) {
    seen *s = context;
    tare_tensor *copy = tare_arena_alloc(s->arena, 1, sizeof *copy);
    (void)before, (void)e;
    *copy = *real;
    copy->data = tare_arena_copy(s->arena, real->data, real->size);
    assert_true(tare_map_put(&s->values, value->name, copy));
    return TARE_OK;
}

static bool is_alone(void *context, const tare_value *value) { return !strcmp(value->name, context); }

static void run(seen *s, fixture *f, const tare_model *model, size_t index, tare_backend backend, const char *alone) {
    const tare_session_options options = { .backend = backend, .cpu = tare_cpu_detect() };
    const tare_shape *shape = &model->graph->inputs.at[0]->shape;
    tare_tensor input = { TARE_F32, *shape, f->numbers + index * SIZE, SIZE * sizeof(float) }, *inputs[] = { &input };
    tare_session *session;
    s->arena = tare_arena_new();
    tare_map_init(&s->values, s->arena);
    assert_ok(tare_session_new(&session, model, &options, &err));
    char name[8] = "";
    if (alone) strcpy(name, alone), tare_session_set_quant_filter(session, is_alone, name);
    assert_ok(tare_session_set_tap(session, NULL, 0, true, keep, s, &err));
    assert_ok(tare_session_run(session, inputs, &err));
    tare_session_free(session);
}

/* The mean squared error of the value with these codes over samples, clipping counted three times. */
static double put_in(fixture *f, const tare_model *model, const char *value, const size_t *samples, size_t count) {
    const tare_quant *quant = tare_graph_find_value(model->graph, value)->quant;
    const double step = (double)quant->scale[0], zero = quant->zero_point[0];
    double sum = 0, numbers = 0;
    for (size_t i = 0; i < count; i++) {
        seen real;
        run(&real, f, model, samples[i], TARE_BACKEND_FLOAT, NULL);
        const tare_tensor *x = tare_map_get(&real.values, value);
        for (size_t k = 0; k < x->size / sizeof(float); k++) {
            const double r = (double)((float *)x->data)[k], code = fmin(fmax(rint(r / step), -zero), 255 - zero);
            const bool is_clipped = r < -zero * step || r > (255 - zero) * step;
            sum += (is_clipped ? 3 : 1) * (code * step - r) * (code * step - r);
        }
        numbers += (double)(x->size / sizeof(float));
        tare_arena_free(real.arena);
    }
    return sum / numbers;
}

/* Of what `readers` (their outputs, a letter each) make of the value with these codes, as large as the errors are on all samples
 * that were counted. */
static double harm_of(fixture *f, const tare_model *model, const char *value, const char *readers) {
    double harm = 0;
    for (; *readers; readers++) {
        const char name[2] = { *readers, 0 };
        double error = 0, power = 0;
        for (size_t i = 0; i < 2; i++) {
            seen real, coded;
            run(&real, f, model, held[i], TARE_BACKEND_FLOAT, NULL);
            run(&coded, f, model, held[i], TARE_BACKEND_QDQ, value);
            const tare_tensor *a = tare_map_get(&real.values, name), *b = tare_map_get(&coded.values, name);
            for (size_t k = 0; k < a->size / sizeof(float); k++) {
                const double r = (double)((float *)a->data)[k], d = (double)((float *)b->data)[k] - r;
                error += d * d, power += r * r;
            }
            tare_arena_free(real.arena), tare_arena_free(coded.arena);
        }
        harm += error / power;
    }
    static const size_t all[SAMPLES] = { 0, 1, 2, 3, 4, 5 };
    return harm * put_in(f, model, value, all, SAMPLES) / put_in(f, model, value, held, 2);
}

/* The value, and what its readers put out (behind the Relu that melts into the Add). */
static const char *const read_by[][2] = { { "x", "q" }, { "q", "rs" }, { "r", "u" }, { "s", "uw" }, { "u", "wz" } };

static void test_the_winner_does_least_harm(void **state) {
    (void)state;
    fixture *f = open_fixture();
    const tare_quantize_options options = { .target = tare_target_find("onnx"), .method = "auto" };
    assert_ok(try_ranges(f, &options, 1));
    size_t others = 0;
    for (size_t v = 0; v < sizeof read_by / sizeof read_by[0]; v++) {
        const char *value = read_by[v][0];
        const tare_winner *winner = tare_map_get(&f->winners, value);
        double least = INFINITY, own = NAN;
        assert_non_null(winner);
        for (size_t m = 0; m < tare_method_count(); m++) {
            const tare_quantize_options by = { .method = tare_method_at(m)->name };
            if (tare_method_at(m)->tries) continue;
            quantized *q = quantized_open(f->text, f->numbers, SAMPLES * SIZE, &by);
            assert_non_null(quantized_value(q, value)->quant);
            const double harm = harm_of(f, q->model, value, read_by[v][1]);
            if (harm < least) least = harm;
            if (tare_method_at(m) == winner->method) own = harm;
            quantized_close(q);
        }
        if (!(own <= least * 1.03)) /* counts keep 7 bits */
            fail_msg("'%s': %s does %.9g, the least is %.9g", value, winner->method->name, own, least);
        others += winner->method != tare_method_at(0);
    }
    assert_true(others > 0); /* else the first would do */
    close_fixture(f);
}

static void test_scales_are_the_winners(void **state) {
    (void)state;
    fixture *f = open_fixture();
    tare_quantize_options options = { .target = tare_target_find("onnx"), .method = "auto" };
    assert_ok(try_ranges(f, &options, 1));
    options.winners = &f->winners;
    quantized *q = quantized_open(f->text, f->numbers, SAMPLES * SIZE, &options);
    for (size_t v = 0; v < sizeof read_by / sizeof read_by[0]; v++) {
        const tare_winner *winner = tare_map_get(&f->winners, read_by[v][0]);
        const tare_quantize_options by = { .method = winner->method->name };
        quantized *alone = quantized_open(f->text, f->numbers, SAMPLES * SIZE, &by);
        const tare_quant *got = quantized_value(q, read_by[v][0])->quant,
                         *want = quantized_value(alone, read_by[v][0])->quant;
        assert_true(got->scale[0] == want->scale[0] && got->zero_point[0] == want->zero_point[0]);
        char origin[64], wanted[64];
        tare_origin_print(origin, sizeof origin, &got->origin);
        tare_origin_print(wanted, sizeof wanted, &want->origin);
        assert_memory_equal(origin, "auto: ", 6);
        assert_string_equal(origin + 6, wanted);
        quantized_close(alone);
    }
    quantized_close(q);
    close_fixture(f);
}

static void test_threads_change_nothing(void **state) {
    (void)state;
    fixture *f = open_fixture();
    const tare_quantize_options options = { .target = tare_target_find("onnx"), .method = "auto" };
    assert_ok(try_ranges(f, &options, 1));
    const tare_map one = f->winners;
    for (size_t threads = 2; threads < 8; threads += 5) {
        assert_ok(try_ranges(f, &options, threads));
        assert_int_equal(f->winners.entries.count, one.entries.count);
        for (size_t i = 0; i < one.entries.count; i++) {
            const tare_map_entry *a = &one.entries.at[i], *b = &f->winners.entries.at[i];
            assert_string_equal(a->key, b->key);
            assert_ptr_equal(((tare_winner *)a->value)->method, ((tare_winner *)b->value)->method);
        }
    }
    close_fixture(f);
}

/* By a rule for one value only that value is tried; and auto for all but one leaves this one alone. */
static void test_rules(void **state) {
    (void)state;
    fixture *f = open_fixture();
    const tare_rule one = { .value = "q", .method = "auto" }, but = { .value = "q", .method = "average" };
    tare_quantize_options options = { .target = tare_target_find("onnx"), .rules = &one, .rule_count = 1 };
    assert_true(tare_quantize_tries(&options));
    assert_ok(try_ranges(f, &options, 1));
    assert_int_equal(f->winners.entries.count, 1);
    assert_non_null(tare_map_get(&f->winners, "q"));
    options.rules = &but;
    assert_false(tare_quantize_tries(&options));
    options.method = "auto";
    assert_true(tare_quantize_tries(&options));
    assert_ok(try_ranges(f, &options, 1));
    assert_null(tare_map_get(&f->winners, "q"));
    assert_non_null(tare_map_get(&f->winners, "u"));
    close_fixture(f);
}

static void test_samples_are_needed(void **state) {
    (void)state;
    fixture *f = open_fixture();
    const tare_quantize_options options = { .target = tare_target_find("onnx"), .method = "auto" };
    assert_error(tare_quantize_choose(f->model, f->plain->ranges, &options, NULL, &err), TARE_E_USAGE, "--data SRC");
    close_fixture(f);
}

/* One trial of the search, without threads: they may not come at all. */
static tare_status try_once(void *context, tare_error *e) {
    fixture *f = context;
    const tare_quantize_options options = { .target = tare_target_find("onnx"), .method = "auto" };
    const tare_try_options how = { .indexes = held, .count = 2, .cpu = tare_cpu_detect(), .threads = 1 };
    tare_arena *arena = tare_arena_new();
    tare_map winners;
    if (!arena) return tare_fail_memory(e, 0);
    tare_map_init(&winners, arena);
    tare_status status = tare_quantize_try(&winners, f->model, f->plain->ranges, &options, f->samples, &how, NULL, e);
    tare_arena_free(arena);
    return status;
}

static void test_memory_may_be_out(void **state) {
    (void)state;
    fixture *f = open_fixture();
    assert_true(test_fail_allocations(try_once, f) > 20);
    close_fixture(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_winner_does_least_harm), cmocka_unit_test(test_scales_are_the_winners),
        cmocka_unit_test(test_threads_change_nothing),     cmocka_unit_test(test_rules),
        cmocka_unit_test(test_samples_are_needed),         cmocka_unit_test(test_memory_may_be_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
