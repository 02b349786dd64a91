/* The map: insertion order, replacing, removing, many keys, and every allocation failing. */
#include "base/map.h"

#include <stdio.h>

#include "support/fail_nth.h"

static int values[4];

static void test_gets_what_was_put(void **state) {
    (void)state;
    tare_arena *arena = tare_arena_new();
    tare_map map;
    tare_map_init(&map, arena);
    assert_null(tare_map_get(&map, "a"));
    tare_map_remove(&map, "a");
    assert_true(tare_map_put(&map, "a", &values[0]));
    assert_true(tare_map_put(&map, "", &values[1]));
    assert_true(tare_map_put(&map, "\xff\x01 odd", &values[2]));
    assert_ptr_equal(tare_map_get(&map, "a"), &values[0]);
    assert_ptr_equal(tare_map_get(&map, ""), &values[1]);
    assert_ptr_equal(tare_map_get(&map, "\xff\x01 odd"), &values[2]);
    assert_null(tare_map_get(&map, "A"));
    assert_true(tare_map_put(&map, "a", &values[3]));
    assert_ptr_equal(tare_map_get(&map, "a"), &values[3]);
    assert_int_equal(map.entries.count, 3);
    tare_arena_free(arena);
}

static void test_keeps_the_order_of_insertion(void **state) {
    (void)state;
    tare_arena *arena = tare_arena_new();
    tare_map map;
    tare_map_init(&map, arena);
    static const char *const keys[] = { "z", "y", "m", "a", "q" };
    for (size_t i = 0; i < 5; i++) assert_true(tare_map_put(&map, keys[i], &values[0]));
    tare_map_remove(&map, "y");
    assert_null(tare_map_get(&map, "y"));
    assert_true(tare_map_put(&map, "m", &values[1])); /* replaced: keeps its place */
    assert_true(tare_map_put(&map, "y", &values[2])); /* new again: comes last */
    char order[16];
    size_t used = 0;
    for (size_t i = 0; i < map.entries.count; i++) {
        if (map.entries.at[i].value != NULL) order[used++] = map.entries.at[i].key[0];
    }
    assert_int_equal(used, 5);
    assert_memory_equal(order, "zmaqy", 5);
    tare_arena_free(arena);
}

static void test_many_keys(void **state) {
    (void)state;
    enum { COUNT = 50000 };
    tare_arena *arena = tare_arena_new();
    tare_map map;
    tare_map_init(&map, arena);
    static char seen[COUNT];
    for (int i = 0; i < COUNT; i++) {
        assert_true(tare_map_put(&map, tare_arena_printf(arena, "layer%d/w", i), &seen[i]));
        if (i % 3 == 0) tare_map_remove(&map, tare_arena_printf(arena, "layer%d/w", i / 2));
    }
    size_t found = 0;
    for (int i = 0; i < COUNT; i++) {
        char key[32];
        snprintf(key, sizeof key, "layer%d/w", i);
        const char *got = tare_map_get(&map, key);
        bool is_removed = 2 * i < COUNT && ((2 * i) % 3 == 0 || ((2 * i + 1) < COUNT && (2 * i + 1) % 3 == 0));
        assert_ptr_equal(got, is_removed ? NULL : &seen[i]);
        found += got != NULL;
    }
    assert_in_range(found, COUNT / 2, COUNT - 1);
    tare_arena_free(arena);
}

/* What could not be put is not there; what was there stays. */
static tare_status fill(void *context, tare_error *err) {
    (void)context;
    static char keys[100][8];
    tare_arena *arena = tare_arena_new();
    if (arena == NULL) return tare_fail_memory(err, 0);
    tare_map map;
    tare_map_init(&map, arena);
    size_t put = 0;
    for (; put < 100; put++) {
        snprintf(keys[put], sizeof keys[put], "k%zu", put);
        if (!tare_map_put(&map, keys[put], keys[put])) break;
    }
    for (size_t i = 0; i < put; i++) assert_ptr_equal(tare_map_get(&map, keys[i]), keys[i]);
    if (put < 100) assert_null(tare_map_get(&map, keys[put]));
    tare_arena_free(arena);
    return put == 100 ? TARE_OK : tare_fail_memory(err, 0);
}

static void test_every_allocation_fails(void **state) {
    (void)state;
    assert_true(test_fail_allocations(fill, NULL) >= 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gets_what_was_put),
        cmocka_unit_test(test_keeps_the_order_of_insertion),
        cmocka_unit_test(test_many_keys),
        cmocka_unit_test(test_every_allocation_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
