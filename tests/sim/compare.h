/* Is a version the exact image of tables? */
#ifndef BERTH_SIM_COMPARE_H
#define BERTH_SIM_COMPARE_H

#include "replica/version.h"
#include "tables.h"

/* NULL, or what differs first (static text). */
const char *compare_version(const struct version *version, const struct tables *tables);

#endif
