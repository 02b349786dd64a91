/* MatMulInteger: rewritten to what it says, on whole numbers: MatMul(A - a_zero_point, B - b_zero_point) in s32. */
#include "ops/attr.h"
#include "ops/upgrade.h"

enum { CODES = 1u << TARE_S8 | 1u << TARE_U8 };

static tare_status infer(tare_node *node, tare_error *err) {
    tare_dtype dtype;
    for (int i = 0; i < 2; i++) {
        TARE_TRY(tare_infer_check(node, i, CODES, err));
        TARE_TRY(tare_infer_one_type(node, 1u << i | 4u << i, &dtype, err));
    }
    return tare_infer_set(node, 0, TARE_S32, NULL, err);
}

static tare_status cast(tare_node *node, tare_value *from, tare_value **to, tare_error *err) {
    tare_node *added;
    TARE_TRY(tare_insert_node(node, &tare_op_cast, from->name, &from, 1, to, &added, err));
    tare_attr_set_int(added, "to", tare_dtype_to_onnx(TARE_S32));
    return TARE_OK;
}

/* A list of zero points is one for each row of A, or for each column of B; those of rows stand in a column. */
static tare_status subtract_zero(tare_node *node, tare_value *codes, tare_value *zero, bool by_row, tare_value **out,
                                 tare_error *err) {
    tare_value *links[2];
    tare_node *added;
    if (!zero) return cast(node, codes, out, err);
    TARE_TRY(cast(node, codes, &links[0], err));
    TARE_TRY(cast(node, zero, &links[1], err));
    if (by_row && zero->shape.rank == 1) {
        tare_value *column[2] = { links[1] };
        TARE_TRY(tare_graph_add_s64(node->graph, "column", (const int64_t[]){ -1, 1 }, 2, false, &column[1], err));
        TARE_TRY(tare_insert_node(node, &tare_op_reshape, zero->name, column, 2, &links[1], &added, err));
    }
    return tare_insert_node(node, &tare_op_sub, codes->name, links, 2, out, &added, err);
}

static tare_status upgrade(tare_graph *graph, tare_node *node, tare_error *err) {
    (void)graph;
    tare_value *links[2];
    for (int i = 0; i < 2; i++)
        TARE_TRY(subtract_zero(node, node->inputs[i], tare_node_input(node, 2 + i), i == 0, &links[i], err));
    TARE_TRY(tare_node_become(node, &tare_op_matmul, err));
    TARE_TRY(tare_node_resize_inputs(node, 2, err));
    for (int i = 0; i < 2; i++) TARE_TRY(tare_node_set_input(node, i, links[i], err));
    return TARE_OK;
}

const tare_op tare_op_matmul_integer = {
    .name = "MatMulInteger",
    .since = 10,
    .inputs = { 2, 4 },
    .outputs = { 1, 1 },
    .upgrade = upgrade,
    .infer = infer,
};
