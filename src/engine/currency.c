/* See currency.h. Any thread submits, the store's threads or the submitter's own (asker.c) answer,
 * the writer publishes.
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
 * that state. One wait is therefore enough, however much others commit meanwhile. head_queries.c
 * has what follows from an answer. */
#include "engine/currency.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/clock.h"
#include "engine/asker.h"
#include "engine/currency_internal.h"

/* The writer could not take the news. If that is because the database has become unavailable, these
 * requests get what the others get; another query finds that out. Each is sent back once. */
static void ask_again(struct currency *currency, struct todo *todo)
{
    struct queue requests;
    struct pipeline_request *request;
    queue_clear(&requests);
    queue_move(&requests, &currency->following.requests);
    while ((request = currency_next_of(&requests)) != NULL) {
        bool again = currency->reads_most_us > 0 && !currency->is_stopping && !request->asked_again;
        request->asked_again = true;
        queue_append(again ? &currency->waiting : &todo->refuse, request);
    }
    queue_clear(&currency->following.requests);
    currency_send_next(currency, todo);
}

/* The writer has taken the news, or has found that a publication already contained them; or it
 * could not. */
static void followed(struct pipeline_request *request)
{
    struct currency *currency = request->submitter;
    struct todo todo;
    currency_todo_begin(&todo, currency);
    currency->is_following = false;
    if (err_is_set(&request->err)) {
        ask_again(currency, &todo);
    } else {
        currency_knows(currency, currency->following.asked_us);
        queue_move(&todo.complete, &currency->following.requests);
    }
    currency_follow_next(currency, &todo);
    currency_todo_end(&todo, currency);
}

void currency_submit(struct currency *currency, struct pipeline_request *request)
{
    struct todo todo;
    currency_todo_begin(&todo, currency);
    if (store_stamp_is_unknown(&currency->published) ||
        store_currency(currency->store, &currency->published) != STORE_MUST_ASK) {
        queue_append(&todo.hand_over, request);
    } else if (currency->is_stopping) {
        todo.reason = ANSWER_STOPPING;
        queue_append(&todo.refuse, request);
    } else {
        counter_add(&currency->requests, !request->is_upkeep);
        if (asker_submit(currency, request, &todo))
            return currency_todo_end(&todo, currency);
        queue_append(&currency->waiting, request);
        currency_ask_store(currency, &todo);
    }
    currency_todo_end(&todo, currency);
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
    currency_todo_begin(&todo, currency);
    askers_give_up(currency, &todo);
    if (currency_is_overdue(currency)) {
        struct queue *const queues[] = {&currency->waiting, &currency->queries[0].requests,
                                        &currency->queries[1].requests,
                                        &currency->following.requests, &currency->behind.requests};
        for (unsigned i = 0; i < sizeof(queues) / sizeof(queues[0]); i++)
            currency_do_without(currency, queues[i], &todo);
    }
    currency_todo_end(&todo, currency);
}

static void complete_if_covered(struct currency *currency, struct group *group, struct todo *todo)
{
    if (group->requests.first != NULL &&
        store_covers(currency->store, &currency->published, &group->head)) {
        currency_knows(currency, group->asked_us);
        queue_move(&todo->complete, &group->requests);
    }
}

void currency_published(struct currency *currency, const struct store_stamp *stamp)
{
    struct todo todo;
    currency_todo_begin(&todo, currency);
    currency->published = *stamp;
    if (!store_stamp_is_unknown(stamp)) {
        complete_if_covered(currency, &currency->following, &todo);
        complete_if_covered(currency, &currency->behind, &todo);
    }
    currency_todo_end(&todo, currency);
}

void currency_note_known(struct currency *currency, uint64_t at_us)
{
    pthread_mutex_lock(&currency->lock);
    currency_knows(currency, at_us);
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
    currency_todo_begin(&todo, currency);
    currency->is_committing = false;
    currency_follow_next(currency, &todo);
    currency_todo_end(&todo, currency);
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
    currency_todo_begin(&todo, currency);
    currency->is_stopping = true;
    todo.reason = ANSWER_STOPPING;
    queue_move(&todo.refuse, &currency->waiting);
    for (unsigned i = 0; i < QUERIES_IN_FLIGHT; i++)
        queue_move(&todo.refuse, &currency->queries[i].requests);
    askers_refuse(currency, &todo.refuse);
    currency_todo_end(&todo, currency);
    store_stop_queries(currency->store);
    pthread_mutex_lock(&currency->lock);
    while (currency->in_progress > 0)
        pthread_cond_wait(&currency->answered, &currency->lock);
    pthread_mutex_unlock(&currency->lock);
}

void currency_destroy(struct currency *currency)
{
    askers_destroy(currency);
    pthread_cond_destroy(&currency->answered);
    pthread_mutex_destroy(&currency->lock);
    arena_destroy(currency->arena);
    free(currency);
}

struct currency_figures currency_figures(struct currency *currency)
{
    struct currency_figures figures = {
        .queries = counter_read(&currency->ended),
        .failed = counter_read(&currency->failed),
        .requests = counter_read(&currency->requests),
        .waited = counter_read(&currency->waited),
        .continued = counter_read(&currency->continued),
    };
    histogram_read(&currency->query_us, &figures.query_us);
    return figures;
}
