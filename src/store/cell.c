/* See cell.h. Pure; any thread. */
#include "store/cell.h"

enum { UUID_MAX = 36 };

bool cell_is_uuid(struct slice text)
{
    if (text.len == 0 || text.len > UUID_MAX)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.data[i];
        if (c < ' ' || c > '~' || c == '"' || c == '\\')
            return false;
    }
    return true;
}
