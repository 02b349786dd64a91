/* Threads, CPU and memory of a flow, from the options. */
#include "api/work.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"

const tare_field tare_work_fields[] = {
    { "threads", TARE_FIELD_INT, offsetof(tare_work_options, threads), .lo = 0, .hi = 256,
      .help = "threads to work with; 0: all. Never changes a result" },
    { "cpu", TARE_FIELD_STRING, offsetof(tare_work_options, cpu), .metavar = "NAME",
      .help = "instruction set: scalar, avx2, avx512, avx512vnni, neon, neondot; the best by default. Never changes a "
              "result" },
    { "max-mem", TARE_FIELD_STRING, offsetof(tare_work_options, max_mem), .metavar = "BYTES",
      .help = "memory that may be used at once, with K, M or G; 80 % of the machine's by default" },
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

static bool parse_bytes(const char *text, size_t *bytes) {
    char *end;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    static const char units[] = "KMG";
    const char *unit = *end ? strchr(units, *end) : NULL;
    if (end == text || *text == '-' || errno || (*end && (!unit || end[1]))) return false;
    const int shift = unit ? 10 * (int)(unit - units + 1) : 0;
    if (number > SIZE_MAX >> shift) return false;
    *bytes = (size_t)number << shift;
    return true;
}

tare_status tare_work_set_memory(const tare_work_options *options, tare_error *err) {
    size_t bytes;
    if (options && options->max_mem) {
        if (!parse_bytes(options->max_mem, &bytes))
            return tare_fail(err, TARE_E_USAGE, "--max-mem: '%.64s' is not a number of bytes such as 512M",
                             options->max_mem);
    } else {
        const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
        bytes = pages > 0 && size > 0 ? (size_t)pages * (size_t)size / 10 * 8 : 0;
    }
    tare_memory_set_cap(bytes);
    return TARE_OK;
}
