/* Database URLs of PostgreSQL: any bytes, up to a byte 1 the URL, then connection_parameters. What
 * is accepted has libpq's names, values that are C strings, and a target of one line that is itself
 * a URL of PostgreSQL. */
#include "base/arena.h"
#include "fuzz.h"
#include "store/postgres/session/url.h"

static void check_line(struct slice text)
{
    check(text.len > 0);
    for (size_t i = 0; i < text.len; i++)
        check((unsigned char)text.data[i] >= ' ' && text.data[i] != 0x7f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice parameters = {(const char *)data, size};
    struct slice url = slice_cut(&parameters, 1);
    struct arena *arena = arena_create();
    struct err err = {.arena = arena};
    struct pg_url parsed;
    if (!pg_url_parse(url, parameters, arena, &parsed, &err)) {
        check(err.status == 503);
        check_line(err.message);
        arena_destroy(arena);
        return 0;
    }
    check(pg_url_matches(url) && pg_url_matches(parsed.target));
    check_line(parsed.target);
    for (size_t i = 0; i < parsed.count; i++) {
        check(parsed.values[i][0] != '\0');
        check(pg_url_value(&parsed, parsed.keywords[i]) == parsed.values[i]);
    }
    check(parsed.keywords[parsed.count] == NULL && parsed.values[parsed.count] == NULL);
    arena_destroy(arena);
    return 0;
}
