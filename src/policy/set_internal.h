/* What building a policy and telling about it share. */
#ifndef BERTH_POLICY_SET_INTERNAL_H
#define BERTH_POLICY_SET_INTERNAL_H

#include "policy/language.h"
#include "policy/set.h"

/* One service's rules in the making. */
struct set_builder {
    struct policy *policy;
    const struct policy_options *options;
    const struct policy_table *table;
    struct policy_entry *entries;
    const struct policy_override **chosen; /* of each entry; NULL: no file has it */
    size_t count;
    struct policy_parser parser;
    struct err *err;
    /* The table's own rules cannot be at fault: what is said while they are read is a mistake. */
    struct policy_notes none;
};

/* Fills the policy's notes, when all its sets are built. */
void policy_set_note(struct policy *policy, const struct set_builder builders[]);

#endif
