/* Models as text, in a subset of ONNX's own text syntax (docs/Syntax.md of onnx 1.23, whose parser reads what is printed
 * here): for tests, for looking at what a pass did, and for questions about a model.
 *
 *   <ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1]>
 *   name (float[N,3,8,8] x, float y) => (float[N,?] z)
 *   <float[2] w = {1, 2.5}, int64[1] axes = {-1}>
 *   {
 *     [node] t = LeakyRelu<alpha = 0.5>(x)
 *     z = com.microsoft.Op<perm = [0, 1], mode = "edge", body = g () => (float u) { u = Relu(t) }>(t, "", w)
 *   }
 *
 * Names that are no identifiers stand in quotes; an input or output left out is "". Comments run from # to the end of
 * the line. float[] has no known rank, float is a scalar. Half precision numbers stand as their bits. An initializer
 * with the name of an input is that input's default. */
#ifndef TARE_GRAPH_TEXT_FORM_H
#define TARE_GRAPH_TEXT_FORM_H

#include "base/text.h"
#include "graph/graph.h"

/* Appends the model. Constants of more than `elements` numbers are printed as `= ...`, which no parser reads back.
 * Quantized values, and what became of removed ones, stand in comments behind the graph. Check text->failed. */
void tare_model_print(tare_text *text, const tare_model *model, size_t elements);

/* Reads a model. The bytes may come from a stranger: TARE_E_MALFORMED says line and column of what is wrong. Operators
 * tare knows must have the attributes it knows; of others only those without attributes can be said. */
tare_status tare_model_parse(tare_model **out, const char *bytes, size_t size, tare_error *err);

/* What ONNX's text calls a type: "float", "uint8"; "undefined" when it is not known. */
const char *tare_text_type_name(tare_dtype dtype);

#endif
