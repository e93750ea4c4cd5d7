/* Query strings and percent-encoding. Pure; any thread. */
#include "api/text/query_string.h"

#include "base/arena.h"
#include "base/hex.h"
#include "base/swar.h"
#include "base/utf8.h"

/* The number of raw characters that encode the next character. */
static size_t encoded_length(struct slice rest)
{
    bool is_encoded = rest.data[0] == '%' && rest.len > 2 && hex_value(rest.data[1]) >= 0 &&
                      hex_value(rest.data[2]) >= 0;
    return is_encoded ? 3 : 1;
}

struct slice percent_skip(struct slice raw, size_t decoded)
{
    for (; decoded > 0; decoded--)
        raw = slice_skip(raw, encoded_length(raw));
    return raw;
}

struct slice percent_decode(struct arena *arena, struct slice raw, bool plus_is_space)
{
    size_t i = 0;
    for (; raw.len - i >= sizeof(uint64_t); i += sizeof(uint64_t)) {
        uint64_t word = swar_load(raw.data + i);
        if ((swar_equal(word, '%') | swar_equal(word, '+')) != 0)
            break;
    }
    while (i < raw.len && raw.data[i] != '%' && !(plus_is_space && raw.data[i] == '+'))
        i++;
    if (i == raw.len)
        return raw;
    char *out = arena_alloc(arena, raw.len);
    memcpy(out, raw.data, i);
    size_t len = i;
    while (i < raw.len) {
        char c = raw.data[i++];
        if (c == '+' && plus_is_space) {
            c = ' ';
        } else if (c == '%' && i + 1 < raw.len && hex_value(raw.data[i]) >= 0 &&
                   hex_value(raw.data[i + 1]) >= 0) {
            c = (char)(hex_value(raw.data[i]) << 4 | hex_value(raw.data[i + 1]));
            i += 2;
        }
        out[len++] = c;
    }
    return (struct slice){out, len};
}

bool text_is_utf8(struct slice text)
{
    size_t i = 0;
    while (i < text.len) {
        size_t n = utf8_length(text.data + i, text.len - i);
        if (n == 0)
            return false;
        i += n;
    }
    return true;
}

/* The end of the pair that begins at `start`. Almost no query has semicolons, so they are searched
 * for byte by byte only if there are any. */
static size_t pair_end(struct slice raw, size_t start, bool has_semicolons)
{
    const char *from = raw.data + start;
    if (!has_semicolons) {
        const char *end = memchr(from, '&', raw.len - start);
        return end == NULL ? raw.len : (size_t)(end - raw.data);
    }
    size_t end = start;
    while (end < raw.len && raw.data[end] != '&' && raw.data[end] != ';')
        end++;
    return end;
}

static size_t count_pairs(struct slice raw, bool has_semicolons)
{
    size_t count = 0;
    for (size_t start = 0; start < raw.len; start = pair_end(raw, start, has_semicolons) + 1)
        count++;
    return count;
}

struct query_string query_string_parse(struct arena *arena, struct slice raw)
{
    struct query_string query = {.is_utf8 = true};
    bool has_semicolons = raw.len > 0 && memchr(raw.data, ';', raw.len) != NULL;
    query.pairs = arena_array(arena, count_pairs(raw, has_semicolons), sizeof(*query.pairs));
    for (size_t start = 0, end; start < raw.len; start = end + 1) {
        end = pair_end(raw, start, has_semicolons);
        struct slice pair = {raw.data + start, end - start};
        if (pair.len == 0)
            continue;
        const char *equals = memchr(pair.data, '=', pair.len);
        struct slice name = pair;
        struct slice value = SLICE_LIT("");
        if (equals != NULL) {
            name.len = (size_t)(equals - pair.data);
            value = slice_skip(pair, name.len + 1);
        }
        struct query_pair *out = &query.pairs[query.count++];
        out->name = percent_decode(arena, name, true);
        out->value = percent_decode(arena, value, true);
        query.is_utf8 = query.is_utf8 && text_is_utf8(out->name) && text_is_utf8(out->value);
    }
    return query;
}

struct slice query_string_first(const struct query_string *query, struct slice name)
{
    for (size_t i = 0; i < query->count; i++)
        if (slice_equal(query->pairs[i].name, name))
            return query->pairs[i].value;
    return (struct slice){0};
}

struct slice query_string_last(const struct query_string *query, struct slice name)
{
    for (size_t i = query->count; i-- > 0;)
        if (slice_equal(query->pairs[i].name, name))
            return query->pairs[i].value;
    return (struct slice){0};
}
