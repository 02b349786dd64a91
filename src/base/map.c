/* The map: entries in order of insertion, found through a table of their indices, open addressing, at most half full. */
#include "base/map.h"

#include <assert.h>
#include <string.h>
#include <xxhash.h>

#include "base/size.h"

/* A slot holds 0 (empty) or the index of an entry plus 1. Entries that were removed keep their slots. */
enum { FIRST_SLOTS = 16 };

static uint64_t hash_of(const char *key) { return XXH3_64bits(key, strlen(key)); }

void tare_map_init(tare_map *map, tare_arena *arena) { *map = (tare_map){ .arena = arena }; }

static tare_map_entry *find(const tare_map *map, const char *key, uint64_t hash) {
    if (map->slot_count == 0) return NULL;
    size_t mask = map->slot_count - 1;
    for (size_t i = (size_t)hash & mask; map->slots[i] != 0; i = (i + 1) & mask) {
        tare_map_entry *entry = &map->entries.at[map->slots[i] - 1];
        if (entry->value != NULL && entry->hash == hash && strcmp(entry->key, key) == 0) return entry;
    }
    return NULL;
}

void *tare_map_get(const tare_map *map, const char *key) {
    const tare_map_entry *entry = find(map, key, hash_of(key));
    return entry == NULL ? NULL : entry->value;
}

static void occupy(tare_map *map, size_t index) {
    size_t mask = map->slot_count - 1;
    size_t i = (size_t)map->entries.at[index].hash & mask;
    while (map->slots[i] != 0) i = (i + 1) & mask;
    map->slots[i] = (uint32_t)(index + 1);
}

static bool grow(tare_map *map) {
    size_t wanted = FIRST_SLOTS;
    if (map->slot_count != 0 && !tare_size_mul(map->slot_count, 2, &wanted)) return false;
    uint32_t *slots = tare_arena_alloc(map->arena, wanted, sizeof *slots);
    if (slots == NULL) return false;
    map->slots = slots;
    map->slot_count = wanted;
    for (size_t i = 0; i < map->entries.count; i++) {
        if (map->entries.at[i].value != NULL) occupy(map, i);
    }
    return true;
}

bool tare_map_put(tare_map *map, const char *key, void *value) {
    assert(value != NULL);
    uint64_t hash = hash_of(key);
    tare_map_entry *entry = find(map, key, hash);
    if (entry != NULL) {
        entry->value = value;
        return true;
    }
    if (map->entries.count >= UINT32_MAX - 1) return false;
    if (map->entries.count >= map->slot_count / 2 && !grow(map)) return false;
    tare_map_entry added = { .key = key, .value = value, .hash = hash };
    if (!tare_vec_push(map->arena, &map->entries, added)) return false;
    occupy(map, map->entries.count - 1);
    return true;
}

void tare_map_remove(tare_map *map, const char *key) {
    tare_map_entry *entry = find(map, key, hash_of(key));
    if (entry != NULL) entry->value = NULL;
}
