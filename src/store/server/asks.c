/* See asks.h. Failures are of no consequence: the next look, or the next refusal, tries again. */
#include "store/server/asks.h"

#include "base/clock.h"
#include "store/server/dialect.h"
#include "store/server/store_internal.h"

enum {
    REFUSED_MOST = 2,    /* in a row, after which this instance asks, and so on */
    NEEDED_US = 2000000, /* until all have seen it, many times over */
    DEAD_US = 30000000,  /* nobody needs an ask for so long */
};

/* The dialect has turns, and the servers are nodes of a cluster. */
static bool has_turns(const struct server_store *store)
{
    return store->writer->node[0] != '\0' && store->address.dialect->ask_write != NULL;
}

void server_asks_refused(struct server_store *store)
{
    store->asks.is_due |= has_turns(store) && ++store->asks.refused % REFUSED_MOST == 0;
}

void server_asks_committed(struct server_store *store)
{
    store->asks.refused = 0;
    store->asks.is_due = false;
}

static bool can_use_follower(struct server_store *store)
{
    return !store->read.is_open && !store->must_not_wait && server_session_is_open(store->follower);
}

static bool delete_ask(struct server_store *store, const struct turn_ask *ask)
{
    struct err ignored = server_ignored(store);
    return store->follower->dialect->ask_delete(store->follower, ask, server_deadline(store),
                                                &ignored) == SERVER_OK;
}

static void withdraw(struct server_store *store)
{
    if (store->asks.has_asked)
        store->asks.has_asked = !delete_ask(store, &store->asks.own);
}

void server_ask(struct server_store *store)
{
    struct server_asks *asks = &store->asks;
    struct err ignored = server_ignored(store);
    if (!asks->is_due || !can_use_follower(store))
        return;
    asks->is_due = false;
    withdraw(store);
    asks->own = (struct turn_ask){.instance = store->instance,
                                  .serial = (unsigned char)(asks->own.serial + 1)};
    asks->has_asked =
        store->follower->dialect->ask_write(store->follower, &asks->own, server_deadline(store),
                                            &ignored) == SERVER_OK;
    asks->asked_us = clock_monotonic_us();
}

static struct seen_ask *find_seen(struct server_asks *asks, const struct turn_ask *ask)
{
    for (size_t i = 0; i < asks->count; i++)
        if (asks->seen[i].ask.instance == ask->instance)
            return &asks->seen[i];
    return NULL;
}

/* The oldest is forgotten if there is no room. */
static struct seen_ask *make_seen(struct server_asks *asks)
{
    if (asks->count < ASKS_MOST)
        return &asks->seen[asks->count++];
    struct seen_ask *oldest = &asks->seen[0];
    for (size_t i = 1; i < asks->count; i++)
        if (asks->seen[i].since_us < oldest->since_us)
            oldest = &asks->seen[i];
    return oldest;
}

static void take_ask(struct server_store *store, const struct turn_ask *ask, uint64_t now_us)
{
    struct seen_ask *seen = find_seen(&store->asks, ask);
    if (ask->instance == store->instance)
        return;
    if (seen != NULL && seen->ask.serial == ask->serial) {
        if (now_us - seen->since_us > DEAD_US && delete_ask(store, ask))
            seen->since_us = now_us;
        return;
    }
    if (seen == NULL)
        seen = make_seen(&store->asks);
    *seen = (struct seen_ask){.ask = *ask, .since_us = now_us};
    turns_note_ask(&store->turns, ask->instance, now_us);
}

void server_look_for_asks(struct server_store *store)
{
    struct err ignored = server_ignored(store);
    struct turn_asks found = {0};
    uint64_t now_us = clock_monotonic_us();
    if (!has_turns(store) || !can_use_follower(store))
        return;
    if (store->asks.has_asked && now_us - store->asks.asked_us > NEEDED_US)
        withdraw(store);
    if (!turns_has_written(&store->turns, now_us) || !can_use_follower(store))
        return;
    if (store->follower->dialect->asks_read(store->follower, &found, server_deadline(store),
                                            &ignored) != SERVER_OK)
        return;
    for (size_t i = 0; i < found.count; i++)
        take_ask(store, &found.at[i], now_us);
}
