/* Shared by currency.c, head_queries.c and asker.c. */
#ifndef BERTH_ENGINE_CURRENCY_INTERNAL_H
#define BERTH_ENGINE_CURRENCY_INTERNAL_H

#include <pthread.h>

#include "engine/currency.h"

enum { QUERIES_IN_FLIGHT = 2 };

struct asker;

struct head_query {
    struct currency *currency;
    struct queue requests;
    uint64_t sent_us;
    bool is_in_flight;
};

/* Requests that wait until memory contains that state. */
struct group {
    struct queue requests;
    struct store_stamp head;
    uint64_t asked_us; /* it was the newest state at some moment after this */
};

struct currency {
    struct store *store;
    struct currency_writer writer;
    pthread_mutex_t lock; /* guards everything below */
    pthread_cond_t answered;
    struct queue waiting; /* for the next query of the store's threads */
    struct head_query queries[QUERIES_IN_FLIGHT];
    struct asker *askers[STORE_ASKERS_MOST];
    unsigned asker_count;
    unsigned in_progress;            /* queries of the store's threads, until their requests are
                                        completed */
    struct group following;          /* the writer takes the news for these */
    struct group behind;             /* and then for these */
    struct pipeline_request request; /* with which the writer does that */
    struct arena *arena;             /* of that request's error */
    bool is_following;
    bool is_committing;
    bool is_stopping;
    struct store_stamp published;
    uint64_t reads_most_us; /* while the database is unavailable, reads continue from a state that
                               is no older */
    enum currency_reads reads;
    struct counter ended, failed, requests, waited, continued;
    _Atomic uint64_t known_at_us; /* read without the lock */
    struct histogram query_us;
};

/* What remains to be done without the lock. */
struct todo {
    struct head_query *send; /* NULL: none */
    bool follows;
    struct queue hand_over; /* to the writer */
    struct queue complete;
    struct queue refuse;
    const char *reason; /* for these */
    bool has_changed;   /* `reads`, to be logged */
    enum currency_reads reads;
    uint64_t reads_most_us;
    struct slice unknown_because; /* of the answer, for the log */
};

/* Take the lock, and release it and do what is to be done. */
void currency_todo_begin(struct todo *todo, struct currency *currency);
void currency_todo_end(struct todo *todo, struct currency *currency);

/* The functions below are called under the lock. */

static inline struct pipeline_request *currency_next_of(struct queue *queue)
{
    struct pipeline_request *request = queue->first;
    if (request != NULL)
        queue->first = request->next;
    return request;
}

static inline bool currency_has_waited(const struct head_query *query, uint64_t now_us,
                                       uint64_t for_us)
{
    return query->is_in_flight && now_us - query->sent_us >= for_us;
}

/* The version contains the state that was the newest at some moment after that time. */
static inline void currency_knows(struct currency *currency, uint64_t at_us)
{
    if (at_us > currency->known_at_us)
        currency->known_at_us = at_us;
}

/* The query is on its way. */
void currency_begin_query(struct head_query *query, struct queue *requests);

/* It is answered: decides about its requests. */
void currency_end_query(struct currency *currency, struct head_query *query,
                        const struct store_head *head, struct todo *todo);

/* Sends what waits for the store's threads, if they may send another query. */
void currency_send_next(struct currency *currency, struct todo *todo);

/* Whether a query of the store's threads has waited for its answer for so long that the database
 * counts as unavailable. Without the option, requests wait for as long as the store does. */
bool currency_is_overdue(const struct currency *currency);

/* Sends what waits, and lets it not wait while the database is unavailable. */
void currency_ask_store(struct currency *currency, struct todo *todo);

/* The database does not answer these requests. This is the only place that decides what happens to
 * reads meanwhile. */
void currency_do_without(struct currency *currency, struct queue *requests, struct todo *todo);

/* Lets the writer take the news for the requests that are behind, unless it does so for others, or
 * is about to publish a commit, which may be all that they wait for. */
void currency_follow_next(struct currency *currency, struct todo *todo);

#endif
