/* Parses rules: text to tokens, tokens to a tree, by recursive descent. oslo.policy reduces a stack
 * of tokens greedily, with the same result: `or` has a lower precedence than `and`, which has a
 * lower one than `not`; if anything is left over, the whole rule denies. One thread per parser. */
#include "policy/language.h"

#include "conf/whitespace.h"
#include "policy/check_text.h"

enum token_kind {
    TOKEN_OPEN,
    TOKEN_CLOSE,
    TOKEN_AND,
    TOKEN_OR,
    TOKEN_NOT,
    TOKEN_QUOTED,
    TOKEN_CHECK
};

struct token {
    enum token_kind kind;
    struct slice text;
};

struct tokens {
    struct arena *arena;
    struct token *items;
    size_t count;
    size_t capacity;
    size_t at;
    unsigned depth;
    bool too_deep;
};

static void language_add(struct tokens *tokens, enum token_kind kind, struct slice text)
{
    tokens->items = arena_grow(tokens->arena, tokens->items, tokens->count, &tokens->capacity,
                               sizeof(*tokens->items));
    tokens->items[tokens->count++] = (struct token){kind, text};
}

static enum token_kind language_kind_of(struct slice word, bool whole)
{
    static const struct {
        struct slice word;
        enum token_kind kind;
    } WORDS[] = {
        {SLICE_LIT("and"), TOKEN_AND}, {SLICE_LIT("or"), TOKEN_OR}, {SLICE_LIT("not"), TOKEN_NOT}};
    for (size_t i = 0; i < sizeof(WORDS) / sizeof(WORDS[0]); i++)
        if (slice_equal_nocase(word, WORDS[i].word))
            return WORDS[i].kind;
    char first = word.data[0];
    if (whole && word.len >= 2 && (first == '"' || first == '\'') &&
        word.data[word.len - 1] == first)
        return TOKEN_QUOTED;
    return TOKEN_CHECK;
}

/* A run without white space; parentheses are separate only at its ends, because "%(key)s" contains
 * some. */
static void add_run(struct tokens *tokens, struct slice run)
{
    size_t closing = 0;
    for (; run.len > 0 && run.data[0] == '('; run = slice_skip(run, 1))
        language_add(tokens, TOKEN_OPEN, SLICE_LIT("("));
    for (; run.len > 0 && run.data[run.len - 1] == ')'; run.len--)
        closing++;
    if (run.len > 0)
        language_add(tokens, language_kind_of(run, closing == 0), run);
    for (; closing > 0; closing--)
        language_add(tokens, TOKEN_CLOSE, SLICE_LIT(")"));
}

static void tokenise(struct tokens *tokens, struct slice rest)
{
    rest = whitespace_strip(rest);
    while (rest.len > 0) {
        struct slice run = {rest.data, 0};
        while (run.len < rest.len &&
               whitespace_strip_left(slice_skip(rest, run.len)).len == rest.len - run.len)
            run.len++;
        add_run(tokens, run);
        rest = whitespace_strip_left(slice_skip(rest, run.len));
    }
}

static bool language_take(struct tokens *tokens, enum token_kind kind)
{
    if (tokens->at == tokens->count || tokens->items[tokens->at].kind != kind)
        return false;
    tokens->at++;
    return true;
}

static const struct policy_node *join(struct policy_parser *parser, enum policy_op op,
                                      const struct policy_node **children, size_t count)
{
    if (count == 1)
        return children[0];
    struct policy_node *node = policy_node_new(parser, op, (struct slice){0});
    node->children = children;
    node->count = (unsigned)count;
    return node;
}

static const struct policy_node *parse_or(struct policy_parser *parser, struct tokens *tokens);

/* NULL, here and below: not a rule. */
static const struct policy_node *parse_not(struct policy_parser *parser, struct tokens *tokens)
{
    const struct policy_node *inner = NULL;
    if (tokens->depth == POLICY_NESTING_MAX) {
        tokens->too_deep = true;
        return NULL;
    }
    tokens->depth++;
    if (language_take(tokens, TOKEN_NOT)) {
        const struct policy_node **child = arena_alloc(parser->arena, sizeof(struct policy_node *));
        child[0] = parse_not(parser, tokens);
        if (child[0] != NULL) {
            struct policy_node *node = policy_node_new(parser, POLICY_OP_NOT, (struct slice){0});
            node->children = child;
            node->count = 1;
            inner = node;
        }
    } else if (language_take(tokens, TOKEN_OPEN)) {
        inner = parse_or(parser, tokens);
        if (inner != NULL && !language_take(tokens, TOKEN_CLOSE))
            inner = NULL;
    } else if (language_take(tokens, TOKEN_CHECK)) {
        inner = policy_check_parse(parser, tokens->items[tokens->at - 1].text);
    }
    tokens->depth--;
    return inner;
}

/* Operands between operators of one kind. */
static const struct policy_node *
parse_chain(struct policy_parser *parser, struct tokens *tokens, enum token_kind operator,
            enum policy_op op,
            const struct policy_node *(*parse)(struct policy_parser *, struct tokens *))
{
    const struct policy_node **children = NULL;
    size_t count = 0;
    size_t capacity = 0;
    do {
        const struct policy_node *child = parse(parser, tokens);
        if (child == NULL)
            return NULL;
        children = arena_grow(parser->arena, children, count, &capacity, sizeof(*children));
        children[count++] = child;
    } while (language_take(tokens, operator));
    return join(parser, op, children, count);
}

static const struct policy_node *parse_and(struct policy_parser *parser, struct tokens *tokens)
{
    return parse_chain(parser, tokens, TOKEN_AND, POLICY_OP_AND, parse_not);
}

static const struct policy_node *parse_or(struct policy_parser *parser, struct tokens *tokens)
{
    return parse_chain(parser, tokens, TOKEN_OR, POLICY_OP_OR, parse_and);
}

static const struct policy_node *parse_text(struct policy_parser *parser, struct slice text,
                                            struct err *err)
{
    if (text.len == 0)
        return policy_node_new(parser, POLICY_OP_TRUE, text);
    if (text.len > POLICY_RULE_BYTES_MAX) {
        (void)err_set(err, 500, NULL, "a rule of more than %d bytes", POLICY_RULE_BYTES_MAX);
        return NULL;
    }
    struct tokens tokens = {.arena = parser->arena};
    text = arena_copy(parser->arena, text);
    tokenise(&tokens, text);
    if (tokens.count > POLICY_CHECKS_MAX) {
        (void)err_set(err, 500, NULL, "a rule of more than %d words", POLICY_CHECKS_MAX);
        return NULL;
    }
    if (tokens.count == 1 && tokens.items[0].kind != TOKEN_CHECK) {
        policy_note_rule(parser->notes, "%.*s is not a rule: requests that need it are refused",
                         SLICE_ARG(text));
        return policy_node_new(parser, POLICY_OP_FAULT, text);
    }
    const struct policy_node *node = parse_or(parser, &tokens);
    if (tokens.too_deep) {
        (void)err_set(err, 500, NULL, "a rule nested more than %d deep", POLICY_NESTING_MAX);
        return NULL;
    }
    if (node != NULL && tokens.at == tokens.count)
        return node;
    policy_note_rule(parser->notes, "cannot be understood, so it allows nobody: %.*s",
                     SLICE_ARG(text));
    return policy_node_new(parser, POLICY_OP_FALSE, text);
}

static bool count_checks(struct policy_parser *parser, const struct policy_value *list,
                         struct err *err)
{
    if (list->count <= POLICY_CHECKS_MAX && parser->checks <= POLICY_CHECKS_MAX - list->count) {
        parser->checks += list->count;
        return true;
    }
    return err_set(err, 500, NULL, "a rule of more than %d checks", POLICY_CHECKS_MAX);
}

/* The inner list: all must pass. */
static const struct policy_node *parse_all(struct policy_parser *parser,
                                           const struct policy_value *list, struct err *err)
{
    if (!count_checks(parser, list, err))
        return NULL;
    const struct policy_node **children =
        arena_array(parser->arena, list->count, sizeof(*children));
    for (unsigned i = 0; i < list->count; i++) {
        const struct policy_value *item = list->items[i];
        if (item->kind == POLICY_VALUE_TEXT) {
            children[i] = policy_check_parse(parser, arena_copy(parser->arena, item->text));
            continue;
        }
        policy_note_rule(parser->notes,
                         "a list in it has an element that is not text, which allows nobody");
        children[i] = policy_node_new(parser, POLICY_OP_FALSE, SLICE_LIT("!"));
    }
    return join(parser, POLICY_OP_AND, children, list->count);
}

/* The outer list: one must pass. */
static const struct policy_node *parse_list(struct policy_parser *parser,
                                            const struct policy_value *list, struct err *err)
{
    if (list->count == 0)
        return policy_node_new(parser, POLICY_OP_TRUE, (struct slice){0});
    if (!count_checks(parser, list, err))
        return NULL;
    const struct policy_node **children =
        arena_array(parser->arena, list->count, sizeof(*children));
    size_t count = 0;
    for (unsigned i = 0; i < list->count; i++) {
        const struct policy_value *item = list->items[i];
        const struct policy_node *child = NULL;
        if (item->kind == POLICY_VALUE_NULL ||
            (item->kind == POLICY_VALUE_TEXT && item->text.len == 0) ||
            (item->kind == POLICY_VALUE_LIST && item->count == 0))
            continue;
        if (item->kind == POLICY_VALUE_TEXT)
            child = policy_check_parse(parser, arena_copy(parser->arena, item->text));
        else if (item->kind == POLICY_VALUE_LIST)
            child = parse_all(parser, item, err);
        else
            (void)err_set(err, 500, NULL,
                          "its list has an element that is neither text nor a list");
        if (child == NULL)
            return NULL;
        children[count++] = child;
    }
    if (count > 0)
        return join(parser, POLICY_OP_OR, children, count);
    policy_note_rule(parser->notes, "its list contains only empty lists, so it allows nobody");
    return policy_node_new(parser, POLICY_OP_FALSE, (struct slice){0});
}

const struct policy_node *policy_rule_parse(struct policy_parser *parser,
                                            const struct policy_value *value, struct err *err)
{
    parser->checks = 0;
    switch (value->kind) {
    case POLICY_VALUE_NULL:
        policy_note_rule(parser->notes, "is empty, so it allows everybody; write \"@\" instead");
        return policy_node_new(parser, POLICY_OP_TRUE, (struct slice){0});
    case POLICY_VALUE_TEXT:
        return parse_text(parser, value->text, err);
    case POLICY_VALUE_LIST:
        return parse_list(parser, value, err);
    case POLICY_VALUE_OTHER:
    case POLICY_VALUE_MERGE:
    case POLICY_VALUE_MAP:
        break;
    }
    (void)err_set(err, 500, NULL, "must be text (in quotes) or a list%s",
                  value->kind == POLICY_VALUE_MAP ? ", not a mapping" : "");
    return NULL;
}
