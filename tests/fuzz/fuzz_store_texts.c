/* What the store reads of what others wrote: the first byte chooses a connection's URL, an instant
 * of a row, or a row of the change log. */
#include "base/arena.h"
#include "fuzz.h"
#include "store/sqlite/instant.h"
#include "store/sqlite/log.h"
#include "store/sqlite/url.h"

static void check_url(struct slice text)
{
    struct arena *arena = arena_create();
    struct err err = {.arena = arena};
    struct slice path;
    if (sqlite_url_parse(text, &path, &err)) {
        check(path.data >= text.data && path.data + path.len <= text.data + text.len);
        check(path.len == 0 || memchr(path.data, '\0', path.len) == NULL);
    } else {
        check(err.status == 503 && err.message.len > 0);
    }
    arena_destroy(arena);
}

static void check_instant(struct slice text)
{
    char again[INSTANT_LEN];
    int64_t us = instant_parse(text);
    instant_format(us, again);
    if (us < 253402300800000000) /* a leap second at the end of the year 9999 cannot be written */
        check(instant_parse((struct slice){again, INSTANT_LEN}) == us);
}

static void check_log(struct slice text)
{
    struct log_entries entries = {0};
    if (log_parse(text, &entries))
        for (size_t i = 0; i < entries.count; i++)
            check(entries.data[i].kind < LOG_KIND_COUNT && entries.data[i].uuid_len <= 36);
    log_entries_free(&entries);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    struct slice text = {(const char *)data + 1, size - 1};
    switch (data[0] % 3) {
    case 0:
        check_url(text);
        break;
    case 1:
        check_instant(text);
        break;
    default:
        check_log(text);
        break;
    }
    return 0;
}
