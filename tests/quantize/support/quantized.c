/* Quantizing small graphs for tests, by what the scales ask calibration for and no more. */
#include "quantize/support/quantized.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void keep_line(void *context, tare_log_level level, const char *text) {
    quantized *q = context;
    (void)level;
    const size_t used = strlen(q->log);
    assert_true(snprintf(q->log + used, sizeof q->log - used, "%s\n", text) < (int)(sizeof q->log - used));
}

/* The numbers as a raw file, in samples of the input's shape with open dimensions as 1 but for the last. */
static tare_ranges *calibrate(tare_model *model, const float *numbers, size_t count,
                              const tare_quantize_options *quantize) {
    const tare_shape *shape = &model->graph->inputs.at[0]->shape;
    const char *path = test_path(test_directory(), "numbers.bin");
    char source[512];
    size_t at = (size_t)snprintf(source, sizeof source, "%s:f32:", path);
    int64_t elements = 1;
    for (int i = 0; i < shape->rank; i++) elements *= shape->dim[i] < 0 ? 1 : shape->dim[i];
    at += (size_t)snprintf(source + at, sizeof source - at, "%lld", (long long)((int64_t)count / elements));
    for (int i = 0; i < shape->rank; i++)
        at += (size_t)snprintf(source + at, sizeof source - at, "x%lld",
                               (long long)(shape->dim[i] < 0 ? 1 : shape->dim[i]));
    test_write_file(path, numbers, count * sizeof *numbers);
    const tare_source data = { .path = source };
    tare_arena *arena = tare_arena_new();
    tare_map wanted;
    tare_map_init(&wanted, arena);
    assert_ok(tare_quantize_list_needs(model, quantize, &wanted, &err));
    const tare_calibrate_options options = { .threads = 1, .wanted = &wanted };
    tare_samples *samples;
    tare_ranges *ranges = NULL;
    assert_ok(tare_samples_open(&samples, model, &data, 1, NULL, NULL, &err));
    assert_ok(tare_calibrate(&ranges, model, samples, &options, NULL, &err));
    tare_samples_close(samples);
    tare_arena_free(arena);
    return ranges;
}

quantized *quantized_open(const char *text, const float *numbers, size_t count, const tare_quantize_options *options) {
    quantized *q = calloc(1, sizeof *q);
    assert_non_null(q);
    tare_quantize_options own = options ? *options : (tare_quantize_options){ 0 };
    own.target = tare_target_find("onnx");
    tare_log log = { .line = keep_line, .context = q };
    q->model = graphs_parse(text);
    q->ranges = calibrate(q->model, numbers, count, &own);
    assert_ok(tare_quantize_choose(q->model, q->ranges, &own, &log, &err));
    return q;
}

void quantized_close(quantized *q) {
    tare_ranges_free(q->ranges);
    tare_model_free(q->model);
    free(q);
}

void quantized_add_weight(tare_text *text, const char *name, const char *shape, size_t count) {
    test_random random = { count };
    tare_text_printf(text, "%sfloat[%s] %s = ", text->at[text->length - 1] == '<' ? "" : ", ", shape, name);
    for (size_t i = 0; i < count; i++)
        tare_text_printf(text, "%c%.9g", i ? ',' : '{', 2 * test_random_unit(&random) - 1);
    tare_text_printf(text, "}");
}

const tare_value *quantized_value(const quantized *q, const char *name) {
    const tare_value *value = tare_graph_find_value(q->model->graph, name);
    assert_non_null(value);
    return value;
}

const tare_node *quantized_node(const quantized *q, const char *output) {
    const tare_node *node = quantized_value(q, output)->producer;
    assert_non_null(node);
    return node;
}

bool quantized_is_integer(const quantized *q, const char *output) {
    const tare_node *node = quantized_node(q, output);
    return node->inputs[0]->quant && node->inputs[1]->quant;
}
