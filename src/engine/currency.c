/* See currency.h. Any thread submits, the store's threads answer, the writer thread publishes.
 *
 * Invariant: a request is completed only when the newest version contains everything that was
 * committed before its submission. There are three ways:
 * - The answer to a query is a state that the database had after the query was sent, and so after
 *   the submission of each of its requests. The newest version contains that state.
 * - The same, later: a request waits with the state that the version did not contain, or with a
 *   later one, and a publication contains that.
 * - The writer has taken the news on behalf of requests that were waiting when that was requested.
 *   The writer's read begins afterwards, and the version that it publishes has the state that was
 *   read even if the database has changed since, in which case its stamp is not known.
 * Versions only become newer, so whichever version is the newest when the request goes on contains
 * that state. One wait is therefore enough, however much others commit meanwhile.
 *
 * The lock is never held while a request is completed or handed to the store or the writer: what is
 * to be done is collected first (struct todo). */
#include "engine/currency.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/clock.h"

enum { QUERIES_IN_FLIGHT = 2 };

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
};

struct currency {
    struct store *store;
    struct currency_writer writer;
    pthread_mutex_t lock; /* guards everything below */
    pthread_cond_t answered;
    struct queue waiting; /* for the next query */
    struct head_query queries[QUERIES_IN_FLIGHT];
    unsigned in_progress;            /* queries, until their requests are completed */
    struct group following;          /* the writer takes the news for these */
    struct group behind;             /* and then for these */
    struct pipeline_request request; /* with which the writer does that */
    struct arena *arena;             /* of that request's error */
    bool is_following;
    bool is_committing;
    bool is_stopping;
    struct store_stamp published;
    struct counter sent, failed, requests, waited;
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
};

static void todo_begin(struct todo *todo, struct currency *currency)
{
    *todo = (struct todo){.reason = ANSWER_UNAVAILABLE};
    queue_clear(&todo->hand_over);
    queue_clear(&todo->complete);
    queue_clear(&todo->refuse);
    pthread_mutex_lock(&currency->lock);
}

static struct pipeline_request *next_of(struct queue *queue)
{
    struct pipeline_request *request = queue->first;
    if (request != NULL)
        queue->first = request->next;
    return request;
}

static void answered(void *cls, const struct store_head *head);

static void todo_end(struct todo *todo, struct currency *currency)
{
    struct pipeline_request *request;
    pthread_mutex_unlock(&currency->lock);
    if (todo->send != NULL)
        store_query_head(currency->store, answered, todo->send);
    if (todo->follows)
        currency->writer.submit(currency->writer.cls, &currency->request);
    while ((request = next_of(&todo->hand_over)) != NULL)
        currency->writer.submit(currency->writer.cls, request);
    while ((request = next_of(&todo->complete)) != NULL)
        request->done(request);
    while ((request = next_of(&todo->refuse)) != NULL) {
        err_set(&request->err, 503, NULL, "%s", todo->reason);
        request->done(request);
    }
}

static bool is_unknown(const struct store_stamp *stamp)
{
    static const struct store_stamp UNKNOWN;
    return memcmp(stamp, &UNKNOWN, sizeof(UNKNOWN)) == 0;
}

/* Sends what waits, if another query may be sent. */
static void send_next(struct currency *currency, struct todo *todo)
{
    if (currency->waiting.first == NULL || currency->is_stopping)
        return;
    for (unsigned i = 0; i < QUERIES_IN_FLIGHT; i++) {
        struct head_query *query = &currency->queries[i];
        if (query->is_in_flight)
            continue;
        query->is_in_flight = true;
        query->sent_us = clock_monotonic_us();
        queue_move(&query->requests, &currency->waiting);
        currency->in_progress++;
        counter_add(&currency->sent, 1);
        todo->send = query;
        return;
    }
}

/* Lets the writer take the news for the requests that are behind, unless it does so for others, or
 * is about to publish a commit, which may be all that they wait for. */
static void follow_next(struct currency *currency, struct todo *todo)
{
    if (currency->behind.requests.first == NULL || currency->is_following ||
        currency->is_committing)
        return;
    currency->is_following = true;
    currency->following.head = currency->behind.head;
    queue_move(&currency->following.requests, &currency->behind.requests);
    arena_reset(currency->arena);
    currency->request.err = (struct err){.arena = currency->arena};
    todo->follows = true;
}

/* A group that waits for the later of two states waits for both. */
static void fall_behind(struct currency *currency, struct queue *requests,
                        const struct store_stamp *head)
{
    struct group *behind = &currency->behind;
    counter_add(&currency->waited, requests->count);
    if (behind->requests.first == NULL || !store_covers(currency->store, &behind->head, head))
        behind->head = *head;
    queue_move(&behind->requests, requests);
}

static void note_answer(struct currency *currency, const struct head_query *query,
                        const struct store_head *head)
{
    uint64_t took_us = clock_monotonic_us() - query->sent_us;
    histogram_add(&currency->query_us, &CURRENCY_QUERY_SHAPE_US, took_us);
    counter_add(&currency->failed, !head->is_known);
}

/* The version contains the state that was the newest at some moment after the query was sent. */
static void note_known(struct currency *currency, uint64_t at_us)
{
    if (at_us > currency->known_at_us)
        currency->known_at_us = at_us;
}

/* Decides about the requests of an answered query. This is the only place that decides what happens
 * to reads while the database does not answer. */
static void decide(struct currency *currency, struct head_query *query,
                   const struct store_head *head, struct todo *todo)
{
    if (!head->is_known) {
        queue_move(&todo->refuse, &query->requests);
    } else if (store_covers(currency->store, &currency->published, &head->stamp)) {
        note_known(currency, query->sent_us);
        queue_move(&todo->complete, &query->requests);
    } else {
        fall_behind(currency, &query->requests, &head->stamp);
        follow_next(currency, todo);
    }
}

static void answered(void *cls, const struct store_head *head)
{
    struct head_query *query = cls;
    struct currency *currency = query->currency;
    struct todo todo;
    todo_begin(&todo, currency);
    note_answer(currency, query, head);
    query->is_in_flight = false;
    decide(currency, query, head, &todo);
    send_next(currency, &todo);
    todo_end(&todo, currency);
    pthread_mutex_lock(&currency->lock);
    currency->in_progress--;
    pthread_cond_signal(&currency->answered);
    pthread_mutex_unlock(&currency->lock);
}

/* The writer has taken the news, or has found that a publication already contained them; or it
 * could not. */
static void followed(struct pipeline_request *request)
{
    struct currency *currency = request->submitter;
    struct todo todo;
    todo_begin(&todo, currency);
    currency->is_following = false;
    queue_move(err_is_set(&request->err) ? &todo.refuse : &todo.complete,
               &currency->following.requests);
    follow_next(currency, &todo);
    todo_end(&todo, currency);
}

void currency_submit(struct currency *currency, struct pipeline_request *request)
{
    struct todo todo;
    todo_begin(&todo, currency);
    if (is_unknown(&currency->published) ||
        store_currency(currency->store, &currency->published) != STORE_MUST_ASK) {
        queue_append(&todo.hand_over, request);
    } else if (currency->is_stopping) {
        todo.reason = ANSWER_STOPPING;
        queue_append(&todo.refuse, request);
    } else {
        counter_add(&currency->requests, 1);
        queue_append(&currency->waiting, request);
        send_next(currency, &todo);
    }
    todo_end(&todo, currency);
}

static void complete_if_covered(struct currency *currency, struct group *group, struct todo *todo)
{
    if (group->requests.first != NULL &&
        store_covers(currency->store, &currency->published, &group->head))
        queue_move(&todo->complete, &group->requests);
}

void currency_published(struct currency *currency, const struct store_stamp *stamp)
{
    struct todo todo;
    todo_begin(&todo, currency);
    currency->published = *stamp;
    if (!is_unknown(stamp)) {
        complete_if_covered(currency, &currency->following, &todo);
        complete_if_covered(currency, &currency->behind, &todo);
    }
    todo_end(&todo, currency);
}

void currency_commit_begins(struct currency *currency)
{
    pthread_mutex_lock(&currency->lock);
    currency->is_committing = true;
    pthread_mutex_unlock(&currency->lock);
}

void currency_commit_ended(struct currency *currency)
{
    struct todo todo;
    todo_begin(&todo, currency);
    currency->is_committing = false;
    follow_next(currency, &todo);
    todo_end(&todo, currency);
}

struct currency *currency_create(struct store *store, struct currency_writer writer)
{
    struct currency *currency = calloc(1, sizeof(*currency));
    check(currency != NULL);
    currency->store = store;
    currency->writer = writer;
    currency->arena = arena_create();
    currency->request = (struct pipeline_request){
        .head = &currency->following.head, .done = followed, .submitter = currency};
    pthread_mutex_init(&currency->lock, NULL);
    pthread_cond_init(&currency->answered, NULL);
    queue_clear(&currency->waiting);
    queue_clear(&currency->following.requests);
    queue_clear(&currency->behind.requests);
    for (unsigned i = 0; i < QUERIES_IN_FLIGHT; i++) {
        currency->queries[i].currency = currency;
        queue_clear(&currency->queries[i].requests);
    }
    return currency;
}

uint64_t currency_known_at_us(const struct currency *currency)
{
    return currency->known_at_us;
}

void currency_stop(struct currency *currency)
{
    struct todo todo;
    todo_begin(&todo, currency);
    currency->is_stopping = true;
    todo.reason = ANSWER_STOPPING;
    queue_move(&todo.refuse, &currency->waiting);
    for (unsigned i = 0; i < QUERIES_IN_FLIGHT; i++)
        queue_move(&todo.refuse, &currency->queries[i].requests);
    todo_end(&todo, currency);
    pthread_mutex_lock(&currency->lock);
    while (currency->in_progress > 0)
        pthread_cond_wait(&currency->answered, &currency->lock);
    pthread_mutex_unlock(&currency->lock);
}

void currency_destroy(struct currency *currency)
{
    pthread_cond_destroy(&currency->answered);
    pthread_mutex_destroy(&currency->lock);
    arena_destroy(currency->arena);
    free(currency);
}

struct currency_figures currency_figures(struct currency *currency)
{
    struct currency_figures figures = {
        .queries = counter_read(&currency->sent),
        .failed = counter_read(&currency->failed),
        .requests = counter_read(&currency->requests),
        .waited = counter_read(&currency->waited),
    };
    histogram_read(&currency->query_us, &figures.query_us);
    return figures;
}
