/* Finding rows of the tables. Pure; any thread. */
#include "policy/rules.h"

#include "base/check.h"

const struct policy_table *policy_table_of(enum policy_service service)
{
    check(service < POLICY_SERVICE_COUNT);
    return service == POLICY_OF_PLACEMENT ? &policy_of_placement : &policy_of_baremetal;
}

const struct policy_default *policy_table_find(const struct policy_table *table, struct slice name)
{
    for (unsigned i = 0; i < table->count; i++)
        if (slice_equal(slice_of(table->rows[i].name), name))
            return &table->rows[i];
    return NULL;
}

const struct policy_default *policy_rule_row(enum policy_rule rule)
{
    check(rule > POLICY_NONE && rule < POLICY_RULE_COUNT);
    const struct policy_table *table =
        rule < POLICY_BAREMETAL_BEGIN ? &policy_of_placement : &policy_of_baremetal;
    return &table->rows[rule - table->first];
}

const char *policy_rule_name(enum policy_rule rule)
{
    return rule == POLICY_NONE ? "" : policy_rule_row(rule)->name;
}
