/* ONNX as one of the formats. */
#include "formats/onnx/onnx.h"

#include "formats/onnx/reader.h"

/* A ModelProto begins with its IR version, or at least with one of its first fields. */
static bool probe(const uint8_t *bytes, size_t size) {
    if (size < 2) return false;
    if (bytes[0] == (MODEL_IR_VERSION << 3 | PB_WT_VARINT)) return bytes[1] >= 1 && bytes[1] < 0x80;
    return bytes[0] == (MODEL_GRAPH << 3 | PB_WT_STRING) || bytes[0] == (MODEL_OPSET_IMPORT << 3 | PB_WT_STRING);
}

static tare_status read(tare_model **out, const char *path, const tare_read_options *options, tare_error *err) {
    return tare_onnx_read_file(out, path, options, NULL, err);
}

const tare_onnx_model *tare_onnx_model_extra(const tare_model *model) {
    const tare_onnx_model *extra = model->extra;
    return extra && extra->format == &tare_format_onnx ? extra : NULL;
}

static const char *const extensions[] = { ".onnx", NULL };

const tare_format tare_format_onnx = {
    .name = "onnx",
    .extensions = extensions,
    .probe = probe,
    .read = read,
    .write = tare_onnx_write,
};
