/* Stamps, and queries for the newest state. The test decides when a query reaches the database and
 * when its answer arrives. */
#include "memory_store_internal.h"

void memory_store_write_stamp(struct store_stamp *stamp, uint64_t commit)
{
    memset(stamp, 0, sizeof(*stamp));
    memcpy(stamp->bytes, &commit, sizeof(commit));
}

static uint64_t number(const struct store_stamp *stamp)
{
    uint64_t commit;
    memcpy(&commit, stamp->bytes, sizeof(commit));
    return commit;
}

enum store_currency store_currency(const struct store *store, const struct store_stamp *stamp)
{
    const struct memory_database *database = store->database;
    if (database->must_be_asked)
        return STORE_MUST_ASK;
    return !database->stamps_never_current && number(stamp) == database->commit ? STORE_IS_CURRENT
                                                                                : STORE_IS_OUTDATED;
}

bool store_covers(const struct store *store, const struct store_stamp *have,
                  const struct store_stamp *head)
{
    (void)store;
    return number(have) >= number(head);
}

/* It has no askers. */
struct store_asker *store_open_asker(struct store *store)
{
    (void)store;
    return NULL;
}

void store_close_asker(struct store_asker *asker)
{
    check(asker == NULL);
}

int store_ask(struct store_asker *asker)
{
    check(asker != NULL);
    return -1;
}

enum store_asked store_take_answer(struct store_asker *asker, struct store_head *head)
{
    check(asker != NULL && head != NULL);
    return STORE_ASKED_NOTHING;
}

void store_forget_query(struct store_asker *asker)
{
    check(asker != NULL);
}

void store_query_head(struct store *store,
                      void (*answered)(void *cls, const struct store_head *head), void *cls)
{
    check(store->database->must_be_asked);
    unsigned at = 0;
    while (at < MEMORY_QUERIES && store->queries[at].answered != NULL)
        at++;
    check(at < MEMORY_QUERIES);
    store->queries[at] = (struct memory_query){.answered = answered, .cls = cls};
}

bool memory_store_run_query(struct store *store, unsigned query)
{
    struct memory_query *at = &store->queries[query];
    if (at->answered == NULL || at->is_executed)
        return false;
    at->is_executed = true;
    at->head.is_known = true;
    memory_store_write_stamp(&at->head.stamp, store->database->commit);
    return true;
}

bool memory_store_answer(struct store *store, unsigned query)
{
    struct memory_query *at = &store->queries[query];
    if (at->answered == NULL)
        return false;
    memory_store_run_query(store, query);
    struct memory_query answer = *at;
    *at = (struct memory_query){0};
    answer.head.is_known = !memory_database_strikes(store->database, MEMORY_QUERY_FAILS);
    answer.answered(answer.cls, &answer.head);
    return true;
}
