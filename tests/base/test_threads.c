/* The pool: every index once, whatever the threads; threads and memory that are not to be had. */
#include "base/threads.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "support/fail_nth.h"

enum { COUNT = 1000 };

typedef struct tally {
    atomic_uint done[COUNT];
    size_t threads;
    atomic_uint strangers;
} tally;

static void count(void *context, size_t index, size_t thread) {
    tally *t = context;
    atomic_fetch_add(&t->done[index], 1);
    if (thread >= t->threads) atomic_fetch_add(&t->strangers, 1);
}

static void check_run(tare_pool *pool, size_t indices) {
    tally t = { .threads = tare_pool_size(pool) };
    tare_pool_run(pool, indices, count, &t);
    for (size_t i = 0; i < COUNT; i++) assert_int_equal(t.done[i], i < indices);
    assert_int_equal(t.strangers, 0);
}

static void test_every_index_once(void **state) {
    (void)state;
    static const size_t sizes[] = { 1, 2, 3, 7, 16, 40 };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        tare_pool *pool = tare_pool_new(sizes[i]);
        assert_int_equal(tare_pool_size(pool), sizes[i]);
        for (size_t indices = 0; indices <= COUNT; indices += indices < 40 ? 1 : 160) check_run(pool, indices);
        tare_pool_free(pool);
    }
    check_run(NULL, COUNT);
    assert_int_equal(tare_pool_size(NULL), 1);
    tare_pool_free(NULL);
}

static void test_as_many_as_there_are(void **state) {
    (void)state;
    tare_pool *pool = tare_pool_new(0);
    assert_in_range(tare_pool_size(pool), 1, 256);
    check_run(pool, COUNT);
    tare_pool_free(pool);
    pool = tare_pool_new(100000);
    assert_in_range(tare_pool_size(pool), 1, 256);
    check_run(pool, COUNT);
    tare_pool_free(pool);
}

static void append(void *context, size_t index, size_t thread) {
    assert_int_equal(thread, 0);
    size_t **at = context;
    *(*at)++ = index;
}

static void test_no_pool_runs_in_order(void **state) {
    (void)state;
    size_t order[COUNT], *at = order;
    tare_pool_run(NULL, COUNT, append, &at);
    for (size_t i = 0; i < COUNT; i++) assert_int_equal(order[i], i);
}

static void bump(void *context, size_t index, size_t thread) {
    (void)index, (void)thread;
    ++*(size_t *)context;
}

/* What one job wrote without a lock, the next sees. */
static void spread(void *context, size_t index, size_t thread) {
    (void)thread;
    size_t *numbers = context;
    numbers[index] = numbers[index] * 3 + index;
}

static void test_jobs_follow_one_another(void **state) {
    (void)state;
    tare_pool *pool = tare_pool_new(4);
    size_t numbers[64] = { 0 }, wanted[64] = { 0 };
    for (int job = 0; job < 3000; job++) {
        tare_pool_run(pool, 64, spread, numbers);
        for (size_t i = 0; i < 64; i++) wanted[i] = wanted[i] * 3 + i;
    }
    assert_memory_equal(numbers, wanted, sizeof wanted);
    size_t single = 0;
    for (int job = 0; job < 100; job++) tare_pool_run(pool, 1, bump, &single);
    assert_int_equal(single, 100);
    tare_pool_free(pool);
}

static void *use_own_pool(void *context) {
    (void)context;
    tare_pool *pool = tare_pool_new(3);
    for (int i = 0; i < 50; i++) check_run(pool, 100);
    tare_pool_free(pool);
    return NULL;
}

static void test_two_pools_at_once(void **state) {
    (void)state;
    pthread_t other;
    assert_int_equal(pthread_create(&other, NULL, use_own_pool, NULL), 0);
    use_own_pool(NULL);
    pthread_join(other, NULL);
}

static tare_status use_pool(void *context, tare_error *err) {
    (void)err;
    tare_pool *pool = tare_pool_new(8);
    size_t size = tare_pool_size(pool);
    size_t *smallest = context;
    if (size < *smallest) *smallest = size;
    check_run(pool, COUNT);
    tare_pool_free(pool);
    return TARE_OK;
}

static void test_threads_that_cannot_be_made(void **state) {
    (void)state;
    size_t smallest = 8;
    assert_int_equal(test_fail_threads(use_pool, &smallest), 7);
    assert_int_equal(smallest, 1); /* when the first failed */
}

static void test_memory_that_is_not_there(void **state) {
    (void)state;
    size_t live = tare_memory_live();
    bool has_failed = true;
    for (uint64_t nth = 1; has_failed; nth++) {
        tare_memory_fail_at(nth);
        size_t smallest = 8;
        tare_error err;
        use_pool(&smallest, &err);
        has_failed = tare_memory_fail_at(0) == 0;
        assert_int_equal(tare_memory_live(), live);
        assert_true(has_failed == (smallest < 8));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_index_once),         cmocka_unit_test(test_as_many_as_there_are),
        cmocka_unit_test(test_no_pool_runs_in_order),    cmocka_unit_test(test_jobs_follow_one_another),
        cmocka_unit_test(test_two_pools_at_once),        cmocka_unit_test(test_threads_that_cannot_be_made),
        cmocka_unit_test(test_memory_that_is_not_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
