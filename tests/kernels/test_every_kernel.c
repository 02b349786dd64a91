/* Every line of kernels.def that this machine can run: the variant against the plain C one. */
#include "support/support.h"

#include "kernels/every_kernel.h"

#define SLOT(type, slot)
#define KERNEL(slot, isa, needs)                                                                                       \
    static void slot##_##isa(void **state) {                                                                           \
        (void)state;                                                                                                   \
        if (!tare_cpu_has(needs)) {                                                                                    \
            print_message("this machine has no %s: not run\n", tare_cpu_name(needs));                                  \
            skip();                                                                                                    \
        }                                                                                                              \
        assert_true(CHECK(slot, isa));                                                                                 \
    }
#include "kernels/kernels.def"
#undef KERNEL

int main(void) {
    const struct CMUnitTest tests[] = {
#define KERNEL(slot, isa, needs) cmocka_unit_test(slot##_##isa),
#include "kernels/kernels.def"
#undef KERNEL
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
