/* See store/missing_consumers.h. Other instances find the same consumers where they read the
 * database, and either create the rows or find them.
 *
 * A database that is being restored table by table looks as if its consumers had no rows, and a row
 * that is created meanwhile ends the restore: it repeats a uuid, or, on a node of a cluster, waits
 * for a lock of the restore, which waits for its commit. So the rows are created only if nothing
 * else seems to be missing, and if all of them are still missing a second after they were found.
 * The writer only. */
#include "store/missing_consumers.h"

#include <poll.h>

#include "base/clock.h"
#include "log/log.h"
#include "store/server/dialect.h"
#include "store/server/store_internal.h"

enum { ATTEMPTS_MOST = 4, QUIET_US = 1000000 };

#define NOBODY "00000000-0000-0000-0000-000000000000"

/* ---- the owner ---- */

static struct slice holdable(struct server_store *store, enum change_kind insert,
                             struct slice external_id, const char *option)
{
    struct err err = server_ignored(store);
    struct change change = {.kind = insert};
    change.catalog.name = external_id;
    if (value_limits_fit(&store->limits, &change, &err))
        return arena_copy(store->arena, external_id);
    log_write(LOG_LEVEL_WARNING, "berth", LOG_NO_CONTEXT,
              "the database '%.*s' cannot hold [placement] %s: consumers of allocations that have "
              "no row get " NOBODY " (%.*s)",
              SLICE_ARG(store->address.target), option, SLICE_ARG(err.message));
    return SLICE_LIT(NOBODY);
}

void server_set_owner(struct server_store *store, const struct store_options *options)
{
    store->completes_consumers = options->completes_consumers;
    store->quiet_us = QUIET_US;
    if (store->completes_consumers)
        store->owner = (struct repair_owner){
            holdable(store, CHANGE_PROJECT_INSERT, options->owner.project,
                     "incomplete_consumer_project_id"),
            holdable(store, CHANGE_USER_INSERT, options->owner.user, "incomplete_consumer_user_id"),
        };
}

/* ---- what a read has found ---- */

struct missing_consumers *server_missing(struct server_store *store)
{
    return store->completes_consumers ? &store->missing : NULL;
}

bool server_is_whole(struct server_store *store, struct err *err)
{
    if (store->missing.count > 0)
        store->missing_found_us = clock_monotonic_us();
    return missing_consumers_are_none(&store->missing, store->address.target, err);
}

/* ---- creation ---- */

static bool await_quiet(struct server_store *store, struct err *err)
{
    const uint64_t until_us = store->missing_found_us + store->quiet_us;
    return server_io_wait(&store->meanwhile, -1, POLLIN, -1, until_us) != SERVER_IO_OVER ||
           err_set(err, 503, NULL, STORE_STOPPING);
}

static void count_missing(void *cls, int64_t id, struct slice uuid)
{
    size_t *count = cls;
    (void)uuid;
    *count += id == 0;
}

/* *still: all of them are missing, in a database that is whole otherwise. */
static bool look_again(struct server_store *store, bool *still, struct err *err)
{
    const struct missing_consumers *missing = &store->missing;
    const struct row_reader reader = server_row_reader(&store->reader);
    size_t count = 0;
    bool ok = server_ensure_session(store, store->follower, err) &&
              store->follower->dialect->check_restored(store->follower, server_deadline(store),
                                                       err) == SERVER_OK &&
              row_reader_find_consumers(&reader, missing->uuids, missing->count, count_missing,
                                        &count, err);
    *still = count == missing->count;
    return ok;
}

/* Leaves the session without a transaction, or closed. */
static bool create_once(struct server_store *store, const struct slice *uuids, size_t count,
                        uint64_t *created, uint64_t deadline_us, struct err *err)
{
    struct server_session *session = store->follower;
    struct err ignored = server_ignored(store);
    if (!server_ensure_session(store, session, err))
        return false;
    if (session->dialect->consumers_create(session, &store->owner, uuids, count, created,
                                           deadline_us, err) == SERVER_OK)
        return true;
    server_session_rollback(session, "changed", server_deadline(store), &ignored);
    return false;
}

/* Another process may have created the same rows at the same time, a connection may have ended, or
 * the sequence of ids may be behind its table. */
static bool create_some(struct server_store *store, const struct slice *uuids, size_t count,
                        uint64_t *created, struct err *err)
{
    struct err ignored = server_ignored(store);
    const uint64_t deadline_us = server_deadline(store);
    for (int attempt = 1;; attempt++) {
        struct err failed = {.arena = err->arena};
        uint64_t done = 0;
        if (create_once(store, uuids, count, &done, deadline_us, &failed)) {
            *created += done > 0 || attempt == 1 ? done : count; /* perhaps by the one before */
            return true;
        }
        if (attempt == ATTEMPTS_MOST || store->meanwhile.is_over)
            return err_set(err, failed.status, failed.code,
                           "the rows that consumers of allocations lack cannot be created: %.*s",
                           SLICE_ARG(failed.message));
        if (server_session_is_open(store->follower))
            (void)!server_mend_sequences(store, store->follower, &ignored);
    }
}

static bool create_all(struct server_store *store, struct err *err)
{
    const struct missing_consumers *missing = &store->missing;
    uint64_t created = 0;
    bool ok = true;
    for (size_t at = 0; ok && at < missing->count; at += ROW_READER_UUIDS_MOST) {
        size_t left = missing->count - at;
        ok =
            create_some(store, missing->uuids + at,
                        left < ROW_READER_UUIDS_MOST ? left : ROW_READER_UUIDS_MOST, &created, err);
    }
    if (created > 0)
        missing_consumers_log(missing, created, store->address.target);
    return ok;
}

/* Under the lock, others would have to wait as well: the read finds them once more, and is taken
 * again without it. */
bool server_create_missing(struct server_store *store, struct err *err)
{
    bool still = false;
    if (store->missing.count == 0 || store->is_locked)
        return true;
    server_session_notice_end(store->follower);
    bool ok = await_quiet(store, err) && look_again(store, &still, err) &&
              (!still || create_all(store, err));
    missing_consumers_free(&store->missing);
    return ok;
}
