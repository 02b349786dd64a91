/* What an operator is: one descriptor holds its attributes, its shape rule, its part in quantization (as data) and its
 * plain float loop. To add one: a file ops/<name>.c and a line in ops.def. Families whose members differ by a formula
 * share a file. Each op has one canonical form, the newest ONNX's; older forms are read through `duals` and `upgrade`.
 *
 * Trust: infer() meets nodes from hostile files and checks everything; prepare() and run() trust what infer() let by. */
#ifndef TARE_OPS_OP_H
#define TARE_OPS_OP_H

#include "base/constants.h"
#include "base/threads.h"
#include "graph/graph.h"
#include "kernels/kernels.h"

/* In which order of dimensions a node works. FIRST is ONNX's (N, C, spatial…); LAST is (N, spatial…, C). Tensors in
 * LAST have their shapes permuted too: what a loop sees is what lies in memory. */
typedef enum tare_layout { TARE_LAYOUT_FIRST, TARE_LAYOUT_LAST } tare_layout;

typedef enum tare_layout_rule {
    TARE_LAYOUT_FIRST_ONLY, /* the default: ONNX's order */
    TARE_LAYOUT_LAST_ONLY,  /* Conv, pools: the inputs in layout_inputs and the outputs come channels-last */
    TARE_LAYOUT_EITHER      /* runs in both; looks at call->layout where it names an axis (tare_layout_axis). In LAST,
                               inputs of ELEMENTWISE ops have the output's rank: ones are put before, then permuted */
} tare_layout_rule;

/* The place of ONNX axis `axis` (0…rank-1) in this layout. */
static inline int tare_layout_axis(tare_layout layout, int axis, int rank) {
    if (layout == TARE_LAYOUT_FIRST || rank < 3 || axis == 0) return axis;
    return axis == 1 ? rank - 1 : axis - 1;
}

/* An attribute of old opsets that is an input of the canonical form: read into a constant, written back as an attribute
 * when the file's opset is <= until and the input is constant. */
typedef struct tare_op_dual {
    const char *attribute; /* NULL closes the list */
    int input;
    int until;            /* the last opset that had it as attribute */
    tare_field_type type; /* TARE_FIELD_INT, INTS (-> s64) or FLOAT, FLOATS (-> f32) */
} tare_op_dual;

typedef enum tare_quant_kind {
    TARE_QUANT_KEEP_FLOAT, /* computed in float between DQ and Q, or outside quantization: the default */
    TARE_QUANT_PASS,       /* moves codes: every output has the scale of input 0 (Reshape, MaxPool, Gather, …) */
    TARE_QUANT_SAME,       /* the data inputs and the output may share one scale (Concat, Max, Where) */
    TARE_QUANT_OBSERVE,    /* the output's scale comes from what calibration saw */
    TARE_QUANT_FIXED       /* the output lies in lo…hi by nature (Softmax, Sigmoid) */
} tare_quant_kind;

typedef struct tare_quant_rule {
    tare_quant_kind kind;
    float lo, hi;    /* FIXED */
    bool has_weight; /* Conv, ConvTranspose, Gemm, MatMul: input 1 multiplies, input 2 is a bias */
    int (*weight_axis)(const tare_node *node); /* of the output channels in the weight; -1: none fits */
    /* What share of the outputs meets each tap of the weight, the rest falls on padding: where dimension 1 of input 0 are
     * channels and the weight is (outputs, channels of a group, taps…), or (channels, outputs) when weight_axis is 1; NULL or
     * false: it is otherwise. */
    bool (*tap_shares)(const tare_node *node, double *shares);
    tare_quant_kind (*kind_of)(
        const tare_node *node); /* where an attribute decides (Resize: nearest passes); NULL: kind */
    unsigned data_inputs;       /* bit i: input i carries data that may be quantized; 0 means bit 0 only */
    bool reads_ratios;          /* an error counts beside the number it is an error of, however small that is (Log) */
} tare_quant_rule;

enum {
    TARE_OP_ELEMENTWISE = 1,   /* output element i depends on input elements i alone, broadcast numpy's way */
    TARE_OP_COMMUTES = 2,      /* the two inputs may be exchanged */
    TARE_OP_MOVES = 4,         /* outputs are copies of input elements (or pads) */
    TARE_OP_IDEMPOTENT = 8,    /* f(f(x)) = f(x) */
    TARE_OP_NO_FOLD = 16,      /* never folded: random, or huge (ConstantOfShape past the limit decides for itself) */
    TARE_OP_CONTROL = 32,      /* has bodies; run/ executes it */
    TARE_OP_IN_PLACE = 64,     /* output 0 may lie on input 0 when shapes and types are equal */
    TARE_OP_FUSES_CLAMP = 128, /* prepare->clamp is honoured: a following Relu or Clip can be its last step */
    TARE_OP_VIEW = 256, /* output 0 has input 0's elements in the same order (Reshape, Identity): no copy needed */
    TARE_OP_READS_SHAPE = 512 /* looks at the inputs' shapes only: evaluated once they are static (Shape, Size) */
};

/* What a node gets before it runs, once per plan. */
typedef struct tare_prepare {
    const tare_node *node;
    const void *attrs;
    const tare_tensor *const *inputs; /* NULL: left out. data is NULL unless the input is constant */
    int input_count;
    const tare_tensor *const *outputs; /* NULL: not wanted */
    int output_count;
    tare_layout layout;
    const tare_kernels *kernels;
    size_t threads;
    tare_arena *arena;        /* lives as long as the plan: for the state, tables */
    tare_kept *kept;          /* likewise: for what is packed of constants, which plans share */
    float clamp_lo, clamp_hi; /* -inf and +inf unless a Relu or Clip was fused (FUSES_CLAMP): max(lo) then min(hi) */
    /* out */
    void *state;         /* handed to every run */
    unsigned taken;      /* bit i: all that run() needs of constant input i is in the state */
    size_t scratch_size; /* bytes run() may use, 64-byte aligned */
} tare_prepare;

typedef struct tare_call {
    const tare_node *node;
    const void *attrs;
    tare_tensor *const *inputs;
    int input_count;
    tare_tensor *const *outputs;
    int output_count;
    tare_layout layout;
    const tare_kernels *kernels;
    tare_pool *pool; /* may be NULL */
    void *state;
    void *scratch;
} tare_call;

struct tare_op {
    const char *name, *domain; /* domain NULL: ONNX's own */
    int since;                 /* the first opset whose form this is (what a written file needs) */
    int until;                 /* the last opset it is read for; 0: no end. Another descriptor of the name goes on */
    int inputs[2], outputs[2]; /* least and most; most < 0: no limit */
    const tare_field *attrs;   /* NULL: none */
    size_t attrs_size;
    const tare_op_dual *duals; /* NULL: none */
    unsigned flags;
    tare_layout_rule layout;
    unsigned
        layout_inputs; /* bit i: input i is data in the node's layout; 0: all of them (EITHER), input 0 (LAST_ONLY) */
    tare_quant_rule quant;

    /* Rewrites an old form to the canonical one(s): may add nodes and remove this one. NULL: it is canonical. */
    tare_status (*upgrade)(tare_graph *graph, tare_node *node, tare_error *err);
    /* Rewrites the node to ops that opset `opset` has, when `since` is newer and the file may not be lifted so far, or the
     * op is tare's own. NULL: the file is lifted. */
    tare_status (*expand)(tare_graph *graph, tare_node *node, int64_t opset, tare_error *err);

    /* The first opset that can say this very node, by `expand` if need be: what its attributes use decides. NULL: since. */
    int (*needs)(const tare_node *node);

    /* Checks attributes and inputs, sets dtype and shape of every output (unknown where inputs are unknown). Reads
     * constants of inputs where the shape depends on them: when all inputs are constants, the shapes are static, even
     * of data-dependent outputs (NonZero). Sets no constants. Errors say what, not which node: the caller adds that. */
    tare_status (*infer)(tare_node *node, tare_error *err);
    /* NULL: nothing to prepare. */
    tare_status (*prepare)(tare_prepare *prepare, tare_error *err);
    /* The function of one number, for ops that apply one to every element of input 0: what an error of the input does to the
     * output. NULL: the op is no such. */
    double (*curve)(const void *attrs, double real);
    /* Multiply-accumulates of one run, by the static shapes of its values (0 while they are unknown). NULL: none that
     * count. Conv: elements of the output * channels of a group * taps. */
    uint64_t (*macs)(const tare_node *node);
    /* The op on all the types infer() lets by. Only data-dependent faults (an index out of range) are errors. */
    tare_status (*run)(const tare_call *call, tare_error *err);
};

/* ---- ops.def ---- */
size_t tare_op_count(void);
const tare_op *tare_op_at(size_t index);

/* Infers one node: arity, attributes, then op->infer; the error names the node. Unknown ops: outputs stay unknown. */
tare_status tare_node_infer(tare_node *node, tare_error *err);
/* Infers a graph in order, bodies with it, from its inputs. Declared shapes of the file that contradict are errors. */
tare_status tare_graph_infer(tare_graph *graph, tare_error *err);

/* The node's part in quantization: kind_of where the op has one, else kind; unknown ops keep float. */
tare_quant_kind tare_node_quant_kind(const tare_node *node);
/* Is it a product with a weight whose output channels each read one input channel (dimension 1 of the weight is 1)? */
bool tare_node_is_depthwise(const tare_node *node);
/* Is input `index` one that carries data which may be quantized (rule.data_inputs)? */
bool tare_node_input_is_data(const tare_node *node, int index);

bool tare_qdq_is(const tare_node *node);                 /* QuantizeLinear or DequantizeLinear, of ONNX's own domain */
const tare_value *tare_qdq_codes(const tare_node *node); /* that a Q makes or a DQ reads */
/* What such a node says, on the model's arena; *out is NULL when scale and zero point are not constant, or not of f32. */
tare_status tare_qdq_read(const tare_node *node, const tare_quant **out, tare_error *err);

/* Runs one node whose inputs are constants and makes its outputs constants (on the model's arena). The caller decides
 * whether that is wise; nodes with NO_FOLD or CONTROL are refused by returning TARE_OK with *done false. */
tare_status tare_node_evaluate(tare_node *node, bool *done, tare_error *err);

/* Prepares and runs one node on tensors in ONNX's layout, converting when the op is LAST_ONLY: for evaluation, tests and
 * replay. Outputs are made on the arena. */
tare_status tare_node_run_once(const tare_node *node, tare_tensor *const *inputs, tare_tensor **outputs,
                               const tare_kernels *kernels, tare_pool *pool, tare_arena *arena, tare_error *err);

/* Copies a tensor between layouts; both have rank >= 3 and the shapes that belong to their layouts. */
void tare_layout_convert(const tare_tensor *from, tare_tensor *to, tare_layout to_layout, tare_pool *pool);

/* ---- shape rules that many ops share (ops/infer.c) ---- */
tare_status tare_infer_same(tare_node *node, tare_error *err);   /* every output like input 0 */
tare_status tare_infer_real(tare_node *node, tare_error *err);   /* the same, where input 0 is of a float type */
tare_status tare_infer_number(tare_node *node, tare_error *err); /* or of a float or integer type */
/* What the inputs broadcast to, and the one dtype that they have (NONE: none is known). */
tare_status tare_infer_broadcast_shape(const tare_node *node, tare_dtype *dtype, tare_shape *shape, tare_error *err);
/* Gives an output dtype and shape (NULL: unknown). What is unknown in either is taken from what was declared; what
 * contradicts it, and what is past the limits, is an error. An output that nobody wants is skipped. */
tare_status tare_infer_set(tare_node *node, int output, tare_dtype dtype, const tare_shape *shape, tare_error *err);
/* Is the input's dtype one of these (a mask of 1u << dtype)? Unknown and left out pass. */
tare_status tare_infer_check(const tare_node *node, int input, unsigned mask, tare_error *err);
/* Have the inputs (bit i: input i; bit 31: all from there on) one dtype? Unknown and left out pass; the dtype, NONE when none is known. */
tare_status tare_infer_one_type(const tare_node *node, unsigned inputs, tare_dtype *dtype, tare_error *err);
/* Has the input this rank? Unknown and left out pass. */
tare_status tare_infer_rank(const tare_node *node, int input, int rank, tare_error *err);
/* axis in -rank…rank-1 to 0…rank-1. */
tare_status tare_infer_axis(int64_t axis, int rank, int *out, tare_error *err);
/* Of the index-th input; NONE and unknown when it is left out. */
tare_dtype tare_input_dtype(const tare_node *node, int index);
tare_shape tare_input_shape(const tare_node *node, int index);

#define TARE_TYPES_FLOAT (1u << TARE_F32 | 1u << TARE_F16 | 1u << TARE_BF16 | 1u << TARE_F64)
#define TARE_TYPES_INTEGER                                                                                             \
    (1u << TARE_S8 | 1u << TARE_U8 | 1u << TARE_S16 | 1u << TARE_U16 | 1u << TARE_S32 | 1u << TARE_U32 |               \
     1u << TARE_S64 | 1u << TARE_U64)
#define TARE_TYPES_INDEX (1u << TARE_S32 | 1u << TARE_S64)
#define TARE_TYPES_ALL   ((1u << TARE_DTYPE_COUNT) - 2u)

/* ONNX's number of an element type (TensorProto.DataType), as attributes of Cast, EyeLike, … hold it. NONE and 0 when
 * there is none. */
tare_dtype tare_dtype_from_onnx(int64_t number);
int64_t tare_dtype_to_onnx(tare_dtype dtype);

#define OP(x) extern const tare_op tare_op_##x;
#include "ops/ops.def"
#undef OP

#endif
