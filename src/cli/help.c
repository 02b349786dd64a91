/* Verb help: what the tables say, for the terminal. */
#include <string.h>

#include "cli.h"

static const char *metavar(const tare_field *field) {
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

static void print_words(const tare_field *field, int at, FILE *to) {
    if (field->type != TARE_FIELD_ENUM) return;
    fprintf(to, "%*s", at, "");
    for (int i = 0; field->names[i]; i++)
        fprintf(to, "%s%s%s", i ? " | " : "", field->names[i], i == field->fallback.i ? " (default)" : "");
    fputc('\n', to);
}

static void print_fields(const tare_field *field, FILE *to) {
    enum { COLUMN = 28 };
    for (; field->type != TARE_FIELD_END; field++) {
        char left[64], letter[5] = "";
        if (field->letter) snprintf(letter, sizeof letter, "-%c, ", field->letter);
        snprintf(left, sizeof left, "  %s--%s %s", letter, field->name, metavar(field));
        fprintf(to, "%-*s", COLUMN, left);
        if (strlen(left) >= COLUMN) fprintf(to, "\n%*s", COLUMN, "");
        print_wrapped(field->help ? field->help : "", COLUMN, to);
        print_words(field, COLUMN, to);
    }
}

void cli_print_verb_help(const cli_verb *verb, FILE *to) {
    fprintf(to, "tare %s %s\n\n  %s\n\n", verb->name, verb->usage, verb->summary);
    for (size_t g = 0; g < CLI_GROUPS_MAX && verb->groups[g].fields; g++) print_fields(verb->groups[g].fields, to);
    print_fields(cli_common_fields, to);
    if (verb->more) fputc('\n', to);
    for (const char *const *line = verb->more; line && *line; line++) fprintf(to, "%s\n", *line);
}

void cli_print_overview(FILE *to) {
    fputs("tare takes neural networks to int8 and tells where the accuracy goes.\n\nusage: tare VERB …\n\n", to);
    for (size_t i = 0; i < cli_verb_count(); i++)
        fprintf(to, "  %-10s %s\n", cli_verb_at(i)->name, cli_verb_at(i)->summary);
    fputs("\n`tare help VERB` has a verb's options. Exit codes: 0 ok, 1 gate not met, 2 usage, 3 malformed input,\n"
          "4 unsupported, 5 I/O, 6 limit or memory, 7 a bug in tare.\n",
          to);
}

static tare_status run(const cli_call *call, tare_error *err) {
    if (!call->operand_count) {
        cli_print_overview(stdout);
        return TARE_OK;
    }
    const cli_verb *verb = cli_verb_find(call->operands[0]);
    if (!verb) return cli_usage(err, "no verb '%.64s'; `tare help` lists them", call->operands[0]);
    cli_print_verb_help(verb, stdout);
    return TARE_OK;
}

const cli_verb cli_verb_help = {
    .name = "help",
    .usage = "[VERB]",
    .summary = "say what the verbs do and which options they have",
    .operands = { 0, 1 },
    .run = run,
};
