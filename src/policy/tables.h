/* Finding rows of THE tables. */
#ifndef BERTH_POLICY_TABLES_H
#define BERTH_POLICY_TABLES_H

#include "policy/rules.h"

const struct policy_table *policy_table_of(enum policy_service service);

/* The service's row of that name; NULL: it knows none. Any thread. */
const struct policy_default *policy_table_find(const struct policy_table *table, struct slice name);

#endif
