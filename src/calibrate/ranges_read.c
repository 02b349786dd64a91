/* The ranges file, read: hostile, so every count, page, channel and sum is checked against the others
 * (docs/formats/ranges.md). jansson makes the tree; its size is bounded before. */
#include <float.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "calibrate/range.h"

static const char *const root_keys[] = { "schema", "model", "samples", "synthetic", "values", NULL };
static const char *const range_keys[] = { "name",
                                          "count",
                                          "nan",
                                          "positive_infinity",
                                          "negative_infinity",
                                          "nonfinite_sample",
                                          "samples",
                                          "min",
                                          "max",
                                          "lowest",
                                          "highest",
                                          "sum_of_minima",
                                          "sum_of_maxima",
                                          "channel_min",
                                          "channel_max",
                                          "channel_sums",
                                          "negative",
                                          "positive",
                                          NULL };

/* Channels of one value. */
static const size_t channels_most = 1 << 20;

typedef struct reader {
    tare_ranges *ranges;
    tare_error *err;
} reader;

/* ---- pieces of JSON ---- */

static tare_status check_keys(const reader *r, json_t *object, const char *const *keys) {
    const char *key;
    json_t *value;
    if (!json_is_object(object)) return tare_fail(r->err, TARE_E_MALFORMED, "is no JSON object");
    json_object_foreach(object, key, value) {
        size_t i = 0;
        while (keys[i] && strcmp(keys[i], key) != 0) i++;
        if (!keys[i]) return tare_fail(r->err, TARE_E_MALFORMED, "'%.64s' is no key of a ranges file", key);
    }
    for (size_t i = 0; keys[i]; i++)
        if (!json_object_get(object, keys[i])) return tare_fail(r->err, TARE_E_MALFORMED, "'%s' is missing", keys[i]);
    return TARE_OK;
}

static tare_status get_count(const reader *r, const json_t *object, const char *key, uint64_t *count) {
    const json_t *value = json_object_get(object, key);
    if (!json_is_integer(value)) return tare_fail(r->err, TARE_E_MALFORMED, "'%s' is no whole number", key);
    const json_int_t number = json_integer_value(value);
    if (number < 0 || (uint64_t)number > TARE_RANGE_COUNT_MAX)
        return tare_fail(r->err, TARE_E_MALFORMED, "'%s' is %lld, not in 0…2^62", key, (long long)number);
    *count = (uint64_t)number;
    return TARE_OK;
}

static tare_status get_float(const reader *r, const json_t *value, const char *what, float *number) {
    if (!json_is_number(value)) return tare_fail(r->err, TARE_E_MALFORMED, "'%s' holds what is no number", what);
    const double got = json_number_value(value);
    if (!(fabs(got) <= (double)FLT_MAX))
        return tare_fail(r->err, TARE_E_MALFORMED, "'%s' holds %.9g, which is no finite f32", what, got);
    *number = (float)got + 0.0f; /* -0 is 0 */
    return TARE_OK;
}

static tare_status get_text(const reader *r, const json_t *value, const char *what, const char **text) {
    if (!json_is_string(value) || !json_string_length(value))
        return tare_fail(r->err, TARE_E_MALFORMED, "'%s' holds what is no text", what);
    *text = tare_arena_strdup(r->ranges->arena, json_string_value(value));
    return *text ? TARE_OK : tare_fail_memory(r->err, json_string_length(value));
}

static tare_status get_array(const reader *r, const json_t *object, const char *key, size_t most, json_t **array) {
    *array = json_object_get(object, key);
    if (!json_is_array(*array)) return tare_fail(r->err, TARE_E_MALFORMED, "'%s' is no list", key);
    if (json_array_size(*array) > most)
        return tare_fail(r->err, TARE_E_MALFORMED, "'%s' has %zu items, at most %zu are possible", key,
                         json_array_size(*array), most);
    return TARE_OK;
}

/* Lower case hexadecimal digits, 16 a word, the highest word first. */
static tare_status get_words(const reader *r, const json_t *value, const char *key, uint64_t *words, size_t count) {
    const char *text = json_string_value(value);
    if (!text || json_string_length(value) != 16 * count || strspn(text, "0123456789abcdef") != 16 * count)
        return tare_fail(r->err, TARE_E_MALFORMED, "'%s' is not %zu hexadecimal digits", key, 16 * count);
    for (size_t i = 0; i < 16 * count; i++) {
        uint64_t *word = &words[count - 1 - i / 16];
        *word = *word << 4 | (uint64_t)(text[i] <= '9' ? text[i] - '0' : text[i] - 'a' + 10);
    }
    return TARE_OK;
}

/* ---- a value's parts ---- */

static bool is_before(const tare_extreme *a, const tare_extreme *b, float sign) {
    if (a->value != b->value) return sign * a->value > sign * b->value;
    return strcmp(a->sample, b->sample) <= 0;
}

/* The most extreme first; as many as there are samples, four at most. */
static tare_status read_extremes(const reader *r, const json_t *object, const char *key, tare_range *range,
                                 tare_extreme *list, float sign) {
    json_t *array;
    TARE_TRY(get_array(r, object, key, TARE_RANGE_EXTREMES, &array));
    const size_t wanted = range->samples < TARE_RANGE_EXTREMES ? (size_t)range->samples : TARE_RANGE_EXTREMES;
    if (json_array_size(array) != wanted)
        return tare_fail(r->err, TARE_E_MALFORMED, "'%s' has %zu items, %" PRIu64 " samples give %zu", key,
                         json_array_size(array), range->samples, wanted);
    for (size_t i = 0; i < wanted; i++) {
        const json_t *pair = json_array_get(array, i);
        if (json_array_size(pair) != 2)
            return tare_fail(r->err, TARE_E_MALFORMED, "'%s': item %zu is no [number, sample]", key, i);
        TARE_TRY(get_float(r, json_array_get(pair, 0), key, &list[i].value));
        TARE_TRY(get_text(r, json_array_get(pair, 1), key, &list[i].sample));
        if (i && !is_before(&list[i - 1], &list[i], sign))
            return tare_fail(r->err, TARE_E_MALFORMED, "'%s': item %zu is out of order", key, i);
    }
    range->extreme_count = (int)wanted;
    return TARE_OK;
}

static tare_status read_end(const reader *r, const json_t *object, const char *key, const tare_range *range,
                            float *end) {
    const json_t *value = json_object_get(object, key);
    if (json_is_null(value) == (range->samples > 0))
        return tare_fail(r->err, TARE_E_MALFORMED, "'%s' must be %s when %" PRIu64 " samples had finite numbers", key,
                         range->samples ? "a number" : "null", range->samples);
    return range->samples ? get_float(r, value, key, end) : TARE_OK;
}

static tare_status read_channel_side(const reader *r, const char *key, const json_t *array, float *numbers) {
    for (size_t i = 0; i < json_array_size(array); i++) {
        const json_t *number = json_array_get(array, i);
        if (!json_is_null(number)) TARE_TRY(get_float(r, number, key, &numbers[i]));
    }
    return TARE_OK;
}

static tare_status read_channels(const reader *r, const json_t *object, tare_range *range) {
    json_t *low, *high;
    TARE_TRY(get_array(r, object, "channel_min", channels_most, &low));
    TARE_TRY(get_array(r, object, "channel_max", channels_most, &high));
    const size_t count = json_array_size(low);
    if (json_array_size(high) != count)
        return tare_fail(r->err, TARE_E_MALFORMED, "'channel_min' has %zu items, 'channel_max' %zu", count,
                         json_array_size(high));
    if (!count) return TARE_OK;
    TARE_TRY(tare_range_want_channels(range, count, r->ranges->arena, r->err));
    TARE_TRY(read_channel_side(r, "channel_min", low, range->channel_min));
    TARE_TRY(read_channel_side(r, "channel_max", high, range->channel_max));
    for (size_t i = 0; i < count; i++) {
        const float lo = range->channel_min[i], hi = range->channel_max[i];
        const bool is_empty = isinf(lo) && isinf(hi);
        if (!is_empty && !(lo <= hi && lo >= range->min && hi <= range->max))
            return tare_fail(r->err, TARE_E_MALFORMED, "channel %zu spans [%.9g, %.9g], the value [%.9g, %.9g]", i,
                             (double)lo, (double)hi, (double)range->min, (double)range->max);
    }
    return TARE_OK;
}

/* ---- counts ---- */

/* Decimal numbers with one space between them; *sum stays below 2^62. */
static bool parse_bins(const char *text, uint64_t *bins, size_t room, uint64_t *sum) {
    size_t i = 0;
    for (; *text && i < room; i++) {
        if (*text < '0' || *text > '9') return false;
        for (; *text >= '0' && *text <= '9'; text++) {
            if (bins[i] > TARE_RANGE_COUNT_MAX / 16) return false;
            bins[i] = bins[i] * 10 + (uint64_t)(*text - '0');
        }
        *sum += bins[i];
        if (*sum > TARE_RANGE_COUNT_MAX) return false;
        if (*text == ' ' && text[1]) text++;
    }
    return !*text && i > 0 && bins[0] && bins[i - 1];
}

static tare_status read_page(const reader *r, const json_t *page, tare_range *range, int sign, int *last,
                             uint64_t *sum) {
    const json_t *exponent = json_array_get(page, 0), *first = json_array_get(page, 1);
    const char *counts = json_string_value(json_array_get(page, 2));
    if (json_array_size(page) != 3 || !json_is_integer(exponent) || !json_is_integer(first) || !counts)
        return tare_fail(r->err, TARE_E_MALFORMED, "is no [exponent, bin, \"counts\"]");
    const json_int_t binade = json_integer_value(exponent) + 127, bin = json_integer_value(first);
    if (binade <= *last || binade > 254)
        return tare_fail(r->err, TARE_E_MALFORMED, "exponent %lld is not in %d…127, or out of order",
                         (long long)json_integer_value(exponent), *last + 1 - 127);
    if (bin < 0 || bin >= TARE_RANGE_BINS)
        return tare_fail(r->err, TARE_E_MALFORMED, "bin %lld is not in 0…%d", (long long)bin, TARE_RANGE_BINS - 1);
    uint64_t *bins = tare_arena_alloc(r->ranges->arena, TARE_RANGE_BINS, sizeof *bins);
    if (!bins) return tare_fail_memory(r->err, TARE_RANGE_BINS * sizeof *bins);
    if (!parse_bins(counts, bins + bin, TARE_RANGE_BINS - (size_t)bin, sum))
        return tare_fail(r->err, TARE_E_MALFORMED,
                         "counts from bin %lld are not 1 to %lld whole numbers below 2^58 with single spaces between, "
                         "the first and last above 0, or all together more than 2^62",
                         (long long)bin, (long long)(TARE_RANGE_BINS - bin));
    range->page[sign * 256 + binade] = bins;
    *last = (int)binade;
    return TARE_OK;
}

static tare_status read_pages(const reader *r, const json_t *object, const char *key, tare_range *range, int sign,
                              uint64_t *sum) {
    json_t *pages;
    int last = -1;
    TARE_TRY(get_array(r, object, key, 255, &pages));
    for (size_t i = 0; i < json_array_size(pages); i++)
        if (read_page(r, json_array_get(pages, i), range, sign, &last, sum) != TARE_OK)
            return tare_within(r->err, "'%s': page %zu", key, i);
    return TARE_OK;
}

/* A number's bin counted along the real line: both zeros are 0, the bins above and below 1 and -1, … */
static int place_of(float number) {
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    const int magnitude = (int)(bits >> 16 & 0x7fff);
    return bits >> 31 ? -magnitude : magnitude;
}

static void find_ends(const tare_range *range, int *lowest, int *highest) {
    *lowest = INT32_MAX, *highest = INT32_MIN;
    for (int binade = 0; binade < TARE_RANGE_BINADES; binade++)
        for (int i = 0; range->page[binade] && i < TARE_RANGE_BINS; i++) {
            const int magnitude = (binade & 255) * TARE_RANGE_BINS + i;
            const int place = binade < 256 ? magnitude : -magnitude;
            if (!range->page[binade][i]) continue;
            if (place < *lowest) *lowest = place;
            if (place > *highest) *highest = place;
        }
}

/* Numbers counted in the bin of this one; a bin of zeros has two pages. */
static uint64_t count_at(const tare_range *range, float number) {
    const int place = place_of(number), magnitude = place < 0 ? -place : place;
    const int binade = magnitude / TARE_RANGE_BINS, bin = magnitude % TARE_RANGE_BINS;
    if (place == 0) return range->zeros;
    const uint64_t *page = range->page[(place < 0) * 256 + binade];
    return page ? page[bin] : 0;
}

/* Every extreme is one of the numbers that were counted. */
static tare_status check_extremes(const reader *r, const tare_range *range, const char *key, const tare_extreme *list) {
    const uint64_t count = range->samples < TARE_RANGE_EXTREMES ? range->samples : TARE_RANGE_EXTREMES;
    for (uint64_t i = 0; i < count; i++) {
        const float number = list[i].value;
        if (number < range->min || number > range->max)
            return tare_fail(r->err, TARE_E_MALFORMED, "'%s': item %" PRIu64 " is %.9g, not in %.9g…%.9g", key, i,
                             (double)number, (double)range->min, (double)range->max);
        if (!count_at(range, number))
            return tare_fail(r->err, TARE_E_MALFORMED, "'%s': item %" PRIu64 " is %.9g, where nothing is counted", key,
                             i, (double)number);
    }
    return TARE_OK;
}

/* The mean of so many extremes lies between the least and the greatest of all numbers. */
static bool is_plausible(const tare_sum *sum, const tare_range *range) {
    const double mean = tare_sum_value(sum) / (double)range->samples;
    const double slack = 1e-12 * fmax(fabs((double)range->min), fabs((double)range->max));
    return mean >= (double)range->min - slack && mean <= (double)range->max + slack;
}

static tare_status check_counts(const reader *r, tare_range *range, uint64_t finite) {
    const uint64_t others = range->nans + range->positive_infinities + range->negative_infinities;
    if (finite + others != range->count || others > TARE_RANGE_COUNT_MAX)
        return tare_fail(r->err, TARE_E_MALFORMED,
                         "counts are %" PRIu64 " finite and %" PRIu64 " others, 'count' is %" PRIu64, finite, others,
                         range->count);
    if ((others > 0) != (range->nonfinite_sample != NULL))
        return tare_fail(r->err, TARE_E_MALFORMED, "%" PRIu64 " numbers are not finite, 'nonfinite_sample' is %s",
                         others, range->nonfinite_sample ? "given" : "null");
    if ((finite > 0) != (range->samples > 0) || range->samples > finite || range->samples > r->ranges->samples)
        return tare_fail(r->err, TARE_E_MALFORMED,
                         "'samples' is %" PRIu64 " of %" PRIu64 ", with %" PRIu64 " finite numbers", range->samples,
                         r->ranges->samples, finite);
    return TARE_OK;
}

static tare_status check_ends(const reader *r, const tare_range *range) {
    int lowest, highest;
    if (!range->samples) {
        for (int i = 0; i < 6; i++)
            if (range->sample_min.word[i] || range->sample_max.word[i])
                return tare_fail(r->err, TARE_E_MALFORMED, "sums of extremes of no samples are not 0");
        return TARE_OK;
    }
    find_ends(range, &lowest, &highest);
    if (place_of(range->min) != lowest || place_of(range->max) != highest || range->min > range->max)
        return tare_fail(r->err, TARE_E_MALFORMED, "'min' %.9g or 'max' %.9g is not where the counts end",
                         (double)range->min, (double)range->max);
    if (range->lowest[0].value != range->min || range->highest[0].value != range->max)
        return tare_fail(r->err, TARE_E_MALFORMED,
                         "'lowest' or 'highest' begins with another number than 'min' or 'max'");
    TARE_TRY(check_extremes(r, range, "lowest", range->lowest));
    TARE_TRY(check_extremes(r, range, "highest", range->highest));
    if (!is_plausible(&range->sample_min, range) || !is_plausible(&range->sample_max, range))
        return tare_fail(r->err, TARE_E_MALFORMED,
                         "'sum_of_minima' or 'sum_of_maxima' is not between %" PRIu64 " times 'min' and 'max'",
                         range->samples);
    return TARE_OK;
}

/* As many as divide the count; the mean of what is finite of a channel, others taken for 0, lies between the extremes and 0. */
static tare_status read_sums(const reader *r, const json_t *object, tare_range *range) {
    static const char key[] = "channel_sums";
    json_t *array;
    TARE_TRY(get_array(r, object, key, channels_most, &array));
    const size_t count = json_array_size(array);
    if (!count) return TARE_OK;
    if (range->count % count)
        return tare_fail(r->err, TARE_E_MALFORMED, "'%s' has %zu items, which do not divide %" PRIu64 " numbers", key,
                         count, range->count);
    TARE_TRY(tare_range_want_sums(range, count, r->ranges->arena, r->err));
    const double low = fmin((double)range->min, 0), high = fmax((double)range->max, 0);
    for (size_t i = 0; i < count; i++) {
        TARE_TRY(get_words(r, json_array_get(array, i), key, range->channel_sum[i].word, 6));
        const double mean = tare_range_channel_mean(range, i), slack = 1e-9 * fmax(-low, high);
        if (!(range->samples ? mean >= low - slack && mean <= high + slack
                             : tare_sum_value(&range->channel_sum[i]) == 0))
            return tare_fail(r->err, TARE_E_MALFORMED, "'%s': item %zu is the sum of no such numbers", key, i);
    }
    return TARE_OK;
}

/* ---- */

static tare_status fill_range(const reader *r, json_t *object, tare_range *range) {
    const json_t *sample = json_object_get(object, "nonfinite_sample");
    uint64_t finite = 0;
    TARE_TRY(get_count(r, object, "count", &range->count));
    TARE_TRY(get_count(r, object, "nan", &range->nans));
    TARE_TRY(get_count(r, object, "positive_infinity", &range->positive_infinities));
    TARE_TRY(get_count(r, object, "negative_infinity", &range->negative_infinities));
    TARE_TRY(get_count(r, object, "samples", &range->samples));
    if (!json_is_null(sample)) TARE_TRY(get_text(r, sample, "nonfinite_sample", &range->nonfinite_sample));
    TARE_TRY(read_pages(r, object, "positive", range, 0, &finite));
    TARE_TRY(read_pages(r, object, "negative", range, 1, &finite));
    range->zeros = (range->page[0] ? range->page[0][0] : 0) + (range->page[256] ? range->page[256][0] : 0);
    TARE_TRY(check_counts(r, range, finite));
    TARE_TRY(read_end(r, object, "min", range, &range->min));
    TARE_TRY(read_end(r, object, "max", range, &range->max));
    TARE_TRY(read_extremes(r, object, "lowest", range, range->lowest, -1));
    TARE_TRY(read_extremes(r, object, "highest", range, range->highest, 1));
    TARE_TRY(get_words(r, json_object_get(object, "sum_of_minima"), "sum_of_minima", range->sample_min.word, 6));
    TARE_TRY(get_words(r, json_object_get(object, "sum_of_maxima"), "sum_of_maxima", range->sample_max.word, 6));
    TARE_TRY(check_ends(r, range));
    TARE_TRY(read_channels(r, object, range));
    return read_sums(r, object, range);
}

static tare_status read_range(const reader *r, json_t *object) {
    const char *name;
    tare_range *range;
    TARE_TRY(check_keys(r, object, range_keys));
    TARE_TRY(get_text(r, json_object_get(object, "name"), "name", &name));
    if (tare_map_get(&r->ranges->by_name, name))
        return tare_fail(r->err, TARE_E_MALFORMED, "'%.200s' is there twice", name);
    TARE_TRY(tare_ranges_add(r->ranges, name, &range, r->err));
    return fill_range(r, object, range) == TARE_OK ? TARE_OK : tare_within(r->err, "'%.200s'", name);
}

static tare_status read_root(const reader *r, json_t *root) {
    json_t *values;
    const char *schema = json_string_value(json_object_get(root, "schema"));
    if (!schema || strcmp(schema, "tare-ranges/1") != 0)
        return tare_fail(r->err, TARE_E_MALFORMED, "'schema' is '%.64s', not 'tare-ranges/1': is it a ranges file?",
                         schema ? schema : "");
    TARE_TRY(check_keys(r, root, root_keys));
    TARE_TRY(get_words(r, json_object_get(root, "model"), "model", &r->ranges->model_hash, 1));
    TARE_TRY(get_count(r, root, "samples", &r->ranges->samples));
    const json_t *synthetic = json_object_get(root, "synthetic");
    if (!json_is_boolean(synthetic))
        return tare_fail(r->err, TARE_E_MALFORMED, "'synthetic' is neither true nor false");
    r->ranges->synthetic = json_is_true(synthetic);
    TARE_TRY(get_array(r, root, "values", TARE_RANGES_VALUES_MAX, &values));
    for (size_t i = 0; i < json_array_size(values); i++)
        if (read_range(r, json_array_get(values, i)) != TARE_OK) return tare_within(r->err, "value %zu", i);
    return TARE_OK;
}

static tare_status check_size(const char *bytes, size_t size, tare_error *err) {
    size_t tokens = 0;
    if (size > TARE_RANGES_FILE_MAX)
        return tare_fail(err, TARE_E_LIMIT, "%zu bytes, a ranges file has at most %d", size, TARE_RANGES_FILE_MAX);
    for (size_t i = 0; i < size; i++)
        tokens += bytes[i] == ',' || bytes[i] == ':' || bytes[i] == '[' || bytes[i] == '{';
    if (tokens > TARE_RANGES_TOKENS_MAX)
        return tare_fail(err, TARE_E_LIMIT, "%zu commas, colons and brackets, a ranges file has at most %d", tokens,
                         TARE_RANGES_TOKENS_MAX);
    return TARE_OK;
}

tare_status tare_ranges_parse(tare_ranges **out, const char *bytes, size_t size, tare_error *err) {
    json_error_t problem;
    reader r = { .err = err };
    TARE_TRY(check_size(bytes, size, err));
    json_t *root = json_loadb(bytes, size, JSON_REJECT_DUPLICATES, &problem);
    if (!root && json_error_code(&problem) == json_error_out_of_memory) return tare_fail_memory(err, 0);
    if (!root)
        return tare_fail(err, TARE_E_MALFORMED,
                         "%d:%d: no JSON: %.100s; a ranges file is what `tare calibrate` or `tare merge` wrote",
                         problem.line, problem.column, problem.text);
    tare_status status = tare_ranges_new(&r.ranges, err);
    if (status == TARE_OK) status = read_root(&r, root);
    json_decref(root);
    if (status == TARE_OK)
        *out = r.ranges;
    else
        tare_ranges_free(r.ranges);
    return status;
}

tare_status tare_ranges_read(tare_ranges **out, const char *path, tare_error *err) {
    tare_file file;
    TARE_TRY(tare_file_open(&file, path, err));
    const tare_status status = tare_ranges_parse(out, (const char *)file.data, file.size, err);
    tare_file_close(&file);
    return status == TARE_OK ? TARE_OK : tare_within(err, "%s", path);
}
