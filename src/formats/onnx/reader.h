/* What the files of the ONNX reader share: the reader's state, scopes of names, and who reads what. A graph is read in
 * steps, so that nodes may stand in any order: inputs and initializers, then every node with its outputs, then their
 * inputs and attributes, then bodies (whose names may come from any of these), then graph outputs. */
#ifndef TARE_FORMATS_ONNX_READER_H
#define TARE_FORMATS_ONNX_READER_H

#include "formats/onnx/extra.h"
#include "formats/onnx/schema.h"

/* External data that is not at its place yet: the writer reads back what it wrote before anything is renamed. */
typedef struct tare_onnx_redirect {
    const char *location, *path;
} tare_onnx_redirect;

typedef struct tare_onnx_reader {
    tare_model *model;
    tare_onnx_model *extra;
    tare_arena *scratch; /* freed when the model is read */
    const uint8_t *base;
    const char *path; /* NULL: read from memory, then external data is refused */
    const tare_read_options *options;
    const tare_onnx_redirect *redirect;          /* NULL: none */
    tare_map functions;                          /* key of tare_onnx_function_key: tare_onnx_function * */
    tare_map files;                              /* location: external.c's own */
    size_t nodes, tensors, inlined, work, dense; /* counted against the limits */
} tare_onnx_reader;

/* ---- functions of the model that are being inlined, and the names inside them ---- */

typedef struct tare_onnx_function {
    const char *key, *domain, *name;
    TARE_VEC(const char *) inputs, outputs;
    TARE_VEC(const char *) attributes; /* without a default */
    tare_spans defaults;               /* AttributeProto */
    tare_spans nodes;
    TARE_VEC(tare_onnx_import) imports;
} tare_onnx_function;

typedef struct tare_onnx_scope tare_onnx_scope;

/* One use of a function. */
typedef struct tare_onnx_call {
    const tare_onnx_function *function;
    tare_graph *graph;            /* that the nodes go into */
    const tare_onnx_scope *scope; /* of the calling node */
    const char *prefix;           /* of the names of its inner values and nodes */
    tare_span node;               /* the calling NodeProto: for its attributes */
} tare_onnx_call;

/* Names inside a function, or inside a body there; NULL stands for the names of the graphs themselves. */
struct tare_onnx_scope {
    const tare_onnx_call *call;
    const tare_onnx_scope *outer; /* the scope around a body; NULL: the function's own */
    tare_map names;               /* tare_onnx_binding * */
};

typedef struct tare_onnx_binding {
    tare_value *value;  /* NULL: an input of the function, which is … */
    const char *actual; /* … this name where it is called, "" when left out there */
} tare_onnx_binding;

/* ---- text ---- */

/* A name: of limited size, UTF-8, no control characters. On the scratch arena. */
tare_status tare_onnx_take_name(tare_onnx_reader *reader, const tare_wire *wire, const tare_wire_field *field,
                                const char **to, tare_error *err);
/* Text of limited size without NUL bytes, on the model's arena. */
tare_status tare_onnx_take_text(tare_onnx_reader *reader, const tare_wire *wire, const tare_wire_field *field,
                                const char **to, tare_error *err);
/* Can these bytes be held as a C string? */
bool tare_onnx_is_text(tare_span bytes);
tare_status tare_onnx_keep(tare_onnx_reader *reader, tare_spans *spans, const tare_wire_field *field, tare_error *err);

/* Is there room for another "where" before the error's text? What is wrong must not be pushed out by where it is. */
bool tare_onnx_has_room(const tare_error *err);
/* PREFIX/NAME, or a number in place of a long name; on the scratch arena. NULL: no memory. */
const char *tare_onnx_inner_name(tare_onnx_reader *reader, const tare_onnx_scope *scope, const char *name);

/* ---- parts of a model ---- */

/* The version of a domain where `scope` stands: the function's import or the model's; 0: not imported. */
int64_t tare_onnx_opset(const tare_onnx_reader *reader, const tare_onnx_scope *scope, const char *domain);
tare_status tare_onnx_read_import(tare_onnx_reader *reader, tare_span bytes, tare_onnx_import *to, tare_error *err);

/* The model's property TARE_ONNX_ORIGINS; what it says that cannot be so is left out with a note. */
tare_status tare_onnx_read_origins(tare_model *model, const char *text, tare_log *log, tare_error *err);

/* GraphProto into an empty graph; scope NULL but in bodies inside of functions. */
tare_status tare_onnx_read_graph(tare_onnx_reader *reader, tare_span bytes, tare_graph *graph,
                                 const tare_onnx_scope *scope, tare_error *err);

/* Makes the value of a name; TARE_E_MALFORMED when there is one already. */
tare_status tare_onnx_define(tare_onnx_reader *reader, tare_graph *graph, const tare_onnx_scope *scope,
                             const char *name, tare_value **to, tare_error *err);
/* The value of a name; NULL with *left_out when it is an input of a function that its call leaves out. */
tare_value *tare_onnx_find(const tare_graph *graph, const tare_onnx_scope *scope, const char *name, bool *left_out);

/* ValueInfoProto: its name, then what it says of the value. */
tare_status tare_onnx_read_info_name(tare_onnx_reader *reader, tare_span bytes, const char **name, tare_error *err);
tare_status tare_onnx_read_info(tare_onnx_reader *reader, tare_span bytes, tare_value *value, bool with_symbols,
                                tare_error *err);
/* Gives a value a dtype and a shape, unknown or not; TARE_E_MALFORMED when it had others already. */
tare_status tare_onnx_declare(const tare_onnx_reader *reader, tare_value *value, tare_dtype dtype,
                              const tare_shape *shape, tare_error *err);
/* The value's extra, made when it has none. */
tare_onnx_value *tare_onnx_value_extra(tare_onnx_reader *reader, tare_value *value, tare_error *err);

/* TensorProto; *name is on the scratch arena, "" when it has none; fields not looked into go to *other. */
tare_status tare_onnx_read_tensor(tare_onnx_reader *reader, tare_span bytes, const char **name, tare_tensor **to,
                                  tare_spans *other, tare_error *err);
/* SparseTensorProto, made dense. */
tare_status tare_onnx_read_sparse(tare_onnx_reader *reader, tare_span bytes, const char **name, tare_tensor **to,
                                  tare_error *err);
/* The bytes that the external_data entries (StringStringEntryProto) point at; size: what dims want. */
tare_status tare_onnx_read_external(tare_onnx_reader *reader, const tare_spans *entries, size_t size, tare_span *to,
                                    tare_error *err);

/* ---- nodes ---- */

/* A node that stands in its graph without inputs and attributes yet. */
typedef struct tare_onnx_pending {
    tare_node *node;
    tare_span bytes; /* NodeProto; at NULL: an Identity made for a function, whose input is: */
    const char *input;
    const tare_onnx_scope *scope;
} tare_onnx_pending;
typedef TARE_VEC(tare_onnx_pending) tare_onnx_pendings;

/* A body that waits for the names around it. */
typedef struct tare_onnx_body {
    tare_node *node;
    const tare_field *field;
    tare_span bytes;
    const tare_onnx_scope *scope;
} tare_onnx_body;
typedef TARE_VEC(tare_onnx_body) tare_onnx_bodies;

/* What is known of a node before it is made. Text is on the scratch arena. */
typedef struct tare_onnx_head {
    const char *name, *type, *domain, *overload;
    size_t input_count, attribute_count;
    TARE_VEC(const char *) outputs;
} tare_onnx_head;

/* Makes the nodes with their outputs; calls of functions become the functions' nodes. */
tare_status tare_onnx_add_nodes(tare_onnx_reader *reader, const tare_spans *nodes, tare_graph *graph,
                                const tare_onnx_scope *scope, tare_onnx_pendings *pendings, tare_error *err);
tare_status tare_onnx_connect(tare_onnx_reader *reader, const tare_onnx_pending *pending, tare_error *err);
tare_status tare_onnx_read_attributes(tare_onnx_reader *reader, const tare_onnx_pending *pending,
                                      tare_onnx_bodies *bodies, tare_error *err);

/* FunctionProto, entered in reader->functions. */
tare_status tare_onnx_read_function(tare_onnx_reader *reader, tare_span bytes, tare_error *err);
/* *to is NULL when the node calls none. */
tare_status tare_onnx_find_function(tare_onnx_reader *reader, const tare_onnx_head *head, const tare_onnx_function **to,
                                    tare_error *err);
/* The nodes of the function in place of the calling node, whose NodeProto is `bytes`. */
tare_status tare_onnx_inline(tare_onnx_reader *reader, const tare_onnx_function *function, const tare_onnx_head *head,
                             tare_span bytes, tare_graph *graph, const tare_onnx_scope *scope,
                             tare_onnx_pendings *pendings, tare_error *err);

tare_status tare_onnx_count_work(tare_onnx_reader *reader, size_t bytes, tare_error *err);

/* An AttributeProto taken apart. */
typedef struct tare_onnx_attribute {
    const char *name, *reference; /* reference "": none */
    int type;                     /* enum attribute_type */
    uint32_t present;             /* bit n: field n holds something */
    float f;
    int64_t i;
    tare_span s, t, g;
    size_t count; /* of the list, when it is one */
    tare_spans other;
    tare_span bytes;
} tare_onnx_attribute;
tare_status tare_onnx_parse_attribute(tare_onnx_reader *reader, tare_span bytes, tare_onnx_attribute *to,
                                      tare_error *err);
/* Follows a reference to the attribute of a function's call or its default: *to becomes what is there, *scope where its
 * names belong; *absent: it was not given and has no default. Without a reference nothing changes. */
tare_status tare_onnx_follow_reference(tare_onnx_reader *reader, tare_onnx_attribute *to, const tare_onnx_scope **scope,
                                       bool *absent, tare_error *err);

/* A model from bytes that outlive it. path and redirect may be NULL. */
tare_status tare_onnx_read_bytes(tare_model **out, const uint8_t *bytes, size_t size, const char *path,
                                 const tare_read_options *options, const tare_onnx_redirect *redirect, tare_error *err);
/* A file, with the redirect that may be NULL. */
tare_status tare_onnx_read_file(tare_model **out, const char *path, const tare_read_options *options,
                                const tare_onnx_redirect *redirect, tare_error *err);

#endif
