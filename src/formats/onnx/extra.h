/* What a file holds beyond the graph, kept to be written back: the `extra` of models, graphs, values and nodes that this
 * format read. Never changed after reading, so that copies of a model share it. Spans lie in the mapped file. */
#ifndef TARE_FORMATS_ONNX_EXTRA_H
#define TARE_FORMATS_ONNX_EXTRA_H

#include "formats/format.h"
#include "formats/onnx/wire.h"

/* The property that says who decided the scales: origins.c. */
#define TARE_ONNX_ORIGINS "tare.origins"

/* Whole fields (tag and all) that tare does not look into: unknown ones, documentation, metadata, annotations. */
typedef TARE_VEC(tare_span) tare_spans;

typedef struct tare_onnx_import {
    const char *domain; /* "" is ONNX's own */
    int64_t version;
} tare_onnx_import;

typedef struct tare_onnx_model {
    const tare_format *format; /* as format.h demands of the first member */
    TARE_VEC(tare_onnx_import) imports;
    tare_spans other;
} tare_onnx_model;

typedef struct tare_onnx_graph {
    tare_spans other;
} tare_onnx_graph;

typedef struct tare_onnx_value {
    tare_span type;    /* TypeProto as it stood; written again while dtype and shape are still these: */
    tare_dtype dtype;  /* NONE also for sequences, maps and types that tare does not have */
    tare_shape shape;  /* unknown also when the rank is past TARE_RANK_MAX */
    tare_spans info;   /* of ValueInfoProto */
    tare_spans tensor; /* of TensorProto, when it is an initializer */
} tare_onnx_value;

/* An AttributeProto that is written back as it stood but for its name and its reference. */
typedef struct tare_onnx_raw_attribute {
    const char *name;
    tare_span bytes;
} tare_onnx_raw_attribute;

/* What an attribute of a known op had beside its value. */
typedef struct tare_onnx_attribute_extra {
    const char *name;
    tare_spans other;
} tare_onnx_attribute_extra;

typedef struct tare_onnx_node {
    const tare_op *op; /* as it was read */
    uint64_t given;    /* bit i: the file had the i-th field of that op's table, be it the default */
    tare_spans other;
    TARE_VEC(tare_onnx_raw_attribute) raw; /* all of them, when tare does not know the op */
    TARE_VEC(tare_onnx_attribute_extra) attributes;
} tare_onnx_node;

/* The model's extra, NULL when another format read it or it was made in memory: then no other extra counts either. */
const tare_onnx_model *tare_onnx_model_extra(const tare_model *model);

#endif
