/* Upstream's migrations on SQLite, and the three commands of its tool.
 *
 * Every path runs in one write transaction: a database is at one revision or at another. A refusal
 * is one line that says what to do. One thread at a time. */
#include "store/sqlite/migrate.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "log/log.h"
#include "store/sqlite/record_sql.h"
#include "store/sqlite/url.h"

bool migrate_read_revision(struct db *db, char text[static STORE_REVISION_BYTES], struct err *err)
{
    text[0] = '\0';
    int64_t tables = 0;
    if (!db_query_int(db, "SELECT count(*) FROM sqlite_master WHERE name = 'alembic_version'",
                      &tables, err))
        return false;
    if (tables == 0)
        return true;
    sqlite3_stmt *statement = db_prepare(db, "SELECT version_num FROM alembic_version", err);
    if (statement == NULL)
        return false;
    int rc = sqlite3_step(statement);
    if (rc == SQLITE_ROW) {
        snprintf(text, STORE_REVISION_BYTES, "%.*s", SLICE_ARG(db_column_text(statement, 0)));
        rc = sqlite3_step(statement);
        if (rc == SQLITE_ROW)
            err_set(err, 503, NULL, "the database '%s' has more than one schema revision",
                    db->path);
    }
    if (rc != SQLITE_ROW && rc != SQLITE_DONE)
        db_fail(db, "read", err);
    sqlite3_finalize(statement);
    return !err_is_set(err);
}

static bool write_revision(struct db *db, const char *revision, struct err *err)
{
    if (!db_exec_all(db, schema_create_version_table, err) ||
        !db_exec(db, "DELETE FROM alembic_version", err))
        return false;
    if (revision == NULL)
        return true;
    char sql[96];
    snprintf(sql, sizeof(sql), "INSERT INTO alembic_version (version_num) VALUES ('%s')", revision);
    return db_exec(db, sql, err);
}

/* The revision with that text, as a number; -1 for one that is not upstream's. */
static int revision_of(const char *text)
{
    struct slice id = slice_of(text);
    return id.len == SCHEMA_REVISION_LEN ? schema_revision_find(id) : -1;
}

/* The lines and the logger of Alembic, with which the Python service's tool migrates. */
#define MIGRATION_LOGGER "alembic.runtime.migration"

static bool refuse_if_any(struct db *db, const char *sql, const char *line, struct err *err)
{
    int64_t rows = 0;
    if (!db_query_int(db, sql, &rows, err))
        return false;
    if (rows == 0)
        return true;
    return err_set(err, 503, NULL, "the database '%s' cannot be upgraded: %s", db->path, line);
}

static bool upgrade_step(struct db *db, enum schema_revision to, struct err *err)
{
    switch (to) {
    case SCHEMA_ROOTS_REQUIRED:
        return refuse_if_any(
            db, "SELECT count(*) FROM resource_providers WHERE root_provider_id IS NULL",
            "a resource provider lacks its root provider id; run "
            "\"placement-manage db online_data_migrations\" first",
            err);
    case SCHEMA_CONSUMERS_NEEDED:
        return refuse_if_any(db,
                             "SELECT count(*) FROM allocations a LEFT JOIN consumers c"
                             " ON a.consumer_id = c.uuid WHERE c.id IS NULL",
                             "an allocation lacks its consumer; run "
                             "\"placement-manage db online_data_migrations\" first",
                             err);
    case SCHEMA_CONSUMER_TYPES:
        return db_exec_all(db, schema_add_consumer_types, err);
    case SCHEMA_INDEXES_DROPPED:
        return db_exec_all(db, schema_drop_indexes, err);
    case SCHEMA_INITIAL:
    case SCHEMA_REVISION_COUNT:
        break;
    }
    check(false);
}

static bool has_upstream_tables(struct db *db, bool *answer, struct err *err)
{
    int64_t tables = 0;
    *answer = true;
    if (!db_query_int(db,
                      "SELECT count(*) FROM sqlite_master WHERE type = 'table'"
                      " AND name IN ('resource_providers', 'allocations', 'consumers')",
                      &tables, err))
        return false;
    *answer = tables > 0;
    return true;
}

static bool create_schema(struct db *db, struct err *err)
{
    bool tables;
    if (!has_upstream_tables(db, &tables, err))
        return false;
    if (tables)
        return err_set(
            err, 503, NULL,
            "the database '%s' has tables but no schema revision: stamp it with its revision",
            db->path);
    log_write(LOG_LEVEL_INFO, MIGRATION_LOGGER, LOG_NO_CONTEXT, "Creating the schema at %s",
              schema_revision_ids[SCHEMA_NEWEST]);
    return db_exec_all(db, schema_create_newest, err) &&
           write_revision(db, schema_revision_ids[SCHEMA_NEWEST], err);
}

static bool migrate_refuse_unknown(const struct db *db, const char *revision, struct err *err)
{
    return err_set(err, 503, NULL,
                   "the database '%s' is at schema revision %s, which this version does not know",
                   db->path, revision);
}

static bool sync_to_newest(struct db *db, struct err *err)
{
    char text[STORE_REVISION_BYTES];
    if (!migrate_read_revision(db, text, err))
        return false;
    /* The version table comes first, as in upstream's tool. */
    if (text[0] == '\0')
        return db_exec_all(db, schema_create_version_table, err) && create_schema(db, err);
    int revision = revision_of(text);
    if (revision < 0)
        return migrate_refuse_unknown(db, text, err);
    if (revision == SCHEMA_NEWEST)
        return true;
    for (int to = revision + 1; to <= SCHEMA_NEWEST; to++) {
        log_write(LOG_LEVEL_INFO, MIGRATION_LOGGER, LOG_NO_CONTEXT, "Running upgrade %s -> %s",
                  schema_revision_ids[to - 1], schema_revision_ids[to]);
        if (!upgrade_step(db, (enum schema_revision)to, err))
            return false;
    }
    return write_revision(db, schema_revision_ids[SCHEMA_NEWEST], err);
}

bool migrate_check_served(struct db *db, char text[static STORE_REVISION_BYTES], struct err *err)
{
    if (!migrate_read_revision(db, text, err))
        return false;
    if (text[0] == '\0')
        return err_set(err, 503, NULL,
                       "the database '%s' has no schema: run \"placement-manage db sync\", or set "
                       "[placement_database] sync_on_startup",
                       db->path);
    int revision = revision_of(text);
    if (revision < 0)
        return migrate_refuse_unknown(db, text, err);
    if (revision < SCHEMA_OLDEST_SERVED)
        return err_set(err, 503, NULL,
                       "the database '%s' is at the old schema revision %s: run \"placement-manage "
                       "db sync\", or set [placement_database] sync_on_startup",
                       db->path, text);
    return true;
}

bool migrate_at_open(struct db *db, bool sync, struct err *err)
{
    char revision[STORE_REVISION_BYTES];
    if (sync ? !sync_to_newest(db, err) : !migrate_check_served(db, revision, err))
        return false;
    return db_exec_all(db, schema_create_ours, err) && record_sql_make_tables(db, err);
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

static bool stamp(struct db *db, struct slice revision, struct err *err)
{
    if (slice_equal(revision, SLICE_LIT("base")))
        return write_revision(db, NULL, err);
    int to = schema_revision_find(revision);
    if (to < 0)
        return err_set(err, 503, NULL, "there is no schema revision '%.*s'", SLICE_ARG(revision));
    bool tables;
    if (!has_upstream_tables(db, &tables, err))
        return false;
    if (tables && to < SCHEMA_INDEXES_DROPPED && !db_exec_all(db, schema_restore_indexes, err))
        return false;
    return write_revision(db, schema_revision_ids[to], err);
}

bool schema_sync(struct slice connection, struct err *err)
{
    struct db db;
    char path[PATH_MAX];
    if (!migrate_open_for_tool(&db, connection, path, true, err))
        return false;
    bool ok = db_exec(&db, "BEGIN IMMEDIATE", err) && sync_to_newest(&db, err) &&
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

bool schema_version(struct slice connection, char revision[static 33], struct err *err)
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

bool schema_stamp(struct slice connection, struct slice revision, struct err *err)
{
    struct db db;
    char path[PATH_MAX];
    if (!migrate_open_for_tool(&db, connection, path, true, err))
        return false;
    bool ok = db_exec(&db, "BEGIN IMMEDIATE", err) && stamp(&db, revision, err) &&
              db_exec(&db, "COMMIT", err);
    db_close(&db, false);
    return ok;
}
