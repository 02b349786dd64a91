/* Arenas: blocks in a list, the newest first, each filled from its start. With AddressSanitizer the room between
 * allocations is poisoned, so that running over the end of one is seen. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/sanitize.h"
#include "base/size.h"

enum {
    FIRST_BLOCK = 4 * 1024, /* doubled from block to block up to: */
    LAST_BLOCK = 1024 * 1024,
    GAP = TARE_HAS_ASAN ? 32 : 0 /* poisoned bytes behind an allocation */
};

typedef struct block {
    struct block *older;
    size_t size, used; /* of the room behind this head, which begins ROOM bytes from it */
} block;
enum { ROOM = 64 };
_Static_assert(sizeof(block) <= ROOM, "the head must leave the room aligned");

struct tare_arena {
    block *newest;
    size_t next_size, total;
};

static char *room_of(block *b) { return (char *)b + ROOM; }

tare_arena *tare_arena_new(void) {
    tare_arena *arena = tare_memory_new(sizeof *arena);
    if (arena != NULL) *arena = (tare_arena){ .next_size = FIRST_BLOCK };
    return arena;
}

static void drop_newest(tare_arena *arena) {
    block *b = arena->newest;
    arena->newest = b->older;
    arena->total -= b->size;
    TARE_UNPOISON(room_of(b), b->size);
    tare_memory_free(b);
}

void tare_arena_free(tare_arena *arena) {
    if (arena == NULL) return;
    while (arena->newest != NULL) drop_newest(arena);
    tare_memory_free(arena);
}

static bool add_block(tare_arena *arena, size_t needed) {
    size_t size = needed > arena->next_size ? needed : arena->next_size;
    size_t whole;
    if (!tare_size_add(size, ROOM, &whole)) return false;
    block *b = tare_memory_new(whole);
    if (b == NULL) return false;
    *b = (block){ .older = arena->newest, .size = size };
    TARE_POISON(room_of(b), size);
    arena->newest = b;
    arena->total += size;
    if (arena->next_size < LAST_BLOCK) arena->next_size *= 2;
    return true;
}

void *tare_arena_alloc_raw(tare_arena *arena, size_t count, size_t size) {
    size_t bytes, taken;
    if (!tare_size_mul(count, size, &bytes) || !tare_size_add(bytes, GAP, &taken)) return NULL;
    size_t alignment = bytes >= 64 ? 64 : 16;
    block *b = arena->newest;
    size_t start = 0;
    if (b == NULL || !tare_size_align(b->used, alignment, &start) || !tare_slice_fits(b->size, start, taken)) {
        if (!add_block(arena, taken)) return NULL;
        b = arena->newest;
        start = 0;
    }
    b->used = start + taken;
    char *at = room_of(b) + start;
    TARE_UNPOISON(at, bytes);
    return at;
}

void *tare_arena_alloc(tare_arena *arena, size_t count, size_t size) {
    void *at = tare_arena_alloc_raw(arena, count, size);
    if (at != NULL) memset(at, 0, count * size);
    return at;
}

char *tare_arena_copy(tare_arena *arena, const void *bytes, size_t size) {
    size_t ended;
    if (!tare_size_add(size, 1, &ended)) return NULL;
    char *copy = tare_arena_alloc_raw(arena, ended, 1);
    if (copy == NULL) return NULL;
    if (size > 0) memcpy(copy, bytes, size);
    copy[size] = '\0';
    return copy;
}

char *tare_arena_strdup(tare_arena *arena, const char *text) { return tare_arena_copy(arena, text, strlen(text)); }

char *tare_arena_printf(tare_arena *arena, const char *format, ...) {
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *text = length < 0 ? NULL : tare_arena_alloc_raw(arena, (size_t)length + 1, 1);
    if (text != NULL) vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    return text;
}

tare_arena_mark tare_arena_get_mark(const tare_arena *arena) {
    return (tare_arena_mark){ .block = arena->newest, .used = arena->newest == NULL ? 0 : arena->newest->used };
}

void tare_arena_release(tare_arena *arena, tare_arena_mark mark) {
    while (arena->newest != mark.block) drop_newest(arena);
    block *b = arena->newest;
    if (b == NULL) return;
    TARE_POISON(room_of(b) + mark.used, b->size - mark.used);
    b->used = mark.used;
}

size_t tare_arena_size(const tare_arena *arena) { return arena->total; }

bool tare_vec_reserve(tare_arena *arena, void *at, size_t *capacity, size_t count, size_t size) {
    if (count <= *capacity) return true;
    size_t wanted;
    if (!tare_size_mul(*capacity, 2, &wanted)) return false;
    if (wanted < count) wanted = count;
    if (wanted < 8) wanted = 8;
    void *grown = tare_arena_alloc_raw(arena, wanted, size);
    if (grown == NULL) return false;
    void *old;
    memcpy(&old, at, sizeof old);
    if (*capacity > 0) memcpy(grown, old, *capacity * size);
    memcpy(at, &grown, sizeof grown);
    *capacity = wanted;
    return true;
}
