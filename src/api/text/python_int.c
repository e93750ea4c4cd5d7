/* Python's int() and strip(). Pure; any thread. */
#include "api/text/python_int.h"

#include <stddef.h>

/* The digit zero of each script that has decimal digits (Unicode category Nd), ascending. */
static const uint32_t ZEROS[] = {
    0x30,    0x660,   0x6f0,   0x7c0,   0x966,   0x9e6,   0xa66,   0xae6,   0xb66,   0xbe6,
    0xc66,   0xce6,   0xd66,   0xde6,   0xe50,   0xed0,   0xf20,   0x1040,  0x1090,  0x17e0,
    0x1810,  0x1946,  0x19d0,  0x1a80,  0x1a90,  0x1b50,  0x1bb0,  0x1c40,  0x1c50,  0xa620,
    0xa8d0,  0xa900,  0xa9d0,  0xa9f0,  0xaa50,  0xabf0,  0xff10,  0x104a0, 0x10d30, 0x11066,
    0x110f0, 0x11136, 0x111d0, 0x112f0, 0x11450, 0x114d0, 0x11650, 0x116c0, 0x11730, 0x118e0,
    0x11950, 0x11c50, 0x11d50, 0x11da0, 0x16a60, 0x16ac0, 0x16b50, 0x1d7ce, 0x1d7d8, 0x1d7e2,
    0x1d7ec, 0x1d7f6, 0x1e140, 0x1e2f0, 0x1e950, 0x1fbf0};

/* Decodes one character of valid UTF-8. */
static uint32_t decode(struct slice text, size_t *len)
{
    const unsigned char *s = (const unsigned char *)text.data;
    if (s[0] < 0x80 || text.len < 2) {
        *len = 1;
        return s[0];
    }
    if (s[0] < 0xe0) {
        *len = 2;
        return (s[0] & 0x1fu) << 6 | (s[1] & 0x3fu);
    }
    if (s[0] < 0xf0 && text.len >= 3) {
        *len = 3;
        return (s[0] & 0x0fu) << 12 | (s[1] & 0x3fu) << 6 | (s[2] & 0x3fu);
    }
    if (text.len >= 4) {
        *len = 4;
        return (s[0] & 0x07u) << 18 | (s[1] & 0x3fu) << 12 | (s[2] & 0x3fu) << 6 | (s[3] & 0x3fu);
    }
    *len = 1;
    return s[0];
}

static bool is_space(uint32_t c)
{
    return (c >= 0x09 && c <= 0x0d) || (c >= 0x1c && c <= 0x20) || c == 0x85 || c == 0xa0 ||
           c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 ||
           c == 0x202f || c == 0x205f || c == 0x3000;
}

/* int() does not treat the separators of files, groups, records and units as white space. */
static bool is_int_space(uint32_t c)
{
    return is_space(c) && !(c >= 0x1c && c <= 0x1f);
}

static struct slice strip(struct slice text, bool (*is_stripped)(uint32_t c))
{
    size_t len;
    while (text.len > 0 && is_stripped(decode(text, &len)))
        text = slice_skip(text, len);
    while (text.len > 0) {
        size_t start = text.len - 1;
        while (start > 0 && ((unsigned char)text.data[start] & 0xc0) == 0x80)
            start--;
        if (!is_stripped(decode(slice_skip(text, start), &len)))
            break;
        text.len = start;
    }
    return text;
}

struct slice python_strip(struct slice text)
{
    return strip(text, is_space);
}

static int digit_of(uint32_t c)
{
    for (size_t i = 0; i < sizeof(ZEROS) / sizeof(ZEROS[0]); i++)
        if (c >= ZEROS[i] && c < ZEROS[i] + 10)
            return (int)(c - ZEROS[i]);
    return -1;
}

bool python_int_parse(struct slice text, int64_t *value)
{
    text = strip(text, is_int_space);
    bool negative = text.len > 0 && text.data[0] == '-';
    if (text.len > 0 && (text.data[0] == '-' || text.data[0] == '+'))
        text = slice_skip(text, 1);
    bool digit_before = false;
    int64_t sum = 0;
    while (text.len > 0) {
        size_t len;
        uint32_t c = decode(text, &len);
        text = slice_skip(text, len);
        if (c == '_' && digit_before) {
            digit_before = false;
            continue;
        }
        int digit = digit_of(c);
        if (digit < 0)
            return false;
        digit_before = true;
        if (__builtin_mul_overflow(sum, 10, &sum) || __builtin_add_overflow(sum, digit, &sum))
            sum = INT64_MAX;
    }
    *value = negative ? -sum : sum;
    return digit_before;
}
