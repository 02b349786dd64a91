/* What a command line that cannot be understood was likely meant to say: of the names, the operands and the values that users
 * of other tools try first. */
#include "mistakes.h"

#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* What other tools call it, and what does that here. */
static const char *const other_words[][2] = {
    { "size", "pictures are resized by --resize WxH" },
    { "input-size", "pictures are resized by --resize WxH, open dimensions are set by --input-shape NAME=1x3x8x8" },
    { "normalize", "--mean and --std normalize, or --scale" },
    { "normalise", "--mean and --std normalize, or --scale" },
    { "per-channel", "weights have a scale for each channel already; --per-tensor gives them one" },
    { "calib-method", "ranges are chosen by --method" },
    { "calibrate-method", "ranges are chosen by --method" },
    { "calibration-method", "ranges are chosen by --method" },
    { "bits", "--act takes a code type, such as u16; weights have 8 bits" },
    { "bit-width", "--act takes a code type, such as u16; weights have 8 bits" },
    { "activation-type", "activations get codes by --act, u8, s8, u16 or s16; weights have 8 bits" },
    { "weight-type", "activations get codes by --act, u8, s8, u16 or s16; weights have 8 bits" },
    { "calib-data", "samples go behind --data" },
    { "calibration-data", "samples go behind --data" },
    { "calibration", "samples go behind --data" },
    { "dataset", "samples go behind --data" },
    { "images", "samples go behind --data" },
    { "model", "the model is an operand, with no option before it" },
    { "input", "the model is an operand, with no option before it; samples go behind --data" },
    { "i", "the model is an operand, with no option before it; samples go behind --data" },
    { "exclude", "nodes are kept in float by --keep-float" },
    { "nodes-to-exclude", "nodes are kept in float by --keep-float" },
};

static const char *find_other_word(const char *name) {
    for (size_t i = 0; i < sizeof other_words / sizeof other_words[0]; i++)
        if (!strcasecmp(other_words[i][0], name)) return other_words[i][1];
    return NULL;
}

/* ---- options ---- */

/* The verb's options, then those of all; ended by NULL. */
static size_t list_options(const cli_verb *verb, const tare_field *fields[CLI_FIELDS_MAX]) {
    size_t count = 0;
    for (size_t g = 0; g <= CLI_GROUPS_MAX; g++) {
        const bool own = g < CLI_GROUPS_MAX && verb->groups[g].fields;
        const tare_field *field = own ? verb->groups[g].fields : cli_common_fields;
        for (; field->type != TARE_FIELD_END && count < CLI_FIELDS_MAX - 1; field++) fields[count++] = field;
        if (!own) break;
    }
    return count;
}

static bool has_option(const cli_verb *verb, const char *name) {
    const tare_field *fields[CLI_FIELDS_MAX];
    const size_t count = list_options(verb, fields);
    for (size_t i = 0; i < count; i++)
        if (!strcmp(fields[i]->name, name)) return true;
    return false;
}

/* Other verbs that have it: " a, b". False: none. */
static bool list_others(const cli_verb *but, const char *name, char *list, size_t size) {
    size_t used = 0;
    for (size_t v = 0; v < cli_verb_count(); v++) {
        const cli_verb *verb = cli_verb_at(v);
        if (verb != but && has_option(verb, name) && used < size)
            used += (size_t)snprintf(list + used, size - used, "%s %s", used ? "," : "", verb->name);
    }
    return used > 0;
}

/* Have they the same letters? */
static bool is_anagram(const char *a, const char *b) {
    int count[256] = { 0 };
    if (strlen(a) != strlen(b)) return false;
    for (; *a; a++, b++) count[(unsigned char)*a]++, count[(unsigned char)*b]--;
    for (size_t i = 0; i < 256; i++)
        if (count[i]) return false;
    return true;
}

/* The one that differs in case alone, or in the order of letters, or is nearest; NULL: none is near. */
static const char *nearest_option(const cli_verb *verb, const char *name) {
    const tare_field *fields[CLI_FIELDS_MAX];
    const char *names[CLI_FIELDS_MAX];
    const size_t count = list_options(verb, fields);
    for (size_t i = 0; i < count; i++) {
        names[i] = fields[i]->name;
        if (!strcasecmp(names[i], name) || is_anagram(names[i], name)) return names[i];
    }
    names[count] = NULL;
    return tare_text_nearest(name, names);
}

/* The option whose name begins so; NULL: none. */
static const char *option_that_begins(const cli_verb *verb, const char *text) {
    const tare_field *fields[CLI_FIELDS_MAX];
    const size_t count = list_options(verb, fields), length = strcspn(text, "=");
    for (size_t i = 0; i < count; i++)
        if (length >= 3 && !strncmp(fields[i]->name, text, length)) return fields[i]->name;
    return NULL;
}

bool cli_is_long_name(const cli_verb *verb, const char *text) { return option_that_begins(verb, text) != NULL; }

tare_status cli_fail_unknown(const cli_verb *verb, const char *argument, tare_error *err) {
    char bare[64], others[128];
    const char *name = argument + strspn(argument, "-");
    snprintf(bare, sizeof bare, "%.*s", (int)strcspn(name, "="), name);
    const char *word = find_other_word(bare), *near = option_that_begins(verb, bare);
    if (word) return cli_usage(err, "no option '%.64s'; %s", argument, word);
    if (!near) near = nearest_option(verb, bare);
    if (near) return cli_usage(err, "no option '%.64s'; did you mean '--%s'?", argument, near);
    if (list_others(verb, bare, others, sizeof others))
        return cli_usage(err, "%s has no option '%.64s'; these verbs have it:%s", verb->name, argument, others);
    return cli_usage(err, "no option '%.64s'; `tare help %s` lists them; usage: tare %s %s", argument, verb->name,
                     verb->name, verb->usage);
}

/* ---- operands ---- */

static bool is_list(const tare_field *field) {
    return field->type == TARE_FIELD_FLOATS || field->type == TARE_FIELD_INTS || field->type == TARE_FIELD_STRINGS;
}

bool cli_is_stray(const tare_field *option, const char *operand) {
    if (option->flags & TARE_FIELD_ONE) return false;
    if (option->type == TARE_FIELD_STRINGS) return access(operand, F_OK) != 0;
    const bool has_more = is_list(option) || (option->type == TARE_FIELD_STRING && option->metavar);
    return has_more && operand[strspn(operand, "0123456789.,x])")] == '\0' && access(operand, F_OK) != 0;
}

static bool has_extension(const char *path, const char *const *extensions) {
    const char *dot = strrchr(path, '.');
    for (; dot && *extensions; extensions++)
        if (!strcasecmp(dot, *extensions)) return true;
    return false;
}

static bool are_samples(const char *path) {
    static const char *const extensions[] = { ".png", ".jpg", ".jpeg", ".npy", ".npz", NULL };
    struct stat there;
    return has_extension(path, extensions) || (!stat(path, &there) && S_ISDIR(there.st_mode));
}

tare_status cli_fail_operand(const cli_verb *verb, const cli_stray *stray, const char *operand, tare_error *err) {
    static const char *const models[] = { ".onnx", NULL };
    if (stray->operand && is_list(stray->option))
        return cli_usage(err, "'%.200s' stands alone behind --%s: a list has commas and no spaces, --%s A,B,C",
                         stray->operand, stray->option->name, stray->option->name);
    if (stray->operand)
        return cli_usage(err, "'%.200s' stands alone behind --%s, whose value is one word, --%s %s", stray->operand,
                         stray->option->name, stray->option->name, stray->option->metavar);
    if (has_option(verb, "data") && are_samples(operand))
        return cli_usage(
            err,
            "'%.200s' is one operand too many: samples go behind --data, which takes one directory, file or "
            "list of files; several go into one directory or list",
            operand);
    if (has_option(verb, "output") && has_extension(operand, models) && access(operand, F_OK) != 0)
        return cli_usage(err, "'%.200s' is one operand too many: what is to be written goes behind -o", operand);
    return cli_usage(err, "'%.200s' is one operand too many; usage: tare %s %s", operand, verb->name, verb->usage);
}

/* ---- values ---- */

tare_status cli_fail_value(const tare_field *field, const char *value, tare_error *err) {
    tare_error said = *err;
    const bool is_number = field->type == TARE_FIELD_INT || field->type == TARE_FIELD_FLOAT ||
                           field->type == TARE_FIELD_DOUBLE || field->type == TARE_FIELD_INTS ||
                           field->type == TARE_FIELD_FLOATS;
    if (!is_number) return err->status;
    if (is_list(field) && strpbrk(value, " ;[]()"))
        return cli_usage(err, "%.400s; a list has commas and neither spaces nor brackets, --%s A,B,C", said.text,
                         field->name);
    return cli_usage(err, "%.400s (%s)", said.text, field->help);
}
