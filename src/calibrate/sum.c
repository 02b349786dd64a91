/* A sum in fixed point: adding is exact, so its order does not matter. Two's complement over 6 words, word 0 lowest. */
#include <math.h>
#include <string.h>

#include "calibrate/calibrate.h"

enum { WORDS = 6, LOWEST_BIT = -192 };

/* Adds `part` << (64 * at), with carry upward; the sign of a negative summand is extended by its caller. */
static void add_words(tare_sum *sum, const uint64_t part[WORDS]) {
    unsigned carry = 0;
    for (int i = 0; i < WORDS; i++) {
        uint64_t a = sum->word[i] + carry;
        carry = a < carry;
        sum->word[i] = a + part[i];
        carry |= sum->word[i] < a;
    }
}

static void negate(uint64_t part[WORDS]) {
    bool carry = true;
    for (int i = 0; i < WORDS; i++) {
        part[i] = ~part[i] + carry;
        carry = carry && part[i] == 0;
    }
}

void tare_sum_add(tare_sum *sum, double number) {
    int exponent;
    double fraction = frexp(fabs(number), &exponent); /* 0.5 <= fraction < 1 */
    uint64_t mantissa = (uint64_t)ldexp(fraction, 53);
    int shift = exponent - 53 - LOWEST_BIT;
    uint64_t part[WORDS] = { 0 };
    if (shift <= -64 || !mantissa) return;
    if (shift < 0) mantissa >>= -shift, shift = 0;
    if (shift > 64 * WORDS - 64) return; /* past 2^128: no f32 sum comes here */
    part[shift / 64] = mantissa << shift % 64;
    if (shift % 64 && shift / 64 + 1 < WORDS) part[shift / 64 + 1] = mantissa >> (64 - shift % 64);
    if (number < 0) negate(part);
    add_words(sum, part);
}

void tare_sum_merge(tare_sum *sum, const tare_sum *other) { add_words(sum, other->word); }

double tare_sum_value(const tare_sum *sum) {
    uint64_t part[WORDS];
    memcpy(part, sum->word, sizeof part);
    bool negative = part[WORDS - 1] >> 63;
    if (negative) negate(part);
    double value = 0;
    for (int i = WORDS - 1; i >= 0; i--) value += ldexp((double)part[i], 64 * i + LOWEST_BIT);
    return negative ? -value : value;
}
