/* See inspect.h. One transaction, so that all figures of berth's own rows belong together. It is
 * not read-only, because a DELETE that is only explained would be refused in one. One thread at a
 * time.
 */
#include "store/mariadb/report/inspect.h"

#include "base/clock.h"
#include "store/mariadb/foreign/foreign_sql.h"
#include "store/mariadb/foreign/foreign_triggers.h"
#include "store/mariadb/report/dangers.h"
#include "store/mariadb/report/facts.h"
#include "store/mariadb/session/ask.h"
#include "store/mariadb/session/session_state.h"
#include "store/mariadb/session/tool_session.h"
#include "store/server/prune.h"

enum {
    LOG_ROWS_USUAL = 2 * PRUNE_KEPT_MOST,
    WAITING_USUAL = 100000,
    BEHIND_USUAL = 10000, /* what an instance follows; beyond that it compares all rows */
    RUNNING_S = 180       /* an instance that has written its row since then still runs */
};

static const char LOG[] =
    "SELECT COALESCE(MAX(number), 0), COALESCE(MAX(number) - MIN(number) + 1, 0),"
    " COALESCE((SELECT GREATEST(TIMESTAMPDIFF(SECOND, written_at, UTC_TIMESTAMP(6)), 0)"
    " FROM berth_log ORDER BY number DESC LIMIT 1), 0), (SELECT COALESCE(MAX(DATA_LENGTH +"
    " INDEX_LENGTH), 0) FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()"
    " AND TABLE_NAME = 'berth_log') FROM berth_log";

static enum server_outcome inspect_log(const struct mariadb_dangers *d, struct err *err)
{
    struct store_report *report = d->report;
    struct mariadb_rows rows = {0};
    enum server_outcome outcome =
        mariadb_ask(d->session, SLICE_LIT(LOG), &rows, d->deadline_us, err);
    if (outcome == SERVER_OK) {
        report->has_log = true;
        report->log_head = mariadb_answer_int(&rows, 0, 0);
        report->log_rows = mariadb_answer_int(&rows, 0, 1);
        report->log_head_s = mariadb_answer_int(&rows, 0, 2);
        report->log_bytes = mariadb_answer_int(&rows, 0, 3);
        if (report->log_rows > LOG_ROWS_USUAL)
            report_warn(report, d->arena,
                        "berth_log has %lld rows: berthd cannot delete the old ones",
                        (long long)report->log_rows);
    }
    mariadb_rows_free(&rows);
    return outcome;
}

/* MySQL shows triggers only to users with the right TRIGGER. */
static const char FOREIGN[] = "SELECT " MARIADB_FOREIGN_TRIGGERS_SEEN
                              ", " MARIADB_FOREIGN_IS_COMPLETE ", " MARIADB_FOREIGN_WAITING;

static enum server_outcome inspect_foreign(const struct mariadb_dangers *d, struct err *err)
{
    struct store_report *report = d->report;
    struct mariadb_rows rows = {0};
    enum server_outcome outcome =
        mariadb_ask(d->session, SLICE_LIT(FOREIGN), &rows, d->deadline_us, err);
    report->triggers = mariadb_answer_int(&rows, 0, 0);
    report->triggers_all = MARIADB_FOREIGN_TRIGGERS;
    report->waiting = mariadb_answer_int(&rows, 0, 2);
    /* the last step of an enable that was broken off is missing; as coexist.c counts it */
    if (report->triggers == report->triggers_all && mariadb_answer_int(&rows, 0, 1) == 0)
        report->triggers--;
    if (report->triggers > 0 && report->triggers < report->triggers_all)
        report_warn(report, d->arena,
                    "%lld triggers of berth are missing: run placement-manage db coexist enable",
                    (long long)(report->triggers_all - report->triggers));
    if (report->waiting > WAITING_USUAL)
        report_warn(report, d->arena,
                    "berth_foreign has %lld rows or more: no berthd moves them into the log",
                    (long long)report->waiting);
    mariadb_rows_free(&rows);
    return outcome;
}

enum { NAME, HOST, VERSION, PID, NODE, FOLLOWED, SEEN };

static const char INSTANCES[] =
    "SELECT instance, host, version, pid, node, followed,"
    " GREATEST(TIMESTAMPDIFF(SECOND, last_seen, UTC_TIMESTAMP(6)), 0) FROM berth_instances"
    " WHERE last_seen > UTC_TIMESTAMP(6) - INTERVAL 1 HOUR ORDER BY host, pid, instance";

static void add_instance(const struct mariadb_dangers *d, const struct mariadb_rows *rows, size_t i,
                         const char *own)
{
    const struct store_instance instance = {
        .name = mariadb_rows_bytes(rows, i, NAME),
        .host = mariadb_rows_bytes(rows, i, HOST),
        .version = mariadb_rows_bytes(rows, i, VERSION),
        .node = mariadb_rows_bytes(rows, i, NODE),
        .pid = mariadb_answer_int(rows, i, PID),
        .behind = d->report->log_head - mariadb_answer_int(rows, i, FOLLOWED),
        .seen_s = mariadb_answer_int(rows, i, SEEN),
        .is_own = own != NULL && slice_equal(mariadb_rows_bytes(rows, i, NAME), slice_of(own)),
    };
    report_add_instance(d->report, d->arena, &instance);
    if (instance.behind > BEHIND_USUAL && instance.seen_s < RUNNING_S)
        report_warn(d->report, d->arena, "the instance %.*s, process %lld, is %lld batches behind",
                    SLICE_ARG(instance.host), (long long)instance.pid, (long long)instance.behind);
    if (i > 0 && !slice_equal(instance.version, mariadb_rows_bytes(rows, i - 1, VERSION)))
        report_warn(d->report, d->arena, "instances of versions %.*s and %.*s have run lately",
                    SLICE_ARG(mariadb_rows_bytes(rows, i - 1, VERSION)),
                    SLICE_ARG(instance.version));
}

static bool runs_on_node(const struct store_instance *instance)
{
    return instance->node.len > 0 && instance->seen_s < RUNNING_S;
}

/* Whether an instance before it runs on the same node. */
static bool is_listed(const struct store_report *report, size_t i)
{
    for (size_t before = 0; before < i; before++)
        if (runs_on_node(&report->instances[before]) &&
            slice_equal(report->instances[before].node, report->instances[i].node))
            return true;
    return false;
}

/* Locks hold on one node only, so that two of them refuse each other's batches. */
static void warn_of_nodes(const struct mariadb_dangers *d)
{
    struct buf nodes = {0};
    unsigned count = 0;
    for (size_t i = 0; i < d->report->instance_count; i++)
        if (runs_on_node(&d->report->instances[i]) && !is_listed(d->report, i))
            buf_printf(&nodes, "%s%.*s", count++ == 0 ? "" : ", ",
                       SLICE_ARG(d->report->instances[i].node));
    if (count > 1)
        report_warn(d->report, d->arena,
                    "instances write through different nodes (%.*s): their batches are refused "
                    "more often, and take longer",
                    SLICE_ARG(buf_slice(&nodes)));
    buf_free(&nodes);
}

static enum server_outcome inspect_instances(const struct mariadb_dangers *d, const char *own,
                                             struct err *err)
{
    struct mariadb_rows rows = {0};
    enum server_outcome outcome =
        mariadb_ask(d->session, SLICE_LIT(INSTANCES), &rows, d->deadline_us, err);
    for (size_t i = 0; outcome == SERVER_OK && i < mariadb_rows_count(&rows); i++)
        add_instance(d, &rows, i, own);
    if (outcome == SERVER_OK)
        warn_of_nodes(d);
    mariadb_rows_free(&rows);
    return outcome;
}

static enum server_outcome inspect_all(const struct mariadb_dangers *d, const char *own,
                                       struct err *err)
{
    bool can_read = false;
    enum server_outcome outcome = mariadb_dangers_of_server(d, err);
    if (outcome == SERVER_OK)
        outcome = mariadb_dangers_of_tables(d, &can_read, err);
    if (outcome == SERVER_OK && can_read)
        outcome = inspect_log(d, err);
    if (outcome == SERVER_OK && can_read)
        outcome = inspect_foreign(d, err);
    if (outcome == SERVER_OK && can_read)
        outcome = inspect_instances(d, own, err);
    return outcome;
}

enum server_outcome mariadb_inspect(struct server_session *base, const char *own,
                                    struct arena *arena, struct store_report *report,
                                    uint64_t deadline_us, struct err *err)
{
    struct mariadb_session *session = mariadb_session_of(base);
    const struct mariadb_dangers dangers = {session, arena, report, deadline_us};
    *report = (struct store_report){0};
    if (!mariadb_facts_read(base, &report->server, deadline_us, err))
        return SERVER_FAILED;
    enum server_outcome outcome = mariadb_session_run(
        session,
        "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; START TRANSACTION WITH CONSISTENT "
        "SNAPSHOT",
        "read", deadline_us, err);
    if (outcome == SERVER_OK)
        outcome = inspect_all(&dangers, own, err);
    if (outcome == SERVER_OK)
        outcome = mariadb_session_run(session, "ROLLBACK", "read", deadline_us, err);
    report->made_us = report->server.seen_us = clock_monotonic_us();
    return outcome;
}

bool mariadb_inspect_connection(struct slice connection, struct arena *arena,
                                struct store_report *report, struct err *err)
{
    struct mariadb_session *session = mariadb_tool_open(connection, err);
    if (session == NULL)
        return false;
    bool ok = mariadb_inspect(&session->base, NULL, arena, report, mariadb_tool_deadline(), err) ==
              SERVER_OK;
    mariadb_session_destroy(session);
    return ok;
}
