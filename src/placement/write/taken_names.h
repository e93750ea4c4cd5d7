/* Names that the database would refuse, although memory has no such name. The writer only. */
#ifndef BERTH_PLACEMENT_WRITE_TAKEN_NAMES_H
#define BERTH_PLACEMENT_WRITE_TAKEN_NAMES_H

#include "engine/effects.h"
#include "engine/plan.h"

/* Refuses (409) a provider's name or uuid because another provider has it. `what` is "name: ",
 * "uuid: " or "". Always returns false. */
bool taken_names_refuse(const char *what, struct slice text, struct err *err);

/* Refuses (409), as if their names were equal in memory, a provider that gets the name of a row
 * that was left out at the load, or one that the database takes for another's, and a consumer that
 * gets such a uuid. */
bool taken_names_check(const struct effects *effects, const struct plan *plan,
                       struct err *err) BERTH_MUST_CHECK;

#endif
