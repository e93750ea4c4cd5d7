/* Lines to the journal, from the record to the bytes on its socket: the fields in the native
 * protocol, fields that are too large for a datagram, priorities, and a journal that is missing.
 *
 * access() and sendmsg() here take the place of the C library's, for libsystemd, too. */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "log/internal.h"
#include "unit.h"

#define JOURNAL_SOCKET "/run/systemd/journal/socket"

/* The journal, as far as it is played here. */
static struct {
    bool is_missing;
    int error;         /* of each send; 0: none */
    size_t max_bytes;  /* of a datagram */
    struct buf entry;  /* the last one */
    bool came_as_file; /* it did not fit a datagram */
} journal;

int access(const char *path, int mode)
{
    if (strcmp(path, JOURNAL_SOCKET) != 0)
        return (int)syscall(SYS_faccessat, AT_FDCWD, path, mode);
    errno = ENOENT;
    return journal.is_missing ? -1 : 0;
}

static void take_file(const struct msghdr *message)
{
    int fd;
    char bytes[4096];
    ssize_t n;
    memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(message)), sizeof(fd));
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    while ((n = read(fd, bytes, sizeof(bytes))) > 0)
        buf_append(&journal.entry, bytes, (size_t)n);
    journal.came_as_file = true;
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    size_t bytes = 0;
    (void)fd;
    (void)flags;
    for (size_t i = 0; i < message->msg_iovlen; i++)
        bytes += message->msg_iov[i].iov_len;
    errno = journal.error != 0 ? journal.error : EMSGSIZE;
    if (journal.error != 0 || bytes > journal.max_bytes)
        return -1;
    journal.entry.len = 0;
    journal.came_as_file = false;
    if (message->msg_controllen > 0)
        take_file(message);
    for (size_t i = 0; i < message->msg_iovlen; i++)
        buf_append(&journal.entry, message->msg_iov[i].iov_base, message->msg_iov[i].iov_len);
    return (ssize_t)bytes;
}

/* The next field of an entry: "NAME=value\n", or "NAME\n", eight bytes of length, "value\n". */
static struct slice take_field(struct slice *entry, struct slice *value)
{
    const char *end = memchr(entry->data, '\n', entry->len);
    assert_non_null(end);
    struct slice line = {entry->data, (size_t)(end - entry->data)};
    const char *sign = memchr(line.data, '=', line.len);
    *entry = slice_skip(*entry, line.len + 1);
    if (sign != NULL) {
        *value = slice_skip(line, (size_t)(sign - line.data) + 1);
        return (struct slice){line.data, (size_t)(sign - line.data)};
    }
    uint64_t len;
    assert_true(entry->len > sizeof(len));
    memcpy(&len, entry->data, sizeof(len));
    *entry = slice_skip(*entry, sizeof(len));
    *value = (struct slice){entry->data, (size_t)le64toh(len)};
    assert_true(value->len < entry->len);
    *entry = slice_skip(*entry, value->len);
    assert_int_equal(entry->data[0], '\n');
    *entry = slice_skip(*entry, 1);
    return line;
}

/* data == NULL: the entry has no such field. */
static struct slice field(const char *name)
{
    struct slice entry = buf_slice(&journal.entry);
    struct slice found = {0};
    while (entry.len > 0) {
        struct slice value;
        if (slice_equal(take_field(&entry, &value), slice_of(name))) {
            assert_null(found.data);
            found = value;
        }
    }
    return found;
}

static void expect_field(const char *name, const char *want)
{
    struct slice value = field(name);
    if (value.data == NULL || !slice_equal(value, slice_of(want)))
        fail_msg("%s is '%.*s', not '%s'", name, SLICE_ARG(value), want);
}

struct line {
    enum log_level level;
    const struct log_context *context;
    struct slice text;
    struct slice identity;
    int facility;
};

/* Through the queue, as in service. */
static void send_line(const struct line *line)
{
    static const struct log_place place = {"../src/api/some_file.c", "some_function", 1234};
    struct err err = {.arena = arena_create()};
    struct log_unknown_key *unknown = NULL;
    const struct log_format_settings settings = {.form = LOG_FORM_CONTEXT,
                                                 .context = "%(message)s",
                                                 .without = "%(message)s",
                                                 .debug_suffix = "",
                                                 .identity = "",
                                                 .product = "placement"};
    const struct log_format *format =
        log_format_compile(&settings, false, 0, err.arena, &unknown, &err);
    assert_non_null(format);
    const struct log_message message = {.parts = &line->text, .part_count = 1};
    const struct log_record record = {.level = line->level,
                                      .logger = SLICE_LIT("placement.requestlog"),
                                      .place = &place,
                                      .context = line->context,
                                      .message = &message};
    struct log_scratch scratch = {.thread_name = "worker"};
    struct buf frame = {0};
    log_journal_render(line->facility, line->identity, format, &record, &scratch, &frame);
    struct log_queue *queue = log_queue_start(log_journal_send, NULL, NULL);
    log_queue_push(queue, buf_slice(&frame));
    log_queue_stop(queue);
    buf_free(&frame);
    arena_destroy(err.arena);
}

static int setup(void **state)
{
    (void)state;
    buf_free(&journal.entry);
    memset(&journal, 0, sizeof(journal));
    journal.max_bytes = 1 << 20;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    buf_free(&journal.entry);
    return 0;
}

static void test_fields(void **state)
{
    (void)state;
    const struct log_context context = {.request_id = SLICE_LIT("req-1"),
                                        .global_request_id = SLICE_LIT("req-2"),
                                        .user_id = SLICE_LIT("u1"),
                                        .user_name = SLICE_LIT("two\nPRIORITY=0\nlines"),
                                        .project_id = SLICE_LIT("p1"),
                                        .project_name = SLICE_LIT("a=b")};
    send_line(&(struct line){LOG_LEVEL_INFO, &context, SLICE_LIT("hello"), SLICE_LIT("berthd"), 3});
    assert_false(journal.came_as_file);
    expect_field("MESSAGE", "hello");
    expect_field("PRIORITY", "6");
    expect_field("SYSLOG_FACILITY", "3");
    expect_field("SYSLOG_IDENTIFIER", "berthd");
    expect_field("LOGGER_NAME", "placement.requestlog");
    expect_field("LOGGER_LEVEL", "INFO");
    expect_field("CODE_FILE", "src/api/some_file.c");
    expect_field("CODE_LINE", "1234");
    expect_field("CODE_FUNC", "some_function");
    expect_field("THREAD_NAME", "worker");
    expect_field("PROCESS_NAME", "MainProcess");
    expect_field("REQUEST_ID", "req-1");
    expect_field("GLOBAL_REQUEST_ID", "req-2");
    expect_field("USER_ID", "u1");
    expect_field("USER_NAME", "two\nPRIORITY=0\nlines");
    expect_field("PROJECT_ID", "p1");
    expect_field("PROJECT_NAME", "a=b");
}

/* What is not known is not a field, and a line of no request has none of a request. */
static void test_fields_that_are_left_out(void **state)
{
    (void)state;
    static const char *const names[] = {"REQUEST_ID", "GLOBAL_REQUEST_ID", "USER_ID",
                                        "USER_NAME",  "PROJECT_ID",        "PROJECT_NAME"};
    const struct log_context context = {.request_id = SLICE_LIT("req-1")};
    struct line line = {LOG_LEVEL_INFO, &context, SLICE_LIT("x"), SLICE_LIT("berthd"), 1};
    send_line(&line);
    expect_field("REQUEST_ID", "req-1");
    for (size_t i = 1; i < sizeof(names) / sizeof(names[0]); i++)
        assert_null(field(names[i]).data);
    line.context = NULL;
    line.text = SLICE_LIT("");
    send_line(&line);
    expect_field("MESSAGE", "");
    assert_null(field("REQUEST_ID").data);
}

static void test_priorities(void **state)
{
    (void)state;
    static const char *const priorities[] = {"7", "6", "4", "3", "2"};
    for (unsigned level = LOG_LEVEL_DEBUG; level <= LOG_LEVEL_CRITICAL; level++) {
        send_line(&(struct line){level, NULL, SLICE_LIT("x"), SLICE_LIT("berthd"), 3});
        expect_field("PRIORITY", priorities[level]);
    }
}

/* A message is cut to what journald takes, at the end of a character; what does not fit a datagram
 * goes as a file in memory. */
static void test_large_messages(void **state)
{
    (void)state;
    struct buf text = {0};
    while (text.len < 2 * LOG_JOURNAL_TEXT_MAX)
        buf_append_lit(&text, "\u00e9");
    struct line line = {LOG_LEVEL_INFO, NULL, buf_slice(&text), SLICE_LIT("berthd"), 3};
    for (size_t shift = 0; shift < 2; shift++) {
        line.text = slice_skip(buf_slice(&text), shift);
        if (shift == 1)
            text.data[1] = 'a';
        send_line(&line);
        struct slice message = field("MESSAGE");
        size_t room = LOG_JOURNAL_TEXT_MAX - strlen("MESSAGE=");
        assert_in_range(message.len, room - 1, room);
        assert_int_equal((unsigned char)message.data[message.len - 1], 0xa9);
        assert_false(journal.came_as_file);
    }
    journal.max_bytes = 4096;
    uint64_t lost = log_lost_bytes();
    send_line(&line);
    assert_true(journal.came_as_file);
    assert_true(field("MESSAGE").len > LOG_JOURNAL_TEXT_MAX - 16);
    expect_field("PRIORITY", "6");
    assert_int_equal(log_lost_bytes(), lost);
    buf_free(&text);
}

static void test_what_cannot_be_sent_is_lost(void **state)
{
    (void)state;
    const struct line line = {LOG_LEVEL_INFO, NULL, SLICE_LIT("x"), SLICE_LIT("berthd"), 3};
    uint64_t lost = log_lost_bytes();
    send_line(&line);
    assert_int_equal(log_lost_bytes(), lost);
    journal.error = ENOBUFS;
    send_line(&line);
    uint64_t lost_then = log_lost_bytes();
    assert_true(lost_then > lost);
    journal.error = 0;
    journal.is_missing = true;
    journal.entry.len = 0;
    send_line(&line);
    assert_int_equal(journal.entry.len, 0);
    assert_true(log_lost_bytes() > lost_then);
}

static bool reaches(int fd, const char *stream)
{
    assert_int_equal(setenv("JOURNAL_STREAM", stream, 1), 0);
    return log_reaches_journal(fd);
}

/* A descriptor is the journal's if it is the stream that the service manager names. */
static void test_streams_of_the_journal(void **state)
{
    (void)state;
    int pipes[2];
    struct stat file;
    char stream[64];
    assert_int_equal(pipe(pipes), 0);
    assert_int_equal(fstat(pipes[1], &file), 0);
    unsigned long long device = file.st_dev;
    unsigned long long inode = file.st_ino;
    unsetenv("JOURNAL_STREAM");
    assert_false(log_reaches_journal(pipes[1]));
    snprintf(stream, sizeof(stream), "%llu:%llu", device, inode + 1);
    assert_false(reaches(pipes[1], stream));
    snprintf(stream, sizeof(stream), "%llu:%llu", device + 1, inode);
    assert_false(reaches(pipes[1], stream));
    assert_false(reaches(pipes[1], ""));
    snprintf(stream, sizeof(stream), "%llu", device);
    assert_false(reaches(pipes[1], stream));
    snprintf(stream, sizeof(stream), "%llu:%llu", device, inode);
    assert_true(reaches(pipes[1], stream));
    assert_false(log_reaches_journal(-1));
    journal.is_missing = true;
    assert_false(log_reaches_journal(pipes[1]));
    unsetenv("JOURNAL_STREAM");
    close(pipes[0]);
    close(pipes[1]);
}

/* Standard error is the journal's stream: its lines become entries, once each. */
static void test_a_descriptor_becomes_entries(void **state)
{
    (void)state;
    int pipes[2];
    struct stat file;
    char stream[64];
    struct err err = {.arena = arena_create()};
    assert_int_equal(pipe(pipes), 0);
    assert_int_equal(fstat(pipes[1], &file), 0);
    snprintf(stream, sizeof(stream), "%llu:%llu", (unsigned long long)file.st_dev,
             (unsigned long long)file.st_ino);
    assert_int_equal(setenv("JOURNAL_STREAM", stream, 1), 0);
    const struct log_handler_settings handlers[] = {
        {.to = LOG_TO_DESCRIPTOR, .fd = pipes[1], .format = log_format_default},
        {.to = LOG_TO_JOURNAL, .identity = "of its own", .format = log_format_default},
    };
    const struct log_logger_settings root = {
        .name = "", .level = LOG_NUMBER_INFO, .handlers = {0, 1}, .handler_count = 1};
    struct log_settings settings = {
        .handlers = handlers, .handler_count = 1, .loggers = &root, .logger_count = 1};
    for (unsigned both = 0; both < 2; both++) {
        assert_true(log_start_with(&settings, &err));
        log_write(LOG_LEVEL_WARNING, "x", LOG_NO_CONTEXT, "hello");
        log_stop();
        if (both == 0) {
            expect_field("PRIORITY", "4");
            expect_field("SYSLOG_FACILITY", "3");
            expect_field("SYSLOG_IDENTIFIER", program_invocation_short_name);
        } else {
            assert_int_equal(journal.entry.len, 0); /* the root does not use the second handler */
        }
        journal.entry.len = 0;
        settings.handler_count = 2;
    }
    int readable = 0;
    assert_int_equal(ioctl(pipes[0], FIONREAD, &readable), 0);
    assert_int_equal(readable, 0);
    unsetenv("JOURNAL_STREAM");
    arena_destroy(err.arena);
    close(pipes[0]);
    close(pipes[1]);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_fields),
        TEST(test_fields_that_are_left_out),
        TEST(test_priorities),
        TEST(test_large_messages),
        TEST(test_what_cannot_be_sent_is_lost),
        TEST(test_streams_of_the_journal),
        TEST(test_a_descriptor_becomes_entries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
