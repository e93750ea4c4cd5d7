/* Upstream's migrations (store/migration.h) on SQLite, and the three commands of its tool. Every
 * path runs in one write transaction. One thread at a time. */
#include "store/sqlite/migrate.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "store/migration.h"
#include "store/sqlite/record_sql.h"
#include "store/sqlite/schema_text.h"
#include "store/sqlite/url.h"

static bool migrate_execute(void *cls, const char *sql, struct err *err)
{
    return db_exec(cls, sql, err);
}

static bool migrate_query_int(void *cls, const char *sql, int64_t *value, struct err *err)
{
    return db_query_int(cls, sql, value, err);
}

static bool migrate_query_text(void *cls, const char *sql, char text[static STORE_REVISION_BYTES],
                               int64_t *rows, struct err *err)
{
    struct db *db = cls;
    sqlite3_stmt *statement = db_prepare(db, sql, err);
    if (statement == NULL)
        return false;
    int rc = sqlite3_step(statement);
    if (rc == SQLITE_ROW) {
        snprintf(text, STORE_REVISION_BYTES, "%.*s", SLICE_ARG(db_column_text(statement, 0)));
        rc = sqlite3_step(statement);
        *rows = rc == SQLITE_ROW ? 2 : 1;
    }
    if (rc != SQLITE_ROW && rc != SQLITE_DONE)
        db_fail(db, "read", err);
    sqlite3_finalize(statement);
    return !err_is_set(err);
}

static struct migration migration_of(struct db *db)
{
    return (struct migration){.database = slice_of(db->path),
                              .texts = &sqlite_migration_texts,
                              .execute = migrate_execute,
                              .query_int = migrate_query_int,
                              .query_text = migrate_query_text,
                              .cls = db};
}

bool migrate_read_revision(struct db *db, char text[static STORE_REVISION_BYTES], struct err *err)
{
    struct migration migration = migration_of(db);
    return migration_read_revision(&migration, text, err);
}

bool migrate_check_served(struct db *db, char text[static STORE_REVISION_BYTES], struct err *err)
{
    struct migration migration = migration_of(db);
    return migration_check_served(&migration, text, err);
}

bool migrate_at_open(struct db *db, bool sync, struct err *err)
{
    struct migration migration = migration_of(db);
    char revision[STORE_REVISION_BYTES];
    if (sync ? !migration_sync(&migration, err)
             : !migration_check_served(&migration, revision, err))
        return false;
    return db_exec_all(db, sqlite_create_ours, err) && record_sql_make_tables(db, err);
}

bool migrate_check_read_only(struct db *db, struct err *err)
{
    char revision[STORE_REVISION_BYTES];
    int64_t ours = 0;
    if (!migrate_check_served(db, revision, err) ||
        !db_query_int(db,
                      "SELECT count(*) FROM sqlite_master WHERE type = 'table'"
                      " AND name IN ('berth_head', 'berth_log')",
                      &ours, err))
        return false;
    if (ours == 2)
        return true;
    return err_set(err, 503, NULL,
                   "the database '%s' is read-only, and has not been prepared for berth yet",
                   db->path);
}

/* The tool's commands run beside a server: they wait for as long as one batch may take. */
static bool open_as(struct db *db, struct slice connection, char path[static PATH_MAX],
                    struct db_options options, struct err *err)
{
    struct slice name;
    if (!sqlite_url_parse(connection, &name, err))
        return false;
    if (name.len >= PATH_MAX)
        return err_set(err, 503, NULL, "the path of the database is too long");
    snprintf(path, PATH_MAX, "%.*s", SLICE_ARG(name));
    options.path = path;
    options.busy_timeout_ms = 5000;
    options.keep_journal = true;
    return db_open(db, &options, err);
}

bool migrate_open_for_tool(struct db *db, struct slice connection, char path[static PATH_MAX],
                           bool create, struct err *err)
{
    return open_as(db, connection, path, (struct db_options){.create = create}, err);
}

bool migrate_open_to_look(struct db *db, struct slice connection, char path[static PATH_MAX],
                          struct err *err)
{
    return open_as(db, connection, path, (struct db_options){.may_be_read_only = true}, err);
}

bool migrate_sync(struct slice connection, struct err *err)
{
    struct db db;
    char path[PATH_MAX];
    if (!migrate_open_for_tool(&db, connection, path, true, err))
        return false;
    struct migration migration = migration_of(&db);
    bool ok = db_exec(&db, "BEGIN IMMEDIATE", err) && migration_sync(&migration, err) &&
              db_exec(&db, "COMMIT", err);
    db_close(&db, false);
    return ok;
}

/* A database that does not exist yet has no revision: upstream's tool reports the same. */
static bool is_missing(struct slice name)
{
    char path[PATH_MAX];
    if (name.len == 0 || name.len >= PATH_MAX)
        return false;
    snprintf(path, PATH_MAX, "%.*s", SLICE_ARG(name));
    if (access(path, F_OK) == 0 || errno != ENOENT)
        return false;
    char *slash = strrchr(path, '/');
    if (slash != NULL)
        slash[1] = '\0';
    return access(slash == NULL ? "." : path, F_OK) == 0;
}

bool migrate_version(struct slice connection, char revision[static 33], struct err *err)
{
    struct db db;
    char path[PATH_MAX];
    struct slice name;
    if (!sqlite_url_parse(connection, &name, err))
        return false;
    if (is_missing(name)) {
        revision[0] = '\0';
        return true;
    }
    if (!migrate_open_to_look(&db, connection, path, err))
        return false;
    bool ok = migrate_read_revision(&db, revision, err);
    db_close(&db, false);
    return ok;
}

bool migrate_stamp(struct slice connection, struct slice revision, struct err *err)
{
    struct db db;
    char path[PATH_MAX];
    if (!migrate_open_for_tool(&db, connection, path, true, err))
        return false;
    struct migration migration = migration_of(&db);
    bool ok = db_exec(&db, "BEGIN IMMEDIATE", err) && migration_stamp(&migration, revision, err) &&
              db_exec(&db, "COMMIT", err);
    db_close(&db, false);
    return ok;
}
