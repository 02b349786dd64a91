/* What the Python tests of the ONNX format run: reads a model, changes it as asked, writes it.
 *   driver_onnx IN [OUT] [OPTION...]
 *   --external N          weights of more than N bytes go to an external file
 *   --float-weights       weights held as codes are written as float through Q and DQ
 *   --allow-hardlink
 *   --infer               shapes are inferred before writing
 *   --normalize           Q and DQ nodes are absorbed before writing
 *   --quant NAME:CODE:SCALE:ZERO[:contrib]   a value is quantized; float constants stay float
 *   --weight NAME:CODE:AXIS                  a float constant becomes symmetric codes, a scale per channel of AXIS (-1: one)
 *   --bias NAME:X:W                          a float constant becomes s32 codes, scales s_x * s_w (X and W are quantized already)
 *   --drop NAME           forgets the shape and type of a value
 * Notes and errors go to stderr, the most bytes that were allocated at once to stdout; the exit status is the
 * tare_status. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "formats/format.h"
#include "ops/op.h"
#include "passes/pass.h"

static void line(void *context, tare_log_level level, const char *text) {
    (void)context;
    fprintf(stderr, "%s: %s\n", level == TARE_LOG_NOTE ? "note" : "warning", text);
}

static tare_log to_stderr = { .line = line };

typedef struct request {
    const char *in, *out;
    bool infer, normalize;
    tare_read_options read;
    tare_write_options write;
} request;

/* In the graph or its bodies. */
static tare_value *find_in(const tare_graph *graph, const char *name) {
    tare_value *value = tare_graph_find_value(graph, name);
    tare_for_nodes (node, graph) {
        const tare_graph *body;
        for (int i = 0; !value && (body = tare_node_body(node, i)); i++) value = find_in(body, name);
    }
    return value;
}

static tare_value *find(const tare_model *model, const char *name) {
    tare_value *value = find_in(model->graph, name);
    if (!value) {
        fprintf(stderr, "no value '%s'\n", name);
        exit(2);
    }
    return value;
}

static tare_quant *new_quant(tare_model *model, size_t count) {
    tare_quant *quant = tare_arena_alloc(model->arena, 1, sizeof *quant);
    quant->scale = tare_arena_alloc(model->arena, count, sizeof(float));
    quant->zero_point = tare_arena_alloc(model->arena, count, sizeof(int32_t));
    quant->count = count;
    quant->axis = -1;
    return quant;
}

static void set_quant(tare_model *model, const char *text) {
    char name[256], code[8], contrib[16] = "";
    float scale;
    int zero_point;
    if (sscanf(text, "%255[^:]:%7[^:]:%f:%d:%15s", name, code, &scale, &zero_point, contrib) < 4) exit(2);
    tare_quant *quant = new_quant(model, 1);
    quant->code = tare_dtype_find(code);
    quant->contrib = *contrib;
    *(float *)(uintptr_t)quant->scale = scale;
    *(int32_t *)(uintptr_t)quant->zero_point = zero_point;
    find(model, name)->quant = quant;
}

static void set_weight(tare_model *model, const char *text) {
    char name[256], code[8];
    int axis;
    if (sscanf(text, "%255[^:]:%7[^:]:%d", name, code, &axis) < 3) exit(2);
    tare_value *value = find(model, name);
    const tare_tensor *tensor = value->constant;
    const float *numbers = tensor->data;
    size_t count = tensor->size / sizeof *numbers, channels = axis < 0 ? 1 : (size_t)tensor->shape.dim[axis];
    size_t inner = axis < 0 ? 1 : (size_t)tare_shape_product(&tensor->shape, axis + 1, tensor->shape.rank);
    tare_quant *quant = new_quant(model, channels);
    float *scales = (float *)(uintptr_t)quant->scale;
    quant->code = tare_dtype_find(code);
    quant->axis = axis;
    float highest = (float)tare_dtype_highest(quant->code);
    for (size_t i = 0; i < count; i++) {
        float *scale = &scales[axis < 0 ? 0 : i / inner % channels];
        *scale = fmaxf(*scale, fabsf(numbers[i]) / highest);
    }
    tare_tensor *codes;
    tare_error err = { 0 };
    if (tare_tensor_new(model->arena, quant->code, &tensor->shape, &codes, &err) != TARE_OK) exit(6);
    for (size_t i = 0; i < count; i++) {
        int32_t q = (int32_t)rintf(numbers[i] / scales[axis < 0 ? 0 : i / inner % channels]);
        memcpy((char *)codes->data + i * tare_dtype_size(quant->code), &q, tare_dtype_size(quant->code));
    }
    value->constant = codes;
    value->quant = quant;
}

static void set_bias(tare_model *model, const char *text) {
    char name[128], x[128], w[128];
    if (sscanf(text, "%127[^:]:%127[^:]:%127[^:]", name, x, w) < 3) exit(2);
    tare_value *value = find(model, name);
    const tare_quant *data = find(model, x)->quant, *weight = find(model, w)->quant;
    const float *numbers = value->constant->data;
    size_t count = value->constant->size / sizeof *numbers;
    tare_quant *quant = new_quant(model, weight->count);
    quant->code = TARE_S32;
    quant->axis = weight->axis < 0 ? -1 : 0;
    float *scales = (float *)(uintptr_t)quant->scale;
    for (size_t i = 0; i < weight->count; i++) scales[i] = data->scale[0] * weight->scale[i];
    tare_tensor *codes;
    tare_error err = { 0 };
    if (tare_tensor_new(model->arena, TARE_S32, &value->constant->shape, &codes, &err) != TARE_OK) exit(6);
    for (size_t i = 0; i < count; i++)
        ((int32_t *)codes->data)[i] = (int32_t)rint((double)numbers[i] / (double)scales[i % weight->count]);
    value->constant = codes;
    value->quant = quant;
}

static bool change(tare_model *model, const char *option, const char *argument) {
    if (!strcmp(option, "--quant"))
        set_quant(model, argument);
    else if (!strcmp(option, "--weight"))
        set_weight(model, argument);
    else if (!strcmp(option, "--bias"))
        set_bias(model, argument);
    else if (!strcmp(option, "--drop"))
        find(model, argument)->dtype = TARE_DTYPE_NONE, find(model, argument)->shape = tare_shape_unknown();
    else
        return false;
    return true;
}

static tare_status run(const request *asked, int argc, char **argv, tare_error *err) {
    tare_model *model;
    const tare_format *format = tare_format_to_read(asked->in);
    if (!format) return tare_fail(err, TARE_E_USAGE, "%s: no format has this form or ending", asked->in);
    TARE_TRY(format->read(&model, asked->in, &asked->read, err));
    for (int i = 1; i + 1 < argc; i++) i += change(model, argv[i], argv[i + 1]);
    tare_status status = TARE_OK;
    if (asked->infer && tare_graph_infer(model->graph, err) != TARE_OK) status = tare_within(err, "%s", asked->in);
    if (status == TARE_OK && asked->normalize) status = tare_passes_normalize(model, NULL, &to_stderr, err);
    if (status == TARE_OK && asked->out)
        status = tare_format_to_write(asked->out)->write(model, asked->out, &asked->write, err);
    tare_model_free(model);
    return status;
}

int main(int argc, char **argv) {
    request asked = { .read.log = &to_stderr, .write.log = &to_stderr };
    for (int i = 1; i < argc; i++) {
        const char *option = argv[i];
        if (!strcmp(option, "--infer"))
            asked.infer = true;
        else if (!strcmp(option, "--normalize"))
            asked.normalize = true;
        else if (!strcmp(option, "--float-weights"))
            asked.write.float_weights = true;
        else if (!strcmp(option, "--allow-hardlink"))
            asked.read.allow_hardlink = true;
        else if (!strcmp(option, "--external") && i + 1 < argc)
            asked.write.external_threshold = strtoll(argv[++i], NULL, 10);
        else if (option[0] == '-')
            i++;
        else
            *(asked.in ? &asked.out : &asked.in) = option;
    }
    if (!asked.in) return TARE_E_USAGE;
    tare_error err = { 0 };
    tare_status status = run(&asked, argc, argv, &err);
    if (status != TARE_OK) fprintf(stderr, "error: %s\n", err.text);
    printf("%zu\n", tare_memory_peak());
    if (tare_memory_live() != 0) {
        fprintf(stderr, "%zu bytes leak\n", tare_memory_live());
        return TARE_E_BUG;
    }
    return (int)status;
}
