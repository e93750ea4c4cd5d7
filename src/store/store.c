/* Calls the driver of the database that a URL names. */
#include "store/driver.h"

bool store_knows_connection(struct slice connection, struct err *err)
{
    return store_driver_of(connection)->knows_connection(connection, err);
}

struct slice store_ignored_parameters(struct slice connection, struct arena *arena)
{
    const struct store_driver *driver = store_driver_of(connection);
    return driver->ignored_parameters == NULL ? SLICE_LIT("")
                                              : driver->ignored_parameters(connection, arena);
}

struct store *store_open(const struct store_options *options, struct err *err)
{
    return store_driver_of(options->connection)->open(options, err);
}

void store_close(struct store *store)
{
    store->driver->close(store);
}

enum store_news store_begin_read(struct store *store, struct err *err)
{
    return store->driver->begin_read(store, err);
}

enum store_result store_load(struct store *store, store_sink *sink, void *cls, struct err *err)
{
    return store->driver->load(store, sink, cls, err);
}

enum store_result store_merge(struct store *store, const struct store_comparer *comparer,
                              store_sink *sink, void *cls, bool *merged, struct err *err)
{
    return store->driver->merge(store, comparer, sink, cls, merged, err);
}

enum store_result store_follow(struct store *store, const struct memory_view *memory,
                               store_sink *sink, void *cls, struct err *err)
{
    return store->driver->follow(store, memory, sink, cls, err);
}

bool store_follow_head(struct store *store, const struct store_stamp *head, store_sink *sink,
                       void *cls)
{
    return store->driver->follow_head != NULL && store->driver->follow_head(store, head, sink, cls);
}

bool store_take_head(struct store *store)
{
    return store->driver->take_head(store);
}

bool store_follows_foreign(const struct store *store)
{
    return store->driver->follows_foreign != NULL && store->driver->follows_foreign(store);
}

bool store_suspect(struct store *store, enum entity entity, int64_t id, struct slice uuid)
{
    return store->driver->suspect != NULL && store->driver->suspect(store, entity, id, uuid);
}

bool store_should_read(const struct store *store)
{
    return store->driver->should_read != NULL && store->driver->should_read(store);
}

struct store_observer *store_observe(struct store *store, struct err *err)
{
    return store->driver->observe == NULL ? NULL : store->driver->observe(store, err);
}

void store_observer_free(struct store_observer *observer)
{
    if (observer != NULL)
        observer->driver->free(observer);
}

void store_observer_stop(struct store_observer *observer)
{
    observer->driver->stop(observer);
}

bool store_observer_begin(struct store_observer *observer, struct store_stamp *stamp,
                          struct err *err)
{
    return observer->driver->begin(observer, stamp, err);
}

void store_observer_end(struct store_observer *observer)
{
    observer->driver->end(observer);
}

bool store_observer_examine(struct store_observer *observer, const struct store_examiner *examiner,
                            struct err *err)
{
    return observer->driver->examine(observer, examiner, err);
}

bool store_observer_find(struct store_observer *observer, enum entity entity, const int64_t *ids,
                         size_t count, store_sink *sink, void *cls, struct err *err)
{
    return observer->driver->find(observer, entity, ids, count, sink, cls, err);
}

bool store_check_schema(struct store *store, char revision[static STORE_REVISION_BYTES],
                        struct err *err)
{
    return store->driver->check_schema(store, revision, err);
}

bool store_end_read(struct store *store, struct store_stamp *stamp)
{
    return store->driver->end_read(store, stamp);
}

struct store_turn store_turn(const struct store *store)
{
    return store->driver->turn == NULL ? (struct store_turn){0} : store->driver->turn(store);
}

bool store_locks_first(const struct store *store)
{
    return store->driver->locks_first(store);
}

bool store_reads_first(const struct store *store)
{
    return store->driver->reads_first(store);
}

enum store_lock store_lock(struct store *store, struct err *err)
{
    return store->driver->lock(store, err);
}

void store_unlock(struct store *store)
{
    store->driver->unlock(store);
}

int64_t store_next_id(struct store *store, enum store_table table)
{
    return store->driver->next_id(store, table);
}

bool store_lacks_id(struct store *store, struct err *err)
{
    return store->driver->lacks_id != NULL && store->driver->lacks_id(store, err);
}

void store_reuse_ids(struct store *store)
{
    store->driver->reuse_ids(store);
}

void store_adapt(const struct store *store, struct change *change)
{
    if (store->driver->adapt != NULL)
        store->driver->adapt(store, change);
}

bool store_can_hold(const struct store *store, const struct change *change, struct err *err)
{
    return store->driver->can_hold(store, change, err);
}

bool store_is_taken(const struct store *store, enum change_kind kind, unsigned field,
                    struct slice text)
{
    return store->driver->is_taken(store, kind, field, text);
}

bool store_find_alike(const struct store *store, enum change_kind insert, unsigned field,
                      struct slice text, struct store_alike *alike)
{
    return store->driver->find_alike != NULL &&
           store->driver->find_alike(store, insert, field, text, alike);
}

enum store_result store_commit(struct store *store, const struct store_batch *batch,
                               struct store_stamp *stamp, bool *foreign, struct err *err)
{
    return store->driver->commit(store, batch, stamp, foreign, err);
}

enum store_result store_await(struct store *store, uint64_t until_us, struct store_stamp *stamp,
                              bool *foreign, struct err *err)
{
    check(store->driver->await != NULL);
    return store->driver->await(store, until_us, stamp, foreign, err);
}

void store_give_up(struct store *store)
{
    if (store->driver->give_up != NULL)
        store->driver->give_up(store);
}

bool store_begin_at_once(struct store *store)
{
    return store->driver->begin_at_once != NULL && store->driver->begin_at_once(store);
}

void store_end_at_once(struct store *store)
{
    store->driver->end_at_once(store);
}

int store_pending_descriptor(const struct store *store)
{
    return store->driver->pending_descriptor(store);
}

enum store_received store_receive(struct store *store, struct store_stamp *stamp, bool *foreign)
{
    return store->driver->receive(store, stamp, foreign);
}

const struct store_refusal *store_why_refused(const struct store *store)
{
    return store->driver->why_refused(store);
}

enum store_currency store_currency(const struct store *store, const struct store_stamp *stamp)
{
    return store->driver->currency(store, stamp);
}

struct store_asker *store_open_asker(struct store *store)
{
    return store->driver->open_asker == NULL ? NULL : store->driver->open_asker(store);
}

void store_close_asker(struct store_asker *asker)
{
    if (asker != NULL)
        asker->driver->close(asker);
}

int store_ask(struct store_asker *asker)
{
    return asker->driver->ask(asker);
}

enum store_asked store_take_answer(struct store_asker *asker, struct store_head *head)
{
    return asker->driver->take_answer(asker, head);
}

void store_forget_query(struct store_asker *asker)
{
    asker->driver->forget(asker);
}

void store_query_head(struct store *store,
                      void (*answered)(void *cls, const struct store_head *head), void *cls)
{
    check(store->driver->query_head != NULL);
    store->driver->query_head(store, answered, cls);
}

bool store_covers(const struct store *store, const struct store_stamp *have,
                  const struct store_stamp *head)
{
    check(store->driver->covers != NULL);
    return !store_stamp_is_unknown(head) && store->driver->covers(store, have, head);
}

struct store_going_back store_why_went_back(const struct store *store)
{
    check(store->driver->why_went_back != NULL);
    return store->driver->why_went_back(store);
}

struct store_figures store_figures(const struct store *store)
{
    return store->driver->figures(store);
}

struct store_server store_server(const struct store *store)
{
    return store->driver->server == NULL ? (struct store_server){0} : store->driver->server(store);
}

void store_upkeep(struct store *store)
{
    store->driver->upkeep(store);
}

void store_stop_queries(struct store *store)
{
    if (store->driver->stop_queries != NULL)
        store->driver->stop_queries(store);
}

void store_set_meanwhile(struct store *store, const struct store_meanwhile *meanwhile)
{
    if (store->driver->set_meanwhile != NULL)
        store->driver->set_meanwhile(store, meanwhile);
}
