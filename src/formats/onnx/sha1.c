/* SHA-1 as FIPS 180-4 §6.1 states it. */
#include "formats/onnx/sha1.h"

#include <stdio.h>
#include <string.h>

enum { BLOCK = 64 };

static uint32_t rotate(uint32_t x, unsigned by) { return x << by | x >> (32 - by); }

static uint32_t word_at(const uint8_t *at) {
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | (uint32_t)at[3];
}

/* f_t(b, c, d) + K_t: choose, parity, majority, parity, twenty rounds each. */
static uint32_t mix(int t, uint32_t b, uint32_t c, uint32_t d) {
    if (t < 20) return ((b & c) | (~b & d)) + 0x5a827999u;
    if (t < 40) return (b ^ c ^ d) + 0x6ed9eba1u;
    if (t < 60) return ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdcu;
    return (b ^ c ^ d) + 0xca62c1d6u;
}

static void add_block(uint32_t hash[5], const uint8_t *block) {
    uint32_t w[80], v[5];
    for (int t = 0; t < 16; t++) w[t] = word_at(block + 4 * t);
    for (int t = 16; t < 80; t++) w[t] = rotate(w[t - 3] ^ w[t - 8] ^ w[t - 14] ^ w[t - 16], 1);
    memcpy(v, hash, sizeof v);
    for (int t = 0; t < 80; t++) {
        uint32_t next = rotate(v[0], 5) + mix(t, v[1], v[2], v[3]) + v[4] + w[t];
        memmove(v + 1, v, 4 * sizeof *v);
        v[0] = next;
        v[2] = rotate(v[2], 30);
    }
    for (int i = 0; i < 5; i++) hash[i] += v[i];
}

void tare_sha1_print(char to[TARE_SHA1_TEXT], const uint8_t *bytes, size_t size) {
    uint32_t hash[5] = { 0x67452301u, 0xefcdab89u, 0x98badcfeu, 0x10325476u, 0xc3d2e1f0u };
    size_t whole = size / BLOCK * BLOCK;
    for (size_t i = 0; i < whole; i += BLOCK) add_block(hash, bytes + i);
    /* The rest, a 1 bit, zeros, and the number of bits in eight bytes. */
    uint8_t tail[2 * BLOCK] = { 0 };
    size_t rest = size - whole, length = rest + 9 <= BLOCK ? BLOCK : 2 * BLOCK;
    if (rest) memcpy(tail, bytes + whole, rest);
    tail[rest] = 0x80;
    for (unsigned i = 0; i < 8; i++) tail[length - 1 - i] = (uint8_t)((uint64_t)size * 8 >> 8 * i);
    for (size_t i = 0; i < length; i += BLOCK) add_block(hash, tail + i);
    for (int i = 0; i < 5; i++) snprintf(to + (ptrdiff_t)8 * i, 9, "%08x", hash[i]);
}
