/* Pad: adds elements around a tensor (a constant, or copies by one of three rules), or takes some away where a pad is
 * negative. */
#include <string.h>

#include "ops/entries.h"
#include "ops/move.h"

enum { CHUNK_BYTES = 64 * 1024 /* what one piece of work writes at least */ };

enum { CONSTANT, REFLECT, EDGE, WRAP };

typedef struct attributes {
    int mode;
} attributes;

static const char *const modes[] = { "constant", "reflect", "edge", "wrap", NULL }; /* ORDER: the enum above */

static const tare_field fields[] = {
    { .name = "mode", .type = TARE_FIELD_ENUM, .offset = offsetof(attributes, mode), .names = modes },
    { .type = TARE_FIELD_END },
};

static const tare_op_dual duals[] = {
    { .attribute = "pads", .input = 1, .until = 10, .type = TARE_FIELD_INTS },
    { .attribute = "value", .input = 2, .until = 10, .type = TARE_FIELD_FLOAT },
    { 0 },
};

/* One dimension: `from` elements of the input, of which cut…cut+kept-1 are used; `before` new ones in front, and as many
 * behind as fill up `to`. */
typedef struct edge {
    int64_t from, cut, kept, before, to;
} edge;

static tare_status pad_dim(int64_t dim, int64_t begin, int64_t end, int mode, int axis, edge *out, tare_error *err) {
    const int64_t limit = INT32_MAX;
    if (begin > limit || end > limit || begin < -limit || end < -limit)
        return tare_fail(err, TARE_E_LIMIT, "pads %lld and %lld of dimension %d, may be %lld at most", (long long)begin,
                         (long long)end, axis, (long long)limit);
    *out =
        (edge){ .from = dim, .cut = begin < 0 ? -begin : 0, .before = begin > 0 ? begin : 0, .to = dim + begin + end };
    out->kept = dim - out->cut - (end < 0 ? -end : 0);
    if (out->kept < 0)
        return tare_fail(err, TARE_E_MALFORMED, "pads %lld and %lld take more than the %lld of dimension %d",
                         (long long)begin, (long long)end, (long long)dim, axis);
    int64_t most = begin > end ? begin : end;
    if (mode == REFLECT && most > 0 && most >= out->kept)
        return tare_fail(err, TARE_E_MALFORMED, "a pad of %lld reflects a dimension of %lld, it must be smaller",
                         (long long)most, (long long)out->kept);
    if (mode != CONSTANT && most > 0 && out->kept == 0)
        return tare_fail(err, TARE_E_MALFORMED, "dimension %d has nothing to copy into its pads", axis);
    return TARE_OK;
}

/* What infer() and run() read alike: pads per axis. known false: not all are. */
typedef struct padding {
    bool known;
    int64_t begin[TARE_RANK_MAX], end[TARE_RANK_MAX];
} padding;

static tare_status read_pads(const tare_node *node, int rank, padding *out, tare_error *err) {
    tare_entries entries;
    tare_axes axes = { .known = true, .count = rank };
    *out = (padding){ 0 };
    TARE_TRY(tare_infer_entries(node, 1, &entries, err));
    for (int i = 0; i < rank; i++) axes.at[i] = i;
    if (tare_node_input(node, 3)) TARE_TRY(tare_infer_axes(node, 3, rank, &axes, err));
    if (entries.count >= 0 && axes.count >= 0 && entries.count != 2 * axes.count)
        return tare_fail(err, TARE_E_MALFORMED, "has %d pads for %d axes, want %d", entries.count, axes.count,
                         2 * axes.count);
    if (entries.count < 0 || !axes.known) return TARE_OK;
    for (int i = 0; i < entries.count; i++)
        if (entries.at[i].kind != TARE_ENTRY_NUMBER) return TARE_OK;
    for (int i = 0; i < axes.count; i++) {
        out->begin[axes.at[i]] = entries.at[i].number;
        out->end[axes.at[i]] = entries.at[axes.count + i].number;
    }
    out->known = true;
    return TARE_OK;
}

static tare_status infer(tare_node *node, tare_error *err) {
    const attributes *attrs = node->attrs;
    tare_shape from = tare_input_shape(node, 0), to = from;
    padding pads;
    tare_dtype dtype;
    TARE_TRY(tare_infer_one_type(node, 5, &dtype, err));
    if (from.rank < 0) return tare_infer_set(node, 0, dtype, &from, err);
    const tare_value *value = tare_node_input(node, 2);
    if (value && tare_shape_is_static(&value->shape) && tare_shape_elements(&value->shape) != 1)
        return tare_fail(err, TARE_E_MALFORMED, "input 2 ('%s') has %lld elements, want one", value->name,
                         (long long)tare_shape_elements(&value->shape));
    TARE_TRY(read_pads(node, from.rank, &pads, err));
    for (int i = 0; i < from.rank; i++) {
        edge e;
        if (!pads.known) {
            to.dim[i] = TARE_DIM_UNKNOWN;
        } else if (from.dim[i] < 0) {
            to.dim[i] = pads.begin[i] || pads.end[i] ? TARE_DIM_UNKNOWN : from.dim[i];
        } else {
            TARE_TRY(pad_dim(from.dim[i], pads.begin[i], pads.end[i], attrs->mode, i, &e, err));
            to.dim[i] = e.to;
        }
    }
    return tare_infer_set(node, 0, dtype, &to, err);
}

/* Which element of the input element `i` of the output copies; -1: the constant. */
static int64_t source_of(const edge *e, int mode, int64_t i) {
    int64_t at = i - e->before;
    if (at >= 0 && at < e->kept) return e->cut + at;
    switch (mode) {
    case REFLECT: at = at < 0 ? -at : 2 * (e->kept - 1) - at; break;
    case EDGE: at = at < 0 ? 0 : e->kept - 1; break;
    case WRAP:
        at %= e->kept;
        if (at < 0) at += e->kept;
        break;
    default: return -1;
    }
    return e->cut + at;
}

typedef struct pad_job {
    edge edges[TARE_RANK_MAX];
    int64_t strides[TARE_RANK_MAX];
    int rank, mode;
    size_t size;
    char *to;
    const char *from, *constant;
    int64_t rows, per_chunk;
} pad_job;

/* The pads of one row: `count` elements from `first` on. */
static void write_pads(const pad_job *job, char *to, const char *from, int64_t first, int64_t count) {
    const edge *e = &job->edges[job->rank - 1];
    if (count <= 0) return;
    if (job->mode == CONSTANT || job->mode == EDGE) {
        const char *element = job->constant;
        if (job->mode == EDGE) element = from + source_of(e, EDGE, first) * (int64_t)job->size;
        tare_move_fill(to + first * (int64_t)job->size, element, job->size, count);
        return;
    }
    for (int64_t i = first; i < first + count; i++)
        tare_move_fill(to + i * (int64_t)job->size, from + source_of(e, job->mode, i) * (int64_t)job->size, job->size,
                       1);
}

static void write_row(const pad_job *job, int64_t row) {
    int last = job->rank - 1;
    const edge *e = &job->edges[last];
    int64_t source = 0, rest = row;
    bool is_outside = false;
    for (int i = last - 1; i >= 0; i--) {
        int64_t at = source_of(&job->edges[i], job->mode, rest % job->edges[i].to);
        rest /= job->edges[i].to;
        is_outside |= at < 0;
        source += at * job->strides[i];
    }
    char *to = job->to + (size_t)(row * e->to) * job->size;
    if (is_outside) {
        tare_move_fill(to, job->constant, job->size, e->to);
        return;
    }
    const char *from = job->from + source * (int64_t)job->size;
    write_pads(job, to, from, 0, e->before);
    if (e->kept > 0)
        memcpy(to + e->before * (int64_t)job->size, from + e->cut * (int64_t)job->size, (size_t)e->kept * job->size);
    write_pads(job, to, from, e->before + e->kept, e->to - e->before - e->kept);
}

static void write_rows(void *context, size_t index, size_t thread) {
    (void)thread;
    const pad_job *job = context;
    int64_t first = (int64_t)index * job->per_chunk, end = first + job->per_chunk;
    for (int64_t row = first; row < end && row < job->rows; row++) write_row(job, row);
}

static tare_status run(const tare_call *call, tare_error *err) {
    static const uint64_t zero = 0;
    static const char *const nothing = "";
    const attributes *attrs = call->attrs;
    const tare_tensor *from = call->inputs[0], *value = call->input_count > 2 ? call->inputs[2] : NULL;
    tare_tensor *to = call->outputs[0];
    tare_shape want = from->shape;
    padding pads;
    pad_job job = { .rank = from->shape.rank,
                    .mode = attrs->mode,
                    .size = tare_dtype_size(from->dtype),
                    .to = to->data,
                    .from = from->data };
    job.constant = value ? value->data : from->dtype == TARE_STRING ? (const char *)&nothing : (const char *)&zero;
    tare_call_node node; /* the pads again, from the tensors of this run, in ONNX's order of dimensions */
    tare_call_node_set(&node, call);
    TARE_TRY(read_pads(&node.node, job.rank, &pads, err));
    for (int i = 0; i < job.rank; i++) {
        int at = tare_layout_axis(call->layout, i, job.rank);
        TARE_TRY(pad_dim(from->shape.dim[at], pads.begin[i], pads.end[i], job.mode, i, &job.edges[at], err));
        want.dim[at] = job.edges[at].to;
    }
    TARE_TRY(tare_run_check_shape(to, &want, err));
    if (job.rank == 0) return tare_run_copy(call, err);
    tare_shape_strides(job.strides, &from->shape);
    job.rows = tare_shape_product(&want, 0, job.rank - 1);
    int64_t row_bytes = want.dim[job.rank - 1] * (int64_t)job.size;
    job.per_chunk = CHUNK_BYTES / (row_bytes + 1) + 1;
    int64_t chunks = (job.rows + job.per_chunk - 1) / job.per_chunk;
    tare_pool_run(chunks > 1 ? call->pool : NULL, (size_t)chunks, write_rows, &job);
    return TARE_OK;
}

static int needs(const tare_node *node) {
    const attributes *attrs = node->attrs;
    if (attrs->mode == WRAP) return 19;
    return tare_node_input(node, 3) ? 18 : 2;
}

const tare_op tare_op_pad = {
    .name = "Pad",
    .since = 18,
    .inputs = { 2, 4 },
    .outputs = { 1, 1 },
    .attrs = fields,
    .attrs_size = sizeof(attributes),
    .duals = duals,
    .flags = TARE_OP_MOVES,
    .layout = TARE_LAYOUT_EITHER,
    .layout_inputs = 1,
    .quant = { .kind = TARE_QUANT_PASS },
    .needs = needs,
    .infer = infer,
    .run = run,
};
