/* Files are read in pieces, because a pipe has no size. A pipe without a writer reads as empty: a
 * file may have been replaced by a pipe by mistake since it was last read, and waiting for a writer
 * could take for ever. Any thread. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

enum { PIECE_BYTES = 8192 };

/* Like read() on a blocking file. */
static ssize_t read_piece(int fd, char *piece)
{
    ssize_t got = read(fd, piece, PIECE_BYTES);
    while (got < 0 && errno == EAGAIN) {
        struct pollfd wait = {.fd = fd, .events = POLLIN};
        if (poll(&wait, 1, -1) < 0 && errno != EINTR)
            return -1;
        got = read(fd, piece, PIECE_BYTES);
    }
    return got;
}

bool file_read(const char *path, const char *what, size_t most_bytes, struct buf *out,
               struct err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t got = fd < 0 ? -1 : 1;
    while (got > 0 && out->len <= most_bytes) {
        got = read_piece(fd, buf_reserve(out, PIECE_BYTES));
        if (got > 0)
            out->len += (size_t)got;
    }
    int why = errno;
    if (fd >= 0)
        close(fd);
    if (got < 0)
        return err_set(err, 500, NULL, "cannot read %s %s: %s", what, path, strerror(why));
    if (out->len > most_bytes)
        return err_set(err, 500, NULL, "%s %s is larger than %zu bytes", what, path, most_bytes);
    return true;
}
