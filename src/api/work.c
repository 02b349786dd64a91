/* Threads, CPU and backend of a flow, from the options. */
#include "api/work.h"

#include "base/words.h"

const tare_field tare_work_fields[] = {
    { "threads", TARE_FIELD_INT, offsetof(tare_work_options, threads), .lo = 0, .hi = 256,
      .help = "threads to work with; 0: all. Never changes a result" },
    { "cpu", TARE_FIELD_STRING, offsetof(tare_work_options, cpu), .names = tare_cpu_names, .metavar = "NAME",
      .help = "instruction set; the best that the machine has by default. Never changes a result" },
    { .type = TARE_FIELD_END },
};

tare_status tare_work_cpu(const tare_work_options *options, tare_cpu *cpu, tare_error *err) {
    *cpu = tare_cpu_detect();
    if (!options || !options->cpu) return TARE_OK;
    if (!tare_cpu_find(options->cpu, cpu)) {
        tare_fail_choice(err, "instruction set", options->cpu, NULL, tare_cpu_names);
        return tare_within(err, "--cpu");
    }
    if (!tare_cpu_has(*cpu))
        return tare_fail(err, TARE_E_UNSUPPORTED, "--cpu: this machine has no %s, its best is %s", options->cpu,
                         tare_cpu_name(tare_cpu_detect()));
    return TARE_OK;
}

/* Of all targets. */
static const char *const profiles[] = { "ort", "micro", "ref", "sym", NULL };

const tare_field tare_backend_fields[] = {
    { "backend", TARE_FIELD_ENUM, offsetof(tare_backend_options, backend), .names = tare_backend_names,
      .fallback.i = TARE_BACKEND_QDQ,
      .help = "float: quantization ignored; qdq: float arithmetic, quantized values rounded to their codes; int: the "
              "target's own arithmetic on codes" },
    { "target", TARE_FIELD_STRING, offsetof(tare_backend_options, target), .names = tare_target_names,
      .metavar = "NAME", .help = "whose arithmetic backend int has; onnx by default" },
    { "profile", TARE_FIELD_STRING, offsetof(tare_backend_options, profile), .names = profiles, .metavar = "NAME",
      .help = "which of the target's runtimes: ort of onnx; micro, ref of tflite; sym of tidl" },
    { .type = TARE_FIELD_END },
};

tare_status tare_work_backend(const tare_backend_options *options, tare_session_options *session, tare_error *err) {
    session->backend = options ? (tare_backend)options->backend : TARE_BACKEND_QDQ;
    if (!options) return TARE_OK;
    if (session->backend == TARE_BACKEND_INT) {
        TARE_TRY(tare_target_get(&session->target, options->target, false, err));
        return tare_target_get_profile(&session->profile, session->target, options->profile, err);
    }
    if (!options->target && !options->profile) return TARE_OK;
    return tare_fail(err, TARE_E_USAGE, "--%s: only --backend int has one", options->target ? "target" : "profile");
}
