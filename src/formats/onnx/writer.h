/* What the files of the ONNX writer share. Writing goes in steps: a copy of the model is lowered until every part of it
 * has its place in a file (lower.c, spell_quant.c, spell_float.c), put out beside the final name (write_graph.c, sidecar.c), read back
 * and compared (compare.c), and only then renamed (write.c). */
#ifndef TARE_FORMATS_ONNX_WRITER_H
#define TARE_FORMATS_ONNX_WRITER_H

#include "formats/onnx/emit.h"
#include "formats/onnx/extra.h"
#include "ops/op.h"

/* A copy of the model that says what the file will: nodes of the file's opset, Q and DQ nodes in place of quantized
 * values. Its opset and ir_version are the file's. */
tare_status tare_onnx_lower(tare_model **out, const tare_model *model, const tare_write_options *options,
                            tare_error *err);
/* Does any value of these graphs need Q and DQ, and of which opset? 0: none is quantized. */
int64_t tare_onnx_quant_opset(const tare_graph *graph);
/* Q and DQ nodes for the quantized values of a graph and its bodies; the model's opset is the file's. */
tare_status tare_onnx_spell_quant(tare_graph *graph, const tare_write_options *options, tare_error *err);
/* Then, a DQ of its own for each product that is float and that ONNX Runtime would round. */
tare_status tare_onnx_spell_float(tare_graph *graph, const tare_write_options *options, tare_error *err);
void tare_onnx_set_integer(tare_node *node, const char *name, int64_t number); /* an attribute, if the op has it */
/* The model's origins as its property TARE_ONNX_ORIGINS: those of the Q and DQ nodes there are. */
tare_status tare_onnx_write_origins(tare_model *model, tare_log *log, tare_error *err);

/* The attribute that the node's input is in a file of this opset; NULL: it is an input. */
const tare_op_dual *tare_onnx_dual_of(const tare_node *node, int input, int64_t opset);
/* Can the input be that attribute: is it a constant of its type? */
bool tare_onnx_fits_dual(const tare_value *value, const tare_op_dual *dual);

/* Where a constant lies in the external file; value->mark is its index + 1, 0 for those in the model itself. */
typedef struct tare_onnx_place {
    const tare_tensor *tensor;
    uint64_t offset;
    size_t size;
} tare_onnx_place;

typedef struct tare_onnx_sidecar {
    TARE_VEC(tare_onnx_place) places;
    const char *location; /* NULL: all weights are in the model itself */
    const char *path;
} tare_onnx_sidecar;

/* A lowered model on its way out. */
typedef struct tare_onnx_writing {
    tare_model *model;
    const tare_onnx_model *extra;   /* NULL: another format's model, or made in memory */
    TARE_VEC(const char *) domains; /* used and not imported by the file that was read, but for … */
    bool needs_main;                /* … ONNX's own */
    tare_onnx_sidecar sidecar;
} tare_onnx_writing;

/* Imports, and what goes beside the model; path is the model's own. */
tare_status tare_onnx_plan(tare_onnx_writing *writing, const char *path, const tare_write_options *options,
                           tare_error *err);

/* ModelProto. */
bool tare_onnx_emit_model(pb_ostream_t *to, const tare_onnx_writing *writing);
/* TensorProto; place NULL: with its data. other NULL: none. */
typedef struct tare_onnx_named_tensor {
    const char *name; /* NULL: none */
    const tare_tensor *tensor;
    const tare_spans *other;
    const tare_onnx_place *place;
    const char *location;
} tare_onnx_named_tensor;
bool tare_onnx_emit_tensor(pb_ostream_t *to, const void *context, const void *named);
/* AttributeProto messages of a node, in fields of this number. */
bool tare_onnx_emit_attributes(pb_ostream_t *to, const tare_onnx_writing *writing, const tare_node *node);
/* GraphProto. */
bool tare_onnx_emit_graph(pb_ostream_t *to, const void *writing, const void *graph);
/* ValueInfoProto. */
bool tare_onnx_emit_info(pb_ostream_t *to, const void *writing, const void *value);
/* Is the value put out as an initializer of its graph? */
bool tare_onnx_is_initializer(const tare_onnx_writing *writing, const tare_value *value);

/* Bytes of a tensor in a file: 4-bit codes are two to a byte. */
size_t tare_onnx_packed_size(const tare_tensor *tensor);
/* Those bytes, piece by piece. */
typedef bool tare_onnx_sink(void *context, const void *bytes, size_t size);
bool tare_onnx_pack(const tare_tensor *tensor, tare_onnx_sink *sink, void *context);

/* Decides which constants go to an external file; its name is made of the model's path and the contents. */
tare_status tare_onnx_plan_sidecar(tare_onnx_writing *writing, const char *path, tare_error *err);
tare_status tare_onnx_write_sidecar(const tare_onnx_sidecar *sidecar, tare_writer *writer, tare_error *err);

/* Says what differs between what was to be written and what was read back: TARE_E_BUG. */
tare_status tare_onnx_compare(const tare_onnx_writing *wanted, const tare_model *got, tare_error *err);

#endif
