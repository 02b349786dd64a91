/* Models from files: read, made canonical, their shapes inferred, open dimensions set as asked. */
#include <string.h>
#include <strings.h>
#include <tare/model.h>

#include "base/file.h"
#include "base/text.h"
#include "formats/format.h"
#include "passes/pass.h"

const tare_field tare_open_fields[] = {
    { "input-shape", TARE_FIELD_STRINGS, offsetof(tare_open_options, input_shapes), TARE_FIELD_ONE,
      .metavar = "NAME=1x3x8x8",
      .help = "the shape of an input, where the file leaves dimensions open; once per input" },
    { "repair-scales", TARE_FIELD_BOOL, offsetof(tare_open_options, repair_scales),
      .help = "take scales of 0 or NaN in the file as 1 where that changes no result" },
    { "allow-hardlink", TARE_FIELD_BOOL, offsetof(tare_open_options, allow_hardlink),
      .help = "external weights may be hard links to other files" },
    { .type = TARE_FIELD_END },
};

/* ---- input shapes ---- */

typedef struct setting {
    tare_model *model;
    int64_t *sizes; /* by symbol: the size it was given, -1: none */
} setting;

/* "1x3x224x224" */
static bool parse_shape(const char *text, tare_shape *shape) {
    *shape = (tare_shape){ .rank = 0 };
    while (shape->rank < TARE_RANK_MAX) {
        int64_t dim = 0;
        if (*text < '0' || *text > '9') return false;
        for (; *text >= '0' && *text <= '9' && dim <= INT32_MAX; text++) dim = 10 * dim + (*text - '0');
        if (dim > INT32_MAX) return false;
        shape->dim[shape->rank++] = dim;
        if (!*text) return true;
        if (*text++ != 'x') return false;
    }
    return false;
}

static tare_status fail_shape(const setting *s, const tare_value *value, const tare_shape *wanted, tare_error *err) {
    char is[128], want[128];
    tare_shape_print(is, sizeof is, &value->shape, s->model->symbols.at);
    tare_shape_print(want, sizeof want, wanted, NULL);
    return tare_fail(err, TARE_E_USAGE, "--input-shape: input '%s' is %s in the file, which %s does not fit",
                     value->name, is, want);
}

static tare_status set_shape(setting *s, tare_value *value, const tare_shape *wanted, tare_error *err) {
    const tare_shape *is = &value->shape;
    if (is->rank != TARE_RANK_UNKNOWN && is->rank != wanted->rank) return fail_shape(s, value, wanted, err);
    for (int i = 0; i < is->rank; i++) {
        const int64_t dim = is->dim[i];
        int64_t *size = dim < TARE_DIM_UNKNOWN ? &s->sizes[-2 - dim] : NULL;
        const bool fits =
            dim == wanted->dim[i] || dim == TARE_DIM_UNKNOWN || (size && (*size < 0 || *size == wanted->dim[i]));
        if (!fits) return fail_shape(s, value, wanted, err);
        if (size) *size = wanted->dim[i];
    }
    value->shape = *wanted;
    return TARE_OK;
}

static tare_status set_from_text(setting *s, const char *text, tare_error *err) {
    const char *equals = strrchr(text, '=');
    const tare_graph *graph = s->model->graph;
    tare_shape shape;
    if (!equals || !parse_shape(equals + 1, &shape))
        return tare_fail(err, TARE_E_USAGE, "--input-shape: '%.128s' is not NAME=1x3x224x224", text);
    const size_t length = (size_t)(equals - text);
    for (size_t i = 0; i < graph->inputs.count; i++) {
        tare_value *value = graph->inputs.at[i];
        if (strlen(value->name) == length && !strncmp(value->name, text, length))
            return set_shape(s, value, &shape, err);
    }
    return tare_fail(err, TARE_E_USAGE, "--input-shape: no input '%.*s'; the first is '%s'",
                     (int)(length < 128 ? length : 128), text,
                     graph->inputs.count ? graph->inputs.at[0]->name : "(the model has none)");
}

/* A symbol is one size wherever it stands: also in the shapes that the file declares inside. Bodies nest at most as deep
 * as the reader lets by. */
static void spread(const setting *s, tare_graph *graph) {
    for (size_t i = 0; i < graph->values.entries.count; i++) {
        tare_value *value = graph->values.entries.at[i].value;
        for (int d = 0; value && d < value->shape.rank; d++) {
            const int64_t dim = value->shape.dim[d];
            if (dim < TARE_DIM_UNKNOWN && s->sizes[-2 - dim] >= 0) value->shape.dim[d] = s->sizes[-2 - dim];
        }
    }
    tare_for_nodes (node, graph) {
        tare_graph *body;
        for (int i = 0; (body = tare_node_body(node, i)); i++) spread(s, body);
    }
}

static tare_status set_input_shapes(tare_model *model, const tare_strings *shapes, tare_error *err) {
    setting s = { .model = model };
    if (!shapes->count) return TARE_OK;
    s.sizes = tare_arena_alloc(model->arena, model->symbols.count + 1, sizeof *s.sizes);
    if (!s.sizes) return tare_fail_memory(err, model->symbols.count * sizeof *s.sizes);
    for (size_t i = 0; i < model->symbols.count; i++) s.sizes[i] = -1;
    for (size_t i = 0; i < shapes->count; i++) TARE_TRY(set_from_text(&s, shapes->at[i], err));
    spread(&s, model->graph);
    return TARE_OK;
}

/* ---- opening ---- */

/* Names a model in it, if there is one: that may be what was meant. */
static tare_status fail_directory(const char *path, tare_error *err) {
    tare_arena *arena = tare_arena_new();
    tare_error unread = { 0 };
    const char **names = NULL, *model = NULL;
    size_t count = 0;
    if (arena && tare_path_list(path, arena, &names, &count, &unread) == TARE_OK)
        for (size_t i = 0; i < count && !model; i++)
            if (tare_format_to_write(names[i])) model = names[i];
    const size_t length = strlen(path);
    const char *slash = length && path[length - 1] == '/' ? "" : "/";
    if (model)
        tare_fail(err, TARE_E_IO, "%s: is a directory; give a model's file, such as %s%s%s", path, path, slash, model);
    else
        tare_fail(err, TARE_E_IO, "%s: is a directory; give a model's file (dumps are for `tare compare`)", path);
    tare_arena_free(arena);
    return err->status;
}

static const char *stem_of(const char *name, tare_arena *arena) {
    const char *dot = strrchr(name, '.');
    return tare_arena_copy(arena, name, dot ? (size_t)(dot - name) : strlen(name));
}

enum { SHOWN = 4 };

/* `prefix` is the folder as it was written, "": none. */
static const char *list_models(const char *const *names, size_t count, const char *folder, const char *prefix,
                               tare_arena *arena) {
    tare_text text = { .arena = arena };
    if (!count) return tare_arena_printf(arena, "there is no model in '%s'", folder);
    tare_text_printf(&text, "%s%s%sthere is ", *prefix ? "in '" : "", prefix, *prefix ? "' " : "");
    for (size_t i = 0; i < count && i < SHOWN; i++) tare_text_printf(&text, "%s%s", i ? ", " : "", names[i]);
    if (count > SHOWN) tare_text_printf(&text, " and %zu more", count - SHOWN);
    return text.failed ? NULL : text.at;
}

/* What there is beside it: a model whose name is alike but for the extension, or those there are, on the arena; NULL: nobody
 * knows. */
static const char *say_models(const char *path, tare_arena *arena) {
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, **names = NULL;
    const char *folder = slash ? tare_arena_copy(arena, path, (size_t)(name - path)) : ".";
    tare_error unread = { 0 };
    size_t count = 0, model_count = 0;
    if (folder && !tare_path_is_directory(folder))
        return tare_arena_printf(arena, "there is no directory '%s'", folder);
    if (!folder || tare_path_list(folder, arena, &names, &count, &unread) != TARE_OK) return NULL;
    const char **stems = tare_arena_alloc(arena, count + 1, sizeof *stems), *stem = stem_of(name, arena);
    if (!stems || !stem) return NULL;
    for (size_t i = 0; i < count; i++) {
        if (!tare_format_to_write(names[i])) continue;
        names[model_count] = names[i];
        stems[model_count] = stem_of(names[i], arena);
        if (!stems[model_count++]) return NULL;
    }
    const char *near = tare_text_nearest(stem, stems);
    for (size_t i = 0; near && i < model_count; i++)
        if (stems[i] == near) return tare_arena_printf(arena, "did you mean '%s%s'?", slash ? folder : "", names[i]);
    return list_models(names, model_count, folder, slash ? folder : "", arena);
}

static tare_status fail_missing(const char *path, tare_error *err) {
    const tare_error why = *err;
    tare_arena *arena = tare_arena_new();
    const char *said = arena ? say_models(path, arena) : NULL;
    if (said) tare_fail(err, why.status, "%s; %s", why.text, said);
    tare_arena_free(arena);
    return why.status;
}

/* How others' files become ONNX, by extension; NULL: not known. */
static const char *advice_for(const char *path) {
    static const char torch[] = "export it: torch.onnx.export(model, sample, \"model.onnx\")";
    static const char keras[] = "python -m tf2onnx.convert makes ONNX of it (--keras, --saved-model, --graphdef)";
    static const char recipe[] = "a recipe goes behind --recipe, which names the model";
    static const char samples[] = "samples go behind --data, the model comes first";
    static const char *const known[][2] = {
        { ".pt", torch },
        { ".pth", torch },
        { ".ckpt", torch },
        { ".safetensors", torch },
        { ".tflite", "python -m tf2onnx.convert --tflite model.tflite --output model.onnx makes ONNX of a float one" },
        { ".h5", keras },
        { ".keras", keras },
        { ".pb", keras },
        { ".engine", "it is built for one device: give the ONNX that it was built from" },
        { ".csv", "samples go behind --data, labels behind --labels, the model comes first" },
        { ".txt", "a list of samples goes behind --data, the model comes first" },
        { ".xml", "give the ONNX that it was made from" },
        { ".yaml", recipe },
        { ".yml", recipe },
        { ".npy", samples },
        { ".npz", samples },
        { ".png", samples },
        { ".jpg", samples },
    };
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot && i < sizeof known / sizeof known[0]; i++)
        if (!strcasecmp(dot, known[i][0])) return known[i][1];
    return NULL;
}

/* What is not there, or may not be read, is told so. */
static tare_status fail_format(const char *path, tare_error *err) {
    tare_file file;
    tare_file_id unused;
    const tare_status status = tare_file_open(&file, path, err);
    if (status != TARE_OK) return tare_path_identify(path, &unused) ? status : fail_missing(path, err);
    tare_file_close(&file);
    const char *advice = advice_for(path);
    return tare_fail(err, TARE_E_UNSUPPORTED, "%s: not a format that tare reads; there is: onnx%s%s", path,
                     advice ? "; " : "", advice ? advice : "");
}

static tare_status prepare(tare_model *model, const tare_open_options *options, tare_log *log, tare_error *err) {
    const tare_normalize_options normalize = { .repair_scales = options->repair_scales };
    TARE_TRY(set_input_shapes(model, &options->input_shapes, err));
    TARE_TRY(tare_passes_normalize(model, &normalize, log, err));
    return tare_graph_infer(model->graph, err);
}

tare_status tare_model_open(tare_model **out, const char *path, const tare_open_options *options, tare_log *log,
                            tare_error *err) {
    static const tare_open_options defaults;
    if (!options) options = &defaults;
    const tare_read_options read = { .allow_hardlink = options->allow_hardlink, .log = log };
    if (tare_path_is_directory(path)) return fail_directory(path, err);
    const tare_format *format = tare_format_to_read(path);
    if (!format) return fail_format(path, err);
    tare_model *model;
    tare_file_id unused;
    tare_status status = format->read(&model, path, &read, err);
    if (status != TARE_OK) return tare_path_identify(path, &unused) ? status : fail_missing(path, err);
    status = prepare(model, options, log, err);
    if (status != TARE_OK) {
        tare_model_free(model);
        return status == TARE_E_USAGE ? status : tare_within(err, "%s", path);
    }
    *out = model;
    return TARE_OK;
}
