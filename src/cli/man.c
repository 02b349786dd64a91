/* The man pages, from the tables: tare.1, and tare-VERB.1 for each verb. */
#include <ctype.h>
#include <string.h>

#include "cli.h"

/* Text with what roff would take for its own escaped; letters beyond ASCII by number. */
static void put(const char *text, FILE *to) {
    const unsigned char *at = (const unsigned char *)text;
    for (bool is_first = true; *at; is_first = false) {
        if (*at == '\\')
            fputs("\\e", to);
        else if (*at == '-')
            fputs("\\-", to);
        else if (is_first && (*at == '.' || *at == '\''))
            fprintf(to, "\\&%c", *at);
        else if (*at < 0x80)
            fputc(*at, to);
        if (*at < 0x80) {
            at++;
            continue;
        }
        const int follow = *at >= 0xf0 ? 3 : *at >= 0xe0 ? 2 : 1;
        unsigned letter = *at++ & (0x3fu >> follow);
        for (int i = 0; i < follow && *at; i++) letter = letter << 6 | (*at++ & 0x3fu);
        fprintf(to, "\\[u%04X]", letter);
    }
}

static void put_upper(const char *text, FILE *to) {
    for (; *text; text++) fputc(toupper((unsigned char)*text), to);
}

static void put_line(const char *text, FILE *to) {
    put(text, to);
    fputc('\n', to);
}

/* A paragraph: lines of at most 76 columns, as manual pages have them. */
static void put_words(const char *text, FILE *to) {
    enum { COLUMNS = 76, WORD = 200 };
    for (size_t column = 0; *text;) {
        char word[WORD];
        const size_t length = strcspn(text, " ");
        if (column) fputc(column + 1 + length > COLUMNS ? '\n' : ' ', to);
        column = column && column + 1 + length <= COLUMNS ? column + 1 + length : length;
        snprintf(word, sizeof word, "%.*s", (int)length, text);
        put(word, to);
        text += length;
        text += strspn(text, " ");
    }
    fputc('\n', to);
}

static void put_head(const char *verb, const char *summary, FILE *to) {
    char name[256];
    fputs(".TH TARE", to);
    if (*verb) fputs("\\-", to);
    put_upper(verb, to);
    fprintf(to, " 1 " TARE_DATE " \"tare %s\" \"tare manual\"\n.SH NAME\n", tare_version());
    snprintf(name, sizeof name, "tare%s%s - %s", *verb ? "-" : "", verb, summary);
    put_words(name, to);
}

/* ".TP" and the option as it is typed. */
static void put_option(const tare_field *field, FILE *to) {
    const char *metavar = cli_metavar(field);
    fputs(".TP\n", to);
    if (field->letter) fprintf(to, "\\fB\\-%c\\fR, ", field->letter);
    fputs("\\fB\\-\\-", to);
    put(field->name, to);
    fputs("\\fR", to);
    if (*metavar) fputs(" \\fI", to);
    put(metavar, to);
    fputs(*metavar ? "\\fR\n" : "\n", to);
    put_words(field->help ? field->help : "", to);
    char choice[CLI_CHOICE_SIZE];
    cli_choice(field, choice);
    if (*choice) fputs(".br\n", to);
    if (*choice) put_words(choice, to);
}

static void put_exit_codes(FILE *to) {
    fputs(".SH EXIT STATUS\n", to);
    for (const cli_exit_code *e = cli_exit_codes; e->code; e++) {
        fprintf(to, ".TP\n\\fB%s\\fR\n", e->code);
        put_words(e->meaning, to);
    }
}

static void put_verb(const cli_verb *verb, FILE *to) {
    const tare_field *tables[CLI_TABLES_MAX];
    const size_t count = cli_tables(verb, tables);
    put_head(verb->name, verb->summary, to);
    fprintf(to, ".SH SYNOPSIS\n\\fBtare %s\\fR ", verb->name);
    put_line(verb->usage, to);
    fputs(".SH OPTIONS\n", to);
    for (size_t i = 0; i < count; i++) {
        const char *title = cli_table_title(tables[i]);
        if (title) fprintf(to, ".SS %s\n", title);
        for (const tare_field *field = tables[i]; field->type != TARE_FIELD_END; field++) put_option(field, to);
    }
    put_exit_codes(to);
    if (verb->more) fputs(".SH EXAMPLES\n.nf\n", to);
    for (const char *const *line = verb->more; line && *line; line++) put_line(*line, to);
    fputs(verb->more ? ".fi\n.SH SEE ALSO\n.BR tare (1)\n" : ".SH SEE ALSO\n.BR tare (1)\n", to);
}

static void put_program(FILE *to) {
    put_head("", "take neural networks to int8 and tell where the accuracy goes", to);
    fputs(".SH SYNOPSIS\n\\fBtare\\fR \\fIVERB\\fR [\\fIOPTION\\fR...] ...\n.br\n\\fBtare help\\fR [\\fIVERB\\fR]\n"
          ".SH DESCRIPTION\n",
          to);
    put_words(CLI_SLOGAN, to);
    fputs("The answer goes to standard output, all else to standard error.\n.SH VERBS\n", to);
    for (size_t i = 0; i < cli_verb_count(); i++) {
        const cli_verb *verb = cli_verb_at(i);
        fprintf(to, ".TP\n.BR tare\\-%s (1)\n", verb->name);
        put_words(verb->summary, to);
    }
    put_exit_codes(to);
    fputs(".SH ENVIRONMENT\n.TP\n\\fBNO_COLOR\\fR\nWhen it is set and not empty, nothing is coloured.\n"
          ".TP\n\\fBTERM\\fR\nOn a terminal called \\fBdumb\\fR there is neither colour nor progress.\n",
          to);
}

void cli_print_man(const cli_verb *verb, FILE *to) {
    if (verb)
        put_verb(verb, to);
    else
        put_program(to);
}
