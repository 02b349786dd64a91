/* Samples: {id, one tensor per graph input}. Only this room knows files, images and preprocessing, and only it
 * iterates over them; everything is hostile until it has come through here. Nothing is read before it is needed. */
#ifndef TARE_SAMPLES_SAMPLES_H
#define TARE_SAMPLES_SAMPLES_H

#include <tare/samples.h>

#include "base/file.h"
#include "base/text.h"
#include "graph/graph.h"

/* The contract of one input is public: tare_preprocess and tare_preprocess_fields in <tare/samples.h>. */

/* One source: SRC of <tare/samples.h>, which says what it can be. */
typedef struct tare_source {
    const char *input; /* NULL: the only input, or all inputs by the keys of an .npz, or all for random:N */
    const char *path;  /* SRC, but for NAME= */
    bool whole;        /* an array is one sample even where its first dimension could be cut */
    tare_preprocess preprocess;
} tare_source;

typedef struct tare_sample {
    /* Unique, without '/': the file's name without extension, or a six-digit index. Where two names are alike but for
     * folder or extension: the whole name, '_' for '/'. */
    const char *id;
    size_t index;
    /* In the order of the graph's inputs, on the arena of the get; NULL: an input that is an initializer too and has no
     * source of its own. */
    tare_tensor *const *inputs;
} tare_sample;

/* Opens sources for the model's inputs and checks what can be without reading everything: every input has a source,
 * types and shapes fit (an error says both and what to pass). Inputs that are overridable initializers need none.
 * Sources are joined by id; one that has a single sample goes with every sample of the others; one that has numbers for
 * ids goes by order. `range`: NULL, "N" or "A:B" (from A up to but without B), in the order of ids. The model must
 * outlive it. */
tare_status tare_samples_open(tare_samples **out, const tare_model *model, const tare_source *sources, size_t count,
                              const char *range, tare_log *log, tare_error *err);
/* Ids sorted as text, the order of every merge; index 0…count-1 counts in that order. */
const char *tare_samples_id(const tare_samples *samples, size_t index);
/* Its place in the source before sorting, from 0: the row of an array, the line of a list. */
size_t tare_samples_row(const tare_samples *samples, size_t index);
/* Are the ids made of rows? */
bool tare_samples_are_numbered(const tare_samples *samples);
bool tare_samples_are_synthetic(const tare_samples *samples); /* random:N */
/* Reads one. Thread safe: any thread, each with its own arena. */
tare_status tare_samples_get(const tare_samples *samples, size_t index, tare_arena *arena, tare_sample *out,
                             tare_error *err);
/* Of the model that they are for: its graph, and which of its inputs get anything (is_fed[i] becomes true; the others stay as
 * they are), which one that is an initializer too need not. */
const tare_graph *tare_samples_graph(const tare_samples *samples);
void tare_samples_mark_fed(const tare_samples *samples, bool *is_fed);
/* Samples fed to another model: for each input of its graph the input of the samples' model that it takes; SIZE_MAX where an
 * initializer stands. */
typedef struct tare_feeding {
    size_t count;
    const size_t *from; /* on the arena */
} tare_feeding;

/* Inputs go by name. Those that need data and have none by name go in order with those of the samples that are left, if they
 * are as many: else TARE_E_USAGE. */
tare_status tare_feeding_make(tare_feeding *feeding, const tare_samples *samples, const tare_graph *graph,
                              tare_arena *arena, tare_error *err);
/* What the sample feeds the graph, by input; NULL where an initializer stands. On the arena. */
tare_status tare_feeding_get(const tare_feeding *feeding, const tare_sample *sample, tare_arena *arena,
                             tare_tensor *const **out, tare_error *err);
/* Which files it reads, lists among them, sorted by tare_file_id_compare; on the arena. */
tare_status tare_samples_identify(const tare_samples *samples, tare_arena *arena, tare_file_id **ids, size_t *count,
                                  tare_error *err);
/* What goes into an input, for people: texts live as long as samples and arena. */
typedef struct tare_contract {
    const char *input, *type, *shape; /* of a sample */
    const char *source, *text;        /* --data's; "color rgb, resize 224x224 (pillow, bilinear), …" */
    const char *ignored;              /* other entries of a directory, in words; NULL: none */
    const char *doubt;                /* what looks wrong about it, as it was warned of; NULL: nothing */
    tare_shape dims;
    /* The same step by step; NULL, 0: not done, or not told. */
    const char *layout; /* nchw, nhwc */
    const char *color, *yuv_range, *resize, *resize_by, *fit,
        *crop; /* of pictures; "224x224", "256": the shorter side */
    tare_floats pad, mean, std;
    double scale;
    bool is_unit;           /* pixels are divided by 255 before that */
    double lo, average, hi; /* of the first sample; lo > hi: it has no numbers that could be compared */
} tare_contract;
/* One per input that has data. */
tare_status tare_samples_contracts(const tare_samples *samples, tare_arena *arena, const tare_contract **out,
                                   size_t *count, tare_error *err);
/* The contract in words, one line per input, and the first sample's min, mean, max after it. */
tare_status tare_samples_print(const tare_samples *samples, tare_text *text, tare_error *err);

/* How many there are without --samples. */
size_t tare_samples_available(const tare_samples *samples);

#endif
