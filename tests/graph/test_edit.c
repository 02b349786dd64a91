/* Editing graphs: links stay right both ways, names stay unique, order is found, and every allocation may fail. */
#include "graph/graph.h"

#include <string.h>

#include "ops/op.h"
#include "support/fail_nth.h"

static tare_value *add(tare_graph *graph, const char *name) {
    tare_value *value;
    assert_ok(tare_graph_add_value(graph, name, &value, &err));
    value->dtype = TARE_F32;
    return value;
}

static tare_node *node(tare_graph *graph, const char *op, tare_value *in, tare_value *out) {
    tare_node *made;
    assert_ok(tare_graph_add_node(graph, NULL, tare_op_find("", op, 18), NULL, &in, 1, &out, 1, &made, &err));
    return made;
}

/* x -> Identity -> a -> Identity -> b -> Identity -> y, given in the wrong order when asked. */
static tare_model *chain(bool unsorted) {
    tare_model *model;
    assert_ok(tare_model_new(&model, &err));
    model->opset = 18;
    tare_graph *g = model->graph;
    tare_value *x = add(g, "x"), *a = add(g, "a"), *b = add(g, "b"), *y = add(g, "y");
    assert_ok(tare_graph_add_input(g, x, &err));
    if (unsorted) {
        node(g, "Identity", b, y);
        node(g, "Identity", x, a);
        node(g, "Identity", a, b);
    } else {
        node(g, "Identity", x, a);
        node(g, "Identity", a, b);
        node(g, "Identity", b, y);
    }
    assert_ok(tare_graph_add_output(g, y, &err));
    return model;
}

static void test_sorts_and_keeps_what_is_sorted(void **state) {
    (void)state;
    tare_model *model = chain(true);
    assert_error(tare_graph_verify(model->graph, &err), TARE_E_BUG, "before it is made");
    assert_ok(tare_graph_sort(model->graph, NULL, &err));
    assert_ok(tare_graph_verify(model->graph, &err));
    const char *order[3] = { "a", "b", "y" };
    int i = 0;
    tare_for_nodes (n, model->graph) assert_string_equal(n->outputs[0]->name, order[i++]);
    const tare_node *first = model->graph->first;
    assert_ok(tare_graph_sort(model->graph, NULL, &err));
    assert_ptr_equal(model->graph->first, first);
    tare_model_free(model);
}

static void test_names_the_cycle(void **state) {
    (void)state;
    tare_model *model = chain(false);
    tare_graph *g = model->graph;
    tare_node *first = g->first;
    assert_ok(tare_node_set_input(first, 0, tare_graph_find_value(g, "b"), &err));
    assert_error(tare_graph_sort(g, NULL, &err), TARE_E_MALFORMED, "cycle");
    assert_error(tare_graph_sort(g, NULL, &err), TARE_E_MALFORMED, first->name);
    tare_model_free(model);
}

static void test_replaces_readers_and_outputs(void **state) {
    (void)state;
    tare_model *model = chain(false);
    tare_graph *g = model->graph;
    tare_value *a = tare_graph_find_value(g, "a"), *y = tare_graph_find_value(g, "y");
    tare_node *last = g->last, *middle = last->previous;
    assert_ok(tare_value_replace(y, a, &err));
    assert_true(a->is_output && !y->is_output);
    assert_ok(tare_value_take_name(a, y, &err));
    assert_string_equal(a->name, "y");
    assert_string_equal(g->outputs.at[0]->name, "y");
    tare_node_remove(last);
    tare_node_remove(middle);
    assert_ok(tare_graph_verify(g, &err));
    assert_int_equal(g->node_count, 1);
    tare_alias alias;
    assert_true(tare_model_resolve(model, "a", &alias));
    assert_string_equal(alias.target, "y");
    assert_false(tare_model_resolve(model, "b", &alias));
    tare_model_free(model);
}

static void test_follows_aliases_and_permutations(void **state) {
    (void)state;
    tare_model *model = chain(false);
    const tare_alias once = {
        .target = "old2", .has_permutation = true, .permutation = { 0, 2, 3, 1 }, .factor = 2, .offset = 1
    };
    const tare_alias twice = { .target = "y", .has_permutation = true, .permutation = { 0, 3, 1, 2 }, .factor = 3 };
    assert_ok(tare_model_add_alias(model, "old1", &once, &err));
    assert_ok(tare_model_add_alias(model, "old2", &twice, &err));
    tare_alias alias;
    assert_true(tare_model_resolve(model, "old1", &alias));
    assert_string_equal(alias.target, "y");
    for (int i = 0; i < 4; i++) assert_int_equal(alias.permutation[i], i); /* there and back */
    assert_true(alias.factor == 6 && alias.offset == 1);                   /* old1 = 2 (3 y) + 1 */
    assert_ok(tare_model_add_gone(model, "old3", "folded into 'y'", &err));
    assert_false(tare_model_resolve(model, "old3", &alias));
    assert_string_equal(alias.reason, "folded into 'y'");
    assert_ok(tare_model_add_alias(model, "ring1", &(tare_alias){ .target = "ring2", .factor = 1 }, &err));
    assert_ok(tare_model_add_alias(model, "ring2", &(tare_alias){ .target = "ring1", .factor = 1 }, &err));
    assert_false(tare_model_resolve(model, "ring1", &alias));
    tare_model_free(model);
}

static void test_unique_names_keep_clear(void **state) {
    (void)state;
    tare_model *model = chain(false);
    tare_graph *inner;
    assert_ok(tare_graph_new(&inner, model, model->graph, model->graph->last, &err));
    add(inner, "a_1");
    assert_string_equal(tare_graph_unique_name(model->graph, "a"), "a_2");
    assert_string_equal(tare_graph_unique_name(model->graph, "new"), "new");
    tare_model_free(model);
}

static void test_copies_stand_alone(void **state) {
    (void)state;
    tare_model *model = chain(false), *copy;
    assert_ok(tare_model_copy(&copy, model, &err));
    assert_ok(tare_graph_verify(copy->graph, &err));
    assert_int_equal(copy->graph->node_count, 3);
    assert_string_equal(copy->graph->last->name, model->graph->last->name);
    tare_graph *g = copy->graph;
    tare_value *y = tare_graph_find_value(g, "y");
    assert_ok(tare_value_replace(y, tare_graph_find_value(g, "b"), &err));
    tare_node_remove(g->last);
    assert_int_equal(copy->graph->node_count, 2);
    assert_int_equal(model->graph->node_count, 3);
    assert_ok(tare_graph_verify(model->graph, &err));
    tare_model_free(copy);
    assert_ok(tare_graph_verify(model->graph, &err));
    tare_model_free(model);
}

static void test_verify_sees_bad_scales(void **state) {
    (void)state;
    tare_model *model = chain(false);
    tare_value *a = tare_graph_find_value(model->graph, "a");
    float scale = 0.5f;
    int32_t zero_point = 300;
    tare_quant quant = { .code = TARE_U8, .axis = -1, .count = 1, .scale = &scale, .zero_point = &zero_point };
    a->quant = &quant;
    assert_error(tare_graph_verify(model->graph, &err), TARE_E_BUG, "zero point");
    zero_point = 128;
    assert_ok(tare_graph_verify(model->graph, &err));
    scale = 0;
    assert_error(tare_graph_verify(model->graph, &err), TARE_E_BUG, "scale");
    tare_model_free(model);
}

static tare_status build_and_copy(void *context, tare_error *err) {
    (void)context;
    tare_model *model, *copy = NULL;
    TARE_TRY(tare_model_new(&model, err));
    tare_graph *g = model->graph;
    tare_value *x = NULL, *y = NULL, *c = NULL;
    tare_node *made;
    tare_status status = tare_graph_add_value(g, "x", &x, err);
    if (status == TARE_OK) status = tare_graph_add_input(g, x, err);
    if (status == TARE_OK) status = tare_graph_add_f32(g, "c", 1, &c, err);
    if (status == TARE_OK) status = tare_graph_add_value(g, "y", &y, err);
    if (status == TARE_OK)
        status = tare_graph_add_node(g, NULL, tare_op_find("", "Identity", 18), "n", &x, 1, &y, 1, &made, err);
    if (status == TARE_OK) status = tare_graph_add_output(g, y, err);
    if (status == TARE_OK) status = tare_model_copy(&copy, model, err);
    if (status == TARE_OK) status = tare_graph_sort(copy->graph, NULL, err);
    tare_model_free(copy);
    tare_model_free(model);
    return status;
}

static void test_every_allocation_may_fail(void **state) {
    (void)state;
    assert_true(test_fail_allocations(build_and_copy, NULL) > 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sorts_and_keeps_what_is_sorted), cmocka_unit_test(test_names_the_cycle),
        cmocka_unit_test(test_replaces_readers_and_outputs),   cmocka_unit_test(test_follows_aliases_and_permutations),
        cmocka_unit_test(test_unique_names_keep_clear),        cmocka_unit_test(test_copies_stand_alone),
        cmocka_unit_test(test_verify_sees_bad_scales),         cmocka_unit_test(test_every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
