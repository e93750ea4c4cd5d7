/* Finds what programs that write no log have written. The server keeps with each row the number of
 * the transaction that wrote it (xmin), and numbers are given in order: so a row was written since
 * an earlier snapshot if its number is not below that of the oldest transaction that was then open.
 * This needs no clock and no column that a program has to maintain. Rows that were deleted are
 * missing in the count of their table; its ids are read only then. Another cluster, to which the
 * tables were copied, has numbers of its own, and after a promotion what other programs wrote may
 * be gone: there, everything is compared once.
 *
 * Where a server keeps no such number (MariaDB), rows are found by the times that programs write
 * into them. A program with a late clock, or a server that has lost commits, hides rows from that.
 * So the ids and the generations of all rows are added up, and where memory has other sums, all
 * rows of the table are compared. Rows that a load has left out are unknown to memory: a table that
 * has some has only a count.
 *
 * Not examined are tables of rows that no service changes without raising the generation of their
 * provider: inventories, traits of providers, allocations. They can be read by id.
 *
 * An observer has a session of its own. Of the store it uses nothing but what never changes, and
 * what is guarded by a lock, as the head is. Its thread, except for server_note_load(). */
#include <stdlib.h>

#include "base/clock.h"
#include "store/observe.h"
#include "store/server/dialect.h"
#include "store/server/io.h"
#include "store/server/store_internal.h"

struct server_observer {
    struct store_observer base; /* first */
    struct server_store *store;
    struct server_session *session;
    struct server_reader reader;
    struct server_meanwhile meanwhile; /* the session's: ends its waits */
    _Atomic bool is_stopped;
    bool is_open; /* a snapshot is */
    struct server_load load;
    int64_t examined_from; /* transactions below this number have been looked at */
};

static const struct observed_table {
    enum rows_table table;
    enum entity entity; /* ENTITY_COUNT: rows that have no ids are not counted */
} tables[] = {
    {ROWS_CLASSES, ENTITY_CLASS},        {ROWS_TRAITS, ENTITY_TRAIT},
    {ROWS_AGGREGATES, ENTITY_AGGREGATE}, {ROWS_PROJECTS, ENTITY_PROJECT},
    {ROWS_USERS, ENTITY_USER},           {ROWS_CONSUMER_TYPES, ENTITY_CONSUMER_TYPE},
    {ROWS_PROVIDERS, ENTITY_PROVIDER},   {ROWS_PROVIDER_AGGREGATES, ENTITY_COUNT},
    {ROWS_CONSUMERS, ENTITY_CONSUMER},
};
enum { TABLES = sizeof(tables) / sizeof(tables[0]) };

static struct server_observer *observer_of(struct store_observer *base)
{
    return (struct server_observer *)base;
}

/* ---- what the writer says ---- */

static uint64_t count_skipped(const struct server_store *store, const char *name)
{
    uint64_t count = 0;
    for (size_t i = 0; i < store->skipped.rows.count; i++)
        count += strcmp(store->skipped.rows.at[i].table, name) == 0;
    return count;
}

void server_note_load(struct server_store *store)
{
    struct server_load load = {.horizon = store->load_horizon,
                               .system = store->examined_system,
                               .timeline = store->examined_timeline};
    for (int table = 0; table < EXAMINED_TABLES; table++)
        load.skipped[table] = count_skipped(store, rows_name((enum rows_table)table));
    pthread_mutex_lock(&store->load_lock);
    load.number = store->load.number + 1;
    store->load = load;
    pthread_mutex_unlock(&store->load_lock);
}

/* After a load, the numbers of transactions may be those of another server. */
static void note_newest_load(struct server_observer *observer)
{
    struct server_store *store = observer->store;
    uint64_t before = observer->load.number;
    pthread_mutex_lock(&store->load_lock);
    observer->load = store->load;
    pthread_mutex_unlock(&store->load_lock);
    if (observer->load.number != before)
        observer->examined_from = observer->load.horizon;
}

/* ---- snapshots ---- */

static uint64_t deadline(const struct server_observer *observer)
{
    return server_deadline(observer->store);
}

/* The snapshot is of no use any more. */
static bool fail(struct server_observer *observer, struct err *err)
{
    server_session_close(observer->session);
    return err_is_set(err) ? false : err_set(err, 503, NULL, STORE_STOPPING);
}

/* The stamp that a version has to have. If there are notes that memory does not have, no version
 * has it, and memory is brought up to date. */
static bool begin_with_stamp(struct server_observer *observer, struct store_stamp *stamp,
                             struct err *err)
{
    struct foreign_view view = {0};
    struct question_answer answer = {0};
    struct log_state state;
    const struct server_id *server = &observer->session->id;
    bool coexists = server_head_view(observer->store->head, &view);
    bool is_view_of_server = server_id_equal(&view.server, server);
    bool ok = observer->session->dialect->snapshot_ask(observer->session, coexists ? &view : NULL,
                                                       is_view_of_server, &answer,
                                                       deadline(observer), err) == SERVER_OK &&
              log_newest_state(&answer.newest, NULL, &state) == LOG_FOUND_STATE;
    server_head_note_seen(observer->store->head, ok ? state.number : answer.newest.seen);
    if (ok)
        *stamp = answer.has_notes ? log_stamp_of_none() : log_state_stamp(&state, view.taken);
    log_rows_free(&answer.newest.rows);
    foreign_view_free(&view);
    return ok;
}

static bool observer_begin(struct store_observer *base, struct store_stamp *stamp, struct err *err)
{
    struct server_observer *observer = observer_of(base);
    check(!observer->is_open);
    if (observer->is_stopped)
        return fail(observer, err);
    if (server_session_is_old(observer->session, observer->store->recycle_us))
        server_session_close(observer->session);
    server_session_notice_end(observer->session);
    note_newest_load(observer);
    if (!server_ensure_session(observer->store, observer->session, err) ||
        !begin_with_stamp(observer, stamp, err))
        return fail(observer, err);
    observer->is_open = true;
    return true;
}

static void observer_end(struct store_observer *base)
{
    struct server_observer *observer = observer_of(base);
    struct arena *arena = arena_create();
    struct err ignored = {.arena = arena};
    check(observer->is_open);
    observer->is_open = false;
    server_session_rollback(observer->session, "read", deadline(observer), &ignored);
    arena_destroy(arena);
}

/* ---- looking ---- */

static void pass_recent(void *cls, size_t at, struct cell *cells)
{
    const struct store_examiner *examiner = cls;
    struct change change;
    if (rows_change(tables[at].table, cells, NULL, &change))
        examiner->recent(examiner->cls, &change);
}

static struct store_sums sums_of(const struct server_observer *observer,
                                 const struct examined_table *examined)
{
    uint64_t skipped = observer->load.skipped[examined->table];
    return (struct store_sums){.rows = (uint64_t)examined->rows - skipped,
                               .has_sums = examined->has_sums && skipped == 0,
                               .ids = examined->ids,
                               .generations = examined->generations};
}

/* *wants_rows: whether all rows are to be passed, too. */
static bool pass_ids(struct server_observer *observer, size_t at,
                     const struct store_examiner *examiner, bool *wants_rows, struct err *err)
{
    struct row_ids ids;
    bool ok = observer->session->dialect->rows_ids(observer->session, tables[at].table, &ids,
                                                   deadline(observer), err) == SERVER_OK;
    *wants_rows = ok && examiner->ids(examiner->cls, tables[at].entity, ids.at, ids.count);
    free(ids.at);
    return ok;
}

struct passed_table {
    const struct store_examiner *examiner;
    enum rows_table table;
};

static void pass_row(void *cls, size_t at, struct cell *cells)
{
    const struct passed_table *passed = cls;
    struct change change;
    (void)at;
    if (rows_change(passed->table, cells, NULL, &change))
        passed->examiner->row(passed->examiner->cls, &change);
}

static bool pass_rows(struct server_observer *observer, size_t at,
                      const struct store_examiner *examiner, struct err *err)
{
    struct passed_table passed = {examiner, tables[at].table};
    bool ok = observer->session->dialect->rows_stream(observer->session, tables[at].table, pass_row,
                                                      &passed, observer->store->timeout_us,
                                                      err) == SERVER_OK;
    if (ok)
        examiner->rows_end(examiner->cls, tables[at].entity);
    return ok;
}

static bool compare_sums(struct server_observer *observer, size_t at,
                         const struct examined_table *examined,
                         const struct store_examiner *examiner, struct err *err)
{
    const struct store_sums sums = sums_of(observer, examined);
    bool wants_rows = false;
    if (!examined->is_counted || examiner->has_sums(examiner->cls, tables[at].entity, &sums))
        return true;
    return pass_ids(observer, at, examiner, &wants_rows, err) &&
           (!wants_rows || pass_rows(observer, at, examiner, err));
}

static bool observer_look(struct server_observer *observer, struct examination *examination,
                          const struct store_examiner *examiner, struct err *err)
{
    struct store_examiner passed = *examiner;
    bool ok = observer->session->dialect->rows_examine(observer->session, examination, pass_recent,
                                                       &passed, observer->store->timeout_us,
                                                       err) == SERVER_OK;
    for (size_t i = 0; ok && i < TABLES; i++)
        ok = compare_sums(observer, i, &examination->tables[i], examiner, err);
    return ok;
}

/* A pooler may lead to another cluster without a new connection. */
static bool is_other_cluster(const struct server_observer *observer, int64_t horizon)
{
    const struct server_id *id = &observer->session->id;
    return id->system != observer->load.system || id->timeline != observer->load.timeline ||
           horizon < observer->examined_from;
}

static bool observer_examine(struct store_observer *base, const struct store_examiner *examiner,
                             struct err *err)
{
    struct server_observer *observer = observer_of(base);
    struct examined_table examined[TABLES];
    struct examination examination = {
        .tables = examined, .count = TABLES, .since = observer->examined_from};
    for (size_t i = 0; i < TABLES; i++)
        examined[i] =
            (struct examined_table){.table = tables[i].table,
                                    .is_counted = tables[i].entity != ENTITY_COUNT,
                                    .has_generations = tables[i].entity == ENTITY_PROVIDER ||
                                                       tables[i].entity == ENTITY_CONSUMER};
    check(observer->is_open);
    if (!observer_look(observer, &examination, examiner, err))
        return fail(observer, err);
    if (is_other_cluster(observer, examination.horizon)) {
        observer->store->is_replaced = true;
        examiner->unknown(examiner->cls);
    } else if (!examiner->is_full(examiner->cls)) {
        observer->examined_from = examination.horizon;
    }
    return true;
}

static bool observer_find(struct store_observer *base, enum entity entity, const int64_t *ids,
                          size_t count, store_sink *sink, void *cls, struct err *err)
{
    struct server_observer *observer = observer_of(base);
    const struct row_reader reader = server_row_reader(&observer->reader);
    check(observer->is_open);
    return observe_find(&reader, entity, ids, count, sink, cls, err) || fail(observer, err);
}

/* ---- begin and end ---- */

static void observer_stop(struct store_observer *base)
{
    observer_of(base)->is_stopped = true;
}

static bool observer_goes_on(void *cls)
{
    return !((const struct server_observer *)cls)->is_stopped;
}

static void observer_free(struct store_observer *base)
{
    struct server_observer *observer = observer_of(base);
    check(!observer->is_open);
    server_session_destroy(observer->session);
    free(observer);
}

static const struct store_observer_driver driver = {
    .free = observer_free,
    .stop = observer_stop,
    .begin = observer_begin,
    .end = observer_end,
    .examine = observer_examine,
    .find = observer_find,
};

struct store_observer *server_observe(struct store *base, struct err *err)
{
    struct server_store *store = server_store_of(base);
    (void)err;
    struct server_observer *observer = calloc(1, sizeof(*observer));
    check(observer != NULL);
    *observer = (struct server_observer){
        .base = {&driver}, .store = store, .meanwhile = {.run = observer_goes_on, .cls = observer}};
    observer->session = server_session_create(&(struct server_session_options){
        .address = &store->address,
        .lineage = store->lineage,
        .idle_in_transaction_ms = (int)(store->timeout_us / 1000),
        .wake_fd = -1,
        .counts = &store->connections,
        .meanwhile = &observer->meanwhile,
    });
    observer->reader = (struct server_reader){.session = observer->session,
                                              .target = store->address.target,
                                              .timeout_us = store->timeout_us};
    return &observer->base;
}
