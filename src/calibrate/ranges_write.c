/* The ranges file, written: JSON, a line for each thing seen of a value, numbers exact (docs/formats/ranges.md). */
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "base/file.h"
#include "calibrate/range.h"

static int append(const char *bytes, size_t size, void *context) {
    tare_text_append(context, bytes, size);
    return 0;
}

/* One JSON value, which is stolen: 9 digits tell one f32 from the next. */
static void put(tare_text *text, json_t *value) {
    if (!value || json_dump_callback(value, append, text, JSON_ENCODE_ANY | JSON_REAL_PRECISION(9)))
        text->failed = true;
    json_decref(value);
}

static void put_number(tare_text *text, float number) {
    put(text, isfinite(number) ? json_real((double)number) : json_null());
}

static void put_count(tare_text *text, const char *key, uint64_t count) {
    tare_text_printf(text, ",\n   \"%s\": %" PRIu64, key, count);
}

static void put_extremes(tare_text *text, const char *key, const tare_extreme *list, int count) {
    tare_text_printf(text, ",\n   \"%s\": [", key);
    for (int i = 0; i < count; i++) {
        tare_text_puts(text, i ? ", [" : "[");
        put_number(text, list[i].value);
        tare_text_puts(text, ", ");
        put(text, json_string(list[i].sample));
        tare_text_puts(text, "]");
    }
    tare_text_puts(text, "]");
}

/* Two's complement, the highest digit first. */
static void put_digits(tare_text *text, const tare_sum *sum) {
    for (int i = 5; i >= 0; i--) tare_text_printf(text, "%016" PRIx64, sum->word[i]);
}

static void put_sum(tare_text *text, const char *key, const tare_sum *sum) {
    tare_text_printf(text, ",\n   \"%s\": \"", key);
    put_digits(text, sum);
    tare_text_puts(text, "\"");
}

static void put_channels(tare_text *text, const char *key, const float *numbers, size_t count) {
    tare_text_printf(text, ",\n   \"%s\": [", key);
    for (size_t i = 0; i < count; i++) {
        if (i) tare_text_puts(text, ", ");
        put_number(text, numbers[i]);
    }
    tare_text_puts(text, "]");
}

static void put_sums(tare_text *text, const char *key, const tare_sum *sums, size_t count) {
    tare_text_printf(text, ",\n   \"%s\": [", key);
    for (size_t i = 0; i < count; i++) {
        tare_text_puts(text, i ? ", \"" : "\"");
        put_digits(text, &sums[i]);
        tare_text_puts(text, "\"");
    }
    tare_text_puts(text, "]");
}

/* [exponent, first bin, "counts from there to the last that is not 0"] */
static void put_page(tare_text *text, int exponent, const uint64_t *bins) {
    int first = 0, last = TARE_RANGE_BINS - 1;
    while (!bins[first]) first++;
    while (!bins[last]) last--;
    tare_text_printf(text, "[%d, %d, \"", exponent - 127, first);
    for (int i = first; i <= last; i++) tare_text_printf(text, "%s%" PRIu64, i > first ? " " : "", bins[i]);
    tare_text_puts(text, "\"]");
}

static void put_pages(tare_text *text, const char *key, uint64_t *const *pages) {
    bool any = false;
    tare_text_printf(text, ",\n   \"%s\": [", key);
    for (int exponent = 0; exponent < TARE_RANGE_BINADES / 2; exponent++) {
        if (!pages[exponent]) continue;
        tare_text_puts(text, any ? ",\n    " : "\n    ");
        put_page(text, exponent, pages[exponent]);
        any = true;
    }
    tare_text_puts(text, "]");
}

static void put_range(tare_text *text, const tare_range *range) {
    tare_text_puts(text, "  {\"name\": ");
    put(text, json_string(range->name));
    put_count(text, "count", range->count);
    put_count(text, "nan", range->nans);
    put_count(text, "positive_infinity", range->positive_infinities);
    put_count(text, "negative_infinity", range->negative_infinities);
    tare_text_puts(text, ",\n   \"nonfinite_sample\": ");
    put(text, range->nonfinite_sample ? json_string(range->nonfinite_sample) : json_null());
    put_count(text, "samples", range->samples);
    tare_text_puts(text, ",\n   \"min\": ");
    put_number(text, range->min);
    tare_text_puts(text, ",\n   \"max\": ");
    put_number(text, range->max);
    put_extremes(text, "lowest", range->lowest, range->extreme_count);
    put_extremes(text, "highest", range->highest, range->extreme_count);
    put_sum(text, "sum_of_minima", &range->sample_min);
    put_sum(text, "sum_of_maxima", &range->sample_max);
    put_channels(text, "channel_min", range->channel_min, range->channels);
    put_channels(text, "channel_max", range->channel_max, range->channels);
    put_sums(text, "channel_sums", range->channel_sum, range->summed);
    put_pages(text, "negative", range->page + TARE_RANGE_BINADES / 2);
    put_pages(text, "positive", range->page);
    tare_text_puts(text, "}");
}

void tare_ranges_print(const tare_ranges *ranges, tare_text *text) {
    tare_text_printf(text, "{\"schema\": \"tare-ranges/1\",\n \"model\": \"%016" PRIx64 "\",\n \"samples\": %" PRIu64,
                     ranges->model_hash, ranges->samples);
    tare_text_printf(text, ",\n \"synthetic\": %s,\n \"values\": [\n", ranges->synthetic ? "true" : "false");
    for (size_t i = 0; i < ranges->list.count; i++) {
        if (i) tare_text_puts(text, ",\n");
        put_range(text, ranges->list.at[i]);
    }
    tare_text_puts(text, "]}\n");
}

/* What is on disk must say the same as what is in memory. */
static tare_status read_back(const char *path, const tare_text *text, tare_arena *arena, tare_error *err) {
    tare_ranges *back;
    tare_text again = { .arena = arena };
    TARE_TRY(tare_ranges_read(&back, path, err));
    tare_ranges_print(back, &again);
    tare_ranges_free(back);
    if (again.failed) return tare_fail_memory(err, text->length);
    if (again.length != text->length || memcmp(again.at, text->at, text->length) != 0)
        return tare_fail(err, TARE_E_IO, "%s: does not hold what was written", path);
    return TARE_OK;
}

static tare_status write_text(const tare_text *text, const char *path, tare_arena *arena, tare_error *err) {
    tare_writer *writer;
    const char *temporary;
    TARE_TRY(tare_writer_open(&writer, path, err));
    tare_status status = tare_writer_write(writer, text->at, text->length, err);
    if (status == TARE_OK) status = tare_writer_sync(writer, &temporary, err);
    if (status == TARE_OK) status = read_back(temporary, text, arena, err);
    if (status == TARE_OK) return tare_writer_commit(writer, err);
    tare_writer_abandon(writer);
    return status;
}

tare_status tare_ranges_write(const tare_ranges *ranges, const char *path, tare_error *err) {
    tare_arena *arena = tare_arena_new();
    if (!arena) return tare_fail_memory(err, 0);
    tare_text text = { .arena = arena };
    tare_ranges_print(ranges, &text);
    tare_status status = TARE_OK;
    if (text.failed)
        status = tare_fail_memory(err, text.length);
    else if (text.length > TARE_RANGES_FILE_MAX)
        status = tare_fail(err, TARE_E_LIMIT, "%s: would be %zu bytes, more than the %d that are read again", path,
                           text.length, TARE_RANGES_FILE_MAX);
    if (status == TARE_OK) status = write_text(&text, path, arena, err);
    tare_arena_free(arena);
    return status;
}
