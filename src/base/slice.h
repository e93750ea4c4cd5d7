/* Length-counted text that another object owns. A slice may contain NUL bytes. */
#ifndef BERTH_BASE_SLICE_H
#define BERTH_BASE_SLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "base/check.h"

struct slice {
    const char *data;
    size_t len;
};

/* A slice over a string literal. */
#define SLICE_LIT(text) ((struct slice){(text), sizeof(text) - 1})

/* printf arguments for "%.*s". */
#define SLICE_ARG(s) (int)(s).len, (s).data

static inline struct slice slice_of(const char *text)
{
    return (struct slice){text, strlen(text)};
}

/* Copies the text to a NUL-terminated string, which the caller frees; a slice without data gives an
 * empty string. */
static inline char *slice_dup(struct slice s)
{
    char *text = strndup(s.data == NULL ? "" : s.data, s.len);
    check(text != NULL);
    return text;
}

static inline bool slice_equal(struct slice a, struct slice b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

/* ASCII letters compare equal in either case. */
static inline bool slice_equal_nocase(struct slice a, struct slice b)
{
    return a.len == b.len && (a.len == 0 || strncasecmp(a.data, b.data, a.len) == 0);
}

static inline bool slice_starts_with(struct slice s, struct slice prefix)
{
    return s.len >= prefix.len && memcmp(s.data, prefix.data, prefix.len) == 0;
}

static inline struct slice slice_skip(struct slice s, size_t n)
{
    return (struct slice){s.data + n, s.len - n};
}

/* The text without leading and trailing blanks and tabs. */
static inline struct slice slice_trim(struct slice s)
{
    while (s.len > 0 && (s.data[0] == ' ' || s.data[0] == '\t'))
        s = slice_skip(s, 1);
    while (s.len > 0 && (s.data[s.len - 1] == ' ' || s.data[s.len - 1] == '\t'))
        s.len--;
    return s;
}

/* Cuts the text before the separator, and the separator, off *rest; without a separator, all of
 * it. */
static inline struct slice slice_cut(struct slice *rest, char separator)
{
    const char *at = rest->len == 0 ? NULL : (const char *)memchr(rest->data, separator, rest->len);
    struct slice part = *rest;
    if (at != NULL)
        part.len = (size_t)(at - rest->data);
    *rest = slice_skip(*rest, at == NULL ? rest->len : part.len + 1);
    return part;
}

/* Byte order, a prefix before longer texts: for qsort on an array of slices. */
static inline int slice_compare(const void *left, const void *right)
{
    const struct slice *a = (const struct slice *)left;
    const struct slice *b = (const struct slice *)right;
    size_t len = a->len < b->len ? a->len : b->len;
    int order = len == 0 ? 0 : memcmp(a->data, b->data, len);
    return order != 0 ? order : (a->len > b->len) - (a->len < b->len);
}

#endif
