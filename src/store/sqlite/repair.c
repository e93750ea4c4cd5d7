/* The two online migrations on SQLite. They set the same times as the Python service, and create no
 * projects or users that are not needed. Another process that serves the database detects the write
 * by itself. One thread at a time. */
#include "store/sqlite/repair.h"

#include <limits.h>

#include "base/clock.h"
#include "store/instant.h"
#include "store/sqlite/migrate.h"

#define MISSING_CONSUMERS                                                                          \
    "FROM allocations a LEFT JOIN consumers c ON a.consumer_id = c.uuid WHERE c.id IS NULL"

struct repair {
    struct db db;
    char path[PATH_MAX];
};

static bool begin_reading(struct repair *repair, struct slice connection, struct err *err)
{
    return migrate_open_to_look(&repair->db, connection, repair->path, err);
}

static bool begin_writing(struct repair *repair, struct slice connection, struct err *err)
{
    if (!migrate_open_for_tool(&repair->db, connection, repair->path, false, err))
        return false;
    if (db_exec(&repair->db, "BEGIN IMMEDIATE", err))
        return true;
    db_close(&repair->db, false);
    return false;
}

/* Closing the connection rolls back anything that is not committed. */
static bool end_writing(struct repair *repair, bool ok, struct err *err)
{
    ok = ok && db_exec(&repair->db, "COMMIT", err);
    db_close(&repair->db, false);
    return ok;
}

/* Runs a statement that returns no rows, and finalizes it. */
static bool repair_run(struct db *db, sqlite3_stmt *statement, struct err *err)
{
    int rc = sqlite3_step(statement);
    if (rc != SQLITE_DONE)
        db_fail(db, "changed", err);
    sqlite3_finalize(statement);
    return rc == SQLITE_DONE;
}

/* With the time as its first parameter. */
static sqlite3_stmt *prepare_with_now(struct db *db, const char *sql, struct err *err)
{
    char now[INSTANT_LEN];
    sqlite3_stmt *statement = db_prepare(db, sql, err);
    instant_format(clock_wall_us(), now);
    if (statement != NULL)
        sqlite3_bind_text(statement, 1, now, INSTANT_LEN, SQLITE_TRANSIENT);
    return statement;
}

bool sqlite_find_missing_roots(struct slice connection, bool *found, struct err *err)
{
    struct repair repair;
    int64_t answer = 0;
    if (!begin_reading(&repair, connection, err))
        return false;
    bool ok = db_query_int(
        &repair.db,
        "SELECT EXISTS (SELECT 1 FROM resource_providers WHERE root_provider_id IS NULL)", &answer,
        err);
    db_close(&repair.db, false);
    *found = answer != 0;
    return ok;
}

bool sqlite_count_missing_consumers(struct slice connection, int64_t *count, struct err *err)
{
    struct repair repair;
    *count = 0;
    if (!begin_reading(&repair, connection, err))
        return false;
    bool ok = db_query_int(&repair.db, "SELECT count(DISTINCT a.consumer_id) " MISSING_CONSUMERS,
                           count, err);
    db_close(&repair.db, false);
    return ok;
}

static bool set_roots(struct db *db, int64_t most, int64_t *done, struct err *err)
{
    sqlite3_stmt *statement = prepare_with_now(
        db,
        "UPDATE resource_providers SET root_provider_id = id, updated_at = ?1 WHERE id IN"
        " (SELECT id FROM resource_providers WHERE root_provider_id IS NULL LIMIT ?2)",
        err);
    if (statement == NULL)
        return false;
    sqlite3_bind_int64(statement, 2, most);
    if (!repair_run(db, statement, err))
        return false;
    *done = sqlite3_changes64(db->handle);
    return true;
}

bool sqlite_set_roots(struct slice connection, int64_t most, int64_t *done, struct err *err)
{
    struct repair repair;
    *done = 0;
    return begin_writing(&repair, connection, err) &&
           end_writing(&repair, set_roots(&repair.db, most, done, err), err);
}

/* A row of projects or users. `sql` takes the time and the external id. */
static bool add_owner(struct db *db, const char *sql, struct slice external_id, struct err *err)
{
    sqlite3_stmt *statement = prepare_with_now(db, sql, err);
    if (statement == NULL)
        return false;
    sqlite3_bind_text64(statement, 2, external_id.data, external_id.len, SQLITE_STATIC,
                        SQLITE_UTF8);
    return repair_run(db, statement, err);
}

bool sqlite_create_missing(struct db *db, const struct repair_owner *owner, int64_t most,
                           int64_t *done, struct err *err)
{
    int64_t missing = 0;
    *done = 0;
    if (!db_query_int(db, "SELECT EXISTS (SELECT 1 " MISSING_CONSUMERS ")", &missing, err))
        return false;
    if (missing == 0)
        return true;
    if (!add_owner(db,
                   "INSERT INTO projects (created_at, external_id) SELECT ?1, ?2"
                   " WHERE NOT EXISTS (SELECT 1 FROM projects WHERE external_id = ?2)",
                   owner->project, err) ||
        !add_owner(db,
                   "INSERT INTO users (created_at, external_id) SELECT ?1, ?2"
                   " WHERE NOT EXISTS (SELECT 1 FROM users WHERE external_id = ?2)",
                   owner->user, err))
        return false;
    sqlite3_stmt *statement = prepare_with_now(
        db,
        "INSERT INTO consumers (created_at, uuid, project_id, user_id, generation)"
        " SELECT ?1, a.consumer_id, (SELECT id FROM projects WHERE external_id = ?2),"
        " (SELECT id FROM users WHERE external_id = ?3), 0 " MISSING_CONSUMERS
        " GROUP BY a.consumer_id LIMIT ?4",
        err);
    if (statement == NULL)
        return false;
    sqlite3_bind_text64(statement, 2, owner->project.data, owner->project.len, SQLITE_STATIC,
                        SQLITE_UTF8);
    sqlite3_bind_text64(statement, 3, owner->user.data, owner->user.len, SQLITE_STATIC,
                        SQLITE_UTF8);
    sqlite3_bind_int64(statement, 4, most);
    if (!repair_run(db, statement, err))
        return false;
    *done = sqlite3_changes64(db->handle);
    return true;
}

bool sqlite_create_consumers(struct slice connection, const struct repair_owner *owner,
                             int64_t most, int64_t *done, struct err *err)
{
    struct repair repair;
    *done = 0;
    return begin_writing(&repair, connection, err) &&
           end_writing(&repair, sqlite_create_missing(&repair.db, owner, most, done, err), err);
}
