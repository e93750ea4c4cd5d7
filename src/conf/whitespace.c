/* Stripping. A white space character is one byte of ASCII or one of a few sequences of two or three
 * bytes; malformed UTF-8 matches none of them and is kept. Any thread. */
#include "conf/whitespace.h"

/* Space, \t to \r, and the four separators that Python counts as white space. */
static bool is_ascii_space(unsigned char c)
{
    return c == ' ' || (c >= 0x09 && c <= 0x0d) || (c >= 0x1c && c <= 0x1f);
}

static bool is_space2(const unsigned char *at)
{
    return at[0] == 0xc2 && (at[1] == 0x85 || at[1] == 0xa0);
}

/* U+1680, U+2000 to U+200A, U+2028, U+2029, U+202F, U+205F, U+3000. */
static bool is_space3(const unsigned char *at)
{
    if (at[0] == 0xe1)
        return at[1] == 0x9a && at[2] == 0x80;
    if (at[0] == 0xe3)
        return at[1] == 0x80 && at[2] == 0x80;
    if (at[0] != 0xe2)
        return false;
    if (at[1] == 0x81)
        return at[2] == 0x9f;
    return at[1] == 0x80 &&
           ((at[2] >= 0x80 && at[2] <= 0x8a) || at[2] == 0xa8 || at[2] == 0xa9 || at[2] == 0xaf);
}

struct slice whitespace_strip_left(struct slice text)
{
    for (;;) {
        const unsigned char *at = (const unsigned char *)text.data;
        if (text.len >= 1 && is_ascii_space(at[0]))
            text = slice_skip(text, 1);
        else if (text.len >= 2 && is_space2(at))
            text = slice_skip(text, 2);
        else if (text.len >= 3 && is_space3(at))
            text = slice_skip(text, 3);
        else
            return text;
    }
}

struct slice whitespace_strip_right(struct slice text)
{
    for (;;) {
        const unsigned char *end = (const unsigned char *)text.data + text.len;
        if (text.len >= 1 && is_ascii_space(end[-1]))
            text.len -= 1;
        else if (text.len >= 2 && is_space2(end - 2))
            text.len -= 2;
        else if (text.len >= 3 && is_space3(end - 3))
            text.len -= 3;
        else
            return text;
    }
}

struct slice whitespace_strip(struct slice text)
{
    return whitespace_strip_right(whitespace_strip_left(text));
}
