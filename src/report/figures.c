/* Figures of a user's program, side by side. */
#include <string.h>

#include "report/flows.h"

static const tare_figure *find(const tare_figures *figures, const char *name) {
    for (size_t i = 0; i < figures->count; i++)
        if (!strcmp(figures->at[i].name, name)) return &figures->at[i];
    return NULL;
}

static bool is_new(const tare_figures *const *figures, size_t side, size_t index) {
    const char *name = figures[side]->at[index].name;
    for (size_t s = 0; s < side; s++)
        if (find(figures[s], name)) return false;
    return find(figures[side], name) == &figures[side]->at[index];
}

void tare_report_figures(tare_report *report, const char *const *of, const tare_figures *const *figures, size_t count) {
    static const char *const headings[] = { "metric-cmd", "of", "value" };
    tare_table *table = NULL;
    for (size_t s = 0; s < count; s++) {
        for (size_t i = 0; i < figures[s]->count; i++) {
            const char *name = figures[s]->at[i].name;
            if (!is_new(figures, s, i)) continue;
            if (!table) table = tare_report_table(report, 3, headings, "<<>", 1);
            for (size_t k = 0, rows = 0; k < count; k++) {
                char cell[TARE_CELL_SIZE];
                const tare_figure *figure = find(figures[k], name);
                if (!figure) continue;
                tare_cell_number(cell, "%.6g", figure->value);
                tare_table_row(table, (const char *const[]){ rows++ ? "" : name, of[k], cell });
            }
        }
    }
}

json_t *tare_report_figures_json(tare_report *report, const tare_figures *figures) {
    json_t *o = json_object();
    for (size_t i = 0; i < figures->count; i++)
        tare_report_set(report, o, figures->at[i].name, tare_json_real(figures->at[i].value));
    return o;
}
