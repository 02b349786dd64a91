/* A store of constant bytes in which each content lies once: threads that make the same share it. Whoever makes it first
 * gives its bytes; which of several that is makes no difference, as they are the same. Any thread may call. */
#ifndef TARE_BASE_CONSTANTS_H
#define TARE_BASE_CONSTANTS_H

#include "base/memory.h"

typedef struct tare_constants tare_constants;

tare_constants *tare_constants_new(void); /* NULL: no memory */
/* What was kept must be dropped by then; NULL is fine. */
void tare_constants_free(tare_constants *store);
size_t tare_constants_size(tare_constants *store); /* bytes held */

/* While large bytes are made, so that not each thread has some in hand at once. */
void tare_constants_enter(tare_constants *store);
void tare_constants_leave(tare_constants *store);

/* What one owner has of a store: begins as { .store = …, .arena = … }. Not for use by two threads at once. */
typedef struct tare_kept {
    tare_constants *store; /* NULL: all lies on the arena, and nothing is shared */
    tare_arena *arena;     /* of the owner: for the list */
    TARE_VEC(struct tare_constant *) list;
} tare_kept;

/* Room for bytes, not cleared; it is handed to tare_keep once all of them are written, or given up. NULL: no memory. */
void *tare_room_new(const tare_kept *kept, size_t size);
void tare_room_free(const tare_kept *kept, void *room); /* NULL is fine */
/* Takes the room over and returns the same bytes as the store has them: never to be written, there until tare_kept_drop.
 * NULL: no memory; the room is gone too. */
void *tare_keep(tare_kept *kept, void *room, size_t size);
void tare_kept_drop(tare_kept *kept); /* all of it */
/* Once less of what tare_keep returned; that it was kept lately is found soon. */
void tare_kept_drop_one(tare_kept *kept, const void *bytes);
size_t tare_kept_size(tare_kept *kept); /* bytes, each content counted once; sorts the list */

#endif
