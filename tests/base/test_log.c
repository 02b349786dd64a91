/* Notes, warnings and progress: one line each, never two at once, not too often. */
#include "base/log.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/threads.h"
#include "support/support.h"

typedef struct record {
    char last[8192];
    tare_log_level level;
    unsigned lines, inside, progress;
    bool has_met; /* two at once */
    int answer;
} record;

static void take_line(void *context, tare_log_level level, const char *text) {
    record *r = context;
    r->has_met |= r->inside++ != 0;
    snprintf(r->last, sizeof r->last, "%s", text);
    r->level = level;
    r->lines++;
    r->inside--;
}

static int take_progress(void *context, const char *job, uint64_t done, uint64_t total) {
    record *r = context;
    assert_string_equal(job, "calibrate");
    assert_true(done <= total);
    r->progress++;
    return r->answer;
}

static void test_lines(void **state) {
    (void)state;
    record r = { 0 };
    tare_log log = { .line = take_line, .context = &r };
    tare_log_note(&log, "node '%s': %d", "a\nb", 7);
    assert_string_equal(r.last, "node 'a\\x0ab': 7");
    assert_int_equal(r.level, TARE_LOG_NOTE);
    tare_log_warn(&log, "x");
    assert_int_equal(r.level, TARE_LOG_WARNING);
    assert_int_equal(r.lines, 2);
    static char name[10000];
    memset(name, 'n', sizeof name - 1);
    tare_log_note(&log, "%s", name);
    assert_int_equal(strlen(r.last), 4095);
}

static void test_nobody_listens(void **state) {
    (void)state;
    tare_log deaf = { 0 };
    tare_log_note(NULL, "x");
    tare_log_warn(&deaf, "x");
    assert_int_equal(tare_log_progress(NULL, "calibrate", 1, 2), 1);
    assert_int_equal(tare_log_progress(&deaf, "calibrate", 1, 2), 1);
}

static void note(void *log, size_t index, size_t thread) {
    (void)thread;
    for (int i = 0; i < 50; i++) tare_log_note(log, "%zu", index);
}

static void test_threads_take_turns(void **state) {
    (void)state;
    record r = { 0 };
    tare_log log = { .line = take_line, .context = &r };
    tare_pool *pool = tare_pool_new(4);
    tare_pool_run(pool, 100, note, &log);
    tare_pool_free(pool);
    assert_int_equal(r.lines, 5000);
    assert_false(r.has_met);
}

static void test_progress_is_told_now_and_then(void **state) {
    (void)state;
    record r = { 0 };
    tare_log log = { .progress = take_progress, .context = &r };
    for (uint64_t i = 0; i <= 100000; i++) assert_int_equal(tare_log_progress(&log, "calibrate", i, 100000), 1);
    assert_in_range(r.progress, 2, 100); /* begin, end, and 25 a second between */
}

static void test_progress_can_stop(void **state) {
    (void)state;
    record r = { .answer = 1 };
    tare_log log = { .progress = take_progress, .context = &r };
    assert_int_equal(tare_log_progress(&log, "calibrate", 0, 10), 0);
    r.answer = -1;
    assert_int_equal(tare_log_progress(&log, "calibrate", 10, 10), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_nobody_listens),
        cmocka_unit_test(test_threads_take_turns),
        cmocka_unit_test(test_progress_is_told_now_and_then),
        cmocka_unit_test(test_progress_can_stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
