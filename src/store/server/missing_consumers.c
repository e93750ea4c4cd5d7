/* See store/missing_consumers.h. Other instances find the same consumers where they read the
 * database, and either create the rows or find them. The writer only. */
#include "store/missing_consumers.h"

#include "log/log.h"
#include "store/server/dialect.h"
#include "store/server/store_internal.h"

enum { ATTEMPTS_MOST = 4 };

struct missing_consumers *server_missing(struct server_store *store)
{
    return store->owner.project.len > 0 ? &store->missing : NULL;
}

bool server_is_whole(const struct server_store *store, struct err *err)
{
    return store->missing.count == 0 ||
           err_set(err, 503, NULL,
                   "the database '%.*s' has allocations of consumers without a row, which is "
                   "being created",
                   SLICE_ARG(store->address.target));
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

/* Another process may have created the same rows at the same time, an idle connection may have been
 * ended, or the sequence of ids may be behind its table. */
static bool create_some(struct server_store *store, const struct slice *uuids, size_t count,
                        uint64_t *created, struct err *err)
{
    struct err ignored = server_ignored(store);
    const uint64_t deadline_us = server_deadline(store);
    for (int attempt = 1;; attempt++) {
        struct err failed = {.arena = err->arena};
        uint64_t done = 0;
        if (create_once(store, uuids, count, &done, deadline_us, &failed)) {
            *created += done;
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

bool server_create_missing(struct server_store *store, struct err *err)
{
    struct missing_consumers *missing = &store->missing;
    uint64_t created = 0;
    if (missing->count == 0)
        return true;
    server_session_notice_end(store->follower);
    for (size_t at = 0; at < missing->count; at += ROW_READER_UUIDS_MOST) {
        size_t left = missing->count - at;
        if (!create_some(store, missing->uuids + at,
                         left < ROW_READER_UUIDS_MOST ? left : ROW_READER_UUIDS_MOST, &created,
                         err))
            return false;
    }
    if (created > 0)
        missing_consumers_log(missing, created, store->address.target);
    missing_consumers_free(missing);
    return true;
}
