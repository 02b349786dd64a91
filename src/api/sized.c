/* Open dimensions taken as 1. */
#include "api/sized.h"

#include <string.h>

#include "ops/op.h"

/* Bodies nest at most as deep as the reader lets by. */
static void close_dimensions(tare_graph *graph) {
    for (size_t i = 0; i < graph->values.entries.count; i++) {
        tare_value *value = graph->values.entries.at[i].value;
        if (!value) continue;
        for (int d = 0; d < value->shape.rank; d++)
            if (value->shape.dim[d] < TARE_DIM_UNKNOWN || (value->is_input && value->shape.dim[d] < 0))
                value->shape.dim[d] = 1;
    }
    tare_for_nodes (node, graph) {
        tare_graph *body;
        for (int i = 0; (body = tare_node_body(node, i)); i++) close_dimensions(body);
    }
}

static tare_status make_input(tare_sized *sized, const tare_value *value, tare_tensor **out, tare_error *err) {
    tare_shape shape = value->shape;
    if (value->constant) return TARE_OK;
    if (shape.rank == TARE_RANK_UNKNOWN) shape = tare_shape_of(0, NULL);
    sized->is_guess |= !tare_shape_is_static(&value->shape);
    for (int d = 0; d < shape.rank; d++)
        if (shape.dim[d] < 0) shape.dim[d] = 1;
    const tare_dtype dtype = value->dtype == TARE_DTYPE_NONE ? TARE_F32 : value->dtype;
    TARE_TRY(tare_tensor_new(sized->arena, dtype, &shape, out, err));
    memset((*out)->data, 0, (*out)->size);
    return TARE_OK;
}

static tare_status open_sized(tare_sized *sized, const tare_model *model, tare_log *log, tare_error *err) {
    const tare_graph *graph = model->graph;
    sized->inputs = tare_arena_alloc(sized->arena, graph->inputs.count + 1, sizeof *sized->inputs);
    if (!sized->inputs) return tare_fail_memory(err, 0);
    for (size_t i = 0; i < graph->inputs.count; i++)
        TARE_TRY(make_input(sized, graph->inputs.at[i], &sized->inputs[i], err));
    TARE_TRY(tare_model_copy(&sized->model, model, err));
    close_dimensions(sized->model->graph);
    tare_error clash = { 0 };
    const tare_status status = tare_graph_infer(sized->model->graph, &clash);
    if (status == TARE_OK) return TARE_OK;
    tare_model_free(sized->model);
    sized->model = NULL;
    if (status == TARE_E_LIMIT) return *err = clash, status;
    tare_log_note(log, "open dimensions as 1 do not fit (%s); --input-shape tells better", clash.text);
    return TARE_OK;
}

tare_status tare_sized_open(tare_sized *sized, const tare_model *model, tare_log *log, tare_error *err) {
    *sized = (tare_sized){ .arena = tare_arena_new() };
    tare_status status = sized->arena ? open_sized(sized, model, log, err) : tare_fail_memory(err, 0);
    if (status != TARE_OK) tare_sized_close(sized);
    return status;
}

void tare_sized_close(tare_sized *sized) {
    tare_model_free(sized->model);
    tare_arena_free(sized->arena);
    *sized = (tare_sized){ 0 };
}
