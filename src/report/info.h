/* What `tare info` tells of a model. */
#ifndef TARE_REPORT_INFO_H
#define TARE_REPORT_INFO_H

#include "report/report.h"
#include "run/run.h"

typedef struct tare_op_tally {
    const char *name; /* with its domain unless that is ONNX's own */
    size_t count;
    bool is_known;
} tare_op_tally;

typedef struct tare_info {
    const tare_model *model;
    const tare_model *sized; /* the same, its open dimensions taken as 1, shapes inferred; NULL: no such shapes fit */
    const char *format, *stage;
    const char *target, *tool; /* NULL: not said */
    uint64_t file_bytes;
    size_t node_count;           /* bodies' too */
    TARE_VEC(tare_op_tally) ops; /* most frequent first */
    size_t weight_count;         /* tensors */
    uint64_t weight_numbers, weight_bytes;
    bool has_plan; /* what follows is known */
    bool is_sized; /* dimensions were open and taken as 1 */
    uint64_t macs, quantized_macs;
    tare_session_memory memory;
    tare_timeline timeline;
    size_t activations;                    /* computed float values */
    size_t codes[TARE_DTYPE_COUNT];        /* those that are quantized, by code type */
    size_t weight_codes[TARE_DTYPE_COUNT]; /* constants, likewise */
    size_t origins[TARE_ORIGIN_COUNT];     /* of all scales */
    bool wants_nodes, wants_values, wants_memory;
} tare_info;

void tare_report_info(tare_report *report, const tare_info *info);

void tare_report_timeline(tare_report *report, const tare_timeline *timeline);

/* [1, "N", 3]; null where not even the rank is known. */
json_t *tare_json_shape(tare_report *report, const tare_shape *shape, const tare_model *model);

/* What the codes of an input or output mean: in words ("= 0.5 * (code - 128)"), and as keys of the object. False: it has
 * none, or it is not known. */
enum { TARE_MEANING_SIZE = 80 };
bool tare_report_meaning(tare_report *report, json_t *object, const tare_value *value, char text[TARE_MEANING_SIZE]);

#endif
