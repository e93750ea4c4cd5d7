/* The table of rules, for people. */
#ifndef BERTH_CLI_POLICY_PRINT_H
#define BERTH_CLI_POLICY_PRINT_H

#include "policy/set.h"

/* A policy file with every rule, commented out. */
void policy_print_sample(struct buf *out);

/* The tables of docs/policies.md. */
void policy_print_reference(struct buf *out);

/* Every rule in force, as a policy file with comments on where each comes from; `redundant`: only
 * those that files override with what the default is. */
void policy_print_list(struct buf *out, const struct policy *policy, bool redundant);

#endif
