/* One check: KIND:MATCH, "@", "!". Of oslo.policy's kinds, rule and role have meanings of their
 * own, http and https query a server, which is not supported here, and all others compare. One
 * thread per parser. */
#include "policy/check_text.h"

#include "policy/subject.h"

struct match_builder {
    struct arena *arena;
    struct policy_piece *pieces;
    size_t count;
    size_t capacity;
};

static void check_text_add(struct match_builder *builder, struct slice text, bool is_key)
{
    if (text.len == 0 && !is_key)
        return;
    builder->pieces = arena_grow(builder->arena, builder->pieces, builder->count,
                                 &builder->capacity, sizeof(*builder->pieces));
    builder->pieces[builder->count++] = (struct policy_piece){text, is_key};
}

/* The key of "(key)" at the beginning, whose parentheses nest, and its length; 0: there is none. */
static size_t read_key(struct slice text, struct slice *key)
{
    unsigned depth = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] == '(')
            depth++;
        else if (text.data[i] == ')' && --depth == 0) {
            *key = (struct slice){text.data + 1, i - 1};
            return i + 1;
        }
        if (depth == 0)
            return 0;
    }
    return 0;
}

/* Python's % operator with a mapping, of which only %(key)s and %% are supported. */
static struct policy_match parse_match(struct arena *arena, struct slice rest)
{
    struct match_builder builder = {.arena = arena};
    bool broken = false;
    while (rest.len > 0 && !broken) {
        const char *percent = memchr(rest.data, '%', rest.len);
        size_t len = percent == NULL ? rest.len : (size_t)(percent - rest.data);
        struct slice key;
        check_text_add(&builder, (struct slice){rest.data, len}, false);
        rest = slice_skip(rest, len);
        if (rest.len == 0)
            break;
        if (rest.len >= 2 && rest.data[1] == '%') {
            check_text_add(&builder, (struct slice){rest.data, 1}, false);
            rest = slice_skip(rest, 2);
            continue;
        }
        size_t bracket = read_key(slice_skip(rest, 1), &key);
        if (bracket > 0)
            check_text_add(&builder, key, true);
        rest = slice_skip(rest, 1 + bracket);
        broken = bracket == 0 || rest.len == 0 || rest.data[0] != 's';
        if (!broken)
            rest = slice_skip(rest, 1);
    }
    return (struct policy_match){builder.pieces, (unsigned)builder.count, broken};
}

static const struct policy_node *parse_generic(struct policy_parser *parser, struct slice text,
                                               struct slice kind, struct slice match)
{
    struct policy_node *node = policy_node_new(parser, POLICY_OP_GENERIC, text);
    node->match = parse_match(parser->arena, match);
    policy_subject_parse(parser->arena, parser->service, kind, node);
    if (node->match.broken || node->subject == POLICY_SUBJECT_FAULT)
        policy_note_rule(parser->notes,
                         "%.*s cannot be evaluated: requests for which it is evaluated are refused",
                         SLICE_ARG(text));
    else if (node->subject == POLICY_SUBJECT_UNKNOWN)
        policy_note_rule(parser->notes, "%.*s never passes: there is no credential of that name",
                         SLICE_ARG(text));
    else if (node->below)
        policy_note_rule(parser->notes, "%.*s never passes: that credential has no parts",
                         SLICE_ARG(text));
    return node;
}

static struct policy_node *parse_rule_reference(struct policy_parser *parser, struct slice name)
{
    struct policy_references *references = &parser->references;
    struct policy_node *node = policy_node_new(parser, POLICY_OP_RULE, name);
    references->items = arena_grow(parser->arena, references->items, references->count,
                                   &references->capacity, sizeof(*references->items));
    references->items[references->count++] = node;
    return node;
}

const struct policy_node *policy_check_parse(struct policy_parser *parser, struct slice text)
{
    if (slice_equal(text, SLICE_LIT("!")))
        return policy_node_new(parser, POLICY_OP_FALSE, text);
    if (slice_equal(text, SLICE_LIT("@")))
        return policy_node_new(parser, POLICY_OP_TRUE, text);
    if (memchr(text.data, ':', text.len) == NULL) {
        policy_note_rule(parser->notes, "\"%.*s\" is not a check, so it never passes",
                         SLICE_ARG(text));
        return policy_node_new(parser, POLICY_OP_FALSE, text);
    }
    struct slice match = text;
    struct slice kind = slice_cut(&match, ':');
    if (slice_equal(kind, SLICE_LIT("rule")))
        return parse_rule_reference(parser, match);
    if (slice_equal(kind, SLICE_LIT("http")) || slice_equal(kind, SLICE_LIT("https"))) {
        policy_note_rule(parser->notes,
                         "%.*s would query a server, which is not supported: requests for which "
                         "it is evaluated are refused",
                         SLICE_ARG(text));
        return policy_node_new(parser, POLICY_OP_FAULT, text);
    }
    if (!slice_equal(kind, SLICE_LIT("role")))
        return parse_generic(parser, text, kind, match);
    struct policy_node *node = policy_node_new(parser, POLICY_OP_ROLE, text);
    node->match = parse_match(parser->arena, match);
    if (node->match.broken)
        policy_note_rule(parser->notes,
                         "%.*s cannot be evaluated: requests for which it is evaluated are refused",
                         SLICE_ARG(text));
    return node;
}
