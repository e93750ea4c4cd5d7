/* What berth makes of URLs of PostgreSQL, for urls.py. A line of standard input is a URL and
 * connection_parameters, both in hexadecimal, with a space between them. Prints a line of JSON for
 * each: the target and libpq's parameters, or the message. One thread. */
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/hex.h"
#include "base/json_write.h"
#include "store/postgres/session/url.h"

static struct slice decode_hex(struct arena *arena, struct slice digits)
{
    char *text = arena_alloc(arena, digits.len / 2 + 1);
    for (size_t i = 0; i + 1 < digits.len; i += 2) {
        check(hex_value(digits.data[i]) >= 0 && hex_value(digits.data[i + 1]) >= 0);
        text[i / 2] = (char)(hex_value(digits.data[i]) << 4 | hex_value(digits.data[i + 1]));
    }
    return (struct slice){text, digits.len / 2};
}

static void write_answer(struct buf *out, struct arena *arena, struct slice line)
{
    struct slice parameters = line;
    struct slice url = decode_hex(arena, slice_cut(&parameters, ' '));
    struct err err = {.arena = arena};
    struct pg_url parsed;
    if (!pg_url_parse(url, decode_hex(arena, parameters), arena, &parsed, &err)) {
        buf_append_lit(out, "{\"error\": ");
        json_write_string(out, err.message);
        buf_append_lit(out, "}\n");
        return;
    }
    buf_append_lit(out, "{\"target\": ");
    json_write_string(out, parsed.target);
    buf_append_lit(out, ", \"values\": {");
    for (size_t i = 0; i < parsed.count; i++) {
        buf_append_slice(out, i == 0 ? SLICE_LIT("") : SLICE_LIT(", "));
        json_write_string(out, slice_of(parsed.keywords[i]));
        buf_append_lit(out, ": ");
        json_write_string(out, slice_of(parsed.values[i]));
    }
    buf_append_lit(out, "}}\n");
}

int main(void)
{
    struct arena *arena = arena_create();
    struct buf out = {0};
    char *line = NULL;
    size_t room = 0;
    ssize_t len;
    while ((len = getline(&line, &room, stdin)) > 0) {
        check(line[len - 1] == '\n');
        write_answer(&out, arena, (struct slice){line, (size_t)len - 1});
        arena_reset(arena);
    }
    check(fwrite(out.data, 1, out.len, stdout) == out.len);
    free(line);
    buf_free(&out);
    arena_destroy(arena);
    return 0;
}
