/* Completion for bash, zsh and fish, from the tables: verbs, their options, the words that an option can be. Where an
 * option takes anything else but a number, and for operands, the shell offers files. */
#include <string.h>

#include "cli.h"

static bool is_number(const tare_field *field) {
    return field->type == TARE_FIELD_INT || field->type == TARE_FIELD_FLOAT || field->type == TARE_FIELD_DOUBLE ||
           field->type == TARE_FIELD_INTS || field->type == TARE_FIELD_FLOATS;
}

static bool takes_words(const tare_field *field) { return field->names != NULL; }
static bool takes_number(const tare_field *field) { return !field->names && is_number(field); }
static bool takes_text(const tare_field *field) {
    return !field->names && !is_number(field) && field->type != TARE_FIELD_BOOL;
}

static void put_names(const char *const *names, FILE *to) {
    for (int i = 0; names[i]; i++) fprintf(to, "%s%s", i ? " " : "", names[i]);
}

static void put_verbs(FILE *to) {
    for (size_t i = 0; i < cli_verb_count(); i++) fprintf(to, "%s%s", i ? " " : "", cli_verb_at(i)->name);
}

/* The beginning of a help text that says what it is about, with `escaped` and the quote made fit for single quotes. */
static void put_gist(const char *text, const char *escaped, FILE *to) {
    enum { LONGEST = 60 };
    size_t length = strcspn(text, ";:(");
    const char *end = strstr(text, ". ");
    if (end && (size_t)(end - text) < length) length = (size_t)(end - text);
    if (length > LONGEST)
        for (length = LONGEST; text[length] != ' ' && length > 1;) length--;
    while (length && strchr(" ,.", text[length - 1])) length--;
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '\'')
            fputs("'\\'", to);
        else if (strchr(escaped, text[i]))
            fputc('\\', to);
        fputc(text[i], to);
    }
}

/* Calls `put` for every option of a verb; returns how many there were. */
static size_t for_options(const cli_verb *verb, bool (*is_meant)(const tare_field *),
                          void (*put)(const cli_verb *, const tare_field *, size_t, FILE *), FILE *to) {
    const tare_field *tables[CLI_TABLES_MAX];
    const size_t count = cli_tables(verb, tables);
    size_t found = 0;
    for (size_t i = 0; i < count; i++)
        for (const tare_field *field = tables[i]; field->type != TARE_FIELD_END; field++)
            if (!is_meant || is_meant(field)) put(verb, field, found++, to);
    return found;
}

/* ---- bash ---- */

static void put_bash_option(const cli_verb *verb, const tare_field *field, size_t index, FILE *to) {
    (void)verb;
    fprintf(to, "%s--%s", index ? " " : "", field->name);
    if (field->letter) fprintf(to, " -%c", field->letter);
}

/* A pattern of case: the verb and the option. */
static void put_bash_pattern(const cli_verb *verb, const tare_field *field, size_t index, FILE *to) {
    fprintf(to, "%s%s--%s", index ? " | " : "    ", verb->name, field->name);
    if (field->letter) fprintf(to, " | %s-%c", verb->name, field->letter);
}

static void put_bash_words(const cli_verb *verb, const tare_field *field, size_t index, FILE *to) {
    (void)index;
    put_bash_pattern(verb, field, 0, to);
    fputs(") words='", to);
    put_names(field->names, to);
    fputs("' ;;\n", to);
}

void cli_print_bash(FILE *to) {
    fputs("# Completion of tare for bash, made by `tare help --completion bash`.\n"
          "_tare() {\n"
          "    local cur=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} verb=${COMP_WORDS[1]} words=\n"
          "    COMPREPLY=()\n"
          "    if [ \"$cur\" = = ]; then\n"
          "        cur=\n"
          "    elif [ \"$before\" = = ]; then\n"
          "        before=${COMP_WORDS[COMP_CWORD - 2]}\n"
          "    fi\n"
          "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
          "        verb=\n"
          "        before=\n"
          "        words='",
          to);
    put_verbs(to);
    fputs(" --help --version'\n    fi\n    case $verb$before in\n    '') ;;\n", to);
    for (size_t i = 0; i < cli_verb_count(); i++) {
        const cli_verb *verb = cli_verb_at(i);
        for_options(verb, takes_words, put_bash_words, to);
        if (for_options(verb, takes_number, put_bash_pattern, to))
            fputs(")\n        compopt +o default\n        return\n        ;;\n", to);
        if (for_options(verb, takes_text, put_bash_pattern, to)) fputs(") return ;;\n", to);
    }
    fputs("    *)\n        case $verb in\n", to);
    for (size_t i = 0; i < cli_verb_count(); i++) {
        fprintf(to, "        %s) words='", cli_verb_at(i)->name);
        for_options(cli_verb_at(i), NULL, put_bash_option, to);
        fputs("' ;;\n", to);
    }
    fputs("        esac\n        if [[ $cur != -* ]]; then\n            words=\n            [ \"$verb\" != help ] || "
          "words='",
          to);
    put_verbs(to);
    fputs("'\n        fi\n        ;;\n    esac\n"
          "    # shellcheck disable=SC2207 # words without spaces, and bash 3 has no mapfile\n"
          "    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
          "}\n"
          "complete -o default -F _tare tare\n",
          to);
}

/* ---- zsh ---- */

static void put_zsh_option(const cli_verb *verb, const tare_field *field, size_t index, FILE *to) {
    const bool has_value = field->type != TARE_FIELD_BOOL;
    const bool repeats = field->type == TARE_FIELD_STRINGS;
    (void)verb, (void)index;
    fputs(" \\\n            ", to);
    if (field->letter && !repeats) fprintf(to, "'(-%c --%s)'", field->letter, field->name);
    if (repeats) fputs("'*'", to);
    if (field->letter)
        fprintf(to, "{-%c%s,--%s%s}", field->letter, has_value ? "+" : "", field->name, has_value ? "=" : "");
    else
        fprintf(to, "'--%s%s'", field->name, has_value ? "=" : "");
    fputs("'[", to);
    put_gist(field->help ? field->help : "", "[]\\", to);
    fputs("]", to);
    if (has_value) fputs(":", to);
    for (const char *at = has_value ? cli_metavar(field) : ""; *at; at++) fprintf(to, *at == ':' ? "\\%c" : "%c", *at);
    if (field->names) {
        fputs(":(", to);
        put_names(field->names, to);
        fputs(")", to);
    } else if (has_value) {
        fputs(is_number(field) ? ": " : ":_files", to);
    }
    fputs("'", to);
}

void cli_print_zsh(FILE *to) {
    fputs("#compdef tare\n# Completion of tare for zsh, made by `tare help --completion zsh`.\n"
          "_tare() {\n    local -a verbs\n    verbs=(",
          to);
    for (size_t i = 0; i < cli_verb_count(); i++) {
        fprintf(to, "\n        '%s:", cli_verb_at(i)->name);
        put_gist(cli_verb_at(i)->summary, ":\\", to);
        fputs("'", to);
    }
    fputs("\n    )\n    if ((CURRENT == 2)); then\n        _describe verb verbs\n        return\n    fi\n"
          "    local verb=$words[2]\n    shift words\n    ((CURRENT--))\n    case $verb in\n",
          to);
    for (size_t i = 0; i < cli_verb_count(); i++) {
        const cli_verb *verb = cli_verb_at(i);
        fprintf(to, "    %s)\n        _arguments -s", verb->name);
        for_options(verb, NULL, put_zsh_option, to);
        fputs(" \\\n            ", to);
        if (!strcmp(verb->name, "help")) {
            fputs("'*:verb:(", to);
            put_verbs(to);
            fputs(")'\n        ;;\n", to);
        } else {
            fputs("'*:file:_files'\n        ;;\n", to);
        }
    }
    fputs("    esac\n}\n"
          "if [ \"$funcstack[1]\" = _tare ]; then\n    _tare \"$@\"\nelse\n    compdef _tare tare\nfi\n",
          to);
}

/* ---- fish ---- */

static void put_fish_option(const cli_verb *verb, const tare_field *field, size_t index, FILE *to) {
    (void)index;
    fprintf(to, "complete -c tare -n '__fish_seen_subcommand_from %s' -l %s", verb->name, field->name);
    if (field->letter) fprintf(to, " -s %c", field->letter);
    fputs(" -d '", to);
    put_gist(field->help ? field->help : "", "\\", to);
    fputs("'", to);
    if (field->names) {
        fputs(" -xa '", to);
        put_names(field->names, to);
        fputs("'", to);
    } else if (field->type != TARE_FIELD_BOOL) {
        fputs(is_number(field) ? " -x" : " -r", to);
    }
    fputs("\n", to);
}

void cli_print_fish(FILE *to) {
    fputs("# Completion of tare for fish, made by `tare help --completion fish`.\n", to);
    for (size_t i = 0; i < cli_verb_count(); i++) {
        const cli_verb *verb = cli_verb_at(i);
        fprintf(to, "complete -c tare -n __fish_use_subcommand -fa %s -d '", verb->name);
        put_gist(verb->summary, "\\", to);
        fputs("'\n", to);
        for_options(verb, NULL, put_fish_option, to);
    }
    fputs("complete -c tare -n '__fish_seen_subcommand_from help' -fa '", to);
    put_verbs(to);
    fputs("'\n", to);
}
