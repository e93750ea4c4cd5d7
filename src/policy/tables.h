/* Lookup of rows in THE tables. */
#ifndef BERTH_POLICY_TABLES_H
#define BERTH_POLICY_TABLES_H

#include "policy/rules.h"

const struct policy_table *policy_table_of(enum policy_service service);

/* The service's row with that name; NULL: there is none. Any thread. */
const struct policy_default *policy_table_find(const struct policy_table *table, struct slice name);

#endif
