/* What the Python tests of passes run: reads a model, normalizes and optimizes it, writes it.
 *   driver_passes IN OUT [OPTION...]
 *   --normalize           normalizes only
 *   --only PASS           runs this pass alone; may stand several times
 *   --repair-scales
 * What became of values that went away goes to stdout, a line each, fields parted by tabs: old name, new name (none: gone),
 * factor, offset, permutation as digits (none: as it was). Notes and errors go to stderr; the exit status is the
 * tare_status. */
#include <stdio.h>
#include <string.h>

#include "formats/format.h"
#include "passes/pass.h"

enum { PASSES_MAX = 64 };

static void line(void *context, tare_log_level level, const char *text) {
    (void)context;
    fprintf(stderr, "%s: %s\n", level == TARE_LOG_NOTE ? "note" : "warning", text);
}

static tare_log to_stderr = { .line = line };

typedef struct request {
    const char *in, *out;
    bool normalize;
    tare_normalize_options options;
    const char *only[PASSES_MAX];
    size_t only_count;
} request;

static bool parse(int count, char **arguments, request *to) {
    if (count < 3) return false;
    *to = (request){ .in = arguments[1], .out = arguments[2] };
    for (int i = 3; i < count; i++) {
        if (!strcmp(arguments[i], "--normalize"))
            to->normalize = true;
        else if (!strcmp(arguments[i], "--repair-scales"))
            to->options.repair_scales = true;
        else if (!strcmp(arguments[i], "--only") && i + 1 < count && to->only_count < PASSES_MAX)
            to->only[to->only_count++] = arguments[++i];
        else
            return false;
    }
    return true;
}

static void print_aliases(const tare_model *model) {
    for (size_t i = 0; i < model->aliases.entries.count; i++) {
        const char *name = model->aliases.entries.at[i].key;
        tare_alias alias;
        if (!model->aliases.entries.at[i].value) continue;
        bool is_there = tare_model_resolve(model, name, &alias);
        printf("%s\t%s\t%.17g\t%.17g\t", name, is_there ? alias.target : "", alias.factor, alias.offset);
        for (int k = 0; is_there && alias.has_permutation && k < TARE_RANK_MAX; k++) printf("%d", alias.permutation[k]);
        printf("\n");
    }
}

static tare_status optimize(tare_model *model, const request *to, tare_error *err) {
    const tare_pass_options options = { .explain = true, .only = { .at = to->only, .count = to->only_count } };
    TARE_TRY(tare_passes_normalize(model, &to->options, &to_stderr, err));
    if (!to->normalize) TARE_TRY(tare_passes_run(model, &options, &to_stderr, NULL, err));
    const tare_write_options write = { .log = &to_stderr };
    TARE_TRY(tare_format_to_write(to->out)->write(model, to->out, &write, err));
    print_aliases(model);
    return TARE_OK;
}

int main(int count, char **arguments) {
    request to;
    tare_error err = { 0 };
    tare_model *model = NULL;
    if (!parse(count, arguments, &to)) return TARE_E_USAGE;
    const tare_read_options read = { .log = &to_stderr };
    tare_status status = tare_format_to_read(to.in)->read(&model, to.in, &read, &err);
    if (status == TARE_OK) status = optimize(model, &to, &err);
    if (status != TARE_OK) fprintf(stderr, "error: %s\n", err.text);
    tare_model_free(model);
    return (int)status;
}
