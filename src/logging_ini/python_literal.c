/* Reads Python literals by recursive descent. Any thread. */
#include "logging_ini/python_literal.h"

#include <ctype.h>
#include <string.h>

#include "base/buf.h"

enum { DEEP = 8 };

struct reader {
    struct slice rest;
    struct arena *arena;
    unsigned deep;
};

static void skip_blanks(struct reader *r)
{
    while (r->rest.len > 0 && isspace((unsigned char)r->rest.data[0]))
        r->rest = slice_skip(r->rest, 1);
}

/* The next character after blanks; '\0' at the end. */
static char peek(struct reader *r)
{
    skip_blanks(r);
    return r->rest.len > 0 ? r->rest.data[0] : '\0';
}

static bool python_literal_take(struct reader *r, char c)
{
    if (peek(r) != c || c == '\0')
        return false;
    r->rest = slice_skip(r->rest, 1);
    return true;
}

/* \n, \t, \\ and quotes; Python would keep or interpret others. */
static bool take_escape(struct reader *r, struct buf *out)
{
    static const char FROM[] = "nt\\'\"";
    static const char TO[] = "\n\t\\'\"";
    if (r->rest.len < 2)
        return false;
    const char *at = memchr(FROM, r->rest.data[1], sizeof(FROM) - 1);
    if (at == NULL)
        return false;
    buf_append_char(out, TO[at - FROM]);
    r->rest = slice_skip(r->rest, 2);
    return true;
}

/* u'text', r'text' or neither; after blanks. */
static bool begins_quoted(struct reader *r, bool *raw)
{
    char c = peek(r);
    bool prefixed = c != '\0' && strchr("uUrR", c) != NULL && r->rest.len > 1;
    if (prefixed) {
        *raw = c == 'r' || c == 'R';
        c = r->rest.data[1];
    }
    return c == '\'' || c == '"';
}

static bool take_quoted(struct reader *r, struct buf *out, bool raw)
{
    if (r->rest.data[0] != '\'' && r->rest.data[0] != '"')
        r->rest = slice_skip(r->rest, 1);
    char quote = r->rest.data[0];
    r->rest = slice_skip(r->rest, 1);
    while (r->rest.len > 0 && r->rest.data[0] != quote) {
        char c = r->rest.data[0];
        if (c == '\n' || (raw && c == '\\' && r->rest.len > 1 && r->rest.data[1] == quote))
            return false;
        if (c == '\\' && !raw) {
            if (!take_escape(r, out))
                return false;
            continue;
        }
        buf_append_char(out, c);
        r->rest = slice_skip(r->rest, 1);
    }
    return python_literal_take(r, quote);
}

/* Adjacent strings are joined. */
static bool python_literal_read_text(struct reader *r, struct python_value *out)
{
    struct buf text = {0};
    bool ok = true;
    bool raw = false;
    for (; ok && begins_quoted(r, &raw); raw = false)
        ok = take_quoted(r, &text, raw);
    out->kind = PYTHON_TEXT;
    out->text = arena_copy(r->arena, buf_slice(&text));
    buf_free(&text);
    return ok;
}

static bool read_number(struct reader *r, int64_t *number)
{
    bool negative = python_literal_take(r, '-');
    *number = 0;
    if (!isdigit((unsigned char)peek(r)))
        return false;
    while (r->rest.len > 0 && (isdigit((unsigned char)r->rest.data[0]) || r->rest.data[0] == '_')) {
        if (r->rest.data[0] != '_' &&
            (__builtin_mul_overflow(*number, 10, number) ||
             __builtin_add_overflow(*number, r->rest.data[0] - '0', number)))
            return false;
        r->rest = slice_skip(r->rest, 1);
    }
    if (negative)
        *number = -*number;
    return true;
}

static bool read_product(struct reader *r, struct python_value *out)
{
    int64_t factor;
    out->kind = PYTHON_INTEGER;
    if (!read_number(r, &out->integer))
        return false;
    while (python_literal_take(r, '*'))
        if (!read_number(r, &factor) || __builtin_mul_overflow(out->integer, factor, &out->integer))
            return false;
    return true;
}

static bool read_name(struct reader *r, struct python_value *out)
{
    size_t len = 0;
    while (len < r->rest.len && (isalnum((unsigned char)r->rest.data[len]) ||
                                 r->rest.data[len] == '_' || r->rest.data[len] == '.'))
        len++;
    if (len == 0)
        return false;
    out->text = arena_copy(r->arena, (struct slice){r->rest.data, len});
    r->rest = slice_skip(r->rest, len);
    out->kind = PYTHON_NAME;
    if (slice_equal(out->text, SLICE_LIT("None")))
        out->kind = PYTHON_NONE;
    else if (slice_equal(out->text, SLICE_LIT("True")) ||
             slice_equal(out->text, SLICE_LIT("False"))) {
        out->kind = PYTHON_BOOLEAN;
        out->integer = out->text.data[0] == 'T';
    }
    return true;
}

static bool read_value(struct reader *r, struct python_value *out);

/* Items up to the closing character, or ('\0') the end; those of a mapping with colons. */
static bool read_items(struct reader *r, char close, bool mapping, struct python_value *out,
                       bool *has_comma)
{
    struct python_value *items = NULL;
    size_t room = 0;
    *has_comma = false;
    while (peek(r) != close) {
        items = arena_grow(r->arena, items, out->count, &room, sizeof(*items));
        if (!read_value(r, &items[out->count++]))
            return false;
        if (mapping && out->count % 2 == 1) {
            if (!python_literal_take(r, ':'))
                return false;
            continue;
        }
        if (!python_literal_take(r, ','))
            break;
        *has_comma = true;
    }
    out->items = items;
    bool closed =
        close == '\0' ? peek(r) == '\0' && r->rest.len == 0 : python_literal_take(r, close);
    return closed && (!mapping || out->count % 2 == 0);
}

static bool read_sequence(struct reader *r, char close, struct python_value *out)
{
    bool has_comma;
    out->kind = PYTHON_SEQUENCE;
    if (!read_items(r, close, false, out, &has_comma))
        return false;
    if (close == ')' && out->count == 1 && !has_comma) {
        struct python_value inner = out->items[0]; /* parentheses around a value */
        *out = inner;
    }
    return true;
}

static bool read_value(struct reader *r, struct python_value *out)
{
    bool ignored;
    bool raw;
    *out = (struct python_value){.kind = PYTHON_NONE};
    if (++r->deep > DEEP)
        return false;
    bool ok = false;
    char c = peek(r);
    if (begins_quoted(r, &raw)) {
        ok = python_literal_read_text(r, out);
    } else if (c == '-' || isdigit((unsigned char)c)) {
        ok = read_product(r, out);
    } else if (python_literal_take(r, '(')) {
        ok = read_sequence(r, ')', out);
    } else if (python_literal_take(r, '[')) {
        ok = read_sequence(r, ']', out);
    } else if (python_literal_take(r, '{')) {
        out->kind = PYTHON_MAPPING;
        ok = read_items(r, '}', true, out, &ignored);
    } else {
        ok = read_name(r, out);
    }
    r->deep--;
    return ok;
}

bool python_literal_parse(struct slice text, struct arena *arena, struct python_value *out)
{
    struct reader reader = {.rest = text, .arena = arena};
    if (!read_value(&reader, out))
        return false;
    if (peek(&reader) != ',')
        return peek(&reader) == '\0' && reader.rest.len == 0;
    reader.rest = text; /* a tuple without its parentheses */
    bool ignored;
    *out = (struct python_value){.kind = PYTHON_SEQUENCE};
    return read_items(&reader, '\0', false, out, &ignored);
}
