/* The buffer grows by doubling. Decimal integers are written two digits at a time and without
 * printf, because bodies contain many of them. Any thread, one buffer at a time. */
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

static size_t digit_count(uint64_t value)
{
    size_t count = 1;
    while (value >= 10000) {
        value /= 10000;
        count += 4;
    }
    if (value >= 1000)
        return count + 3;
    if (value >= 100)
        return count + 2;
    return value >= 10 ? count + 1 : count;
}

size_t decimal_write(char *at, int64_t value)
{
    static const char PAIRS[] =
        "00010203040506070809101112131415161718192021222324252627282930313233"
        "34353637383940414243444546474849505152535455565758596061626364656667"
        "6869707172737475767778798081828384858687888990919293949596979899";
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    size_t sign = value < 0;
    size_t len = sign + digit_count(rest);
    if (value < 0)
        at[0] = '-';
    size_t end = len;
    while (rest >= 100) {
        end -= 2;
        memcpy(at + end, PAIRS + 2 * (rest % 100), 2);
        rest /= 100;
    }
    if (rest >= 10)
        memcpy(at + sign, PAIRS + 2 * rest, 2);
    else
        at[sign] = (char)('0' + rest);
    return len;
}

void buf_append_int(struct buf *buf, int64_t value)
{
    buf->len += decimal_write(buf_reserve(buf, DECIMAL_MAX), value);
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
