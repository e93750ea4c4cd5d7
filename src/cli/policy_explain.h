/* Explains to people which part of a rule decided the result. */
#ifndef BERTH_CLI_POLICY_EXPLAIN_H
#define BERTH_CLI_POLICY_EXPLAIN_H

#include "base/buf.h"
#include "policy/evaluate.h"

/* Writes the checks that decided the result, one per line, each below the one that contains it and
 * indented by two more blanks. */
void policy_explain(struct buf *out, const struct policy_entry *entry,
                    const struct policy_input *input);

#endif
