/* What the user sees: notes and progress on stderr, the answer on stdout; colour and progress only on a terminal. */
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"

/* Does the terminal obey escapes? One that says it is dumb does not. */
static bool is_able(FILE *stream) {
    const char *term = getenv("TERM");
    return isatty(fileno(stream)) && !(term && !strcmp(term, "dumb"));
}

bool cli_colour(FILE *stream) {
    const char *off = getenv("NO_COLOR");
    return !(off && *off) && is_able(stream);
}

static size_t columns_of(int stream) {
    struct winsize size;
    if (isatty(stream) && !ioctl(stream, TIOCGWINSZ, &size) && size.ws_col >= 40) return size.ws_col;
    return isatty(stream) ? 80 : 0;
}

size_t cli_columns(void) { return columns_of(STDOUT_FILENO); }

/* Code points, one a column. */
static size_t width_of(const char *text, size_t bytes) {
    size_t width = 0;
    for (size_t i = 0; i < bytes; i++) width += ((unsigned char)text[i] & 0xc0) != 0x80;
    return width;
}

void cli_say(const char *kind, const char *text) {
    static const size_t hang = 2; /* of lines that go on */
    const size_t columns = columns_of(STDERR_FILENO);
    size_t at = strlen(kind) + 1;
    fprintf(stderr, "%s:", kind);
    while (*text) {
        const size_t bytes = strcspn(text, " "), width = width_of(text, bytes);
        const bool is_full = columns && at + 1 + width > columns && at > hang;
        fprintf(stderr, "%s%.*s", is_full ? "\n  " : " ", (int)bytes, text);
        at = (is_full ? hang : at + 1) + width;
        text += bytes + (text[bytes] == ' ');
    }
    fputc('\n', stderr);
}

/* The bar in hand; there is one terminal. */
static struct {
    bool shown;
    char job[32];
    struct timespec start;
    uint64_t before; /* what was done at that time */
} bar;

static void clear_bar(void) {
    if (!bar.shown) return;
    fputs("\r\033[K", stderr);
    bar.shown = false;
}

static double seconds_since(const struct timespec *start) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - start->tv_sec) + 1e-9 * (double)(now.tv_nsec - start->tv_nsec);
}

/* "12/s  3 s left"; nothing before there is a rate. */
static void print_rate(char *text, size_t size, uint64_t done, uint64_t total) {
    static const double least = 0.2; /* seconds: what is measured in less jumps */
    const double spent = seconds_since(&bar.start);
    *text = '\0';
    if (spent < least || done <= bar.before) return;
    const double rate = (double)(done - bar.before) / spent;
    snprintf(text, size, "  %.3g/s  %.0f s left", rate, (double)(total - done) / rate);
}

static int show_progress(void *context, const char *job, uint64_t done, uint64_t total) {
    (void)context;
    if (strcmp(bar.job, job) || done <= 1) {
        snprintf(bar.job, sizeof bar.job, "%s", job);
        clock_gettime(CLOCK_MONOTONIC, &bar.start);
        bar.before = done;
    }
    if (done >= total) {
        clear_bar();
        return 0;
    }
    char cells[21], rate[64];
    print_rate(rate, sizeof rate, done, total);
    const int full = total ? (int)(20 * done / total) : 0;
    for (int i = 0; i < 20; i++) cells[i] = i < full ? '#' : '.';
    cells[20] = 0;
    fprintf(stderr, "\r%-10s %s %llu/%llu%s\033[K", job, cells, (unsigned long long)done, (unsigned long long)total,
            rate);
    bar.shown = true;
    return 0;
}

static void show_line(void *context, tare_log_level level, const char *text) {
    const cli_common *common = context;
    if (level == TARE_LOG_NOTE && !common->verbose) return;
    clear_bar();
    cli_say(level == TARE_LOG_WARNING ? "warning" : "note", text);
}

tare_log cli_log(const cli_common *common) {
    union {
        const void *from;
        void *to;
    } context = { .from = common };
    tare_log log = { .context = context.to };
    if (!common->quiet) log.line = show_line;
    if (!common->quiet && is_able(stderr)) log.progress = show_progress;
    return log;
}

tare_status cli_print_report(const cli_call *call, tare_report *report, tare_error *err) {
    const char *text =
        call->common->json ? tare_report_json(report) : tare_report_text(report, cli_columns(), cli_colour(stdout));
    const tare_status status = text ? TARE_OK : cli_fail(err, TARE_E_LIMIT, "out of memory");
    if (text) fputs(text, stdout);
    tare_report_free(report);
    return status;
}

tare_status cli_print_verdict(const cli_call *call, tare_report *report, tare_status status, tare_error *err) {
    tare_error shown = { 0 };
    if (!report) return status;
    const tare_status printed = cli_print_report(call, report, &shown);
    if (status != TARE_OK || printed == TARE_OK) return status;
    *err = shown;
    return printed;
}
