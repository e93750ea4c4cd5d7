/* First SQLite's own check of the whole file, then the properties of a Placement database: a
 * revision that this version knows, and upstream's tables. A revision that is too old to be served
 * is known, too: db sync upgrades it. One thread. */
#include "store/sqlite/examine.h"

#include <stdio.h>
#include <sys/stat.h>

#include "store/revisions.h"
#include "store/sqlite/db.h"
#include "store/sqlite/migrate.h"

enum { STEPS_PER_LOOK = 100000 };

struct examination {
    struct db db;
    const char *name;
    const struct backup_watch *watch;
};

static int examine_look(void *cls)
{
    const struct examination *e = cls;
    return !e->watch->go_on(e->watch->cls, "checking", 0);
}

static bool examine_refuse(const struct examination *e, const char *reason, struct err *err)
{
    return err_set(err, 503, NULL, "'%s' is not a usable Placement database: %s", e->name, reason);
}

static bool is_sound(struct examination *e, struct err *err)
{
    char problem[200] = "";
    sqlite3_stmt *statement = NULL;
    int rc = sqlite3_prepare_v2(e->db.handle, "PRAGMA integrity_check(1)", -1, &statement, NULL);
    if (rc == SQLITE_OK && (rc = sqlite3_step(statement)) == SQLITE_ROW)
        snprintf(problem, sizeof(problem), "%.*s", SLICE_ARG(db_column_text(statement, 0)));
    sqlite3_finalize(statement);
    if (rc == SQLITE_INTERRUPT)
        return err_set(err, 503, NULL, "interrupted");
    if (rc != SQLITE_ROW)
        return examine_refuse(e, sqlite3_errstr(rc), err);
    for (char *at = problem; *at != '\0'; at++)
        if (*at == '\n')
            *at = ' ';
    return strcmp(problem, "ok") == 0 || examine_refuse(e, problem, err);
}

static bool is_placement(struct examination *e, struct backup_facts *facts, struct err *err)
{
    int64_t tables = 0;
    if (!migrate_read_revision(&e->db, facts->revision, err))
        return false;
    struct slice revision = slice_of(facts->revision);
    if (revision.len == 0)
        return examine_refuse(e, "it has no schema revision", err);
    if (revision.len != SCHEMA_REVISION_LEN || schema_revision_find(revision) < 0)
        return err_set(err, 503, NULL,
                       "'%s' is at schema revision %s, which this version does not know", e->name,
                       facts->revision);
    if (!db_query_int(&e->db,
                      "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name IN"
                      " ('allocations', 'consumers', 'inventories', 'placement_aggregates',"
                      " 'projects', 'resource_classes', 'resource_provider_aggregates',"
                      " 'resource_provider_traits', 'resource_providers', 'traits', 'users')",
                      &tables, err))
        return false;
    if (tables != 11)
        return examine_refuse(e, "tables of Placement are missing", err);
    return db_query_int(&e->db, "SELECT count(*) FROM resource_providers", &facts->providers, err);
}

bool examine_copy(const char *path, const char *name, const struct backup_watch *watch,
                  struct backup_facts *facts, struct err *err)
{
    struct examination e = {.name = name, .watch = watch};
    const struct db_options options = {
        .path = path, .keep_journal = true, .exclusive = true, .without_locks = true};
    struct err inner = {.arena = err->arena};
    struct stat file;
    if (stat(path, &file) == 0 && file.st_size == 0)
        return examine_refuse(&e, "it is empty", err);
    if (!db_open(&e.db, &options, &inner))
        return examine_refuse(&e, sqlite3_errstr(e.db.open_code), err);
    e.db.path = name;
    sqlite3_progress_handler(e.db.handle, STEPS_PER_LOOK, examine_look, &e);
    bool ok = (db_leave_wal(&e.db) || examine_refuse(&e, sqlite3_errmsg(e.db.handle), err)) &&
              is_sound(&e, err) && is_placement(&e, facts, err);
    db_close(&e.db, true);
    if (ok && stat(path, &file) == 0)
        facts->bytes = (uint64_t)file.st_size;
    return ok;
}
