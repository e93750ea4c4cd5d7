/* The language of oslo.policy. */
#ifndef BERTH_POLICY_LANGUAGE_H
#define BERTH_POLICY_LANGUAGE_H

#include "base/err.h"
#include "policy/parser.h"
#include "policy/value.h"

enum {
    POLICY_RULE_BYTES_MAX = 64 * 1024,
    POLICY_CHECKS_MAX = 4096, /* of one rule; the same limit for tokens */
    POLICY_NESTING_MAX = 100, /* parentheses and `not` */
};

/* Parses a rule as it is in a file: a text in the language, the old list of lists, or nothing. As
 * in oslo.policy, an empty rule allows, and a text that is not a valid rule denies, with a note.
 * NULL: the value is neither a text nor a list, or exceeds the limits; err gives the reason. */
const struct policy_node *policy_rule_parse(struct policy_parser *parser,
                                            const struct policy_value *value,
                                            struct err *err) BERTH_MUST_CHECK;

#endif
