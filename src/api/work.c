/* Threads and CPU of a flow, from the options. */
#include "api/work.h"

#include "base/text.h"

const tare_field tare_work_fields[] = {
    { "threads", TARE_FIELD_INT, offsetof(tare_work_options, threads), .lo = 0, .hi = 256,
      .help = "threads to work with; 0: all. Never changes a result" },
    { "cpu", TARE_FIELD_STRING, offsetof(tare_work_options, cpu), .metavar = "NAME",
      .help = "instruction set: scalar, avx2, avx512, avx512vnni, neon, neondot; the best by default. Never changes a "
              "result" },
    { .type = TARE_FIELD_END },
};

tare_status tare_work_cpu(const tare_work_options *options, tare_cpu *cpu, tare_error *err) {
    *cpu = tare_cpu_detect();
    if (!options || !options->cpu) return TARE_OK;
    if (!tare_cpu_find(options->cpu, cpu)) {
        const char *names[TARE_CPU_COUNT + 1] = { 0 };
        for (int i = 0; i < TARE_CPU_COUNT; i++) names[i] = tare_cpu_name((tare_cpu)i);
        const char *near = tare_text_nearest(options->cpu, names);
        return tare_fail(err, TARE_E_USAGE, "--cpu: no '%.64s'; did you mean '%s'?", options->cpu,
                         near ? near : "avx2");
    }
    if (!tare_cpu_has(*cpu))
        return tare_fail(err, TARE_E_UNSUPPORTED, "--cpu: this machine has no %s, its best is %s", options->cpu,
                         tare_cpu_name(tare_cpu_detect()));
    return TARE_OK;
}
