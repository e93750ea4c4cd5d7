/* The templates of oslo.config: Python's string.Template with dots allowed in names. Every `\$` is
 * replaced by `$$` before anything else. A name is as long as possible, so `$a.b` refers to option
 * b of section a. Any thread. */
#include "conf/interpolate.h"

static bool begins_name(char c)
{
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static size_t name_length(struct slice text)
{
    size_t len = 0;
    if (text.len == 0 || !begins_name(text.data[0]))
        return 0;
    while (len < text.len && (begins_name(text.data[len]) || text.data[len] == '.' ||
                              (text.data[len] >= '0' && text.data[len] <= '9')))
        len++;
    return len;
}

/* Parses the text after a dollar sign. `used` is how much of `rest` belongs to the reference; 0: it
 * is not a reference. */
static struct slice read_reference(struct slice rest, size_t *used)
{
    *used = 0;
    if (rest.len > 0 && rest.data[0] == '{') {
        struct slice inner = slice_skip(rest, 1);
        size_t len = name_length(inner);
        if (len > 0 && len < inner.len && inner.data[len] == '}')
            *used = len + 2;
        return (struct slice){inner.data, len};
    }
    *used = name_length(rest);
    return (struct slice){rest.data, *used};
}

static void double_escaped_dollars(struct slice text, struct buf *out)
{
    for (size_t i = 0; i < text.len; i++) {
        bool escapes = text.data[i] == '\\' && i + 1 < text.len && text.data[i + 1] == '$';
        buf_append_char(out, escapes ? '$' : text.data[i]);
    }
}

static bool expand(struct slice text, struct interpolate_lookup lookup, struct buf *out)
{
    while (text.len > 0) {
        char c = text.data[0];
        if (c == '$' && text.len > 1 && text.data[1] == '$') {
            buf_append_char(out, '$');
            text = slice_skip(text, 2);
            continue;
        }
        text = slice_skip(text, 1);
        size_t used = 0;
        struct slice name = {0};
        if (c == '$')
            name = read_reference(text, &used);
        if (used == 0) {
            buf_append_char(out, c);
            continue;
        }
        if (!lookup.find(lookup.context, name, out))
            return false;
        text = slice_skip(text, used);
    }
    return true;
}

bool interpolate_expand(struct slice text, struct interpolate_lookup lookup, struct buf *out)
{
    struct buf doubled = {0};
    double_escaped_dollars(text, &doubled);
    bool ok = expand(buf_slice(&doubled), lookup, out);
    buf_free(&doubled);
    return ok;
}
