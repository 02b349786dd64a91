/* The int backend: nodes on codes, by their target's rows. A value may have two entries, one of real numbers and one of
 * codes, each with slots of its own; a step between them is laid when a reader wants the form that is not there. */
#include <math.h>

#include "run/lay.h"

enum { CHUNK = 16384 }; /* numbers of one piece of work */

/* ---- two forms of a value ---- */

static tare_status codes_of(const tare_lay *l, tare_plan_value *known, tare_plan_value **out, tare_error *err) {
    if (!known->other) {
        tare_plan_value *codes = tare_arena_alloc(l->plan->arena, 1, sizeof *codes);
        if (!codes) return tare_fail_memory(err, sizeof *codes);
        *codes = (tare_plan_value){ .value = known->value, .original = known->original, .is_codes = true };
        codes->other = known;
        known->other = codes;
    }
    *out = known->other;
    return TARE_OK;
}

tare_status tare_lay_form(const tare_lay *l, tare_plan_value *known, tare_error *err) {
    const tare_plan_value *real = known->is_codes ? known->other : known;
    tare_slot *from = known->other->slot[known->other->slot[0] ? 0 : 1];
    const tare_dtype dtype = known->is_codes ? real->quant->code : known->value->dtype;
    tare_step *step = tare_step_new(l->plan, TARE_STEP_CODE, 1, 1);
    tare_slot *to = tare_slot_new(l->plan, dtype, &from->tensor.shape, from->layout, TARE_STORED_SLAB);
    if (!step || !to) return tare_fail_memory(err, 0);
    step->inputs[0] = from;
    step->outputs[0] = to;
    step->quant = real->quant;
    step->is_rounded = true;
    step->made[0] = known->is_codes ? NULL : known;
    step->call.layout = from->layout;
    known->slot[from->layout] = to;
    return tare_lay_add(l, step, err);
}

static void code_chunk(void *context, size_t index, size_t thread) {
    const tare_step *step = context;
    const tare_tensor *from = step->tensors[0], *to = step->tensors[1];
    const tare_kernels *k = step->call.kernels;
    const size_t start = index * CHUNK, count = (size_t)tare_shape_elements(&from->shape) - start;
    const size_t part = count < CHUNK ? count : CHUNK;
    const bool is_signed = step->quant->code == TARE_S8;
    const tare_codes codes = { .scale = step->quant->scale[0],
                               .zero_point = step->quant->zero_point[0],
                               .lo = tare_dtype_lowest(step->quant->code) + (step->quant->narrow ? 1 : 0),
                               .hi = tare_dtype_highest(step->quant->code) };
    (void)thread;
    if (to->dtype == TARE_F32)
        (is_signed ? k->dequantize_s8 : k->dequantize_u8)((float *)to->data + start, (const char *)from->data + start,
                                                          part, &codes);
    else
        (is_signed ? k->quantize_s8 : k->quantize_u8)((char *)to->data + start, (const float *)from->data + start, part,
                                                      &codes);
}

void tare_run_code(const tare_step *step) {
    const size_t count = (size_t)tare_shape_elements(&step->tensors[0]->shape);
    tare_step own = *step;
    tare_pool_run(step->call.pool, (count + CHUNK - 1) / CHUNK, code_chunk, &own);
}

/* ---- Q and DQ at the edges, where codes themselves come in and go out ---- */

const tare_quant *tare_codes_beside(const tare_value *value) {
    const tare_use *use = value->uses.count == 1 && !value->is_output ? &value->uses.at[0] : NULL;
    const tare_node *node = value->producer;
    const tare_quant *quant = NULL;
    tare_error ignored;
    if (value->dtype != TARE_F32 || value->constant) return NULL;
    if (!node || !tare_node_is(node, "DequantizeLinear")) node = use && use->index == 0 ? use->node : NULL;
    if (!node || node->graph != value->graph || !tare_qdq_is(node)) return NULL;
    if (tare_qdq_read(node, &quant, &ignored) != TARE_OK || !quant) return NULL;
    const bool is_byte = quant->code == TARE_U8 || quant->code == TARE_S8;
    return is_byte && quant->count == 1 && !quant->block ? quant : NULL;
}

/* Such a node computes nothing: its input and its output are two forms of one value. */
static tare_status lay_edge(const tare_lay *l, const tare_node *node, bool *done, tare_error *err) {
    const bool is_q = tare_node_is(node, "QuantizeLinear");
    tare_plan_value *real, *codes, *bare;
    const tare_quant *said;
    tare_slot *slot;
    TARE_TRY(tare_lay_value(l, is_q ? node->inputs[0] : node->outputs[0], &real, err));
    TARE_TRY(tare_lay_value(l, is_q ? node->outputs[0] : node->inputs[0], &bare, err));
    TARE_TRY(tare_qdq_read(node, &said, err));
    *done = said && real->quant && !real->is_pinned && tare_quant_is_equal(said, real->quant) && said->count == 1;
    if (!*done) return TARE_OK;
    const int rank = real->value->shape.rank;
    TARE_TRY(codes_of(l, real, &codes, err));
    TARE_TRY(tare_lay_get(l, is_q ? codes : bare, TARE_LAYOUT_FIRST, rank, &slot, err));
    if (is_q) {
        const tare_shape shape = slot->tensor.shape;
        return tare_lay_plain(l, TARE_STEP_VIEW, slot, &shape, TARE_LAYOUT_FIRST, bare, &bare->slot[TARE_LAYOUT_FIRST],
                              err);
    }
    codes->slot[TARE_LAYOUT_FIRST] = slot;
    return real->tapped ? tare_lay_form(l, real, err) : TARE_OK;
}

/* ---- which nodes ---- */

/* A node as its target sees it. Values that hold no f32, and constants that are guesses, count as real. */
static tare_status describe(const tare_lay *l, const tare_node *node, tare_value *output, tare_int_node *n,
                            tare_error *err) {
    const tare_quant **inputs = tare_arena_alloc(l->plan->arena, (size_t)node->input_count + 1, sizeof(*inputs));
    tare_plan_value *known;
    if (!inputs) return tare_fail_memory(err, 0);
    for (int i = 0; i < node->input_count; i++) {
        if (!node->inputs[i]) continue;
        TARE_TRY(tare_lay_value(l, node->inputs[i], &known, err));
        if (!known->is_pinned && node->inputs[i]->dtype == TARE_F32) inputs[i] = known->quant;
    }
    TARE_TRY(tare_lay_value(l, output, &known, err));
    *n = (tare_int_node){ .node = node, .inputs = inputs };
    if (!known->is_pinned && output->dtype == TARE_F32) n->output = known->quant;
    return TARE_OK;
}

static tare_status list_left(const tare_lay *l, const tare_int_node *n, const char *why, tare_error *err) {
    bool is_quantized = n->output != NULL;
    for (int i = 0; i < n->node->input_count; i++) is_quantized |= n->inputs[i] && !n->node->inputs[i]->constant;
    /* What moves numbers computes nothing: those on the grid of codes stay on it, unless they go to another. */
    const bool moves = n->node->op->flags & (TARE_OP_MOVES | TARE_OP_VIEW) &&
                       (!n->output || !n->inputs[0] || tare_quant_is_equal(n->output, n->inputs[0]));
    if (!is_quantized || moves) return TARE_OK;
    const tare_int_left left = { n->node->name, n->node->type, why };
    return tare_vec_push(l->plan->arena, &l->plan->left, left) ? TARE_OK : tare_fail_memory(err, 0);
}

/* The Relu or Clip that the target takes as part of the node; NULL: none. */
static tare_node *find_activation(const tare_lay *l, const tare_node *node, float *lo, float *hi) {
    const tare_target *target = l->session->options.target;
    tare_node *next = tare_plan_find_activation(l->plan, l->session, node, lo, hi);
    if (!next || !target->fuses_activation) return NULL;
    const tare_plan_value *result = tare_plan_value_of(l->plan, l->session, next->outputs[0]);
    return result->quant && target->fuses_activation(next, result->quant) ? next : NULL;
}

/* ---- a node on codes ---- */

static tare_status read_inputs(const tare_lay *l, const tare_int_node *n, tare_layout layout, tare_step *step,
                               tare_error *err) {
    const tare_node *node = n->node;
    for (int i = 0; i < node->input_count; i++) {
        tare_plan_value *known;
        int rank;
        if (!node->inputs[i]) continue;
        const tare_layout wanted = tare_lay_input(node, i, layout, &rank);
        TARE_TRY(tare_lay_value(l, node->inputs[i], &known, err));
        if (n->inputs[i]) TARE_TRY(codes_of(l, known, &known, err));
        TARE_TRY(tare_lay_get(l, known, wanted, rank, &step->inputs[i], err));
    }
    return TARE_OK;
}

/* quant NULL: real numbers come out. */
static tare_status make_output(const tare_lay *l, tare_step *step, tare_value *value, const tare_quant *quant,
                               tare_error *err) {
    tare_plan_value *real, *made;
    const tare_layout layout = value->shape.rank < 3 ? TARE_LAYOUT_FIRST : step->call.layout;
    const tare_shape laid = tare_layout_shape(&value->shape, layout);
    TARE_TRY(tare_lay_value(l, value, &real, err));
    made = real;
    if (quant) TARE_TRY(codes_of(l, real, &made, err));
    step->outputs[0] = tare_slot_new(l->plan, quant ? quant->code : value->dtype, &laid, layout, TARE_STORED_SLAB);
    if (!step->outputs[0]) return tare_fail_memory(err, 0);
    if (!quant) step->made[0] = made;
    made->slot[layout] = step->outputs[0];
    return TARE_OK;
}

static tare_status lay(const tare_lay *l, const tare_int_node *n, const tare_int_row *row, tare_value *output,
                       size_t index, float lo, float hi, tare_error *err) {
    const tare_node *node = n->node;
    tare_step *step = NULL;
    tare_plan_value *made;
    tare_prepare p;
    TARE_TRY(tare_lay_node(l, TARE_STEP_NODE, node, index, node->input_count, &step, err));
    step->row = row;
    step->call.layout = tare_plan_choose_layout(l->plan, node);
    TARE_TRY(read_inputs(l, n, step->call.layout, step, err));
    TARE_TRY(make_output(l, step, output, n->output, err));
    TARE_TRY(tare_lay_add(l, step, err));
    TARE_TRY(tare_lay_describe(l, step, lo, hi, &p, err));
    if (row->prepare(n, &p, err) != TARE_OK) return tare_within(err, "node '%s' (%s)", node->name, node->type);
    tare_lay_take(l, step, &p);
    l->plan->on_codes++;
    TARE_TRY(tare_lay_value(l, output, &made, err));
    return made->tapped && n->output ? tare_lay_form(l, made, err) : TARE_OK;
}

tare_status tare_lay_codes(const tare_lay *l, tare_node *node, size_t index, bool *done, tare_error *err) {
    const tare_session_options *options = &l->session->options;
    float lo = -INFINITY, hi = INFINITY;
    const char *why;
    tare_int_node n;
    tare_plan_value *between;
    if (!node->output_count || !node->outputs[0]) return TARE_OK;
    if (tare_qdq_is(node)) {
        TARE_TRY(lay_edge(l, node, done, err));
        if (*done) return TARE_OK;
    }
    tare_node *activation = find_activation(l, node, &lo, &hi);
    tare_value *output = activation ? activation->outputs[0] : node->outputs[0];
    TARE_TRY(describe(l, node, output, &n, err));
    const tare_int_row *row = tare_target_int_row(options->target, options->profile, &n, &why);
    if (!row) return list_left(l, &n, why, err);
    TARE_TRY(tare_lay_value(l, node->outputs[0], &between, err));
    if (activation && between->tapped) TARE_TRY(tare_lay_real(l, node, index, err)); /* to be shown, and for no more */
    if (activation) activation->mark = TARE_NODE_SKIPPED;
    if (!activation) lo = -INFINITY, hi = INFINITY;
    *done = true;
    return lay(l, &n, row, output, index, lo, hi, err);
}
