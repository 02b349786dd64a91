/* Memory and arenas: alignment, counting, the cap, overflow, marks, and every allocation failing. */
#include "base/memory.h"

#include <string.h>

#include "base/sanitize.h"
#include "base/threads.h"
#include "support/fail_nth.h"

static void test_blocks_are_aligned_and_counted(void **state) {
    (void)state;
    size_t before = tare_memory_live();
    for (size_t size = 0; size <= 300; size++) {
        unsigned char *block = tare_memory_new(size);
        assert_non_null(block);
        assert_int_equal((uintptr_t)block % 64, 0);
        memset(block, 0xa5, size);
        assert_int_equal(tare_memory_live(), before + size);
        assert_true(tare_memory_peak() >= before + size);
        tare_memory_free(block);
        assert_int_equal(tare_memory_live(), before);
    }
    tare_memory_free(NULL);
}

static void test_sizes_that_cannot_be(void **state) {
    (void)state;
    size_t before = tare_memory_live(), peak = tare_memory_peak();
    assert_null(tare_memory_new(SIZE_MAX));
    assert_null(tare_memory_new(SIZE_MAX - 63));
    assert_null(tare_memory_new(SIZE_MAX - 64));
    assert_null(tare_memory_new(SIZE_MAX / 4));
    assert_int_equal(tare_memory_live(), before);
    assert_int_equal(tare_memory_peak(), peak);
}

static void test_cap(void **state) {
    (void)state;
    size_t before = tare_memory_live();
    tare_memory_set_cap(before + 1000);
    void *first = tare_memory_new(600);
    assert_non_null(first);
    assert_null(tare_memory_new(401));
    void *second = tare_memory_new(400);
    assert_non_null(second);
    assert_null(tare_memory_new(1));
    tare_memory_free(first);
    first = tare_memory_new(600);
    assert_non_null(first);
    tare_memory_set_cap(1); /* what is live stays */
    assert_null(tare_memory_new(1));
    tare_memory_free(second);
    tare_memory_free(first);
    tare_memory_set_cap(0);
    first = tare_memory_new(10000);
    assert_non_null(first);
    tare_memory_free(first);
}

static void test_nth_fails_once(void **state) {
    (void)state;
    tare_memory_fail_at(3);
    void *blocks[4];
    for (int i = 0; i < 4; i++) blocks[i] = tare_memory_new(8);
    assert_non_null(blocks[0]);
    assert_non_null(blocks[1]);
    assert_null(blocks[2]);
    assert_non_null(blocks[3]);
    for (int i = 0; i < 4; i++) tare_memory_free(blocks[i]);
    assert_int_equal(tare_memory_fail_at(0), 0);
    tare_memory_fail_at(5);
    tare_memory_free(tare_memory_new(8));
    assert_int_equal(tare_memory_fail_at(0), 4);
}

static void churn(void *context, size_t index, size_t thread) {
    (void)context, (void)thread;
    for (size_t i = 0; i < 200; i++) tare_memory_free(tare_memory_new(index * 7 + i));
}

static void test_many_threads_keep_the_count(void **state) {
    (void)state;
    size_t before = tare_memory_live();
    tare_pool *pool = tare_pool_new(4);
    assert_non_null(pool);
    tare_pool_run(pool, 64, churn, NULL);
    tare_pool_free(pool);
    assert_int_equal(tare_memory_live(), before);
}

static void test_arena_aligns_and_clears(void **state) {
    (void)state;
    tare_arena *arena = tare_arena_new();
    assert_non_null(arena);
    for (size_t size = 0; size < 200; size++) {
        for (size_t count = 0; count < 4; count++) {
            unsigned char *at = tare_arena_alloc(arena, count, size);
            assert_non_null(at);
            assert_int_equal((uintptr_t)at % (count * size >= 64 ? 64 : 16), 0);
            for (size_t i = 0; i < count * size; i++) assert_int_equal(at[i], 0);
            memset(at, 0xff, count * size);
        }
    }
    assert_true(tare_arena_size(arena) >= 200 * 199 / 2 * 6);
    tare_arena_free(arena);
    tare_arena_free(NULL);
}

static void test_arena_refuses_overflow(void **state) {
    (void)state;
    tare_arena *arena = tare_arena_new();
    assert_non_null(arena);
    assert_null(tare_arena_alloc(arena, SIZE_MAX, 2));
    assert_null(tare_arena_alloc(arena, SIZE_MAX / 2 + 1, 2));
    assert_null(tare_arena_alloc_raw(arena, 1, SIZE_MAX));
    assert_null(tare_arena_alloc_raw(arena, 1, SIZE_MAX - 63));
    assert_null(tare_arena_copy(arena, "x", SIZE_MAX));
    size_t capacity = 0;
    int *none = NULL;
    assert_false(tare_vec_reserve(arena, &none, &capacity, SIZE_MAX / 2, sizeof *none));
    assert_null(none);
    assert_int_equal(capacity, 0);
    assert_non_null(tare_arena_alloc(arena, 1, 1)); /* it goes on */
    tare_arena_free(arena);
}

static void test_arena_copies(void **state) {
    (void)state;
    tare_arena *arena = tare_arena_new();
    char *copy = tare_arena_copy(arena, "a\0b", 3);
    assert_memory_equal(copy, "a\0b", 4);
    assert_string_equal(tare_arena_copy(arena, NULL, 0), "");
    assert_string_equal(tare_arena_strdup(arena, "name"), "name");
    assert_string_equal(tare_arena_printf(arena, "%s %d", "node", 7), "node 7");
    char *wide = tare_arena_printf(arena, "%10000d", 1);
    assert_int_equal(strlen(wide), 10000);
    tare_arena_free(arena);
}

static void test_marks(void **state) {
    (void)state;
    tare_arena *arena = tare_arena_new();
    size_t empty_size = tare_arena_size(arena);
    tare_arena_mark empty = tare_arena_get_mark(arena);
    char *kept = tare_arena_strdup(arena, "kept");
    tare_arena_mark mark = tare_arena_get_mark(arena);
    size_t size = tare_arena_size(arena), live = tare_memory_live();
    for (int round = 0; round < 3; round++) {
        for (size_t i = 1; i < 2000; i++) memset(tare_arena_alloc_raw(arena, i, 1), 0xee, i);
        assert_true(tare_arena_size(arena) > size);
        tare_arena_release(arena, mark);
        assert_int_equal(tare_arena_size(arena), size);
        assert_int_equal(tare_memory_live(), live);
        assert_string_equal(kept, "kept");
    }
    char *after = tare_arena_strdup(arena, "after");
    tare_arena_release(arena, mark);
    assert_ptr_equal(tare_arena_strdup(arena, "again"), after);
    tare_arena_release(arena, empty);
    assert_int_equal(tare_arena_size(arena), empty_size);
    tare_arena_free(arena);
}

static void test_the_end_of_an_allocation_is_guarded(void **state) {
    (void)state;
#if TARE_HAS_ASAN
    tare_arena *arena = tare_arena_new();
    char *first = tare_arena_alloc(arena, 1, 20);
    tare_arena_mark mark = tare_arena_get_mark(arena);
    char *second = tare_arena_alloc(arena, 1, 100);
    assert_false(__asan_address_is_poisoned(first + 19));
    assert_true(__asan_address_is_poisoned(first + 20));
    assert_false(__asan_address_is_poisoned(second + 99));
    assert_true(__asan_address_is_poisoned(second + 100));
    tare_arena_release(arena, mark);
    assert_true(__asan_address_is_poisoned(second));
    assert_false(__asan_address_is_poisoned(first + 19));
    tare_arena_free(arena);
    char *block = tare_memory_new(7);
    assert_true(__asan_address_is_poisoned(block + 7));
    tare_memory_free(block);
#else
    print_message("skipped: this build has no AddressSanitizer\n");
    skip();
#endif
}

static void test_vec_grows(void **state) {
    (void)state;
    tare_arena *arena = tare_arena_new();
    TARE_VEC(int64_t) numbers = { 0 };
    for (int64_t i = 0; i < 5000; i++) assert_true(tare_vec_push(arena, &numbers, i * i));
    assert_int_equal(numbers.count, 5000);
    for (int64_t i = 0; i < 5000; i++) assert_int_equal(numbers.at[i], i * i);
    tare_arena_free(arena);
}

static tare_status use_arena(void *context, tare_error *err) {
    (void)context, (void)err;
    tare_arena *arena = tare_arena_new();
    bool is_ok = arena != NULL;
    TARE_VEC(double) numbers = { 0 };
    for (int i = 0; is_ok && i < 3000; i++) {
        is_ok = tare_vec_push(arena, &numbers, i) && tare_arena_strdup(arena, "name") != NULL &&
                tare_arena_printf(arena, "%d", i) != NULL;
    }
    for (size_t i = 0; i < numbers.count; i++) assert_true(numbers.at[i] == (double)i);
    tare_arena_free(arena);
    return is_ok ? TARE_OK : tare_fail_memory(err, 0);
}

static void test_every_allocation_fails(void **state) {
    (void)state;
    assert_true(test_fail_allocations(use_arena, NULL) > 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks_are_aligned_and_counted),
        cmocka_unit_test(test_sizes_that_cannot_be),
        cmocka_unit_test(test_cap),
        cmocka_unit_test(test_nth_fails_once),
        cmocka_unit_test(test_many_threads_keep_the_count),
        cmocka_unit_test(test_arena_aligns_and_clears),
        cmocka_unit_test(test_arena_refuses_overflow),
        cmocka_unit_test(test_arena_copies),
        cmocka_unit_test(test_marks),
        cmocka_unit_test(test_the_end_of_an_allocation_is_guarded),
        cmocka_unit_test(test_vec_grows),
        cmocka_unit_test(test_every_allocation_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
