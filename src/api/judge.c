/* A user's program as a judge: outputs are written where it can read them, and what it prints is read as figures. */
#include "api/judge.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/process.h"
#include "samples/samples.h"

enum { TOLD_MOST = 20 /* lines of a program's errors that are told */ };

/* ---- what was printed ---- */

static bool read_number(const char *text, double *number) {
    char *end;
    *number = strtod(text, &end);
    return end != text && !end[strspn(end, " \t\r")];
}

static tare_status add(tare_figures *figures, const char *name, double value, tare_arena *arena, tare_error *err) {
    const tare_figure figure = { .name = name, .value = value };
    return name && tare_vec_push(arena, figures, figure) ? TARE_OK : tare_fail_memory(err, 0);
}

/* The members of an object that are numbers; false: it is none, or has none. */
static tare_status read_object(tare_figures *out, const char *line, tare_arena *arena, tare_error *err) {
    json_error_t error;
    json_t *object = json_loads(line, JSON_REJECT_DUPLICATES, &error), *member;
    const char *name;
    tare_status status = TARE_OK;
    json_object_foreach(object, name, member) {
        if (status != TARE_OK || !json_is_number(member)) continue;
        status = add(out, tare_arena_strdup(arena, name), json_number_value(member), arena, err);
    }
    json_decref(object);
    return status;
}

/* "name value"; the name may hold spaces and end in ':' or '='. False: the line is not of that form. */
static bool read_pair(char *line, const char **name, double *value) {
    size_t length = strlen(line);
    while (length && strchr(" \t\r", line[length - 1])) line[--length] = '\0';
    size_t at = length;
    while (at && !strchr(" \t:=", line[at - 1])) at--;
    if (!at || !read_number(line + at, value)) return false;
    while (at && strchr(" \t:=", line[at - 1])) at--;
    line[at] = '\0';
    *name = line + strspn(line, " \t");
    return **name != '\0';
}

/* The lines of that form that stand together at the end, in their order. */
static tare_status read_pairs(tare_figures *out, char **lines, size_t count, tare_arena *arena, tare_error *err) {
    const char *name;
    double value;
    size_t first = count;
    while (first) {
        char *copy = tare_arena_strdup(arena, lines[first - 1]);
        if (!copy) return tare_fail_memory(err, 0);
        if (!read_pair(copy, &name, &value)) break;
        first--;
    }
    for (; first < count; first++) {
        if (read_pair(lines[first], &name, &value)) TARE_TRY(add(out, name, value, arena, err));
    }
    return TARE_OK;
}

/* Lines that are not empty, in place. */
static tare_status split(char *text, char ***lines, size_t *count, tare_arena *arena, tare_error *err) {
    TARE_VEC(char *) found = { 0 };
    while (*text) {
        char *end = text + strcspn(text, "\n");
        const bool is_last = !*end;
        *end = '\0';
        if (text[strspn(text, " \t\r")] && !tare_vec_push(arena, &found, text)) return tare_fail_memory(err, 0);
        text = is_last ? end : end + 1;
    }
    *lines = found.at;
    *count = found.count;
    return TARE_OK;
}

static tare_status read_figures(tare_figures *out, char **lines, size_t count, tare_arena *arena, tare_error *err) {
    const char *last = count ? lines[count - 1] + strspn(lines[count - 1], " \t") : "";
    double number;
    if (*last == '{')
        TARE_TRY(read_object(out, last, arena, err));
    else if (read_number(last, &number))
        TARE_TRY(add(out, "metric", number, arena, err));
    else if (count)
        TARE_TRY(read_pairs(out, lines, count, arena, err));
    if (out->count) return TARE_OK;
    char shown[128];
    tare_text_escape(shown, sizeof shown, last);
    return tare_fail(err, TARE_E_MALFORMED,
                     "printed no figure: its last line is '%s', wanted a number, `name value` or a JSON object", shown);
}

/* ---- running it ---- */

static tare_status check_exit(const tare_ran_program *ran, char **errors, size_t count, tare_log *log,
                              tare_error *err) {
    const size_t first = count > TOLD_MOST ? count - TOLD_MOST : 0;
    for (size_t i = first; i < count; i++) {
        char line[512];
        tare_text_escape(line, sizeof line, errors[i]);
        if (ran->exit_code)
            tare_log_warn(log, "metric-cmd: %s", line);
        else
            tare_log_note(log, "metric-cmd: %s", line);
    }
    if (!ran->exit_code) return TARE_OK;
    char last[256];
    tare_text_escape(last, sizeof last, count ? errors[count - 1] : "it said nothing");
    if (ran->exit_code > 128) return tare_fail(err, TARE_E_IO, "ended by signal %d: %s", ran->exit_code - 128, last);
    return tare_fail(err, TARE_E_IO, "ended with exit code %d: %s", ran->exit_code, last);
}

static tare_status judge(tare_figures *out, const char *command, const char *directory, tare_arena *arena,
                         tare_log *log, tare_error *err) {
    tare_ran_program ran;
    char **lines, **errors;
    size_t line_count, error_count;
    if (!command[strspn(command, " \t\n")])
        return tare_fail(err, TARE_E_USAGE, "is blank; it wants a program that is given a directory of outputs");
    TARE_TRY(tare_program_run(&ran, command, directory, arena, log, err));
    TARE_TRY(split(ran.errors, &errors, &error_count, arena, err));
    TARE_TRY(check_exit(&ran, errors, error_count, log, err));
    TARE_TRY(split(ran.out, &lines, &line_count, arena, err));
    TARE_TRY(read_figures(out, lines, line_count, arena, err));
    for (size_t i = 0; i < out->count; i++)
        if (!isfinite(out->at[i].value))
            tare_log_warn(log, "metric-cmd: '%.80s' is %g: did its outputs hold numbers that are not finite?",
                          out->at[i].name, out->at[i].value);
    return TARE_OK;
}

tare_status tare_judge_directory(tare_figures *out, const tare_judging *judging, const char *directory,
                                 tare_arena *arena, tare_log *log, tare_error *err) {
    *out = (tare_figures){ 0 };
    if (!judging || !judging->metric_cmd) return TARE_OK;
    if (!tare_path_is_directory(directory))
        return tare_fail(err, TARE_E_USAGE, "--metric-cmd is given a directory of outputs, and '%s' is none",
                         directory);
    if (judge(out, judging->metric_cmd, directory, arena, log, err) == TARE_OK) return TARE_OK;
    return tare_within(err, "--metric-cmd '%.80s'", judging->metric_cmd);
}

tare_status tare_judge_model(tare_figures *out, const tare_judging *judging, const tare_model *model,
                             const tare_backend_options *backend, const tare_samples *samples,
                             const tare_work_options *work, tare_arena *arena, tare_log *log, tare_error *err) {
    tare_scratch *scratch;
    const tare_run_options run = { 0 };
    *out = (tare_figures){ 0 };
    if (!judging || !judging->metric_cmd) return TARE_OK;
    TARE_TRY(tare_scratch_make(&scratch, err));
    const char *path = tare_scratch_path(scratch);
    tare_status status = tare_model_run(model, samples, backend, &run, NULL, work, path, NULL, log, err);
    if (status == TARE_OK) status = tare_judge_directory(out, judging, path, arena, log, err);
    tare_scratch_remove(scratch);
    return status;
}
