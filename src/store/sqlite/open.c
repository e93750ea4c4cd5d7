/* Opens and closes the database, and follows the file that the path leads to.
 *
 * Opening is one transaction: revision, our tables, standard names. Readers may hold the sentinel
 * at any time, so a replaced sentinel is unpublished first and closed a minute later. When another
 * file has taken the path, SQLite must neither checkpoint when the old one is closed nor find the
 * old WAL beside the new file. Writer thread; store_open and store_close while no other thread uses
 * the store.
 *
 * Only a start may create a schema. A file that appears at the path later is either complete or
 * still being copied: copying a backup begins with an empty file, and nothing may be written into
 * that.
 *
 * A file that cannot be written is served nevertheless if it needs no changes. There is no sentinel
 * then, so that nothing is held open that would prevent reopening the file once it can be written.
 * Every read is then checked by the writer. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/wait.h"
#include "log/log.h"
#include "store/sqlite/internal.h"
#include "store/sqlite/migrate.h"
#include "store/sqlite/url.h"

enum { SALVAGE_EVERY_US = 20000 };

static char *absolute_path(struct slice path, struct err *err)
{
    char directory[PATH_MAX] = "";
    if (path.len > 0 && path.data[0] != '/' && getcwd(directory, sizeof(directory)) == NULL) {
        err_set(err, 503, NULL, "the database's path is relative and there is no directory");
        return NULL;
    }
    char *absolute;
    int len = asprintf(&absolute, "%s%s%.*s", directory, directory[0] == '\0' ? "" : "/",
                       SLICE_ARG(path));
    check(len >= 0);
    return absolute;
}

/* In memory, the schema can only be created. */
static bool prepare_contents(struct sqlite_store *store, bool sync_schema, struct err *err)
{
    struct db *db = &store->writer;
    return db_exec(db, "BEGIN IMMEDIATE", err) &&
           migrate_at_open(db, sync_schema || store->in_memory, err) && standard_sync(db, err) &&
           db_exec(db, "COMMIT", err);
}

static bool can_be_written(const struct sqlite_store *store)
{
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
    int answer = 0;
    return vfs->xAccess(vfs, store->path, SQLITE_ACCESS_READWRITE, &answer) == SQLITE_OK &&
           answer != 0;
}

static bool is_read_only_still(const struct sqlite_store *store)
{
    struct stat file;
    return store->read_only && store->writer.handle != NULL && stat(store->path, &file) == 0 &&
           file.st_dev == store->device && file.st_ino == store->inode && !can_be_written(store);
}

static bool connect_read_only(struct sqlite_store *store, struct err *err)
{
    if (!migrate_check_read_only(&store->writer, err)) {
        sqlite_disconnect_writer(store, true);
        return false;
    }
    struct stat file = {0};
    (void)stat(store->path, &file);
    store->device = file.st_dev;
    store->inode = file.st_ino;
    store->read_only = true;
    counter_set(&store->is_read_only, 1);
    log_write(LOG_LEVEL_WARNING, "berth", LOG_NO_CONTEXT,
              "the database '%s' is read-only: writes are answered 503", store->path);
    return true;
}

static bool sqlite_connect(struct sqlite_store *store, bool sync_schema, bool create,
                           struct err *err)
{
    struct db_options options = store->db_options;
    options.create = create;
    options.joins_wal = true;
    options.may_be_read_only = true;
    store->followed = (struct followed){0};
    store->copying = (struct copying){0};
    store->read_only = false;
    counter_set(&store->is_read_only, 0);
    if (!db_open(&store->writer, &options, err))
        return false;
    if (store->writer.read_only)
        return connect_read_only(store, err);
    if (!prepare_contents(store, sync_schema, err)) {
        sqlite_disconnect_writer(store, false);
        return false;
    }
    if (store->in_memory)
        return true;
    options.may_be_read_only = false;
    options.joins_wal = false;
    struct sentinel *sentinel = sentinel_open(&options, err);
    if (sentinel != NULL && sentinel_shares_file(sentinel, &store->writer)) {
        atomic_store_explicit(&store->sentinel, sentinel, memory_order_release);
        return true;
    }
    if (sentinel != NULL) {
        err_set(err, 503, NULL, "the database '%s' is being replaced", store->path);
        sentinel_close(sentinel, true);
    }
    sqlite_disconnect_writer(store, true);
    return false;
}

void sqlite_disconnect_writer(struct sqlite_store *store, bool abandon)
{
    /* db_close finalizes the statements. */
    memset(store->statements, 0, sizeof(store->statements));
    memset(store->row_statements, 0, sizeof(store->row_statements));
    db_close(&store->writer, abandon);
    store->followed.valid = false;
}

bool sqlite_reconnect_writer(struct sqlite_store *store, struct err *err)
{
    struct db_options options = store->db_options;
    options.create = false;
    options.joins_wal = true;
    if (!db_open(&store->writer, &options, err))
        return false;
    struct sentinel *sentinel = store->sentinel;
    if (sentinel != NULL && sentinel_shares_file(sentinel, &store->writer))
        return true;
    sqlite_disconnect_writer(store, true);
    return err_set(err, 503, NULL, "the database '%s' is being replaced", store->path);
}

static void retire(struct sqlite_store *store, struct sentinel *sentinel)
{
    sentinel->retired_at_us = (int64_t)clock_monotonic_us();
    sentinel->next_retired = store->retired;
    store->retired = sentinel;
}

void sqlite_close_retired(struct sqlite_store *store, int64_t retired_before_us)
{
    struct sentinel **link = &store->retired;
    while (*link != NULL) {
        struct sentinel *sentinel = *link;
        if (sentinel->retired_at_us >= retired_before_us) {
            link = &sentinel->next_retired;
            continue;
        }
        *link = sentinel->next_retired;
        sentinel_close(sentinel, true);
    }
}

void sqlite_forget_file(struct sqlite_store *store)
{
    struct sentinel *sentinel = store->sentinel;
    if (sentinel == NULL)
        return;
    atomic_store_explicit(&store->sentinel, NULL, memory_order_release);
    store->stale = sentinel;
    store->followed.valid = false;
}

static void log_salvage(const struct sqlite_store *store, enum sentinel_salvage salvage,
                        bool is_moved)
{
    bool is_cut = store->sentinel->wal_is_cut;
    const char *what = is_moved ? "was removed, moved or replaced"
                       : is_cut ? "has a -wal file that another process has truncated"
                                : "lost its -wal or -shm file, which was removed or replaced";
    if (salvage == SENTINEL_LOST && is_cut)
        log_write(LOG_LEVEL_ERROR, "berth", LOG_NO_CONTEXT,
                  "the database '%s' %s: what was committed before and not yet copied into the "
                  "file is lost",
                  store->path, what);
    else if (salvage == SENTINEL_LOST)
        log_write(LOG_LEVEL_ERROR, "berth", LOG_NO_CONTEXT,
                  "the database '%s' %s, and another process has written to it since: what was "
                  "committed before and not yet copied into the file is lost",
                  store->path, what);
    else if (salvage == SENTINEL_BLOCKED)
        log_write(LOG_LEVEL_ERROR, "berth", LOG_NO_CONTEXT,
                  "the database '%s' %s while berthd has it open; its commits cannot be copied "
                  "into the file yet: writes are answered 503 until they can",
                  store->path, what);
    else
        log_write(LOG_LEVEL_WARNING, "berth", LOG_NO_CONTEXT,
                  "the database '%s' %s while berthd had it open; everything committed is in the "
                  "database file itself, and the file that is now at the path is opened",
                  store->path, what);
}

/* The file at the path is not the one that is open: nothing more is written to the open file, and
 * its data is saved. If the file at the path is missing, it is not waited for. */
static void leave_file(struct sqlite_store *store, bool is_moved)
{
    int64_t now_us = (int64_t)clock_monotonic_us();
    if (now_us < store->salvage_again_us)
        return;
    enum sentinel_salvage salvage =
        store->sentinel->index == NULL ? SENTINEL_SALVAGED : sentinel_salvage(store->sentinel);
    bool is_logged = store->salvage_again_us != 0;
    store->salvage_again_us = 0;
    if (salvage == SENTINEL_BLOCKED && !is_moved)
        store->salvage_again_us = now_us + SALVAGE_EVERY_US;
    if (!is_logged || salvage != SENTINEL_BLOCKED)
        log_salvage(store, salvage, is_moved);
    if (store->salvage_again_us == 0)
        sqlite_forget_file(store);
}

void sqlite_notice_file(struct sqlite_store *store)
{
    struct sentinel *sentinel = store->sentinel;
    store->file_checked_at_us = (int64_t)clock_monotonic_us();
    if (sentinel == NULL)
        return;
    if (sentinel_check_file(sentinel) != SENTINEL_SAME)
        leave_file(store, true);
    else if (!sentinel_has_wal_and_index(sentinel))
        leave_file(store, false);
    else
        store->salvage_again_us = 0;
}

bool sqlite_salvage_commit(struct sqlite_store *store)
{
    int64_t deadline_us =
        (int64_t)clock_monotonic_us() + store->db_options.busy_timeout_ms * INT64_C(1000);
    enum sentinel_salvage salvage;
    while ((salvage = sentinel_salvage(store->sentinel)) == SENTINEL_BLOCKED &&
           (int64_t)clock_monotonic_us() < deadline_us)
        wait_sleep_us(SALVAGE_EVERY_US);
    return salvage == SENTINEL_SALVAGED;
}

static bool is_empty_file(const char *path)
{
    struct stat file;
    return stat(path, &file) == 0 && S_ISREG(file.st_mode) && file.st_size == 0;
}

bool sqlite_ensure_file(struct sqlite_store *store, struct err *err)
{
    if (store->in_memory)
        return true;
    if (is_read_only_still(store))
        return true;
    sqlite_notice_file(store);
    if (store->salvage_again_us != 0)
        return err_set(err, 503, NULL,
                       "the database '%s' lost its -wal or -shm file, and its commits cannot be "
                       "copied into it yet",
                       store->path);
    if (store->sentinel != NULL)
        return store->writer.handle != NULL || sqlite_reconnect_writer(store, err);
    sqlite_disconnect_writer(store, true);
    if (store->stale != NULL) {
        /* Connections of one process share the index: as long as one is open, no other index is
         * opened at the path. */
        sentinel_disconnect(store->stale, true);
        if (sentinel_check_file(store->stale) == SENTINEL_GONE)
            return err_set(err, 503, NULL, "the database '%s' no longer exists", store->path);
        if (sentinel_check_file(store->stale) == SENTINEL_REPLACED)
            sentinel_remove_stale_wal(store->stale);
    }
    if (is_empty_file(store->path))
        return err_set(err, 503, NULL, "the database '%s' is being replaced", store->path);
    if (!sqlite_connect(store, false, false, err))
        return false;
    if (store->stale != NULL)
        retire(store, store->stale);
    store->stale = NULL;
    return true;
}

bool sqlite_knows_connection(struct slice connection, struct err *err)
{
    struct slice path;
    return sqlite_url_parse(connection, &path, err);
}

struct sqlite_store *sqlite_open(const struct store_options *options, struct err *err)
{
    struct slice path;
    if (!sqlite_url_parse(options->connection, &path, err))
        return NULL;
    char *absolute = absolute_path(path, err);
    if (absolute == NULL)
        return NULL;
    /* A file created only to be refused for its missing schema would stay behind. */
    bool create = options->create_missing_file && options->sync_schema;
    if (path.len > 0 && !create && access(absolute, F_OK) != 0) {
        err_set(
            err, 503, NULL,
            "the database '%s' does not exist: is the path in [placement_database] connection "
            "right? For a new database, run \"placement-manage db sync\" or set sync_on_startup",
            absolute);
        free(absolute);
        return NULL;
    }
    struct sqlite_store *store = calloc(1, sizeof(*store));
    check(store != NULL);
    store->path = absolute;
    store->in_memory = path.len == 0;
    store->wal_frames = options->wal_frames;
    store->db_options = (struct db_options){.path = absolute,
                                            .busy_timeout_ms = options->busy_timeout_ms,
                                            .synchronous_off = options->synchronous_off,
                                            .steps = options->steps};
    store->completes_consumers = options->completes_consumers;
    store->owner = (struct repair_owner){slice_of(slice_dup(options->owner.project)),
                                         slice_of(slice_dup(options->owner.user))};
    check(getrandom(store->instance, sizeof(store->instance), 0) == sizeof(store->instance));
    if (sqlite_connect(store, options->sync_schema, create, err)) {
        if (store->in_memory)
            log_write(LOG_LEVEL_WARNING, "berth", LOG_NO_CONTEXT,
                      "the database is in memory: everything is lost when the process ends");
        return store;
    }
    sqlite_close(store);
    return NULL;
}

void sqlite_close(struct sqlite_store *store)
{
    struct sentinel *sentinel = store->sentinel;
    bool abandon = false;
    if (sentinel != NULL) {
        copier_wait(&sentinel->copier);
        abandon = sentinel_check_file(sentinel) != SENTINEL_SAME || sentinel->copier.sync_failed;
    }
    sqlite_disconnect_writer(store, abandon);
    if (sentinel != NULL)
        sentinel_close(sentinel, abandon);
    if (store->stale != NULL)
        sentinel_close(store->stale, true);
    sqlite_close_retired(store, INT64_MAX);
    buf_free(&store->transaction.touched);
    log_entries_free(&store->transaction.to_follow);
    skipped_free(&store->skipped);
    missing_consumers_free(&store->missing);
    free((char *)store->owner.project.data);
    free((char *)store->owner.user.data);
    free(store->path);
    free(store);
}
