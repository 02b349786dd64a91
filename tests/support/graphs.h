/* Small graphs for tests of what runs them: written as text or made at random, and run node by node in memory of their own, which
 * is what a plan must give to the bit. */
#ifndef TARE_TESTS_GRAPHS_H
#define TARE_TESTS_GRAPHS_H

#include "graph/text_form.h"
#include "run/run.h"
#include "support/support.h"

/* Parsed, and inferred with symbolic dimensions. Freed by the caller. */
tare_model *graphs_parse(const char *text);

/* Numbers of both signs, some zeros; the same for the same seed. On the arena. */
tare_tensor *graphs_random_tensor(tare_arena *arena, tare_dtype dtype, const tare_shape *shape, uint64_t seed);

/* What every value is, by name (tare_tensor *): each node by itself, values rounded in the qdq backend by the formula. */
void graphs_evaluate(tare_map *values, const tare_model *model, tare_tensor *const *inputs, tare_backend backend,
                     tare_arena *arena);

/* What the local backend shows of each value, by name: the node on its float inputs rounded, rounded itself; values that
 * have nothing quantized around them are left out. `real` is what graphs_evaluate gave for the float backend. */
void graphs_evaluate_local(tare_map *values, const tare_model *model, const tare_map *real, tare_arena *arena);

/* Same type, shape and bytes; all NaNs are one. */
extern const char
    *graphs_at_hand; /* the text of the graph that is being tested, printed with what differs; NULL: none */
bool graphs_same(const tare_tensor *a, const tare_tensor *b);
void graphs_check_same(const char *what, const tare_tensor *got, const tare_tensor *want);

/* A random graph of ops that plans treat in different ways, as text on the arena: convolutions in and out of channels-last
 * regions, clamps, views, joins, broadcasts, values with many readers. Input 'x', 1x4x6x5. */
const char *graphs_random_text(tare_arena *arena, uint64_t seed);

/* Gives every float value that a node makes, and the input, a scale at random: per tensor, some per channel. */
void graphs_quantize(tare_model *model, uint64_t seed);

#endif
