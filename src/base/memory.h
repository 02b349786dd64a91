/* Memory: the only callers of malloc, with a cap, a count and a place where tests make the Nth allocation fail; and
 * arenas, which hold what lives as long as a model, a session or one call. */
#ifndef TARE_BASE_MEMORY_H
#define TARE_BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* NULL when the memory, or the cap set below, does not give it. Aligned to 64 bytes, not cleared. */
void *tare_memory_new(size_t size);
void tare_memory_free(void *memory);

/* Bytes that may be live at once in the whole process; 0 lifts the cap. What is live stays. */
void tare_memory_set_cap(size_t bytes);
size_t tare_memory_live(void); /* bytes live now, as asked for */
size_t tare_memory_peak(void); /* the most that ever was live */

/* For tests: the nth allocation from now returns NULL (1 is the next); 0 turns it off. Returns how many were still to
 * come before the failure set last time; 0: it has happened, or was off. */
uint64_t tare_memory_fail_at(uint64_t nth);

/* Blocks that grow and are freed together. Not for use by two threads at once. */
typedef struct tare_arena tare_arena;
tare_arena *tare_arena_new(void);
void tare_arena_free(tare_arena *arena); /* NULL is fine */

/* `count` times `size` bytes, cleared; aligned to 64 bytes when 64 or more, else to 16. NULL on overflow or when memory is
 * out. A size of 0 gives a pointer that must not be read. */
void *tare_arena_alloc(tare_arena *arena, size_t count, size_t size);

/* The same, not cleared: for what the caller overwrites at once. */
void *tare_arena_alloc_raw(tare_arena *arena, size_t count, size_t size);

/* A copy that ends in a NUL byte; the bytes may hold NULs themselves. */
char *tare_arena_copy(tare_arena *arena, const void *bytes, size_t size);
char *tare_arena_strdup(tare_arena *arena, const char *text);
char *tare_arena_printf(tare_arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* What was allocated after the mark is given back by tare_arena_release. */
typedef struct tare_arena_mark {
    void *block;
    size_t used;
} tare_arena_mark;
tare_arena_mark tare_arena_get_mark(const tare_arena *arena);
void tare_arena_release(tare_arena *arena, tare_arena_mark mark);
size_t tare_arena_size(const tare_arena *arena); /* bytes held */

/* A growing array on an arena: TARE_VEC(int64_t) dims = {0}; */
#define TARE_VEC(type)                                                                                                 \
    struct {                                                                                                           \
        type *at;                                                                                                      \
        size_t count, capacity;                                                                                        \
    }
/* Appends; false when memory is out. */
#define tare_vec_push(arena, vec, item)                                                                                \
    (tare_vec_reserve((arena), &(vec)->at, &(vec)->capacity, (vec)->count + 1, sizeof *(vec)->at)                      \
         ? ((vec)->at[(vec)->count++] = (item), true)                                                                  \
         : false)
/* `at` points to the pointer, whatever its type: it is read and written by memcpy. */
bool tare_vec_reserve(tare_arena *arena, void *at, size_t *capacity, size_t count, size_t size);

#endif
