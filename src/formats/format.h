/* File formats: bytes to model and back. A format never decides a scale.
 *
 * `extra` of a model, its graphs, values and nodes belongs to the format that read it. The first member of what
 * model->extra points to is that format's `const tare_format *`: another format that writes the model looks no further. */
#ifndef TARE_FORMATS_FORMAT_H
#define TARE_FORMATS_FORMAT_H

#include "graph/graph.h"

typedef struct tare_read_options {
    bool allow_hardlink; /* external data that is hard linked */
    tare_log *log;
} tare_read_options;

typedef struct tare_write_options {
    int64_t external_threshold; /* total bytes of weights above which they go to FILE.data; 0: the format's own limit */
    bool float_weights; /* weights held as codes are spelled as float through Q and DQ, as float ones always are */
    tare_log *log;
} tare_write_options;

typedef struct tare_format {
    const char *name;              /* "onnx" */
    const char *const *extensions; /* ".onnx", NULL */
    /* Does it look like one? `size` bytes from the start of the file. */
    bool (*probe)(const uint8_t *bytes, size_t size);
    /* The model as the file says it: legacy forms and Q/DQ nodes still in place, shapes as declared. */
    tare_status (*read)(tare_model **out, const char *path, const tare_read_options *options, tare_error *err);
    tare_status (*write)(const tare_model *model, const char *path, const tare_write_options *options, tare_error *err);
} tare_format;

/* By contents, then by extension. NULL: none. */
const tare_format *tare_format_to_read(const char *path);
/* By extension. NULL: none. */
const tare_format *tare_format_to_write(const char *path);

#endif
