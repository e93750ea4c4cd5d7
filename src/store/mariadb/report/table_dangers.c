/* See dangers.h: what is unsafe in the tables, and in the user's rights. The information schema
 * leaves out what the user has no right on. Whether rows may be deleted is no right of a column;
 * the server checks it when it explains a DELETE. One thread at a time. */
#include <string.h>

#include "base/buf.h"
#include "store/mariadb/report/dangers.h"
#include "store/mariadb/report/id_figures.h"
#include "store/mariadb/report/value_facts.h"
#include "store/mariadb/schema/columns.h"
#include "store/mariadb/schema/migrate.h"
#include "store/mariadb/schema/own_tables.h"
#include "store/mariadb/session/ask.h"

static bool is(const struct mariadb_rows *rows, size_t row, size_t column, const char *text)
{
    return slice_equal(mariadb_rows_bytes(rows, row, column), slice_of(text));
}

/* Appends a name to a list. */
static void list(struct buf *names, const char *table, const char *column)
{
    buf_printf(names, "%s%s%s%s", names->len == 0 ? "" : ", ", table, column[0] == '\0' ? "" : ".",
               column);
}

/* Empties the list. */
static void warn_of_list(const struct mariadb_dangers *d, struct buf *names, const char *before,
                         const char *after)
{
    if (names->len > 0)
        report_warn(d->report, d->arena, "%s%.*s%s", before, SLICE_ARG(buf_slice(names)), after);
    names->len = 0;
}

/* ---- the revision ---- */

/* What berthd refuses when it starts, or what this user may not read, is what operators should
 * know; any other failure is one of the report. */
static enum server_outcome warn_or_fail(const struct mariadb_dangers *d, const struct err *why,
                                        struct err *err)
{
    bool is_warning =
        mariadb_session_is_open(d->session) &&
        (mariadb_session_failure(d->session)->code == 0 || mariadb_was_denied(d->session));
    if (is_warning)
        report_warn(d->report, d->arena, "%.*s", SLICE_ARG(why->message));
    else
        err_set(err, why->status, NULL, "%.*s", SLICE_ARG(why->message));
    return is_warning ? SERVER_OK : SERVER_FAILED;
}

static enum server_outcome check_revision(const struct mariadb_dangers *d, bool *is_served,
                                          struct err *err)
{
    char revision[STORE_REVISION_BYTES];
    struct err why = {.arena = d->arena};
    *is_served = mariadb_migrate_check_served(d->session, revision, d->deadline_us, &why);
    return *is_served ? SERVER_OK : warn_or_fail(d, &why, err);
}

/* ---- columns ---- */

typedef bool column_test(const struct mariadb_column *column);

static bool is_missing(const struct mariadb_column *column)
{
    return !column->is_there;
}

static bool lacks_rights(const struct mariadb_column *column)
{
    return column->is_there && !(column->may_select && column->may_insert && column->may_update);
}

/* Names of deployers are of more than ASCII; characters beyond U+FFFF, which utf8mb3 lacks, are in
 * none. */
static bool has_few_characters(const struct mariadb_column *column)
{
    return column->charset[0] != '\0' && mariadb_charset_utf8_bytes(column->charset) < 3;
}

static void list_columns(const struct mariadb_columns *columns, column_test *test,
                         struct buf *names)
{
    for (unsigned table = 0; table < ROWS_RECORDS; table++) {
        const struct rows_info *info = rows_info((enum rows_table)table);
        for (unsigned i = 0; i < info->count; i++)
            if ((info->columns[i].flags & ROWS_OF_CONSUMER) == 0 && test(&columns->of[table][i]))
                list(names, info->name, info->columns[i].name);
    }
}

static const struct mariadb_column *column_of(const struct mariadb_columns *columns,
                                              enum rows_table table, const char *name)
{
    const struct rows_info *info = rows_info(table);
    unsigned i = 0;
    while (strcmp(info->columns[i].name, name) != 0)
        i++;
    return &columns->of[table][i];
}

/* Of the only texts that are compared with each other. */
static void warn_of_collations(const struct mariadb_dangers *d,
                               const struct mariadb_columns *columns)
{
    const struct mariadb_column *holder = column_of(columns, ROWS_ALLOCATIONS, "consumer_id");
    const struct mariadb_column *consumer = column_of(columns, ROWS_CONSUMERS, "uuid");
    if (holder->is_there && consumer->is_there &&
        strcmp(holder->collation, consumer->collation) != 0)
        report_warn(d->report, d->arena,
                    "allocations.consumer_id has the collation %s, and consumers.uuid %s: the "
                    "server compares them slowly, or refuses to",
                    holder->collation, consumer->collation);
}

static enum server_outcome check_columns(const struct mariadb_dangers *d, bool *are_there,
                                         struct err *err)
{
    struct mariadb_columns columns;
    struct buf names = {0};
    enum server_outcome outcome = mariadb_columns_read(d->session, &columns, d->deadline_us, err);
    if (outcome != SERVER_OK)
        return outcome;
    list_columns(&columns, is_missing, &names);
    *are_there = names.len == 0;
    warn_of_list(d, &names,
                 "columns of the schema are missing, or this user has no rights on them: ", "");
    list_columns(&columns, lacks_rights, &names);
    warn_of_list(d, &names, "this user lacks rights on ", "");
    list_columns(&columns, has_few_characters, &names);
    warn_of_list(d, &names, "the character set of ", " lacks most characters: names are refused");
    warn_of_collations(d, &columns);
    buf_free(&names);
    return SERVER_OK;
}

/* ---- tables ---- */

enum { TABLE, ENGINE, HAS_KEY };

static bool is_own(struct slice name)
{
    return slice_starts_with(name, SLICE_LIT("berth_"));
}

/* What is not a table is somebody else's. */
static const char TABLES[] =
    "SELECT t.TABLE_NAME, COALESCE(t.ENGINE, 'none'), (SELECT MAX(c.COLUMN_KEY = 'PRI')"
    " FROM information_schema.COLUMNS c WHERE c.TABLE_SCHEMA = DATABASE()"
    " AND c.TABLE_NAME = t.TABLE_NAME) FROM information_schema.TABLES t"
    " WHERE t.TABLE_SCHEMA = DATABASE() AND t.TABLE_TYPE = 'BASE TABLE' ORDER BY 1";

static bool is_used(struct slice name)
{
    for (unsigned table = 0; table < ROWS_PARENTS; table++)
        if (slice_equal(name, slice_of(rows_name((enum rows_table)table))))
            return true;
    return is_own(name);
}

static void warn_of_tables(const struct mariadb_dangers *d, const struct mariadb_rows *rows,
                           struct buf *names)
{
    for (size_t i = 0; i < mariadb_rows_count(rows); i++)
        if (is_used(mariadb_rows_bytes(rows, i, TABLE)) && !is(rows, i, ENGINE, "InnoDB"))
            list(names, mariadb_rows_bytes(rows, i, TABLE).data, "");
    warn_of_list(d, names, "tables are not stored by InnoDB: ",
                 ". Their changes cannot be undone, and a crash can damage them");
    for (size_t i = 0; i < mariadb_rows_count(rows); i++)
        if (is_used(mariadb_rows_bytes(rows, i, TABLE)) && is(rows, i, HAS_KEY, "0"))
            list(names, mariadb_rows_bytes(rows, i, TABLE).data, "");
    warn_of_list(d, names, "tables have no primary key: ",
                 ". Replicas and other nodes find their rows slowly");
}

/* A database in which berth has never run lacks all of its tables, which is as it should be. */
static enum server_outcome check_own(const struct mariadb_dangers *d,
                                     const struct mariadb_rows *tables, bool *has_own,
                                     struct err *err)
{
    struct mariadb_own_statements statements = {0};
    struct err why = {.arena = d->arena};
    bool has_any = false;
    enum server_outcome outcome =
        mariadb_own_tables_compare(d->session, d->arena, &statements, d->deadline_us, &why);
    for (size_t i = 0; i < mariadb_rows_count(tables); i++)
        has_any |= is_own(mariadb_rows_bytes(tables, i, TABLE));
    *has_own = outcome == SERVER_OK && statements.count == 0;
    if (outcome != SERVER_OK)
        return warn_or_fail(d, &why, err);
    if (has_any && !*has_own)
        report_warn(d->report, d->arena,
                    "tables or columns of berth are missing: run placement-manage db sync");
    return SERVER_OK;
}

static enum server_outcome check_tables(const struct mariadb_dangers *d, bool *has_own,
                                        struct err *err)
{
    struct mariadb_rows rows = {0};
    struct buf names = {0};
    enum server_outcome outcome =
        mariadb_ask(d->session, SLICE_LIT(TABLES), &rows, d->deadline_us, err);
    if (outcome == SERVER_OK) {
        warn_of_tables(d, &rows, &names);
        outcome = check_own(d, &rows, has_own, err);
    }
    buf_free(&names);
    mariadb_rows_free(&rows);
    return outcome;
}

/* ---- unique indexes ---- */

/* That berth relies on where other programs write as well, each in whatever order. */
static const char UNIQUE[] =
    "SELECT GROUP_CONCAT(CONCAT(n.t, ' (', n.c, ')') ORDER BY n.t, n.c SEPARATOR ', ') FROM ("
    "SELECT 'resource_providers' AS t, 'id' AS c UNION ALL SELECT 'resource_providers', 'uuid'"
    " UNION ALL SELECT 'resource_providers', 'name'"
    " UNION ALL SELECT 'inventories', 'resource_class_id,resource_provider_id'"
    " UNION ALL SELECT 'consumers', 'uuid' UNION ALL SELECT 'allocations', 'id'"
    " UNION ALL SELECT 'resource_classes', 'name' UNION ALL SELECT 'traits', 'name'"
    " UNION ALL SELECT 'placement_aggregates', 'uuid' UNION ALL SELECT 'projects', 'external_id'"
    " UNION ALL SELECT 'users', 'external_id' UNION ALL SELECT 'consumer_types', 'name') n"
    " LEFT JOIN (SELECT TABLE_NAME AS t, GROUP_CONCAT(COLUMN_NAME ORDER BY COLUMN_NAME) AS c"
    " FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = DATABASE() AND NON_UNIQUE = 0"
    " GROUP BY TABLE_NAME, INDEX_NAME) h ON CONVERT(h.t USING utf8mb4) COLLATE utf8mb4_bin = n.t"
    " AND CONVERT(h.c USING utf8mb4) COLLATE utf8mb4_bin = n.c WHERE h.t IS NULL";

static enum server_outcome check_unique(const struct mariadb_dangers *d, struct err *err)
{
    struct mariadb_rows rows = {0};
    enum server_outcome outcome =
        mariadb_ask(d->session, SLICE_LIT(UNIQUE), &rows, d->deadline_us, err);
    if (outcome == SERVER_OK && mariadb_rows_bytes(&rows, 0, 0).len > 0)
        report_warn(d->report, d->arena, "unique indexes of the schema are missing: %.*s",
                    SLICE_ARG(mariadb_rows_bytes(&rows, 0, 0)));
    mariadb_rows_free(&rows);
    return outcome;
}

/* ---- ids ---- */

enum { IDS_WARNED_PERCENT = 75 };

/* Also fills in the report. */
static enum server_outcome check_ids(const struct mariadb_dangers *d, struct err *err)
{
    struct store_ids *ids = arena_alloc(d->arena, MARIADB_ID_TABLES * sizeof(*ids));
    enum server_outcome outcome = mariadb_id_figures_read(d->session, ids, d->deadline_us, err);
    if (outcome != SERVER_OK)
        return outcome;
    for (size_t i = 0; i < MARIADB_ID_TABLES; i++)
        if (ids[i].used > STORE_IDS_MOST / 100 * IDS_WARNED_PERCENT)
            report_warn(d->report, d->arena,
                        "ids of the table %s are used up to %lld of %d: after the last one, "
                        "requests that need a new one are refused",
                        ids[i].table, (long long)ids[i].used, STORE_IDS_MOST);
    d->report->ids = ids;
    d->report->id_count = MARIADB_ID_TABLES;
    return SERVER_OK;
}

/* ---- the right to delete ---- */

/* A server that accepts no writes does not explain any, either. */
static enum server_outcome check_delete(const struct mariadb_dangers *d, struct err *err)
{
    struct buf names = {0};
    enum server_outcome outcome = SERVER_OK;
    for (unsigned table = 0; table < ROWS_RECORDS && outcome == SERVER_OK; table++) {
        const char *name = rows_name((enum rows_table)table);
        struct mariadb_rows rows = {0};
        bool is_allowed = false;
        struct slice sql = arena_printf(d->arena, "EXPLAIN DELETE FROM %s WHERE 1 = 0", name);
        outcome = mariadb_ask_if_allowed(d->session, sql, &rows, &is_allowed, d->deadline_us, err);
        if (outcome == SERVER_OK && !is_allowed)
            list(&names, name, "");
        mariadb_rows_free(&rows);
    }
    warn_of_list(d, &names, "this user lacks the right to delete rows of ", "");
    buf_free(&names);
    return outcome;
}

enum server_outcome mariadb_dangers_of_tables(const struct mariadb_dangers *d, bool *can_read,
                                              struct err *err)
{
    bool is_served = false;
    bool are_there = false;
    bool has_own = false;
    enum server_outcome outcome = check_revision(d, &is_served, err);
    if (outcome == SERVER_OK && is_served)
        outcome = check_columns(d, &are_there, err);
    if (outcome == SERVER_OK && are_there && !d->report->server.is_read_only)
        outcome = check_delete(d, err);
    if (outcome == SERVER_OK && is_served)
        outcome = check_unique(d, err);
    if (outcome == SERVER_OK && are_there)
        outcome = check_ids(d, err);
    if (outcome == SERVER_OK)
        outcome = check_tables(d, &has_own, err);
    *can_read = outcome == SERVER_OK && has_own;
    return outcome;
}
