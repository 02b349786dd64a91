/* From the command line to a verb and from its status to the exit code. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "cli.h"

#define VERB(x) extern const cli_verb cli_verb_##x;
#include "verbs.def"
#undef VERB

static const cli_verb *const verbs[] = {
#define VERB(x) &cli_verb_##x,
#include "verbs.def"
#undef VERB
};

size_t cli_verb_count(void) { return sizeof verbs / sizeof verbs[0]; }
const cli_verb *cli_verb_at(size_t index) { return verbs[index]; }

tare_status cli_verb_get(const char *name, const cli_verb **verb, tare_error *err) {
    const char *names[sizeof verbs / sizeof verbs[0] + 1] = { 0 };
    for (size_t i = 0; i < cli_verb_count(); i++) {
        *verb = verbs[i];
        names[i] = verbs[i]->name;
        if (!strcmp(verbs[i]->name, name)) return TARE_OK;
    }
    const char *near = tare_text_nearest(name, names);
    if (*name == '-') return cli_usage(err, "no option '%.64s' before a verb; there is: --help --version", name);
    if (near) return cli_usage(err, "no verb '%.64s'; did you mean '%s'?", name, near);
    return cli_usage(err, "no verb '%.64s'; `tare help` lists them", name);
}

/* What is unfinished is removed; then the shell's codes for signals, or 5 when a mapped file shrank under us. */
static void on_signal(int number) {
    tare_remove_unfinished();
    _exit(number == SIGBUS ? TARE_E_IO : 128 + number);
}

static void handle_signals(void) {
    static const int ends[] = { SIGINT, SIGTERM, SIGHUP, SIGBUS };
    struct sigaction action = { .sa_handler = on_signal };
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) sigaction(ends[i], &action, NULL);
    struct sigaction ignore = { .sa_handler = SIG_IGN };
    sigaction(SIGXFSZ, &ignore, NULL); /* a file size limit is then an error of write */
    sigaction(SIGPIPE, &ignore, NULL); /* and a closed pipe one of standard output */
}

static tare_status run_verb(const cli_verb *verb, int count, char **arguments, tare_field_store *store,
                            tare_error *err) {
    void *record = calloc(1, verb->record_size + 1);
    const char **operands = calloc((size_t)count + 1, sizeof *operands);
    cli_common common = { 0 };
    tare_status status;
    int operand_count = 0;
    if (!record || !operands)
        status = cli_fail(err, TARE_E_LIMIT, "out of memory");
    else
        status = cli_parse(verb, count, arguments, record, &common, operands, &operand_count, store, err);
    if (status == TARE_OK) status = tare_limit_memory(common.max_mem, err);
    if (status == TARE_OK && common.help) {
        cli_print_verb_help(verb, stdout);
    } else if (status == TARE_OK) {
        tare_log log = cli_log(&common);
        const cli_call call = { .record = record,
                                .operands = operands,
                                .operand_count = operand_count,
                                .arguments = arguments,
                                .argument_count = count,
                                .common = &common,
                                .log = &log };
        status = verb->run(&call, err);
    }
    free(operands);
    free(record);
    return status;
}

static tare_status dispatch(int argc, char **argv, tare_field_store *store, tare_error *err) {
    if (argc < 2 || !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
        cli_print_overview(argc < 2 ? stderr : stdout);
        return argc < 2 ? TARE_E_USAGE : TARE_OK;
    }
    if (!strcmp(argv[1], "--version")) {
        printf("tare %s\n", tare_version());
        return TARE_OK;
    }
    const cli_verb *verb;
    const tare_status status = cli_verb_get(argv[1], &verb, err);
    return status == TARE_OK ? run_verb(verb, argc - 2, argv + 2, store, err) : status;
}

/* A program may be started with its standard streams closed: then what it opens must not get their numbers, and writing to
 * them must be seen to go wrong. */
static void claim_streams(void) {
    for (int number = 0; number <= 2; number++)
        while (fcntl(number, F_GETFD) < 0 && open("/dev/null", number ? O_RDONLY : O_WRONLY) >= 0) continue;
}

/* What was printed has to arrive. A reader that has enough (head, less) is no error to tell of. */
static int finish(tare_status status, const tare_error *err) {
    const bool lost = fflush(stdout) || ferror(stdout);
    const bool is_closed = lost && errno == EPIPE;
    if (status != TARE_OK && err->text[0]) cli_say("error", err->text);
    if (is_closed) return status == TARE_OK ? 128 + SIGPIPE : (int)status;
    const char *why = errno == ENOSPC  ? "no space left on the device"
                      : errno == EBADF ? "is closed"
                                       : "cannot be written";
    if (lost) fprintf(stderr, "error: standard output: %s\n", why);
    if (lost && status == TARE_OK) return TARE_E_IO;
    return status == TARE_E_INTERRUPTED ? 128 + SIGINT : (int)status;
}

/* What is large goes back to the system when it is freed. Left alone, glibc keeps it for later once a large block was freed,
 * for each thread anew. */
static void return_memory(void) {
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 128 * 1024);
#endif
}

int main(int argc, char **argv) {
    return_memory();
    claim_streams();
    handle_signals();
    tare_error err = { 0 };
    tare_field_store *store = tare_field_store_new();
    const tare_status status =
        store ? dispatch(argc, argv, store, &err) : cli_fail(&err, TARE_E_LIMIT, "out of memory");
    tare_field_store_free(store);
    return finish(status, &err);
}
