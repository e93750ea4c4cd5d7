/* Output to syslog and to the journal: frames, a bounded queue, daemons that hang or are
 * unavailable. */
#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "await.h"
#include "base/clock.h"
#include "fake_clock.h"
#include "log/internal.h"
#include "unit.h"

/* A sender that keeps its input, and can be blocked. */
struct kept {
    pthread_mutex_t lock;
    struct buf text;
    sem_t *gate; /* NULL: open */
    bool fails;
};

static bool keep(void *sender, const struct slice *fields, size_t count)
{
    struct kept *kept = sender;
    if (kept->gate != NULL)
        sem_wait(kept->gate);
    pthread_mutex_lock(&kept->lock);
    for (size_t i = 0; i < count; i++) {
        buf_append_slice(&kept->text, fields[i]);
        buf_append_char(&kept->text, i + 1 == count ? '\n' : '|');
    }
    pthread_mutex_unlock(&kept->lock);
    return !kept->fails;
}

static void append_frame(struct buf *out, const char *first, const char *second)
{
    size_t frame = log_frame_begin(out);
    size_t field = log_field_begin(out);
    buf_append_slice(out, slice_of(first));
    log_field_end(out, field);
    if (second != NULL) {
        field = log_field_begin(out);
        buf_append_slice(out, slice_of(second));
        log_field_end(out, field);
    }
    log_frame_end(out, frame);
}

static void frames_pass_whole(void **state)
{
    (void)state;
    struct kept kept = {.lock = PTHREAD_MUTEX_INITIALIZER};
    struct buf frames = {0};
    struct log_queue *queue = log_queue_start(keep, NULL, &kept);
    append_frame(&frames, "a", "b");
    append_frame(&frames, "", NULL);
    append_frame(&frames, "c", NULL);
    log_queue_push(queue, buf_slice(&frames));
    log_queue_push(queue, (struct slice){0});
    log_queue_stop(queue);
    buf_append_char(&kept.text, '\0');
    assert_string_equal(kept.text.data, "a|b\n\nc\n");
    buf_free(&kept.text);
    buf_free(&frames);
}

static void failures_are_counted(void **state)
{
    (void)state;
    struct kept kept = {.lock = PTHREAD_MUTEX_INITIALIZER, .fails = true};
    struct buf frames = {0};
    uint64_t before = log_lost_bytes();
    struct log_queue *queue = log_queue_start(keep, NULL, &kept);
    append_frame(&frames, "12345", NULL);
    log_queue_push(queue, buf_slice(&frames));
    log_queue_stop(queue);
    assert_true(log_lost_bytes() - before >= 5);
    buf_free(&kept.text);
    buf_free(&frames);
}

/* Of this process. */
static unsigned count_threads(void)
{
    unsigned count = 0;
    DIR *tasks = opendir("/proc/self/task");
    assert_non_null(tasks);
    for (const struct dirent *entry; (entry = readdir(tasks)) != NULL;)
        count += entry->d_name[0] != '.';
    closedir(tasks);
    return count;
}

/* A sender that hangs: the queue takes as much as it may hold, no thread waits, and the stop is
 * bounded. */
static void a_sender_that_hangs(void **state)
{
    (void)state;
    static sem_t gate;
    static struct kept kept = {.lock = PTHREAD_MUTEX_INITIALIZER, .gate = &gate};
    struct buf frames = {0};
    char text[1000];
    sem_init(&gate, 0, 0);
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    append_frame(&frames, text, NULL);
    uint64_t before = log_lost_bytes();
    unsigned threads = count_threads();
    struct log_queue *queue = log_queue_start(keep, NULL, &kept);
    for (size_t i = 0; i < 3 * LOG_QUEUE_BYTES / sizeof(text); i++) /* one more is being sent */
        log_queue_push(queue, buf_slice(&frames));
    assert_true(log_lost_bytes() - before > LOG_QUEUE_BYTES / 2);
    fake_clock_stop();
    fake_clock_rush(true);
    uint64_t began_us = clock_monotonic_us();
    log_queue_stop(queue);
    assert_int_equal(clock_monotonic_us() - began_us, LOG_QUEUE_STOP_MS * 1000);
    fake_clock_rush(false);
    fake_clock_run();
    for (size_t i = 0; i < 3 * LOG_QUEUE_BYTES / sizeof(text); i++)
        sem_post(&gate); /* the abandoned thread ends, before its queue leaks */
    AWAIT(count_threads() == threads);
    buf_free(&frames);
}

/* Lines as they arrive at a daemon. */

static char directory[64];
static char path[128];

static int listen_on(int type)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
    memcpy(address.sun_path, path, strlen(path) + 1);
    (void)unlink(path);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    if (type == SOCK_STREAM)
        assert_int_equal(listen(fd, 4), 0);
    return fd;
}

static size_t receive(int fd, char *text, size_t size)
{
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    assert_int_equal(poll(&wait, 1, AWAIT_SECONDS * 1000), 1);
    ssize_t len = recv(fd, text, size - 1, 0);
    assert_true(len >= 0);
    text[len] = '\0';
    return (size_t)len;
}

static void start(const struct log_handler_settings *handler)
{
    struct err err = {.arena = arena_create()};
    const struct log_logger_settings root = {.name = "", .level = 10, .handler_count = 1};
    const struct log_settings settings = {
        .handlers = handler, .handler_count = 1, .loggers = &root, .logger_count = 1};
    if (!log_start_with(&settings, &err))
        fail_msg("%.*s", SLICE_ARG(err.message));
    arena_destroy(err.arena);
}

static struct log_handler_settings syslog_handler(enum log_destination to)
{
    struct log_handler_settings handler = {
        .to = to, .path = path, .facility = 19, .identity = "berthd", .format = log_format_default};
    handler.format.form = LOG_FORM_PLAIN;
    handler.format.plain = "%(levelname)s %(message)s";
    return handler;
}

/* <facility * 8 + priority>Nov  1 20:44:08 identity: line, as glibc's syslog writes it. */
static void expect_syslog(const char *text, const char *priority, const char *line)
{
    char expected[128];
    time_t now = time(NULL);
    struct tm local;
    localtime_r(&now, &local);
    assert_memory_equal(text, priority, strlen(priority));
    text += strlen(priority);
    strftime(expected, sizeof(expected), "%b %e ", &local);
    assert_memory_equal(text, expected, strlen(expected));
    text += strlen("Nov  1 20:44:08 ");
    assert_string_equal(text, line);
}

static void syslog_datagrams(void **state)
{
    (void)state;
    char text[16384];
    int fd = listen_on(SOCK_DGRAM);
    const struct log_handler_settings handler = syslog_handler(LOG_TO_SYSLOG);
    start(&handler);
    log_write(LOG_LEVEL_INFO, "x", LOG_NO_CONTEXT, "hello");
    receive(fd, text, sizeof(text));
    expect_syslog(text, "<158>", "berthd: INFO hello");
    log_write(LOG_LEVEL_CRITICAL, "x", LOG_NO_CONTEXT, "a\nb");
    receive(fd, text, sizeof(text));
    expect_syslog(text, "<154>", "berthd: CRITICAL a\\x0ab");
    char *large = calloc(1, 100001);
    assert_non_null(large);
    memset(large, 'y', 100000);
    log_write(LOG_LEVEL_DEBUG, "x", LOG_NO_CONTEXT, "%s", large);
    size_t len = receive(fd, text, sizeof(text));
    assert_int_equal(len, strlen("<159>Nov  1 20:44:08 berthd: ") + LOG_DATAGRAM_TEXT_MAX);
    free(large);
    close(fd);
    /* Unavailable, then available again: only what is logged meanwhile is lost. */
    uint64_t lost = log_lost_bytes();
    assert_int_equal(unlink(path), 0);
    log_write(LOG_LEVEL_INFO, "x", LOG_NO_CONTEXT, "nobody is there");
    AWAIT(log_lost_bytes() > lost);
    fd = listen_on(SOCK_DGRAM);
    log_write(LOG_LEVEL_ERROR, "x", LOG_NO_CONTEXT, "back");
    receive(fd, text, sizeof(text));
    expect_syslog(text, "<155>", "berthd: ERROR back");
    log_stop();
    close(fd);
}

/* As Python's SysLogHandler: without time, with a NUL byte at the end; the cut is at a character.
 */
static void syslogd_datagrams(void **state)
{
    (void)state;
    char text[16384];
    int fd = listen_on(SOCK_DGRAM);
    const struct log_handler_settings handler = syslog_handler(LOG_TO_SYSLOGD);
    start(&handler);
    log_write(LOG_LEVEL_WARNING, "x", LOG_NO_CONTEXT, "hello");
    assert_int_equal(receive(fd, text, sizeof(text)), strlen("<156>WARNING hello") + 1);
    assert_string_equal(text, "<156>WARNING hello");
    struct buf large = {0};
    for (int i = 0; i < 5000; i++)
        buf_append_lit(&large, "\xe2\x82\xac");
    log_write(LOG_LEVEL_INFO, "x", LOG_NO_CONTEXT, "%.*s", SLICE_ARG(buf_slice(&large)));
    size_t len = receive(fd, text, sizeof(text));
    assert_true(len <= LOG_DATAGRAM_TEXT_MAX + 6 && len > LOG_DATAGRAM_TEXT_MAX);
    assert_int_equal((unsigned char)text[len - 2], 0xac);
    assert_int_equal(text[len - 1], '\0');
    buf_free(&large);
    log_stop();
    close(fd);
}

/* A daemon that does not accept datagrams: lines end with a NUL byte. */
static void syslog_stream(void **state)
{
    (void)state;
    char text[1024];
    int fd = listen_on(SOCK_STREAM);
    const struct log_handler_settings handler = syslog_handler(LOG_TO_SYSLOG);
    start(&handler);
    log_write(LOG_LEVEL_INFO, "x", LOG_NO_CONTEXT, "one");
    log_write(LOG_LEVEL_INFO, "x", LOG_NO_CONTEXT, "two");
    log_stop();
    int peer = accept(fd, NULL, NULL);
    assert_true(peer >= 0);
    size_t len = 0;
    for (ssize_t got = 1; got > 0; len += (size_t)got) {
        got = recv(peer, text + len, sizeof(text) - 1 - len, 0);
        assert_true(got >= 0);
    }
    text[len] = '\0';
    expect_syslog(text, "<158>", "berthd: INFO one");
    expect_syslog(text + strlen(text) + 1, "<158>", "berthd: INFO two");
    close(peer);
    close(fd);
}

static void syslog_over_udp(void **state)
{
    (void)state;
    char text[1024];
    char port[16];
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(address);
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &len), 0);
    snprintf(port, sizeof(port), "%d", ntohs(address.sin_port));
    struct log_handler_settings handler = syslog_handler(LOG_TO_SYSLOGD);
    handler.path = NULL;
    handler.host = "127.0.0.1";
    handler.port = port;
    start(&handler);
    log_write(LOG_LEVEL_INFO, "x", LOG_NO_CONTEXT, "over UDP");
    receive(fd, text, sizeof(text));
    assert_string_equal(text, "<158>INFO over UDP");
    log_stop();
    close(fd);
}

/* A daemon that does not read: no logging thread waits. */
static void a_daemon_that_hangs(void **state)
{
    (void)state;
    int fd = listen_on(SOCK_DGRAM);
    const struct log_handler_settings handler = syslog_handler(LOG_TO_SYSLOG);
    uint64_t lost = log_lost_bytes();
    unsigned threads = count_threads();
    start(&handler);
    for (int i = 0; i < 10000; i++)
        log_write(LOG_LEVEL_INFO, "x", LOG_NO_CONTEXT, "%d", i);
    fake_clock_stop();
    fake_clock_rush(true);
    uint64_t began_us = clock_monotonic_us();
    log_stop();
    assert_int_equal(clock_monotonic_us() - began_us, LOG_QUEUE_STOP_MS * 1000);
    fake_clock_rush(false);
    fake_clock_run();
    assert_true(log_lost_bytes() > lost);
    close(fd);
    AWAIT(count_threads() == threads); /* its abandoned thread finds the socket closed and ends */
}

/* The two below: a daemon that does not read for five seconds. */
static atomic_bool poll_ends_at_once;

int poll(struct pollfd *waits, nfds_t count, int timeout_ms)
{
    if (poll_ends_at_once)
        return 0;
    const struct timespec timeout = {timeout_ms / 1000, timeout_ms % 1000 * 1000000L};
    return ppoll(waits, count, timeout_ms < 0 ? NULL : &timeout, NULL);
}

static struct slice a_line(struct buf *line, size_t bytes)
{
    line->len = 0;
    while (line->len < bytes)
        buf_append_char(line, 'z');
    return buf_slice(line);
}

/* Its lines are lost, and those after it reads again arrive; so does one after a line that is too
 * long for the socket. */
static void a_datagram_that_does_not_pass(void **state)
{
    (void)state;
    struct err err = {.arena = arena_create()};
    struct buf line = {0};
    char text[1024];
    int sent = 0;
    int fd = listen_on(SOCK_DGRAM);
    const struct log_handler_settings handler = syslog_handler(LOG_TO_SYSLOG);
    void *syslog = log_syslog_open(&handler, &err);
    assert_non_null(syslog);
    struct slice field = a_line(&line, 100);
    poll_ends_at_once = true;
    while (log_syslog_send(syslog, &field, 1))
        assert_in_range(++sent, 1, 100000);
    assert_true(sent > 0);
    poll_ends_at_once = false;
    for (int i = 0; i < sent; i++)
        assert_int_equal(receive(fd, text, sizeof(text)), 100);
    assert_true(log_syslog_send(syslog, &field, 1));
    assert_int_equal(receive(fd, text, sizeof(text)), 100);
    field = a_line(&line, 64 << 20);
    assert_false(log_syslog_send(syslog, &field, 1));
    field = a_line(&line, 50);
    assert_true(log_syslog_send(syslog, &field, 1));
    assert_int_equal(receive(fd, text, sizeof(text)), 50);
    log_syslog_end(syslog);
    buf_free(&line);
    arena_destroy(err.arena);
    close(fd);
}

/* Part of a line has been sent: the next one goes over a new connection. */
static void a_stream_that_does_not_pass(void **state)
{
    (void)state;
    struct err err = {.arena = arena_create()};
    struct buf line = {0};
    char text[1024];
    int fd = listen_on(SOCK_STREAM);
    const struct log_handler_settings handler = syslog_handler(LOG_TO_SYSLOG);
    void *syslog = log_syslog_open(&handler, &err);
    assert_non_null(syslog);
    struct slice field = a_line(&line, 64 << 20);
    poll_ends_at_once = true;
    assert_false(log_syslog_send(syslog, &field, 1));
    poll_ends_at_once = false;
    field = SLICE_LIT("short");
    assert_true(log_syslog_send(syslog, &field, 1));
    int first = accept(fd, NULL, NULL);
    int second = accept(fd, NULL, NULL);
    assert_true(first >= 0 && second >= 0);
    size_t len = receive(second, text, sizeof(text));
    while (len < 6)
        len += receive(second, text + len, sizeof(text) - len);
    assert_int_equal(len, 6);
    assert_string_equal(text, "short");
    log_syslog_end(syslog);
    buf_free(&line);
    arena_destroy(err.arena);
    close(first);
    close(second);
    close(fd);
}

/* After its end an output drops lines and counts them. */
static void lines_after_the_end(void **state)
{
    (void)state;
    struct err err = {.arena = arena_create()};
    const struct log_handler_settings handler = syslog_handler(LOG_TO_SYSLOG);
    struct log_output *output = log_output_open(&handler, &err);
    assert_non_null(output);
    log_output_stop(output);
    uint64_t lost = log_lost_bytes();
    log_output_begin(output);
    log_output_write(output, SLICE_LIT("12345"));
    log_output_end(output);
    assert_int_equal(log_lost_bytes(), lost + 5);
    log_output_close(output);
    arena_destroy(err.arena);
}

static void bad_addresses(void **state)
{
    (void)state;
    struct err err = {.arena = arena_create()};
    char name[200];
    memset(name, 'x', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    struct log_handler_settings handler = syslog_handler(LOG_TO_SYSLOGD);
    handler.path = name;
    assert_null(log_syslog_open(&handler, &err));
    assert_memory_equal(err.message.data, "syslog: the socket's path is too long: xxx", 42);
    err.status = 0;
    handler.path = NULL;
    handler.host = "host.invalid";
    handler.port = "not a port";
    assert_null(log_syslog_open(&handler, &err));
    assert_memory_equal(err.message.data, "syslog: host.invalid:not a port: ", 33);
    err.status = 0;
    const struct log_settings settings = {.handlers = &handler, .handler_count = 1};
    assert_false(log_start_with(&settings, &err));
    assert_memory_equal(err.message.data, "syslog: host.invalid:not a port: ", 33);
    arena_destroy(err.arena);
}

/* The fields of oslo.log's handler. */
static void journal_fields(void **state)
{
    (void)state;
    static const struct log_place PLACE = {"../src/a.c", "f", 12};
    struct arena *arena = arena_create();
    struct err err = {.arena = arena};
    struct log_unknown_key *unknown = NULL;
    struct log_format_settings settings = log_format_default;
    settings.context = settings.without = "<%(message)s>";
    struct log_scratch scratch = {.thread_name = "worker"};
    struct log_context context = {.request_id = SLICE_LIT("req-1"),
                                  .global_request_id = SLICE_LIT("req-2"),
                                  .user_id = SLICE_LIT("u"),
                                  .user_name = SLICE_LIT("un"),
                                  .project_id = SLICE_LIT("p"),
                                  .project_name = SLICE_LIT("pn")};
    struct slice text = SLICE_LIT("text");
    const struct log_message message = {.parts = &text, .part_count = 1};
    struct log_record record = {.level = LOG_LEVEL_ERROR,
                                .logger = SLICE_LIT("a.b"),
                                .place = &PLACE,
                                .context = &context,
                                .message = &message};
    const struct log_format *format =
        log_format_compile(&settings, false, 0, arena, &unknown, &err);
    assert_non_null(format);
    struct buf frames = {0};
    log_journal_render(19, SLICE_LIT("berthd"), format, &record, &scratch, &frames);
    record.context = NULL;
    char *large = malloc(100000);
    assert_non_null(large);
    memset(large, 'z', 100000);
    text = (struct slice){large, 100000};
    log_journal_render(1, SLICE_LIT("berthd"), format, &record, &scratch, &frames);
    struct kept kept = {.lock = PTHREAD_MUTEX_INITIALIZER};
    struct log_queue *queue = log_queue_start(keep, NULL, &kept);
    log_queue_push(queue, buf_slice(&frames));
    log_queue_stop(queue);
    buf_append_char(&kept.text, '\0');
    char *second = strchr(kept.text.data, '\n');
    assert_non_null(second);
    *second++ = '\0';
    assert_string_equal(kept.text.data,
                        "MESSAGE=<text>|PRIORITY=3|SYSLOG_FACILITY=19|SYSLOG_IDENTIFIER=berthd|"
                        "LOGGER_NAME=a.b|LOGGER_LEVEL=ERROR|CODE_FILE=src/a.c|CODE_LINE=12|"
                        "CODE_FUNC=f|THREAD_NAME=worker|PROCESS_NAME=MainProcess|REQUEST_ID=req-1|"
                        "GLOBAL_REQUEST_ID=req-2|USER_ID=u|USER_NAME=un|PROJECT_ID=p|"
                        "PROJECT_NAME=pn");
    assert_int_equal(strcspn(second, "|"), LOG_JOURNAL_TEXT_MAX);
    assert_null(strstr(second, "REQUEST_ID"));
    free(large);
    buf_free(&kept.text);
    buf_free(&frames);
    arena_destroy(arena);
}

static int setup(void **state)
{
    (void)state;
    snprintf(directory, sizeof(directory), "/tmp/berth-test-queue-XXXXXX");
    if (mkdtemp(directory) == NULL)
        return 1;
    snprintf(path, sizeof(path), "%s/log", directory);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    (void)unlink(path);
    return rmdir(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_pass_whole),
        cmocka_unit_test(failures_are_counted),
        cmocka_unit_test(a_sender_that_hangs),
        cmocka_unit_test(syslog_datagrams),
        cmocka_unit_test(syslogd_datagrams),
        cmocka_unit_test(syslog_stream),
        cmocka_unit_test(syslog_over_udp),
        cmocka_unit_test(a_daemon_that_hangs),
        cmocka_unit_test(a_datagram_that_does_not_pass),
        cmocka_unit_test(a_stream_that_does_not_pass),
        cmocka_unit_test(lines_after_the_end),
        cmocka_unit_test(bad_addresses),
        cmocka_unit_test(journal_fields),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
