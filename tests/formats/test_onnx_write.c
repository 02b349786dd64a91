/* Writing ONNX: the old file or the new one is there whatever fails; models made in memory and copies can be written. */
#include <stdio.h>
#include <string.h>

#include "formats/format.h"
#include "formats/onnx/onnx.h"
#include "formats/onnx/reader.h"
#include "formats/onnx/writer.h"
#include "support/fail_nth.h"
#include "support/support.h"

static const tare_read_options reading = { .log = NULL };

/* y = Concat(x, w) with a weight of 2 KiB, made here. */
static tare_model *build(void) {
    tare_model *model;
    assert_ok(tare_model_new(&model, &err));
    model->opset = 13;
    model->ir_version = 7;
    static float weight[512];
    for (int i = 0; i < 512; i++) weight[i] = (float)i;
    const tare_tensor tensor = {
        .dtype = TARE_F32, .shape = { .rank = 2, .dim = { 8, 64 } }, .data = weight, .size = sizeof weight
    };
    tare_value *x, *w, *y;
    assert_ok(tare_graph_add_value(model->graph, "x", &x, &err));
    x->dtype = TARE_F32;
    x->shape = (tare_shape){ .rank = 2, .dim = { tare_model_symbol(model, "N"), 64 } };
    assert_ok(tare_graph_add_input(model->graph, x, &err));
    assert_ok(tare_graph_add_constant(model->graph, "w", &tensor, NULL, true, &w, &err));
    assert_ok(tare_graph_add_value(model->graph, "y", &y, &err));
    tare_value *inputs[] = { x, w };
    tare_node *node;
    assert_ok(
        tare_graph_add_node(model->graph, NULL, tare_op_find("", "Concat", 13), NULL, inputs, 2, &y, 1, &node, &err));
    assert_ok(tare_graph_add_output(model->graph, y, &err));
    return model;
}

typedef struct job {
    const tare_model *model;
    const char *directory, *path;
    tare_write_options options;
} job;

static tare_status write_trial(void *context, tare_error *err) {
    const job *to = context;
    return tare_format_onnx.write(to->model, to->path, &to->options, err);
}

static const char old_bytes[] = "what was there before";

/* After a failure the old file is there and nothing else but whole weight files; after success the new one reads. */
static void check_left(void *context, bool has_failed) {
    const job *to = context;
    bool is_old = test_file_is(to->path, old_bytes, sizeof old_bytes);
    if (!is_old) {
        tare_model *model;
        assert_ok(tare_onnx_read_file(&model, to->path, &reading, NULL, &err));
        tare_model_free(model);
    }
    assert_true(has_failed || !is_old);
    size_t most = to->options.external_threshold ? 2 : 1;
    assert_true(test_count_entries(to->directory) <= most);
    test_write_file(to->path, old_bytes, sizeof old_bytes);
}

static void check_failing(int64_t threshold) {
    tare_model *model = build();
    const char *directory = test_directory();
    job to = { .model = model,
               .directory = directory,
               .path = test_path(directory, "m.onnx"),
               .options = { .external_threshold = threshold } };
    test_write_file(to.path, old_bytes, sizeof old_bytes);
    assert_true(test_fail_file_calls(write_trial, &to, EIO, check_left) > 6);
    test_write_file(to.path, old_bytes, sizeof old_bytes);
    assert_true(test_fail_allocations(write_trial, &to) > 4);
    check_left(&to, false);
    tare_model_free(model);
}

static void test_every_call_fails(void **state) {
    (void)state;
    check_failing(0);
}

static void test_every_call_fails_with_external_data(void **state) {
    (void)state;
    check_failing(1);
}

static void write_to(const tare_model *model, const char *path) {
    const tare_write_options options = { .log = NULL };
    assert_ok(tare_format_onnx.write(model, path, &options, &err));
}

static void check_equal_files(const char *one, const char *other) {
    tare_file a, b;
    assert_ok(tare_file_open(&a, one, &err));
    assert_ok(tare_file_open(&b, other, &err));
    assert_true(a.size == b.size && !memcmp(a.data, b.data, a.size));
    tare_file_close(&a);
    tare_file_close(&b);
}

/* Values, symbols and the interface come back; the copy of what was read writes the same bytes as the model itself. */
static void test_made_in_memory(void **state) {
    (void)state;
    const char *directory = test_directory(), *path = test_path(directory, "m.onnx");
    tare_model *model = build(), *got, *copy;
    write_to(model, path);
    assert_ok(tare_format_onnx.read(&got, path, &reading, &err));
    const tare_value *x = tare_graph_find_value(got->graph, "x"), *w = tare_graph_find_value(got->graph, "w");
    assert_string_equal(got->symbols.at[-2 - x->shape.dim[0]], "N");
    assert_true(w->is_initializer && w->constant->size == 2048);
    assert_true(tare_node_is(got->graph->first, "Concat") && got->graph->first->generated_name);
    assert_string_equal(got->graph->name, "graph");
    assert_ok(tare_model_copy(&copy, got, &err));
    write_to(copy, test_path(directory, "copy.onnx"));
    check_equal_files(path, test_path(directory, "copy.onnx"));
    tare_model_free(copy);
    tare_model_free(got);
    tare_model_free(model);
}

/* A model of one node that reads x and, when it has a second input, the graph input `axes`. */
static tare_model *build_one(const char *op, int64_t opset, bool with_axes) {
    tare_model *model;
    assert_ok(tare_model_new(&model, &err));
    model->opset = opset;
    model->ir_version = 7;
    tare_value *values[3];
    static const char *const names[] = { "x", "axes", "y" };
    for (int i = 0; i < 3; i++) {
        if (i == 1 && !with_axes) continue;
        assert_ok(tare_graph_add_value(model->graph, names[i], &values[i], &err));
        values[i]->dtype = i == 1 ? TARE_S64 : TARE_F32;
        values[i]->shape = (tare_shape){ .rank = 1, .dim = { 1 } };
        if (i < 2) assert_ok(tare_graph_add_input(model->graph, values[i], &err));
    }
    values[2]->shape = tare_shape_unknown();
    tare_node *node;
    assert_ok(tare_graph_add_node(model->graph, NULL, tare_op_find("", op, opset), "n", values, with_axes ? 2 : 1,
                                  &values[2], 1, &node, &err));
    assert_ok(tare_graph_add_output(model->graph, values[2], &err));
    return model;
}

/* The opset that the file of such a model has, and whether it still holds the operator. */
static int64_t written_opset(const char *op, int64_t opset, bool with_axes, bool *is_kept) {
    const char *path = test_path(test_directory(), "m.onnx");
    tare_model *model = build_one(op, opset, with_axes), *got;
    write_to(model, path);
    tare_model_free(model);
    assert_ok(tare_format_onnx.read(&got, path, &reading, &err));
    int64_t written = got->opset;
    *is_kept = false;
    tare_for_nodes (node, got->graph) *is_kept |= tare_node_is(node, op);
    tare_model_free(got);
    return written;
}

/* What an older opset can say by other operators is said so; else the file is lifted as far as it must be. */
static void test_opset_of_the_file(void **state) {
    (void)state;
    bool is_kept;
    assert_int_equal(written_opset("Gelu", 13, false, &is_kept), 13);
    assert_false(is_kept);
    assert_int_equal(written_opset("Gelu", 20, false, &is_kept), 20);
    assert_true(is_kept);
    assert_int_equal(written_opset("HardSwish", 11, false, &is_kept), 11);
    assert_false(is_kept);
    assert_int_equal(written_opset("Mish", 13, false, &is_kept), 18);
    assert_true(is_kept);
    assert_int_equal(written_opset("Squeeze", 11, false, &is_kept), 11);
    assert_int_equal(written_opset("Squeeze", 11, true, &is_kept), 13);
    assert_true(is_kept);
}

/* ---- what is read back is compared ---- */

typedef void change(tare_model *model);
static tare_value *value_of(tare_model *model, const char *name) { return tare_graph_find_value(model->graph, name); }
static void change_opset(tare_model *model) { model->opset = 14; }
static void change_producer(tare_model *model) { model->producer_name = "other"; }
static void change_type(tare_model *model) { value_of(model, "y")->dtype = TARE_S8; }
static void change_shape(tare_model *model) { value_of(model, "x")->shape.dim[1] = 65; }
static void change_symbol(tare_model *model) { model->symbols.at[0] = "M"; }
static void change_interface(tare_model *model) { value_of(model, "y")->is_output = false; }
static void change_inputs(tare_model *model) { model->graph->inputs.count = 0; }
static void change_operator(tare_model *model) { model->graph->first->type = "Sum"; }
static void change_name(tare_model *model) { model->graph->first->generated_name = false; }
static void change_links(tare_model *model) { model->graph->first->inputs[1] = value_of(model, "x"); }
static void change_nodes(tare_model *model) { model->graph->first = NULL; }
static void change_contents(tare_model *model) {
    static float other[512];
    static tare_tensor tensor;
    tensor = *value_of(model, "w")->constant;
    tensor.data = other;
    value_of(model, "w")->constant = &tensor;
}
static void change_attribute(tare_model *model) {
    const tare_node *node = model->graph->first;
    *(int64_t *)tare_field_at(tare_fields_find(node->op->attrs, "axis"), node->attrs) = 1;
}

static void test_differences_are_seen(void **state) {
    (void)state;
    static const struct {
        change *make;
        const char *word;
    } changes[] = { { change_opset, "opset" },         { change_producer, "properties" },
                    { change_type, "type of 'y'" },    { change_shape, "shape of 'x'" },
                    { change_symbol, "shape of 'x'" }, { change_interface, "'y'" },
                    { change_inputs, "inputs" },       { change_operator, "operator" },
                    { change_name, "name" },           { change_links, "inputs of" },
                    { change_nodes, "nodes" },         { change_contents, "'w'" },
                    { change_attribute, "attributes" } };
    const char *path = test_path(test_directory(), "m.onnx");
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        tare_model *model = build(), *got;
        tare_onnx_writing writing = { .model = model };
        write_to(model, path);
        assert_ok(tare_format_onnx.read(&got, path, &reading, &err));
        assert_ok(tare_onnx_compare(&writing, got, &err));
        changes[i].make(got);
        assert_error(tare_onnx_compare(&writing, got, &err), TARE_E_BUG, changes[i].word);
        tare_model_free(got);
        tare_model_free(model);
    }
}

/* What another format kept in `extra` means nothing here. */
static void test_foreign_extra(void **state) {
    (void)state;
    static const tare_format other = { .name = "other" };
    static const struct {
        const tare_format *format;
        int noise[16];
    } extra = { .format = &other, .noise = { 1, 2, 3 } };
    const char *directory = test_directory();
    tare_model *model = build();
    write_to(model, test_path(directory, "plain.onnx"));
    model->extra = &extra;
    model->graph->extra = &extra;
    model->graph->first->extra = &extra;
    tare_graph_find_value(model->graph, "x")->extra = &extra;
    write_to(model, test_path(directory, "foreign.onnx"));
    check_equal_files(test_path(directory, "plain.onnx"), test_path(directory, "foreign.onnx"));
    tare_model_free(model);
}

static void test_formats_are_found(void **state) {
    (void)state;
    const char *directory = test_directory(), *misnamed = test_path(directory, "model.bin");
    tare_model *model = build();
    assert_null(tare_format_to_write("model.bin"));
    assert_ptr_equal(tare_format_to_write("a/b.onnx"), &tare_format_onnx);
    assert_ptr_equal(tare_format_to_write("A.ONNX"), &tare_format_onnx);
    write_to(model, misnamed);
    assert_ptr_equal(tare_format_to_read(misnamed), &tare_format_onnx);
    assert_ptr_equal(tare_format_to_read("not/there.onnx"), &tare_format_onnx);
    assert_null(tare_format_to_read("not/there.bin"));
    tare_model_free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_call_fails),     cmocka_unit_test(test_every_call_fails_with_external_data),
        cmocka_unit_test(test_made_in_memory),       cmocka_unit_test(test_opset_of_the_file),
        cmocka_unit_test(test_differences_are_seen), cmocka_unit_test(test_foreign_extra),
        cmocka_unit_test(test_formats_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
