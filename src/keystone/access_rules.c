/* The pattern is processed once, with the set of positions in the path that it has reached so far:
 * a pattern with many ** costs no more than one without. Any thread. */
#include "keystone/access_rules.h"

#include <ctype.h>
#include <stdlib.h>

#include "base/buf.h"

enum { ALLOW_STEPS = 4 * 1000 * 1000 };

enum part_kind { PART_LITERAL, PART_SEGMENT, PART_ANYTHING };

struct part {
    enum part_kind kind;
    char literal;
};

/* Takes the next part off the pattern; false: the end. */
static bool next_part(struct slice *pattern, struct part *part)
{
    while (pattern->len > 0) {
        char c = pattern->data[0];
        if (c == '{') {
            const char *end = memchr(pattern->data, '}', pattern->len);
            *pattern = slice_skip(*pattern, end == NULL ? 1 : (size_t)(end - pattern->data) + 1);
            if (end == NULL)
                continue;
            *part = (struct part){.kind = PART_SEGMENT};
            return true;
        }
        *pattern = slice_skip(*pattern, 1);
        if (c == '}')
            continue;
        if (c == '*' && pattern->len > 0 && pattern->data[0] == '*') {
            *pattern = slice_skip(*pattern, 1);
            *part = (struct part){.kind = PART_ANYTHING};
        } else {
            *part = (struct part){.kind = c == '*' ? PART_SEGMENT : PART_LITERAL, .literal = c};
        }
        return true;
    }
    return false;
}

/* reached[i]: the pattern so far matches the first i characters of the path. Updated in place;
 * false: it matches none. */
static bool advance(bool *reached, struct slice path, const struct part *part)
{
    bool before = reached[0];
    bool any = false;
    reached[0] = part->kind == PART_ANYTHING && before;
    for (size_t i = 1; i <= path.len; i++) {
        bool here = reached[i];
        char c = path.data[i - 1];
        switch (part->kind) {
        case PART_LITERAL:
            reached[i] = before && c == part->literal;
            break;
        case PART_SEGMENT: /* one more character, the first of the segment or a later one */
            reached[i] = c != '/' && (before || reached[i - 1]);
            break;
        case PART_ANYTHING:
            reached[i] = here || reached[i - 1];
            break;
        }
        before = here;
        any = any || reached[i];
    }
    return any || reached[0];
}

bool access_rules_path_matches(struct slice path, struct slice pattern, size_t *steps)
{
    bool *reached = calloc(path.len + 1, sizeof(*reached));
    struct part part;
    bool possible = true;
    check(reached != NULL);
    reached[0] = true;
    while (possible && next_part(&pattern, &part)) {
        possible = *steps > path.len && advance(reached, path, &part);
        *steps -= *steps > path.len ? path.len + 1 : *steps;
    }
    possible = possible && reached[path.len];
    free(reached);
    return possible;
}

static void append_encoded(struct buf *out, struct slice text)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.data[i];
        if (c < 0x80 && (isalnum(c) || (c != '\0' && strchr("/~!$&'()*+,;=:@_.-", c) != NULL)))
            buf_append_char(out, (char)c);
        else
            buf_printf(out, "%%%02X", c);
    }
}

struct slice access_rules_encode_path(struct arena *arena, struct slice mount, struct slice path)
{
    struct buf out = {0};
    append_encoded(&out, mount);
    append_encoded(&out, path);
    struct slice encoded = arena_copy(arena, buf_slice(&out));
    buf_free(&out);
    return encoded;
}

bool access_rules_allow(const struct token *token, enum token_service service, struct slice method,
                        struct slice path)
{
    size_t steps = ALLOW_STEPS;
    for (unsigned i = 0; i < token->rule_count; i++)
        if ((token->rules[i].services & 1U << service) != 0 &&
            slice_equal(token->rules[i].method, method) &&
            access_rules_path_matches(path, token->rules[i].path, &steps))
            return true;
    return false;
}
