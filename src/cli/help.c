/* Verb help: what the tables say, for the terminal. Other forms of it: man.c, markdown.c, completion.c. */
#include <assert.h>
#include <string.h>

#include "cli.h"

const char *cli_metavar(const tare_field *field) {
    if (field->metavar) return field->metavar;
    switch (field->type) {
    case TARE_FIELD_BOOL: return "";
    case TARE_FIELD_INT: return "N";
    case TARE_FIELD_FLOAT:
    case TARE_FIELD_DOUBLE: return "X";
    case TARE_FIELD_INTS: return "N,N";
    case TARE_FIELD_FLOATS: return "X,X";
    case TARE_FIELD_ENUM: return "WORD";
    default: return "TEXT";
    }
}

const char *cli_default(const tare_field *field, char text[CLI_DEFAULT_SIZE]) {
    text[0] = 0;
    switch (field->type) {
    case TARE_FIELD_INT:
        if (field->fallback.i) snprintf(text, CLI_DEFAULT_SIZE, "%lld", (long long)field->fallback.i);
        break;
    case TARE_FIELD_FLOAT:
    case TARE_FIELD_DOUBLE:
        if (field->fallback.f != 0) snprintf(text, CLI_DEFAULT_SIZE, "%.10g", field->fallback.f);
        break;
    case TARE_FIELD_ENUM: return field->names[field->fallback.i];
    case TARE_FIELD_STRING: return field->fallback.s ? field->fallback.s : text;
    default: break;
    }
    return text;
}

/* What tables that several verbs have are called; the others are a verb's own. */
static const struct {
    const tare_field *table;
    const char *title;
} titles[] = {
    { tare_data_fields, "Samples" },
    { tare_preprocess_fields, "Preprocessing of samples" },
    { tare_calibration_fields, "Calibration" },
    { tare_quantization_fields, "Quantization" },
    { tare_judging_fields, "Judging outputs" },
    { tare_open_fields, "Reading the model" },
    { tare_work_fields, "Work" },
    { cli_common_fields, "Every verb" },
};

const char *cli_table_title(const tare_field *table) {
    for (size_t i = 0; i < sizeof titles / sizeof titles[0]; i++)
        if (titles[i].table == table) return titles[i].title;
    return NULL;
}

size_t cli_shared_tables(const tare_field *tables[CLI_TABLES_MAX]) {
    const size_t count = sizeof titles / sizeof titles[0];
    static_assert(sizeof titles / sizeof titles[0] <= CLI_TABLES_MAX, "tables");
    for (size_t i = 0; i < count; i++) tables[i] = titles[i].table;
    return count;
}

static bool has_table(const cli_verb *verb, const tare_field *table) {
    for (size_t g = 0; g < CLI_GROUPS_MAX && verb->groups[g].fields; g++)
        if (verb->groups[g].fields == table) return true;
    return table == cli_common_fields;
}

size_t cli_tables(const cli_verb *verb, const tare_field *tables[CLI_TABLES_MAX]) {
    const tare_field *shared[CLI_TABLES_MAX];
    const size_t shared_count = cli_shared_tables(shared);
    size_t count = 0;
    for (size_t g = 0; g < CLI_GROUPS_MAX && verb->groups[g].fields; g++)
        if (!cli_table_title(verb->groups[g].fields)) tables[count++] = verb->groups[g].fields;
    for (size_t i = 0; i < shared_count; i++)
        if (has_table(verb, shared[i])) tables[count++] = shared[i];
    return count;
}

/* Words of `text` from column `at` on, no line longer than 79. */
static void print_wrapped(const char *text, int at, FILE *to) {
    int column = at;
    while (*text) {
        const int length = (int)strcspn(text, " ");
        if (column > at && column + 1 + length > 79) {
            fprintf(to, "\n%*s", at, "");
            column = at;
        } else if (column > at) {
            fputc(' ', to);
            column++;
        }
        fprintf(to, "%.*s", length, text);
        column += length;
        text += length + (text[length] == ' ');
    }
    fputc('\n', to);
}

void cli_choice(const tare_field *field, char text[CLI_CHOICE_SIZE]) {
    char cell[CLI_DEFAULT_SIZE];
    const char *fallback = cli_default(field, cell);
    const size_t size = CLI_CHOICE_SIZE;
    size_t used = 0;
    text[0] = 0;
    for (int i = 0; field->names && field->names[i] && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? " | " : "", field->names[i]);
    if (*fallback && used < size) snprintf(text + used, size - used, used ? " (default: %s)" : "default: %s", fallback);
}

static void print_fields(const tare_field *field, FILE *to) {
    enum { COLUMN = 28 };
    for (; field->type != TARE_FIELD_END; field++) {
        char left[64], letter[5] = "", choice[CLI_CHOICE_SIZE];
        const char *metavar = cli_metavar(field);
        if (field->letter) snprintf(letter, sizeof letter, "-%c, ", field->letter);
        snprintf(left, sizeof left, "  %s--%s%s%s", letter, field->name, *metavar ? " " : "", metavar);
        fprintf(to, "%-*s", COLUMN, left);
        if (strlen(left) >= COLUMN) fprintf(to, "\n%*s", COLUMN, "");
        print_wrapped(field->help ? field->help : "", COLUMN, to);
        cli_choice(field, choice);
        if (*choice) fprintf(to, "%*s", COLUMN, "");
        if (*choice) print_wrapped(choice, COLUMN, to);
    }
}

void cli_print_verb_help(const cli_verb *verb, FILE *to) {
    const tare_field *tables[CLI_TABLES_MAX];
    const size_t count = cli_tables(verb, tables);
    fprintf(to, "tare %s ", verb->name);
    print_wrapped(verb->usage, 6 + (int)strlen(verb->name), to);
    fprintf(to, "\n  %s\n", verb->summary);
    for (size_t i = 0; i < count; i++) {
        const char *title = cli_table_title(tables[i]);
        if (title || i == 0) fprintf(to, "\n%s:\n", title ? title : "Options");
        print_fields(tables[i], to);
    }
    if (verb->more) fputs("\nExamples:\n", to);
    for (const char *const *line = verb->more; line && *line; line++) fprintf(to, "  %s\n", *line);
}

const cli_exit_code cli_exit_codes[] = {
    { "0", "it worked" },
    { "1", "a quality gate was not met (--fail-below)" },
    { "2", "the command line or the recipe is wrong" },
    { "3", "an input file is malformed" },
    { "4", "an input is valid, and tare does not support it" },
    { "5", "a file could not be read or written" },
    { "6", "a limit was reached, or memory is out" },
    { "7", "a bug in tare" },
    { "128+N", "ended by signal N" },
    { 0 },
};

void cli_print_overview(FILE *to) {
    fputs(CLI_SLOGAN "\n\nusage: tare VERB [OPTION...] ...\n\n", to);
    for (size_t i = 0; i < cli_verb_count(); i++)
        fprintf(to, "  %-10s %s\n", cli_verb_at(i)->name, cli_verb_at(i)->summary);
    fputs("\n`tare help VERB` has a verb's options and examples. Exit codes:\n\n", to);
    for (const cli_exit_code *e = cli_exit_codes; e->code; e++) fprintf(to, "  %-10s %s\n", e->code, e->meaning);
}

typedef struct record {
    bool man, markdown;
    const char *completion;
} record;

static const char *const shells[] = { "bash", "zsh", "fish", NULL };

static const tare_field own_fields[] = {
    { "man", TARE_FIELD_BOOL, offsetof(record, man), .help = "the man page of the program, or of VERB" },
    { "markdown", TARE_FIELD_BOOL, offsetof(record, markdown), .help = "all verbs and options as one Markdown page" },
    { "completion", TARE_FIELD_STRING, offsetof(record, completion), .names = shells, .metavar = "SHELL",
      .help = "what makes a shell complete verbs, options and their words" },
    { .type = TARE_FIELD_END },
};

static tare_status print_completion(const char *shell, tare_error *err) {
    static void (*const prints[])(FILE *) = { cli_print_bash, cli_print_zsh, cli_print_fish }; /* ORDER: shells */
    for (size_t i = 0; shells[i]; i++) {
        if (strcmp(shell, shells[i])) continue;
        prints[i](stdout);
        return TARE_OK;
    }
    return cli_usage(err, "--completion: no '%.64s', there is: bash, zsh, fish", shell);
}

static tare_status run(const cli_call *call, tare_error *err) {
    const record *r = call->record;
    const cli_verb *verb = NULL;
    if (r->man + r->markdown + (r->completion != NULL) > 1)
        return cli_usage(err, "--man, --markdown and --completion: give one of them");
    if (call->operand_count) {
        if (r->markdown || r->completion)
            return cli_usage(err, "VERB goes with --man; --markdown and --completion are about all verbs");
        const tare_status status = cli_verb_get(call->operands[0], &verb, err);
        if (status != TARE_OK) return status;
    }
    if (r->completion) return print_completion(r->completion, err);
    if (r->markdown)
        cli_print_markdown(stdout);
    else if (r->man)
        cli_print_man(verb, stdout);
    else if (verb)
        cli_print_verb_help(verb, stdout);
    else
        cli_print_overview(stdout);
    return TARE_OK;
}

static const char *const more[] = {
    "tare help quantize",
    "tare help quantize --man | man -l -",
    "eval \"$(tare help --completion bash)\"",
    NULL,
};

const cli_verb cli_verb_help = {
    .name = "help",
    .usage = "[VERB] [--man] | --markdown | --completion SHELL",
    .summary = "say what the verbs do and which options they have",
    .more = more,
    .operands = { 0, 1 },
    .groups = { { own_fields, 0 } },
    .record_size = sizeof(record),
    .run = run,
};
