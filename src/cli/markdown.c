/* docs/reference.md: every verb and every option, from the tables. */
#include <ctype.h>
#include <string.h>

#include "cli.h"

/* Text of a cell: what Markdown would take for its own is escaped. */
static void put(const char *text, FILE *to) {
    for (; *text; text++) {
        if (strchr("|*_<[", *text)) fputc('\\', to);
        fputc(*text, to);
    }
}

/* A heading's anchor, as the page's readers make it. */
static void put_anchor(const char *title, FILE *to) {
    for (; *title; title++) fputc(*title == ' ' ? '-' : tolower((unsigned char)*title), to);
}

static void put_words(const tare_field *field, FILE *to) {
    for (int i = 0; field->names && field->names[i]; i++) fprintf(to, "%s`%s`", i ? " " : ": ", field->names[i]);
}

static void put_heading(FILE *to) { fputs("\n| option | default | |\n|---|---|---|\n", to); }

static void put_rows(const tare_field *field, FILE *to) {
    for (; field->type != TARE_FIELD_END; field++) {
        const char *metavar = cli_metavar(field);
        char cell[CLI_DEFAULT_SIZE];
        const char *fallback = field->flags & TARE_FIELD_REQUIRED ? "needed" : cli_default(field, cell);
        fputs("| ", to);
        if (field->letter) fprintf(to, "`-%c` ", field->letter);
        fprintf(to, "`--%s%s", field->name, *metavar ? " " : "");
        for (const char *at = metavar; *at; at++) fprintf(to, *at == '|' ? "\\%c" : "%c", *at);
        fprintf(to, "` | %s | ", fallback);
        put(field->help ? field->help : "", to);
        put_words(field, to);
        fputs(" |\n", to);
    }
}

static void put_verb(const cli_verb *verb, FILE *to) {
    const tare_field *tables[CLI_TABLES_MAX];
    const size_t count = cli_tables(verb, tables);
    fprintf(to, "\n## tare %s\n\n    tare %s %s\n\n%c%s.\n", verb->name, verb->name, verb->usage,
            toupper((unsigned char)verb->summary[0]), verb->summary + 1);
    size_t i = 0;
    if (!cli_table_title(tables[0])) put_heading(to);
    for (; i < count && !cli_table_title(tables[i]); i++) put_rows(tables[i], to);
    for (size_t first = i; i < count; i++) {
        const char *title = cli_table_title(tables[i]);
        fprintf(to, "%s[%s](#", i == first ? "\nAnd the options of: " : ", ", title);
        put_anchor(title, to);
        fputc(')', to);
    }
    fputs("\n", to);
    if (verb->more) fputs("\n```sh\n", to);
    for (const char *const *line = verb->more; line && *line; line++) fprintf(to, "%s\n", *line);
    if (verb->more) fputs("```\n", to);
}

void cli_print_markdown(FILE *to) {
    const tare_field *tables[CLI_TABLES_MAX];
    const size_t count = cli_shared_tables(tables);
    fputs("# The program: verbs and options\n\nMade by `tare help --markdown` from the tables that the program parses "
          "by. "
          "`--name value` and\n`--name=value` are the same; lists are given by commas or by repeating the option; `--` "
          "ends "
          "the options.\nWhat is printed with `--json` is described in [formats/report.md](formats/report.md), recipes "
          "in\n"
          "[formats/recipe.md](formats/recipe.md).\n",
          to);
    for (size_t i = 0; i < cli_verb_count(); i++) put_verb(cli_verb_at(i), to);
    for (size_t i = 0; i < count; i++) {
        fprintf(to, "\n## %s\n", cli_table_title(tables[i]));
        put_heading(to);
        put_rows(tables[i], to);
    }
    fputs("\n## Exit codes\n\n| code | |\n|---|---|\n", to);
    for (const cli_exit_code *e = cli_exit_codes; e->code; e++) fprintf(to, "| %s | %s |\n", e->code, e->meaning);
}
