/* Range method minmax: all that was seen. */
#include "calibrate/calibrate.h"

static void choose(const tare_range *range, const tare_range_request *request, float *lo, float *hi) {
    (void)request;
    *lo = range->min < 0 ? range->min : 0;
    *hi = range->max > 0 ? range->max : 0;
}

const tare_method tare_method_minmax = {
    .name = "minmax",
    .origin = TARE_ORIGIN_MINMAX,
    .choose = choose,
};
