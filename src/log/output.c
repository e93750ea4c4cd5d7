/* The destinations of gathered bytes: a descriptor, a file, or a queue. The idea for the first two:
 * never wait for a reader longer than a fifth of a second, and for a tenth of the time if it is
 * slow. A blocking pipe accepts PIPE_BUF bytes without waiting if poll() says that it is writable,
 * so lines are written in pieces of at most that size, made of whole lines if they fit; the
 * descriptor cannot be made non-blocking, because the terminal's shell shares it. After a wait that
 * timed out, nobody waits until a write succeeds again. A file is always ready and accepts
 * everything at once. Any thread, protected by one mutex per output. */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "log/internal.h"

enum { PATIENCE_MAX_US = 200000, PATIENCE_GROWS = 10 /* one more per this many microseconds */ };

struct log_output {
    pthread_mutex_t lock;
    enum log_destination to;
    int fd;                  /* LOG_TO_DESCRIPTOR */
    struct log_file file;    /* LOG_TO_FILE */
    struct log_queue *queue; /* NULL for others, and once it is stopped */
    bool is_regular;         /* of a descriptor */
    bool stalled;            /* the last wait timed out */
    uint64_t patience_us;    /* the remaining time to wait, */
    uint64_t patience_at_us; /* which is increased from this time on */
    bool mid_line;           /* the last write ended within a line */
    int reported_open_error; /* file errors that have been logged */
    int reported_rotate_error;
};

static int64_t now_s(void)
{
    return clock_wall_us() / 1000000;
}

static bool open_queue(struct log_output *output, const struct log_handler_settings *settings,
                       struct err *err)
{
    if (settings->to == LOG_TO_JOURNAL) {
        output->queue = log_queue_start(log_journal_send, NULL, NULL);
        return true;
    }
    void *sender = log_syslog_open(settings, err);
    if (sender == NULL)
        return false;
    output->queue = log_queue_start(log_syslog_send, log_syslog_end, sender);
    return true;
}

static bool open_destination(struct log_output *output, const struct log_handler_settings *settings,
                             struct err *err)
{
    struct stat status;
    switch (settings->to) {
    case LOG_TO_NOTHING:
        break;
    case LOG_TO_DESCRIPTOR:
        output->fd = settings->fd;
        output->is_regular = fstat(settings->fd, &status) == 0 && S_ISREG(status.st_mode);
        break;
    case LOG_TO_FILE:
        return log_file_open(&output->file, settings->path, &settings->rotation, now_s(), err);
    case LOG_TO_SYSLOG:
    case LOG_TO_SYSLOGD:
    case LOG_TO_JOURNAL:
        return open_queue(output, settings, err);
    }
    return true;
}

struct log_output *log_output_open(const struct log_handler_settings *settings, struct err *err)
{
    struct log_output *output = calloc(1, sizeof(*output));
    check(output != NULL);
    output->to = settings->to;
    if (!open_destination(output, settings, err)) {
        free(output);
        return NULL;
    }
    pthread_mutex_init(&output->lock, NULL);
    return output;
}

bool log_output_is(const struct log_output *output, const struct log_handler_settings *settings)
{
    if (output->to != settings->to)
        return false;
    return (output->to == LOG_TO_DESCRIPTOR && output->fd == settings->fd) ||
           (output->to == LOG_TO_FILE && strcmp(output->file.path, settings->path) == 0);
}

void log_output_begin(struct log_output *output)
{
    pthread_mutex_lock(&output->lock);
}

void log_output_end(struct log_output *output)
{
    pthread_mutex_unlock(&output->lock);
}

void log_output_stop(struct log_output *output)
{
    log_output_begin(output);
    struct log_queue *queue = output->queue;
    output->queue = NULL;
    log_output_end(output);
    if (queue != NULL)
        log_queue_stop(queue);
}

void log_output_close(struct log_output *output)
{
    log_output_stop(output);
    if (output->to == LOG_TO_FILE)
        log_file_close(&output->file);
    pthread_mutex_destroy(&output->lock);
    free(output);
}

static int poll_for(int fd, uint64_t us, short *events)
{
    struct pollfd wait = {.fd = fd, .events = POLLOUT};
    int ready;
    do
        ready = poll(&wait, 1, (int)(us / 1000));
    while (ready < 0 && errno == EINTR);
    *events = wait.revents;
    return ready;
}

static int wait_patiently(struct log_output *output, int fd, short *events)
{
    uint64_t now_us = clock_monotonic_us();
    output->patience_us += (now_us - output->patience_at_us) / PATIENCE_GROWS;
    if (output->patience_us > PATIENCE_MAX_US)
        output->patience_us = PATIENCE_MAX_US;
    int ready = poll_for(fd, output->patience_us, events);
    output->patience_at_us = clock_monotonic_us();
    uint64_t waited_us = output->patience_at_us - now_us;
    output->patience_us -= waited_us < output->patience_us ? waited_us : output->patience_us;
    return ready;
}

static bool is_writable(struct log_output *output, int fd, bool is_regular)
{
    short events = 0;
    if (fd < 0)
        return false;
    if (is_regular)
        return true;
    int ready = poll_for(fd, 0, &events);
    if (ready == 0 && !output->stalled)
        ready = wait_patiently(output, fd, &events);
    output->stalled = ready == 0;
    return ready > 0 && (events & POLLOUT) != 0;
}

/* As many whole lines as fit into a piece; a longer line is split. */
static size_t piece_length(struct slice lines, bool is_regular)
{
    if (lines.len <= PIPE_BUF || is_regular)
        return lines.len;
    const char *end = memrchr(lines.data, '\n', PIPE_BUF);
    return end == NULL ? PIPE_BUF : (size_t)(end - lines.data) + 1;
}

/* Writes the next `len` bytes of the lines, and removes them from the front. */
static bool write_piece(struct log_output *output, int fd, bool is_regular, struct slice *lines,
                        size_t len)
{
    while (len > 0) {
        if (!is_writable(output, fd, is_regular))
            return false;
        ssize_t written = write(fd, lines->data, len);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return false;
        if (written > 0)
            output->mid_line = lines->data[written - 1] != '\n';
        *lines = slice_skip(*lines, (size_t)written);
        len -= (size_t)written;
    }
    return true;
}

static void write_to(struct log_output *output, int fd, bool is_regular, struct slice lines)
{
    struct slice end_of_line = SLICE_LIT("\n");
    bool ok = !output->mid_line || write_piece(output, fd, is_regular, &end_of_line, 1);
    while (ok && lines.len > 0)
        ok = write_piece(output, fd, is_regular, &lines, piece_length(lines, is_regular));
    log_count_lost(lines.len);
}

static void follow(struct log_output *output, bool always)
{
    ino_t before = output->file.inode;
    log_file_follow(&output->file, always, now_s());
    if (output->file.inode != before)
        output->mid_line = false;
}

static void write_to_file(struct log_output *output, struct slice lines)
{
    struct log_file *file = &output->file;
    follow(output, false);
    while (lines.len > 0) {
        ino_t before = file->inode;
        size_t len = log_file_ready(file, lines, now_s());
        if (file->inode != before)
            output->mid_line = false;
        write_to(output, file->fd, file->is_regular, (struct slice){lines.data, len});
        lines = slice_skip(lines, len);
    }
}

void log_output_write(struct log_output *output, struct slice lines)
{
    if (lines.len == 0)
        return;
    if (output->queue != NULL)
        log_queue_push(output->queue, lines);
    else if (output->to == LOG_TO_FILE)
        write_to_file(output, lines);
    else if (output->to == LOG_TO_DESCRIPTOR)
        write_to(output, output->fd, output->is_regular, lines);
    else
        log_count_lost(lines.len);
}

bool log_output_is_well(struct log_output *output)
{
    log_output_begin(output);
    bool well = !output->stalled && (output->to != LOG_TO_FILE || output->file.fd >= 0);
    log_output_end(output);
    return well;
}

static bool is_news(int error, int *reported)
{
    bool news = error != *reported;
    *reported = error;
    return news && error != 0;
}

bool log_output_complains(struct log_output *output, const char **what, const char **path,
                          int *error)
{
    if (output->to != LOG_TO_FILE)
        return false;
    log_output_begin(output);
    const struct log_file *file = &output->file;
    *path = file->path;
    *what = "reopened";
    *error = file->open_error;
    bool news = is_news(file->open_error, &output->reported_open_error);
    if (!news) {
        *what = "rotated";
        *error = file->rotate_error;
        news = is_news(file->rotate_error, &output->reported_rotate_error);
    }
    log_output_end(output);
    return news;
}

void log_output_follow(struct log_output *output, bool always)
{
    if (output->to != LOG_TO_FILE)
        return;
    log_output_begin(output);
    follow(output, always);
    log_output_end(output);
}
