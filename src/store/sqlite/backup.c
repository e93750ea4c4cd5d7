/* A read transaction keeps a snapshot open, so that the copy is one committed state however long
 * copying takes; servers continue, and their WAL starts over when the copy is complete. The pages
 * are copied unchanged, and synced in pieces, so that a server's commit does not have to wait for
 * all of them. One thread. */
#include "store/backup.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/sqlite/db.h"
#include "store/sqlite/examine.h"
#include "store/sqlite/holder.h"
#include "store/sqlite/migrate.h"
#include "store/sqlite/partial.h"

enum {
    PIECE_PAGES = 2048,     /* 8 MiB at the usual page size: copied, then synced */
    JOURNAL_VERSION_AT = 18 /* two bytes of the header; 1: DELETE, 2: WAL */
};

static bool exists_with_contents(const char *path, const char *suffix, char name[static PATH_MAX])
{
    struct stat file;
    return partial_beside(path, suffix, name) && lstat(name, &file) == 0 &&
           (!S_ISREG(file.st_mode) || file.st_size > 0);
}

/* Files that SQLite would treat as part of the copy. */
static bool refuse_companions(const char *final, struct err *err)
{
    char name[PATH_MAX];
    if (!exists_with_contents(final, "-wal", name) &&
        !exists_with_contents(final, "-journal", name))
        return true;
    return err_set(err, 503, NULL,
                   "'%s' exists, and SQLite would treat it as part of the backup: remove it", name);
}

static bool is_beside(const char *final, const char *database)
{
    static const char *const suffixes[] = {"", "-wal", "-shm", "-journal"};
    char name[PATH_MAX];
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++)
        if (partial_beside(database, suffixes[i], name) && strcmp(final, name) == 0)
            return true;
    return false;
}

static bool check_final(const char *final, const char *database, bool overwrite, struct err *err)
{
    struct stat there;
    struct stat served;
    char who[HOLDER_BYTES];
    if (lstat(final, &there) != 0)
        there = (struct stat){0};
    if (is_beside(final, database) ||
        (there.st_ino != 0 && stat(database, &served) == 0 && served.st_ino == there.st_ino &&
         served.st_dev == there.st_dev))
        return err_set(err, 503, NULL, "'%s' belongs to the database itself", final);
    if (there.st_ino != 0 && !overwrite)
        return err_set(err, 503, NULL, "'%s' exists already", final);
    if (there.st_ino != 0 && !S_ISREG(there.st_mode))
        return err_set(err, 503, NULL, "'%s' is not a regular file", final);
    if (there.st_ino != 0 && holder_find(&there, who))
        return err_set(err, 503, NULL, "'%s' is in use by %s", final, who);
    return refuse_companions(final, err);
}

static bool copy_pages(sqlite3_backup *backup, const struct partial *partial,
                       const struct backup_watch *watch, int *rc, struct err *err)
{
    while ((*rc = sqlite3_backup_step(backup, PIECE_PAGES)) == SQLITE_OK) {
        int all = sqlite3_backup_pagecount(backup);
        int left = sqlite3_backup_remaining(backup);
        unsigned percent = all > 0 ? (unsigned)((int64_t)(all - left) * 100 / all) : 0;
        if (!watch->go_on(watch->cls, "copying", percent))
            return err_set(err, 503, NULL, "interrupted");
        /* A failed sync is reported only once: a later one may succeed although data was lost. */
        if (fdatasync(partial->fd) != 0)
            return partial_fail(partial->path, "synced", err);
    }
    return *rc == SQLITE_DONE;
}

static bool copy_database(struct db *from, const struct partial *partial,
                          const struct backup_watch *watch, struct err *err)
{
    struct db to;
    int rc = SQLITE_NOMEM;
    const struct db_options options = {
        .path = partial->path, .keep_journal = true, .exclusive = true, .without_locks = true};
    if (!db_open(&to, &options, err))
        return false;
    sqlite3_backup *backup = NULL;
    /* An unfinished copy is useless, so there is no journal, and it is synced at the end. */
    bool ok = db_exec(&to, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF", err) &&
              (backup = sqlite3_backup_init(to.handle, "main", from->handle, "main")) != NULL &&
              copy_pages(backup, partial, watch, &rc, err);
    int finished = sqlite3_backup_finish(backup);
    if (ok && finished != SQLITE_OK)
        ok = false;
    if (!ok)
        err_set(err, 503, NULL, "'%s' cannot be written: %s", partial->path, sqlite3_errstr(rc));
    db_close(&to, true);
    return ok;
}

/* A single file that can be read without any other file, wherever it is moved. */
static bool leave_wal_mode(const struct partial *partial, struct err *err)
{
    static const unsigned char versions[] = {1, 1};
    return pwrite(partial->fd, versions, sizeof(versions), JOURNAL_VERSION_AT) ==
               (ssize_t)sizeof(versions) ||
           partial_fail(partial->path, "written", err);
}

static bool backup_fill(struct db *db, const struct partial *partial,
                        const struct backup_watch *watch, struct backup_facts *facts,
                        struct err *err)
{
    int64_t tables = 0;
    return db_exec(db, "BEGIN", err) &&
           db_query_int(db, "SELECT count(*) FROM sqlite_master", &tables, err) &&
           copy_database(db, partial, watch, err) && leave_wal_mode(partial, err) &&
           examine_copy(partial->path, db->path, watch, facts, err);
}

bool backup_make(struct slice connection, const char *file, bool overwrite,
                 const struct backup_watch *watch, struct backup_facts *facts, struct err *err)
{
    struct db db = {0};
    char path[PATH_MAX];
    char database[PATH_MAX];
    char final[PATH_MAX];
    struct partial partial = {.fd = -1, .directory = -1};
    if (!partial_resolve(file, final, err) || !migrate_open_to_look(&db, connection, path, err))
        return false;
    bool ok = path[0] != '\0' ||
              err_set(err, 503, NULL, "the database is in memory: there is no file to back up");
    if (ok && realpath(path, database) == NULL)
        ok = partial_fail(path, "found", err);
    ok = ok && check_final(final, database, overwrite, err) &&
         partial_open(&partial, final, ".partial", err) &&
         backup_fill(&db, &partial, watch, facts, err) && partial_finish(&partial, overwrite, err);
    partial_drop(&partial);
    db_close(&db, false);
    return ok;
}
