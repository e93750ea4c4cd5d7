/* The structs that planners, rules and the index of effects use. They do not depend on the
 * pipeline. The writer only. */
#ifndef BERTH_ENGINE_PLAN_H
#define BERTH_ENGINE_PLAN_H

#include "base/err.h"
#include "model/change.h"
#include "replica/version.h"
#include "store/store.h"

struct effects;
struct generation_word;
struct rule;
struct rules;

/* The results of a planner besides the changes; all zero before it runs. */
struct plan_said {
    struct generation_word *generations; /* see generations.h */
    bool records_what_is; /* the request records what already exists, as an operator's backfill
                           * does: rules about who may receive something do not apply */
    const struct effects *effects; /* the effects of the whole list, if the planner derived them:
                                    * the engine uses them, and the planner appends nothing
                                    * afterwards. NULL: the engine derives them */
    size_t effects_end;            /* the length of the list at that time */
    bool must_commit; /* the request succeeds only if the database takes writes, even if it changes
                       * nothing */
};

/* The input of a planner. */
struct plan {
    const struct version
        *version; /* the newest state, which contains everything planned before in this batch */
    struct change_list *changes; /* filled by the planner; its arena is the batch's */
    struct arena *arena;         /* the batch's: for texts that changes refer to */
    struct store *store;         /* for ids, and names that are taken */
    const struct rules *rules;   /* THE table; NULL: there are none */
    const struct rule *author;   /* the row of the product that submits the request; NULL: none */
    struct plan_said *said;      /* what the planner returns besides its changes */
    uint64_t max_rows;           /* the request's: see plan_is_too_large() */
    int64_t now_us;
};

/* The reasons for which a request was refused: the values of err's kind. */
enum pipeline_refusal {
    REFUSED_OTHERWISE,
    REFUSED_CONSUMER_GENERATION,
    REFUSED_PROVIDER_GENERATION,
    REFUSED_CAPACITY,      /* or min_unit, max_unit, step_size, or no such inventory */
    REFUSED_LOCKED,        /* the node: see baremetal/write/conductor.h */
    REFUSED_CHANGED,       /* optimistic conflict: see api/write_passage.h */
    REFUSED_TOO_MANY_ROWS, /* see plan_rows_fit() */
    REFUSED_BY_DATABASE,   /* in an err: this request is the cause, not another one of its batch */
    PIPELINE_REFUSAL_COUNT
};

/* Whether a request may write that many rows (max_rows 0: any number); false: err is set. The
 * engine checks the planned changes with their consequences. Code that knows the number earlier
 * checks it first, to avoid planning in vain. Any thread. */
bool plan_rows_fit(uint64_t rows, uint64_t max_rows, struct err *err);

/* Whether the list already has more than max_rows changes, so that the request will be refused
 * whatever is still appended. For planners whose work grows with the existing data. */
static inline bool plan_is_too_large(const struct plan *plan)
{
    return plan->max_rows != 0 && plan->changes->count > plan->max_rows;
}

#endif
