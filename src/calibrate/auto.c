/* Range method auto: for each value the other method whose range does least harm where it is read. The trying is
 * quantize/try.c's, since it takes samples; where nobody reads the value, this is mse. */
#include "calibrate/calibrate.h"

static void choose(const tare_range *range, const tare_range_request *request, float *lo, float *hi) {
    tare_method_find("mse")->choose(range, request, lo, hi);
}

const tare_method tare_method_auto = {
    .name = "auto",
    .origin = TARE_ORIGIN_MSE,
    .choose = choose,
    .tries = true,
};
