/* repr() for JSON values. A buffer's length at the start marks the bound: once it is passed nothing
 * more is written but the dots that show it. Any thread. */
#include "api/python_repr.h"

#include "base/json_write.h"

struct writer {
    struct buf *out;
    size_t end; /* write no further value behind this length */
};

static bool is_full(const struct writer *w)
{
    return w->out->len >= w->end;
}

/* Ranges that Python does not print as they are; code points that Unicode has not assigned are left
 * out, they are printed. */
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

/* The length of the character at s, whose text is valid UTF-8, and its code point. */
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

static void write_string(struct writer *w, struct slice text)
{
    char quote = '\'';
    if (text.len > 0 && memchr(text.data, '\'', text.len) != NULL &&
        memchr(text.data, '"', text.len) == NULL)
        quote = '"';
    buf_append_char(w->out, quote);
    size_t at = 0;
    while (at < text.len && !is_full(w)) {
        unsigned code;
        size_t len = decode((const unsigned char *)text.data + at, text.len - at, &code);
        if (code == (unsigned char)quote || code == '\\') {
            buf_append_char(w->out, '\\');
            buf_append_char(w->out, (char)code);
        } else if (is_printable(code)) {
            buf_append(w->out, text.data + at, len);
        } else {
            write_escape(w->out, code);
        }
        at += len;
    }
    if (at < text.len)
        buf_append_lit(w->out, "...");
    buf_append_char(w->out, quote);
}

static void write_value(struct writer *w, const json_t *value);

static void write_array(struct writer *w, const json_t *value)
{
    buf_append_char(w->out, '[');
    size_t count = json_array_size(value);
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            buf_append_lit(w->out, ", ");
        if (is_full(w)) {
            buf_append_lit(w->out, "...");
            break;
        }
        write_value(w, json_array_get(value, i));
    }
    buf_append_char(w->out, ']');
}

static void write_object(struct writer *w, const json_t *value)
{
    json_t *object = (json_t *)(uintptr_t)value; /* jansson's iterators take no const */
    buf_append_char(w->out, '{');
    bool first = true;
    for (void *at = json_object_iter(object); at != NULL; at = json_object_iter_next(object, at)) {
        if (!first)
            buf_append_lit(w->out, ", ");
        first = false;
        if (is_full(w)) {
            buf_append_lit(w->out, "...");
            break;
        }
        write_string(w, (struct slice){json_object_iter_key(at), json_object_iter_key_len(at)});
        buf_append_lit(w->out, ": ");
        write_value(w, json_object_iter_value(at));
    }
    buf_append_char(w->out, '}');
}

static void write_value(struct writer *w, const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        write_object(w, value);
        return;
    case JSON_ARRAY:
        write_array(w, value);
        return;
    case JSON_STRING:
        write_string(w, (struct slice){json_string_value(value), json_string_length(value)});
        return;
    case JSON_INTEGER:
        buf_append_int(w->out, json_integer_value(value));
        return;
    case JSON_REAL:
        json_write_double(w->out, json_real_value(value));
        return;
    case JSON_TRUE:
        buf_append_lit(w->out, "True");
        return;
    case JSON_FALSE:
        buf_append_lit(w->out, "False");
        return;
    case JSON_NULL:
        buf_append_lit(w->out, "None");
        return;
    }
}

void python_repr_string(struct buf *out, struct slice text)
{
    struct writer w = {out, out->len + PYTHON_REPR_BYTES_MAX};
    write_string(&w, text);
}

void python_repr_json(struct buf *out, const json_t *value)
{
    struct writer w = {out, out->len + PYTHON_REPR_BYTES_MAX};
    write_value(&w, value);
}
