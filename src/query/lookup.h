/* Resolves the names in a query to slot sets of a version. */
#ifndef BERTH_QUERY_LOOKUP_H
#define BERTH_QUERY_LOOKUP_H

#include "base/arena.h"
#include "query/ac_request.h"
#include "query/fit.h"

/* Slot sets of traits, in the arena; false: a name is unknown. */
bool lookup_traits(const struct version *version, struct arena *arena, const struct ac_names *names,
                   const struct slotset ***sets);

/* "No such trait(s): A, B." for the unknown names; with `one`, only for the first. */
struct slice lookup_missing_traits(const struct version *version, struct arena *arena,
                                   const struct ac_names *names, bool one);

/* Slot sets of aggregates; unknown ones have no members and are left out. Returns their number. */
uint32_t lookup_aggregates(const struct version *version, struct arena *arena,
                           const struct ac_names *names, const struct slotset ***sets);

/* The aggregates that a group requires, as a filter. */
void lookup_group_aggregates(const struct version *version, struct arena *arena,
                             const struct ac_group *group, struct fit_filter *filter);

#endif
