/* Appends the short texts that a line consists of: a request's line has some twenty, most of less
 * than sixteen bytes; a call of memcpy and a check of each byte would cost more than the rest of
 * the line. Any thread. */
#ifndef BERTH_LOG_APPEND_H
#define BERTH_LOG_APPEND_H

#include "base/swar.h"
#include "log/internal.h"

static inline uint32_t log_load_4(const char *at)
{
    uint32_t word;
    memcpy(&word, at, sizeof(word));
    return word;
}

/* Not 0 if any byte of the word is not printable ASCII. */
static inline uint64_t log_unclean(uint64_t word)
{
    return swar_below(word, 0x20) | swar_equal(word, 0x7f) | swar_high(word);
}

/* The same for a text. The last word overlaps the one before. */
static inline uint64_t log_is_unclean(struct slice text)
{
    const char *at = text.data;
    size_t len = text.len;
    if (len >= 8) {
        uint64_t unclean = log_unclean(swar_load(at + len - 8));
        for (size_t i = 0; i + 8 < len; i += 8)
            unclean |= log_unclean(swar_load(at + i));
        return unclean;
    }
    if (len >= 4)
        return log_unclean((uint64_t)log_load_4(at) | (uint64_t)log_load_4(at + len - 4) << 32);
    if (len == 0)
        return 0;
    uint64_t three = (uint64_t)(unsigned char)at[0] | (uint64_t)(unsigned char)at[len / 2] << 8 |
                     (uint64_t)(unsigned char)at[len - 1] << 16;
    return log_unclean(three | (SWAR_EACH(0x20) << 24));
}

static inline void log_append(struct buf *out, struct slice text)
{
    size_t len = text.len;
    if (len == 0)
        return;
    char *to = buf_reserve(out, len);
    const char *from = text.data;
    out->len += len;
    if (len > 16) {
        memcpy(to, from, len);
    } else if (len >= 8) {
        uint64_t first = swar_load(from);
        uint64_t last = swar_load(from + len - 8);
        memcpy(to, &first, 8);
        memcpy(to + len - 8, &last, 8);
    } else if (len >= 4) {
        uint32_t first = log_load_4(from);
        uint32_t last = log_load_4(from + len - 4);
        memcpy(to, &first, 4);
        memcpy(to + len - 4, &last, 4);
    } else {
        for (size_t i = 0; i < len; i++)
            to[i] = from[i];
    }
}

static inline void log_append_clean(struct buf *out, struct slice text)
{
    if (__builtin_expect(log_is_unclean(text) == 0, 1))
        log_append(out, text);
    else
        log_append_escaped(out, text);
}

#endif
