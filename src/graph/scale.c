/* From a real range to scale and zero point. */
#include <math.h>

#include "graph/graph.h"

static double to_power_of_two(double scale) {
    int exponent;
    double mantissa = frexp(scale, &exponent);
    return ldexp(1.0, mantissa == 0.5 ? exponent - 1 : exponent);
}

static int32_t clamp_code(double code, tare_dtype type) {
    double lowest = tare_dtype_lowest(type), highest = tare_dtype_highest(type);
    return (int32_t)(code < lowest ? lowest : code > highest ? highest : code);
}

void tare_scale_from_range(float lo, float hi, tare_dtype code, bool symmetric, bool power_of_two, float *scale,
                           int32_t *zero_point) {
    const double lowest = tare_dtype_lowest(code), highest = tare_dtype_highest(code), steps = highest - lowest;
    const double low = lo < 0 ? (double)lo : 0, high = hi > 0 ? (double)hi : 0;
    const double reach = -low > high ? -low : high;
    *scale = 1;
    *zero_point = 0;
    double s = symmetric ? (lowest < 0 ? reach / highest : 2 * reach / steps) : (high - low) / steps;
    if (power_of_two && s > 0) s = to_power_of_two(s);
    float rounded = (float)s;
    if (!(rounded > 0) || !isfinite(rounded)) return; /* nothing was seen, or it is smaller than any f32 */
    *scale = rounded;
    if (symmetric)
        *zero_point = lowest < 0 ? 0 : (int32_t)((steps + 1) / 2);
    else
        *zero_point = clamp_code(rint(lowest - low / (double)rounded), code);
}
