/* What a command line that cannot be understood was likely meant to say. */
#ifndef TARE_CLI_MISTAKES_H
#define TARE_CLI_MISTAKES_H

#include "cli.h"

/* An operand that the option before it was likely meant to have; operand NULL: none. */
typedef struct cli_stray {
    const tare_field *option;
    const char *operand;
} cli_stray;

/* Is the operand behind an option's value rather the rest of that value? */
bool cli_is_stray(const tare_field *option, const char *operand);

/* Is it the long name of an option, or the start of one, with a dash too few before it? */
bool cli_is_long_name(const cli_verb *verb, const char *text);

/* `argument` is no option of the verb. */
tare_status cli_fail_unknown(const cli_verb *verb, const char *argument, tare_error *err);

/* `operand` is one more than the verb takes. */
tare_status cli_fail_operand(const cli_verb *verb, const cli_stray *stray, const char *operand, tare_error *err);

/* err says what is wrong with the value; what would be right is added to it. */
tare_status cli_fail_value(const tare_field *field, const char *value, tare_error *err);

#endif
