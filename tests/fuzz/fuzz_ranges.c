/* Ranges files: read or refused; what is read is written, read and written again to the same bytes, and adds up. */
#include <stdlib.h>
#include <string.h>

#include "calibrate/range.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Its text, read again and printed again, must be the same. */
static void check_text(const tare_ranges *ranges, tare_arena *arena) {
    tare_text once = { .arena = arena }, again = { .arena = arena };
    tare_error err = { 0 };
    tare_ranges *back;
    tare_ranges_print(ranges, &once);
    if (once.failed) return;
    tare_status status = tare_ranges_parse(&back, once.at, once.length, &err);
    if (status == TARE_E_LIMIT) return;
    if (status != TARE_OK) abort();
    tare_ranges_print(back, &again);
    if (!again.failed && strcmp(once.at, again.at) != 0) abort();
    status = tare_ranges_merge(back, ranges, &err);
    if (status != TARE_OK && status != TARE_E_LIMIT) abort();
    tare_ranges_free(back);
}

/* Every method must find a range of finite numbers that holds 0. */
static void check_methods(const tare_ranges *ranges) {
    for (size_t i = 0; i < tare_ranges_count(ranges) && i < 8; i++) {
        const tare_range *range = tare_ranges_at(ranges, i);
        for (size_t m = 0; range->samples && m < tare_method_count(); m++) {
            const tare_range_request request = { .code = TARE_U8, .percentile = 99.9 };
            float lo, hi;
            tare_method_at(m)->choose(range, &request, &lo, &hi);
            if (!(lo <= 0 && hi >= 0 && hi - hi == 0 && lo - lo == 0)) abort();
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    tare_error err = { 0 };
    tare_ranges *ranges;
    tare_arena *arena = tare_arena_new();
    if (arena && tare_ranges_parse(&ranges, (const char *)data, size, &err) == TARE_OK) {
        check_text(ranges, arena);
        check_methods(ranges);
        tare_ranges_free(ranges);
    }
    tare_arena_free(arena);
    return 0;
}
