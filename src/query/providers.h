/* The list of resource providers, filtered (API reference, List resource providers). */
#ifndef BERTH_QUERY_PROVIDERS_H
#define BERTH_QUERY_PROVIDERS_H

#include "base/arena.h"
#include "base/err.h"
#include "query/ac_request.h"
#include "query/budget.h"
#include "replica/version.h"

struct providers_query {
    struct slice name;     /* data == NULL: any; empty: also any, as in the Python service */
    struct slice uuid;     /* the same */
    struct ac_group group; /* resources, required, forbidden, member_of, forbidden_aggregates,
                            * in_tree: the provider itself must meet all of them */
};

struct providers_found {
    const struct provider **providers; /* in the order of their rows */
    uint32_t count;
};

enum providers_outcome {
    PROVIDERS_DONE,
    PROVIDERS_EXPENSIVE, /* the budget is exhausted */
    PROVIDERS_REFUSED,   /* err is set: unknown resource class or trait */
};

/* All memory comes from the arena; the version owns the rows. */
enum providers_outcome providers_find(const struct version *version,
                                      const struct providers_query *query, struct arena *arena,
                                      struct budget *budget, struct providers_found *found,
                                      struct err *err) BERTH_MUST_CHECK;

#endif
