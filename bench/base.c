/* What the parts of base/ cost: a job of the thread pool, a lookup in a map, an allocation on an arena. */
#include <stdio.h>
#include <time.h>

#include "base/map.h"
#include "base/threads.h"

enum { JOBS = 20000, KEYS = 100000, ROUNDS = 20 };

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void nothing(void *context, size_t index, size_t thread) { (void)context, (void)index, (void)thread; }

static void bench_pool(void) {
    for (size_t threads = 1; threads <= 8; threads *= 2) {
        tare_pool *pool = tare_pool_new(threads);
        double start = now();
        for (int i = 0; i < JOBS; i++) tare_pool_run(pool, 16, nothing, NULL);
        printf("pool of %zu: %.2f us a job\n", threads, (now() - start) / JOBS * 1e6);
        tare_pool_free(pool);
    }
}

static void bench_map(void) {
    tare_arena *arena = tare_arena_new();
    double start = now();
    const char **keys = tare_arena_alloc(arena, KEYS, sizeof *keys);
    for (int i = 0; i < KEYS; i++) keys[i] = tare_arena_printf(arena, "model/layer%d/weight", i);
    printf("arena: %.1f ns a formatted name\n", (now() - start) / KEYS * 1e9);
    tare_map map;
    tare_map_init(&map, arena);
    start = now();
    for (int i = 0; i < KEYS; i++) tare_map_put(&map, keys[i], arena);
    printf("map: %.1f ns a put of %d\n", (now() - start) / KEYS * 1e9, (int)KEYS);
    size_t found = 0;
    start = now();
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < KEYS; i++) found += tare_map_get(&map, keys[i]) != NULL;
    }
    printf("map: %.1f ns a get, %zu found\n", (now() - start) / KEYS / ROUNDS * 1e9, found);
    tare_arena_free(arena);
}

int main(void) {
    bench_pool();
    bench_map();
    return 0;
}
