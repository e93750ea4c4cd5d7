/* See latin1.h. Any thread. */
#include "api/text/latin1.h"

#include "base/swar.h"

static bool is_ascii(struct slice text)
{
    size_t i = 0;
    for (; text.len - i >= sizeof(uint64_t); i += sizeof(uint64_t))
        if (swar_high(swar_load(text.data + i)) != 0)
            return false;
    for (; i < text.len; i++)
        if ((unsigned char)text.data[i] >= 0x80)
            return false;
    return true;
}

struct slice latin1_text(struct arena *arena, struct slice arg)
{
    if (is_ascii(arg))
        return arg;
    char *text = arena_alloc(arena, 2 * arg.len + 1);
    size_t len = 0;
    for (size_t i = 0; i < arg.len; i++) {
        unsigned char c = (unsigned char)arg.data[i];
        if (c < 0x80) {
            text[len++] = (char)c;
            continue;
        }
        text[len++] = (char)(0xc0 | c >> 6);
        text[len++] = (char)(0x80 | (c & 0x3f));
    }
    return (struct slice){text, len};
}
