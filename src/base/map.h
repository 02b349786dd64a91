/* A map from text to pointers that keeps the order of insertion. Keys are compared by bytes (a NUL ends them), hashed
 * by xxHash with a seed that is the same in every run: iteration order is insertion order, never hash order. */
#ifndef TARE_BASE_MAP_H
#define TARE_BASE_MAP_H

#include <stdbool.h>

#include "base/memory.h"

typedef struct tare_map_entry {
    const char *key;
    void *value; /* NULL: removed */
    uint64_t hash;
} tare_map_entry;

typedef struct tare_map {
    tare_arena *arena;
    TARE_VEC(tare_map_entry) entries; /* in order of insertion; skip those whose value is NULL */
    uint32_t *slots;
    size_t slot_count;
} tare_map;

void tare_map_init(tare_map *map, tare_arena *arena);
void *tare_map_get(const tare_map *map, const char *key); /* NULL: not there */

/* Adds or replaces. The key is borrowed and must live as long as the map. value must not be NULL. False: no memory. */
bool tare_map_put(tare_map *map, const char *key, void *value);
void tare_map_remove(tare_map *map, const char *key);

#endif
