/* Einsum: the sum of products that an equation like "bij,bjk->bik" names. A plain loop over the output's and the summed
 * dimensions, sums in f64: what is large in practice is written as MatMul. */
#include <ctype.h>
#include <stddef.h>
#include <string.h>

#include "base/size.h"
#include "ops/numbers.h"
#include "ops/op.h"
#include "ops/spans.h"

typedef struct attributes {
    const char *equation;
} attributes;

static const tare_field fields[] = {
    { .name = "equation",
      .type = TARE_FIELD_STRING,
      .offset = offsetof(attributes, equation),
      .flags = TARE_FIELD_REQUIRED },
    { 0 },
};

enum { OPERANDS_MAX = 16, LETTERS = 26, DOTS = 2 * LETTERS, INDICES_MAX = DOTS + TARE_RANK_MAX };

/* An index is a letter (A-Z, a-z) or one of the ellipsis' dimensions, which are numbered from the last. */
typedef struct term {
    int count, index[TARE_RANK_MAX];
    bool has_dots;
} term;

typedef struct equation {
    int operand_count;
    term operand[OPERANDS_MAX], output;
    int64_t size[INDICES_MAX]; /* 0 while not met; TARE_DIM_UNKNOWN or a symbol: not known */
    bool is_met[INDICES_MAX];
    int uses[INDICES_MAX];
} equation;

/* ---- reading ---- */

static int index_of(char letter) { return isupper((unsigned char)letter) ? letter - 'A' : LETTERS + letter - 'a'; }

/* The indices of a term up to ',' or '-' or the end; dots stand for `dots` dimensions. */
static tare_status read_term(const char **text, int dots, term *out, tare_error *err) {
    *out = (term){ 0 };
    for (; **text && **text != ',' && **text != '-'; (*text)++) {
        if (**text == ' ') continue;
        bool is_dots = !strncmp(*text, "...", 3);
        if (is_dots && out->has_dots) return tare_fail(err, TARE_E_MALFORMED, "a term of the equation has two '...'");
        if (!is_dots && !isalpha((unsigned char)**text))
            return tare_fail(err, TARE_E_MALFORMED, "the equation has 0x%02x where an index should be",
                             (unsigned)(unsigned char)**text);
        int more = is_dots ? dots : 1;
        if (more < 0 || out->count + more > TARE_RANK_MAX)
            return tare_fail(err, TARE_E_MALFORMED,
                             "a term of the equation has more indices than dimensions, or than %d", TARE_RANK_MAX);
        for (int i = 0; i < more; i++) out->index[out->count++] = is_dots ? DOTS + more - 1 - i : index_of(**text);
        out->has_dots = out->has_dots || is_dots;
        if (is_dots) *text += 2;
    }
    return TARE_OK;
}

/* How many dimensions an operand's dots stand for: those that its letters leave. */
static int count_dots(const char *text, int rank) {
    int letters = 0;
    for (; *text && *text != ',' && *text != '-'; text++) letters += isalpha((unsigned char)*text) != 0;
    return rank - letters;
}

/* Without "->" the output has the ellipsis, then the letters that occur once, in order. */
static tare_status imply_output(equation *e, int dots, tare_error *err) {
    for (int i = dots - 1; i >= 0; i--) e->output.index[e->output.count++] = DOTS + i;
    for (int i = 0; i < DOTS; i++) {
        if (e->uses[i] != 1) continue;
        if (e->output.count == TARE_RANK_MAX)
            return tare_fail(err, TARE_E_LIMIT, "the output would have more than %d dimensions", TARE_RANK_MAX);
        e->output.index[e->output.count++] = i;
    }
    return TARE_OK;
}

/* Operands that share an index have the same size there, or 1. */
static tare_status meet(equation *e, int index, int64_t size, tare_error *err) {
    int64_t *known = &e->size[index];
    e->uses[index]++;
    if (!e->is_met[index] || *known == 1 || (*known < 0 && size >= 0 && size != 1))
        *known = size;
    else if (*known >= 0 && size >= 0 && size != 1 && size != *known)
        return tare_fail(err, TARE_E_MALFORMED, "an index of the equation is %lld long and %lld long",
                         (long long)*known, (long long)size);
    e->is_met[index] = true;
    return TARE_OK;
}

static tare_status read_operand(equation *e, const char **text, const tare_shape *shape, int *dots, tare_error *err) {
    term *operand = &e->operand[e->operand_count];
    int own_dots = count_dots(*text, shape->rank);
    TARE_TRY(read_term(text, own_dots, operand, err));
    if (operand->count != shape->rank)
        return tare_fail(err, TARE_E_MALFORMED, "term %d of the equation has %d indices, its input %d dimensions",
                         e->operand_count, operand->count, shape->rank);
    if (operand->has_dots && own_dots > *dots) *dots = own_dots;
    for (int i = 0; i < operand->count; i++) TARE_TRY(meet(e, operand->index[i], shape->dim[i], err));
    e->operand_count++;
    return TARE_OK;
}

static tare_status check_output(const equation *e, tare_error *err) {
    bool seen[INDICES_MAX] = { false };
    for (int i = 0; i < e->output.count; i++) {
        int index = e->output.index[i];
        if (!e->is_met[index] || seen[index])
            return tare_fail(err, TARE_E_MALFORMED, "the output of the equation has an index %s",
                             seen[index] ? "twice" : "that no input has");
        seen[index] = true;
    }
    return TARE_OK;
}

/* shapes: of all operands, their ranks known. */
static tare_status read_equation(const char *text, const tare_shape *shapes, int count, equation *e, tare_error *err) {
    int dots = 0;
    *e = (equation){ 0 };
    if (!text) return tare_fail(err, TARE_E_MALFORMED, "attribute 'equation' is missing");
    for (int i = 0; i < count; i++) {
        if (i && *text++ != ',')
            return tare_fail(err, TARE_E_MALFORMED, "the equation has %d terms, but there are %d inputs", i, count);
        TARE_TRY(read_operand(e, &text, &shapes[i], &dots, err));
    }
    if (*text == ',') return tare_fail(err, TARE_E_MALFORMED, "the equation has more terms than the %d inputs", count);
    if (!*text) return imply_output(e, dots, err);
    if (text[1] != '>') return tare_fail(err, TARE_E_MALFORMED, "the equation has '-' without '>'");
    text += 2;
    TARE_TRY(read_term(&text, dots, &e->output, err));
    if (*text) return tare_fail(err, TARE_E_MALFORMED, "the equation goes on behind its output");
    return check_output(e, err);
}

static tare_status infer(tare_node *node, tare_error *err) {
    tare_shape shapes[OPERANDS_MAX], y = { 0 };
    tare_dtype dtype;
    equation e;
    if (node->input_count > OPERANDS_MAX)
        return tare_fail(err, TARE_E_LIMIT, "has %d inputs, at most %d are read", node->input_count, OPERANDS_MAX);
    for (int i = 0; i < node->input_count; i++) {
        TARE_TRY(tare_infer_check(node, i, TARE_TYPES_FLOAT | TARE_TYPES_INTEGER, err));
        shapes[i] = tare_input_shape(node, i);
    }
    TARE_TRY(tare_infer_one_type(node, ~0u, &dtype, err));
    for (int i = 0; i < node->input_count; i++)
        if (shapes[i].rank < 0) return tare_infer_set(node, 0, dtype, NULL, err);
    TARE_TRY(read_equation(((const attributes *)node->attrs)->equation, shapes, node->input_count, &e, err));
    for (int i = 0; i < e.output.count; i++) y.dim[y.rank++] = e.size[e.output.index[i]];
    return tare_infer_set(node, 0, dtype, &y, err);
}

/* ---- run ---- */

static const int64_t work_max = (int64_t)1 << 40;

struct job {
    const tare_call *call;
    int operands, outer, inner; /* inner: the summed indices */
    int64_t outer_size[TARE_RANK_MAX], inner_size[INDICES_MAX], inner_count;
    int64_t outer_stride[OPERANDS_MAX][TARE_RANK_MAX], inner_stride[OPERANDS_MAX][INDICES_MAX];
};

/* How far an operand moves when an index does: an index that it has twice is its diagonal. */
static int64_t stride_of(const equation *e, int k, const tare_shape *shape, int index) {
    int64_t strides[TARE_RANK_MAX], stride = 0;
    tare_shape_strides(strides, shape);
    for (int i = 0; i < e->operand[k].count; i++)
        if (e->operand[k].index[i] == index && shape->dim[i] != 1) stride += strides[i];
    return stride;
}

static double real_at(const tare_tensor *tensor, int64_t at) {
    tare_numbers number;
    if (tensor->dtype == TARE_F32) return (double)((const float *)tensor->data)[at];
    tare_numbers_load(&number, tensor->dtype, tensor->data, at, 1);
    return tensor->dtype == TARE_F64 ? number.f64[0] : (double)number.f32[0];
}

static uint64_t whole_at(const tare_tensor *tensor, int64_t at) {
    uint64_t number;
    tare_numbers_load(&number, tensor->dtype, tensor->data, at, 1);
    return number;
}

/* The sum for one output element; at: where the operands start. */
static void sum_products(const struct job *job, int64_t *at, double *real, uint64_t *whole) {
    tare_tensor *const *in = job->call->inputs;
    bool is_real = tare_dtype_is_float(in[0]->dtype);
    int64_t index[INDICES_MAX] = { 0 };
    *real = 0;
    *whole = 0;
    for (int64_t n = 0; n < job->inner_count; n++) {
        double real_product = 1;
        uint64_t whole_product = 1;
        for (int k = 0; k < job->operands; k++) {
            if (is_real)
                real_product *= real_at(in[k], at[k]);
            else
                whole_product *= whole_at(in[k], at[k]);
        }
        *real += real_product;
        *whole += whole_product;
        for (int d = job->inner - 1; d >= 0; d--) {
            for (int k = 0; k < job->operands; k++) at[k] += job->inner_stride[k][d];
            if (++index[d] < job->inner_size[d]) break;
            for (int k = 0; k < job->operands; k++) at[k] -= index[d] * job->inner_stride[k][d];
            index[d] = 0;
        }
    }
}

static void elements(void *context, int64_t first, int64_t last) {
    const struct job *job = context;
    const tare_tensor *to = job->call->outputs[0];
    for (int64_t i = first; i < last; i++) {
        int64_t at[OPERANDS_MAX] = { 0 }, rest = i;
        for (int d = job->outer - 1; d >= 0; d--) {
            int64_t index = rest % job->outer_size[d];
            rest /= job->outer_size[d];
            for (int k = 0; k < job->operands; k++) at[k] += index * job->outer_stride[k][d];
        }
        tare_numbers result;
        double real;
        uint64_t whole;
        sum_products(job, at, &real, &whole);
        if (to->dtype == TARE_F64)
            result.f64[0] = real;
        else if (tare_dtype_is_float(to->dtype))
            result.f32[0] = (float)real;
        else
            result.u64[0] = whole;
        tare_numbers_store(to->dtype, to->data, i, &result, 1);
    }
}

static tare_status run(const tare_call *call, tare_error *err) {
    tare_shape shapes[OPERANDS_MAX];
    equation e;
    for (int k = 0; k < call->input_count; k++) shapes[k] = call->inputs[k]->shape;
    TARE_TRY(read_equation(((const attributes *)call->attrs)->equation, shapes, call->input_count, &e, err));
    struct job job = { .call = call, .operands = call->input_count, .outer = e.output.count, .inner_count = 1 };
    bool is_outer[INDICES_MAX] = { false };
    for (int d = 0; d < e.output.count; d++) {
        int index = e.output.index[d];
        is_outer[index] = true;
        job.outer_size[d] = e.size[index];
        for (int k = 0; k < job.operands; k++) job.outer_stride[k][d] = stride_of(&e, k, &shapes[k], index);
    }
    for (int index = 0; index < INDICES_MAX; index++) {
        if (!e.is_met[index] || is_outer[index]) continue;
        job.inner_size[job.inner] = e.size[index];
        if (!tare_i64_mul(job.inner_count, e.size[index], &job.inner_count) || job.inner_count > work_max)
            return tare_fail(err, TARE_E_LIMIT, "more than %lld products are summed for each element",
                             (long long)work_max);
        for (int k = 0; k < job.operands; k++) job.inner_stride[k][job.inner] = stride_of(&e, k, &shapes[k], index);
        job.inner++;
    }
    tare_ranges_run(call->pool, tare_shape_elements(&call->outputs[0]->shape), job.inner_count * 4, elements, &job);
    return TARE_OK;
}

const tare_op tare_op_einsum = {
    .name = "Einsum",
    .since = 12,
    .inputs = { 1, -1 },
    .outputs = { 1, 1 },
    .attrs = fields,
    .attrs_size = sizeof(attributes),
    .quant = { .kind = TARE_QUANT_OBSERVE, .data_inputs = 3 },
    .infer = infer,
    .run = run,
};
