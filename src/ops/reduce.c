/* The ten reductions. Each is a map of the elements, a way to enum combine them, and a last step on the result. f32 follows
 * the 16-lane order of kernels.h, rows alone or side by side; other types are combined in order, in f64 or in integers.
 * Of no elements: Sum 0, Prod 1, Max and Min the type's far end, Mean NaN (an error for integers). */
#include <math.h>
#include <sleef.h>
#include <stddef.h>

#include "ops/rows.h"
#include "ops/spans.h"

enum map { MAP_NONE, MAP_ABS, MAP_SQUARE, MAP_EXP }; /* MAP_EXP: exp(x - the row's largest) */
enum combine { COMBINE_ADD, COMBINE_MUL, COMBINE_MAX, COMBINE_MIN };
enum finish { FINISH_NONE, FINISH_MEAN, FINISH_SQRT, FINISH_LOG };

struct formula {
    enum map map;
    enum combine combine;
    enum finish finish;
};

typedef struct reduce_attrs {
    int64_t keepdims, noop_with_empty_axes;
} reduce_attrs;

static const tare_field fields[] = {
    { "keepdims", TARE_FIELD_INT, offsetof(reduce_attrs, keepdims), .fallback.i = 1, .hi = 1 },
    { "noop_with_empty_axes", TARE_FIELD_INT, offsetof(reduce_attrs, noop_with_empty_axes), .hi = 1 },
    { 0 },
};
static const tare_op_dual duals_17[] = { { "axes", 1, 17, TARE_FIELD_INTS }, { 0 } };
static const tare_op_dual duals_12[] = { { "axes", 1, 12, TARE_FIELD_INTS }, { 0 } };

/* The axes as bits; without any: all, or none when the attribute says so. */
static tare_status read_axes(const reduce_attrs *attrs, const int64_t *axes, size_t count, int rank, unsigned *bits,
                             tare_error *err) {
    *bits = count || attrs->noop_with_empty_axes ? 0 : (1u << rank) - 1;
    for (size_t i = 0; i < count; i++) {
        int axis;
        TARE_TRY(tare_infer_axis(axes[i], rank, &axis, err));
        if (*bits & 1u << axis) return tare_fail(err, TARE_E_MALFORMED, "axis %d is named twice", axis);
        *bits |= 1u << axis;
    }
    return TARE_OK;
}

/* Which dimensions there are is not known: with keepdims their count is, without it nothing is. */
static tare_status infer_unknown(tare_node *node, const tare_shape *shape, tare_error *err) {
    const reduce_attrs *attrs = node->attrs;
    tare_shape unknown = tare_shape_unknown();
    if (attrs->keepdims && shape->rank >= 0) {
        unknown.rank = shape->rank;
        for (int i = 0; i < shape->rank; i++) unknown.dim[i] = TARE_DIM_UNKNOWN;
    }
    return tare_infer_set(node, 0, tare_input_dtype(node, 0), &unknown, err);
}

static tare_status infer(tare_node *node, tare_error *err) {
    const reduce_attrs *attrs = node->attrs;
    tare_shape shape = tare_input_shape(node, 0), result = { 0 };
    const tare_value *axes = tare_node_input(node, 1);
    int64_t numbers[TARE_RANK_MAX];
    size_t count = 0;
    unsigned bits;
    TARE_TRY(tare_infer_check(node, 0, TARE_TYPES_FLOAT | TARE_TYPES_INTEGER | 1u << TARE_BOOL, err));
    TARE_TRY(tare_infer_check(node, 1, TARE_TYPES_INDEX, err));
    if (axes && axes->constant && axes->constant->size / tare_dtype_size(axes->constant->dtype) > TARE_RANK_MAX)
        return tare_fail(err, TARE_E_MALFORMED, "more than %d axes", TARE_RANK_MAX);
    if (shape.rank < 0 || (axes && !tare_value_read_s64(axes, numbers, TARE_RANK_MAX, &count)))
        return infer_unknown(node, &shape, err);
    TARE_TRY(read_axes(attrs, numbers, count, shape.rank, &bits, err));
    for (int i = 0; i < shape.rank; i++) {
        if (!(bits & 1u << i))
            result.dim[result.rank++] = shape.dim[i];
        else if (attrs->keepdims)
            result.dim[result.rank++] = 1;
    }
    return tare_infer_set(node, 0, tare_input_dtype(node, 0), &result, err);
}

static int needs(const tare_node *node) {
    if (!((const reduce_attrs *)node->attrs)->noop_with_empty_axes) return node->op->since;
    return node->op == &tare_op_reduce_sum ? 13 : 18;
}

/* ---- f32 ---- */

enum { BLOCK = 64 /* rows side by side that are reduced at once: their lanes stay in L1 */ };

struct reduction {
    const tare_call *call;
    const struct formula *formula;
    tare_rows rows;
};

static float identity_f32(enum combine combine) {
    return combine == COMBINE_ADD   ? 0.0f
           : combine == COMBINE_MUL ? 1.0f
           : combine == COMBINE_MAX ? -INFINITY
                                    : INFINITY;
}

/* acc = acc combined with x; for Max and Min of equal numbers the earlier one stays, as in reduce_max_f32. */
static void combine_f32(const tare_kernels *kernels, enum combine combine, float *acc, const float *x, size_t count) {
    switch (combine) {
    case COMBINE_ADD: kernels->add_f32(acc, acc, 1, x, 1, count); break;
    case COMBINE_MUL: kernels->mul_f32(acc, acc, 1, x, 1, count); break;
    case COMBINE_MAX: kernels->max_f32(acc, x, 1, acc, 1, count); break;
    case COMBINE_MIN: kernels->min_f32(acc, x, 1, acc, 1, count); break;
    }
}

/* The maps on at most a chunk; shift is subtracted before exp. Gives `from` itself when there is nothing to do. */
static const float *map_f32(const tare_kernels *kernels, enum map map, float *to, const float *from, const float *shift,
                            size_t shift_stride, size_t count) {
    switch (map) {
    case MAP_NONE: return from;
    case MAP_ABS:
        for (size_t i = 0; i < count; i++) to[i] = fabsf(from[i]);
        return to;
    case MAP_SQUARE: kernels->mul_f32(to, from, 1, from, 1, count); return to;
    case MAP_EXP:
        kernels->sub_f32(to, from, 1, shift, shift_stride, count);
        kernels->exp_f32(to, to, count);
        return to;
    }
    return from;
}

static float finish_f32(const struct reduction *reduction, float x, float shift) {
    switch (reduction->formula->finish) {
    case FINISH_MEAN: return x / (float)reduction->rows.length;
    case FINISH_SQRT: return sqrtf(x);
    case FINISH_LOG: reduction->call->kernels->log_f32(&x, &x, 1); return x + shift;
    default: return x;
    }
}

/* What is subtracted before exp: the largest, so that nothing overflows, unless it is infinite itself. */
static float shift_of(float largest) { return isfinite(largest) ? largest : 0; }

/* The row at `row` combined, mapped first. */
static float row_f32(const struct reduction *reduction, enum map map, enum combine combine, const char *row,
                     float shift) {
    const tare_tensor *from = reduction->call->inputs[0];
    const tare_kernels *kernels = reduction->call->kernels;
    const tare_rows *rows = &reduction->rows;
    bool lies_together = rows->row_rank == 0 || (rows->row_rank == 1 && rows->row_stride[0] == 1);
    bool is_plain = lies_together && from->dtype == TARE_F32;
    if (is_plain && map == MAP_NONE && combine == COMBINE_ADD)
        return kernels->reduce_sum_f32((const float *)(const void *)row, (size_t)rows->length);
    if (is_plain && map == MAP_NONE && combine == COMBINE_MAX)
        return kernels->reduce_max_f32((const float *)(const void *)row, (size_t)rows->length);
    float lanes[TARE_LANES], raw[TARE_NUMBERS_CHUNK], loaded[TARE_NUMBERS_CHUNK], mapped[TARE_NUMBERS_CHUNK];
    for (int j = 0; j < TARE_LANES; j++) lanes[j] = identity_f32(combine);
    size_t size = tare_dtype_size(from->dtype);
    tare_row_walk walk;
    tare_row_begin(&walk, rows);
    for (int64_t done = 0; done < rows->length; done += TARE_NUMBERS_CHUNK) {
        size_t count = (size_t)(rows->length - done < TARE_NUMBERS_CHUNK ? rows->length - done : TARE_NUMBERS_CHUNK);
        const void *source = row + (size_t)done * size;
        if (!lies_together) {
            tare_row_gather(&walk, raw, row, size, count);
            source = raw;
        }
        const float *x = source;
        if (from->dtype != TARE_F32) {
            tare_numbers_load(loaded, from->dtype, source, 0, count);
            x = loaded;
        }
        x = map_f32(kernels, map, mapped, x, &shift, 0, count);
        for (size_t i = 0; i < count; i += TARE_LANES)
            combine_f32(kernels, combine, lanes, x + i, count - i < TARE_LANES ? count - i : TARE_LANES);
    }
    for (size_t half = TARE_LANES / 2; half > 0; half /= 2) combine_f32(kernels, combine, lanes, lanes + half, half);
    return lanes[0];
}

static float reduce_row_f32(const struct reduction *reduction, const char *row) {
    const struct formula *formula = reduction->formula;
    float shift = 0;
    if (formula->map == MAP_EXP) shift = shift_of(row_f32(reduction, MAP_NONE, COMBINE_MAX, row, 0));
    return finish_f32(reduction, row_f32(reduction, formula->map, formula->combine, row, shift), shift);
}

/* `count` rows side by side, combined into the first lane's numbers. */
static void block_f32(const struct reduction *reduction, enum map map, enum combine combine,
                      float lanes[TARE_LANES][BLOCK], const float *from, const float *shift, size_t count) {
    const tare_kernels *kernels = reduction->call->kernels;
    float mapped[BLOCK];
    for (int j = 0; j < TARE_LANES; j++)
        for (size_t c = 0; c < count; c++) lanes[j][c] = identity_f32(combine);
    tare_row_walk walk;
    tare_row_begin(&walk, &reduction->rows);
    for (int64_t k = 0; k < reduction->rows.length; k++, tare_row_next(&walk)) {
        const float *x = map_f32(kernels, map, mapped, from + walk.at, shift, 1, count);
        combine_f32(kernels, combine, lanes[k % TARE_LANES], x, count);
    }
    for (int half = TARE_LANES / 2; half > 0; half /= 2)
        for (int j = 0; j < half; j++) combine_f32(kernels, combine, lanes[j], lanes[j + half], count);
}

static void reduce_block_f32(const struct reduction *reduction, float *to, const float *from, size_t count) {
    float lanes[TARE_LANES][BLOCK], shift[BLOCK] = { 0 };
    const struct formula *formula = reduction->formula;
    if (formula->map == MAP_EXP) {
        block_f32(reduction, MAP_NONE, COMBINE_MAX, lanes, from, shift, count);
        for (size_t c = 0; c < count; c++) shift[c] = shift_of(lanes[0][c]);
    }
    block_f32(reduction, formula->map, formula->combine, lanes, from, shift, count);
    for (size_t c = 0; c < count; c++) to[c] = finish_f32(reduction, lanes[0][c], shift[c]);
}

/* ---- f64 and integers ---- */

static double wide_number(tare_dtype dtype, const void *element) {
    union {
        float f32;
        double f64;
        int64_t s64;
        uint64_t u64;
    } number;
    tare_numbers_load(&number, dtype, element, 0, 1);
    switch (tare_number_of(dtype)) {
    case TARE_NUMBER_F32: return (double)number.f32;
    case TARE_NUMBER_F64: return number.f64;
    case TARE_NUMBER_S64: return (double)number.s64;
    default: return (double)number.u64;
    }
}

static double combine_f64(enum combine combine, double acc, double x) {
    switch (combine) {
    case COMBINE_ADD: return acc + x;
    case COMBINE_MUL: return acc * x;
    case COMBINE_MAX: return isnan(acc) || acc > x ? acc : x;
    default: return isnan(acc) || acc < x ? acc : x;
    }
}

static double row_f64(const struct reduction *reduction, enum map map, enum combine combine, const char *row,
                      double shift) {
    const tare_tensor *from = reduction->call->inputs[0];
    double acc = (double)identity_f32(combine);
    tare_row_walk walk;
    tare_row_begin(&walk, &reduction->rows);
    for (int64_t k = 0; k < reduction->rows.length; k++, tare_row_next(&walk)) {
        double x = wide_number(from->dtype, row + walk.at * (int64_t)tare_dtype_size(from->dtype));
        if (map == MAP_ABS) x = fabs(x);
        if (map == MAP_SQUARE) x *= x;
        if (map == MAP_EXP) x = Sleef_cinz_expd1_u10purec(x - shift);
        acc = combine_f64(combine, acc, x);
    }
    return acc;
}

static double reduce_row_f64(const struct reduction *reduction, const char *row) {
    const struct formula *formula = reduction->formula;
    double shift = 0;
    if (formula->map == MAP_EXP) shift = row_f64(reduction, MAP_NONE, COMBINE_MAX, row, 0);
    if (!isfinite(shift)) shift = 0;
    double x = row_f64(reduction, formula->map, formula->combine, row, shift);
    switch (formula->finish) {
    case FINISH_MEAN: return x / (double)reduction->rows.length;
    case FINISH_SQRT: return sqrt(x);
    case FINISH_LOG: return Sleef_cinz_logd1_u10purec(x) + shift;
    default: return x;
    }
}

/* What an integer type can hold, as 64 bits. */
static void type_range(tare_dtype dtype, uint64_t *least, uint64_t *most) {
    *least = 0;
    switch (dtype) {
    case TARE_U64: *most = UINT64_MAX; break;
    case TARE_U32: *most = UINT32_MAX; break;
    case TARE_BOOL: *most = 1; break;
    case TARE_S64:
        *least = (uint64_t)INT64_MIN;
        *most = (uint64_t)INT64_MAX;
        break;
    default: *least = (uint64_t)(int64_t)tare_dtype_lowest(dtype); *most = (uint64_t)tare_dtype_highest(dtype);
    }
}

static bool is_less(bool is_signed, uint64_t a, uint64_t b) { return is_signed ? (int64_t)a < (int64_t)b : a < b; }

/* Sums and products wrap, so that bits are the same signed and unsigned. */
static uint64_t reduce_row_s64(const struct reduction *reduction, const char *row) {
    const struct formula *formula = reduction->formula;
    tare_dtype dtype = reduction->call->inputs[0]->dtype;
    bool is_signed = tare_number_of(dtype) == TARE_NUMBER_S64;
    uint64_t least, most;
    type_range(dtype, &least, &most);
    uint64_t acc = formula->combine == COMBINE_ADD   ? 0
                   : formula->combine == COMBINE_MUL ? 1
                   : formula->combine == COMBINE_MAX ? least
                                                     : most;
    tare_row_walk walk;
    tare_row_begin(&walk, &reduction->rows);
    for (int64_t k = 0; k < reduction->rows.length; k++, tare_row_next(&walk)) {
        uint64_t x;
        tare_numbers_load(&x, dtype, row + walk.at * (int64_t)tare_dtype_size(dtype), 0, 1);
        if (formula->map == MAP_ABS && is_signed && (int64_t)x < 0) x = 0 - x;
        if (formula->map == MAP_SQUARE) x *= x;
        switch (formula->combine) {
        case COMBINE_ADD: acc += x; break;
        case COMBINE_MUL: acc *= x; break;
        case COMBINE_MAX: acc = is_less(is_signed, acc, x) ? x : acc; break;
        case COMBINE_MIN: acc = is_less(is_signed, x, acc) ? x : acc; break;
        }
    }
    if (formula->finish != FINISH_MEAN) return acc;
    uint64_t count = (uint64_t)reduction->rows.length;
    return is_signed ? (uint64_t)((int64_t)acc / (int64_t)count) : acc / count;
}

/* A root or a logarithm of integers is cut to a whole number; what has none is 0. */
static int64_t cut(double real) { return real >= -0x1p63 && real < 0x1p63 ? (int64_t)real : 0; }

static void reduce_row(const struct reduction *reduction, int64_t to, int64_t from) {
    const tare_tensor *input = reduction->call->inputs[0], *output = reduction->call->outputs[0];
    const char *row = tare_element(input, from);
    bool is_real = reduction->formula->finish == FINISH_SQRT || reduction->formula->finish == FINISH_LOG;
    union {
        float f32;
        double f64;
        uint64_t u64;
        int64_t s64;
    } result;
    switch (tare_number_of(input->dtype)) {
    case TARE_NUMBER_F32: result.f32 = reduce_row_f32(reduction, row); break;
    case TARE_NUMBER_F64: result.f64 = reduce_row_f64(reduction, row); break;
    default:
        if (is_real)
            result.s64 = cut(reduce_row_f64(reduction, row));
        else
            result.u64 = reduce_row_s64(reduction, row);
    }
    tare_numbers_store(output->dtype, output->data, to, &result, 1);
}

/* ---- all rows ---- */

static void rows_range(void *context, int64_t first, int64_t last) {
    const struct reduction *reduction = context;
    const tare_rows *rows = &reduction->rows;
    int64_t from, to;
    for (int64_t i = first; i < last; i++) {
        tare_rows_start(rows, i / rows->inner, &from, &to);
        reduce_row(reduction, to + i % rows->inner, from + i % rows->inner);
    }
}

static void blocks_range(void *context, int64_t first, int64_t last) {
    const struct reduction *reduction = context;
    const tare_rows *rows = &reduction->rows;
    const float *input = reduction->call->inputs[0]->data;
    float *output = reduction->call->outputs[0]->data;
    int64_t blocks = (rows->inner + BLOCK - 1) / BLOCK, from, to;
    for (int64_t i = first; i < last; i++) {
        int64_t c = i % blocks * BLOCK, count = rows->inner - c < BLOCK ? rows->inner - c : BLOCK;
        tare_rows_start(rows, i / blocks, &from, &to);
        reduce_block_f32(reduction, output + to + c, input + from + c, (size_t)count);
    }
}

static tare_status run(const tare_call *call, const struct formula *formula, tare_error *err) {
    const tare_tensor *from = call->inputs[0], *axes = call->input_count > 1 ? call->inputs[1] : NULL;
    struct reduction reduction = { .call = call, .formula = formula };
    int64_t numbers[TARE_RANK_MAX];
    size_t count = axes ? axes->size / tare_dtype_size(axes->dtype) : 0;
    unsigned bits;
    if (count > TARE_RANK_MAX) return tare_fail(err, TARE_E_MALFORMED, "more than %d axes", TARE_RANK_MAX);
    if (axes) tare_numbers_load(numbers, axes->dtype, axes->data, 0, count);
    TARE_TRY(read_axes(call->attrs, numbers, count, from->shape.rank, &bits, err));
    bool keeps = ((const reduce_attrs *)call->attrs)->keepdims != 0;
    tare_rows *rows = &reduction.rows;
    tare_rows_init(rows, &from->shape, call->layout, bits, keeps);
    if (rows->length == 0 && formula->finish == FINISH_MEAN && !tare_dtype_is_float(from->dtype))
        return tare_fail(err, TARE_E_MALFORMED, "the mean of no integers is not defined");
    if (from->dtype == TARE_F32 && rows->inner >= 4)
        tare_ranges_run(call->pool, rows->outer * ((rows->inner + BLOCK - 1) / BLOCK), rows->length * BLOCK,
                        blocks_range, &reduction);
    else
        tare_ranges_run(call->pool, rows->outer * rows->inner, rows->length, rows_range, &reduction);
    return TARE_OK;
}

#define REDUCTION(op, symbol, axes_duals, quant_kind, ...)                                                             \
    static tare_status symbol##_run(const tare_call *call, tare_error *err) {                                          \
        static const struct formula formula = { __VA_ARGS__ };                                                         \
        return run(call, &formula, err);                                                                               \
    }                                                                                                                  \
    const tare_op tare_op_##symbol = {                                                                                 \
        .name = #op,                                                                                                   \
        .since = 1,                                                                                                    \
        .inputs = { 1, 2 },                                                                                            \
        .outputs = { 1, 1 },                                                                                           \
        .attrs = fields,                                                                                               \
        .attrs_size = sizeof(reduce_attrs),                                                                            \
        .duals = axes_duals,                                                                                           \
        .layout = TARE_LAYOUT_EITHER,                                                                                  \
        .layout_inputs = 1,                                                                                            \
        .quant = { .kind = quant_kind },                                                                               \
        .needs = needs,                                                                                                \
        .infer = infer,                                                                                                \
        .run = symbol##_run,                                                                                           \
    };
REDUCTION(ReduceL1, reduce_l1, duals_17, TARE_QUANT_OBSERVE, MAP_ABS, COMBINE_ADD, FINISH_NONE)
REDUCTION(ReduceL2, reduce_l2, duals_17, TARE_QUANT_OBSERVE, MAP_SQUARE, COMBINE_ADD, FINISH_SQRT)
REDUCTION(ReduceLogSum, reduce_log_sum, duals_17, TARE_QUANT_OBSERVE, MAP_NONE, COMBINE_ADD, FINISH_LOG)
REDUCTION(ReduceLogSumExp, reduce_log_sum_exp, duals_17, TARE_QUANT_OBSERVE, MAP_EXP, COMBINE_ADD, FINISH_LOG)
REDUCTION(ReduceMax, reduce_max, duals_17, TARE_QUANT_PASS, MAP_NONE, COMBINE_MAX, FINISH_NONE)
REDUCTION(ReduceMean, reduce_mean, duals_17, TARE_QUANT_OBSERVE, MAP_NONE, COMBINE_ADD, FINISH_MEAN)
REDUCTION(ReduceMin, reduce_min, duals_17, TARE_QUANT_PASS, MAP_NONE, COMBINE_MIN, FINISH_NONE)
REDUCTION(ReduceProd, reduce_prod, duals_17, TARE_QUANT_OBSERVE, MAP_NONE, COMBINE_MUL, FINISH_NONE)
REDUCTION(ReduceSum, reduce_sum, duals_12, TARE_QUANT_OBSERVE, MAP_NONE, COMBINE_ADD, FINISH_NONE)
REDUCTION(ReduceSumSquare, reduce_sum_square, duals_17, TARE_QUANT_OBSERVE, MAP_SQUARE, COMBINE_ADD, FINISH_NONE)
