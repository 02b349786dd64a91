/* The store: a table of lists by hash, a lock around all of it. A content is in it as long as someone keeps it. */
#include "base/constants.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { LISTS = 1024 };

typedef struct tare_constant {
    struct tare_constant *next; /* in its list */
    void *bytes;
    size_t size, keepers;
    uint64_t hash;
} constant;

struct tare_constants {
    pthread_mutex_t making;
    pthread_mutex_t lock; /* guards all that follows */
    size_t size;
    constant *lists[LISTS];
};

tare_constants *tare_constants_new(void) {
    tare_constants *store = tare_memory_new(sizeof *store);
    if (store == NULL) return NULL;
    memset(store, 0, sizeof *store);
    pthread_mutex_init(&store->making, NULL);
    pthread_mutex_init(&store->lock, NULL);
    return store;
}

void tare_constants_free(tare_constants *store) {
    if (store == NULL) return;
    assert(store->size == 0);
    pthread_mutex_destroy(&store->lock);
    pthread_mutex_destroy(&store->making);
    tare_memory_free(store);
}

size_t tare_constants_size(tare_constants *store) {
    pthread_mutex_lock(&store->lock);
    const size_t size = store->size;
    pthread_mutex_unlock(&store->lock);
    return size;
}

void tare_constants_enter(tare_constants *store) { pthread_mutex_lock(&store->making); }
void tare_constants_leave(tare_constants *store) { pthread_mutex_unlock(&store->making); }

static constant *find(const tare_constants *store, const void *bytes, size_t size, uint64_t hash) {
    constant *c = store->lists[hash % LISTS];
    while (c != NULL && (c->hash != hash || c->size != size || memcmp(c->bytes, bytes, size) != 0)) c = c->next;
    return c;
}

/* The entry of this content, `fresh` if there was none, with one keeper more. */
static constant *enter(tare_constants *store, constant *fresh) {
    pthread_mutex_lock(&store->lock);
    constant *c = find(store, fresh->bytes, fresh->size, fresh->hash);
    if (c == NULL) {
        constant **list = &store->lists[fresh->hash % LISTS];
        c = fresh;
        c->next = *list;
        *list = c;
        store->size += c->size;
    }
    c->keepers++;
    pthread_mutex_unlock(&store->lock);
    return c;
}

static void destroy(constant *c) {
    tare_memory_free(c->bytes);
    tare_memory_free(c);
}

static void leave(tare_constants *store, constant *c) {
    pthread_mutex_lock(&store->lock);
    const bool is_last = --c->keepers == 0;
    if (is_last) {
        constant **at = &store->lists[c->hash % LISTS];
        while (*at != c) at = &(*at)->next;
        *at = c->next;
        store->size -= c->size;
    }
    pthread_mutex_unlock(&store->lock);
    if (is_last) destroy(c);
}

void *tare_room_new(const tare_kept *kept, size_t size) {
    return kept->store == NULL ? tare_arena_alloc_raw(kept->arena, size, 1) : tare_memory_new(size);
}

void tare_room_free(const tare_kept *kept, void *room) {
    if (kept->store != NULL) tare_memory_free(room);
}

void *tare_keep(tare_kept *kept, void *room, size_t size) {
    if (kept->store == NULL) return room;
    constant *fresh = tare_memory_new(sizeof *fresh);
    if (fresh == NULL || !tare_vec_push(kept->arena, &kept->list, fresh)) {
        tare_memory_free(room);
        tare_memory_free(fresh);
        return NULL;
    }
    *fresh = (constant){ .bytes = room, .size = size, .hash = XXH3_64bits(room, size) };
    constant *c = enter(kept->store, fresh);
    if (c != fresh) destroy(fresh);
    kept->list.at[kept->list.count - 1] = c;
    return c->bytes;
}

void tare_kept_drop(tare_kept *kept) {
    for (size_t i = 0; i < kept->list.count; i++) leave(kept->store, kept->list.at[i]);
    kept->list.count = 0;
}

void tare_kept_drop_one(tare_kept *kept, const void *bytes) {
    size_t at = kept->list.count;
    while (at > 0 && kept->list.at[at - 1]->bytes != bytes) at--;
    if (at == 0) return;
    leave(kept->store, kept->list.at[at - 1]);
    kept->list.at[at - 1] = kept->list.at[--kept->list.count];
}

static int by_address(const void *a, const void *b) {
    constant *const *x = a, *const *y = b;
    return ((uintptr_t)*x > (uintptr_t)*y) - ((uintptr_t)*x < (uintptr_t)*y);
}

size_t tare_kept_size(tare_kept *kept) {
    constant **list = kept->list.at;
    size_t size = 0;
    if (kept->list.count > 0) qsort(list, kept->list.count, sizeof(constant *), by_address);
    for (size_t i = 0; i < kept->list.count; i++)
        if (i == 0 || list[i] != list[i - 1]) size += list[i]->size;
    return size;
}
