/* Length-counted text that somebody else owns. A slice may hold NUL bytes. */
#ifndef BERTH_BASE_SLICE_H
#define BERTH_BASE_SLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

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

static inline bool slice_equal(struct slice a, struct slice b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

static inline bool slice_starts_with(struct slice s, struct slice prefix)
{
    return s.len >= prefix.len && memcmp(s.data, prefix.data, prefix.len) == 0;
}

static inline struct slice slice_skip(struct slice s, size_t n)
{
    return (struct slice){s.data + n, s.len - n};
}

#endif
