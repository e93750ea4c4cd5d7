/* UTF-8 (RFC 3629): no surrogates, no overlong forms. Pure; any thread. */
#ifndef BERTH_BASE_UTF8_H
#define BERTH_BASE_UTF8_H

#include <stddef.h>

/* The length in bytes of the character at text, of which `left` bytes (at least 1) are available; 0
 * if it is malformed. */
static inline size_t utf8_length(const char *text, size_t left)
{
    const unsigned char *s = (const unsigned char *)text;
    unsigned char c = s[0];
    if (c < 0x80)
        return 1;
    size_t need = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;
    if (c < 0xc2 || c > 0xf4 || left < need)
        return 0;
    for (size_t i = 1; i < need; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    if ((c == 0xe0 && s[1] < 0xa0) || (c == 0xed && s[1] > 0x9f) || (c == 0xf0 && s[1] < 0x90) ||
        (c == 0xf4 && s[1] > 0x8f))
        return 0;
    return need;
}

#endif
