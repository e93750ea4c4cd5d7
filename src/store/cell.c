/* See cell.h. Pure; any thread. */
#include "store/cell.h"

#include "base/swar.h"

enum { UUID_MAX = 36 };

static bool can_be_copied(char c)
{
    return c >= ' ' && c <= '~' && c != '"' && c != '\\';
}

/* Eight bytes at a time: a load checks a uuid for each provider and consumer. */
bool cell_is_uuid(struct slice text)
{
    if (text.len == 0 || text.len > UUID_MAX)
        return false;
    size_t i = 0;
    for (; i + 8 <= text.len; i += 8) {
        uint64_t word = swar_load(text.data + i);
        if ((swar_high(word) | swar_below(word, ' ') | swar_equal(word, '"') |
             swar_equal(word, '\\') | swar_equal(word, 0x7f)) != 0)
            return false;
    }
    for (; i < text.len; i++)
        if (!can_be_copied(text.data[i]))
            return false;
    return true;
}
