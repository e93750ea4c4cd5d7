/* See asker.h. `store` belongs to the asker's thread, and is used without the lock; the rest is
 * guarded by the lock. */
#include "engine/asker.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/event_loop.h"

enum { PATIENCE_US = 1000000 };

/* Clients ask again soon after they were answered. A query for all of them costs the database no
 * more than one for the first, so those are waited for: for a part of a query's own time. If that
 * was in vain, the next queries are sent without. */
enum { GATHER_SHARE = 2, GATHER_MOST_US = 150, UNGATHERED = 16 };

struct asker {
    struct event_watcher watcher; /* first */
    uint64_t loop;                /* event_loop_number() of the thread */
    struct store_asker *store;
    struct queue waiting; /* for the next query */
    uint64_t since_us;    /* when the first of these came */
    struct head_query query;
    unsigned expected;   /* requests, until the next query: those that waited when the last one was
                            answered, and as many as it has answered */
    uint64_t gather_us;  /* how long these are waited for */
    unsigned known;      /* of these, how many there were when waiting for the others began; 0: it
                            has not begun */
    unsigned ungathered; /* queries that are still to be sent at once */
};

static struct asker *asker_of(struct event_watcher *watcher)
{
    return (struct asker *)watcher;
}

/* How long an answer may take. The store's threads then have twice as long before the database
 * counts as unavailable. */
static uint64_t patience_us(const struct currency *currency)
{
    uint64_t most_us = currency->reads_most_us / 4;
    return most_us > 0 && most_us < PATIENCE_US ? most_us : PATIENCE_US;
}

static void leave_to_store(struct currency *currency, struct asker *asker, struct todo *todo)
{
    queue_move(&currency->waiting, &asker->query.requests);
    queue_move(&currency->waiting, &asker->waiting);
    currency_ask_store(currency, todo);
}

/* False: the query could not be sent. Without the lock. */
static bool asker_send(struct asker *asker)
{
    int fd = store_ask(asker->store);
    if (fd >= 0 && event_loop_watch(&asker->watcher, fd))
        return true;
    store_forget_query(asker->store);
    return false;
}

/* Under the lock. */
static void ask_soon(struct asker *asker)
{
    bool gathers = asker->waiting.count < asker->expected && asker->ungathered == 0;
    if (asker->known == 0)
        asker->known = asker->waiting.count;
    event_loop_when_idle(&asker->watcher, gathers ? asker->gather_us : 0);
}

/* Under the lock: a query is about to be sent. */
static void note_gathered(struct asker *asker)
{
    if (asker->ungathered > 0)
        asker->ungathered--;
    else if (asker->known < asker->expected && asker->waiting.count == asker->known)
        asker->ungathered = UNGATHERED;
    asker->known = 0;
}

/* Under the lock: the query is answered. */
static void expect_more(struct asker *asker)
{
    uint64_t took_us = clock_monotonic_us() - asker->query.sent_us;
    asker->expected = asker->query.requests.count + asker->waiting.count;
    asker->gather_us =
        took_us < GATHER_MOST_US * GATHER_SHARE ? took_us / GATHER_SHARE : GATHER_MOST_US;
}

/* For all requests that have gathered while the thread was busy. */
static void ask(struct event_watcher *watcher)
{
    struct asker *asker = asker_of(watcher);
    struct currency *currency = asker->query.currency;
    struct todo todo;
    pthread_mutex_lock(&currency->lock);
    bool asks = asker->waiting.first != NULL && !asker->query.is_in_flight;
    if (asks) {
        note_gathered(asker);
        currency_begin_query(&asker->query, &asker->waiting);
    }
    pthread_mutex_unlock(&currency->lock);
    if (!asks || asker_send(asker))
        return;
    currency_todo_begin(&todo, currency);
    asker->query.is_in_flight = false;
    leave_to_store(currency, asker, &todo);
    currency_todo_end(&todo, currency);
}

static void take_answer(struct event_watcher *watcher)
{
    struct asker *asker = asker_of(watcher);
    struct currency *currency = asker->query.currency;
    struct store_head head;
    struct todo todo;
    enum store_asked asked = store_take_answer(asker->store, &head);
    if (asked == STORE_ASKED_NOTHING || asked == STORE_ASKED_PENDING)
        return;
    currency_todo_begin(&todo, currency);
    if (asked == STORE_ASKED_ANSWERED) {
        expect_more(asker);
        currency_end_query(currency, &asker->query, &head, &todo);
    } else {
        asker->query.is_in_flight = false;
        leave_to_store(currency, asker, &todo);
    }
    if (asker->waiting.first != NULL)
        ask_soon(asker);
    currency_todo_end(&todo, currency);
}

static struct asker *asker_create(struct currency *currency, uint64_t loop)
{
    struct store_asker *store = store_open_asker(currency->store);
    if (store == NULL)
        return NULL;
    struct asker *asker = calloc(1, sizeof(*asker));
    check(asker != NULL);
    asker->watcher = (struct event_watcher){.idle = ask, .readable = take_answer};
    asker->loop = loop;
    asker->store = store;
    asker->query.currency = currency;
    queue_clear(&asker->query.requests);
    queue_clear(&asker->waiting);
    currency->askers[currency->asker_count++] = asker;
    return asker;
}

/* This thread's; NULL: it has no event loop, or others have all askers. */
static struct asker *asker_here(struct currency *currency)
{
    uint64_t loop = event_loop_number();
    for (unsigned i = 0; loop != 0 && i < currency->asker_count; i++)
        if (currency->askers[i]->loop == loop)
            return currency->askers[i];
    return loop == 0 || currency->asker_count == STORE_ASKERS_MOST ? NULL
                                                                   : asker_create(currency, loop);
}

bool asker_submit(struct currency *currency, struct pipeline_request *request, struct todo *todo)
{
    struct asker *asker = asker_here(currency);
    if (asker == NULL)
        return false;
    if (currency_has_waited(&asker->query, clock_monotonic_us(), patience_us(currency))) {
        store_forget_query(asker->store);
        asker->query.is_in_flight = false;
        leave_to_store(currency, asker, todo);
        return false;
    }
    if (asker->waiting.first == NULL)
        asker->since_us = clock_monotonic_us();
    queue_append(&asker->waiting, request);
    if (!asker->query.is_in_flight)
        ask_soon(asker);
    return true;
}

void askers_give_up(struct currency *currency, struct todo *todo)
{
    uint64_t now_us = clock_monotonic_us();
    for (unsigned i = 0; i < currency->asker_count; i++) {
        struct asker *asker = currency->askers[i];
        bool is_late =
            asker->waiting.first != NULL && now_us - asker->since_us >= patience_us(currency);
        if (is_late || currency_has_waited(&asker->query, now_us, patience_us(currency)))
            leave_to_store(currency, asker, todo);
    }
}

void askers_refuse(struct currency *currency, struct queue *refused)
{
    for (unsigned i = 0; i < currency->asker_count; i++) {
        queue_move(refused, &currency->askers[i]->waiting);
        queue_move(refused, &currency->askers[i]->query.requests);
    }
}

void askers_destroy(struct currency *currency)
{
    for (unsigned i = 0; i < currency->asker_count; i++) {
        store_close_asker(currency->askers[i]->store);
        free(currency->askers[i]);
    }
}
