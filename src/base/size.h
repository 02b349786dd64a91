/* Checked arithmetic on sizes that come from files. Raw + and * on such sizes are forbidden elsewhere. */
#ifndef TARE_BASE_SIZE_H
#define TARE_BASE_SIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline bool tare_size_add(size_t a, size_t b, size_t *sum) { return !__builtin_add_overflow(a, b, sum); }
static inline bool tare_size_mul(size_t a, size_t b, size_t *product) { return !__builtin_mul_overflow(a, b, product); }
static inline bool tare_i64_add(int64_t a, int64_t b, int64_t *sum) { return !__builtin_add_overflow(a, b, sum); }
static inline bool tare_i64_sub(int64_t a, int64_t b, int64_t *rest) { return !__builtin_sub_overflow(a, b, rest); }
static inline bool tare_i64_mul(int64_t a, int64_t b, int64_t *product) {
    return !__builtin_mul_overflow(a, b, product);
}

/* Rounds up to a multiple of `alignment`, a power of two; false when that does not fit. */
static inline bool tare_size_align(size_t size, size_t alignment, size_t *aligned) {
    if (!tare_size_add(size, alignment - 1, aligned)) return false;
    *aligned &= ~(alignment - 1);
    return true;
}

/* Does the slice [offset, offset + length) lie inside `size` bytes? */
static inline bool tare_slice_fits(size_t size, size_t offset, size_t length) {
    return length <= size && offset <= size - length;
}

#endif
