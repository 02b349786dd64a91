/* What calibration is asked to count: enough that every scale comes out as when all is counted, and no more than is read. */
#include <string.h>

#include "quantize/quantize.h"
#include "support/graphs.h"

enum { RANDOM_GRAPHS = 60 };

/* Counts what is wanted (NULL: all) and chooses the scales; gives how many values were counted. */
static size_t quantize(tare_model *model, const tare_map *wanted, tare_quantize_options options, tare_arena *arena) {
    static const size_t indexes[] = { 0, 2 };
    const tare_source source = { .path = "random:4" };
    const tare_calibrate_options calibrate = { .cpu = tare_cpu_detect(), .threads = 1, .wanted = wanted };
    const tare_try_options how = { .indexes = indexes, .count = 2, .cpu = tare_cpu_detect(), .threads = 1 };
    tare_samples *samples = NULL;
    tare_ranges *ranges = NULL;
    tare_map winners;
    tare_map_init(&winners, arena);
    assert_ok(tare_samples_open(&samples, model, &source, 1, NULL, NULL, &err));
    assert_ok(tare_calibrate(&ranges, model, samples, &calibrate, NULL, &err));
    assert_ok(tare_quantize_try(&winners, model, ranges, &options, samples, &how, NULL, &err));
    options.winners = &winners;
    assert_ok(tare_quantize_choose(model, ranges, &options, NULL, &err));
    const size_t count = tare_ranges_count(ranges);
    tare_samples_close(samples);
    tare_ranges_free(ranges);
    return count;
}

/* Every value has the scale that the other model's has. */
static void check_same_scales(const tare_model *a, const tare_model *b) {
    for (size_t i = 0; i < a->graph->values.entries.count; i++) {
        const tare_value *x = a->graph->values.entries.at[i].value,
                         *y = tare_map_get(&b->graph->values, a->graph->values.entries.at[i].key);
        if (!x) continue;
        assert_int_equal(x->quant != NULL, y->quant != NULL);
        if (!x->quant) continue;
        assert_int_equal(x->quant->count, y->quant->count);
        assert_memory_equal(x->quant->scale, y->quant->scale, x->quant->count * sizeof(float));
        assert_memory_equal(x->quant->zero_point, y->quant->zero_point, x->quant->count * sizeof(int32_t));
        assert_int_equal(x->quant->origin.kind, y->quant->origin.kind);
    }
}

/* Quantizes with all ranges and with those that are needed; gives how many these are. */
static size_t check_graph(const char *text, const tare_quantize_options *options) {
    graphs_at_hand = text;
    tare_model *all = graphs_parse(text), *some = graphs_parse(text);
    tare_arena *arena = tare_arena_new();
    tare_map names;
    tare_map_init(&names, arena);
    assert_ok(tare_quantize_list_needs(some, options, &names, &err));
    const size_t count = quantize(some, &names, *options, arena);
    assert_true(count <= quantize(all, NULL, *options, arena));
    check_same_scales(all, some);
    tare_model_free(all);
    tare_model_free(some);
    tare_arena_free(arena);
    return count;
}

/* Of x t u y v z: x and u. What a Relu takes in, and what lies behind the last product, no one asks for. */
static void only_what_is_read(void **state) {
    (void)state;
    static const char text[] = "<ir_version: 8, opset_import: [\"\" : 18]>\n"
                               "g (float[1,2,4,4] x) => (float[1,3,4,4] z)\n"
                               "<float[3,2,1,1] w = {1, -2, 0.5, 3, -1, 2}, float[3] b = {0.1, 0.2, 0.3}> {\n"
                               "t = Conv(x, w, b)\n u = Relu(t)\n y = Sigmoid(u)\n v = Exp(y)\n z = Mul(v, y) }";
    const tare_quantize_options options = { .target = tare_target_find("onnx") };
    assert_int_equal(check_graph(text, &options), 2);
    const tare_rule keep = { .op = "Relu", .keep_float = true };
    const tare_quantize_options with_rule = { .target = tare_target_find("onnx"), .rules = &keep, .rule_count = 1 };
    check_graph(text, &with_rule);
}

/* From none to all of the rules. */
static void random_graphs(void **state) {
    static const tare_rule rules[] = { { .op = "*", .method = "percentile", .percentile = 99 },
                                       { .op = "Relu", .keep_float = true },
                                       { .op = "Concat", .type = "u16" },
                                       { .op = "Reshape", .has_range = true, .lo = -1, .hi = 2 },
                                       { .op = "Transpose", .keep_float = true } };
    (void)state;
    for (uint64_t seed = 0; seed < RANDOM_GRAPHS; seed++) {
        tare_arena *arena = tare_arena_new();
        const tare_quantize_options options = { .target = tare_target_find("onnx"),
                                                .method = tare_method_at(seed % tare_method_count())->name,
                                                .rules = rules,
                                                .rule_count = seed % (sizeof rules / sizeof *rules + 1) };
        check_graph(graphs_random_text(arena, seed), &options);
        tare_arena_free(arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_what_is_read),
        cmocka_unit_test(random_graphs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
