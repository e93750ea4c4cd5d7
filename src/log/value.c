/* Converts single values of a record to text: escaped, padded, as Python prints them. Any thread;
 * nothing is shared. */
#include <stdatomic.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/json_write.h"
#include "base/python_text.h"
#include "base/utf8.h"
#include "log/program.h"

enum { ROLE_MAX = 1024 }; /* of each as text */

const char *log_level_name(enum log_level level)
{
    static const char *const NAMES[LOG_LEVELS] = {"DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"};
    return NAMES[level];
}

int log_level_number(enum log_level level)
{
    return LOG_NUMBER_DEBUG + (int)level * (LOG_NUMBER_INFO - LOG_NUMBER_DEBUG);
}

int log_level_priority(enum log_level level)
{
    static const int PRIORITIES[LOG_LEVELS] = {7, 6, 4, 3, 2};
    return PRIORITIES[level];
}

/* Control characters of ASCII and of Unicode (U+0080 to U+009F, which a terminal may interpret),
 * and other characters that log readers treat as the end of a line: U+2028, U+2029. A character has
 * `len` bytes. */
static bool is_control(const char *at, size_t len)
{
    unsigned char c = (unsigned char)at[0];
    if (len == 1)
        return (c < 0x20 && c != '\t') || c == 0x7f;
    if (len == 2)
        return c == 0xc2 && (unsigned char)at[1] < 0xa0;
    return len == 3 && (memcmp(at, "\xe2\x80\xa8", 3) == 0 || memcmp(at, "\xe2\x80\xa9", 3) == 0);
}

/* The end of the text that needs no escaping, from `i` on. */
static size_t plain_end(struct slice text, size_t i)
{
    while (i < text.len) {
        size_t len = utf8_length(text.data + i, text.len - i);
        if (len == 0 || is_control(text.data + i, len))
            break;
        i += len;
    }
    return i;
}

void log_append_escaped(struct buf *out, struct slice text)
{
    static const char digits[] = "0123456789abcdef";
    size_t from = 0;
    for (;;) {
        size_t to = plain_end(text, from);
        buf_append(out, text.data + from, to - from);
        if (to == text.len)
            return;
        size_t len = utf8_length(text.data + to, text.len - to);
        for (from = to; from < to + (len == 0 ? 1 : len); from++) {
            unsigned char c = (unsigned char)text.data[from];
            const char escaped[] = {'\\', 'x', digits[c >> 4], digits[c & 15]};
            buf_append(out, escaped, sizeof(escaped));
        }
    }
}

void log_append_message(struct buf *out, const struct log_message *message)
{
    for (size_t i = 0; i < message->part_count; i++)
        buf_append_slice(out, message->parts[i]);
}

void log_append_roles(struct buf *out, const struct log_context *context)
{
    buf_append_char(out, '[');
    for (unsigned i = 0; i < context->role_count; i++) {
        buf_append_slice(out, i == 0 ? SLICE_LIT("") : SLICE_LIT(", "));
        python_text_write(out, context->roles[i], ROLE_MAX);
    }
    buf_append_char(out, ']');
}

/* The compiler's path is relative to the build directory. */
struct slice log_place_path(const struct log_place *place)
{
    struct slice path = slice_of(place->file);
    while (slice_starts_with(path, SLICE_LIT("../")))
        path = slice_skip(path, 3);
    return path;
}

struct slice log_place_file(const struct log_place *place)
{
    const char *slash = strrchr(place->file, '/');
    return slice_of(slash == NULL ? place->file : slash + 1);
}

struct slice log_place_module(const struct log_place *place)
{
    struct slice file = log_place_file(place);
    const char *point = memrchr(file.data, '.', file.len);
    if (point != NULL && point > file.data)
        file.len = (size_t)(point - file.data);
    return file;
}

int64_t log_relative_us(int64_t wall_us)
{
    static _Atomic int64_t began_us;
    int64_t began = 0;
    if (atomic_compare_exchange_strong(&began_us, &began, wall_us))
        began = wall_us;
    return wall_us - began;
}

static size_t count_characters(struct slice text)
{
    size_t n = 0;
    for (size_t i = 0; i < text.len; i++)
        n += ((unsigned char)text.data[i] & 0xc0) != 0x80;
    return n;
}

static struct slice first_characters(struct slice text, size_t n)
{
    size_t i = 0;
    while (i < text.len && (n > 0 || ((unsigned char)text.data[i] & 0xc0) == 0x80)) {
        n -= ((unsigned char)text.data[i] & 0xc0) != 0x80;
        i++;
    }
    return (struct slice){text.data, i};
}

/* Widths count characters, as in Python. */
static void append_padded(struct buf *out, struct slice text, const struct log_spec *spec)
{
    if (spec->precision >= 0)
        text = first_characters(text, (size_t)spec->precision);
    size_t have = count_characters(text);
    size_t missing = (size_t)spec->width > have ? (size_t)spec->width - have : 0;
    if (spec->left)
        buf_append_slice(out, text);
    if (missing > 0)
        memset(buf_reserve(out, missing), ' ', missing);
    out->len += missing;
    if (!spec->left)
        buf_append_slice(out, text);
}

static void append_as_text(struct buf *out, const struct log_value *value,
                           const struct log_spec *spec)
{
    struct buf text = {0};
    switch (value->kind) {
    case LOG_VALUE_NONE:
        buf_append_lit(&text, "None");
        break;
    case LOG_VALUE_TEXT:
        append_padded(out, value->text, spec);
        return;
    case LOG_VALUE_INTEGER:
        buf_append_int(&text, value->integer);
        break;
    case LOG_VALUE_REAL:
        json_write_double(&text, value->real);
        break;
    }
    append_padded(out, buf_slice(&text), spec);
    buf_free(&text);
}

/* The spec in printf's syntax. */
static void write_format(char format[16], const struct log_spec *spec, const char *conversion)
{
    snprintf(format, 16, "%%%s%s%s%s*.*%s", spec->left ? "-" : "", spec->zeros ? "0" : "",
             spec->plus ? "+" : "", spec->blank ? " " : "", conversion);
}

void log_value_append(struct buf *out, const struct log_value *value, const struct log_spec *spec)
{
    char format[16];
    char text[2 * 1024 + 64]; /* width and precision are at most 1000, a double has 309 digits */
    int len = 0;
    if (spec->conversion == 's') {
        append_as_text(out, value, spec);
        return;
    }
    double real = value->kind == LOG_VALUE_REAL ? value->real : (double)value->integer;
    int64_t integer = value->kind == LOG_VALUE_REAL ? (int64_t)value->real : value->integer;
    char conversion[] = {'l', 'l', spec->conversion, '\0'};
    if (strchr("diu", spec->conversion) != NULL)
        conversion[2] = 'd';
    write_format(format, spec, strchr("dxX", conversion[2]) != NULL ? conversion : conversion + 2);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    if (strchr("dxX", conversion[2]) != NULL)
        len =
            snprintf(text, sizeof(text), format, spec->width, spec->precision, (long long)integer);
    else
        len = snprintf(text, sizeof(text), format, spec->width, spec->precision, real);
#pragma GCC diagnostic pop
    check(len >= 0 && (size_t)len < sizeof(text));
    buf_append(out, text, (size_t)len);
}
