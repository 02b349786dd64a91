/* Labels: the class that each sample belongs to, read from a table or a list. */
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
void tare_labels_close(tare_labels *labels); /* NULL is fine */
/* Of sample `index` of the samples it was opened with. */
int64_t tare_labels_at(const tare_labels *labels, size_t index);
int64_t tare_labels_highest(const tare_labels *labels); /* to check against the model's number of classes */

#endif
