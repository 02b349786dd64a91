/* Programs are started in one place: a shell, two pipes that are read until it has ended, and a list of what runs for the
 * handlers of signals. */
#define _GNU_SOURCE /* pipe2 */
#include "base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/text.h"

extern char **environ;

enum {
    RUNNING_MOST = 8,
    CLAIMED = -1,             /* no group yet */
    KEPT = 1024 * 1024,       /* bytes of the end of what a program prints */
    PRINTED_MOST = 256 << 20, /* bytes: no figures come behind so much */
    LOOK = 100,               /* milliseconds between looks whether it has ended */
    LAST_WORDS = 1000,        /* milliseconds for what its children still print then */
    PATIENCE = 10000          /* milliseconds until the user is told what is waited for */
};

static atomic_int running[RUNNING_MOST]; /* process groups; 0: free */
static atomic_bool is_ending;

void tare_program_end_all(void) {
    int number = errno;
    atomic_store(&is_ending, true);
    for (size_t i = 0; i < RUNNING_MOST; i++) {
        const int group = atomic_load(&running[i]);
        if (group > 0) kill(-group, SIGTERM);
    }
    errno = number;
}

/* ---- what it prints ---- */

typedef struct sink {
    int fd; /* -1: at its end */
    size_t length, printed;
    char *at; /* 2 * KEPT + 1 bytes: when full, the older half goes */
} sink;

static void take(sink *s, const char *bytes, size_t count) {
    if (s->length + count > 2 * (size_t)KEPT) {
        memmove(s->at, s->at + s->length - KEPT, KEPT);
        s->length = KEPT;
    }
    memcpy(s->at + s->length, bytes, count);
    s->length += count;
    s->printed += count;
}

/* Reads what is there. */
static tare_status drain(sink *s, tare_error *err) {
    char piece[4096];
    const ssize_t count = read(s->fd, piece, sizeof piece);
    if (count > 0) {
        take(s, piece, (size_t)count);
        if (s->printed > PRINTED_MOST)
            return tare_fail(err, TARE_E_LIMIT, "printed more than %d MiB and was stopped; figures stand at the end",
                             PRINTED_MOST >> 20);
    } else if (count == 0) {
        close(s->fd);
        s->fd = -1;
    } else if (errno != EINTR && errno != EAGAIN) {
        return tare_fail_errno(err, "read");
    }
    return TARE_OK;
}

/* It stays to be waited for: until then its number is nobody else's. */
static bool has_ended(pid_t pid) {
    siginfo_t about = { .si_pid = 0 };
    return waitid(P_PID, (id_t)pid, &about, WEXITED | WNOHANG | WNOWAIT) == 0 && about.si_pid == pid;
}

static int64_t milliseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void tell_of_waiting(const char *command, tare_log *log) {
    char shown[128];
    tare_text_escape(shown, sizeof shown, command);
    tare_log_warn(log,
                  "'%s' has run for %d s and is waited for; Ctrl-C ends it, `timeout 600 ...` before it sets a limit",
                  shown, PATIENCE / 1000);
}

/* To the ends of both pipes; where children that it left hold them, to its own end and a little longer. */
static tare_status drain_both(sink sinks[2], pid_t pid, const char *command, tare_log *log, tare_error *err) {
    int64_t until = INT64_MAX, patient_until = milliseconds() + PATIENCE;
    while ((sinks[0].fd >= 0 || sinks[1].fd >= 0) && (until == INT64_MAX || milliseconds() < until)) {
        struct pollfd wait[2] = { { .fd = sinks[0].fd, .events = POLLIN }, { .fd = sinks[1].fd, .events = POLLIN } };
        if (poll(wait, 2, LOOK) < 0) {
            if (errno == EINTR) continue;
            return tare_fail_errno(err, "poll");
        }
        if (milliseconds() > patient_until) {
            tell_of_waiting(command, log);
            patient_until = INT64_MAX;
        }
        if (until == INT64_MAX && has_ended(pid)) until = milliseconds() + LAST_WORDS;
        for (size_t i = 0; i < 2; i++)
            if (sinks[i].fd >= 0 && wait[i].revents) TARE_TRY(drain(&sinks[i], err));
    }
    return TARE_OK;
}

/* ---- starting ---- */

/* A pipe whose ends the program does not inherit but as what they are given it for. */
static tare_status open_pipe(int ends[2], tare_error *err) {
    if (pipe2(ends, O_CLOEXEC) == 0) return TARE_OK;
    ends[0] = ends[1] = -1;
    return tare_fail_errno(err, "pipe");
}

typedef struct pipes {
    int gate[2], out[2], errors[2];
} pipes;

static void close_end(int *end) {
    if (*end >= 0) close(*end);
    *end = -1;
}

static int set_up(posix_spawnattr_t *attributes, posix_spawn_file_actions_t *actions, const pipes *p) {
    sigset_t none, usual;
    sigemptyset(&none);
    sigemptyset(&usual);
    sigaddset(&usual, SIGPIPE);
    sigaddset(&usual, SIGXFSZ);
    int failed =
        posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    failed |= posix_spawnattr_setpgroup(attributes, 0);
    failed |= posix_spawnattr_setsigmask(attributes, &none);
    failed |= posix_spawnattr_setsigdefault(attributes, &usual);
    failed |= posix_spawn_file_actions_adddup2(actions, p->gate[0], STDIN_FILENO);
    failed |= posix_spawn_file_actions_adddup2(actions, p->out[1], STDOUT_FILENO);
    failed |= posix_spawn_file_actions_adddup2(actions, p->errors[1], STDERR_FILENO);
    return failed;
}

static tare_status spawn(pid_t *pid, char *script, char *argument, const pipes *p, tare_error *err) {
    static char shell[] = "/bin/sh", flag[] = "-c", name[] = "sh";
    char *const arguments[] = { name, flag, script, name, argument, NULL };
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_t actions;
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_init(&actions);
    int number = set_up(&attributes, &actions, p);
    if (!number) number = posix_spawn(pid, shell, &actions, &attributes, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    errno = number;
    return number ? tare_fail_errno(err, shell) : TARE_OK;
}

static tare_status claim(size_t *slot, tare_error *err) {
    for (size_t i = 0; i < RUNNING_MOST; i++) {
        int expected = 0;
        if (!atomic_compare_exchange_strong(&running[i], &expected, CLAIMED)) continue;
        *slot = i;
        return TARE_OK;
    }
    return tare_fail(err, TARE_E_LIMIT, "%d programs run already", RUNNING_MOST);
}

static int wait_for(pid_t pid) {
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* The shell waits at the gate until it is on the list: had this process ended before that, nobody would end the shell. */
static tare_status start(pid_t *pid, char *script, char *argument, pipes *p, size_t slot, tare_error *err) {
    TARE_TRY(open_pipe(p->gate, err));
    TARE_TRY(open_pipe(p->out, err));
    TARE_TRY(open_pipe(p->errors, err));
    TARE_TRY(spawn(pid, script, argument, p, err));
    atomic_store(&running[slot], (int)*pid);
    if (atomic_load(&is_ending)) return tare_fail(err, TARE_E_INTERRUPTED, "stopped");
    return write(p->gate[1], "\n", 1) == 1 ? TARE_OK : tare_fail_errno(err, "write");
}

static tare_status run_caught(tare_ran_program *ran, const char *command, char *script, char *argument, sink sinks[2],
                              tare_log *log, tare_error *err) {
    pipes p = { { -1, -1 }, { -1, -1 }, { -1, -1 } };
    size_t slot = 0;
    pid_t pid = 0;
    TARE_TRY(claim(&slot, err));
    tare_status status = start(&pid, script, argument, &p, slot, err);
    close_end(&p.gate[0]);
    close_end(&p.gate[1]);
    close_end(&p.out[1]);
    close_end(&p.errors[1]);
    sinks[0].fd = p.out[0];
    sinks[1].fd = p.errors[0];
    if (status == TARE_OK) status = drain_both(sinks, pid, command, log, err);
    const bool has_left = sinks[0].fd >= 0 || sinks[1].fd >= 0;
    for (size_t i = 0; i < 2; i++) close_end(&sinks[i].fd);
    if (pid > 0 && has_left) kill(-pid, status == TARE_OK ? SIGTERM : SIGKILL);
    if (pid > 0) ran->exit_code = wait_for(pid);
    atomic_store(&running[slot], 0);
    return status;
}

/* The command is the shell's to read, the argument is not: it comes as a parameter. */
tare_status tare_program_run(tare_ran_program *out, const char *command, const char *argument, tare_arena *arena,
                             tare_log *log, tare_error *err) {
    sink sinks[2] = { { .fd = -1 }, { .fd = -1 } };
    char *script = tare_arena_printf(arena, "read -r go || exit 126\nexec </dev/null\n%s \"$@\"", command);
    char *copy = tare_arena_strdup(arena, argument);
    if (!script || !copy) return tare_fail_memory(err, 0);
    for (size_t i = 0; i < 2; i++) {
        sinks[i].at = tare_arena_alloc_raw(arena, 2 * (size_t)KEPT + 1, 1);
        if (!sinks[i].at) return tare_fail_memory(err, 2 * (size_t)KEPT);
    }
    TARE_TRY(run_caught(out, command, script, copy, sinks, log, err));
    for (size_t i = 0; i < 2; i++) sinks[i].at[sinks[i].length] = '\0';
    out->out = sinks[0].at;
    out->errors = sinks[1].at;
    return TARE_OK;
}
