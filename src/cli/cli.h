/* The program: verbs, their options, and what every verb shares. It includes nothing of the library but <tare/…>. */
#ifndef TARE_CLI_H
#define TARE_CLI_H

#include <stddef.h>
#include <stdio.h>

#include <tare/tare.h>

enum { CLI_GROUPS_MAX = 10, CLI_FIELDS_MAX = 256 /* of all groups of a verb */ };

/* A struct inside a verb's record and the table of its members: an option is said once, where its struct is. */
typedef struct cli_group {
    const tare_field *fields;
    size_t offset; /* of the struct in the record */
} cli_group;

/* What every verb understands. */
typedef struct cli_common {
    bool json, quiet, verbose, help;
    const char *max_mem; /* NULL: most of the machine's */
} cli_common;

typedef struct cli_call {
    void *record;                /* the verb's own, filled from the command line */
    const char *const *operands; /* what is no option, ended by NULL */
    int operand_count;
    char *const *arguments; /* all behind the verb, as they were given */
    int argument_count;
    const cli_common *common;
    tare_log *log;
} cli_call;

typedef struct cli_verb {
    const char *name;
    const char *usage;                /* "MODEL --data SRC -o OUT" */
    const char *summary;              /* one line */
    const char *const *more;          /* examples: commands, ended by NULL */
    int operands[2];                  /* least and most; most < 0: no limit */
    cli_group groups[CLI_GROUPS_MAX]; /* ended by fields NULL */
    size_t record_size;
    tare_status (*run)(const cli_call *call, tare_error *err);
} cli_verb;

size_t cli_verb_count(void);
const cli_verb *cli_verb_at(size_t index);
tare_status cli_verb_get(const char *name, const cli_verb **verb, tare_error *err);
extern const tare_field cli_common_fields[];

/* The options --recipe and --set, a group of verbs that take them. What a recipe says comes first, then --set, then the
 * other options: the later changes the earlier. */
typedef struct cli_recipe_options {
    const char *recipe;
    tare_strings set;
} cli_recipe_options;
extern const tare_field cli_recipe_fields[];
/* Finds --recipe and --set among the arguments and fills the groups of the record from them; the model is the first operand when there
 * is none. */
tare_status cli_apply_recipe(const cli_verb *verb, int count, char **arguments, void *record, const char **model,
                             tare_field_store *store, tare_error *err);

/* Fills record and common from the arguments after the verb. */
tare_status cli_parse(const cli_verb *verb, int count, char **arguments, void *record, cli_common *common,
                      const char **operands, int *operand_count, tare_field_store *store, tare_error *err);

/* What the verbs' tables say, in the forms in which it is told. */
void cli_print_verb_help(const cli_verb *verb, FILE *to);
void cli_print_overview(FILE *to);
void cli_print_man(const cli_verb *verb, FILE *to); /* man(7); NULL: the page of the program */
void cli_print_markdown(FILE *to);                  /* docs/reference.md */
void cli_print_bash(FILE *to);                      /* completion */
void cli_print_zsh(FILE *to);
void cli_print_fish(FILE *to);

#define CLI_SLOGAN "tare takes neural networks to int8 and tells where the accuracy goes."
typedef struct cli_exit_code {
    const char *code, *meaning;
} cli_exit_code;
extern const cli_exit_code cli_exit_codes[]; /* ended by NULLs */

/* A verb's tables in the order in which they are told: its own, those that other verbs have too, last what all have. */
enum { CLI_TABLES_MAX = CLI_GROUPS_MAX + 1, CLI_DEFAULT_SIZE = 32, CLI_CHOICE_SIZE = 512 };
size_t cli_tables(const cli_verb *verb, const tare_field *tables[CLI_TABLES_MAX]);
size_t cli_shared_tables(const tare_field *tables[CLI_TABLES_MAX]);
const char *cli_table_title(const tare_field *table); /* NULL: a verb's own */
const char *cli_metavar(const tare_field *field);     /* "": takes no argument */
/* What the option is when it is not given; "": nothing that could be said. */
const char *cli_default(const tare_field *field, char text[CLI_DEFAULT_SIZE]);
/* What it can be: "a | b | c (default: a)"; "": nothing that could be said. */
void cli_choice(const tare_field *field, char text[CLI_CHOICE_SIZE]);

/* The answer: the report as text or, with --json, as JSON, on stdout. Frees it. */
tare_status cli_print_report(const cli_call *call, tare_report *report, tare_error *err);
/* The same for a report that may be there beside an error (a gate that was not met): the error stays. report may be NULL. */
tare_status cli_print_verdict(const cli_call *call, tare_report *report, tare_status status, tare_error *err);

/* Shared by verbs: an error about operands and options that the tables cannot tell. */
tare_status cli_usage(tare_error *err, const char *format, ...) TARE_PRINTF(2, 3);
tare_status cli_fail(tare_error *err, tare_status status, const char *text);

/* A command for the user to go on with: "tare WORDS" for a shell, then those options of this call, as they were given, that
 * are in one of the tables (ended by NULL). Free it with free(); NULL: no memory. */
char *cli_next_command(const cli_call *call, const char *const *words, const tare_field *const *tables);

/* Adds one such command to the report; report NULL: nothing is done. */
tare_status cli_add_next(const cli_call *call, const char *const *words, const tare_field *const *tables,
                         tare_report *report, tare_error *err);

/* A name that no file has yet, for a command to write to. */
enum { CLI_NAME_SIZE = 32 };
const char *cli_free_name(char name[CLI_NAME_SIZE]);

/* The first option of this call that is in one of the tables; NULL: none is. */
const tare_field *cli_given(const cli_call *call, const tare_field *const *tables);

/* Where notes and progress go: stderr; progress only on a terminal. */
tare_log cli_log(const cli_common *common);
bool cli_colour(FILE *stream);
/* "KIND: TEXT" on stderr; on a terminal in lines that fit it. */
void cli_say(const char *kind, const char *text);
size_t cli_columns(void); /* of the terminal that stdout is; 0: it is none */

#endif
