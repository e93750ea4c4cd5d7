/* Finding rows of the tables. Pure; any thread. */
#include "policy/rules.h"

#include "base/check.h"

const struct policy_table *policy_table_of(enum policy_service service)
{
    static const struct policy_table *const TABLES[POLICY_SERVICE_COUNT] = {
        [POLICY_OF_PLACEMENT] = &policy_of_placement,
        [POLICY_OF_BAREMETAL] = &policy_of_baremetal,
        [POLICY_OF_VALET] = &policy_of_valet,
    };
    check(service < POLICY_SERVICE_COUNT);
    return TABLES[service];
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
    const struct policy_table *table = rule < POLICY_BAREMETAL_BEGIN ? &policy_of_placement
                                       : rule < POLICY_VALET_BEGIN   ? &policy_of_baremetal
                                                                     : &policy_of_valet;
    return &table->rows[rule - table->first];
}

const char *policy_rule_name(enum policy_rule rule)
{
    return rule == POLICY_NONE ? "" : policy_rule_row(rule)->name;
}
