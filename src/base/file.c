/* Reading in pieces: a pipe has no size. Any thread. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

enum { PIECE_BYTES = 8192 };

bool file_read(const char *path, const char *what, size_t most_bytes, struct buf *out,
               struct err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : 1;
    while (got > 0 && out->len <= most_bytes) {
        got = read(fd, buf_reserve(out, PIECE_BYTES), PIECE_BYTES);
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
