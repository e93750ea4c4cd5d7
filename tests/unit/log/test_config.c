/* Loggers, handlers, levels, rate limit, and changes while threads log. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "await.h"
#include "log/internal.h"
#include "unit.h"

static int temporary(void)
{
    char path[] = "/tmp/berth-test-config-XXXXXX";
    int fd = mkostemp(path, O_APPEND);
    assert_true(fd >= 0);
    assert_int_equal(unlink(path), 0);
    return fd;
}

/* What was written since the last call; the caller frees it. */
static char *read_new(int fd)
{
    off_t size = lseek(fd, 0, SEEK_END);
    char *text = calloc(1, (size_t)size + 1);
    assert_non_null(text);
    assert_int_equal(pread(fd, text, (size_t)size, 0), size);
    assert_int_equal(ftruncate(fd, 0), 0);
    return text;
}

static void expect_new(int fd, const char *expected)
{
    char *text = read_new(fd);
    assert_string_equal(text, expected);
    free(text);
}

static struct log_handler_settings handler_to(int fd, int level, const char *form)
{
    struct log_handler_settings handler = {
        .to = LOG_TO_DESCRIPTOR, .fd = fd, .level = level, .format = log_format_default};
    handler.format.form = LOG_FORM_PLAIN;
    handler.format.plain = form;
    return handler;
}

static void start(const struct log_settings *settings)
{
    struct err err = {.arena = arena_create()};
    if (!log_start_with(settings, &err))
        fail_msg("%.*s", SLICE_ARG(err.message));
    arena_destroy(err.arena);
}

/* One line of each level by four loggers. */
static void log_all(void)
{
    static const char *const LOGGERS[] = {"a", "a.b", "a.b.c", "ab"};
    for (size_t i = 0; i < sizeof(LOGGERS) / sizeof(LOGGERS[0]); i++)
        for (unsigned level = 0; level < LOG_LEVELS; level++)
            log_write((enum log_level)level, LOGGERS[i], LOG_NO_CONTEXT, "%u", level);
}

static void levels_of_loggers(void **state)
{
    (void)state;
    int fd = temporary();
    const struct log_handler_settings handler = handler_to(fd, 0, "%(name)s%(message)s");
    const struct log_logger_settings loggers[] = {
        {.name = "", .level = LOG_NUMBER_ERROR, .handler_count = 1},
        {.name = "a.b", .level = LOG_NUMBER_WARNING},
        {.name = "a.b.c", .level = 45},
        {.name = "x", .level = LOG_NUMBER_DEBUG},
    };
    const struct log_settings settings = {
        .handlers = &handler, .handler_count = 1, .loggers = loggers, .logger_count = 4};
    start(&settings);
    log_all();
    expect_new(fd, "a3\na4\na.b2\na.b3\na.b4\na.b.c4\nab3\nab4\n");
    assert_false(log_is_enabled(LOG_LEVEL_INFO, "a.b"));
    assert_true(log_is_enabled(LOG_LEVEL_DEBUG, "x.y"));
    log_set_debug(true); /* only the root's */
    log_all();
    expect_new(fd, "a0\na1\na2\na3\na4\na.b2\na.b3\na.b4\na.b.c4\nab0\nab1\nab2\nab3\nab4\n");
    const struct log_logger_settings others[] = {{.name = "", .level = LOG_NUMBER_CRITICAL},
                                                 {.name = "a.b.c", .level = LOG_NUMBER_UNSET},
                                                 {.name = "a.b", .level = LOG_NUMBER_ERROR}};
    log_set_levels(others, 3); /* the handlers stay */
    log_all();
    expect_new(fd, "a4\na.b3\na.b4\na.b.c3\na.b.c4\nab4\n");
    log_stop();
    close(fd);
}

/* `berth` and its children count as children of `placement`. */
static void our_own_loggers(void **state)
{
    (void)state;
    int fd = temporary();
    const struct log_handler_settings handler = handler_to(fd, 0, "%(name)s");
    struct log_logger_settings loggers[] = {
        {.name = "root", .level = LOG_NUMBER_WARNING},
        {.name = "placement", .level = LOG_NUMBER_DEBUG, .handler_count = 1},
        {.name = "berth.slow", .level = LOG_NUMBER_ERROR},
    };
    const struct log_settings settings = {
        .handlers = &handler, .handler_count = 1, .loggers = loggers, .logger_count = 3};
    start(&settings);
    log_write(LOG_LEVEL_DEBUG, "berth", LOG_NO_CONTEXT, "x");
    log_write(LOG_LEVEL_DEBUG, "berth.conf", LOG_NO_CONTEXT, "x");
    log_write(LOG_LEVEL_WARNING, "berth.slow", LOG_NO_CONTEXT, "x");
    log_write(LOG_LEVEL_DEBUG, "placement.requestlog", LOG_NO_CONTEXT, "x");
    log_write(LOG_LEVEL_ERROR, "other", LOG_NO_CONTEXT, "x"); /* the root has no handler */
    assert_false(log_is_enabled(LOG_LEVEL_ERROR, "other"));
    expect_new(fd, "berth\nberth.conf\nplacement.requestlog\n");
    log_stop();
    close(fd);
}

/* Each handler of each logger on the way up, until one stops propagation; each with its level and
 * format. */
static void handlers_of_loggers(void **state)
{
    (void)state;
    int one = temporary();
    int other = temporary();
    const struct log_handler_settings handlers[] = {
        handler_to(one, 0, "1 %(message)s"),
        handler_to(other, LOG_NUMBER_ERROR, "2 %(message)s"),
        handler_to(one, 0, "3 %(message)s"),
        {.to = LOG_TO_NOTHING, .format = log_format_default}};
    const struct log_logger_settings loggers[] = {
        {.name = "", .level = LOG_NUMBER_INFO, .handlers = {0, 1, 3}, .handler_count = 3},
        {.name = "a", .handlers = {2}, .handler_count = 1},
        {.name = "a.b", .handlers = {1}, .handler_count = 1, .stops = true},
    };
    const struct log_settings settings = {
        .handlers = handlers, .handler_count = 4, .loggers = loggers, .logger_count = 3};
    start(&settings);
    log_write(LOG_LEVEL_ERROR, "x", LOG_NO_CONTEXT, "x");
    log_write(LOG_LEVEL_INFO, "a", LOG_NO_CONTEXT, "a");
    log_write(LOG_LEVEL_ERROR, "a.b.c", LOG_NO_CONTEXT, "c");
    log_write(LOG_LEVEL_INFO, "a.b.c", LOG_NO_CONTEXT, "d");
    expect_new(one, "1 x\n3 a\n1 a\n");
    expect_new(other, "2 x\n2 c\n");
    log_stop();
    close(one);
    close(other);
}

/* %(msg)s is the message before its arguments are put in, as in Python. */
static void messages_without_arguments(void **state)
{
    (void)state;
    int fd = temporary();
    const struct slice part = SLICE_LIT("3 things");
    const struct log_message message = {.parts = &part, .part_count = 1, .format = "%d things"};
    const struct log_handler_settings handler = handler_to(fd, 0, "%(msg)s|%(message)s");
    const struct log_logger_settings root = {.name = "", .level = 20, .handler_count = 1};
    const struct log_settings settings = {
        .handlers = &handler, .handler_count = 1, .loggers = &root, .logger_count = 1};
    start(&settings);
    log_write(LOG_LEVEL_INFO, "x", LOG_NO_CONTEXT, "%d things", 2);
    log_gather(LOG_LEVEL_INFO, "x", LOG_NO_CONTEXT, &message);
    log_stop();
    expect_new(fd, "2 things|2 things\n%d things|3 things\n");
    close(fd);
}

static void write_line(struct log_output *output)
{
    log_output_begin(output);
    log_output_write(output, SLICE_LIT("a line\n"));
    log_output_end(output);
}

/* A file that no longer has a name, in a directory that does not exist: its lines are counted as
 * lost, until it can be opened again. */
static void lines_without_a_file(void **state)
{
    (void)state;
    char directory[] = "/tmp/berth-test-config-XXXXXX";
    char path[64];
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof(path), "%s/log", directory);
    struct err err = {.arena = arena_create()};
    const struct log_handler_settings settings = {.to = LOG_TO_FILE, .path = path};
    struct log_output *output = log_output_open(&settings, &err);
    assert_non_null(output);
    arena_destroy(err.arena);
    uint64_t lost = log_lost_bytes();
    write_line(output);
    assert_int_equal(log_lost_bytes(), lost);
    assert_true(log_output_is_well(output));
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(directory), 0);
    write_line(output);
    assert_int_equal(log_lost_bytes(), lost + 7);
    assert_false(log_output_is_well(output));
    assert_int_equal(mkdir(directory, 0700), 0);
    log_output_follow(output, true);
    write_line(output);
    assert_int_equal(log_lost_bytes(), lost + 7);
    assert_true(log_output_is_well(output));
    log_output_close(output);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(directory), 0);
}

static void settings_that_fail(void **state)
{
    (void)state;
    int fd = temporary();
    struct err err = {.arena = arena_create()};
    struct log_handler_settings handlers[LOG_HANDLERS_MAX + 1];
    for (size_t i = 0; i < LOG_HANDLERS_MAX + 1; i++)
        handlers[i] = handler_to(fd, 0, "%(message)s");
    const struct log_logger_settings root = {.name = "", .handler_count = 1};
    struct log_settings settings = {
        .handlers = handlers, .handler_count = 1, .loggers = &root, .logger_count = 1};
    start(&settings);
    settings.handler_count = LOG_HANDLERS_MAX + 1;
    assert_false(log_start_with(&settings, &err));
    assert_string_equal(err.message.data, "more than 16 log destinations");
    err.status = 0;
    settings.handler_count = 2;
    handlers[1].format.plain = "%(x";
    assert_false(log_start_with(&settings, &err));
    assert_string_equal(err.message.data, "format: a key without its ) at \"%(x\"");
    err.status = 0;
    handlers[1] = (struct log_handler_settings){
        .to = LOG_TO_FILE, .path = "/nowhere/log", .format = log_format_default};
    assert_false(log_start_with(&settings, &err));
    assert_string_equal(err.message.data,
                        "cannot open the log file /nowhere/log: No such file or directory");
    log_write(LOG_LEVEL_INFO, "x", LOG_NO_CONTEXT, "as it was");
    expect_new(fd, "as it was\n");
    log_stop();
    arena_destroy(err.arena);
    close(fd);
}

/* Reported once at the start, and omitted. */
static void unknown_keys(void **state)
{
    (void)state;
    int fd = temporary();
    const struct log_handler_settings handler = handler_to(fd, 0, "%(nothing)s %(message)s");
    const struct log_logger_settings root = {.name = "", .level = 20, .handler_count = 1};
    const struct log_settings settings = {
        .handlers = &handler, .handler_count = 1, .loggers = &root, .logger_count = 1};
    start(&settings);
    expect_new(fd, " format: no line has %(nothing): nothing is written for it\n");
    log_stop();
    close(fd);
}

/* oslo.log's filter: `burst` lines, then one that reports the suppression, until the interval is
 * over. */
static void rate(void **state)
{
    (void)state;
    struct log_rate limit;
    const struct log_rate_settings settings = {
        .burst = 2, .interval_s = 10, .except_level = LOG_NUMBER_ERROR};
    const struct {
        uint64_t at_s;
        int level;
        enum log_rate_verdict verdict;
    } asked[] = {
        {100, 20, LOG_RATE_PASS},          {101, 20, LOG_RATE_PASS},
        {102, 20, LOG_RATE_DROP_AND_TELL}, {103, 20, LOG_RATE_DROP},
        {104, 30, LOG_RATE_DROP},          {105, 40, LOG_RATE_PASS},
        {109, 20, LOG_RATE_DROP},          {110, 20, LOG_RATE_PASS},
        {119, 20, LOG_RATE_PASS},          {119, 20, LOG_RATE_DROP_AND_TELL},
        {119, 50, LOG_RATE_PASS},          {140, 20, LOG_RATE_PASS},
    };
    log_rate_init(&limit, &settings, 100 * 1000000);
    for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++)
        if (log_rate_ask(&limit, asked[i].level, asked[i].at_s * 1000000) != asked[i].verdict)
            fail_msg("asked %zu", i);
    pthread_mutex_destroy(&limit.lock);
}

static void rate_in_the_log(void **state)
{
    (void)state;
    int fd = temporary();
    const struct log_handler_settings handler =
        handler_to(fd, 0, "%(levelname)s %(name)s %(message)s");
    const struct log_logger_settings root = {.name = "", .level = 20, .handler_count = 1};
    const struct log_settings settings = {.handlers = &handler,
                                          .handler_count = 1,
                                          .loggers = &root,
                                          .logger_count = 1,
                                          .rate = {2, 3600, LOG_NUMBER_CRITICAL}};
    start(&settings);
    for (int i = 0; i < 5; i++)
        log_write(LOG_LEVEL_INFO, "x", LOG_NO_CONTEXT, "%d", i);
    log_write(LOG_LEVEL_DEBUG, "x", LOG_NO_CONTEXT, "does not count");
    log_write(LOG_LEVEL_CRITICAL, "x", LOG_NO_CONTEXT, "passes");
    expect_new(fd, "INFO x 0\nINFO x 1\nERROR root Logging rate limit: drop after 2 records/3600 "
                   "sec\nCRITICAL x passes\n");
    log_stop();
    close(fd);
}

enum { THREADS = 3, ROUNDS = 40, LINES = 500 /* of each thread in each round */ };

static pthread_barrier_t round_begins;

static void *gather_many(void *argument)
{
    const char *name = argument;
    const struct slice parts[] = {slice_of(name), SLICE_LIT(" end")};
    const struct log_message message = {.parts = parts, .part_count = 2};
    for (int i = 0; i < ROUNDS * LINES; i++) {
        if (i % LINES == 0)
            pthread_barrier_wait(&round_begins);
        log_gather(LOG_LEVEL_INFO, name, LOG_NO_CONTEXT, &message);
    }
    return NULL;
}

static size_t count_lines(int fd, const char *line)
{
    char *text = read_new(fd);
    char *rest = text;
    size_t n = 0;
    for (char *at = strsep(&rest, "\n"); rest != NULL; at = strsep(&rest, "\n")) {
        assert_string_equal(at, line);
        n++;
    }
    free(text);
    return n;
}

/* Every line is written once and whole, with the settings in force when it was logged. In each
 * round the settings change while all threads log. */
static void changes_while_threads_log(void **state)
{
    (void)state;
    int fds[2] = {temporary(), temporary()};
    struct log_handler_settings handler = handler_to(fds[0], 0, "%(message)s");
    struct log_logger_settings root = {.name = "", .level = 20, .handler_count = 1};
    const struct log_settings settings = {
        .handlers = &handler, .handler_count = 1, .loggers = &root, .logger_count = 1};
    pthread_t threads[THREADS];
    static char name[] = "x";
    start(&settings);
    pthread_barrier_init(&round_begins, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, gather_many, name), 0);
    for (int i = 0; i < ROUNDS; i++) {
        pthread_barrier_wait(&round_begins);
        handler.fd = fds[i % 2];
        start(&settings);
        log_set_debug(i % 3 == 0);
        log_look_after();
        log_reopen();
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    log_stop();
    pthread_barrier_destroy(&round_begins);
    size_t lines = count_lines(fds[0], "x end") + count_lines(fds[1], "x end");
    assert_int_equal(lines, THREADS * ROUNDS * LINES);
    close(fds[0]);
    close(fds[1]);
}

enum { WRITERS = 8, WRITES_MAX = 100000 };

static atomic_bool changes_are_made;
static atomic_uint writes[WRITERS];

static void *write_on(void *cls)
{
    atomic_uint *count = cls;
    while (!changes_are_made && *count < WRITES_MAX) {
        log_write(LOG_LEVEL_INFO, "x", LOG_NO_CONTEXT, "more");
        ++*count;
    }
    return NULL;
}

static unsigned count_writers(void)
{
    unsigned count = 0;
    for (size_t i = 0; i < WRITERS; i++)
        count += writes[i] > 0;
    return count;
}

/* SIGHUP disables the debug lines that keep all threads writing: the changes do not wait until the
 * threads have nothing more to write. */
static void changes_get_their_turn(void **state)
{
    (void)state;
    int fd = open("/dev/null", O_WRONLY);
    pthread_t threads[WRITERS];
    log_start(fd, false);
    for (size_t i = 0; i < WRITERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, write_on, &writes[i]), 0);
    AWAIT(count_writers() == WRITERS);
    for (int i = 0; i < 10; i++)
        log_set_debug(i % 2 == 0);
    changes_are_made = true;
    for (size_t i = 0; i < WRITERS; i++)
        pthread_join(threads[i], NULL);
    log_stop();
    close(fd);
    for (size_t i = 0; i < WRITERS; i++)
        assert_in_range(writes[i], 1, WRITES_MAX - 1);
}

/* Reported once no more lines are lost, and not repeated immediately. */
static void lost_lines_are_reported(void **state)
{
    (void)state;
    int fd = temporary();
    log_start(fd, false);
    log_look_after();
    expect_new(fd, "");
    log_count_lost(1234);
    log_look_after(); /* lines may still be lost */
    log_look_after();
    char *text = read_new(fd);
    assert_non_null(strstr(text, " WARNING berth.log [-] 1234 bytes of the log could not be "
                                 "written and are lost\n"));
    free(text);
    log_count_lost(1);
    log_look_after();
    log_look_after();
    expect_new(fd, "");
    log_stop();
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels_of_loggers),
        cmocka_unit_test(our_own_loggers),
        cmocka_unit_test(handlers_of_loggers),
        cmocka_unit_test(settings_that_fail),
        cmocka_unit_test(messages_without_arguments),

        cmocka_unit_test(unknown_keys),
        cmocka_unit_test(rate),
        cmocka_unit_test(rate_in_the_log),
        cmocka_unit_test(changes_while_threads_log),
        cmocka_unit_test(changes_get_their_turn),
        cmocka_unit_test(lost_lines_are_reported),
        cmocka_unit_test(lines_without_a_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
