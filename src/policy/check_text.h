/* One check of a rule: the terms of the language. */
#ifndef BERTH_POLICY_CHECK_TEXT_H
#define BERTH_POLICY_CHECK_TEXT_H

#include "policy/parser.h"

/* Parses "role:admin", "@". The text is kept. For policy_rule_parse. */
const struct policy_node *policy_check_parse(struct policy_parser *parser, struct slice text);

#endif
