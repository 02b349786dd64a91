/* Range method percentile: leaves out (100 - p) percent of the numbers on each side. */
#include <math.h>

#include "calibrate/range.h"

/* The magnitude on one side (sign 0: positive) beyond which `share` numbers lie, interpolated within its bin. */
static double cut(const tare_range *range, int sign, double share) {
    double left = share;
    for (int exponent = 254; exponent >= 0; exponent--) {
        const uint64_t *page = range->page[sign * 256 + exponent];
        for (int bin = TARE_RANGE_BINS - 1; page && bin >= 0; bin--) {
            if ((double)page[bin] > left) {
                double lower = tare_bin_edge(exponent, bin), upper = tare_bin_edge(exponent, bin + 1);
                return upper - (upper - lower) * left / (double)page[bin];
            }
            left -= (double)page[bin];
        }
    }
    return 0;
}

static void choose(const tare_range *range, const tare_range_request *request, float *lo, float *hi) {
    const double finite =
        (double)(range->count - range->nans - range->positive_infinities - range->negative_infinities);
    const double share = finite * (100 - request->percentile) / 100;
    const double low = -cut(range, 1, share), high = cut(range, 0, share);
    *lo = (float)fmin(0, fmax(low, (double)range->min));
    *hi = (float)fmax(0, fmin(high, (double)range->max));
}

const tare_method tare_method_percentile = {
    .name = "percentile",
    .origin = TARE_ORIGIN_PERCENTILE,
    .choose = choose,
};
