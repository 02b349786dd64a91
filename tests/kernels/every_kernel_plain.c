/* Every line of kernels.def without SLEEF, for an emulated machine: prints a line for each that fails. */
#include "kernels/every_kernel.h"

static int passed, failed;

static void report(const char *name, bool ok) {
    if (!ok) printf("%s FAILED\n", name);
    passed += ok;
    failed += !ok;
}

int main(void) {
#define SLOT(type, slot)
#define KERNEL(slot, isa, needs)                                                                                       \
    if (tare_cpu_has(needs)) report(#slot "_" #isa, CHECK(slot, isa));
#include "kernels/kernels.def"
#undef KERNEL
    printf("%d passed, %d failed\n", passed, failed);
    return failed > 0 || passed == 0;
}
