/* .npz archives: opened from bytes, every array read. */
#include <stdlib.h>
#include <string.h>

#include "samples/npz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint8_t *copy = malloc(size + 1);
    if (copy == NULL) return 0;
    memcpy(copy, data, size);
    tare_npz *npz;
    tare_error err;
    if (tare_npz_open_bytes(&npz, copy, size, &err) == TARE_OK) {
        for (size_t i = 0; i < tare_npz_count(npz) && i < 8; i++) {
            tare_tensor *out;
            tare_arena *arena = tare_arena_new();
            if (arena != NULL) tare_npz_read(npz, i, arena, &out, &err);
            tare_arena_free(arena);
        }
        tare_npz_close(npz);
    }
    free(copy);
    return 0;
}
