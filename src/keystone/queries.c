/* The table of pending queries.
 *
 * A query concerns one token, or whether one project exists. Requests that arrive with the same
 * token meanwhile wait for it, too. A query is found by the token's key in a hash table under the
 * lock, which also protects its waiters and whether it may be joined; all else belongs to the
 * thread of query_thread.c. A query goes from `arrived` to `waiting` (for the service's own login,
 * or for a free connection), to `sent`, perhaps to `delayed` and back to `waiting`, and ends with a
 * verdict. The verdict is put into the cache before the query leaves the table: a request that
 * finds neither starts a new query. */
#include <stdlib.h>

#include "base/clock.h"
#include "keystone/query.h"

static struct keystone_query_chain *chain_of(struct keystone *keystone, const struct token_key *key)
{
    uint32_t number;
    memcpy(&number, key->bytes + 8, sizeof(number));
    return &keystone->chains[number & (keystone->chain_count - 1)];
}

static struct keystone_query_queue *queue_of(struct keystone_query *query)
{
    struct keystone *keystone = query->keystone;
    switch (query->place) {
    case PLACE_ARRIVED:
        return &keystone->arrived;
    case PLACE_WAITING:
        return &keystone->waiting;
    case PLACE_SENT:
        return &keystone->sent;
    case PLACE_DELAYED:
        break;
    }
    return &keystone->delayed;
}

void keystone_query_move(struct keystone_query *query, enum keystone_query_place place)
{
    TAILQ_REMOVE(queue_of(query), query, in_queue);
    query->keystone->sent_count -= query->place == PLACE_SENT;
    query->place = place;
    query->keystone->sent_count += place == PLACE_SENT;
    TAILQ_INSERT_TAIL(queue_of(query), query, in_queue);
}

static void free_query(struct keystone_query *query)
{
    keystone_call_clear(&query->call);
    free(query->subject);
    free(query->request_id);
    free(query->url);
    free(query->own_token);
    free(query);
}

void keystone_query_end(struct keystone_query *query, enum keystone_verdict verdict,
                        struct token *token)
{
    struct keystone *keystone = query->keystone;
    keystone_http_cancel(keystone->http, &query->call);
    keystone->sent_count -= query->place == PLACE_SENT;
    pthread_mutex_lock(&keystone->lock);
    TAILQ_REMOVE(queue_of(query), query, in_queue);
    LIST_REMOVE(query, in_chain);
    keystone->query_count--;
    struct keystone_waiter *waiter = query->waiters;
    pthread_mutex_unlock(&keystone->lock);
    while (waiter != NULL) {
        struct keystone_waiter *next = waiter->next;
        waiter->verdict = verdict;
        waiter->token = token == NULL ? NULL : token_ref(token);
        waiter->done(waiter);
        waiter = next;
    }
    free_query(query);
}

void keystone_query_shut(struct keystone_query *query)
{
    pthread_mutex_lock(&query->keystone->lock);
    query->is_closed = true;
    pthread_mutex_unlock(&query->keystone->lock);
}

void keystone_queries_take_arrived(struct keystone *keystone)
{
    pthread_mutex_lock(&keystone->lock);
    struct keystone_query *query;
    while ((query = TAILQ_FIRST(&keystone->arrived)) != NULL)
        keystone_query_move(query, PLACE_WAITING);
    pthread_mutex_unlock(&keystone->lock);
}

static struct keystone_query *find_open(struct keystone *keystone,
                                        const struct keystone_query_input *about)
{
    struct keystone_query *query;
    LIST_FOREACH(query, chain_of(keystone, &about->key), in_chain)
    if (!query->is_closed && query->is_project == about->is_project &&
        query->may_be_expired == about->may_be_expired &&
        memcmp(&query->key, &about->key, sizeof(about->key)) == 0)
        return query;
    return NULL;
}

static void add_query(struct keystone *keystone, const struct keystone_query_input *about,
                      struct keystone_waiter *waiter)
{
    struct keystone_query *query = calloc(1, sizeof(*query));
    check(query != NULL);
    *query = (struct keystone_query){
        .key = about->key,
        .may_be_expired = about->may_be_expired,
        .deadline_us = clock_monotonic_us() + keystone->limits.query_ms * 1000ULL,
        .is_project = about->is_project,
        .subject = slice_dup(about->subject),
        .request_id = about->request_id.len == 0 ? NULL : slice_dup(about->request_id),
        .waiters = waiter,
        .keystone = keystone,
        .call = {.done = keystone->on_answer},
    };
    LIST_INSERT_HEAD(chain_of(keystone, &about->key), query, in_chain);
    TAILQ_INSERT_TAIL(&keystone->arrived, query, in_queue);
    keystone->query_count++;
}

enum keystone_verdict keystone_queries_submit(struct keystone *keystone,
                                              const struct keystone_query_input *about,
                                              struct keystone_waiter *waiter)
{
    enum keystone_verdict verdict = KEYSTONE_PENDING;
    bool is_new = false;
    waiter->next = NULL;
    pthread_mutex_lock(&keystone->lock);
    struct keystone_query *open = find_open(keystone, about);
    struct token *token = NULL;
    if (open != NULL) {
        waiter->next = open->waiters;
        open->waiters = waiter;
        atomic_fetch_add(&keystone->counters.shared, 1);
    } else if (!about->is_project && (token = token_cache_find(keystone->cache, &about->key,
                                                               clock_monotonic_us())) != NULL) {
        waiter->token = token; /* a query has ended since the caller checked */
        verdict = waiter->verdict = KEYSTONE_ACCEPTED;
    } else if (keystone->query_count >= keystone->limits.queries) {
        atomic_fetch_add(&keystone->counters.dropped, 1);
        verdict = waiter->verdict = KEYSTONE_UNAVAILABLE;
    } else {
        add_query(keystone, about, waiter);
        is_new = true;
    }
    pthread_mutex_unlock(&keystone->lock);
    if (is_new)
        keystone_http_wake(keystone->http);
    return verdict;
}

void keystone_queries_open(struct keystone *keystone, void (*on_answer)(struct keystone_call *call))
{
    keystone->on_answer = on_answer;
    keystone->chain_count = 1;
    while (keystone->chain_count < keystone->limits.queries)
        keystone->chain_count *= 2;
    keystone->chains = calloc(keystone->chain_count, sizeof(*keystone->chains));
    check(keystone->chains != NULL);
    TAILQ_INIT(&keystone->arrived);
    TAILQ_INIT(&keystone->waiting);
    TAILQ_INIT(&keystone->sent);
    TAILQ_INIT(&keystone->delayed);
    pthread_mutex_init(&keystone->lock, NULL);
}

void keystone_queries_close(struct keystone *keystone)
{
    check(keystone->query_count == 0);
    pthread_mutex_destroy(&keystone->lock);
    free(keystone->chains);
}
