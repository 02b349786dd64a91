/* Labels: the class that each sample belongs to, read from a table or a list, and how often a vector of scores has it. */
#ifndef TARE_SAMPLES_LABELS_H
#define TARE_SAMPLES_LABELS_H

#include "samples/samples.h"

typedef struct tare_labels tare_labels;

/* Reads a file of one of two forms:
 *   CSV (RFC 4180) with a header that has `label` and one of `file` (a path, joined by its name without folder and
 *   extension), `id` (joined as it is) and `row` (the sample's place in its source, from 0); `row` wins when both are
 *   there and the samples have numbers for names. Other columns are left out; lines of other samples too.
 *   A list: one number a line, in the order of the source (rows of an array, lines of a list, names in a directory).
 * Labels are 0…2^31-1. Every sample must have one; errors name the line. */
tare_status tare_labels_open(tare_labels **out, const char *path, const tare_samples *samples, tare_error *err);

/* The same for samples that only have a name and a place, such as dumped ones. */
typedef struct tare_labelled {
    const char *id;
    size_t row;
} tare_labelled;
tare_status tare_labels_open_for(tare_labels **out, const char *path, const tare_labelled *samples, size_t count,
                                 bool are_numbered, tare_error *err);
void tare_labels_close(tare_labels *labels); /* NULL is fine */
/* Of sample `index` of the samples it was opened with. */
int64_t tare_labels_at(const tare_labels *labels, size_t index);
int64_t tare_labels_highest(const tare_labels *labels); /* to check against the model's number of classes */

/* How often the label was among the largest of a vector of scores. */
typedef struct tare_hits {
    uint64_t samples, top1, top5;
    uint64_t classes; /* of the last sample; with 5 or fewer, top5 says nothing */
} tare_hits;

/* Is it one vector with a number for every class: all dimensions 1 but one that is larger than the highest label? */
bool tare_labels_fit(const tare_labels *labels, const tare_tensor *scores);
/* Counts one sample whose scores fit. Of equal scores the first is the larger; a NaN is larger than all, and never a hit. */
void tare_labels_judge(const tare_labels *labels, size_t index, const tare_tensor *scores, tare_hits *hits);
/* Warns when a model that is to be right is no better than one that guesses: then the labels are likely of another. */
void tare_hits_doubt(const tare_hits *hits, const char *output, tare_log *log);
void tare_hits_add(tare_hits *to, const tare_hits *from);
/* TARE_E_USAGE: labels were given, and no output fits them. */
tare_status tare_labels_fail_fit(const tare_labels *labels, tare_error *err);

#endif
