/* Who decided each scale, kept in a file as the model's property "tare.origins": a JSON object that has for tensors of codes,
 * by their names, an object of
 *   by      what kind of origin (the names in graph/quant.c)
 *   number  of a percentile: which; else left out
 *   detail  the value whose scale it shares, or the op that fixes it; left out where there is none
 *   tried   true when method auto chose it
 *   was     what it was before someone changed it, in words; left out when nobody did
 * Codes that are not in it have the origin "qdq". What a file says here decides nothing but words, so what cannot be read
 * is left out with a note. */
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "formats/onnx/reader.h"
#include "formats/onnx/writer.h"

enum { TEXT_SIZE_MAX = 16 << 20 /* a tree of JSON takes some ten times its text */, LISTED_MAX = 3 };

/* ---- reading ---- */

typedef struct list {
    tare_model *model;
    tare_log *log;
    size_t bad;
} list;

/* A line of words or a name, in the tree; *to is NULL when there is none. */
static bool get_text(const json_t *entry, const char *key, const char **to) {
    const json_t *value = json_object_get(entry, key);
    *to = json_string_value(value);
    if (!*to) return !value;
    for (const char *at = *to; *at; at++)
        if ((unsigned char)*at < 0x20 || *at == 0x7f) return false;
    return **to && json_string_length(value) <= NAME_SIZE_MAX;
}

static bool wants_detail(tare_origin_kind kind) { return kind == TARE_ORIGIN_SAME || kind == TARE_ORIGIN_FIXED; }

/* False: something in it cannot be. */
static bool read_entry(const json_t *entry, tare_origin *to) {
    const char *kind = json_string_value(json_object_get(entry, "by"));
    const json_t *number = json_object_get(entry, "number"), *tried = json_object_get(entry, "tried");
    *to = (tare_origin){ .is_tried = json_is_true(tried) };
    if (!kind || !tare_origin_kind_find(kind, &to->kind)) return false;
    if (!get_text(entry, "detail", &to->detail) || !get_text(entry, "was", &to->was)) return false;
    if (wants_detail(to->kind) != (to->detail != NULL) || (tried && !json_is_boolean(tried))) return false;
    if (to->kind != TARE_ORIGIN_PERCENTILE) return !number;
    to->number = json_number_value(number);
    return to->number >= 50 && to->number <= 100;
}

static bool keep_text(const list *l, const char **text) {
    return !*text || (*text = tare_arena_strdup(l->model->arena, *text)) != NULL;
}

static tare_status add_entry(list *l, const char *name, const json_t *entry, tare_error *err) {
    tare_origin *origin = tare_arena_alloc(l->model->arena, 1, sizeof *origin);
    if (!origin) return tare_fail_memory(err, sizeof *origin);
    if (!read_entry(entry, origin)) {
        if (l->bad++ < LISTED_MAX)
            tare_log_note(l->log, "metadata '%s': what it says of '%.64s' is not understood, and left out",
                          TARE_ONNX_ORIGINS, name);
        return TARE_OK;
    }
    const bool is_kept = keep_text(l, &name) && keep_text(l, &origin->detail) && keep_text(l, &origin->was);
    return is_kept && tare_map_put(&l->model->origins, name, origin) ? TARE_OK : tare_fail_memory(err, 0);
}

static tare_status add_entries(list *l, json_t *root, tare_error *err) {
    const char *name;
    json_t *entry;
    json_object_foreach(root, name, entry) TARE_TRY(add_entry(l, name, entry, err));
    if (l->bad > LISTED_MAX)
        tare_log_note(l->log, "metadata '%s': and of %zu more", TARE_ONNX_ORIGINS, l->bad - LISTED_MAX);
    return TARE_OK;
}

tare_status tare_onnx_read_origins(tare_model *model, const char *text, tare_log *log, tare_error *err) {
    list l = { .model = model, .log = log };
    const size_t size = strlen(text);
    json_error_t problem;
    if (size > TEXT_SIZE_MAX) {
        tare_log_note(log, "metadata '%s': %zu bytes, at most %d are read; left out", TARE_ONNX_ORIGINS, size,
                      TEXT_SIZE_MAX);
        return TARE_OK;
    }
    json_t *root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &problem);
    if (!root && json_error_code(&problem) == json_error_out_of_memory) return tare_fail_memory(err, size);
    if (!json_is_object(root)) {
        tare_log_note(log, "metadata '%s': is no JSON object; left out", TARE_ONNX_ORIGINS);
        json_decref(root);
        return TARE_OK;
    }
    const tare_status status = add_entries(&l, root, err);
    json_decref(root);
    return status;
}

/* ---- writing ---- */

static bool set(json_t *object, const char *key, json_t *value) { return !json_object_set_new(object, key, value); }

static json_t *new_entry(const tare_origin *origin) {
    json_t *entry = json_object();
    bool done = set(entry, "by", json_string(tare_origin_kind_name(origin->kind)));
    if (origin->kind == TARE_ORIGIN_PERCENTILE) done &= set(entry, "number", json_real(origin->number));
    if (origin->detail) done &= set(entry, "detail", json_string(origin->detail));
    if (origin->is_tried) done &= set(entry, "tried", json_true());
    if (origin->was) done &= set(entry, "was", json_string(origin->was));
    if (done) return entry;
    json_decref(entry);
    return NULL;
}

static bool is_json_text(const char *text) { return !text || tare_utf8_is_valid(text, strlen(text)); }

/* The codes of a Q or DQ node of ONNX's own or com.microsoft's; NULL: it is neither. */
static const tare_value *codes_of(const tare_node *node) {
    if (!strcmp(node->type, "QuantizeLinear")) return tare_node_output(node, 0);
    return !strcmp(node->type, "DequantizeLinear") ? tare_node_input(node, 0) : NULL;
}

/* In the order of the nodes. Graphs nest at most 32 deep. */
static bool list_graph(json_t *root, const tare_graph *graph) {
    tare_for_nodes (node, graph) {
        const tare_value *codes = codes_of(node);
        const tare_origin *origin = codes ? tare_map_get(&graph->model->origins, codes->name) : NULL;
        const bool is_new = origin && !json_object_get(root, codes->name) && is_json_text(codes->name) &&
                            is_json_text(origin->detail) && is_json_text(origin->was);
        if (is_new && !set(root, codes->name, new_entry(origin))) return false;
        tare_graph *body;
        for (int i = 0; (body = tare_node_body(node, i)); i++)
            if (!list_graph(root, body)) return false;
    }
    return true;
}

static int append(const char *bytes, size_t size, void *text) {
    tare_text_append(text, bytes, size);
    return 0;
}

tare_status tare_onnx_write_origins(tare_model *model, tare_log *log, tare_error *err) {
    tare_text text = { .arena = model->arena };
    json_t *root = json_object();
    const bool is_listed = root && list_graph(root, model->graph);
    /* 15 digits give back what a user wrote. */
    const int failed = !is_listed || json_dump_callback(root, append, &text, JSON_COMPACT | JSON_REAL_PRECISION(15));
    const bool is_empty = is_listed && !json_object_size(root);
    json_decref(root);
    if (failed || text.failed) return tare_fail_memory(err, text.length);
    if (text.length > TEXT_SIZE_MAX)
        tare_log_note(log, "who decided the scales takes %zu bytes of metadata, and is left out", text.length);
    return tare_model_set_property(model, TARE_ONNX_ORIGINS, is_empty || text.length > TEXT_SIZE_MAX ? NULL : text.at,
                                   err);
}
