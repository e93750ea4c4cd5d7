/* Strips everything that may surround a UUID's digits, and counts the digits. Pure; any thread. */
#include "api/text/uuid_like.h"

#include "base/hex.h"

enum { DIGITS = 32 };

/* Removes every occurrence of `part` from the text in place, from left to right. */
static size_t remove_all(char *text, size_t len, struct slice part)
{
    size_t out = 0;
    for (size_t i = 0; i < len;) {
        if (len - i >= part.len && memcmp(text + i, part.data, part.len) == 0)
            i += part.len;
        else
            text[out++] = text[i++];
    }
    return out;
}

static bool is_brace(char c)
{
    return c == '{' || c == '}';
}

static bool write_dashed(struct slice text, char dashed[UUID_LIKE_LEN])
{
    char digits[DIGITS];
    size_t count = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] == '-')
            continue;
        int value = hex_value(text.data[i]);
        if (value < 0 || count == DIGITS)
            return false;
        digits[count++] = "0123456789abcdef"[value];
    }
    if (count != DIGITS)
        return false;
    if (dashed == NULL)
        return true;
    size_t out = 0;
    for (size_t i = 0; i < DIGITS; i++) {
        if (i == 8 || i == 12 || i == 16 || i == 20)
            dashed[out++] = '-';
        dashed[out++] = digits[i];
    }
    return true;
}

bool uuid_like_read(struct slice text, char dashed[UUID_LIKE_LEN])
{
    /* the plain form first, because almost every text has it */
    if (text.len == UUID_LIKE_LEN && write_dashed(text, dashed))
        return true;
    /* the Python service accepts long runs of prefixes, braces and dashes; no client sends them */
    char copy[256];
    if (text.len > sizeof(copy))
        return false;
    memcpy(copy, text.data, text.len);
    size_t len = remove_all(copy, text.len, SLICE_LIT("urn:"));
    len = remove_all(copy, len, SLICE_LIT("uuid:"));
    struct slice rest = {copy, len};
    while (rest.len > 0 && is_brace(rest.data[0]))
        rest = slice_skip(rest, 1);
    while (rest.len > 0 && is_brace(rest.data[rest.len - 1]))
        rest.len--;
    return write_dashed(rest, dashed);
}

bool uuid_like_is_dashed(struct slice text)
{
    static const size_t dashes[] = {8, 13, 18, 23};
    if (text.len != UUID_LIKE_LEN || !write_dashed(text, NULL))
        return false;
    for (size_t i = 0; i < sizeof(dashes) / sizeof(dashes[0]); i++)
        if (text.data[dashes[i]] != '-')
            return false;
    return true;
}
