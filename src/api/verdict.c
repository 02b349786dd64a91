/* What a user must not overlook in what quantizing came to: a bad result, and figures of too few samples. */
#include "api/verdict.h"

#include <string.h>

enum { FEW = 10 /* samples: with fewer none is held out */ };

static tare_status add(tare_quantizing *q, const tare_text *text, tare_error *err) {
    const tare_quantize_warning warning = { .text = text->at };
    const bool done = !text->failed && tare_vec_push(q->arena, &q->said->warnings, warning);
    return done ? TARE_OK : tare_fail_memory(err, 0);
}

static tare_status warn_few(tare_quantizing *q, tare_error *err) {
    const unsigned long long count = q->said->calibrated;
    tare_text text = { .arena = q->arena };
    if (!count || count >= FEW) return TARE_OK;
    tare_text_printf(&text, "%llu sample%s to calibrate on %s few", count, tare_plural(count, "", "s"),
                     tare_plural(count, "is", "are"));
    if (q->said->on == TARE_MEASURED_CALIBRATION)
        tare_text_puts(&text, ", and the loss was measured on the same, so that it looks too good");
    tare_text_printf(&text, ": pass %d or more (100 is usual)", FEW);
    if (q->said->on == TARE_MEASURED_CALIBRATION) tare_text_puts(&text, ", or others to measure on by --holdout");
    return add(q, &text, err);
}

/* The worst of those that are bad, and how many there are. */
static const tare_output_loss *find_bad(const tare_quantized *said, size_t *count) {
    const tare_output_loss *worst = NULL;
    *count = 0;
    for (size_t i = 0; i < said->outputs.count; i++) {
        const tare_output_loss *loss = &said->outputs.at[i];
        if (!tare_loss_has_bad_sqnr(loss) && !tare_loss_has_bad_top1(loss)) continue;
        ++*count;
        if (!worst || loss->metrics.sqnr_db < worst->metrics.sqnr_db) worst = loss;
    }
    return worst;
}

/* Another way to choose ranges; NULL: that is no matter, or all were tried. */
static const char *other_method(const tare_quantizing *q) {
    if (!q->said->calibrated || !strcmp(q->said->method, "auto")) return NULL;
    return strcmp(q->said->method, "mse") ? "mse" : "entropy";
}

static tare_status warn_bad(tare_quantizing *q, tare_advice *advice, tare_error *err) {
    size_t count;
    const tare_output_loss *bad = find_bad(q->said, &count);
    const char *method = other_method(q);
    tare_text text = { .arena = q->arena };
    if (!bad) return TARE_OK;
    tare_text_printf(&text, "int8 loses much at '%s'", bad->name);
    if (count > 1) tare_text_printf(&text, " and %zu other output%s", count - 1, tare_plural(count - 1, "", "s"));
    if (tare_loss_has_bad_sqnr(bad))
        tare_text_printf(&text, ": %.2f dB, where less than %d is bad", bad->metrics.sqnr_db, TARE_LOSS_BAD_DB);
    else
        tare_text_printf(&text, ": top-1 stays on %.1f %% of %llu samples, where less than %d is bad",
                         100 * bad->metrics.top1, (unsigned long long)bad->metrics.samples, TARE_LOSS_BAD_TOP1);
    tare_text_puts(&text, "; check the preprocessing above; debug shows where it is lost and what would help");
    if (method) tare_text_printf(&text, "; or try --method %s", method);
    if (advice && method) advice->options[0] = "--method", advice->options[1] = method, advice->count = 2;
    return add(q, &text, err);
}

tare_status tare_verdict_add(tare_quantizing *q, tare_advice *advice, tare_error *err) {
    if (advice) *advice = (tare_advice){ .count = 0 };
    if (q->said->is_synthetic) return TARE_OK; /* which is told already, and no figure is real */
    TARE_TRY(warn_bad(q, advice, err));
    return warn_few(q, err);
}
