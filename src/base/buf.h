/* A growing byte buffer: response bodies, log lines, texts that may contain NUL bytes. It has one
 * owner. */
#ifndef BERTH_BASE_BUF_H
#define BERTH_BASE_BUF_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/check.h"
#include "base/slice.h"

struct buf {
    char *data; /* from malloc, or NULL when cap is 0 */
    size_t len;
    size_t cap;
};

/* Frees the bytes; the buffer is then empty and can be used again. */
void buf_free(struct buf *buf);

/* Makes room for `more` bytes after len and returns their address; the caller adds the number of
 * bytes written to len. Earlier addresses and slices may have become invalid. Running out of memory
 * ends the process, as in an arena. */
char *buf_reserve_slow(struct buf *buf, size_t more);

static inline char *buf_reserve(struct buf *buf, size_t more)
{
    if (buf->cap - buf->len >= more)
        return buf->data + buf->len;
    return buf_reserve_slow(buf, more);
}

static inline void buf_append(struct buf *buf, const void *data, size_t len)
{
    if (len == 0)
        return;
    memcpy(buf_reserve(buf, len), data, len);
    buf->len += len;
}

static inline void buf_append_slice(struct buf *buf, struct slice text)
{
    buf_append(buf, text.data, text.len);
}

#define buf_append_lit(buf, text) buf_append((buf), (text), sizeof(text) - 1)

static inline void buf_append_char(struct buf *buf, char c)
{
    *buf_reserve(buf, 1) = c;
    buf->len++;
}

/* Appends the value in decimal, as "%lld" formats it. */
void buf_append_int(struct buf *buf, int64_t value);

enum { DECIMAL_MAX = 20 }; /* characters of the longest int64_t, including its sign */

/* Writes the number at `at`, at most DECIMAL_MAX characters without a NUL byte, and returns their
 * count. */
size_t decimal_write(char *at, int64_t value);

/* Appends formatted text. It is not guaranteed that a NUL byte follows the text. */
void buf_printf(struct buf *buf, const char *format, ...) BERTH_PRINTF(2, 3);

/* The contents, valid until the buffer changes. */
static inline struct slice buf_slice(const struct buf *buf)
{
    return (struct slice){buf->data, buf->len};
}

#endif
