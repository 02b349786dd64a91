/* Samples: {id, one tensor per graph input}. Only this room knows files, images and preprocessing, and only it
 * iterates over them; everything is hostile until it has come through here. */
#ifndef TARE_SAMPLES_SAMPLES_H
#define TARE_SAMPLES_SAMPLES_H

#include "base/text.h"
#include "graph/graph.h"

/* The preprocessing contract of one input; zero-initialised: none. Applied in this order: decode, color, resize, crop,
 * to float, scale or (x - mean) / std, layout. Echoed by tare_preprocess_print. */
typedef struct tare_preprocess {
    const char *resize; /* "WxH[:pillow|opencv|skimage][:fit]" */
    const char *crop;   /* "WxH", from the centre */
    int color;          /* ORDER: color: as it is, rgb, bgr, gray, nv12, yuv444 */
    int layout;         /* of the model's input: from the model, nchw, nhwc */
    tare_floats mean, std;
    double scale; /* multiplied; 0: not given. With std it is an error */
} tare_preprocess;

extern const tare_field tare_preprocess_fields[];

/* One source: the text of --data or NAME=SRC. `input` NULL: the only input, or the keys of an .npz. */
typedef struct tare_source {
    const char *input;
    const char *path; /* a directory or file of images or .npy, .npz, F.bin:f32:1x3x224x224, a list file, random:N */
    tare_preprocess preprocess;
} tare_source;

typedef struct tare_sample {
    const char *id; /* unique; the file's name without extension, or a six-digit index */
    size_t index;
    tare_tensor *const *inputs; /* in the order of the graph's inputs; valid until the next get on the same arena */
} tare_sample;

typedef struct tare_samples tare_samples;

/* Opens sources for the model's inputs and checks what can be without reading everything: every input has a source, types
 * and shapes fit (an error says both and what to pass). Inputs that are overridable initializers need none. `range`:
 * NULL, "N" or "A:B". The model must outlive it. */
tare_status tare_samples_open(tare_samples **out, const tare_model *model, const tare_source *sources, size_t count,
                              const char *range, tare_log *log, tare_error *err);
void tare_samples_close(tare_samples *samples);

size_t tare_samples_count(const tare_samples *samples);
/* Ids sorted as text, the order of every merge; index 0…count-1 counts in that order. */
const char *tare_samples_id(const tare_samples *samples, size_t index);
bool tare_samples_are_synthetic(const tare_samples *samples); /* random:N */
/* Reads one. Thread safe: any thread, each with its own arena. */
tare_status tare_samples_get(const tare_samples *samples, size_t index, tare_arena *arena, tare_sample *out,
                             tare_error *err);
/* The contract in words, one line per input, and the first sample's min, mean, max after it. */
tare_status tare_samples_print(const tare_samples *samples, tare_text *text, tare_error *err);

#endif
