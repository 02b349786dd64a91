/* onnx.proto as numbers: the fields of its messages, its element types, and the limits a file must keep to. Names are
 * those of onnx.proto (IR version 14). */
#ifndef TARE_FORMATS_ONNX_SCHEMA_H
#define TARE_FORMATS_ONNX_SCHEMA_H

enum model_proto {
    MODEL_IR_VERSION = 1,
    MODEL_PRODUCER_NAME = 2,
    MODEL_PRODUCER_VERSION = 3,
    MODEL_DOC_STRING = 6,
    MODEL_GRAPH = 7,
    MODEL_OPSET_IMPORT = 8,
    MODEL_METADATA_PROPS = 14,
    MODEL_FUNCTIONS = 25
};

enum opset_id_proto { OPSET_DOMAIN = 1, OPSET_VERSION = 2 };

enum entry_proto { ENTRY_KEY = 1, ENTRY_VALUE = 2 }; /* StringStringEntryProto */

enum graph_proto {
    GRAPH_NODE = 1,
    GRAPH_NAME = 2,
    GRAPH_INITIALIZER = 5,
    GRAPH_INPUT = 11,
    GRAPH_OUTPUT = 12,
    GRAPH_VALUE_INFO = 13,
    GRAPH_SPARSE_INITIALIZER = 15
};

enum node_proto {
    NODE_INPUT = 1,
    NODE_OUTPUT = 2,
    NODE_NAME = 3,
    NODE_OP_TYPE = 4,
    NODE_ATTRIBUTE = 5,
    NODE_DOMAIN = 7,
    NODE_OVERLOAD = 8
};

enum attribute_proto {
    ATTRIBUTE_NAME = 1,
    ATTRIBUTE_F = 2,
    ATTRIBUTE_I = 3,
    ATTRIBUTE_S = 4,
    ATTRIBUTE_T = 5,
    ATTRIBUTE_G = 6,
    ATTRIBUTE_FLOATS = 7,
    ATTRIBUTE_INTS = 8,
    ATTRIBUTE_STRINGS = 9,
    ATTRIBUTE_TENSORS = 10,
    ATTRIBUTE_GRAPHS = 11,
    ATTRIBUTE_TP = 14,
    ATTRIBUTE_TYPE_PROTOS = 15,
    ATTRIBUTE_TYPE = 20,
    ATTRIBUTE_REF_ATTR_NAME = 21,
    ATTRIBUTE_SPARSE_TENSOR = 22,
    ATTRIBUTE_SPARSE_TENSORS = 23
};

enum attribute_type {
    TYPE_UNDEFINED = 0,
    TYPE_FLOAT = 1,
    TYPE_INT = 2,
    TYPE_STRING = 3,
    TYPE_TENSOR = 4,
    TYPE_GRAPH = 5,
    TYPE_FLOATS = 6,
    TYPE_INTS = 7,
    TYPE_STRINGS = 8,
    TYPE_TENSORS = 9,
    TYPE_GRAPHS = 10,
    TYPE_SPARSE_TENSOR = 11,
    TYPE_SPARSE_TENSORS = 12,
    TYPE_TYPE_PROTO = 13,
    TYPE_TYPE_PROTOS = 14,
    TYPE_COUNT = 15
};

enum tensor_proto {
    TENSOR_DIMS = 1,
    TENSOR_DATA_TYPE = 2,
    TENSOR_SEGMENT = 3,
    TENSOR_FLOAT_DATA = 4,
    TENSOR_INT32_DATA = 5,
    TENSOR_STRING_DATA = 6,
    TENSOR_INT64_DATA = 7,
    TENSOR_NAME = 8,
    TENSOR_RAW_DATA = 9,
    TENSOR_DOUBLE_DATA = 10,
    TENSOR_UINT64_DATA = 11,
    TENSOR_EXTERNAL_DATA = 13,
    TENSOR_DATA_LOCATION = 14
};
enum { LOCATION_DEFAULT = 0, LOCATION_EXTERNAL = 1 };

enum sparse_tensor_proto { SPARSE_VALUES = 1, SPARSE_INDICES = 2, SPARSE_DIMS = 3 };

enum value_info_proto { VALUE_NAME = 1, VALUE_TYPE = 2, VALUE_DOC_STRING = 3 };
enum type_proto { TYPE_PROTO_TENSOR = 1 }; /* of the others only the name of the field matters */
enum tensor_type_proto { TENSOR_TYPE_ELEM = 1, TENSOR_TYPE_SHAPE = 2 };
enum shape_proto { SHAPE_DIM = 1 };
enum dimension_proto { DIM_VALUE = 1, DIM_PARAM = 2 };

enum function_proto {
    FUNCTION_NAME = 1,
    FUNCTION_INPUT = 4,
    FUNCTION_OUTPUT = 5,
    FUNCTION_ATTRIBUTE = 6,
    FUNCTION_NODE = 7,
    FUNCTION_OPSET_IMPORT = 9,
    FUNCTION_DOMAIN = 10,
    FUNCTION_ATTRIBUTE_PROTO = 11,
    FUNCTION_OVERLOAD = 13
};

enum { ELEMENT_TYPE_COUNT = 29 }; /* TensorProto.DataType: 1…28 have a meaning */

/* Limits (docs: limits). Past them: TARE_E_LIMIT. */
enum {
    OPSET_MIN = 7,
    OPSET_MAX = 25,
    IR_VERSION_MIN = 3,
    IR_VERSION_MAX = 14,
    GRAPH_DEPTH_MAX = 32,
    FUNCTION_DEPTH_MAX = 32,
    FUNCTION_COUNT_MAX = 10000,
    FUNCTION_NODES_MAX = 50000, /* nodes that inlining makes */
    FUNCTION_NAMES_MAX = 4096,  /* inputs of a function, or outputs, or attributes */
    INLINED_NAME_MAX = 256,     /* bytes of a name that inlining makes */
    NODE_COUNT_MAX = 1000000,
    TENSOR_COUNT_MAX = 2000000,
    ATTRIBUTE_COUNT_MAX = 256, /* of a node */
    NAME_SIZE_MAX = 4096,
    STRING_SIZE_MAX = 65536,
    RANK_HEADER_MAX = 64
};
#define FILE_SIZE_MAX     (((size_t)1 << 31) - 1) /* protobuf's own */
#define FUNCTION_WORK_MAX ((size_t)1 << 28)       /* bytes of nodes that inlining reads */
#define SPARSE_SIZE_MAX   ((size_t)1 << 30)       /* bytes of all sparse tensors when made dense, */
#define SPARSE_SIZE_FREE  ((size_t)1 << 24)       /* and of each, beside */
#define SPARSE_RATIO_MAX  1024 /* times the bytes of its values: a short file must not take all memory */

#endif
