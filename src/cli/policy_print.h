/* Prints the tables of rules, and the rules in force, for people. */
#ifndef BERTH_CLI_POLICY_PRINT_H
#define BERTH_CLI_POLICY_PRINT_H

#include "policy/set.h"

/* Sets of services have one bit for each. */
enum { POLICY_ALL_SERVICES = (1 << POLICY_SERVICE_COUNT) - 1 };

/* A policy file with every rule of these services, commented out. */
void policy_print_sample(struct buf *out, unsigned services);

/* The tables of docs/policies.md. */
void policy_print_reference(struct buf *out);

/* Every rule in force, as a policy file with comments about the source of each; `redundant`: only
 * rules in files that are equal to the default. A default that differs between these services
 * cannot be written in a policy file, and is printed as a comment. */
void policy_print_list(struct buf *out, const struct policy *policy, unsigned services,
                       bool redundant);

#endif
