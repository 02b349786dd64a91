/* Notes, warnings and progress handed to the caller's functions, one at a time. */
#include "base/log.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

#include "base/text.h"

enum {
    LINE_SIZE = 4096,
    PROGRESS_PAUSE_MS = 40 /* 25 times a second */
};

static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

static void send(tare_log *log, tare_log_level level, const char *format, va_list args) {
    if (log == NULL || log->line == NULL) return;
    char raw[LINE_SIZE], line[LINE_SIZE];
    vsnprintf(raw, sizeof raw, format, args);
    tare_text_escape(line, sizeof line, raw);
    pthread_mutex_lock(&one_at_a_time);
    log->line(log->context, level, line);
    pthread_mutex_unlock(&one_at_a_time);
}

void tare_log_note(tare_log *log, const char *format, ...) {
    va_list args;
    va_start(args, format);
    send(log, TARE_LOG_NOTE, format, args);
    va_end(args);
}

void tare_log_warn(tare_log *log, const char *format, ...) {
    va_list args;
    va_start(args, format);
    send(log, TARE_LOG_WARNING, format, args);
    va_end(args);
}

/* Beginnings and ends are always told. */
int tare_log_progress(tare_log *log, const char *job, uint64_t done, uint64_t total) {
    static atomic_llong last_ms;
    if (log == NULL || log->progress == NULL) return 1;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    long long ms = (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000;
    if (done != 0 && done < total && ms - atomic_load(&last_ms) < PROGRESS_PAUSE_MS) return 1;
    atomic_store(&last_ms, ms);
    return log->progress(log->context, job, done, total) == 0;
}
