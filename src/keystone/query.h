/* One query to Keystone, and the table of pending queries (queries.c). The thread of query_thread.c
 * processes them. */
#ifndef BERTH_KEYSTONE_QUERY_H
#define BERTH_KEYSTONE_QUERY_H

#include "keystone/internal.h"

enum keystone_query_place { PLACE_ARRIVED, PLACE_WAITING, PLACE_SENT, PLACE_DELAYED };

struct keystone_query {
    /* protected by the lock */
    LIST_ENTRY(keystone_query) in_chain;
    struct keystone_waiter *waiters;
    bool is_closed; /* no further request may join */

    /* set when the query is created */
    struct token_key key;
    bool may_be_expired;
    uint64_t deadline_us;
    bool is_project; /* concerns a project, not a token */
    char *subject;   /* the token, or the encoded id of the project */
    char *request_id;

    /* used by the thread only */
    TAILQ_ENTRY(keystone_query) in_queue;
    enum keystone_query_place place;
    struct keystone *keystone;
    struct keystone_call call;
    char *url;
    uint64_t sent_us; /* when the last attempt began */
    uint64_t not_before_us;
    unsigned attempts;
    bool with_catalog;
    bool has_new_login; /* one of the service's tokens was refused, and another was tried */
    char *own_token;    /* the service's token with which it was made */
};

/* As many as limits.queries may be pending. `on_answer`: the `done` of every query's call. */
void keystone_queries_open(struct keystone *keystone,
                           void (*on_answer)(struct keystone_call *call));
/* Call it after the last query has ended. */
void keystone_queries_close(struct keystone *keystone);

/* The functions below are called by the thread only. */

/* Moves all that have arrived to `waiting`. */
void keystone_queries_take_arrived(struct keystone *keystone);
void keystone_query_move(struct keystone_query *query, enum keystone_query_place place);
/* Prevents further requests from joining. */
void keystone_query_shut(struct keystone_query *query);
/* Gives the verdict to all waiters and frees the query. The caller still owns the token, if any. */
void keystone_query_end(struct keystone_query *query, enum keystone_verdict verdict,
                        struct token *token);

#endif
