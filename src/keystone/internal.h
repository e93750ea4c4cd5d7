/* Shared by keystone.c (the rules for requests), queries.c (the table of queries) and
 * query_thread.c (the thread that makes them). */
#ifndef BERTH_KEYSTONE_INTERNAL_H
#define BERTH_KEYSTONE_INTERNAL_H

#include <pthread.h>
#include <sys/queue.h>

#include "keystone/http.h"
#include "keystone/keystone.h"
#include "keystone/outage.h"
#include "keystone/session.h"
#include "keystone/token_cache.h"

struct keystone_query;
TAILQ_HEAD(keystone_query_queue, keystone_query);
LIST_HEAD(keystone_query_chain, keystone_query);

struct keystone_counters {
    _Atomic uint64_t queries;
    _Atomic uint64_t shared;
    _Atomic uint64_t failed;
    _Atomic uint64_t dropped;
    _Atomic uint64_t logins;
    _Atomic uint64_t accepted;
    _Atomic uint64_t refused;
    _Atomic uint64_t unavailable;
    _Atomic bool is_unavailable;
};

struct keystone {
    const struct keystone_settings *settings;
    struct keystone_limits limits;
    struct token_cache *cache;
    struct keystone_counters counters;
    struct keystone_http *http;
    _Atomic uint64_t hurry_until_us; /* no query lasts longer than this; UINT64_MAX: no limit */
    pthread_t thread;
    void (*on_answer)(struct keystone_call *call); /* called with the answer to a query */

    pthread_mutex_t lock; /* protects the fields below */
    bool stopping;
    unsigned query_count;
    unsigned chain_count; /* a power of two */
    struct keystone_query_chain *chains;
    struct keystone_query_queue arrived; /* not yet seen by the thread */

    /* used by the thread only */
    struct keystone_session session;
    struct keystone_outage outage;
    struct keystone_query_queue waiting; /* to be made, in this order */
    struct keystone_query_queue sent;
    struct keystone_query_queue delayed; /* to be made again after a delay */
    unsigned sent_count;
    uint64_t swept_us;
};

/* The input of a query. */
struct keystone_query_input {
    struct token_key key; /* of the subject */
    struct slice subject; /* a token or the encoded id of a project: visible ASCII, at most
                           * KEYSTONE_TOKEN_BYTES_MAX */
    bool is_project;      /* only checks that the project exists; the waiter gets no token */
    bool may_be_expired;
    struct slice request_id;
};

/* Starts a query about a token or project, or joins one that is pending. PENDING: the waiter's
 * `done` will be called, on Keystone's thread; otherwise the waiter's verdict is returned. Any
 * thread. */
enum keystone_verdict keystone_queries_submit(struct keystone *keystone,
                                              const struct keystone_query_input *about,
                                              struct keystone_waiter *waiter);

#endif
