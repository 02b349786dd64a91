/* Takes a float model to int8 by the library: quantize MODEL.onnx SAMPLES OUT.onnx
 *
 *     cc quantize.c $(pkg-config --cflags --libs tare) -o quantize
 *
 * Each function gives a status; what went wrong is one line of text in an error that the caller owns. */
#include <stdio.h>

#include <tare/tare.h>

/* Warnings, as they come. Without a log they are only in the report. */
static void print_line(void *context, tare_log_level level, const char *text) {
    (void)context;
    if (level == TARE_LOG_WARNING) fprintf(stderr, "warning: %s\n", text);
}

/* What has to be freed, in one place. */
typedef struct job {
    tare_model *model, *quantized;
    tare_samples *samples;
    tare_report *report;
} job;

static tare_status quantize(job *j, const char *const *paths, tare_log *log, tare_error *err) {
    const tare_data_options data = { .data = { &paths[1], 1 } }; /* a folder of images, an .npy, an .npz, … */
    const tare_preprocess preprocess = { 0 };                    /* resize, mean, std …; none for this model */

    /* What options leave at zero has its default: u8 activations, s8 weights per channel, ranges by mse. */
    const tare_quantization options = { 0 };

    /* Below 20 dB at an output this gives TARE_E_GATE. Measured on samples that are held out from calibration. */
    const tare_measuring measuring = { .fail_below = 20 };

    tare_status status = tare_model_open(&j->model, paths[0], NULL, log, err);
    if (status == TARE_OK) status = tare_model_check_path(j->model, paths[2], err); /* before the long work */
    if (status == TARE_OK) status = tare_model_optimize(j->model, NULL, NULL, log, err);
    if (status == TARE_OK) status = tare_samples_from_options(&j->samples, j->model, &data, &preprocess, log, err);
    if (status == TARE_OK)
        status = tare_model_quantize(&j->quantized, NULL, j->model, j->samples, NULL, &options, NULL, &measuring, NULL,
                                     &j->report, log, err);
    return status == TARE_OK ? tare_model_save(j->quantized, paths[2], log, err) : status;
}

int main(int count, char **words) {
    if (count != 4) {
        fprintf(stderr, "usage: %s MODEL.onnx SAMPLES OUT.onnx\n", words[0]);
        return TARE_E_USAGE;
    }
    const char *const paths[] = { words[1], words[2], words[3] };
    tare_log log = { .line = print_line };
    tare_error err = { 0 };
    job j = { 0 };
    const tare_status status = quantize(&j, paths, &log, &err);

    /* The same facts as text and as JSON; the report owns both. It is there beside TARE_E_GATE too. */
    if (j.report) fputs(tare_report_text(j.report, 80, 0), stdout);
    if (status != TARE_OK) fprintf(stderr, "error: %s\n", err.text);

    tare_report_free(j.report);
    tare_model_free(j.quantized);
    tare_samples_close(j.samples); /* before the model that they were opened for */
    tare_model_free(j.model);
    return status;
}
