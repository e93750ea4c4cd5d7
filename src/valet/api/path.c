/* Ids may be any text, even with slashes (Valet spec, 2.5), so the path is split into segments
 * before it is decoded. */
#include "valet/api/path.h"

#include "base/arena.h"
#include "base/hex.h"

static struct slice without_slash(struct slice path)
{
    if (path.len > 1 && path.data[path.len - 1] == '/')
        path.len--;
    return path;
}

/* The next character, and whether it was encoded. */
static char next(struct slice *rest, bool *was_encoded)
{
    char c = rest->data[0];
    *was_encoded =
        c == '%' && rest->len > 2 && hex_value(rest->data[1]) >= 0 && hex_value(rest->data[2]) >= 0;
    if (*was_encoded)
        c = (char)(hex_value(rest->data[1]) << 4 | hex_value(rest->data[2]));
    *rest = slice_skip(*rest, *was_encoded ? 3 : 1);
    return c;
}

struct slice valet_path(const struct api_request *request)
{
    struct slice rest = without_slash(request->raw_path);
    if (rest.len == 0 || memchr(rest.data, '%', rest.len) == NULL)
        return rest;
    char *out = arena_array(request->arena, rest.len, 3);
    size_t len = 0;
    while (rest.len > 0) {
        bool was_encoded;
        char c = next(&rest, &was_encoded);
        const char *kept = c == '%' ? "%25" : c == '/' && was_encoded ? "%2F" : NULL;
        if (kept == NULL) {
            out[len++] = c;
            continue;
        }
        memcpy(out + len, kept, 3);
        len += 3;
    }
    return (struct slice){out, len};
}
