/* Which part of a rule decided, for people. */
#ifndef BERTH_CLI_POLICY_EXPLAIN_H
#define BERTH_CLI_POLICY_EXPLAIN_H

#include "base/buf.h"
#include "policy/evaluate.h"

/* Writes the checks that made the rule say what it says, one a line, each below the one that asked
 * it and indented by two blanks more. */
void policy_explain(struct buf *out, const struct policy_entry *entry,
                    const struct policy_question *question);

#endif
