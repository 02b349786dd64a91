/* The command line against the tables: --name value, --name=value, -n value, lists by commas or repetition. */
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

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
    const char
        *stray[2]; /* an operand that a list before it was likely meant to have: that option, and it; NULL: none */
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

/* Other verbs that have it: " a, b". False: none. */
static bool list_others(const cli_verb *but, const char *name, char *list, size_t size) {
    size_t used = 0;
    for (size_t v = 0; v < cli_verb_count(); v++) {
        const cli_verb *verb = cli_verb_at(v);
        bool has = false;
        for (size_t g = 0; g < CLI_GROUPS_MAX && verb->groups[g].fields; g++)
            for (const tare_field *field = verb->groups[g].fields; field->type != TARE_FIELD_END; field++)
                has = has || !strcmp(field->name, name);
        if (has && verb != but && used < size)
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

/* Of names that are as near the first is taken, which is one whose letters were exchanged. */
static void put_anagrams_first(const char **names, size_t count, const char *name) {
    size_t first = 0;
    for (size_t i = 0; i < count; i++) {
        if (!is_anagram(names[i], name)) continue;
        const char *found = names[i];
        names[i] = names[first];
        names[first++] = found;
    }
}

static tare_status unknown(const parser *p, const char *argument, tare_error *err) {
    const char *names[CLI_FIELDS_MAX];
    size_t count = 0;
    for (size_t g = 0; g <= CLI_GROUPS_MAX; g++) {
        const bool own = g < CLI_GROUPS_MAX && p->verb->groups[g].fields;
        const tare_field *field = own ? p->verb->groups[g].fields : cli_common_fields;
        for (; field->type != TARE_FIELD_END && count < CLI_FIELDS_MAX - 1; field++) names[count++] = field->name;
        if (!own) break;
    }
    names[count] = NULL;
    const char *name = argument + strspn(argument, "-");
    char bare[64];
    snprintf(bare, sizeof bare, "%.*s", (int)strcspn(name, "="), name);
    put_anagrams_first(names, count, bare);
    const char *near = tare_text_nearest(bare, names);
    if (near) return cli_usage(err, "no option '%.64s'; did you mean '--%s'?", argument, near);
    char others[128];
    if (list_others(p->verb, bare, others, sizeof others))
        return cli_usage(err, "%s has no option '%.64s'; these verbs have it:%s", p->verb->name, argument, others);
    return cli_usage(err, "no option '%.64s'; `tare help %s` lists them", argument, p->verb->name);
}

/* The first time that an option is given it begins anew: what a recipe said of a list goes. */
static void begin_option(parser *p, const tare_field *field, void *record) {
    for (size_t i = 0; i < p->given_count; i++)
        if (p->given[i] == field) return;
    const tare_field alone[] = { *field, { .type = TARE_FIELD_END } };
    tare_fields_set_defaults(alone, record);
    p->given[p->given_count++] = field;
}

/* One option; *used counts the arguments it took. */
static tare_status take_option(parser *p, char **arguments, int left, int *used, tare_error *err) {
    const char *argument = arguments[0], *value = NULL;
    const bool is_long = argument[1] == '-';
    const char *name = argument + 2;
    const size_t length = is_long ? strcspn(name, "=") : 0;
    void *record;
    const tare_field *field = find(p, name, length, is_long ? 0 : argument[1], &record);
    if (!field) return unknown(p, argument, err);
    if (is_long && name[length] == '=') value = name + length + 1;
    if (!is_long && argument[2]) value = argument + 2;
    *used = 1;
    if (!value && field->type == TARE_FIELD_BOOL) value = "";
    if (!value) {
        if (left < 2) return cli_usage(err, "--%s needs a value", field->name);
        value = arguments[1];
        *used = 2;
    }
    if (field->type == TARE_FIELD_STRING && !*value)
        return cli_usage(err, "--%s is given nothing; it wants %s: %s", field->name,
                         field->metavar ? field->metavar : "a word", field->help);
    p->last = field;
    begin_option(p, field, record);
    return tare_field_parse(field, record, value, p->store, err);
}

/* A number behind a list of numbers, or what is no file behind a list of names. */
static bool is_stray(const tare_field *last, const char *operand) {
    if (!last || last->flags & TARE_FIELD_ONE) return false;
    if (last->type == TARE_FIELD_STRINGS) return access(operand, F_OK) != 0;
    const bool is_list = last->type == TARE_FIELD_FLOATS || last->type == TARE_FIELD_INTS;
    return is_list && operand[strspn(operand, "0123456789.")] == '\0';
}

static void take_operand(parser *p, const char *operand) {
    if (!p->stray[0] && is_stray(p->last, operand)) p->stray[0] = p->last->name, p->stray[1] = operand;
    p->last = NULL;
}

static tare_status too_many(const parser *p, const char *operand, tare_error *err) {
    if (p->stray[0])
        return cli_usage(err, "'%.200s' stands alone behind --%s: a list has commas and no spaces, --%s A,B,C",
                         p->stray[1], p->stray[0], p->stray[0]);
    return cli_usage(err, "'%.200s' is one operand too many; usage: tare %s %s", operand, p->verb->name,
                     p->verb->usage);
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
        return too_many(&p, operands[verb->operands[1]], err);
    return check_required(&p, err);
}
