/* A store of constants: each content once, there as long as someone keeps it, whatever threads do. */
#include <string.h>

#include "base/constants.h"
#include "base/threads.h"
#include "support/fail_nth.h"
#include "support/support.h"

enum { OWNERS = 8, CONTENTS = 40, SIZE = 300 };

static void *make(const tare_kept *kept, int content, size_t size) {
    unsigned char *room = tare_room_new(kept, size);
    assert_non_null(room);
    for (size_t i = 0; i < size; i++) room[i] = (unsigned char)(content + (int)i);
    return room;
}

static tare_kept open_kept(tare_constants *store) {
    tare_kept kept = { .store = store, .arena = tare_arena_new() };
    assert_non_null(kept.arena);
    return kept;
}

static void close_kept(tare_kept *kept) {
    tare_kept_drop(kept);
    tare_arena_free(kept->arena);
}

static void a_content_lies_once(void **state) {
    (void)state;
    tare_constants *store = tare_constants_new();
    tare_kept one = open_kept(store), other = open_kept(store);
    const void *first = tare_keep(&one, make(&one, 1, SIZE), SIZE);
    assert_ptr_equal(tare_keep(&other, make(&other, 1, SIZE), SIZE), first);
    assert_ptr_equal(tare_keep(&one, make(&one, 1, SIZE), SIZE), first);
    assert_ptr_not_equal(tare_keep(&one, make(&one, 1, SIZE - 1), SIZE - 1), first);
    assert_ptr_not_equal(tare_keep(&one, make(&one, 2, SIZE), SIZE), first);
    assert_int_equal(tare_constants_size(store), 3 * SIZE - 1);
    assert_int_equal(tare_kept_size(&one), 3 * SIZE - 1);
    assert_int_equal(tare_kept_size(&other), SIZE);
    close_kept(&one);
    assert_int_equal(tare_constants_size(store), SIZE);
    assert_int_equal(((const unsigned char *)first)[9], 10);
    close_kept(&other);
    assert_int_equal(tare_constants_size(store), 0);
    tare_constants_free(store);
}

static void without_a_store_nothing_is_shared(void **state) {
    (void)state;
    tare_kept kept = open_kept(NULL);
    void *room = make(&kept, 3, SIZE);
    assert_ptr_equal(tare_keep(&kept, room, SIZE), room);
    tare_room_free(&kept, make(&kept, 3, SIZE));
    assert_int_equal(tare_kept_size(&kept), 0);
    close_kept(&kept);
}

static void an_empty_content_is_one(void **state) {
    (void)state;
    tare_constants *store = tare_constants_new();
    tare_kept kept = open_kept(store);
    const void *first = tare_keep(&kept, make(&kept, 0, 0), 0);
    assert_non_null(first);
    assert_ptr_equal(tare_keep(&kept, make(&kept, 0, 0), 0), first);
    close_kept(&kept);
    tare_constants_free(store);
}

/* ---- threads ---- */

typedef struct crowd {
    tare_constants *store;
    const void *got[OWNERS][CONTENTS];
    tare_kept kept[OWNERS];
} crowd;

static void keep_all(void *context, size_t index, size_t thread) {
    crowd *c = context;
    (void)thread;
    tare_kept *kept = &c->kept[index];
    for (int round = 0; round < 20; round++) {
        tare_kept_drop(kept);
        for (int i = 0; i < CONTENTS; i++) c->got[index][i] = tare_keep(kept, make(kept, i, SIZE), SIZE);
    }
}

static void threads_share(void **state) {
    (void)state;
    crowd c = { .store = tare_constants_new() };
    tare_pool *pool = tare_pool_new(4);
    for (int i = 0; i < OWNERS; i++) c.kept[i] = open_kept(c.store);
    tare_pool_run(pool, OWNERS, keep_all, &c);
    for (int i = 1; i < OWNERS; i++) assert_memory_equal(c.got[i], c.got[0], sizeof c.got[0]);
    assert_int_equal(tare_constants_size(c.store), CONTENTS * SIZE);
    for (int i = 0; i < OWNERS; i++) close_kept(&c.kept[i]);
    assert_int_equal(tare_constants_size(c.store), 0);
    tare_pool_free(pool);
    tare_constants_free(c.store);
}

/* ---- want of memory ---- */

static tare_status keep_some(tare_kept *kept, tare_error *err) {
    for (int i = 0; i < 20; i++) {
        char *room = tare_room_new(kept, SIZE);
        if (!room) return tare_fail_memory(err, SIZE);
        memset(room, i / 2, SIZE);
        if (!tare_keep(kept, room, SIZE)) return tare_fail_memory(err, SIZE);
    }
    return TARE_OK;
}

static tare_status try_keeping(void *context, tare_error *err) {
    (void)context;
    tare_constants *store = tare_constants_new();
    tare_kept kept = { .store = store, .arena = store ? tare_arena_new() : NULL };
    const tare_status status = kept.arena ? keep_some(&kept, err) : tare_fail_memory(err, 0);
    if (kept.arena) close_kept(&kept);
    tare_constants_free(store);
    return status;
}

static void survives_failing_allocations(void **state) {
    (void)state;
    assert_true(test_fail_allocations(try_keeping, NULL) > 40);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_content_lies_once),
                                        cmocka_unit_test(without_a_store_nothing_is_shared),
                                        cmocka_unit_test(an_empty_content_is_one), cmocka_unit_test(threads_share),
                                        cmocka_unit_test(survives_failing_allocations) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
