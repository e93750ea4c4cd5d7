/* See literal.h.
 *
 * Inside quotation marks, only the quotation mark and the backslash can have a meaning of their
 * own. A doubled quotation mark is one in every sql_mode, but a backslash depends on
 * NO_BACKSLASH_ESCAPES: so a text with a backslash is written in hexadecimal digits. Pure; any
 * thread. */
#include "store/mariadb/session/literal.h"

#include <math.h>
#include <stdio.h>

#include "store/instant.h"

enum { SECOND_LEN = 19 };

static void append_null(struct buf *sql)
{
    buf_append_lit(sql, "NULL");
}

static void append_hex(struct buf *sql, struct slice bytes)
{
    static const char digits[] = "0123456789abcdef";
    buf_append_lit(sql, "x'");
    char *at = buf_reserve(sql, 2 * bytes.len);
    for (size_t i = 0; i < bytes.len; i++) {
        unsigned char byte = (unsigned char)bytes.data[i];
        *at++ = digits[byte >> 4];
        *at++ = digits[byte & 15];
    }
    sql->len += 2 * bytes.len;
    buf_append_char(sql, '\'');
}

static void append_quoted(struct buf *sql, struct slice text)
{
    buf_append_char(sql, '\'');
    while (text.len > 0) {
        const char *mark = memchr(text.data, '\'', text.len);
        size_t len = mark == NULL ? text.len : (size_t)(mark - text.data) + 1;
        buf_append(sql, text.data, len);
        if (mark != NULL)
            buf_append_char(sql, '\'');
        text = slice_skip(text, len);
    }
    buf_append_char(sql, '\'');
}

static bool has_backslash(struct slice text)
{
    return text.len > 0 && memchr(text.data, '\\', text.len) != NULL;
}

static bool is_ascii(struct slice text)
{
    for (size_t i = 0; i < text.len; i++)
        if ((text.data[i] & 0x80) != 0)
            return false;
    return true;
}

void mariadb_literal_text(struct buf *sql, struct slice text)
{
    if (text.data == NULL) {
        append_null(sql);
    } else if (has_backslash(text)) {
        buf_append_lit(sql, "_utf8mb4 ");
        append_hex(sql, text);
    } else {
        append_quoted(sql, text);
    }
}

void mariadb_literal_compared(struct buf *sql, struct slice text)
{
    if (is_ascii(text))
        buf_append_lit(sql, "_ascii ");
    else
        buf_append_lit(sql, "_utf8mb4 ");
    if (has_backslash(text))
        append_hex(sql, text);
    else
        append_quoted(sql, text);
}

size_t mariadb_literal_bytes(struct slice text)
{
    return 2 * text.len + sizeof("_utf8mb4 x''");
}

void mariadb_literal_binary(struct buf *sql, struct slice bytes)
{
    if (bytes.data == NULL)
        append_null(sql);
    else
        append_hex(sql, bytes);
}

void mariadb_literal_blob(struct buf *sql, struct slice bytes)
{
    mariadb_literal_binary(sql, bytes.data == NULL ? SLICE_LIT("") : bytes);
}

void mariadb_literal_int(struct buf *sql, int64_t value)
{
    buf_append_int(sql, value);
}

void mariadb_literal_reference(struct buf *sql, int64_t id)
{
    if (id == 0)
        append_null(sql);
    else
        buf_append_int(sql, id);
}

/* Without an exponent, the number would be a DECIMAL. */
void mariadb_literal_double(struct buf *sql, double value)
{
    char digits[40];
    check(isfinite(value));
    int len = snprintf(digits, sizeof(digits), "%.17g", value);
    buf_append(sql, digits, (size_t)len);
    if (memchr(digits, 'e', (size_t)len) == NULL)
        buf_append_lit(sql, "e0");
}

static void append_time(struct buf *sql, int64_t us, size_t len)
{
    char text[INSTANT_LEN];
    if (us == 0) {
        append_null(sql);
        return;
    }
    instant_format(us, text);
    append_quoted(sql, (struct slice){text, len});
}

void mariadb_literal_second(struct buf *sql, int64_t us)
{
    append_time(sql, us, SECOND_LEN);
}

void mariadb_literal_instant(struct buf *sql, int64_t us)
{
    append_time(sql, us, INSTANT_LEN);
}
