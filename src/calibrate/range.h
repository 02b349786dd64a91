/* Statistics of one value: filled by a worker, added up. Internal to the room. */
#ifndef TARE_CALIBRATE_RANGE_H
#define TARE_CALIBRATE_RANGE_H

#include "calibrate/calibrate.h"

struct tare_ranges {
    tare_arena *arena;
    TARE_VEC(tare_range *) list; /* in the order of the graph */
    tare_map by_name;
    uint64_t samples;
    bool synthetic;
    uint64_t model_hash; /* tare_ranges_fingerprint: what ranges of two runs must share */
};

tare_status tare_ranges_new(tare_ranges **out, tare_error *err);
tare_status tare_ranges_add(tare_ranges *ranges, const char *name, tare_range **out, tare_error *err);

uint64_t tare_ranges_fingerprint(const tare_model *model);

/* The text of the ranges file. */
void tare_ranges_print(const tare_ranges *ranges, tare_text *text);

/* Copies the ids that extremes name to the ranges' own arena: they came from samples that will be closed. */
tare_status tare_ranges_own_ids(tare_ranges *ranges, tare_error *err);

/* From now on the extremes of this many channels too. */
tare_status tare_range_want_channels(tare_range *range, size_t channels, tare_arena *arena, tare_error *err);

/* Widens channel_min and channel_max; with other channels than before it stops counting them. `finite`: there is no NaN
 * and no Inf. */
void tare_range_count_channels(tare_range *range, const tare_kernels *kernels, const tare_tensor *tensor,
                               tare_layout layout, bool finite);

/* From now on the sums of this many channels too. */
tare_status tare_range_want_sums(tare_range *range, size_t channels, tare_arena *arena, tare_error *err);

/* Adds to channel_sum; with other channels than before it stops adding. */
void tare_range_sum_channels(tare_range *range, const tare_kernels *kernels, const tare_tensor *tensor,
                             tare_layout layout, bool finite);

/* Counts one sample's numbers, whose channels lie where the layout says; `counter` is the worker's own. */
typedef struct tare_counter tare_counter;
tare_counter *tare_counter_new(tare_arena *arena, const tare_kernels *kernels);
tare_status tare_range_count(tare_range *range, tare_counter *counter, tare_arena *arena, const tare_tensor *tensor,
                             tare_layout layout, const char *sample, tare_error *err);
tare_status tare_range_merge(tare_range *into, const tare_range *from, tare_arena *arena, tare_error *err);

/* Counts stay below this, so that sums of two never wrap. */
#define TARE_RANGE_COUNT_MAX ((uint64_t)1 << 62)

/* Not fmin() and fmax(), which are calls: no NaN comes here. */
static inline double tare_least(double a, double b) { return a < b ? a : b; }
static inline double tare_most(double a, double b) { return a > b ? a : b; }

/* The middle and the edges of a bin: page is the upper 9 bits, bin the next 7. Magnitudes grow with the bin. */
double tare_bin_edge(int binade, int bin); /* the magnitude at its lower end; bin may be 128 */

/* The counts as stretches of the real line, once for many candidates. At most 2 signs × (7 × 128 + 17 × 16 + 230). */
typedef struct tare_stretch {
    double low, high, count;
    double density;       /* count / (high - low); 0 when that is a point */
    double slope, behind; /* of the request's curve in the middle, and its value there */
} tare_stretch;
typedef struct tare_profile {
    size_t count;
    size_t first[2]; /* of the positive ones, of the negative ones: each from the far end inward */
    double total;
    tare_stretch stretch[2816];
} tare_profile;
/* is_coarse: in no part finer than a search's steps. */
void tare_profile_make(tare_profile *profile, const tare_range *range, const tare_range_request *request,
                       bool is_coarse);
/* clip_weight: what a squared clipping error counts beside a squared rounding error. `enough`: a larger error need not be
 * added up to its end; INFINITY when clipping alone is more, so that it is for every narrower range too. */
double tare_profile_error(const tare_profile *profile, const tare_range_request *request, float lo, float hi,
                          double clip_weight, double enough);

/* What method entropy minimizes: KL divergence, in nats a number, of what was counted against its codes spread evenly. */
double tare_range_divergence(const tare_range *range, const tare_range_request *request, float lo, float hi);

#endif
