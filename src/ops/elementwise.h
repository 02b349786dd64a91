/* The loops of elementwise ops over all types and shapes: an op brings a formula on spans for each number type
 * (numbers.h), these bring broadcasting, conversion and threads. */
#ifndef TARE_OPS_ELEMENTWISE_H
#define TARE_OPS_ELEMENTWISE_H

#include "ops/numbers.h"
#include "ops/op.h"
#include "ops/spans.h"

/* to[i] = f(from[i]); `to` may be `from`; count <= TARE_NUMBERS_CHUNK. A NULL member: infer() lets no such type by. */
typedef struct tare_unary {
    void (*f32)(const tare_call *call, float *to, const float *from, size_t count);
    double (*f64)(const void *attrs, double real);
    int64_t (*s64)(const void *attrs, int64_t number);
    uint64_t (*u64)(const void *attrs, uint64_t number);
} tare_unary;

/* Output 0 from input 0, of one shape and type. */
tare_status tare_unary_run(const tare_call *call, const tare_unary *unary);

/* to[i] = f(a[i * a_stride], b[i * b_stride]), strides 0 or 1, on arrays of one number type; `to` may be a or b. */
typedef void tare_binary_loop(const tare_call *call, void *to, const void *a, size_t a_stride, const void *b,
                              size_t b_stride, size_t count);
typedef struct tare_binary {
    tare_binary_loop *loop[TARE_NUMBER_COUNT];
    bool to_bool; /* the loops write bytes of 0 and 1, else numbers of their type */
} tare_binary;

/* For ops with FUSES_CLAMP whose run is one of the two below: the clamp becomes the last step of f32 loops. */
tare_status tare_binary_prepare(tare_prepare *prepare, tare_error *err);

/* to = f(a, b), both broadcast to it; a and b have one type. */
void tare_binary_apply(const tare_call *call, const tare_binary *binary, tare_tensor *to, const tare_tensor *a,
                       const tare_tensor *b);
/* Output 0 from inputs 0 and 1, and the clamp of tare_binary_prepare. */
tare_status tare_binary_run(const tare_call *call, const tare_binary *binary);
/* Output 0 from all inputs, one after the other; a single one is copied. */
tare_status tare_binary_fold(const tare_call *call, const tare_binary *binary);

/* Checks that the inputs have one type of the mask and broadcast; output 0 gets the shape and `dtype` (NONE: that of the
 * inputs). */
tare_status tare_infer_elementwise(tare_node *node, unsigned mask, tare_dtype dtype, tare_error *err);

/* Sums, products and quotients of floats and integers (binary.c), for ops made of them. */
extern const tare_binary tare_binary_add, tare_binary_mul, tare_binary_div;

/* An integer divisor that is 0 somewhere is an error. */
tare_status tare_check_divisor(const tare_tensor *divisor, tare_error *err);

/* For loops written as one expression of x and y on a number type: TARE_LOOP(add_s64, int64_t, int64_t, x + y). */
#define TARE_LOOP(name, type, result, expression)                                                                      \
    static void name(const tare_call *call, void *to_, const void *a_, size_t a_stride, const void *b_,                \
                     size_t b_stride, size_t count) {                                                                  \
        (void)call;                                                                                                    \
        result *to = to_;                                                                                              \
        const type *a = a_, *b = b_;                                                                                   \
        for (size_t i = 0; i < count; i++) {                                                                           \
            const type x = a[i * a_stride], y = b[i * b_stride];                                                       \
            to[i] = (result)(expression);                                                                              \
        }                                                                                                              \
    }

#endif
