/* How fast a model ran, and where the time went. */
#include "report/bench.h"

#include <stdio.h>

#include "report/info.h"

enum { SHOWN_NODES = 20, SHAPE = 128 };

static const char *duration(char cell[TARE_CELL_SIZE], double seconds) {
    const bool is_short = seconds < 1e-4;
    const double number = (is_short ? 1e6 : 1e3) * seconds;
    snprintf(cell, TARE_CELL_SIZE, "%.*f %s", number < 10 ? 2 : number < 100 ? 1 : 0, number, is_short ? "µs" : "ms");
    return cell;
}

static json_t *json_ms(double seconds) { return tare_json_real(1e3 * seconds); }

/* As they were fed; an input that is an initializer too was left to it. */
static json_t *tell_inputs(tare_report *report, const tare_bench_figures *f) {
    json_t *all = json_object();
    for (size_t i = 0; i < f->model->graph->inputs.count; i++) {
        const char *name = f->model->graph->inputs.at[i]->name;
        const tare_tensor *tensor = f->inputs[i];
        char shape[SHAPE];
        if (!tensor) continue;
        tare_shape_print(shape, sizeof shape, &tensor->shape, NULL);
        tare_report_fact(report, "input", "%s  %s  %s", name, tare_dtype_name(tensor->dtype), shape);
        json_t *o = json_object();
        tare_report_set(report, o, "type", tare_json_text(tare_dtype_name(tensor->dtype)));
        tare_report_set(report, o, "shape", tare_json_shape(report, &tensor->shape, f->model));
        tare_report_set(report, all, name, o);
    }
    return all;
}

static void tell_setup(tare_report *report, const tare_bench_figures *f) {
    json_t *root = tare_report_root(report), *o = json_object();
    char a[TARE_CELL_SIZE], b[TARE_CELL_SIZE], c[TARE_CELL_SIZE], d[TARE_CELL_SIZE];
    tare_report_line(report, "%s", f->path);
    tare_report_fact(report, "backend", "%s, %zu thread%s, %s%s", f->backend, f->threads,
                     tare_plural(f->threads, "", "s"), f->cpu, f->is_optimized ? "" : ", not optimized");
    tare_report_fact(report, "start", "read in %s, optimized in %s, planned in %s, first run %s", duration(a, f->load),
                     duration(b, f->optimize), duration(c, f->plan), duration(d, f->first));
    tare_report_set(report, root, "path", tare_json_text(f->path));
    tare_report_set(report, root, "stage", tare_json_text(f->stage));
    tare_report_set(report, root, "backend", tare_json_text(f->backend));
    tare_report_set(report, root, "threads", tare_json_count(f->threads));
    tare_report_set(report, root, "cpu", tare_json_text(f->cpu));
    tare_report_set(report, root, "optimized", json_boolean(f->is_optimized));
    tare_report_set(report, root, "inputs", tell_inputs(report, f));
    tare_report_set(report, o, "load", json_ms(f->load));
    tare_report_set(report, o, "optimize", json_ms(f->optimize));
    tare_report_set(report, o, "plan", json_ms(f->plan));
    tare_report_set(report, o, "first_run", json_ms(f->first));
    tare_report_set(report, root, "start_ms", o);
}

static void tell_latency(tare_report *report, const tare_bench_figures *f) {
    json_t *root = tare_report_root(report), *o = json_object();
    char a[TARE_CELL_SIZE], b[TARE_CELL_SIZE], c[TARE_CELL_SIZE], d[TARE_CELL_SIZE];
    tare_report_fact(report, "latency", "median %s, least %s, 90 %% within %s, most %s; %zu runs in %.2f s",
                     duration(a, f->median), duration(b, f->least), duration(c, f->p90), duration(d, f->most), f->runs,
                     f->all);
    tare_cell_share(a, f->median > 0 ? f->deviation / f->median : 0);
    if (f->is_noisy)
        tare_report_fact(report, "noise",
                         TARE_MARK_BAD "half of the runs are %s or more off the median" TARE_MARK_END
                                       ": something else is at work here; compare by least, or by CPU time",
                         a);
    else
        tare_report_fact(report, "noise", "half of the runs are within %s of the median", a);
    tare_report_fact(report, "CPU time", "%s a run, all threads", duration(a, f->cpu_time));
    tare_report_set(report, root, "runs", tare_json_count(f->runs));
    tare_report_set(report, o, "min", json_ms(f->least));
    tare_report_set(report, o, "median", json_ms(f->median));
    tare_report_set(report, o, "p90", json_ms(f->p90));
    tare_report_set(report, o, "max", json_ms(f->most));
    tare_report_set(report, o, "mean", json_ms(f->mean));
    tare_report_set(report, o, "median_absolute_deviation", json_ms(f->deviation));
    tare_report_set(report, root, "latency_ms", o);
    tare_report_set(report, root, "noisy", json_boolean(f->is_noisy));
    tare_report_set(report, root, "cpu_ms", json_ms(f->cpu_time));
}

static void tell_work(tare_report *report, const tare_bench_figures *f) {
    json_t *root = tare_report_root(report), *o = json_object();
    char a[TARE_CELL_SIZE], b[TARE_CELL_SIZE], c[TARE_CELL_SIZE], d[TARE_CELL_SIZE], e[TARE_CELL_SIZE];
    if (f->macs)
        tare_report_fact(report, "speed", "%.3g GFLOP/s: 2 x %s MACs in the median time; %s of the MACs are on codes",
                         f->flops / 1e9, tare_cell_count(a, f->macs),
                         tare_cell_share(b, (double)f->quantized_macs / (double)f->macs));
    tare_report_fact(report, "memory", "values %s, scratch %s, prepared weights %s; weights %s; the process at most %s",
                     tare_cell_bytes(a, f->memory.slab), tare_cell_bytes(b, f->memory.scratch),
                     tare_cell_bytes(c, f->memory.packed), tare_cell_bytes(d, f->weight_bytes),
                     tare_cell_bytes(e, f->peak_bytes));
    tare_report_set(report, root, "macs", tare_json_count(f->macs));
    tare_report_set(report, root, "quantized_macs", tare_json_count(f->quantized_macs));
    tare_report_set(report, root, "gflops", tare_json_real(f->flops / 1e9));
    tare_report_set(report, o, "values", tare_json_count(f->memory.slab));
    tare_report_set(report, o, "scratch", tare_json_count(f->memory.scratch));
    tare_report_set(report, o, "prepared_weights", tare_json_count(f->memory.packed));
    tare_report_set(report, o, "weights", tare_json_count(f->weight_bytes));
    tare_report_set(report, o, "peak_resident", tare_json_count(f->peak_bytes));
    tare_report_set(report, root, "memory_bytes", o);
}

static void tell_node(tare_report *report, tare_table *table, json_t *list, const tare_bench_node *node,
                      bool is_shown) {
    char macs[TARE_CELL_SIZE] = "", time[TARE_CELL_SIZE], share[TARE_CELL_SIZE], speed[TARE_CELL_SIZE] = "";
    const double gflops = node->seconds > 0 ? 2e-9 * (double)node->macs / node->seconds : 0;
    if (node->macs) tare_cell_count(macs, node->macs);
    if (node->macs) tare_cell_number(speed, "%.3g", gflops);
    if (is_shown)
        tare_table_row(table, (const char *const[]){ node->name ? node->name : "(changes of layout)",
                                                     node->op ? node->op : "", macs, duration(time, node->seconds),
                                                     tare_cell_share(share, node->share), speed });
    json_t *o = json_object();
    tare_report_set(report, o, "name", tare_json_text(node->name));
    tare_report_set(report, o, "op", tare_json_text(node->op));
    tare_report_set(report, o, "macs", tare_json_count(node->macs));
    tare_report_set(report, o, "ms", json_ms(node->seconds));
    tare_report_set(report, o, "share", tare_json_real(node->share));
    tare_report_set(report, o, "gflops", node->macs ? tare_json_real(gflops) : json_null());
    tare_report_push(report, list, o);
}

static void tell_nodes(tare_report *report, const tare_bench_figures *f) {
    static const char *const headings[] = { "node", "op", "MACs", "time", "share", "GFLOP/s" };
    tare_table *table = tare_report_table(report, 6, headings, "<<>>>>", 0);
    json_t *list = json_array();
    for (size_t i = 0; i < f->nodes.count; i++) tell_node(report, table, list, &f->nodes.at[i], i < SHOWN_NODES);
    if (f->nodes.count > SHOWN_NODES)
        tare_report_line(report, "  … and %zu that are faster; --json has them all", f->nodes.count - SHOWN_NODES);
    tare_report_set(report, tare_report_root(report), "nodes", list);
}

void tare_report_bench(tare_report *report, const tare_bench_figures *figures) {
    tell_setup(report, figures);
    tell_latency(report, figures);
    tell_work(report, figures);
    if (figures->nodes.count) tell_nodes(report, figures);
}
