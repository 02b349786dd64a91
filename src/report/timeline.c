/* The memory plan over time: how much of the slab is in use while each step runs, and by what where it is most. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/info.h"

enum { ROWS = 24, BAR = 24, NAMED = 4, BLOCK = sizeof "█" - 1 };

static size_t step_of_peak(const tare_timeline *timeline) {
    size_t peak = 0;
    for (size_t s = 1; s < timeline->step_count; s++)
        if (timeline->steps[s].used > timeline->steps[peak].used) peak = s;
    return peak;
}

static const char *name_of(const tare_timeline_step *step) { return step->node ? step->node : "(layout)"; }

/* ---- the peak ---- */

/* The largest first; then as they stand. */
static int by_size(const void *a, const void *b) {
    const tare_timeline_buffer *x = *(const tare_timeline_buffer *const *)a,
                               *y = *(const tare_timeline_buffer *const *)b;
    if (x->size != y->size) return x->size < y->size ? 1 : -1;
    return x < y ? -1 : 1;
}

static void tell_peak(tare_report *report, const tare_timeline *timeline, size_t peak, tare_arena *arena) {
    tare_text text = { .arena = arena };
    const tare_timeline_buffer **live = tare_arena_alloc(arena, timeline->buffer_count + 1, sizeof(*live));
    size_t count = 0;
    char bytes[TARE_CELL_SIZE];
    for (size_t i = 0; live && i < timeline->buffer_count; i++)
        if (timeline->buffers[i].first <= peak && peak <= timeline->buffers[i].last)
            live[count++] = &timeline->buffers[i];
    if (count) qsort(live, count, sizeof *live, by_size);
    for (size_t i = 0; i < count && i < NAMED; i++)
        tare_text_printf(&text, "%s'%s' %s", i ? ", " : "", live[i]->value ? live[i]->value : "a copy",
                         tare_cell_bytes(bytes, live[i]->size));
    if (count > NAMED) tare_text_printf(&text, " and %zu more", count - NAMED);
    tare_report_fact(report, "peak", "%s at '%s': %s", tare_cell_bytes(bytes, timeline->steps[peak].used),
                     name_of(&timeline->steps[peak]), text.at && !text.failed ? text.at : "nothing");
}

/* ---- the picture ---- */

static const char *bar(char cell[BLOCK * BAR + 1], size_t used, size_t most) {
    const size_t length = most ? (size_t)((double)used / (double)most * BAR + 0.5) : 0;
    size_t i = 0;
    for (; i < length && i < BAR; i++) memcpy(cell + BLOCK * i, "█", BLOCK);
    cell[BLOCK * i] = 0;
    return cell;
}

/* Steps in a row are one line, at which the one that uses most stands. */
static void draw(tare_report *report, const tare_timeline *timeline, size_t most) {
    static const char *const headings[] = { "steps", "most in use by", "op", "bytes", "" };
    tare_table *table = tare_report_table(report, 5, headings, "><<><", 1);
    const size_t each = (timeline->step_count + ROWS - 1) / ROWS;
    for (size_t from = 0; from < timeline->step_count; from += each) {
        const size_t end = from + each < timeline->step_count ? from + each : timeline->step_count;
        const tare_timeline_step *top = &timeline->steps[from];
        for (size_t s = from + 1; s < end; s++)
            if (timeline->steps[s].used > top->used) top = &timeline->steps[s];
        char steps[TARE_CELL_SIZE], bytes[TARE_CELL_SIZE], picture[BLOCK * BAR + 1];
        snprintf(steps, sizeof steps, each == 1 ? "%zu" : "%zu-%zu", from, end - 1);
        tare_table_row(table,
                       (const char *const[]){ steps, name_of(top), top->op ? top->op : "",
                                              tare_cell_bytes(bytes, top->used), bar(picture, top->used, most) });
    }
}

/* ---- */

static json_t *json_steps(tare_report *report, const tare_timeline *timeline) {
    json_t *list = json_array();
    for (size_t s = 0; s < timeline->step_count; s++) {
        json_t *o = json_object();
        tare_report_set(report, o, "node", tare_json_text(timeline->steps[s].node));
        tare_report_set(report, o, "op", tare_json_text(timeline->steps[s].op));
        tare_report_set(report, o, "used", tare_json_count(timeline->steps[s].used));
        tare_report_push(report, list, o);
    }
    return list;
}

static json_t *json_buffers(tare_report *report, const tare_timeline *timeline) {
    json_t *list = json_array();
    for (size_t i = 0; i < timeline->buffer_count; i++) {
        const tare_timeline_buffer *buffer = &timeline->buffers[i];
        json_t *o = json_object();
        tare_report_set(report, o, "value", tare_json_text(buffer->value));
        tare_report_set(report, o, "offset", tare_json_count(buffer->offset));
        tare_report_set(report, o, "size", tare_json_count(buffer->size));
        tare_report_set(report, o, "first", tare_json_count(buffer->first));
        tare_report_set(report, o, "last", tare_json_count(buffer->last));
        tare_report_push(report, list, o);
    }
    return list;
}

void tare_report_timeline(tare_report *report, const tare_timeline *timeline) {
    json_t *o = json_object();
    tare_arena *arena = tare_arena_new();
    if (timeline->step_count && arena) {
        const size_t peak = step_of_peak(timeline);
        tell_peak(report, timeline, peak, arena);
        draw(report, timeline, timeline->steps[peak].used);
    }
    tare_arena_free(arena);
    tare_report_set(report, o, "steps", json_steps(report, timeline));
    tare_report_set(report, o, "buffers", json_buffers(report, timeline));
    tare_report_set(report, tare_report_root(report), "timeline", o);
}
