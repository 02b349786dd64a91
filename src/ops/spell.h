/* What ops of newer opsets are in older ones: formulas of several nodes (tare_op.expand), for files that are not lifted so
 * far. The passes that recognise these functions find them again. Only f32 is spelled so; other types need the op. */
#ifndef TARE_OPS_SPELL_H
#define TARE_OPS_SPELL_H

#include "ops/op.h"

/* x·sigmoid(alpha·x), from opset 7 on. */
tare_status tare_spell_swish(tare_graph *graph, tare_node *node, int64_t opset, tare_error *err);
/* x·HardSigmoid<1/6, 1/2>(x), from opset 7 on. */
tare_status tare_spell_hard_swish(tare_graph *graph, tare_node *node, int64_t opset, tare_error *err);
/* x/2·(1 + erf(x/√2)), from opset 9 on; or x/2·(1 + tanh(√(2/π)·(x + 0.044715·x³))), from opset 7 on. */
tare_status tare_spell_gelu(tare_graph *graph, tare_node *node, int64_t opset, tare_error *err);
/* d / √(mean(d²) + ε)·scale + B with d = x - mean(x), from opset 11 on. */
tare_status tare_spell_layer_normalization(tare_graph *graph, tare_node *node, int64_t opset, tare_error *err);

/* QONNX's fake quantization whose output is a quantized value on the same grid: what is left to do is to clamp to the
 * codes of fewer bits, and to take signs for one bit. Other nodes stay. From opset 11 on. */
tare_status tare_spell_qonnx_quant(tare_graph *graph, tare_node *node, int64_t opset, tare_error *err);

/* The first opset that has the spelling, or the op itself (`since`) where it cannot be spelled. */
int tare_spell_swish_needs(const tare_node *node);
int tare_spell_hard_swish_needs(const tare_node *node);
int tare_spell_gelu_needs(const tare_node *node);
int tare_spell_layer_normalization_needs(const tare_node *node);

#endif
