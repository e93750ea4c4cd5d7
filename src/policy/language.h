/* The language of oslo.policy. */
#ifndef BERTH_POLICY_LANGUAGE_H
#define BERTH_POLICY_LANGUAGE_H

#include "base/err.h"
#include "policy/notes.h"
#include "policy/policy.h"
#include "policy/tree.h"
#include "policy/value.h"

enum {
    POLICY_RULE_BYTES_MAX = 64 * 1024,
    POLICY_CHECKS_MAX = 4096, /* of one rule; as many tokens */
    POLICY_NESTING_MAX = 100, /* parentheses and `not` */
};

/* Nodes of the kind POLICY_OP_RULE, so that whoever parses finds them again. */
struct policy_references {
    struct policy_node **items;
    size_t count;
    size_t capacity;
};

struct policy_parser {
    struct arena *arena; /* nodes and texts go here */
    struct policy_notes *notes;
    struct policy_references references;
    enum policy_service service; /* whose credentials rules may ask for */
    unsigned checks;             /* of the rule so far */
};

/* A rule as files have it: a text in the language, the old list of lists, or nothing. As in
 * oslo.policy nothing allows, and a text that is no rule denies, with a note. NULL: the value is
 * neither text nor list, or beyond the limits; err says what. */
const struct policy_node *policy_rule_parse(struct policy_parser *parser,
                                            const struct policy_value *value,
                                            struct err *err) BERTH_MUST_CHECK;

/* One check, "role:admin", "@": the words of the language. The text is kept. For
 * policy_rule_parse. */
const struct policy_node *policy_check_parse(struct policy_parser *parser, struct slice text);

/* A node for nothing but itself. For both. */
struct policy_node *policy_node_new(struct policy_parser *parser, enum policy_op op,
                                    struct slice text);

#endif
