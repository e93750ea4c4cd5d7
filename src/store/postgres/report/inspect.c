/* See inspect.h. One read-only transaction, so that all figures belong together. One thread at a
 * time. */
#include "store/postgres/report/inspect.h"

#include "base/clock.h"
#include "store/postgres/foreign/foreign_sql.h"
#include "store/postgres/foreign/foreign_triggers.h"
#include "store/postgres/report/dangers.h"
#include "store/postgres/report/facts.h"
#include "store/postgres/session/tool_session.h"
#include "store/server/prune.h"

enum {
    LOG_ROWS_USUAL = 2 * PRUNE_KEPT_MOST,
    WAITING_USUAL = 100000,
    BEHIND_USUAL = 10000 /* what an instance follows; beyond that it compares all rows */
};

static const char LOG[] =
    "SELECT coalesce(number, 0), coalesce(number - (SELECT min(number) FROM berth_log) + 1, 0),"
    " greatest(coalesce(extract(epoch FROM now() AT TIME ZONE 'UTC' - written_at), 0), 0)::bigint,"
    " pg_total_relation_size('berth_log') FROM (SELECT 1) one LEFT JOIN LATERAL (SELECT number,"
    " written_at FROM berth_log ORDER BY number DESC LIMIT 1) newest ON true";
static const char INSTANCES[] =
    "SELECT instance, host, version, pid, followed,"
    " greatest(extract(epoch FROM now() AT TIME ZONE 'UTC' - last_seen), 0)::bigint"
    " FROM berth_instances WHERE last_seen > now() AT TIME ZONE 'UTC' - interval '1 hour'"
    " ORDER BY host, pid, instance";

static int64_t int_at(const struct pg_rows *rows, size_t row, size_t column)
{
    int64_t value = 0;
    return pg_rows_int(rows, row, column, &value) ? value : 0;
}

static enum server_outcome inspect_log(const struct dangers *d, struct err *err)
{
    const struct pg_statement statement = {.sql = LOG, .what = "read"};
    struct store_report *report = d->report;
    struct pg_rows rows = {0};
    enum server_outcome outcome =
        pg_session_execute(d->session, &statement, &rows, d->deadline_us, err);
    if (outcome == SERVER_OK) {
        report->has_log = true;
        report->log_head = int_at(&rows, 0, 0);
        report->log_rows = int_at(&rows, 0, 1);
        report->log_head_s = int_at(&rows, 0, 2);
        report->log_bytes = int_at(&rows, 0, 3);
        if (report->log_rows > LOG_ROWS_USUAL)
            report_warn(report, d->arena,
                        "berth_log has %lld rows: berthd cannot delete the old ones",
                        (long long)report->log_rows);
    }
    pg_rows_free(&rows);
    return outcome;
}

static const char FOREIGN[] = "SELECT " FOREIGN_TRIGGERS ", " FOREIGN_WAITING_COUNT;

static enum server_outcome inspect_foreign(const struct dangers *d, struct err *err)
{
    const struct pg_statement statement = {.sql = FOREIGN, .what = "read"};
    struct store_report *report = d->report;
    struct pg_rows rows = {0};
    enum server_outcome outcome =
        pg_session_execute(d->session, &statement, &rows, d->deadline_us, err);
    report->triggers = int_at(&rows, 0, 0);
    report->triggers_all = FOREIGN_TRIGGERS_ALL;
    report->waiting = int_at(&rows, 0, 1);
    if (report->triggers > 0 && report->triggers != report->triggers_all)
        report_warn(report, d->arena,
                    "%lld triggers of berth are missing: run placement-manage db coexist enable",
                    (long long)(report->triggers_all - report->triggers));
    if (report->waiting > WAITING_USUAL)
        report_warn(report, d->arena,
                    "berth_foreign has %lld rows or more: no berthd moves them into the log",
                    (long long)report->waiting);
    pg_rows_free(&rows);
    return outcome;
}

static void add_instance(const struct dangers *d, const struct pg_rows *rows, size_t i,
                         const char *own)
{
    const struct store_instance instance = {
        .name = pg_rows_bytes(rows, i, 0),
        .host = pg_rows_bytes(rows, i, 1),
        .version = pg_rows_bytes(rows, i, 2),
        .pid = int_at(rows, i, 3),
        .behind = d->report->log_head - int_at(rows, i, 4),
        .seen_s = int_at(rows, i, 5),
        .is_own = own != NULL && slice_equal(pg_rows_bytes(rows, i, 0), slice_of(own)),
    };
    report_add_instance(d->report, d->arena, &instance);
    if (instance.behind > BEHIND_USUAL && instance.seen_s < 180)
        report_warn(d->report, d->arena, "the instance %.*s, process %lld, is %lld batches behind",
                    SLICE_ARG(instance.host), (long long)instance.pid, (long long)instance.behind);
    if (i > 0 && !slice_equal(instance.version, pg_rows_bytes(rows, i - 1, 2)))
        report_warn(d->report, d->arena, "instances of versions %.*s and %.*s have run lately",
                    SLICE_ARG(pg_rows_bytes(rows, i - 1, 2)), SLICE_ARG(instance.version));
}

static enum server_outcome inspect_instances(const struct dangers *d, const char *own,
                                             struct err *err)
{
    const struct pg_statement statement = {.sql = INSTANCES, .what = "read"};
    struct pg_rows rows = {0};
    enum server_outcome outcome =
        pg_session_execute(d->session, &statement, &rows, d->deadline_us, err);
    for (size_t i = 0; outcome == SERVER_OK && i < pg_rows_count(&rows); i++)
        add_instance(d, &rows, i, own);
    pg_rows_free(&rows);
    return outcome;
}

static enum server_outcome inspect_all(const struct dangers *d, const char *own, struct err *err)
{
    bool can_read = false;
    enum server_outcome outcome = dangers_of_server(d, err);
    if (outcome == SERVER_OK)
        outcome = dangers_of_tables(d, &can_read, err);
    if (outcome == SERVER_OK && can_read)
        outcome = inspect_log(d, err);
    if (outcome == SERVER_OK && can_read)
        outcome = inspect_foreign(d, err);
    if (outcome == SERVER_OK && can_read)
        outcome = inspect_instances(d, own, err);
    return outcome;
}

enum server_outcome pg_inspect(struct pg_session *session, const char *own, struct arena *arena,
                               struct store_report *report, uint64_t deadline_us, struct err *err)
{
    const struct dangers dangers = {session, arena, report, deadline_us};
    *report = (struct store_report){0};
    /* outside of a transaction: one that is read-only would make the server look read-only */
    if (!pg_facts_read(session, &report->server, deadline_us, err))
        return SERVER_FAILED;
    enum server_outcome outcome = pg_session_begin(
        session, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", deadline_us, err);
    if (outcome == SERVER_OK)
        outcome = inspect_all(&dangers, own, err);
    if (outcome == SERVER_OK)
        outcome = pg_session_run(session, "ROLLBACK", "read", deadline_us, err);
    report->made_us = report->server.seen_us = clock_monotonic_us();
    return outcome;
}

bool pg_inspect_connection(struct slice connection, struct arena *arena,
                           struct store_report *report, struct err *err)
{
    struct pg_session *session = tool_session_open(connection, err);
    if (session == NULL)
        return false;
    bool ok = pg_inspect(session, NULL, arena, report, tool_session_deadline(), err) == SERVER_OK;
    pg_session_destroy(session);
    return ok;
}
