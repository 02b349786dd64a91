/* Runs a fuzz target without a fuzzer: over every file of the directories and files given, each in a block of exactly its
 * size; then again with each of its first allocations failing. What is live must be as before. */
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { FAILING_MOST = 64 };

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned files, runs, leaks;

static void run(const char *path, const uint8_t *data, size_t size, uint64_t nth) {
    size_t before = tare_memory_live();
    LLVMFuzzerTestOneInput(data, size);
    runs++;
    if (tare_memory_live() == before) return;
    fprintf(stderr, "%s: bytes leak when allocation %u fails (0: none does)\n", path, (unsigned)nth);
    leaks++;
}

static int replay(const char *path, const struct stat *info, int kind, struct FTW *position) {
    (void)info, (void)position;
    if (kind != FTW_F) return 0;
    FILE *file = fopen(path, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0) return -1;
    long size = ftell(file);
    rewind(file);
    uint8_t *data = size < 0 ? NULL : malloc(size == 0 ? 1 : (size_t)size);
    bool is_read = data != NULL && fread(data, 1, (size_t)size, file) == (size_t)size;
    fclose(file);
    if (is_read) {
        files++;
        run(path, data, (size_t)size, 0);
        bool has_failed = true;
        for (uint64_t nth = 1; has_failed && nth <= FAILING_MOST; nth++) {
            tare_memory_fail_at(nth);
            run(path, data, (size_t)size, nth);
            has_failed = tare_memory_fail_at(0) == 0;
        }
    }
    free(data);
    return is_read ? 0 : -1;
}

int main(int argc, char **argv) {
    LLVMFuzzerInitialize(&argc, &argv);
    for (int i = 1; i < argc; i++) {
        if (nftw(argv[i], replay, 16, FTW_PHYS) == 0) continue;
        fprintf(stderr, "%s cannot be read\n", argv[i]);
        return 1;
    }
    printf("%u files, %u runs, %u leaks\n", files, runs, leaks);
    return files == 0 || leaks > 0;
}
