/* What the writer is asked to do, and lists of it. */
#ifndef BERTH_ENGINE_PIPELINE_REQUEST_H
#define BERTH_ENGINE_PIPELINE_REQUEST_H

#include "engine/plan.h"
#include "store/store.h"

struct pipeline_request;

/* Decides one request, as the writer: appends its changes and returns true, or sets err and
 * returns false, in which case the appended changes are discarded. Planners only plan. The engine
 * decides whether the products' rules allow the changes, which consequences follow, and which
 * generations of providers to raise (rules.h, generations.h).
 *
 * Invariant: a plan may run any number of times, each time on a newer version, and only the last
 * run counts. A plan therefore changes nothing except its list and the results that it returns, and
 * does not read earlier results. */
typedef bool pipeline_plan(struct pipeline_request *request, const struct plan *plan);

/* The result of reading the database itself, even if memory seems to be up to date. After a
 * failure, the reason is in the request's err. */
struct pipeline_probe {
    bool is_reached;  /* the database could be read */
    bool is_served;   /* its schema is at a supported revision */
    bool is_followed; /* memory is as new as the state that was read */
    char revision[STORE_REVISION_BYTES];
};

struct pipeline_request {
    pipeline_plan
        *plan; /* NULL: changes nothing, and only waits until memory is as new as the database */
    /* Called after the plan's changes and all their consequences were applied: plan->version is the
     * result. Not called for a request without changes. NULL: not needed. */
    void (*applied)(struct pipeline_request *request, const struct plan *plan);
    struct pipeline_probe *probe; /* the probe to fill, with plan NULL; otherwise NULL */
    /* With plan NULL: the state that memory must contain, on a store that must be asked; if it does
     * already, the database is not read. It stays valid until done. NULL: the newest state. */
    const struct store_stamp *head;
    /* With plan NULL: entities that memory may not have as the database does, which are read again
     * (store_suspect()). They stay valid until done. NULL: none. */
    const struct differences *suspects;
    /* Called once by the writer when the request is decided and durable (err not set) or
     * refused (err set). The pipeline does not use the request afterwards. */
    void (*done)(struct pipeline_request *request);
    void *submitter;           /* for the submitter's use */
    const struct rule *author; /* the rules of the product that submits it; NULL: none */
    uint64_t least_rows;       /* a lower bound for the rows that it writes, known before it is
                                * planned */
    bool plans_briefly;        /* its planner, and the rules, read no more than about what it
                                * writes, so with few rows any thread may plan it */
    uint64_t max_rows;         /* rows that it may write, consequences included; 0: any number */
    struct err err;            /* err.arena: the request's own, which only the writer uses until
                                * done */
    bool is_upkeep;            /* of the engine itself: it is not counted */
    bool asked_again;          /* used by currency.c */
    struct pipeline_request *next;
};

struct queue {
    struct pipeline_request *first;
    struct pipeline_request **last;
    unsigned count;
};

/* Queues are lists through pipeline_request.next. */
static inline void queue_clear(struct queue *queue)
{
    *queue = (struct queue){.last = &queue->first};
}

static inline void queue_append(struct queue *queue, struct pipeline_request *request)
{
    request->next = NULL;
    *queue->last = request;
    queue->last = &request->next;
    queue->count++;
}

/* Appends all requests of `from`, which is then empty. */
static inline void queue_move(struct queue *to, struct queue *from)
{
    if (from->first == NULL)
        return;
    *to->last = from->first;
    to->last = from->last;
    to->count += from->count;
    queue_clear(from);
}

/* Moves the requests from `first` on, which is not the queue's own first, into another queue. */
static inline void queue_split(struct queue *queue, struct pipeline_request *first,
                               struct queue *rest)
{
    struct queue all = *queue;
    queue_clear(queue);
    queue_clear(rest);
    for (struct pipeline_request *request = all.first, *next; request != NULL; request = next) {
        next = request->next;
        queue_append(request == first || rest->count > 0 ? rest : queue, request);
    }
}

#define ANSWER_UNAVAILABLE "The database is unavailable, and nothing was changed. Try again later."
#define ANSWER_STOPPING    "The service is stopping."

#endif
