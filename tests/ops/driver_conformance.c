/* What the conformance test runs: one model on given inputs, node by node.
 *   driver_conformance MODEL INPUTS OUTPUTS [THREADS [CPU]]
 * INPUTS and OUTPUTS hold one tensor after the other, in the order of the graph: a line "DTYPE RANK DIM…", then its bytes.
 * Errors go to stderr; the exit status is the tare_status. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "formats/format.h"
#include "ops/op.h"

static const tare_kernels *kernels;
static tare_pool *pool; /* NULL: no threads */

static int finish(const tare_error *err) {
    if (err->status != TARE_OK) fprintf(stderr, "%s\n", err->text);
    return (int)err->status;
}

static tare_tensor *read_tensor(FILE *file, tare_arena *arena) {
    char name[16];
    tare_shape shape;
    tare_tensor *tensor;
    tare_error err = { 0 };
    if (fscanf(file, "%15s %d", name, &shape.rank) != 2) return NULL;
    for (int i = 0; i < shape.rank; i++)
        if (fscanf(file, "%" SCNd64, &shape.dim[i]) != 1) return NULL;
    if (fgetc(file) != '\n') return NULL;
    if (tare_tensor_new(arena, tare_dtype_find(name), &shape, &tensor, &err) != TARE_OK) exit(finish(&err));
    return fread(tensor->data, 1, tensor->size, file) == tensor->size ? tensor : NULL;
}

static void write_tensor(FILE *file, const tare_tensor *tensor) {
    fprintf(file, "%s %d", tare_dtype_name(tensor->dtype), tensor->shape.rank);
    for (int i = 0; i < tensor->shape.rank; i++) fprintf(file, " %" PRId64, tensor->shape.dim[i]);
    fputc('\n', file);
    fwrite(tensor->data, 1, tensor->size, file);
}

/* The tensor of each value by name: what runs keeps nothing in the graph. */
static tare_status run_node(const tare_node *node, tare_map *tensors, tare_arena *arena, tare_error *err) {
    tare_tensor **inputs = tare_arena_alloc(arena, (size_t)node->input_count + 1, sizeof(*inputs));
    tare_tensor **outputs = tare_arena_alloc(arena, (size_t)node->output_count + 1, sizeof(*outputs));
    for (int i = 0; i < node->input_count; i++) {
        const tare_value *value = node->inputs[i];
        if (!value) continue;
        inputs[i] = tare_map_get(tensors, value->name);
        if (inputs[i]) continue;
        if (!value->constant) return tare_fail(err, TARE_E_BUG, "no tensor for '%s'", value->name);
        inputs[i] = tare_arena_alloc(arena, 1, sizeof **inputs);
        *inputs[i] = *value->constant;
    }
    TARE_TRY(tare_node_run_once(node, inputs, outputs, kernels, pool, arena, err));
    for (int i = 0; i < node->output_count; i++)
        if (node->outputs[i]) tare_map_put(tensors, node->outputs[i]->name, outputs[i]);
    return TARE_OK;
}

static tare_status run_graph(tare_model *model, FILE *in, FILE *out, tare_arena *arena, tare_error *err) {
    tare_graph *graph = model->graph;
    tare_map tensors;
    tare_map_init(&tensors, arena);
    tare_for_nodes_safe (node, graph)
        if (node->op && node->op->upgrade) TARE_TRY(node->op->upgrade(graph, node, err));
    for (size_t i = 0; i < graph->inputs.count; i++) {
        tare_value *value = graph->inputs.at[i];
        tare_tensor *tensor = read_tensor(in, arena);
        if (!tensor) return tare_fail(err, TARE_E_USAGE, "no tensor for input '%s'", value->name);
        value->shape = tensor->shape;
        tare_map_put(&tensors, value->name, tensor);
    }
    TARE_TRY(tare_graph_infer(graph, err));
    tare_for_nodes (node, graph) TARE_TRY(run_node(node, &tensors, arena, err));
    for (size_t i = 0; i < graph->outputs.count; i++) {
        const tare_value *value = graph->outputs.at[i];
        const tare_tensor *tensor = tare_map_get(&tensors, value->name);
        write_tensor(out, tensor ? tensor : value->constant);
    }
    return TARE_OK;
}

int main(int count, char **arguments) {
    tare_error err = { 0 };
    tare_model *model = NULL;
    if (count < 4 || count > 6) return TARE_E_USAGE;
    tare_cpu cpu = tare_cpu_detect();
    if (count > 5 && !tare_cpu_find(arguments[5], &cpu)) return TARE_E_USAGE;
    kernels = tare_kernels_for(cpu);
    if (count > 4) pool = tare_pool_new(strtoul(arguments[4], NULL, 10));
    const tare_read_options options = { 0 };
    FILE *in = fopen(arguments[2], "rb"), *out = fopen(arguments[3], "wb");
    if (!in || !out) return TARE_E_IO;
    tare_arena *arena = tare_arena_new();
    if (tare_format_to_read(arguments[1])->read(&model, arguments[1], &options, &err) == TARE_OK)
        run_graph(model, in, out, arena, &err);
    fclose(in);
    if (fclose(out)) return TARE_E_IO;
    tare_model_free(model);
    tare_arena_free(arena);
    tare_pool_free(pool);
    return finish(&err);
}
