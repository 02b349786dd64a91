/* Element types. */
#ifndef TARE_GRAPH_DTYPE_H
#define TARE_GRAPH_DTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ORDER: dtype (the table in dtype.c) */
typedef enum tare_dtype {
    TARE_DTYPE_NONE, /* not known */
    TARE_F32,
    TARE_F16,
    TARE_BF16,
    TARE_F64,
    TARE_S8,
    TARE_U8,
    TARE_S16,
    TARE_U16,
    TARE_S32,
    TARE_U32,
    TARE_S64,
    TARE_U64,
    TARE_BOOL, /* a byte, 0 or 1 */
    TARE_S4,   /* two to a byte in files; a byte each once read */
    TARE_U4,
    TARE_STRING, /* const char *; carried, not computed with */
    TARE_DTYPE_COUNT
} tare_dtype;

const char *tare_dtype_name(tare_dtype dtype); /* "f32", "s8", … */
tare_dtype tare_dtype_find(const char *name);  /* TARE_DTYPE_NONE when there is none */
size_t tare_dtype_size(tare_dtype dtype);      /* bytes an element takes in memory */
bool tare_dtype_is_float(tare_dtype dtype);    /* f16 bf16 f32 f64 */
bool tare_dtype_is_integer(tare_dtype dtype);  /* not bool */
int32_t tare_dtype_lowest(tare_dtype code);    /* s4…u16: the code range; s32: INT32_MIN */
int32_t tare_dtype_highest(tare_dtype code);

/* The index-th of numbers that lie in a row; as f64 any type but strings, as s64 any integer or bool (u64 wrapped). */
double tare_dtype_f64_at(tare_dtype dtype, const void *data, size_t index);
int64_t tare_dtype_s64_at(tare_dtype dtype, const void *data, size_t index);

/* IEEE half and bfloat16, rounded to nearest, ties to even. */
float tare_f16_to_f32(uint16_t bits);
uint16_t tare_f32_to_f16(float real);
float tare_bf16_to_f32(uint16_t bits);
uint16_t tare_f32_to_bf16(float real);

#endif
