/* The four number types that arithmetic ops compute in: what a tensor holds is loaded into its number type, computed,
 * and stored back. f16 and bf16 compute in f32 and round once; small integers in s64 and wrap when stored. */
#ifndef TARE_OPS_NUMBERS_H
#define TARE_OPS_NUMBERS_H

#include "graph/graph.h"

typedef enum tare_number {
    TARE_NUMBER_F32,
    TARE_NUMBER_F64,
    TARE_NUMBER_S64,
    TARE_NUMBER_U64,
    TARE_NUMBER_COUNT
} tare_number;

enum { TARE_NUMBERS_CHUNK = 512 /* numbers that are loaded at once: a buffer of them fits on the stack and in L1 */ };

/* A buffer for a chunk in any of them. */
typedef union tare_numbers {
    float f32[TARE_NUMBERS_CHUNK];
    double f64[TARE_NUMBERS_CHUNK];
    int64_t s64[TARE_NUMBERS_CHUNK];
    uint64_t u64[TARE_NUMBERS_CHUNK];
} tare_numbers;

tare_number tare_number_of(tare_dtype dtype);
/* Is the type stored as its number type is? Then loading and storing may be left out. */
bool tare_number_is_own(tare_dtype dtype);

/* `count` elements, from element `at` of the tensor's data on. */
void tare_numbers_load(void *to, tare_dtype dtype, const void *data, int64_t at, size_t count);
void tare_numbers_store(tare_dtype dtype, void *data, int64_t at, const void *from, size_t count);

/* Any real type to and from f32 (integers are truncated and saturate, NaN gives 0). */
void tare_numbers_to_f32(float *to, tare_dtype dtype, const void *data, int64_t at, size_t count);
void tare_numbers_from_f32(tare_dtype dtype, void *data, int64_t at, const float *from, size_t count);

/* Where element `at` of a tensor lies. */
static inline void *tare_element(const tare_tensor *tensor, int64_t at) {
    return (char *)tensor->data + (size_t)at * tare_dtype_size(tensor->dtype);
}

#endif
