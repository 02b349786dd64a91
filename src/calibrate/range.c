/* Counting one value's numbers and adding counts up. */
#include "calibrate/range.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* What a worker counts into before it adds to a range: dense, all zeros between tensors. */
struct tare_counter {
    const tare_kernels *kernels;
    tare_counts counts;
    uint64_t *spare; /* page of zeros */
};

tare_counter *tare_counter_new(tare_arena *arena, const tare_kernels *kernels) {
    tare_counter *counter = tare_arena_alloc(arena, 1, sizeof *counter);
    if (!counter) return NULL;
    counter->kernels = kernels;
    counter->counts.tables =
        tare_arena_alloc(arena, (size_t)TARE_COUNT_TABLES * TARE_COUNT_STRIDE, sizeof *counter->counts.tables);
    counter->spare = tare_arena_alloc(arena, TARE_RANGE_BINS, sizeof *counter->spare);
    return counter->counts.tables && counter->spare ? counter : NULL;
}

double tare_bin_edge(int binade, int bin) {
    const uint64_t exponent = binade & 255;
    if (!exponent) return 0x1p-133 * bin;
    const uint64_t bits =
        ((exponent + 1023 - 127) << 52) + ((uint64_t)bin << 45); /* the last bin's end: a power of two */
    double edge;
    memcpy(&edge, &bits, sizeof edge);
    return edge;
}

static tare_status add_page(tare_range *range, int binade, const uint64_t *bins, tare_arena *arena, tare_error *err) {
    if (!range->page[binade]) {
        range->page[binade] = tare_arena_alloc(arena, TARE_RANGE_BINS, sizeof(uint64_t));
        if (!range->page[binade]) return tare_fail_memory(err, TARE_RANGE_BINS * sizeof(uint64_t));
    }
    for (int i = 0; i < TARE_RANGE_BINS; i++) range->page[binade][i] += bins[i];
    return TARE_OK;
}

/* One binade of a sign. Most have been met before; another gets a page only if one of its numbers was. The numbers above
 * all binades are not finite and are not kept. */
static tare_status take_page(tare_range *range, tare_counter *counter, int binade, tare_arena *arena, tare_error *err) {
    const tare_counts *counts = &counter->counts;
    uint32_t *counters = counts->tables + binade * TARE_RANGE_BINS;
    uint64_t **page = &range->page[binade];
    for (size_t t = 0; !(binade & 255) && t < counts->used; t++) /* with what is below 2^-133 */
        range->zeros += counters[t * TARE_COUNT_STRIDE];
    const bool any = counter->kernels->fold_counts(*page ? *page : counter->spare, counters, counts->used);
    if (*page || !any) return TARE_OK;
    tare_status status = TARE_OK;
    if ((binade & 255) < 255) status = add_page(range, binade, counter->spare, arena, err);
    memset(counter->spare, 0, TARE_RANGE_BINS * sizeof *counter->spare);
    return status;
}

/* The pages of all of a model's values do not fit a cache: they come while those before are folded. */
static void fetch_page(const tare_range *range, int binade) {
    const uint64_t *page = binade < TARE_RANGE_BINADES ? range->page[binade] : NULL;
    for (int i = 0; page && i < TARE_RANGE_BINS; i += 64 / (int)sizeof *page) __builtin_prefetch(page + i, 1);
}

static tare_status take_counts(tare_range *range, tare_counter *counter, tare_arena *arena, tare_error *err) {
    const tare_counts *counts = &counter->counts;
    const int low = counts->high ? (int)(counts->low >> 23) : 1, high = (int)(counts->high >> 23);
    for (int sign = 0; sign < 512; sign += 256) {
        for (int exponent = low; exponent <= high; exponent++) {
            fetch_page(range, sign + exponent + 2);
            TARE_TRY(take_page(range, counter, sign + exponent, arena, err));
        }
        if (low > 0) TARE_TRY(take_page(range, counter, sign, arena, err)); /* zeros */
    }
    return TARE_OK;
}

/* The first by id, whichever was seen first. */
static void name_nonfinite(tare_range *range, const char *sample) {
    if (!range->nonfinite_sample || strcmp(sample, range->nonfinite_sample) < 0) range->nonfinite_sample = sample;
}

static void count_nonfinite(tare_range *range, const float *numbers, size_t count, const char *sample) {
    for (size_t i = 0; i < count; i++) {
        if (isfinite(numbers[i])) continue;
        if (isnan(numbers[i]))
            range->nans++;
        else if (numbers[i] > 0)
            range->positive_infinities++;
        else
            range->negative_infinities++;
    }
    name_nonfinite(range, sample);
}

/* Keeps the few most extreme, one a sample; ties go to the sample whose id comes first. `sign` -1 keeps the lowest. */
static void keep_extreme(tare_extreme *list, int *count, float value, const char *sample, float sign) {
    int at = *count;
    while (at > 0 && (sign * value > sign * list[at - 1].value ||
                      (value == list[at - 1].value && strcmp(sample, list[at - 1].sample) < 0)))
        at--;
    if (at == TARE_RANGE_EXTREMES) return;
    int last = *count < TARE_RANGE_EXTREMES ? *count : TARE_RANGE_EXTREMES - 1;
    for (int i = last; i > at; i--) list[i] = list[i - 1];
    list[at] = (tare_extreme){ .value = value, .sample = sample };
    if (*count < TARE_RANGE_EXTREMES) ++*count;
}

tare_status tare_range_count(tare_range *range, tare_counter *counter, tare_arena *arena, const tare_tensor *tensor,
                             tare_layout layout, const char *sample, tare_error *err) {
    const size_t count = tensor->size / sizeof(float);
    tare_counts *counts = &counter->counts;
    *counts =
        (tare_counts){ .tables = counts->tables, .used = 1, .min = INFINITY, .max = -INFINITY, .low = UINT32_MAX };
    for (size_t at = 0; at < count; at += TARE_COUNT_MAX) {
        const size_t left = count - at;
        counter->kernels->count_f32(counts, (const float *)tensor->data + at,
                                    left < TARE_COUNT_MAX ? left : TARE_COUNT_MAX);
        TARE_TRY(take_counts(range, counter, arena, err));
    }
    const bool finite = counts->high < 0x7f800000;
    if (!finite) count_nonfinite(range, tensor->data, count, sample);
    range->count += count;
    tare_range_count_channels(range, counter->kernels, tensor, layout, finite);
    tare_range_sum_channels(range, counter->kernels, tensor, layout, finite);
    if (!(counts->min <= counts->max)) return TARE_OK;
    if (counts->min < range->min) range->min = counts->min;
    if (counts->max > range->max) range->max = counts->max;
    int lows = range->extreme_count, highs = range->extreme_count;
    keep_extreme(range->lowest, &lows, counts->min, sample, -1);
    keep_extreme(range->highest, &highs, counts->max, sample, 1);
    range->extreme_count = highs;
    range->samples++;
    tare_sum_add(&range->sample_min, (double)counts->min);
    tare_sum_add(&range->sample_max, (double)counts->max);
    return TARE_OK;
}

tare_status tare_range_merge(tare_range *into, const tare_range *from, tare_arena *arena, tare_error *err) {
    if (into->count + from->count > TARE_RANGE_COUNT_MAX)
        return tare_fail(err, TARE_E_LIMIT, "value '%s': %" PRIu64 " and %" PRIu64 " numbers are more than 2^62",
                         into->name, into->count, from->count);
    into->count += from->count;
    into->zeros += from->zeros;
    into->nans += from->nans;
    into->positive_infinities += from->positive_infinities;
    into->negative_infinities += from->negative_infinities;
    if (from->nonfinite_sample) name_nonfinite(into, from->nonfinite_sample);
    if (from->min < into->min) into->min = from->min;
    if (from->max > into->max) into->max = from->max;
    for (int binade = 0; binade < TARE_RANGE_BINADES; binade++)
        if (from->page[binade]) TARE_TRY(add_page(into, binade, from->page[binade], arena, err));
    int lows = into->extreme_count, highs = into->extreme_count;
    for (int i = 0; i < from->extreme_count; i++) {
        keep_extreme(into->lowest, &lows, from->lowest[i].value, from->lowest[i].sample, -1);
        keep_extreme(into->highest, &highs, from->highest[i].value, from->highest[i].sample, 1);
    }
    into->extreme_count = highs;
    if (into->channels != from->channels) into->channels = 0;
    for (size_t i = 0; i < into->channels; i++) {
        if (from->channel_min[i] < into->channel_min[i]) into->channel_min[i] = from->channel_min[i];
        if (from->channel_max[i] > into->channel_max[i]) into->channel_max[i] = from->channel_max[i];
    }
    if (into->summed != from->summed) into->summed = 0;
    for (size_t i = 0; i < into->summed; i++) tare_sum_merge(&into->channel_sum[i], &from->channel_sum[i]);
    into->samples += from->samples;
    tare_sum_merge(&into->sample_min, &from->sample_min);
    tare_sum_merge(&into->sample_max, &from->sample_max);
    return TARE_OK;
}

tare_status tare_ranges_new(tare_ranges **out, tare_error *err) {
    tare_arena *arena = tare_arena_new();
    tare_ranges *ranges = arena ? tare_arena_alloc(arena, 1, sizeof *ranges) : NULL;
    if (!ranges) {
        tare_arena_free(arena);
        return tare_fail_memory(err, sizeof *ranges);
    }
    ranges->arena = arena;
    tare_map_init(&ranges->by_name, arena);
    *out = ranges;
    return TARE_OK;
}

tare_status tare_ranges_add(tare_ranges *ranges, const char *name, tare_range **out, tare_error *err) {
    tare_range *range = tare_arena_alloc(ranges->arena, 1, sizeof *range);
    const char *copy = range ? tare_arena_strdup(ranges->arena, name) : NULL;
    if (!copy || !tare_vec_push(ranges->arena, &ranges->list, range) || !tare_map_put(&ranges->by_name, copy, range))
        return tare_fail_memory(err, sizeof *range);
    range->name = copy;
    range->min = INFINITY, range->max = -INFINITY;
    *out = range;
    return TARE_OK;
}

static tare_status own(const char **id, tare_arena *arena, tare_error *err) {
    if (*id && !(*id = tare_arena_strdup(arena, *id))) return tare_fail_memory(err, 0);
    return TARE_OK;
}

tare_status tare_ranges_own_ids(tare_ranges *ranges, tare_error *err) {
    for (size_t i = 0; i < ranges->list.count; i++) {
        tare_range *range = ranges->list.at[i];
        TARE_TRY(own(&range->nonfinite_sample, ranges->arena, err));
        for (int k = 0; k < range->extreme_count; k++) {
            TARE_TRY(own(&range->lowest[k].sample, ranges->arena, err));
            TARE_TRY(own(&range->highest[k].sample, ranges->arena, err));
        }
    }
    return TARE_OK;
}

static tare_status check_same_values(const tare_ranges *a, const tare_ranges *b, tare_error *err) {
    if (a->model_hash != b->model_hash)
        return tare_fail(err, TARE_E_MALFORMED,
                         "ranges of two models do not add up: fingerprints %016" PRIx64 " and %016" PRIx64,
                         a->model_hash, b->model_hash);
    if (a->list.count != b->list.count)
        return tare_fail(err, TARE_E_MALFORMED, "%zu values and %zu: one of the files was changed", a->list.count,
                         b->list.count);
    for (size_t i = 0; i < a->list.count; i++)
        if (strcmp(a->list.at[i]->name, b->list.at[i]->name) != 0)
            return tare_fail(err, TARE_E_MALFORMED, "value %zu is '%s' and '%s': one of the files was changed", i,
                             a->list.at[i]->name, b->list.at[i]->name);
    return TARE_OK;
}

tare_status tare_ranges_merge(tare_ranges *into, const tare_ranges *from, tare_error *err) {
    TARE_TRY(check_same_values(into, from, err));
    if (into->samples + from->samples > TARE_RANGE_COUNT_MAX)
        return tare_fail(err, TARE_E_LIMIT, "%" PRIu64 " and %" PRIu64 " samples are more than 2^62", into->samples,
                         from->samples);
    for (size_t i = 0; i < into->list.count; i++)
        TARE_TRY(tare_range_merge(into->list.at[i], from->list.at[i], into->arena, err));
    into->samples += from->samples;
    into->synthetic |= from->synthetic;
    return tare_ranges_own_ids(into, err);
}

void tare_ranges_free(tare_ranges *ranges) {
    if (ranges) tare_arena_free(ranges->arena);
}

size_t tare_ranges_count(const tare_ranges *ranges) { return ranges->list.count; }
const tare_range *tare_ranges_at(const tare_ranges *ranges, size_t index) { return ranges->list.at[index]; }
const tare_range *tare_ranges_find(const tare_ranges *ranges, const char *name) {
    return tare_map_get(&ranges->by_name, name);
}
uint64_t tare_ranges_samples(const tare_ranges *ranges) { return ranges->samples; }
bool tare_ranges_are_synthetic(const tare_ranges *ranges) { return ranges->synthetic; }
