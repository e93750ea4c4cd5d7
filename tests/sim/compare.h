/* Checks that a version is the exact image of tables. */
#ifndef BERTH_SIM_COMPARE_H
#define BERTH_SIM_COMPARE_H

#include "memory_store/tables.h"
#include "replica/version.h"

/* NULL, or the first difference (static text). */
const char *compare_version(const struct version *version, const struct tables *tables);

#endif
