/* One check of a rule: the words of the language. */
#ifndef BERTH_POLICY_CHECK_TEXT_H
#define BERTH_POLICY_CHECK_TEXT_H

#include "policy/parser.h"

/* "role:admin", "@". The text is kept. For policy_rule_parse. */
const struct policy_node *policy_check_parse(struct policy_parser *parser, struct slice text);

#endif
