/* Shared by building a policy and making notes about it. */
#ifndef BERTH_POLICY_SET_INTERNAL_H
#define BERTH_POLICY_SET_INTERNAL_H

#include "policy/language.h"
#include "policy/set.h"

/* One service's rules while they are being built. */
struct set_builder {
    struct policy *policy;
    const struct policy_options *options;
    const struct policy_table *table;
    struct policy_entry *entries;
    const struct policy_override **chosen; /* of each entry; NULL: not in any file */
    size_t count;
    struct policy_parser parser;
    struct err *err;
    /* The table's own rules cannot be at fault, so notes made while they are parsed would be
     * wrong. */
    struct policy_notes none;
};

/* Fills the policy's notes when all its sets are built. */
void policy_set_note(struct policy *policy, const struct set_builder builders[]);

#endif
