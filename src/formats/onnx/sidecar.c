/* Writing ONNX: the external file beside the model. It is named by its contents, so that it never replaces what another
 * model needs, and the same weights give the same name and bytes. */
#include <string.h>
#include <xxhash.h>

#include "base/size.h"
#include "formats/onnx/schema.h"
#include "formats/onnx/writer.h"

/* Runtimes map pages; small tensors are not worth one, and the smallest stay in the model, where shapes are read. */
enum { INLINE_BELOW = 1024, PAGE = 4096, LINE = 64 };

static tare_status place_value(tare_onnx_writing *writing, tare_value *value, uint64_t *end, tare_error *err) {
    size_t size = tare_onnx_packed_size(value->constant), start;
    if (size < INLINE_BELOW) return TARE_OK;
    if (!tare_size_align(*end, size < PAGE ? LINE : PAGE, &start) || !tare_size_add(start, size, end))
        return tare_fail(err, TARE_E_LIMIT, "weights of more than 2^64 bytes");
    const tare_onnx_place place = { .tensor = value->constant, .offset = start, .size = size };
    if (!tare_vec_push(writing->model->arena, &writing->sidecar.places, place)) return tare_fail_memory(err, 0);
    value->mark = (uint32_t)writing->sidecar.places.count;
    return TARE_OK;
}

/* Graphs nest at most 32 deep. */
static tare_status place_graph(tare_onnx_writing *writing, tare_graph *graph, uint64_t *end, tare_error *err) {
    for (size_t i = 0; i < graph->values.entries.count; i++) {
        tare_value *value = graph->values.entries.at[i].value;
        if (value && tare_onnx_is_initializer(writing, value)) TARE_TRY(place_value(writing, value, end, err));
    }
    tare_for_nodes (node, graph) {
        tare_graph *body;
        for (int i = 0; (body = tare_node_body(node, i)); i++) TARE_TRY(place_graph(writing, body, end, err));
    }
    return TARE_OK;
}

/* The file's bytes in order: the gaps of zeros, the tensors. */
static bool each_piece(const tare_onnx_sidecar *sidecar, tare_onnx_sink *sink, void *context) {
    static const uint8_t zeros[PAGE];
    uint64_t end = 0;
    for (size_t i = 0; i < sidecar->places.count; i++) {
        const tare_onnx_place *place = &sidecar->places.at[i];
        if (!sink(context, zeros, (size_t)(place->offset - end)) || !tare_onnx_pack(place->tensor, sink, context))
            return false;
        end = place->offset + place->size;
    }
    return true;
}

/* Each piece is hashed with the hash before it as the seed. */
static bool to_hash(void *context, const void *bytes, size_t size) {
    XXH64_hash_t *hash = context;
    *hash = XXH3_64bits_withSeed(bytes, size, *hash);
    return true;
}

static tare_status name_sidecar(tare_onnx_writing *writing, const char *path, tare_error *err) {
    tare_onnx_sidecar *sidecar = &writing->sidecar;
    XXH64_hash_t hash = 0;
    each_piece(sidecar, to_hash, &hash);
    sidecar->path = tare_arena_printf(writing->model->arena, "%s.%016llx.data", path, (unsigned long long)hash);
    if (!sidecar->path) return tare_fail_memory(err, 0);
    const char *slash = strrchr(sidecar->path, '/');
    sidecar->location = slash ? slash + 1 : sidecar->path;
    return TARE_OK;
}

tare_status tare_onnx_plan_sidecar(tare_onnx_writing *writing, const char *path, tare_error *err) {
    uint64_t end = 0;
    TARE_TRY(place_graph(writing, writing->model->graph, &end, err));
    return writing->sidecar.places.count ? name_sidecar(writing, path, err) : TARE_OK;
}

typedef struct sink {
    tare_writer *writer;
    tare_error *err;
} sink;

static bool to_writer(void *context, const void *bytes, size_t size) {
    const sink *to = context;
    return tare_writer_write(to->writer, bytes, size, to->err) == TARE_OK;
}

tare_status tare_onnx_write_sidecar(const tare_onnx_sidecar *sidecar, tare_writer *writer, tare_error *err) {
    sink to = { .writer = writer, .err = err };
    return each_piece(sidecar, to_writer, &to) ? TARE_OK : err->status;
}
