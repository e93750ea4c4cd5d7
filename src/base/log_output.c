/* The log's descriptor. The idea: never wait for a reader longer than once a fifth of a second. A
 * blocking pipe takes PIPE_BUF bytes without waiting if poll() says that it is writable, so lines
 * go out in pieces of at most that, each of whole lines if they fit; changing the descriptor to
 * non-blocking is no way, because the terminal's shell shares it. After a wait in vain nobody waits
 * until a write succeeds again. A file is always ready: it takes all at once. Any thread, behind
 * one mutex. */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/log_internal.h"

enum { OUTPUT_WAIT_MS = 200 };

static struct {
    pthread_mutex_t lock;
    int fd;
    bool is_file;
    bool stalled;  /* the last wait was in vain */
    bool mid_line; /* what was written last was not followed by the rest of its line */
    atomic_uint_fast64_t lost_bytes;
} output = {.lock = PTHREAD_MUTEX_INITIALIZER, .fd = STDERR_FILENO};

void log_output_open(int fd)
{
    pthread_mutex_lock(&output.lock);
    struct stat file;
    output.fd = fd;
    output.is_file = fstat(fd, &file) == 0 && S_ISREG(file.st_mode);
    output.stalled = false;
    output.mid_line = false;
    pthread_mutex_unlock(&output.lock);
}

static bool is_writable(void)
{
    if (output.is_file)
        return true;
    struct pollfd wait = {.fd = output.fd, .events = POLLOUT};
    int ready;
    do
        ready = poll(&wait, 1, output.stalled ? 0 : OUTPUT_WAIT_MS);
    while (ready < 0 && errno == EINTR);
    output.stalled = ready == 0;
    return ready > 0 && (wait.revents & POLLOUT) != 0;
}

/* As many whole lines as fit into a piece; a longer line is cut. */
static size_t piece_length(struct slice lines)
{
    if (lines.len <= PIPE_BUF || output.is_file)
        return lines.len;
    const char *end = memrchr(lines.data, '\n', PIPE_BUF);
    return end == NULL ? PIPE_BUF : (size_t)(end - lines.data) + 1;
}

/* Writes the next `len` bytes of the lines, and cuts off what was written. */
static bool write_piece(struct slice *lines, size_t len)
{
    while (len > 0) {
        if (!is_writable())
            return false;
        ssize_t written = write(output.fd, lines->data, len);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return false;
        if (written > 0)
            output.mid_line = lines->data[written - 1] != '\n';
        *lines = slice_skip(*lines, (size_t)written);
        len -= (size_t)written;
    }
    return true;
}

void log_output_begin(void)
{
    pthread_mutex_lock(&output.lock);
}

void log_output_end(void)
{
    pthread_mutex_unlock(&output.lock);
}

void log_output_write(struct slice lines)
{
    struct slice end_of_line = SLICE_LIT("\n");
    if (lines.len == 0)
        return;
    bool ok = !output.mid_line || write_piece(&end_of_line, 1);
    while (ok && lines.len > 0)
        ok = write_piece(&lines, piece_length(lines));
    atomic_fetch_add_explicit(&output.lost_bytes, lines.len, memory_order_relaxed);
}

uint64_t log_lost_bytes(void)
{
    return atomic_load_explicit(&output.lost_bytes, memory_order_relaxed);
}
