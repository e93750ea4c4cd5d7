/* repr() of a string. Any thread. */
#include "base/python_text.h"

/* The ranges listed are escaped by Python. Code points that Unicode has not assigned are not
 * listed, so they are printed. */
static bool is_printable(unsigned code)
{
    static const struct {
        unsigned first, last;
    } hidden[] = {
        {0x00, 0x1f},        {0x7f, 0xa0},       {0xad, 0xad},       {0x600, 0x605},
        {0x61c, 0x61c},      {0x6dd, 0x6dd},     {0x70f, 0x70f},     {0x1680, 0x1680},
        {0x180e, 0x180e},    {0x2000, 0x200f},   {0x2028, 0x202f},   {0x205f, 0x206f},
        {0x3000, 0x3000},    {0xd800, 0xf8ff},   {0xfeff, 0xfeff},   {0xfff0, 0xfffb},
        {0xfffe, 0xffff},    {0x110bd, 0x110bd}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
        {0xf0000, 0x10ffff},
    };
    for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++)
        if (code >= hidden[i].first && code <= hidden[i].last)
            return false;
    return true;
}

/* Decodes the character at s, which must be valid UTF-8, and returns its length. */
static size_t decode(const unsigned char *s, size_t left, unsigned *code)
{
    size_t len = s[0] < 0x80 ? 1 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
    if (len > left || len == 1) {
        *code = s[0];
        return 1;
    }
    *code = s[0] & (0xffu >> (len + 1));
    for (size_t i = 1; i < len; i++)
        *code = *code << 6 | (s[i] & 0x3fu);
    return len;
}

static void write_escape(struct buf *out, unsigned code)
{
    if (code == '\n')
        buf_append_lit(out, "\\n");
    else if (code == '\r')
        buf_append_lit(out, "\\r");
    else if (code == '\t')
        buf_append_lit(out, "\\t");
    else if (code < 0x100)
        buf_printf(out, "\\x%02x", code);
    else if (code < 0x10000)
        buf_printf(out, "\\u%04x", code);
    else
        buf_printf(out, "\\U%08x", code);
}

void python_text_write(struct buf *out, struct slice text, size_t bytes_max)
{
    size_t end = bytes_max < SIZE_MAX - out->len ? out->len + bytes_max : SIZE_MAX;
    char quote = '\'';
    if (text.len > 0 && memchr(text.data, '\'', text.len) != NULL &&
        memchr(text.data, '"', text.len) == NULL)
        quote = '"';
    buf_append_char(out, quote);
    size_t at = 0;
    while (at < text.len && out->len < end) {
        unsigned code;
        size_t len = decode((const unsigned char *)text.data + at, text.len - at, &code);
        if (code == (unsigned char)quote || code == '\\') {
            buf_append_char(out, '\\');
            buf_append_char(out, (char)code);
        } else if (is_printable(code)) {
            buf_append(out, text.data + at, len);
        } else {
            write_escape(out, code);
        }
        at += len;
    }
    if (at < text.len)
        buf_append_lit(out, "...");
    buf_append_char(out, quote);
}
