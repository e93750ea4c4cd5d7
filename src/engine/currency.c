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
#include "log/log.h"

enum { QUERIES_IN_FLIGHT = 2, PATIENCE_US = 1000000 };

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
    uint64_t reads_most_us; /* while the database is unavailable, reads continue from a state that
                               is no older */
    enum currency_reads reads;
    struct counter sent, failed, requests, waited, continued;
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

static void log_reads(const struct todo *todo)
{
    struct slice reason = todo->unknown_because;
    if (reason.len == 0)
        reason = SLICE_LIT("the database does not answer");
    if (todo->reads == CURRENCY_READS_WORK)
        log_write(LOG_LEVEL_INFO, "berth", LOG_NO_CONTEXT,
                  "the database answers again: reads reflect its newest state");
    else if (todo->reads == CURRENCY_READS_CONTINUE)
        log_write(LOG_LEVEL_WARNING, "berth", LOG_NO_CONTEXT,
                  "%.*s. For up to %llu s, reads are answered from memory", SLICE_ARG(reason),
                  (unsigned long long)(todo->reads_most_us / 1000000));
    else
        log_write(LOG_LEVEL_ERROR, "berth", LOG_NO_CONTEXT,
                  "%.*s. Reads are answered 503 from now on", SLICE_ARG(reason));
}

static void todo_end(struct todo *todo, struct currency *currency)
{
    struct pipeline_request *request;
    pthread_mutex_unlock(&currency->lock);
    if (todo->has_changed)
        log_reads(todo);
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

/* ---- while the database does not answer ---- */

static void set_reads(struct currency *currency, enum currency_reads reads, struct todo *todo)
{
    if (currency->reads == reads)
        return;
    currency->reads = reads;
    todo->has_changed = true;
    todo->reads = reads;
    todo->reads_most_us = currency->reads_most_us;
}

static bool may_continue(const struct currency *currency)
{
    return currency->reads_most_us > 0 && currency->known_at_us != 0 &&
           clock_monotonic_us() - currency->known_at_us <= currency->reads_most_us;
}

/* Whether a query has waited for its answer for so long that the database counts as unavailable.
 * Without the option, requests wait for as long as the store does. */
static bool is_overdue(const struct currency *currency)
{
    uint64_t patience_us = currency->reads_most_us / 2;
    uint64_t now_us = clock_monotonic_us();
    if (patience_us > PATIENCE_US)
        patience_us = PATIENCE_US;
    for (unsigned i = 0; i < QUERIES_IN_FLIGHT; i++)
        if (patience_us > 0 && currency->queries[i].is_in_flight &&
            now_us - currency->queries[i].sent_us >= patience_us)
            return true;
    return false;
}

/* The database does not answer these requests. This is the only place that decides what happens to
 * reads meanwhile. */
static void do_without(struct currency *currency, struct queue *requests, struct todo *todo)
{
    bool continues = may_continue(currency);
    set_reads(currency, continues ? CURRENCY_READS_CONTINUE : CURRENCY_READS_FAIL, todo);
    for (const struct pipeline_request *one = requests->first; one != NULL; one = one->next)
        counter_add(&currency->continued, continues && !one->is_upkeep);
    queue_move(continues ? &todo->complete : &todo->refuse, requests);
}

/* ---- the writer takes the news ---- */

static void set_goal(struct group *group, const struct store_stamp *head, uint64_t asked_us)
{
    group->head = *head;
    group->asked_us = asked_us;
}

/* Lets the writer take the news for the requests that are behind, unless it does so for others, or
 * is about to publish a commit, which may be all that they wait for. */
static void follow_next(struct currency *currency, struct todo *todo)
{
    if (currency->behind.requests.first == NULL || currency->is_following ||
        currency->is_committing)
        return;
    currency->is_following = true;
    set_goal(&currency->following, &currency->behind.head, currency->behind.asked_us);
    queue_move(&currency->following.requests, &currency->behind.requests);
    arena_reset(currency->arena);
    currency->request.err = (struct err){.arena = currency->arena};
    todo->follows = true;
}

/* A group that waits for the later of two states waits for both. */
static void fall_behind(struct currency *currency, struct queue *requests,
                        const struct store_stamp *head, uint64_t asked_us)
{
    struct group *behind = &currency->behind;
    counter_add(&currency->waited, requests->count);
    if (behind->requests.first == NULL || !store_covers(currency->store, &behind->head, head))
        set_goal(behind, head, asked_us);
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

/* Decides about the requests of an answered query. */
static void decide(struct currency *currency, struct head_query *query,
                   const struct store_head *head, struct todo *todo)
{
    if (!head->is_known) {
        todo->unknown_because = head->reason;
        do_without(currency, &query->requests, todo);
        return;
    }
    set_reads(currency, CURRENCY_READS_WORK, todo);
    if (store_covers(currency->store, &currency->published, &head->stamp)) {
        note_known(currency, query->sent_us);
        queue_move(&todo->complete, &query->requests);
    } else {
        fall_behind(currency, &query->requests, &head->stamp, query->sent_us);
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

/* The writer could not take the news. If that is because the database has become unavailable, these
 * requests get what the others get; another query finds that out. Each is sent back once. */
static void ask_again(struct currency *currency, struct todo *todo)
{
    struct queue requests;
    struct pipeline_request *request;
    queue_clear(&requests);
    queue_move(&requests, &currency->following.requests);
    while ((request = next_of(&requests)) != NULL) {
        bool again = currency->reads_most_us > 0 && !currency->is_stopping && !request->asked_again;
        request->asked_again = true;
        queue_append(again ? &currency->waiting : &todo->refuse, request);
    }
    queue_clear(&currency->following.requests);
    send_next(currency, todo);
}

/* The writer has taken the news, or has found that a publication already contained them; or it
 * could not. */
static void followed(struct pipeline_request *request)
{
    struct currency *currency = request->submitter;
    struct todo todo;
    todo_begin(&todo, currency);
    currency->is_following = false;
    if (err_is_set(&request->err)) {
        ask_again(currency, &todo);
    } else {
        note_known(currency, currency->following.asked_us);
        queue_move(&todo.complete, &currency->following.requests);
    }
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
        counter_add(&currency->requests, !request->is_upkeep);
        queue_append(&currency->waiting, request);
        send_next(currency, &todo);
        if (is_overdue(currency))
            do_without(currency, &currency->waiting, &todo);
    }
    todo_end(&todo, currency);
}

void currency_set_reads_most(struct currency *currency, uint64_t reads_most_us)
{
    pthread_mutex_lock(&currency->lock);
    currency->reads_most_us = reads_most_us;
    pthread_mutex_unlock(&currency->lock);
}

void currency_tick(struct currency *currency)
{
    struct todo todo;
    todo_begin(&todo, currency);
    if (is_overdue(currency)) {
        struct queue *const queues[] = {&currency->waiting, &currency->queries[0].requests,
                                        &currency->queries[1].requests,
                                        &currency->following.requests, &currency->behind.requests};
        for (unsigned i = 0; i < sizeof(queues) / sizeof(queues[0]); i++)
            do_without(currency, queues[i], &todo);
    }
    todo_end(&todo, currency);
}

static void complete_if_covered(struct currency *currency, struct group *group, struct todo *todo)
{
    if (group->requests.first != NULL &&
        store_covers(currency->store, &currency->published, &group->head)) {
        note_known(currency, group->asked_us);
        queue_move(&todo->complete, &group->requests);
    }
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

void currency_note_known(struct currency *currency, uint64_t at_us)
{
    pthread_mutex_lock(&currency->lock);
    note_known(currency, at_us);
    pthread_mutex_unlock(&currency->lock);
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
    store_stop_queries(currency->store);
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
        .continued = counter_read(&currency->continued),
    };
    histogram_read(&currency->query_us, &figures.query_us);
    return figures;
}
