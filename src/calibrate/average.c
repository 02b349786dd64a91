/* Range method average: the mean of the samples' smallest and the mean of their largest numbers. */
#include "calibrate/calibrate.h"

static void choose(const tare_range *range, const tare_range_request *request, float *lo, float *hi) {
    (void)request;
    const double samples = (double)range->samples;
    const float low = (float)(tare_sum_value(&range->sample_min) / samples);
    const float high = (float)(tare_sum_value(&range->sample_max) / samples);
    *lo = low < 0 ? low : 0;
    *hi = high > 0 ? high : 0;
}

const tare_method tare_method_average = {
    .name = "average",
    .origin = TARE_ORIGIN_AVERAGE,
    .choose = choose,
};
