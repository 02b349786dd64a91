/* What each flow tells, as a function of its struct of facts. They fill a report; tare_report_check tells at the end
 * whether memory was enough. */
#ifndef TARE_REPORT_FLOWS_H
#define TARE_REPORT_FLOWS_H

#include <tare/field.h>

#include "calibrate/calibrate.h"
#include "compare/compare.h"
#include "passes/pass.h"
#include "report/bench.h"
#include "report/check.h"
#include "report/info.h"
#include "report/quantize.h"
#include "report/report.h"

/* A line for a rewrite, told while passes run. */
void tare_report_rewrite(tare_report *report, const char *text);
void tare_report_optimize(tare_report *report, size_t nodes_before, size_t nodes_after, const tare_pass_total *totals,
                          size_t count);

void tare_report_ops(tare_report *report, bool markdown);

/* `arena` is for the while of it. */
void tare_report_ranges(tare_report *report, const tare_ranges *ranges, const char *path, tare_arena *arena);

/* What the int backend did. */
typedef struct tare_ran_integers {
    const tare_target *target;
    int profile;
    size_t on_codes;           /* nodes */
    const tare_int_left *left; /* in float */
    size_t left_count;
} tare_ran_integers;

/* What a user's program made of outputs. */
typedef struct tare_figure {
    const char *name;
    double value;
} tare_figure;
typedef TARE_VEC(tare_figure) tare_figures;
/* A table of figures by name, in the order of the first side that has it, a row for each side; none: nothing. */
void tare_report_figures(tare_report *report, const char *const *of, const tare_figures *const *figures, size_t count);
json_t *tare_report_figures_json(tare_report *report, const tare_figures *figures);

/* A class of an output: its score where one sample was run, else how many samples have it on top. */
enum { TARE_RAN_TOP = 5 };
typedef struct tare_ran_class {
    size_t index;
    double score;
    size_t samples;
} tare_ran_class;

/* What an output came to, over all samples. */
typedef struct tare_ran_output {
    const tare_value *value;
    tare_dtype dtype;
    tare_shape shape; /* of the first sample */
    bool varies;      /* others have other shapes */
    uint64_t count, nonfinite;
    double min, mean, max; /* of the finite numbers; NaN: there are none */
    tare_ran_class top[TARE_RAN_TOP];
    size_t top_count; /* 0: it is no vector of classes */
} tare_ran_output;

/* What a run wrote, and how often it was right by the labels. */
typedef struct tare_ran {
    const char *to, *backend;
    size_t samples;
    bool is_synthetic;
    const tare_ran_output *outputs;
    size_t output_count;
    const tare_hits *hits;             /* by output */
    const tare_ran_integers *integers; /* NULL: another backend */
    const tare_figures *figures;       /* of the user's program; may be empty */
} tare_ran;
void tare_report_ran(tare_report *report, const tare_ran *ran);

/* How often the label was the largest and among the five largest: JSON, and cells of a row. */
json_t *tare_report_hits(tare_report *report, const tare_hits *hits);
void tare_cells_hits(char top1[TARE_CELL_SIZE], char top5[TARE_CELL_SIZE], const tare_hits *hits);

json_t *tare_report_metrics(tare_report *report, const tare_metrics *metrics);

/* Which metrics a table shows; none: the usual ones. */
enum { TARE_COLUMNS_MAX = 16 };
typedef struct tare_columns {
    size_t at[TARE_COLUMNS_MAX], count;
} tare_columns;
/* From names, which are the JSON's keys, or "all"; NULL: none. */
tare_status tare_columns_parse(tare_columns *columns, const tare_strings *names, tare_error *err);
/* Tables of the columns, as many as are needed to stay narrow, with a row for each value that is_shown. */
void tare_report_columns(tare_report *report, const char *heading, const tare_columns *columns,
                         const tare_comparison *comparison, bool is_shown(const tare_compared *compared));

/* Two of what is compared: names, and figures of the user's program, which may be empty. */
typedef struct tare_sides {
    const char *name[2];
    const tare_figures *figures[2];
} tare_sides;
void tare_report_comparison(tare_report *report, const tare_sides *sides, const tare_comparison *comparison,
                            const tare_columns *columns);
/* Tables of how often each side is right by labels, and of the user's program's figures; nothing where there are none. */
void tare_report_judged(tare_report *report, const tare_sides *sides, const tare_comparison *comparison);
bool tare_report_have_figures(const tare_sides *sides);
json_t *tare_report_sides(tare_report *report, const tare_sides *sides); /* their figures */
json_t *tare_report_both_hits(tare_report *report, const tare_compared *compared);

#endif
