/* What `tare quantize` tells. */
#ifndef TARE_REPORT_QUANTIZE_H
#define TARE_REPORT_QUANTIZE_H

#include "compare/compare.h"
#include "quantize/quantize.h"
#include "report/report.h"
#include "samples/samples.h"

/* ORDER: measured on. Which samples the loss was measured on. */
typedef enum tare_measured_on {
    TARE_MEASURED_NOT,
    TARE_MEASURED_HELD_OUT,    /* kept out of calibration; its ranges came in after that */
    TARE_MEASURED_CALIBRATION, /* the very samples that ranges come from: too few to keep some out */
    TARE_MEASURED_GIVEN,       /* others, that the user gave to measure on */
    TARE_MEASURED_SAMPLES      /* those that were given; what scales come from was there before */
} tare_measured_on;

typedef struct tare_output_loss {
    const char *name;
    bool is_class; /* one number a class, as far as shape and operator tell */
    tare_metrics metrics;
} tare_output_loss;

/* What is bad: a tenth of the signal is 20 dB; top-1 only counts for classes, and where more samples flip than chance makes
 * of so few (two standard errors). */
enum { TARE_LOSS_BAD_DB = 15, TARE_LOSS_BAD_TOP1 = 95 /* percent */ };
bool tare_loss_has_bad_sqnr(const tare_output_loss *loss);
bool tare_loss_has_bad_top1(const tare_output_loss *loss);

/* What goes into the model: the contract (of a model without samples only name, type and shape) and the lowest and highest
 * number that so many samples had; lo > hi: not seen. */
typedef struct tare_quantize_input {
    tare_contract contract;
    double lo, hi;
    uint64_t seen;
    bool is_first; /* the first of several: others are not known */
} tare_quantize_input;

typedef struct tare_quantize_warning {
    const char *text;
    bool is_told; /* while it happened */
} tare_quantize_warning;

typedef struct tare_quantized {
    const tare_model *model; /* float; what is named here must live as long as the report is being filled */
    const char *target, *method;
    const char
        *wide; /* the code type of activations where the target has no integers for products of it; NULL: it has */
    uint64_t available, samples;         /* in the source; given: those that --samples left */
    uint64_t calibrated, held, measured; /* that ranges come from in the end; kept out first; measured */
    bool is_synthetic;                   /* some of all these */
    bool has_ranges;                     /* they were made before */
    size_t had_scales, computed; /* computed values that had scales before, and all of them; 0: the model was float */
    TARE_VEC(tare_quantize_input) inputs;
    tare_measured_on on;
    const char *why_not; /* it could not be measured; NULL */
    TARE_VEC(tare_output_loss) outputs;
    const tare_graph *codes; /* whose outputs are codes; NULL: they are real numbers */
    tare_fates fates;
    bool has_macs, is_guess; /* of a guess: open dimensions as 1 */
    uint64_t macs, codes_macs;
    TARE_VEC(tare_quantize_warning) warnings;
} tare_quantized;

void tare_report_quantized(tare_report *report, const tare_quantized *said);
/* The nodes that stay float, by reason: facts, and "float" in the JSON. */
void tare_report_floats(tare_report *report, const tare_fates *fates);

/* What was written; path NULL: nothing. */
void tare_report_written(tare_report *report, const char *path, uint64_t bytes, uint64_t float_bytes);

/* The files of the stages. */
void tare_report_stages(tare_report *report, const char *directory, const char *const *paths, size_t count);

#endif
