/* Which instructions this machine has, and for each CPU it can stand for the table of the best variants. */
#include "kernels/variants.h"

#include <assert.h>
#include <pthread.h>
#include <string.h>

#ifdef TARE_ARM64
#include <sys/auxv.h>
#endif

const char *const tare_cpu_names[TARE_CPU_COUNT + 1] = {
    [TARE_CPU_SCALAR] = "scalar",         [TARE_CPU_AVX2] = "avx2", [TARE_CPU_AVX512] = "avx512",
    [TARE_CPU_AVX512VNNI] = "avx512vnni", [TARE_CPU_NEON] = "neon", [TARE_CPU_NEONDOT] = "neondot",
};

/* The plain one of the line that a CPU belongs to: it has what those before it there have. */
static const tare_cpu families[TARE_CPU_COUNT] = {
    [TARE_CPU_SCALAR] = TARE_CPU_SCALAR,   [TARE_CPU_AVX2] = TARE_CPU_AVX2, [TARE_CPU_AVX512] = TARE_CPU_AVX2,
    [TARE_CPU_AVX512VNNI] = TARE_CPU_AVX2, [TARE_CPU_NEON] = TARE_CPU_NEON, [TARE_CPU_NEONDOT] = TARE_CPU_NEON,
};

static bool meets(tare_cpu cpu, tare_cpu needs) {
    return needs == TARE_CPU_SCALAR || (families[cpu] == families[needs] && cpu >= needs);
}

tare_cpu tare_cpu_detect(void) {
#if defined(TARE_X86)
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return TARE_CPU_SCALAR;
    if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
        !__builtin_cpu_supports("avx512dq") || !__builtin_cpu_supports("avx512vl"))
        return TARE_CPU_AVX2;
    return __builtin_cpu_supports("avx512vnni") ? TARE_CPU_AVX512VNNI : TARE_CPU_AVX512;
#elif defined(TARE_ARM64)
    return getauxval(AT_HWCAP) & HWCAP_ASIMDDP ? TARE_CPU_NEONDOT : TARE_CPU_NEON;
#else
    return TARE_CPU_SCALAR;
#endif
}

bool tare_cpu_has(tare_cpu cpu) { return meets(tare_cpu_detect(), cpu); }

const char *tare_cpu_name(tare_cpu cpu) { return tare_cpu_names[cpu]; }

bool tare_cpu_find(const char *name, tare_cpu *cpu) {
    for (int i = 0; i < TARE_CPU_COUNT; i++) {
        if (strcmp(tare_cpu_names[i], name) != 0) continue;
        *cpu = (tare_cpu)i;
        return true;
    }
    return false;
}

static tare_kernels tables[TARE_CPU_COUNT];

static void fill_tables(void) {
    for (int i = 0; i < TARE_CPU_COUNT; i++) {
        tare_cpu cpu = (tare_cpu)i;
        tables[cpu].cpu = cpu;
#define SLOT(type, slot)
#define KERNEL(slot, isa, needs)                                                                                       \
    if (meets(cpu, needs)) tables[cpu].slot = tare_##slot##_##isa;
#include "kernels/kernels.def"
#undef SLOT
#undef KERNEL
    }
}

const tare_kernels *tare_kernels_for(tare_cpu cpu) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, fill_tables);
    assert(tare_cpu_has(cpu));
    return &tables[cpu];
}
