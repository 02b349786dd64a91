#include "calibrate/support/made.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/support.h"

made *made_new(void) {
    made *m = calloc(1, sizeof *m);
    assert_non_null(m);
    m->range.name = "x";
    m->range.min = INFINITY, m->range.max = -INFINITY;
    return m;
}

void made_put(made *m, float value, uint64_t count) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    m->pages[bits >> 23][bits >> 16 & 127] += count;
    m->range.page[bits >> 23] = m->pages[bits >> 23];
    m->range.count += count;
    if (!(bits << 1)) m->range.zeros += count;
    m->range.min = fminf(m->range.min, value);
    m->range.max = fmaxf(m->range.max, value);
}

made *made_of(made_cumulative *below, float lo, float hi) {
    made *m = made_new();
    for (int binade = 0; binade < TARE_RANGE_BINADES; binade++) {
        if ((binade & 255) == 255) continue;
        for (int bin = 0; bin < TARE_RANGE_BINS; bin++) {
            const double a = tare_bin_edge(binade, bin), b = tare_bin_edge(binade, bin + 1);
            double from = binade & 256 ? -b : a, to = binade & 256 ? -a : b;
            from = fmax(from, (double)lo), to = fmin(to, (double)hi);
            if (to <= from) continue;
            const uint64_t count = (uint64_t)(made_numbers * (below(to) - below(from)));
            if (!count) continue;
            m->pages[binade][bin] = count;
            m->range.page[binade] = m->pages[binade];
            m->range.count += count;
        }
    }
    m->range.min = lo, m->range.max = hi;
    return m;
}

double made_gauss(double x) { return 0.5 * erfc(-x * sqrt(0.5)); }
double made_laplace(double x) { return x < 0 ? 0.5 * exp(x) : 1 - 0.5 * exp(-x); }
