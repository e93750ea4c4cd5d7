/* The tables of rules, and what became of them, for people. */
#ifndef BERTH_CLI_POLICY_PRINT_H
#define BERTH_CLI_POLICY_PRINT_H

#include "policy/set.h"

/* Sets of services have a bit for each. */
enum { POLICY_ALL_SERVICES = (1 << POLICY_SERVICE_COUNT) - 1 };

/* A policy file with every rule of these services, commented out. */
void policy_print_sample(struct buf *out, unsigned services);

/* The tables of docs/policies.md. */
void policy_print_reference(struct buf *out);

/* Every rule in force, as a policy file with comments on where each comes from; `redundant`: only
 * those that files override with what the default is. A default that differs between these services
 * cannot stand in a file, and is a comment. */
void policy_print_list(struct buf *out, const struct policy *policy, unsigned services,
                       bool redundant);

#endif
