/* The types of oslo.config: they accept what Python's int(), float() and oslo.config's Boolean and
 * List accept. Any thread. */
#include "conf/value.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <strings.h>

#include "base/json_write.h"
#include "base/python_text.h"
#include "conf/whitespace.h"

static bool value_refuse(struct arena *arena, struct slice *why, const char *what,
                         struct slice text)
{
    *why = arena_printf(arena, "%s, not '%.*s'", what, SLICE_ARG(text));
    return false;
}

static bool convert_string(struct conf_value *value, struct slice text, struct arena *arena,
                           struct slice *why)
{
    value->text = arena_copy(arena, text).data;
    value->is_set = true;
    const char *choices = value->option->choices;
    if (choices == NULL)
        return true;
    for (const char *at = choices; *at != '\0';) {
        size_t len = strcspn(at, "|");
        if (text.len == len && (value->option->choices_any_case ? strncasecmp(text.data, at, len)
                                                                : memcmp(text.data, at, len)) == 0)
            return true;
        at += len + (at[len] == '|');
    }
    struct buf list = {0};
    for (const char *at = choices; *at != '\0'; at++)
        if (*at == '|')
            buf_append_lit(&list, ", ");
        else
            buf_append_char(&list, *at);
    *why = arena_printf(arena, "must be one of %.*s, not '%.*s'", SLICE_ARG(buf_slice(&list)),
                        SLICE_ARG(text));
    buf_free(&list);
    return false;
}

static bool convert_boolean(struct conf_value *value, struct slice text, struct arena *arena,
                            struct slice *why)
{
    static const char *const words[] = {"false", "true", "0", "1", "off", "on", "no", "yes"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (text.len == strlen(words[i]) && strncasecmp(text.data, words[i], text.len) == 0) {
            value->boolean = i % 2 == 1;
            value->is_set = true;
            return true;
        }
    return value_refuse(arena, why, "must be true or false", text);
}

static bool value_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The text without the underscores that Python allows between two digits, NUL-terminated; NULL if
 * there is one elsewhere. */
static const char *without_underscores(struct slice text, struct arena *arena)
{
    char *out = arena_alloc(arena, text.len + 1);
    size_t len = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] != '_')
            out[len++] = text.data[i];
        else if (i == 0 || i + 1 == text.len || !value_is_digit(text.data[i - 1]) ||
                 !value_is_digit(text.data[i + 1]))
            return NULL;
    }
    out[len] = '\0';
    return out;
}

static bool in_bounds(const struct option *option, double number, struct arena *arena,
                      struct slice *why)
{
    if (option->min == 0 && option->max == 0)
        return true;
    if (number >= (double)option->min && number <= (double)option->max)
        return true;
    *why = arena_printf(arena, "must be between %lld and %lld", (long long)option->min,
                        (long long)option->max);
    return false;
}

static bool convert_integer(struct conf_value *value, struct slice text, struct arena *arena,
                            struct slice *why)
{
    struct slice stripped = whitespace_strip(text);
    if (stripped.len == 0)
        return true;
    const char *digits = without_underscores(stripped, arena);
    size_t sign = digits != NULL && (digits[0] == '-' || digits[0] == '+');
    if (digits == NULL || digits[sign] == '\0' ||
        strspn(digits + sign, "0123456789") != strlen(digits + sign))
        return value_refuse(arena, why, "must be a whole number", text);
    errno = 0;
    value->integer = strtoll(digits, NULL, 10);
    if (errno == ERANGE)
        return value_refuse(arena, why, "must fit into 64 bits", text);
    value->is_set = true;
    return in_bounds(value->option, (double)value->integer, arena, why);
}

static bool convert_float(struct conf_value *value, struct slice text, struct arena *arena,
                          struct slice *why)
{
    struct slice stripped = whitespace_strip(text);
    if (stripped.len == 0)
        return true;
    const char *digits = without_underscores(stripped, arena);
    char *end = NULL;
    if (digits != NULL)
        value->real = strtod(digits, &end);
    /* strtod also accepts hexadecimal numbers, "inf" and "nan"; no option needs them. */
    if (end == NULL || end == digits || *end != '\0' || strpbrk(digits, "xX") != NULL ||
        !isfinite(value->real))
        return value_refuse(arena, why, "must be a number", text);
    value->is_set = true;
    return in_bounds(value->option, value->real, arena, why);
}

/* As in oslo.config, commas at the end are dropped, and an empty item between two others is
 * kept. */
static void convert_list(struct conf_value *value, struct slice text, struct arena *arena)
{
    struct slice rest = whitespace_strip(text);
    while (rest.len > 0 && rest.data[rest.len - 1] == ',')
        rest.len--;
    size_t commas = 0;
    for (size_t i = 0; i < rest.len; i++)
        commas += rest.data[i] == ',';
    const char **items = arena_array(arena, commas + 1, sizeof(*items));
    size_t n = 0;
    while (rest.len > 0) {
        const char *comma = memchr(rest.data, ',', rest.len);
        size_t len = comma == NULL ? rest.len : (size_t)(comma - rest.data);
        items[n++] = arena_copy(arena, whitespace_strip((struct slice){rest.data, len})).data;
        rest = slice_skip(rest, comma == NULL ? len : len + 1);
    }
    value->items = items;
    value->items_n = n;
    value->is_set = true;
}

static void convert_multi(struct conf_value *value, const struct slice *texts, size_t n,
                          struct arena *arena)
{
    const char **items = arena_array(arena, n, sizeof(*items));
    for (size_t i = 0; i < n; i++)
        items[i] = arena_copy(arena, texts[i]).data;
    value->items = items;
    value->items_n = n;
    value->is_set = true;
}

bool value_convert(struct conf_value *value, const struct slice *texts, size_t n,
                   struct arena *arena, struct slice *why)
{
    check(n == 1 || value->option->type == OPTION_MULTI);
    value->is_set = false;
    switch (value->option->type) {
    case OPTION_STRING:
        return convert_string(value, texts[0], arena, why);
    case OPTION_INTEGER:
        return convert_integer(value, texts[0], arena, why);
    case OPTION_FLOAT:
        return convert_float(value, texts[0], arena, why);
    case OPTION_BOOLEAN:
        return convert_boolean(value, texts[0], arena, why);
    case OPTION_LIST:
        convert_list(value, texts[0], arena);
        return true;
    case OPTION_MULTI:
        convert_multi(value, texts, n, arena);
        return true;
    }
    check(false);
}

void value_print(const struct conf_value *value, struct buf *out)
{
    if (!value->is_set)
        return;
    switch (value->option->type) {
    case OPTION_STRING:
        buf_append_slice(out, slice_of(value->text));
        break;
    case OPTION_INTEGER:
        buf_append_int(out, value->integer);
        break;
    case OPTION_FLOAT:
        json_write_double(out, value->real);
        break;
    case OPTION_BOOLEAN:
        buf_append_slice(out, value->boolean ? SLICE_LIT("True") : SLICE_LIT("False"));
        break;
    case OPTION_LIST:
    case OPTION_MULTI:
        buf_append_char(out, '[');
        for (size_t i = 0; i < value->items_n; i++) {
            if (i > 0)
                buf_append_lit(out, ", ");
            python_text_write(out, slice_of(value->items[i]), SIZE_MAX);
        }
        buf_append_char(out, ']');
        break;
    }
}

static bool items_equal(const struct conf_value *a, const struct conf_value *b)
{
    for (size_t i = 0; i < a->items_n; i++)
        if (i >= b->items_n || strcmp(a->items[i], b->items[i]) != 0)
            return false;
    return a->items_n == b->items_n;
}

bool value_equal(const struct conf_value *a, const struct conf_value *b)
{
    check(a->option == b->option);
    if (!a->is_set || !b->is_set)
        return a->is_set == b->is_set;
    switch (a->option->type) {
    case OPTION_STRING:
        return strcmp(a->text, b->text) == 0;
    case OPTION_INTEGER:
        return a->integer == b->integer;
    case OPTION_FLOAT:
        return !(a->real < b->real || a->real > b->real);
    case OPTION_BOOLEAN:
        return a->boolean == b->boolean;
    case OPTION_LIST:
    case OPTION_MULTI:
        return items_equal(a, b);
    }
    check(false);
}
