/* Data to calibrate on, to measure on, to run. */
#ifndef TARE_PUBLIC_SAMPLES_H
#define TARE_PUBLIC_SAMPLES_H

#include <tare/field.h>
#include <tare/model.h>

typedef struct tare_samples tare_samples;

/* Where samples come from and what is done to them before the model sees them. */
typedef struct tare_data_options {
    tare_strings data;   /* SRC, or NAME=SRC for several inputs */
    const char *samples; /* "N" or "A:B" */
    const char *resize, *crop;
    int color, layout, yuv_range;
    tare_floats mean, std, pad;
    double scale;
    const char *labels;
} tare_data_options;
extern TARE_API const tare_field tare_data_fields[];

/* Opens them for a model, which must outlive them; checks every input's type and shape. */
TARE_API tare_status tare_data_open(tare_samples **out, const tare_model *model, const tare_data_options *options,
                                    tare_log *log, tare_error *err);
TARE_API void tare_samples_close(tare_samples *samples); /* NULL is fine */
TARE_API size_t tare_samples_count(const tare_samples *samples);

#endif
