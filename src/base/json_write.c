/* The hot path of every large answer: runs of plain characters are copied whole, and the rest is
 * escaped. Any thread. */
#include "base/json_write.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/swar.h"
#include "base/utf8.h"

static const char HEX[] = "0123456789abcdef";

static void write_utf16_unit(struct buf *buf, unsigned unit)
{
    char *at = buf_reserve(buf, 6);
    at[0] = '\\';
    at[1] = 'u';
    at[2] = HEX[unit >> 12 & 15];
    at[3] = HEX[unit >> 8 & 15];
    at[4] = HEX[unit >> 4 & 15];
    at[5] = HEX[unit & 15];
    buf->len += 6;
}

/* Decodes the character at text[*i] and advances *i past it. A malformed byte is decoded as U+FFFD,
 * one byte long. */
static unsigned decode_utf8(struct slice text, size_t *i)
{
    const unsigned char *s = (const unsigned char *)text.data + *i;
    size_t len = utf8_length(text.data + *i, text.len - *i);
    *i += len == 0 ? 1 : len;
    switch (len) {
    case 1:
        return s[0];
    case 2:
        return (s[0] & 0x1fu) << 6 | (s[1] & 0x3fu);
    case 3:
        return (s[0] & 0x0fu) << 12 | (s[1] & 0x3fu) << 6 | (s[2] & 0x3fu);
    case 4:
        return (s[0] & 0x07u) << 18 | (s[1] & 0x3fu) << 12 | (s[2] & 0x3fu) << 6 | (s[3] & 0x3fu);
    default:
        return 0xfffd;
    }
}

static bool is_plain(unsigned char c)
{
    return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

static void write_escaped(struct buf *buf, unsigned code)
{
    switch (code) {
    case '"':
        buf_append_lit(buf, "\\\"");
        return;
    case '\\':
        buf_append_lit(buf, "\\\\");
        return;
    case '\n':
        buf_append_lit(buf, "\\n");
        return;
    case '\r':
        buf_append_lit(buf, "\\r");
        return;
    case '\t':
        buf_append_lit(buf, "\\t");
        return;
    case '\b':
        buf_append_lit(buf, "\\b");
        return;
    case '\f':
        buf_append_lit(buf, "\\f");
        return;
    case 0x7f:
        buf_append_char(buf, 0x7f);
        return;
    default:
        break;
    }
    if (code >= 0x10000) {
        code -= 0x10000;
        write_utf16_unit(buf, 0xd800 | code >> 10);
        write_utf16_unit(buf, 0xdc00 | (code & 0x3ff));
        return;
    }
    write_utf16_unit(buf, code);
}

/* The end of the run of plain characters that begins at `i`. */
static size_t plain_end(struct slice text, size_t i)
{
    for (; text.len - i >= sizeof(uint64_t); i += sizeof(uint64_t)) {
        uint64_t word = swar_load(text.data + i);
        if ((swar_high(word) | swar_below(word, 0x20) | swar_equal(word, '"') |
             swar_equal(word, '\\') | swar_equal(word, 0x7f)) != 0)
            break;
    }
    while (i < text.len && is_plain((unsigned char)text.data[i]))
        i++;
    return i;
}

void json_write_piece(struct buf *buf, struct slice text)
{
    size_t i = 0;
    while (i < text.len) {
        size_t run = plain_end(text, i);
        buf_append(buf, text.data + i, run - i);
        i = run;
        if (i < text.len)
            write_escaped(buf, decode_utf8(text, &i));
    }
}

void json_write_string(struct buf *buf, struct slice text)
{
    buf_append_char(buf, '"');
    json_write_piece(buf, text);
    buf_append_char(buf, '"');
}

void json_write_double(struct buf *buf, double value)
{
    check(isfinite(value));
    if (fabs(value) < 1e9 && value == floor(value) && !(value == 0 && signbit(value))) {
        buf_append_int(buf, (int64_t)value); /* most ratios are whole numbers: avoids the search for
                                              * the shortest digits */
        buf_append_lit(buf, ".0");
        return;
    }
    char digits[32];
    int precision = 1;
    do {
        snprintf(digits, sizeof(digits), "%.*e", precision - 1, value);
    } while (strtod(digits, NULL) != value && precision++ < 17);
    int exponent = (int)strtol(strchr(digits, 'e') + 1, NULL, 10);
    if (exponent < -4 || exponent >= 16) {
        char *e = strchr(digits, 'e');
        buf_append(buf, digits, (size_t)(e - digits));
        buf_printf(buf, "e%c%02d", exponent < 0 ? '-' : '+', abs(exponent));
        return;
    }
    int decimals = precision - 1 - exponent;
    buf_printf(buf, "%.*f", decimals < 1 ? 1 : decimals, value);
}
