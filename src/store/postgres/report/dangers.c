/* See dangers.h. Every statement is one that an ordinary user may execute: what only others may see
 * (the snapshots of other users' sessions, unless the user is a member of pg_read_all_stats) is
 * NULL there and finds nothing. One thread at a time. */
#include "store/postgres/report/dangers.h"

#include "base/buf.h"
#include "base/clock.h"
#include "store/postgres/report/collation.h"
#include "store/postgres/report/id_figures.h"
#include "store/postgres/schema/migrate.h"
#include "store/postgres/schema/own_tables.h"
#include "store/rows.h"

enum { SKEW_MOST_US = 2000000 };

static bool is(const struct pg_rows *rows, size_t column, const char *text)
{
    return slice_equal(pg_rows_bytes(rows, 0, column), slice_of(text));
}

static enum server_outcome dangers_read(const struct dangers *d, const char *sql,
                                        struct pg_rows *rows, struct err *err)
{
    const struct pg_statement statement = {.sql = sql, .what = "read"};
    return pg_session_execute(d->session, &statement, rows, d->deadline_us, err);
}

/* ---- the server ---- */

enum setting {
    SETTING_FSYNC,
    SETTING_PAGE_WRITES,
    SETTING_AUTOVACUUM,
    SETTING_COUNTS,
    SETTING_IDLE,
    SETTING_CLOCK,
};

static const char SETTINGS[] =
    "SELECT current_setting('fsync'), current_setting('full_page_writes'),"
    " current_setting('autovacuum'), current_setting('track_counts'),"
    " coalesce(current_setting('idle_session_timeout', true),"
    " '0'), (extract(epoch FROM clock_timestamp()) * 1000000)::bigint";

static void warn_of_durability(const struct dangers *d, const struct pg_rows *rows)
{
    const struct store_server *server = &d->report->server;
    if (is(rows, SETTING_FSYNC, "off"))
        report_warn(d->report, d->arena,
                    "fsync is off: a crash of the server's machine can destroy the database");
    if (is(rows, SETTING_PAGE_WRITES, "off"))
        report_warn(d->report, d->arena,
                    "full_page_writes is off: a crash of the server's machine can damage tables");
    if (strcmp(report_setting(server, "synchronous_commit"), "off") == 0)
        report_warn(d->report, d->arena,
                    "synchronous_commit is off: a crash of the server loses changes that clients "
                    "were told are done");
    if (server->replication == STORE_REPLICATION_ASYNC)
        report_warn(d->report, d->arena,
                    "replication is asynchronous: a failover can lose changes that clients were "
                    "told are done");
}

static void warn_of_settings(const struct dangers *d, const struct pg_rows *rows)
{
    struct slice idle = pg_rows_bytes(rows, 0, SETTING_IDLE);
    if (is(rows, SETTING_AUTOVACUUM, "off") || is(rows, SETTING_COUNTS, "off"))
        report_warn(d->report, d->arena,
                    "autovacuum or track_counts is off: tables and indexes grow without limit");
    if (!is(rows, SETTING_IDLE, "0"))
        report_warn(d->report, d->arena,
                    "idle_session_timeout is %.*s: the server closes connections that berth keeps; "
                    "set it to 0 for this user",
                    SLICE_ARG(idle));
}

static void warn_of_role(const struct dangers *d)
{
    if (d->report->server.is_standby)
        report_warn(d->report, d->arena, "the server is a standby: it accepts no writes");
    else if (d->report->server.is_read_only)
        report_warn(d->report, d->arena,
                    "default_transaction_read_only is on: the server is not meant to be written");
}

/* The server read its clock at some moment between the two times. */
static void warn_of_clock(const struct dangers *d, const struct pg_rows *rows, int64_t before_us,
                          int64_t after_us)
{
    int64_t server_us = 0;
    if (!pg_rows_int(rows, 0, SETTING_CLOCK, &server_us))
        return;
    int64_t ahead_us = server_us > after_us ? server_us - after_us : 0;
    int64_t behind_us = server_us < before_us ? before_us - server_us : 0;
    if (ahead_us > SKEW_MOST_US || behind_us > SKEW_MOST_US)
        report_warn(d->report, d->arena,
                    "the server's clock is %lld s %s this machine's: rows get wrong times",
                    (long long)((ahead_us + behind_us) / 1000000),
                    ahead_us > 0 ? "ahead of" : "behind");
}

static enum server_outcome check_settings(const struct dangers *d, struct err *err)
{
    struct pg_rows rows = {0};
    int64_t before_us = clock_wall_us();
    enum server_outcome outcome = dangers_read(d, SETTINGS, &rows, err);
    if (outcome == SERVER_OK) {
        warn_of_role(d);
        warn_of_durability(d, &rows);
        warn_of_settings(d, &rows);
        warn_of_clock(d, &rows, before_us, clock_wall_us());
    }
    pg_rows_free(&rows);
    return outcome;
}

/* What keeps dead rows from being removed: (what, minutes). */
static const char HOLDERS[] =
    "(SELECT format('process %s (%s)', pid, coalesce(nullif(application_name, ''), usename)),"
    " (extract(epoch FROM now() - xact_start) / 60)::bigint FROM pg_stat_activity"
    " WHERE datname = current_database() AND xact_start < now() - interval '1 hour'"
    " AND coalesce(backend_xid, backend_xmin) IS NOT NULL ORDER BY xact_start LIMIT 3)"
    " UNION ALL (SELECT format('the prepared transaction %L', gid),"
    " (extract(epoch FROM now() - prepared) / 60)::bigint FROM pg_prepared_xacts"
    " WHERE database = current_database() AND prepared < now() - interval '10 minutes'"
    " ORDER BY prepared LIMIT 3)";

static enum server_outcome check_holders(const struct dangers *d, struct err *err)
{
    struct pg_rows rows = {0};
    enum server_outcome outcome = dangers_read(d, HOLDERS, &rows, err);
    for (size_t i = 0; outcome == SERVER_OK && i < pg_rows_count(&rows); i++)
        report_warn(d->report, d->arena,
                    "%.*s has been open for %.*s minutes: rows that are deleted or updated "
                    "meanwhile cannot be removed",
                    SLICE_ARG(pg_rows_bytes(&rows, i, 0)), SLICE_ARG(pg_rows_bytes(&rows, i, 1)));
    pg_rows_free(&rows);
    return outcome;
}

enum server_outcome dangers_of_server(const struct dangers *d, struct err *err)
{
    enum server_outcome outcome = check_settings(d, err);
    return outcome == SERVER_OK ? check_holders(d, err) : outcome;
}

/* ---- the tables ---- */

/* A check that berthd makes when it starts may find what it refuses without the server having
 * refused anything. */
static enum server_outcome warn_or_fail(const struct dangers *d, const struct err *why,
                                        struct err *err)
{
    if (pg_session_is_open(d->session) && pg_session_failure(d->session)->sqlstate[0] == '\0') {
        report_warn(d->report, d->arena, "%.*s", SLICE_ARG(why->message));
        return SERVER_OK;
    }
    err_set(err, why->status, NULL, "%.*s", SLICE_ARG(why->message));
    return SERVER_FAILED;
}

static enum server_outcome check_revision(const struct dangers *d, bool *is_served, struct err *err)
{
    char revision[STORE_REVISION_BYTES];
    struct err why = {.arena = d->arena};
    *is_served = pg_migrate_check_served(d->session, revision, d->deadline_us, &why);
    if (*is_served)
        return SERVER_OK;
    return warn_or_fail(d, &why, err);
}

static void append_columns_of(struct buf *sql, const struct rows_info *info)
{
    for (unsigned i = 0; i < info->count; i++)
        if ((info->columns[i].flags & ROWS_OF_CONSUMER) == 0)
            buf_printf(sql, "%s('%s', '%s')", sql->data[sql->len - 1] == ')' ? ", " : "",
                       info->name, info->columns[i].name);
}

/* The columns of upstream's tables that berth needs and the database lacks. */
static enum server_outcome check_columns(const struct dangers *d, struct err *err)
{
    struct buf sql = {0};
    struct pg_rows rows = {0};
    buf_append_lit(&sql, "SELECT string_agg(t || '.' || c, ', ') FROM (VALUES ");
    for (unsigned table = 0; table < ROWS_RECORDS; table++)
        append_columns_of(&sql, rows_info((enum rows_table)table));
    buf_append_lit(&sql, ") needed(t, c) WHERE NOT EXISTS (SELECT FROM pg_attribute"
                         " WHERE attrelid = to_regclass(t) AND attname = c AND NOT attisdropped)");
    buf_append_char(&sql, '\0');
    enum server_outcome outcome = dangers_read(d, sql.data, &rows, err);
    if (outcome == SERVER_OK && pg_rows_bytes(&rows, 0, 0).len > 0)
        report_warn(d->report, d->arena, "columns of the schema are missing: %.*s",
                    SLICE_ARG(pg_rows_bytes(&rows, 0, 0)));
    pg_rows_free(&rows);
    buf_free(&sql);
    return outcome;
}

/* Unique indexes that berth relies on where other programs write as well. Each list of columns is
 * that of a valid unique index, in whatever order. */
static const char UNIQUE[] =
    "SELECT string_agg(t || ' (' || c || ')', ', ') FROM (VALUES"
    " ('resource_providers', 'id'), ('resource_providers', 'uuid'), ('resource_providers', 'name'),"
    " ('inventories', 'resource_class_id,resource_provider_id'), ('consumers', 'uuid'),"
    " ('allocations', 'id'), ('resource_classes', 'name'), ('traits', 'name'),"
    " ('placement_aggregates', 'uuid'), ('projects', 'external_id'), ('users', 'external_id'),"
    " ('consumer_types', 'name')) needed(t, c)"
    " WHERE NOT EXISTS (SELECT FROM pg_index i WHERE i.indrelid = to_regclass(t) AND i.indisunique"
    " AND i.indisvalid AND i.indpred IS NULL AND (SELECT string_agg(attname, ',' ORDER BY attname)"
    " FROM pg_attribute a WHERE a.attrelid = i.indrelid"
    " AND a.attnum = ANY (i.indkey::int2[])) = c)";

static enum server_outcome check_unique(const struct dangers *d, struct err *err)
{
    struct pg_rows rows = {0};
    enum server_outcome outcome = dangers_read(d, UNIQUE, &rows, err);
    if (outcome == SERVER_OK && pg_rows_bytes(&rows, 0, 0).len > 0)
        report_warn(d->report, d->arena, "unique indexes of the schema are missing: %.*s",
                    SLICE_ARG(pg_rows_bytes(&rows, 0, 0)));
    pg_rows_free(&rows);
    return outcome;
}

enum { IDS_WARNED_PERCENT = 75 };

/* Also fills in the report. */
static enum server_outcome check_ids(const struct dangers *d, struct err *err)
{
    struct pg_id_figure figures[PG_ID_TABLES];
    enum server_outcome outcome = pg_id_figures_read(d->session, figures, d->deadline_us, err);
    if (outcome != SERVER_OK)
        return outcome;
    struct store_ids *ids = arena_alloc(d->arena, PG_ID_TABLES * sizeof(*ids));
    for (size_t i = 0; i < PG_ID_TABLES; i++) {
        const struct pg_id_figure *figure = &figures[i];
        ids[i].table = figure->table;
        ids[i].used = figure->largest > figure->handed_out ? figure->largest : figure->handed_out;
        if (ids[i].used > STORE_IDS_MOST / 100 * IDS_WARNED_PERCENT)
            report_warn(d->report, d->arena,
                        "ids of the table %s are used up to %lld of %d: after the last one, "
                        "requests that need a new one are refused",
                        ids[i].table, (long long)ids[i].used, STORE_IDS_MOST);
    }
    d->report->ids = ids;
    d->report->id_count = PG_ID_TABLES;
    return SERVER_OK;
}

/* berthd does not start on such a database. */
static enum server_outcome check_collations(const struct dangers *d, struct err *err)
{
    struct err why = {.arena = d->arena};
    if (pg_collation_check(d->session, d->deadline_us, &why))
        return SERVER_OK;
    return warn_or_fail(d, &why, err);
}

enum { COLLATION_VERSIONS_FROM = 150000 };

/* The order of an index on texts is that of the system's library when it was created. The C
 * collation has no version. */
static const char COLLATION_VERSION[] =
    "SELECT datcollversion, pg_database_collation_actual_version(oid) FROM pg_database"
    " WHERE datname = current_database()"
    " AND datcollversion IS DISTINCT FROM pg_database_collation_actual_version(oid)";

static enum server_outcome check_collation_version(const struct dangers *d, struct err *err)
{
    struct pg_rows rows = {0};
    if (pg_session_server(d->session)->version < COLLATION_VERSIONS_FROM)
        return SERVER_OK;
    enum server_outcome outcome = dangers_read(d, COLLATION_VERSION, &rows, err);
    if (outcome == SERVER_OK && pg_rows_count(&rows) > 0)
        report_warn(d->report, d->arena,
                    "the collation of the database has version %.*s and was %.*s when its indexes "
                    "were created: they may miss rows",
                    SLICE_ARG(pg_rows_bytes(&rows, 0, 1)), SLICE_ARG(pg_rows_bytes(&rows, 0, 0)));
    pg_rows_free(&rows);
    return outcome;
}

/* A database in which berth has never run lacks all of its tables, which is as it should be. */
static const char OWN_COUNT[] =
    "SELECT count(*) FROM pg_class WHERE left(relname, 6) = 'berth_' AND relkind IN ('r', 'p')"
    " AND pg_table_is_visible(oid)";

static enum server_outcome check_own_tables(const struct dangers *d, bool *are_complete,
                                            struct err *err)
{
    struct own_statements statements = {0};
    struct pg_rows rows = {0};
    int64_t count = 0;
    enum server_outcome outcome =
        own_tables_compare(d->session, d->arena, &statements, d->deadline_us, err);
    if (outcome == SERVER_OK)
        outcome = dangers_read(d, OWN_COUNT, &rows, err);
    if (outcome == SERVER_OK && pg_rows_int(&rows, 0, 0, &count) && count > 0 &&
        statements.count > 0)
        report_warn(d->report, d->arena,
                    "tables or columns of berth are missing: run placement-manage db sync");
    *are_complete = outcome == SERVER_OK && statements.count == 0;
    pg_rows_free(&rows);
    return outcome;
}

/* Tables of upstream and of berth, as far as they are there. */
#define USED                                                                                       \
    "WITH used AS (SELECT oid, relname, relpersistence FROM pg_class WHERE relkind IN ('r', 'p')"  \
    " AND pg_table_is_visible(oid) AND (left(relname, 6) = 'berth_' OR relname IN"                 \
    " ('allocations', 'consumer_types', 'consumers', 'inventories', 'placement_aggregates',"       \
    " 'projects', 'resource_classes', 'resource_provider_aggregates', 'resource_provider_traits'," \
    " 'resource_providers', 'traits', 'users')))"

static const char UNLOGGED[] = USED " SELECT string_agg(relname, ', ' ORDER BY relname) FROM used"
                                    " WHERE relpersistence = 'u'";

static enum server_outcome check_unlogged(const struct dangers *d, struct err *err)
{
    struct pg_rows rows = {0};
    enum server_outcome outcome = dangers_read(d, UNLOGGED, &rows, err);
    if (outcome == SERVER_OK && pg_rows_bytes(&rows, 0, 0).len > 0)
        report_warn(d->report, d->arena,
                    "tables are UNLOGGED: %.*s. A crash of the server empties them",
                    SLICE_ARG(pg_rows_bytes(&rows, 0, 0)));
    pg_rows_free(&rows);
    return outcome;
}

/* Also of the sequences of their columns. */
static const char RIGHTS[] = USED
    " SELECT string_agg(name, ', ' ORDER BY name) FROM (SELECT relname::text AS name FROM used"
    " WHERE NOT (has_table_privilege(oid, 'SELECT') AND has_table_privilege(oid, 'INSERT')"
    " AND has_table_privilege(oid, 'UPDATE') AND has_table_privilege(oid, 'DELETE'))"
    " UNION ALL SELECT s.relname::text FROM pg_class s JOIN pg_depend d ON d.objid = s.oid"
    " AND d.classid = 'pg_class'::regclass AND d.refclassid = 'pg_class'::regclass"
    " AND d.deptype IN ('a', 'i') JOIN used ON used.oid = d.refobjid"
    " WHERE CASE WHEN s.relkind = 'S' THEN NOT has_sequence_privilege(s.oid, 'USAGE') END) missing";

static enum server_outcome check_rights(const struct dangers *d, bool *are_complete,
                                        struct err *err)
{
    struct pg_rows rows = {0};
    enum server_outcome outcome = dangers_read(d, RIGHTS, &rows, err);
    *are_complete = outcome == SERVER_OK && pg_rows_bytes(&rows, 0, 0).len == 0;
    if (outcome == SERVER_OK && !*are_complete)
        report_warn(d->report, d->arena, "this user lacks rights on %.*s",
                    SLICE_ARG(pg_rows_bytes(&rows, 0, 0)));
    pg_rows_free(&rows);
    return outcome;
}

enum server_outcome dangers_of_tables(const struct dangers *d, bool *can_read, struct err *err)
{
    bool has_rights = false;
    bool is_served = false;
    bool has_own = false;
    enum server_outcome outcome = check_rights(d, &has_rights, err);
    if (outcome == SERVER_OK && has_rights)
        outcome = check_revision(d, &is_served, err);
    if (outcome == SERVER_OK && is_served)
        outcome = check_columns(d, err);
    if (outcome == SERVER_OK && is_served)
        outcome = check_unique(d, err);
    if (outcome == SERVER_OK && is_served)
        outcome = check_ids(d, err);
    if (outcome == SERVER_OK && is_served)
        outcome = check_collations(d, err);
    if (outcome == SERVER_OK)
        outcome = check_collation_version(d, err);
    if (outcome == SERVER_OK)
        outcome = check_unlogged(d, err);
    if (outcome == SERVER_OK)
        outcome = check_own_tables(d, &has_own, err);
    *can_read = outcome == SERVER_OK && has_rights && has_own;
    return outcome;
}
