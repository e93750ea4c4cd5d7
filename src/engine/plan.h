/* What planners, rules and the index of effects work on. It knows nothing of the pipeline, which
 * runs them. Writer thread only. */
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

/* What a planner says of its request besides the changes; all zero before it runs. */
struct plan_said {
    struct generation_word *generations; /* see generations.h */
    bool records_what_is; /* it writes down what exists already, as an operator's backfill does:
                             rules about who may get something do not apply */
    const struct effects *effects; /* of the whole list, if the planner derived them: the engine
                                      uses these, and the planner appends nothing afterwards.
                                      NULL: the engine derives them */
    size_t effects_end;            /* how long the list was then */
};

/* What a request is planned with. */
struct plan {
    const struct version
        *version; /* the newest state: everything planned before in this batch is in it */
    struct change_list *changes; /* filled by the planner; arena is the batch's */
    struct arena *arena;         /* the batch's: for texts that changes refer to */
    struct store *store;         /* for store_next_id only */
    const struct rules *rules;   /* THE table; NULL: there are none */
    const struct rule *author;   /* the row of the product whose request it is; NULL: nobody's */
    struct plan_said *said;      /* what the planner says besides its changes */
    uint64_t max_rows;           /* the request's: see plan_is_too_large() */
    int64_t now_us;
};

/* Why a request was refused: the kinds of its err. */
enum pipeline_refusal {
    REFUSED_OTHERWISE,
    REFUSED_CONSUMER_GENERATION,
    REFUSED_PROVIDER_GENERATION,
    REFUSED_CAPACITY,      /* or min_unit, max_unit, step_size, or there is no such inventory */
    REFUSED_LOCKED,        /* the node: see baremetal/write/conductor.h */
    REFUSED_CHANGED,       /* what it was planned on is no more so: see api/write_passage.h */
    REFUSED_TOO_MANY_ROWS, /* see plan_rows_fit() */
    REFUSED_BY_DATABASE,   /* in an err: for what this request is, not others of its batch */
    PIPELINE_REFUSAL_COUNT
};

/* Whether a request may write so many rows (max_rows 0: any number); false: err is set. The engine
 * asks for what was planned and what follows; whoever knows the number before asks first, so that
 * nothing is planned in vain. Any thread. */
bool plan_rows_fit(uint64_t rows, uint64_t max_rows, struct err *err);

/* Whether the list has more than that already: whatever else is appended, the request will be
 * refused. For planners whose work grows with what is there. */
static inline bool plan_is_too_large(const struct plan *plan)
{
    return plan->max_rows != 0 && plan->changes->count > plan->max_rows;
}

#endif
