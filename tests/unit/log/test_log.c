/* The form of lines, collection from many threads, and outputs that fail. */
#include "log/log.h"
#include "log/settings.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <regex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "await.h"
#include "base/buf.h"
#include "base/clock.h"
#include "fake_clock.h"
#include "log/internal.h"
#include "unit.h"

static const struct log_context CONTEXT = {.request_id = SLICE_LIT("req-1")};

static void gather(const char *logger, struct slice text)
{
    const struct log_message message = {.parts = &text, .part_count = 1};
    log_gather(LOG_LEVEL_INFO, logger, &CONTEXT, &message);
}

/* The content of the temporary file, NUL-terminated; the caller frees it. */
static char *read_back(int fd)
{
    off_t size = lseek(fd, 0, SEEK_END);
    char *text = calloc(1, (size_t)size + 1);
    assert_non_null(text);
    assert_int_equal(pread(fd, text, (size_t)size, 0), size);
    return text;
}

static int temporary(void)
{
    char path[] = "/tmp/berth-test-log-XXXXXX";
    int fd = mkostemp(path, O_APPEND);
    assert_true(fd >= 0);
    assert_int_equal(unlink(path), 0);
    return fd;
}

static bool matches(const char *text, const char *pattern)
{
    regex_t regex;
    assert_int_equal(regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB), 0);
    bool found = regexec(&regex, text, 0, NULL, 0) == 0;
    regfree(&regex);
    return found;
}

static void form_of_a_line(void **state)
{
    (void)state;
    int fd = temporary();
    char pattern[256];
    log_start(fd, false);
    log_write(LOG_LEVEL_INFO, "berth.main", LOG_NO_CONTEXT, "a %d", 7);
    log_write(LOG_LEVEL_DEBUG, "berth.main", LOG_NO_CONTEXT, "not written");
    log_set_debug(true);
    assert_true(log_is_enabled(LOG_LEVEL_DEBUG, "x"));
    log_write(LOG_LEVEL_ERROR, "x", &CONTEXT, "b\nc\x7f\t");
    log_write(LOG_LEVEL_WARNING, "x", &CONTEXT, "%s", "");
    log_write(LOG_LEVEL_ERROR, "x", &CONTEXT, "d");
    log_write(LOG_LEVEL_ERROR, "x", &CONTEXT, "long enough \xc3\xa9 \xff\xc3 \xed\xa0\x80|");
    char *text = read_back(fd); /* unbuffered: there before log_stop */
    log_stop();
    snprintf(pattern, sizeof(pattern),
             "^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3} %d INFO "
             "berth.main \\[-\\] a 7\n",
             getpid());
    assert_true(matches(text, pattern));
    assert_non_null(strstr(text, " ERROR x [None req-1 - - - - - -] b\\x0ac\\x7f\t\n"));
    assert_non_null(strstr(text, " WARNING x [None req-1 - - - - - -] \n"));
    assert_non_null(strstr(text, " ERROR x [None req-1 - - - - - -] d\n"));
    assert_non_null(strstr(text, "] long enough \xc3\xa9 \\xff\\xc3 \\xed\\xa0\\x80|\n"));
    assert_null(strstr(text, "not written"));
    free(text);
    close(fd);
}

static void *write_one(void *argument)
{
    log_write(LOG_LEVEL_INFO, "x", LOG_NO_CONTEXT, "%s", (const char *)argument);
    return NULL;
}

static void the_time_is_local(void **state)
{
    (void)state;
    int fd = temporary();
    char *old = getenv("TZ") == NULL ? NULL : strdup(getenv("TZ"));
    setenv("TZ", "XXX-5:30", 1);
    log_start(fd, false);
    char wanted[CLOCK_ISO_BYTES];
    clock_format_iso(clock_wall_us() + (int64_t)19800 * 1000000, wanted);
    pthread_t thread; /* this one reuses the text of the second */
    char word[] = "t";
    assert_int_equal(pthread_create(&thread, NULL, write_one, word), 0);
    pthread_join(thread, NULL);
    log_stop();
    char *text = read_back(fd);
    assert_memory_equal(text, wanted, strlen("2026-11-20 20:44"));
    free(text);
    close(fd);
    if (old != NULL)
        setenv("TZ", old, 1);
    else
        unsetenv("TZ");
    free(old);
}

enum { THREADS = 4, LINES = 5000 };

static void *gather_many(void *argument)
{
    const int *number = argument;
    char text[64];
    for (int i = 0; i < LINES; i++) {
        int len = snprintf(text, sizeof(text), "thread %d line %d end", *number, i);
        gather("placement.requestlog", (struct slice){text, (size_t)len});
    }
    return NULL;
}

/* Every line of every thread is written once, whole, in its thread's order. */
static void gathered_lines_are_complete(void **state)
{
    (void)state;
    int fd = temporary();
    int numbers[THREADS];
    int next[THREADS] = {0};
    pthread_t threads[THREADS];
    log_start(fd, false);
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        assert_int_equal(pthread_create(&threads[i], NULL, gather_many, &numbers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    log_stop();
    char *text = read_back(fd);
    char *rest = text;
    for (char *line = strsep(&rest, "\n"); rest != NULL; line = strsep(&rest, "\n")) {
        int thread = -1;
        int number = -1;
        int used = 0;
        char *at = strstr(line, "] thread ");
        assert_non_null(at);
        assert_int_equal(sscanf(at, "] thread %d line %d end%n", &thread, &number, &used), 2);
        assert_int_equal(at[used], '\0');
        assert_int_equal(number, next[thread]++);
    }
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(next[i], LINES);
    free(text);
    close(fd);
}

static void gathered_lines_come_by_themselves(void **state)
{
    (void)state;
    int fd = temporary();
    log_start(fd, false);
    gather("r", SLICE_LIT("zero"));
    AWAIT(lseek(fd, 0, SEEK_END) > 0);
    assert_int_equal(ftruncate(fd, 0), 0);
    pthread_mutex_lock(&log_state.lock); /* which the flusher needs */
    gather("r", SLICE_LIT("first"));
    assert_int_equal(lseek(fd, 0, SEEK_END), 0);
    pthread_mutex_unlock(&log_state.lock);
    AWAIT(lseek(fd, 0, SEEK_END) > 0);
    char *text = read_back(fd);
    assert_non_null(strstr(text, " INFO r [None req-1 - - - - - -] first\n"));
    free(text);
    log_stop();
    gather("r", SLICE_LIT("after the end"));
    text = read_back(fd);
    assert_non_null(strstr(text, "after the end\n"));
    free(text);
    close(fd);
}

static void long_lines(void **state)
{
    (void)state;
    int fd = temporary();
    size_t len = 400000;
    char *text = malloc(len);
    assert_non_null(text);
    memset(text, 'x', len);
    log_start(fd, false);
    gather("r", (struct slice){text, len});
    gather("r", SLICE_LIT("short"));
    log_stop();
    char *written = read_back(fd);
    assert_int_equal(strcspn(strchr(written, ']') + 2, "\n"), len);
    assert_non_null(strstr(written, "] short\n"));
    free(written);
    free(text);
    close(fd);
}

static void closed_pipe(void **state)
{
    (void)state;
    int ends[2];
    uint64_t lost = log_lost_bytes();
    assert_int_equal(pipe(ends), 0);
    close(ends[0]);
    log_start(ends[1], false);
    log_write(LOG_LEVEL_INFO, "x", LOG_NO_CONTEXT, "nobody reads");
    gather("r", SLICE_LIT("nobody reads"));
    log_stop();
    assert_true(log_lost_bytes() > lost);
    close(ends[1]);
}

/* A disk that fills up in the middle of a line: exactly the part that did not fit is lost. */
static void full_disk(void **state)
{
    (void)state;
    struct rlimit before;
    int fd = temporary();
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, SIG_DFL);
    log_start(fd, false);
    log_write(LOG_LEVEL_INFO, "x", LOG_NO_CONTEXT, "to measure");
    size_t line_len = (size_t)lseek(fd, 0, SEEK_END);
    uint64_t lost = log_lost_bytes();
    struct rlimit small = {.rlim_cur = line_len + 10, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    log_write(LOG_LEVEL_INFO, "x", LOG_NO_CONTEXT, "to measure");
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(log_lost_bytes() - lost, line_len - 10);
    log_write(LOG_LEVEL_INFO, "x", LOG_NO_CONTEXT, "to measure");
    log_stop();
    char *text = read_back(fd);
    assert_int_equal(strlen(text), line_len + 10 + 1 + line_len); /* the cut line is terminated */
    assert_int_equal(text[line_len + 10], '\n');
    free(text);
    close(fd);
}

enum { READER_MS = 100, PATIENCE_US = 200000 };

/* A slow reader, such as a log shipper: a page each READER_MS of the test's clock. */
static int reader_end = -1; /* of the pipe; -1: nobody reads */
static uint64_t reader_next_us;

static void pass_ms(unsigned ms)
{
    char page[4096];
    fake_clock_add_us(ms * 1000);
    for (; reader_end >= 0 && reader_next_us <= clock_monotonic_us();
         reader_next_us += READER_MS * 1000)
        assert_true(read(reader_end, page, sizeof(page)) > 0);
}

/* The log waits for an output with poll: here that takes no time, but puts the clock forward. The
 * linker sends all calls here. */
int __real_poll(struct pollfd *fds, nfds_t count, int timeout_ms);
int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout_ms);
int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout_ms)
{
    int ready;
    while ((ready = __real_poll(fds, count, 0)) == 0 && timeout_ms-- > 0)
        pass_ms(1);
    return ready;
}

/* A reader that stops costs one short wait, and later finds only whole lines. */
static void full_pipe(void **state)
{
    (void)state;
    int ends[2];
    char line[1000];
    uint64_t lost = log_lost_bytes();
    assert_int_equal(pipe(ends), 0);
    memset(line, 'y', sizeof(line));
    fake_clock_stop();
    log_start(ends[1], false);
    uint64_t began_us = clock_monotonic_us();
    for (int i = 0; i < 200; i++)
        log_write(LOG_LEVEL_INFO, "x", LOG_NO_CONTEXT, "%.*s", (int)sizeof(line), line);
    assert_int_equal(clock_monotonic_us() - began_us, PATIENCE_US);
    fake_clock_run();
    assert_true(log_lost_bytes() > lost);
    struct buf got = {0};
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    ssize_t n;
    while ((n = read(ends[0], buf_reserve(&got, 4096), 4096)) > 0)
        got.len += (size_t)n;
    assert_true(got.len > 0 && got.data[got.len - 1] == '\n');
    log_write(LOG_LEVEL_INFO, "x", LOG_NO_CONTEXT, "again");
    n = read(ends[0], buf_reserve(&got, 4096), 4096);
    assert_true(n > 8 && memcmp(got.data + got.len + n - 8, "] again\n", 8) == 0);
    buf_free(&got);
    log_stop();
    close(ends[0]);
    close(ends[1]);
}

/* A slow reader does not delay the writers either: after the first wait, at most a tenth of the
 * time is spent waiting. */
static void slow_pipe(void **state)
{
    enum { LINE_COUNT = 400, LINE_MS = 10 };
    (void)state;
    int ends[2];
    char line[1000];
    memset(line, 'y', sizeof(line));
    assert_int_equal(pipe(ends), 0);
    fake_clock_stop();
    reader_end = ends[0];
    reader_next_us = clock_monotonic_us() + READER_MS * 1000;
    log_start(ends[1], false);
    uint64_t waited_us = 0;
    for (int i = 0; i < LINE_COUNT; i++) {
        uint64_t began_us = clock_monotonic_us();
        log_write(LOG_LEVEL_INFO, "x", LOG_NO_CONTEXT, "%.*s", (int)sizeof(line), line);
        waited_us += clock_monotonic_us() - began_us;
        pass_ms(LINE_MS);
    }
    fake_clock_run();
    reader_end = -1;
    log_stop();
    close(ends[1]);
    close(ends[0]);
    assert_in_range(waited_us, PATIENCE_US, PATIENCE_US + LINE_COUNT * LINE_MS * 1000 / 10);
}

/* exit() without log_stop writes the collected lines. */
static void written_at_exit(void **state)
{
    (void)state;
    int fd = temporary();
    pid_t child = fork();
    if (child == 0) {
        log_start(fd, false);
        gather("r", SLICE_LIT("last words"));
        exit(0);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    char *text = read_back(fd);
    assert_non_null(strstr(text, "] last words\n"));
    free(text);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(written_at_exit),
        cmocka_unit_test(form_of_a_line),
        cmocka_unit_test(the_time_is_local),
        cmocka_unit_test(gathered_lines_are_complete),
        cmocka_unit_test(gathered_lines_come_by_themselves),
        cmocka_unit_test(long_lines),
        cmocka_unit_test(full_disk),
        cmocka_unit_test(closed_pipe),
        cmocka_unit_test(full_pipe),
        cmocka_unit_test(slow_pipe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
