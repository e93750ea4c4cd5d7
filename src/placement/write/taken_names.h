/* Names that rows of the database have which could not be loaded. Writer thread only. */
#ifndef BERTH_PLACEMENT_WRITE_TAKEN_NAMES_H
#define BERTH_PLACEMENT_WRITE_TAKEN_NAMES_H

#include "engine/effects.h"
#include "engine/plan.h"

/* Refuses (409) a provider's name or uuid because another provider has it. `what` is "name: ",
 * "uuid: " or "". Always false. */
bool taken_names_refuse(const char *what, struct slice text, struct err *err);

/* Refuses (409), as if the rows were known, a provider that gets a name, and a consumer that comes
 * with a uuid, that such a row has. */
bool taken_names_check(const struct effects *effects, const struct plan *plan,
                       struct err *err) BERTH_MUST_CHECK;

#endif
