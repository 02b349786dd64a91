/* What the rows of targets share: loops of ops on codes, with a place where each target's own arithmetic goes. Codes of
 * either sign lie in a byte. */
#ifndef TARE_TARGETS_CODES_H
#define TARE_TARGETS_CODES_H

#include "kernels/requant.h"
#include "ops/spans.h"
#include "ops/window.h"
#include "targets/target.h"

/* The code in a byte. */
static inline int32_t tare_code_of(tare_dtype type, uint8_t byte) { return type == TARE_S8 ? (int8_t)byte : byte; }
static inline int32_t tare_quant_lowest(const tare_quant *quant) {
    return tare_dtype_lowest(quant->code) + (quant->narrow ? 1 : 0);
}

/* Sets zero point, lo and hi for an output, its clamp in reals with it: a bound is z + round(bound / scale), ties away
 * from zero (TFLite's CalculateActivationRangeQuantized). */
void tare_requant_start(tare_requant *requant, tare_requant_kind kind, const tare_quant *output, float lo, float hi);
/* The arrays that the kind needs, for `count` channels. */
tare_status tare_requant_alloc(tare_requant *requant, size_t count, tare_arena *arena, tare_error *err);
/* What a channel's sums are multiplied by: finite, > 0 and below TARE_REQUANT_MOST; where the kind is SHIFT, a power of two. */
void tare_requant_set(tare_requant *requant, size_t channel, double ratio);
#define TARE_REQUANT_MOST 0x1p30 /* past it no code of a sum but 0 is in range */

/* Reads a Relu or a Clip with constant bounds; false: it is neither. */
bool tare_activation_read(const tare_node *activation, double *lo, double *hi);

/* Do equal codes mean equal numbers? Both have one scale. */
bool tare_codes_are_alike(const tare_quant *a, const tare_quant *b);

/* ---- conv_codes.c: Conv, channels-last ---- */

typedef struct tare_conv_codes {
    tare_window window;
    int64_t group, pixels, tiles; /* pixels of the output, all images */
    size_t channels, outputs, taps;
    tare_gemm_codes_fn *product;
    int32_t zero_point;
    const int16_t *weights; /* group by group, tap by tap, input channel by channel: one for each output of the group */
    const int32_t *bias;    /* NULL: none */
    const uint8_t *padding; /* a pixel of zero points */
    size_t sums, scratch;   /* bytes: before a thread's sums, and of a thread in all */
    tare_requant requant;
} tare_conv_codes;

/* s_x · s_w of a channel, in f32. */
float tare_conv_product_scale(const tare_int_node *n, size_t channel);
/* What a channel's sums are multiplied by. */
typedef double tare_conv_ratio(const tare_int_node *n, size_t channel);
/* s_x · s_w / s_y, in f64. */
double tare_conv_ratio_f64(const tare_int_node *n, size_t channel);
/* Constant weights of 8 bits, with a scale per output channel or one; bias, if any, constant s32 codes. */
const char *tare_conv_codes_refuses(const tare_int_node *n);
/* Is the bias's scale further from s_x · s_w than this? Its codes are taken as if it were that. */
const char *tare_conv_bias_refuses(const tare_int_node *n, float absolute, float relative);
/* Weights without zero points. */
const char *tare_conv_weight_refuses(const tare_int_node *n);
tare_status tare_conv_codes_prepare(const tare_int_node *n, tare_requant_kind kind, tare_conv_ratio *ratio,
                                    tare_prepare *prepare, tare_error *err);
tare_status tare_conv_codes_run(const tare_call *call, tare_error *err);

/* ---- product_codes.c: MatMul and Gemm ---- */

/* A second input of 8 bits, a constant with a scale per column or one, else with one; a bias as Conv's. */
const char *tare_product_codes_refuses(const tare_int_node *n);
tare_status tare_product_codes_prepare(const tare_int_node *n, tare_requant_kind kind, tare_conv_ratio *ratio,
                                       tare_prepare *prepare, tare_error *err);
tare_status tare_product_codes_run(const tare_call *call, tare_error *err);

/* ---- sum_codes.c: Add, and Add by two tables of s32 ---- */

/* Runs `work` over the two broadcast operands; its context is a tare_pair_job. */
typedef struct tare_pair_job {
    const tare_call *call;
    const tare_spans *spans;
} tare_pair_job;
void tare_pair_codes_run(const tare_call *call, tare_span_work *work);

typedef struct tare_sum_codes {
    int32_t a[256], b[256]; /* by byte; the target's to fill, and so is the one channel of */
    tare_requant requant;   /* of a + b */
} tare_sum_codes;
tare_status tare_sum_codes_prepare(tare_sum_codes **out, tare_requant_kind kind, const tare_int_node *n,
                                   tare_prepare *prepare, tare_error *err);
tare_status tare_sum_codes_run(const tare_call *call, tare_error *err);

/* ---- join_codes.c: Concat by a table for each input ---- */

typedef struct tare_join_codes {
    bool copies; /* equal codes: no table */
    uint8_t table[256];
} tare_join_codes;
/* An entry for each input, `copies` set where scale and zero point are the output's. */
tare_status tare_join_codes_prepare(tare_join_codes **out, const tare_int_node *n, tare_prepare *prepare,
                                    tare_error *err);
tare_status tare_join_codes_run(const tare_call *call, tare_error *err);

/* ---- table_codes.c: functions of one number ---- */

/* The numbers of 256 codes, by byte; the codes of 256 numbers; and Q(DQ(code)) from one scale to another. */
void tare_dequantize_bytes(float *numbers, const tare_quant *quant, const tare_kernels *kernels);
void tare_quantize_bytes(uint8_t *table, const float *numbers, const tare_quant *quant, const tare_kernels *kernels);
void tare_requantize_bytes(uint8_t *table, const tare_quant *from, const tare_quant *to, const tare_kernels *kernels);
/* Inputs beside the data that are no single constant numbers. */
const char *tare_table_codes_refuses(const tare_int_node *n);
/* A table of the node's own f32 loop between DQ and Q. */
tare_status tare_table_codes_prepare(const tare_int_node *n, tare_prepare *prepare, tare_error *err);
tare_status tare_table_codes_run(const tare_call *call, tare_error *err);

/* ---- row_codes.c: Softmax and the like, row by row along the node's `axis` ---- */

/* A row of `count` codes, `stride` apart; `to` may be `from`. */
typedef void tare_code_row(const void *state, uint8_t *to, const uint8_t *from, int64_t count, int64_t stride);
void tare_code_rows_run(const tare_call *call, tare_code_row *row);

#endif
