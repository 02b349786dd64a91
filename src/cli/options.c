/* The command line against the tables: --name value, --name=value, -n value, lists by commas or repetition. */
#include <stdarg.h>
#include <string.h>

#include "cli.h"
#include "mistakes.h"

const tare_field cli_common_fields[] = {
    { "json", TARE_FIELD_BOOL, offsetof(cli_common, json), .help = "print the answer as JSON" },
    { "quiet", TARE_FIELD_BOOL, offsetof(cli_common, quiet), .help = "no notes and no progress, only the answer",
      .letter = 'q' },
    { "verbose", TARE_FIELD_BOOL, offsetof(cli_common, verbose), .help = "print every note, not only warnings",
      .letter = 'v' },
    { "max-mem", TARE_FIELD_STRING, offsetof(cli_common, max_mem), .metavar = "BYTES",
      .help = "memory that may be used at once, with K, M or G; 80 % of the machine's by default" },
    { "help", TARE_FIELD_BOOL, offsetof(cli_common, help), .help = "this text", .letter = 'h' },
    { .type = TARE_FIELD_END },
};

tare_status cli_usage(tare_error *err, const char *format, ...) {
    va_list list;
    va_start(list, format);
    vsnprintf(err->text, sizeof err->text, format, list);
    va_end(list);
    return err->status = TARE_E_USAGE;
}

tare_status cli_fail(tare_error *err, tare_status status, const char *text) {
    snprintf(err->text, sizeof err->text, "%s", text);
    return err->status = status;
}

typedef struct parser {
    const cli_verb *verb;
    char *record;
    cli_common *common;
    tare_field_store *store;
    const tare_field *given[CLI_FIELDS_MAX]; /* the options so far */
    size_t given_count;
    const tare_field *last; /* the option just taken */
    cli_stray stray;        /* an operand that an option before it was likely meant to have */
} parser;

/* A field of the verb or of every verb, and the struct it fills. */
static const tare_field *find(const parser *p, const char *name, size_t length, char letter, void **record) {
    for (size_t g = 0; g <= CLI_GROUPS_MAX; g++) {
        const bool own = g < CLI_GROUPS_MAX && p->verb->groups[g].fields;
        const tare_field *field = own ? p->verb->groups[g].fields : cli_common_fields;
        *record = own ? (void *)(p->record + p->verb->groups[g].offset) : (void *)p->common;
        for (; field->type != TARE_FIELD_END; field++) {
            if (letter ? field->letter == letter : strlen(field->name) == length && !strncmp(field->name, name, length))
                return field;
        }
        if (!own) break;
    }
    return NULL;
}

/* The first time that an option is given it begins anew: what a recipe said of a list goes. */
static void begin_option(parser *p, const tare_field *field, void *record) {
    for (size_t i = 0; i < p->given_count; i++)
        if (p->given[i] == field) return;
    const tare_field alone[] = { *field, { .type = TARE_FIELD_END } };
    tare_fields_set_defaults(alone, record);
    p->given[p->given_count++] = field;
}

/* Is what stands where a value should an option of this verb? Numbers may be negative. */
static bool is_option(const parser *p, const char *text) {
    void *unused;
    if (text[0] != '-' || !text[1]) return false;
    if (text[1] != '-') return !text[2] && find(p, "", 0, text[1], &unused);
    return find(p, text + 2, strcspn(text + 2, "="), 0, &unused);
}

/* One option; *used counts the arguments it took. */
static tare_status take_option(parser *p, char **arguments, int left, int *used, tare_error *err) {
    const char *argument = arguments[0], *value = NULL;
    const bool is_long = argument[1] == '-';
    const char *name = argument + 2;
    const size_t length = is_long ? strcspn(name, "=") : 0;
    void *record;
    const tare_field *field = find(p, name, length, is_long ? 0 : argument[1], &record);
    if (!is_long && argument[2] && cli_is_long_name(p->verb, argument + 1))
        return cli_fail_unknown(p->verb, argument, err);
    if (!field) return cli_fail_unknown(p->verb, argument, err);
    if (is_long && name[length] == '=') value = name + length + 1;
    if (!is_long && argument[2]) value = argument + 2;
    *used = 1;
    if (!value && field->type == TARE_FIELD_BOOL) value = "";
    if (!value) {
        if (left < 2) return cli_usage(err, "--%s needs a value", field->name);
        value = arguments[1];
        *used = 2;
        if (is_option(p, value))
            return cli_usage(err, "--%s needs a value, and '%s' behind it is an option", field->name, value);
    }
    if (field->type == TARE_FIELD_STRING && !*value)
        return cli_usage(err, "--%s is given nothing; it wants %s: %s", field->name,
                         field->metavar ? field->metavar : "a word", field->help);
    p->last = field;
    begin_option(p, field, record);
    const tare_status status = tare_field_parse(field, record, value, p->store, err);
    return status == TARE_E_USAGE ? cli_fail_value(field, value, err) : status;
}

static void take_operand(parser *p, const char *operand) {
    if (!p->stray.operand && p->last && cli_is_stray(p->last, operand)) p->stray = (cli_stray){ p->last, operand };
    p->last = NULL;
}

static tare_status check_required(const parser *p, tare_error *err) {
    for (size_t g = 0; g < CLI_GROUPS_MAX && p->verb->groups[g].fields; g++) {
        const char *record = p->record + p->verb->groups[g].offset;
        for (const tare_field *field = p->verb->groups[g].fields; field->type != TARE_FIELD_END; field++) {
            if (!(field->flags & TARE_FIELD_REQUIRED)) continue;
            const void *member = record + field->offset;
            const bool absent = field->type == TARE_FIELD_STRING ? !*(const char *const *)member
                                                                 : !((const tare_strings *)member)->count;
            if (absent) return cli_usage(err, "--%s is needed: %s", field->name, field->help);
        }
    }
    return TARE_OK;
}

tare_status cli_parse(const cli_verb *verb, int count, char **arguments, void *record, cli_common *common,
                      const char **operands, int *operand_count, tare_field_store *store, tare_error *err) {
    parser p = { .verb = verb, .record = record, .common = common, .store = store };
    for (size_t g = 0; g < CLI_GROUPS_MAX && verb->groups[g].fields; g++)
        tare_fields_set_defaults(verb->groups[g].fields, p.record + verb->groups[g].offset);
    const char *model = NULL;
    tare_status status = cli_apply_recipe(verb, count, arguments, record, &model, store, err);
    if (status != TARE_OK) return status;
    bool only_operands = false;
    for (int i = 0, used; i < count; i += used) {
        used = 1;
        const char *argument = arguments[i];
        if (!only_operands && !strcmp(argument, "--"))
            only_operands = true;
        else if (only_operands || argument[0] != '-' || !argument[1]) {
            if (!*argument) return cli_usage(err, "an operand is empty; usage: tare %s %s", verb->name, verb->usage);
            take_operand(&p, argument);
            operands[(*operand_count)++] = argument;
        } else {
            status = take_option(&p, arguments + i, count - i, &used, err);
            if (status != TARE_OK) return status;
        }
    }
    if (common->help) return TARE_OK;
    if (!*operand_count && model) operands[(*operand_count)++] = model;
    if (*operand_count < verb->operands[0])
        return cli_usage(err, "%s is missing; usage: tare %s %s", *operand_count ? "an operand" : "what to work on",
                         verb->name, verb->usage);
    if (verb->operands[1] >= 0 && *operand_count > verb->operands[1])
        return cli_fail_operand(verb, &p.stray, operands[verb->operands[1]], err);
    return check_required(&p, err);
}
