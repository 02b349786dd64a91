/* Linked to every fuzz target: input that asks for much memory must be told no, as under --max-mem. */
#include "base/memory.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc, (void)argv;
    tare_memory_set_cap((size_t)256 << 20);
    return 0;
}
