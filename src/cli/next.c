/* The command that a user would type next, made of the one that was typed. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

typedef struct command {
    char *text; /* NULL: no memory */
    size_t length, room;
} command;

static void put(command *c, const char *bytes, size_t count) {
    if (c->text && c->length + count + 1 > c->room) {
        c->room = 2 * (c->length + count + 1);
        char *text = realloc(c->text, c->room);
        if (!text) free(c->text);
        c->text = text;
    }
    if (!c->text) return;
    memcpy(c->text + c->length, bytes, count);
    c->text[c->length += count] = '\0';
}

/* A word as a shell reads it back. */
static void put_word(command *c, const char *word) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,+@%";
    put(c, " ", 1);
    if (*word && strspn(word, plain) == strlen(word)) {
        put(c, word, strlen(word));
        return;
    }
    put(c, "'", 1);
    for (; *word; word++) {
        if (*word == '\'')
            put(c, "'\\''", 4);
        else
            put(c, word, 1);
    }
    put(c, "'", 1);
}

static const tare_field *find(const tare_field *const *tables, const char *name) {
    const size_t length = strcspn(name, "=");
    for (; *tables; tables++)
        for (const tare_field *field = *tables; field->type != TARE_FIELD_END; field++)
            if (strlen(field->name) == length && !strncmp(field->name, name, length)) return field;
    return NULL;
}

/* Is the option among the words? What was given stands back then, but for a list, which grows; a percentile goes with the
 * method that it belongs to. */
static bool is_said(const char *const *words, const tare_field *field) {
    const char *of = strcmp(field->name, "percentile") ? field->name : "method";
    if (field->type == TARE_FIELD_STRINGS) return false;
    for (; *words; words++)
        if (!strncmp(*words, "--", 2) && (!strcmp(*words + 2, field->name) || !strcmp(*words + 2, of))) return true;
    return false;
}

const char *cli_free_name(char name[CLI_NAME_SIZE]) {
    snprintf(name, CLI_NAME_SIZE, "better.onnx");
    for (int i = 2; !access(name, F_OK) && i < 1000; i++) snprintf(name, CLI_NAME_SIZE, "better_%d.onnx", i);
    return name;
}

const tare_field *cli_given(const cli_call *call, const tare_field *const *tables) {
    for (int i = 0; i < call->argument_count && strcmp(call->arguments[i], "--"); i++) {
        const char *argument = call->arguments[i];
        const tare_field *field = strncmp(argument, "--", 2) ? NULL : find(tables, argument + 2);
        if (field) return field;
    }
    return NULL;
}

char *cli_next_command(const cli_call *call, const char *const *words, const tare_field *const *tables) {
    command c = { .text = malloc(64), .room = 64 };
    put(&c, "tare", 4);
    for (size_t i = 0; words[i]; i++) put_word(&c, words[i]);
    for (int i = 0; i < call->argument_count && strcmp(call->arguments[i], "--"); i++) {
        const char *argument = call->arguments[i];
        const tare_field *field = strncmp(argument, "--", 2) ? NULL : find(tables, argument + 2);
        if (!field) continue;
        const bool has_value = strchr(argument, '=') || field->type == TARE_FIELD_BOOL, is_new = !is_said(words, field);
        if (is_new) put_word(&c, argument);
        if (!has_value && i + 1 < call->argument_count && is_new) put_word(&c, call->arguments[i + 1]);
        i += !has_value;
    }
    return c.text;
}

tare_status cli_add_next(const cli_call *call, const char *const *words, const tare_field *const *tables,
                         tare_report *report, tare_error *err) {
    if (!report) return TARE_OK;
    char *next = cli_next_command(call, words, tables);
    if (!next) return cli_fail(err, TARE_E_LIMIT, "out of memory");
    const char *const commands[] = { next };
    const tare_status status = tare_report_add_next(report, commands, 1, err);
    free(next);
    return status;
}
