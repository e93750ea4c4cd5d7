/* Reads pieces of statements. One thread. */
#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "maria.h"
#include "store/instant.h"

/* Texts of the statement that is being read. */
static struct arena *texts;

void maria_parse_begin(void)
{
    if (texts == NULL)
        texts = arena_create();
    else
        arena_reset(texts);
}

void maria_parse_forget(void)
{
    if (texts != NULL)
        arena_destroy(texts);
    texts = NULL;
}

void maria_give_up(const struct call *call)
{
    fprintf(stderr, "the fake MariaDB does not know this statement: %s\n", call->sql);
    abort();
}

bool maria_skip(struct slice *at, const char *text)
{
    if (!slice_starts_with(*at, slice_of(text)))
        return false;
    *at = slice_skip(*at, strlen(text));
    return true;
}

struct slice maria_cut(struct slice *at, const char *text)
{
    const char *found = at->len == 0 ? NULL : memmem(at->data, at->len, text, strlen(text));
    if (found == NULL)
        return (struct slice){0};
    struct slice before = {at->data, (size_t)(found - at->data)};
    *at = slice_skip(*at, before.len + strlen(text));
    return before;
}

bool maria_take_int(struct slice *at, int64_t *value)
{
    char *end;
    *value = strtoll(at->data, &end, 10);
    bool is_number = at->len > 0 && end > at->data;
    *at = is_number ? slice_skip(*at, (size_t)(end - at->data)) : *at;
    return is_number;
}

static int digit_of(char c)
{
    return c >= 'a' ? c - 'a' + 10 : c - '0';
}

static bool take_hex(struct slice *at, struct slice *bytes)
{
    struct slice digits = maria_cut(at, "'");
    char *out = arena_alloc(texts, digits.len / 2 + 1);
    for (size_t i = 0; i + 1 < digits.len; i += 2)
        out[i / 2] = (char)(digit_of(digits.data[i]) * 16 + digit_of(digits.data[i + 1]));
    *bytes = (struct slice){out, digits.len / 2};
    return digits.data != NULL && digits.len % 2 == 0;
}

static bool take_quoted(struct slice *at, struct slice *text)
{
    char *out = arena_alloc(texts, at->len + 1);
    size_t len = 0;
    while (at->len > 0) {
        bool is_mark = at->data[0] == '\'';
        bool is_doubled = is_mark && at->len > 1 && at->data[1] == '\'';
        if (!is_mark || is_doubled)
            out[len++] = at->data[0];
        *at = slice_skip(*at, is_doubled ? 2 : 1);
        if (is_mark && !is_doubled) {
            *text = (struct slice){out, len};
            return true;
        }
    }
    return false;
}

bool maria_take_literal(struct slice *at, struct value *value)
{
    *value = (struct value){0};
    if (maria_skip(at, "NULL")) {
        value->is_null = true;
        return true;
    }
    bool has_charset = maria_skip(at, "_utf8mb4 ") || maria_skip(at, "_ascii ");
    if (maria_skip(at, "x'"))
        return take_hex(at, &value->text);
    if (maria_skip(at, "'")) {
        bool ok = take_quoted(at, &value->text);
        value->integer = instant_parse(value->text);
        return ok;
    }
    if (has_charset || at->len == 0)
        return false;
    char *end;
    value->number = strtod(at->data, &end);
    value->integer = strtoll(at->data, NULL, 10);
    bool is_number = end > at->data;
    *at = is_number ? slice_skip(*at, (size_t)(end - at->data)) : *at;
    return is_number;
}

/* What follows the text in the statement. */
struct slice maria_after(const struct call *call, const char *text)
{
    const char *found = strstr(call->sql, text);
    if (found == NULL)
        maria_give_up(call);
    return slice_of(found + strlen(text));
}

int64_t maria_int_after(const struct call *call, const char *text)
{
    struct slice at = maria_after(call, text);
    int64_t value;
    if (!maria_take_int(&at, &value))
        maria_give_up(call);
    return value;
}

struct slice maria_bytes_after(const struct call *call, const char *text)
{
    struct slice at = maria_after(call, text);
    struct value value;
    if (!maria_take_literal(&at, &value))
        maria_give_up(call);
    return value.text;
}

bool maria_has(const struct call *call, const char *text)
{
    return strstr(call->sql, text) != NULL;
}
