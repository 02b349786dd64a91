/* ONNX files: any bytes are read or refused; what was read and written again, with some values quantized, reads back as what
 * was to be written. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/onnx/reader.h"
#include "formats/onnx/writer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const tare_read_options reading = { .log = NULL };
static const tare_write_options writing_options = { .log = NULL };

/* Want of memory is no fault (the replay makes allocations fail). */
static void expect(tare_status status, const tare_error *err) {
    if (status == TARE_OK || status == TARE_E_LIMIT) return;
    fprintf(stderr, "%s: %s\n", tare_status_name(status), err->text);
    abort();
}

static const float scale = 0.5F;
static const int32_t zero_point = 3;
static const tare_quant quant = { .code = TARE_U8, .axis = -1, .count = 1, .scale = &scale, .zero_point = &zero_point };

/* Some f32 values get a scale, which ones the input decides. */
static void quantize_some(tare_graph *graph, unsigned choice) {
    for (size_t i = 0; choice && i < graph->values.entries.count; i++) {
        tare_value *value = graph->values.entries.at[i].value;
        bool is_chosen = value && value->dtype == TARE_F32 && (i + choice) % 3 == 0;
        bool is_overridable = is_chosen && value->is_input && value->constant;
        if (is_chosen && !is_overridable && (value->producer || value->is_input || value->constant))
            value->quant = &quant;
    }
}

static void check_reading_back(const tare_onnx_writing *writing, const uint8_t *bytes, size_t size) {
    tare_error err = { 0 };
    tare_model *got;
    tare_status status = tare_onnx_read_bytes(&got, bytes, size, NULL, &reading, NULL, &err);
    expect(status, &err);
    if (status != TARE_OK) return;
    expect(tare_onnx_compare(writing, got, &err), &err);
    tare_model_free(got);
}

static void check_encoding(const tare_onnx_writing *writing) {
    pb_ostream_t measure = PB_OSTREAM_SIZING;
    tare_error err = { .text = "cannot be encoded" };
    if (!tare_onnx_emit_model(&measure, writing)) expect(TARE_E_BUG, &err);
    uint8_t *bytes = malloc(measure.bytes_written + 1);
    if (!bytes) return;
    pb_ostream_t stream = pb_ostream_from_buffer(bytes, measure.bytes_written);
    bool is_whole = tare_onnx_emit_model(&stream, writing) && stream.bytes_written == measure.bytes_written;
    if (!is_whole) expect(TARE_E_BUG, &err);
    check_reading_back(writing, bytes, measure.bytes_written);
    free(bytes);
}

static void check_writing(const tare_model *model) {
    tare_error err = { 0 };
    tare_onnx_writing writing = { .extra = tare_onnx_model_extra(model) };
    tare_status status = tare_onnx_lower(&writing.model, model, &writing_options, &err);
    if (status == TARE_E_BUG) expect(status, &err);
    if (status != TARE_OK) return; /* a node that the needed opset does not have, or that does not fit its op */
    status = tare_onnx_plan(&writing, "x.onnx", &writing_options, &err);
    expect(status, &err);
    if (status == TARE_OK) check_encoding(&writing);
    tare_model_free(writing.model);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    tare_error err = { 0 };
    tare_model *model;
    tare_status status = tare_onnx_read_bytes(&model, data, size, NULL, &reading, NULL, &err);
    if (status == TARE_E_BUG) expect(status, &err);
    if (status != TARE_OK) return 0;
    quantize_some(model->graph, size ? data[size - 1] & 3U : 0);
    check_writing(model);
    tare_model_free(model);
    return 0;
}
