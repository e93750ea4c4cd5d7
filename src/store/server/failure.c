/* Messages keep the server's first line: what follows may contain values. Pure; any thread. */
#include "store/server/failure.h"

#include "base/arena.h"
#include "base/utf8.h"

enum { LINE_BYTES_MOST = 300 };

struct slice server_failure_line(struct arena *arena, const char *message)
{
    struct slice rest = slice_of(message);
    struct slice line = slice_cut(&rest, '\n');
    char *out = arena_alloc(arena, line.len + 4);
    size_t len = 0;
    bool is_cut = false;
    for (size_t i = 0; i < line.len && !is_cut;) {
        size_t n = utf8_length(line.data + i, line.len - i);
        is_cut = len + n > LINE_BYTES_MOST;
        if (is_cut)
            break;
        unsigned char c = (unsigned char)line.data[i];
        if (n == 0 || c < ' ' || c == 0x7f)
            out[len++] = n == 0 ? '?' : ' ';
        else
            for (size_t k = 0; k < n; k++)
                out[len++] = line.data[i + k];
        i += n == 0 ? 1 : n;
    }
    if (is_cut) {
        memcpy(out + len, "...", 3);
        len += 3;
    }
    out[len] = '\0';
    return slice_trim((struct slice){out, len});
}

enum server_outcome server_failure_set(enum server_outcome outcome, struct slice target,
                                       const char *what, struct slice reason, struct err *err)
{
    err_set(err, 503, NULL, "the database '%.*s' cannot be %s: %.*s", SLICE_ARG(target),
            what == NULL ? "used" : what, SLICE_ARG(reason));
    return outcome;
}
