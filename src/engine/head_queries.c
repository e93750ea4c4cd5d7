/* Queries for the newest state, by whomever they are sent, and what follows from their answers. See
 * currency.c for the invariant. The lock is never held while a request is completed or handed to
 * the store or the writer: what is to be done is collected first (struct todo). */
#include "base/arena.h"
#include "base/clock.h"
#include "engine/currency_internal.h"
#include "log/log.h"

enum { PATIENCE_US = 1000000 };

void currency_todo_begin(struct todo *todo, struct currency *currency)
{
    *todo = (struct todo){.reason = ANSWER_UNAVAILABLE};
    queue_clear(&todo->hand_over);
    queue_clear(&todo->complete);
    queue_clear(&todo->refuse);
    pthread_mutex_lock(&currency->lock);
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

void currency_todo_end(struct todo *todo, struct currency *currency)
{
    struct pipeline_request *request;
    pthread_mutex_unlock(&currency->lock);
    if (todo->has_changed)
        log_reads(todo);
    if (todo->send != NULL)
        store_query_head(currency->store, answered, todo->send);
    if (todo->follows)
        currency->writer.submit(currency->writer.cls, &currency->request);
    while ((request = currency_next_of(&todo->hand_over)) != NULL)
        currency->writer.submit(currency->writer.cls, request);
    while ((request = currency_next_of(&todo->complete)) != NULL)
        request->done(request);
    while ((request = currency_next_of(&todo->refuse)) != NULL) {
        err_set(&request->err, 503, NULL, "%s", todo->reason);
        request->done(request);
    }
}

void currency_begin_query(struct head_query *query, struct queue *requests)
{
    query->is_in_flight = true;
    query->sent_us = clock_monotonic_us();
    queue_move(&query->requests, requests);
}

void currency_send_next(struct currency *currency, struct todo *todo)
{
    if (currency->waiting.first == NULL || currency->is_stopping || todo->send != NULL)
        return; /* what remains is asked when the next answer is there */
    for (unsigned i = 0; i < QUERIES_IN_FLIGHT; i++) {
        struct head_query *query = &currency->queries[i];
        if (query->is_in_flight)
            continue;
        currency_begin_query(query, &currency->waiting);
        currency->in_progress++;
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

bool currency_is_overdue(const struct currency *currency)
{
    uint64_t patience_us = currency->reads_most_us / 2;
    uint64_t now_us = clock_monotonic_us();
    if (patience_us > PATIENCE_US)
        patience_us = PATIENCE_US;
    for (unsigned i = 0; i < QUERIES_IN_FLIGHT; i++)
        if (patience_us > 0 && currency_has_waited(&currency->queries[i], now_us, patience_us))
            return true;
    return false;
}

void currency_do_without(struct currency *currency, struct queue *requests, struct todo *todo)
{
    bool continues = may_continue(currency);
    set_reads(currency, continues ? CURRENCY_READS_CONTINUE : CURRENCY_READS_FAIL, todo);
    for (const struct pipeline_request *one = requests->first; one != NULL; one = one->next)
        counter_add(&currency->continued, continues && !one->is_upkeep);
    queue_move(continues ? &todo->complete : &todo->refuse, requests);
}

void currency_ask_store(struct currency *currency, struct todo *todo)
{
    currency_send_next(currency, todo);
    if (currency_is_overdue(currency))
        currency_do_without(currency, &currency->waiting, todo);
}

/* ---- the writer takes the news ---- */

static void set_goal(struct group *group, const struct store_stamp *head, uint64_t asked_us)
{
    group->head = *head;
    group->asked_us = asked_us;
}

void currency_follow_next(struct currency *currency, struct todo *todo)
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

/* The group waits for both of two states. Answers come in any order, and of two states that memory
 * has not had, it is not known which is the later one: then only a read that begins now has both.
 */
static void set_later_goal(struct currency *currency, const struct store_stamp *head,
                           uint64_t asked_us)
{
    static const struct store_stamp NEITHER;
    struct group *behind = &currency->behind;
    if (asked_us < behind->asked_us)
        asked_us = behind->asked_us;
    if (store_covers(currency->store, &behind->head, head))
        head = &behind->head;
    else if (!store_covers(currency->store, head, &behind->head))
        head = &NEITHER;
    set_goal(behind, head, asked_us);
}

static void fall_behind(struct currency *currency, struct queue *requests,
                        const struct store_stamp *head, uint64_t asked_us)
{
    struct group *behind = &currency->behind;
    counter_add(&currency->waited, requests->count);
    if (behind->requests.first == NULL)
        set_goal(behind, head, asked_us);
    else
        set_later_goal(currency, head, asked_us);
    queue_move(&behind->requests, requests);
}

void currency_end_query(struct currency *currency, struct head_query *query,
                        const struct store_head *head, struct todo *todo)
{
    uint64_t took_us = clock_monotonic_us() - query->sent_us;
    histogram_add(&currency->query_us, &CURRENCY_QUERY_SHAPE_US, took_us);
    counter_add(&currency->ended, 1);
    counter_add(&currency->failed, !head->is_known);
    query->is_in_flight = false;
    if (!head->is_known) {
        todo->unknown_because = head->reason;
        currency_do_without(currency, &query->requests, todo);
        return;
    }
    set_reads(currency, CURRENCY_READS_WORK, todo);
    if (store_covers(currency->store, &currency->published, &head->stamp)) {
        currency_knows(currency, query->sent_us);
        queue_move(&todo->complete, &query->requests);
    } else {
        fall_behind(currency, &query->requests, &head->stamp, query->sent_us);
        currency_follow_next(currency, todo);
    }
}

static void answered(void *cls, const struct store_head *head)
{
    struct head_query *query = cls;
    struct currency *currency = query->currency;
    struct todo todo;
    currency_todo_begin(&todo, currency);
    currency_end_query(currency, query, head, &todo);
    currency_send_next(currency, &todo);
    currency_todo_end(&todo, currency);
    pthread_mutex_lock(&currency->lock);
    currency->in_progress--;
    pthread_cond_signal(&currency->answered);
    pthread_mutex_unlock(&currency->lock);
}
