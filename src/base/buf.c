/* Growth by doubling; decimal integers without printf, because bodies are full of them. Any one
 * thread. */
#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void buf_free(struct buf *buf)
{
    free(buf->data);
    *buf = (struct buf){0};
}

char *buf_reserve_slow(struct buf *buf, size_t more)
{
    check(more < SIZE_MAX / 4);
    size_t cap = buf->cap < 512 ? 512 : buf->cap;
    while (cap - buf->len < more)
        cap *= 2;
    char *data = realloc(buf->data, cap);
    check(data != NULL);
    buf->data = data;
    buf->cap = cap;
    return data + buf->len;
}

void buf_append_int(struct buf *buf, int64_t value)
{
    char digits[20];
    size_t n = 0;
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    do {
        digits[n++] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest != 0);
    char *at = buf_reserve(buf, n + 1);
    size_t len = 0;
    if (value < 0)
        at[len++] = '-';
    while (n > 0)
        at[len++] = digits[--n];
    buf->len += len;
}

void buf_printf(struct buf *buf, const char *format, ...)
{
    va_list args;
    va_list again;
    va_start(args, format);
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, format, args);
    check(len >= 0);
    vsnprintf(buf_reserve(buf, (size_t)len + 1), (size_t)len + 1, format, again);
    buf->len += (size_t)len;
    va_end(again);
    va_end(args);
}
