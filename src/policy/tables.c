/* Lookup of rows in the tables. Pure; any thread. */
#include "policy/tables.h"

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

const char *policy_rule_name(enum policy_service service, unsigned rule)
{
    const struct policy_table *table = policy_table_of(service);
    check(rule <= table->checked);
    return rule == 0 ? "" : table->rows[rule - 1].name;
}
