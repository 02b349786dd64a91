/* Pictures: decoded, then resized to a few pixels each way. */
#include <stdlib.h>
#include <string.h>

#include "samples/image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint8_t *copy = malloc(size + 1);
    tare_arena *arena = tare_arena_new();
    if (copy != NULL && arena != NULL) {
        memcpy(copy, data, size);
        tare_image image, small;
        tare_image_facts facts;
        tare_error err;
        if (tare_image_decode(&image, &facts, copy, size, arena, &err) == TARE_OK && tare_image_count(&image) < 4000) {
            tare_resize_pillow(&small, &image, 7, 5, arena, &err);
            tare_resize_opencv(&small, &image, 5, 7, arena, &err);
            tare_resize_skimage(&small, &image, 3, 6, arena, &err);
        }
    }
    tare_arena_free(arena);
    free(copy);
    return 0;
}
