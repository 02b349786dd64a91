/* Writing ONNX: lowered, put out beside the final name, read back, compared, renamed; the file that the other names
 * first. */
#include <string.h>

#include "formats/onnx/onnx.h"
#include "formats/onnx/reader.h"
#include "formats/onnx/writer.h"

/* ---- what is used and not imported ---- */

static bool is_imported(const tare_onnx_writing *writing, const char *domain) {
    if (!*domain) return true;
    for (size_t i = 0; writing->extra && i < writing->extra->imports.count; i++)
        if (!strcmp(writing->extra->imports.at[i].domain, domain)) return true;
    for (size_t i = 0; i < writing->domains.count; i++)
        if (!strcmp(writing->domains.at[i], domain)) return true;
    return false;
}

/* Graphs nest at most 32 deep, here and below. */
static tare_status collect_domains(tare_onnx_writing *writing, const tare_graph *graph, tare_error *err) {
    tare_for_nodes (node, graph) {
        writing->needs_main |= !*node->domain;
        if (!is_imported(writing, node->domain) &&
            !tare_vec_push(writing->model->arena, &writing->domains, node->domain))
            return tare_fail_memory(err, 0);
        tare_graph *body;
        for (int i = 0; (body = tare_node_body(node, i)); i++) TARE_TRY(collect_domains(writing, body, err));
    }
    return TARE_OK;
}

/* ---- inside or outside ---- */

static size_t weight_of(const tare_graph *graph) {
    size_t total = 0;
    for (size_t i = 0; i < graph->values.entries.count; i++) {
        const tare_value *value = graph->values.entries.at[i].value;
        if (value && value->constant && !value->producer) total += value->constant->size;
    }
    tare_for_nodes (node, graph) {
        tare_graph *body;
        for (int i = 0; (body = tare_node_body(node, i)); i++) total += weight_of(body);
    }
    return total;
}

static bool measure(const tare_onnx_writing *writing, size_t *size) {
    pb_ostream_t stream = PB_OSTREAM_SIZING;
    bool done = tare_onnx_emit_model(&stream, writing);
    *size = stream.bytes_written;
    return done;
}

static tare_status check_size(const tare_onnx_writing *writing, size_t *size, tare_error *err) {
    if (measure(writing, size)) return TARE_OK;
    return tare_fail(err, TARE_E_BUG, "the model cannot be encoded");
}

tare_status tare_onnx_plan(tare_onnx_writing *writing, const char *path, const tare_write_options *options,
                           tare_error *err) {
    size_t size;
    TARE_TRY(collect_domains(writing, writing->model->graph, err));
    TARE_TRY(check_size(writing, &size, err));
    bool is_asked =
        options->external_threshold > 0 && weight_of(writing->model->graph) > (uint64_t)options->external_threshold;
    if (size <= FILE_SIZE_MAX && !is_asked) return TARE_OK;
    TARE_TRY(tare_onnx_plan_sidecar(writing, path, err));
    TARE_TRY(check_size(writing, &size, err));
    if (size <= FILE_SIZE_MAX) return TARE_OK;
    return tare_fail(err, TARE_E_LIMIT, "%zu bytes without the weights, a protobuf file has %zu at most", size,
                     FILE_SIZE_MAX);
}

/* ---- out ---- */

typedef struct sink {
    tare_writer *writer;
    tare_error *err;
} sink;

static bool put(pb_ostream_t *stream, const pb_byte_t *bytes, size_t size) {
    const sink *to = stream->state;
    return tare_writer_write(to->writer, bytes, size, to->err) == TARE_OK;
}

static tare_status write_model(const tare_onnx_writing *writing, tare_writer *writer, tare_error *err) {
    sink to = { .writer = writer, .err = err };
    pb_ostream_t stream = { .callback = put, .state = &to, .max_size = SIZE_MAX };
    if (tare_onnx_emit_model(&stream, writing)) return TARE_OK;
    return err->status ? err->status : tare_fail(err, TARE_E_BUG, "the model cannot be encoded");
}

static tare_status read_back(const tare_onnx_writing *writing, const char *path, const tare_onnx_redirect *redirect,
                             tare_error *err) {
    tare_model *got;
    const tare_read_options options = { .log = NULL };
    tare_status status = tare_onnx_read_file(&got, path, &options, redirect, err);
    if (status == TARE_OK) {
        status = tare_onnx_compare(writing, got, err);
        tare_model_free(got);
    }
    if (status == TARE_OK || status == TARE_E_LIMIT || status == TARE_E_IO) return status;
    const tare_error fault = *err;
    return tare_fail(err, TARE_E_BUG, "what was written does not read back: %s", fault.text);
}

/* Both files are there, whole and checked, before either gets its name. */
static tare_status write_files(const tare_onnx_writing *writing, tare_writer *model, tare_writer **data,
                               tare_error *err) {
    const char *model_path, *data_path = NULL;
    if (*data) {
        TARE_TRY(tare_onnx_write_sidecar(&writing->sidecar, *data, err));
        TARE_TRY(tare_writer_sync(*data, &data_path, err));
    }
    TARE_TRY(write_model(writing, model, err));
    TARE_TRY(tare_writer_sync(model, &model_path, err));
    const tare_onnx_redirect redirect = { .location = writing->sidecar.location, .path = data_path };
    TARE_TRY(read_back(writing, model_path, *data ? &redirect : NULL, err));
    if (!*data) return TARE_OK;
    tare_writer *done = *data;
    *data = NULL;
    return tare_writer_commit(done, err);
}

static tare_status write_all(const tare_onnx_writing *writing, const char *path, tare_error *err) {
    tare_writer *model, *data = NULL;
    TARE_TRY(tare_writer_open(&model, path, err));
    tare_status status = TARE_OK;
    if (writing->sidecar.location) status = tare_writer_open(&data, writing->sidecar.path, err);
    if (status == TARE_OK) status = write_files(writing, model, &data, err);
    if (status == TARE_OK) return tare_writer_commit(model, err);
    tare_writer_abandon(data);
    tare_writer_abandon(model);
    return status;
}

tare_status tare_onnx_write(const tare_model *model, const char *path, const tare_write_options *options,
                            tare_error *err) {
    tare_onnx_writing writing = { .extra = tare_onnx_model_extra(model) };
    TARE_TRY(tare_onnx_lower(&writing.model, model, options, err));
    tare_status status = tare_onnx_plan(&writing, path, options, err);
    if (status == TARE_OK) status = write_all(&writing, path, err);
    tare_model_free(writing.model);
    return status;
}
