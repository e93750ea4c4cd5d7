/* See detail.h.
 *
 * The words around the two lists in parentheses are translated; none of the translations has
 * parentheses of its own after them. So the values end at the last one, whatever they contain.
 * Pure; any thread. */
#include "store/postgres/exchange/detail.h"

bool pg_detail_key(struct slice detail, size_t room, struct bundle_key *key)
{
    const char *from = detail.len == 0 ? NULL : memchr(detail.data, '(', detail.len);
    const char *middle = from == NULL ? NULL : memmem(detail.data, detail.len, ")=(", 3);
    const char *to = middle == NULL ? NULL : memrchr(detail.data, ')', detail.len);
    if (to == NULL || from > middle || to == middle || detail.len >= room)
        return false;
    *key = (struct bundle_key){{from + 1, (size_t)(middle - from) - 1},
                               {middle + 3, (size_t)(to - middle) - 3}};
    return true;
}
