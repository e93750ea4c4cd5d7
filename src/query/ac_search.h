/* The search for allocation candidates; the rules are items 1 to 16 of the candidates spec. */
#ifndef BERTH_QUERY_AC_SEARCH_H
#define BERTH_QUERY_AC_SEARCH_H

#include "base/arena.h"
#include "base/err.h"
#include "query/ac_none.h"
#include "query/ac_request.h"
#include "query/budget.h"
#include "replica/version.h"

/* An amount of a class from a provider. */
struct ac_entry {
    struct slot_no slot;
    struct class_no class_no;
    int64_t amount;
};

/* The provider of a group. */
struct ac_mapping {
    uint32_t group; /* index in the request */
    struct slot_no slot;
};

/* One candidate; valid only during the call of ac_emit. */
struct ac_candidate {
    const struct ac_entry *entries; /* entries of a provider are adjacent; no pair of provider and
                                     * class occurs twice */
    uint32_t entry_count;
    const struct ac_mapping
        *mappings; /* the mappings of a group are adjacent, in the order of the request; distinct */
    uint32_t mapping_count;
};

typedef void ac_emit(void *cls, const struct ac_candidate *candidate);

/* The providers for the summaries: whole trees, by their root slots, or single providers for
 * requests that do not know trees. In ascending order of slots. */
struct ac_summaries {
    uint32_t *slots;
    uint32_t count;
    bool are_roots;
};

enum ac_outcome {
    AC_DONE,
    AC_EXPENSIVE, /* the budget is exhausted; discard what was emitted */
    AC_TOO_LARGE, /* the same, because there are more candidates than can be kept: request fewer */
    AC_REFUSED,   /* err is set: unknown resource class or trait */
};

/* Emits every candidate, or as many as the request's limits allow. All memory comes from the arena.
 * *reason is set unless the outcome is AC_EXPENSIVE; NULL: it is not searched for. */
enum ac_outcome ac_search(const struct version *version, const struct ac_request *request,
                          struct arena *arena, struct budget *budget, ac_emit *emit, void *cls,
                          struct ac_summaries *summaries, struct ac_reason *reason,
                          struct err *err) BERTH_MUST_CHECK;

#endif
