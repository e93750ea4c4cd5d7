/* See dangers.h. Everything is asked so that an ordinary user may: SHOW needs no right. Only other
 * users' transactions are left out where the user lacks PROCESS. A name that a version of the
 * server does not have is no danger. One thread at a time. */
#include "store/mariadb/report/dangers.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "store/mariadb/session/ask.h"
#include "store/mariadb/session/variables.h"

enum { SKEW_MOST_US = 2000000 };

/* ---- settings ---- */

enum where {
    WITH_BINLOG = 1 << 0,
    OF_CLUSTER = 1 << 1, /* on a node of a Galera cluster */
    ALONE = 1 << 2,      /* elsewhere */
};

struct rule {
    const char *name;
    unsigned where;
    const char *values[3]; /* the unsafe ones; */
    uint64_t below, from;  /* and numbers below the one, or from the other on; 0: none */
    const char *reason;
};

#define MIB ((uint64_t)1024 * 1024)
#define REFUSES_WRITES                                                                             \
    "the server refuses all writes of read committed transactions, as berth's are"

static const struct rule RULES[] = {
    {.name = "innodb_flush_log_at_trx_commit",
     .where = ALONE,
     .values = {"0", "2"},
     .reason = "a crash of the server's machine loses changes that clients were told are done"},
    {.name = "innodb_flush_log_at_trx_commit",
     .where = OF_CLUSTER,
     .values = {"0", "2"},
     .reason = "a crash of all nodes at once loses changes that clients were told are done"},
    {.name = "sync_binlog",
     .where = WITH_BINLOG | ALONE,
     .below = 1,
     .from = 2,
     .reason = "a crash of the server's machine can lose changes that clients were told are done"},
    {.name = "innodb_doublewrite",
     .values = {"OFF", "0", "DETECT_ONLY"},
     .reason = "a crash of the server's machine can damage tables"},
    {.name = "innodb_force_recovery",
     .from = 1,
     .reason = "the server is only meant to rescue data from damaged tables"},
    {.name = "max_allowed_packet",
     .below = 16 * MIB,
     .reason = "changes with larger texts are refused"},
    {.name = "auto_increment_increment",
     .from = 11,
     .reason = "ids are used up that many times as fast"},
    {.name = "binlog_format",
     .where = WITH_BINLOG,
     .values = {"STATEMENT"},
     .reason = REFUSES_WRITES},
    {.name = "wsrep_forced_binlog_format",
     .where = OF_CLUSTER,
     .values = {"STATEMENT"},
     .reason = REFUSES_WRITES},
    {.name = "wsrep_OSU_method",
     .where = OF_CLUSTER,
     .values = {"RSU"},
     .reason = "a change of the schema stays on one node"},
    {.name = "wsrep_sst_method",
     .where = OF_CLUSTER,
     .values = {"rsync", "rsync_wan", "mysqldump"},
     .reason = "a node accepts no writes while another one copies its data"},
    {.name = "wsrep_sst_method",
     .where = OF_CLUSTER,
     .values = {"skip"},
     .reason = "a node that joins the cluster may have other data than the rest of it"},
    {.name = "wsrep_max_ws_size",
     .where = OF_CLUSTER,
     .below = 64 * MIB,
     .reason = "larger changes are refused"},
    {.name = "wsrep_max_ws_rows",
     .where = OF_CLUSTER,
     .from = 1,
     .reason = "changes of more rows are refused"},
};

static bool is_unsafe(const struct rule *rule, struct slice value)
{
    uint64_t number = strtoull(value.data, NULL, 10);
    for (size_t i = 0; i < 3 && rule->values[i] != NULL; i++)
        if (slice_equal_nocase(value, slice_of(rule->values[i])))
            return true;
    return (rule->below > 0 && number < rule->below) || (rule->from > 0 && number >= rule->from);
}

static void warn_of_settings(const struct mariadb_dangers *d, const struct mariadb_rows *variables)
{
    bool is_node = d->report->server.cluster_size > 0;
    bool has_binlog = mariadb_value_is_on(mariadb_list_value(variables, "log_bin"));
    unsigned here = (has_binlog ? WITH_BINLOG : 0u) | (is_node ? OF_CLUSTER : ALONE);
    for (size_t i = 0; i < sizeof(RULES) / sizeof(RULES[0]); i++) {
        const struct rule *rule = &RULES[i];
        struct slice value = mariadb_list_value(variables, rule->name);
        if ((rule->where & ~here) == 0 && value.len > 0 && is_unsafe(rule, value))
            report_warn(d->report, d->arena, "%s is %.*s: %s", rule->name, SLICE_ARG(value),
                        rule->reason);
    }
}

/* ---- the cluster ---- */

/* Of "a = b; c = d;", as Galera writes its options. */
static bool is_option_on(const char *options, const char *name)
{
    const char *at = strstr(options, name);
    if (at == NULL)
        return false;
    at += strlen(name);
    at += strspn(at, " =");
    return strncmp(at, "true", 4) == 0 || strncmp(at, "yes", 3) == 0 || strncmp(at, "on", 2) == 0 ||
           *at == '1';
}

static void warn_of_cluster(const struct mariadb_dangers *d, const struct mariadb_rows *variables)
{
    static const char *const splitting[] = {"pc.ignore_sb", "pc.ignore_quorum"};
    const struct store_server *server = &d->report->server;
    const char *options = mariadb_list_value(variables, "wsrep_provider_options").data;
    if (server->cluster_size == 0)
        return;
    if (strcmp(server->node_state, "Synced") != 0)
        report_warn(d->report, d->arena,
                    "the node %s is %s, not Synced: it may answer late, or not at all",
                    server->node, server->node_state);
    if (server->cluster_size == 1)
        report_warn(d->report, d->arena, "the cluster has a single node: nothing replaces it");
    if (server->cluster_size == 2)
        report_warn(d->report, d->arena,
                    "the cluster has two nodes: if one of them fails, both stop");
    for (size_t i = 0; i < sizeof(splitting) / sizeof(splitting[0]); i++)
        if (is_option_on(options, splitting[i]))
            report_warn(d->report, d->arena,
                        "%s is on: nodes that do not reach each other accept different changes",
                        splitting[i]);
}

/* ---- role, replication, clock ---- */

static void warn_of_role(const struct mariadb_dangers *d, const struct mariadb_rows *status)
{
    const struct store_server *server = &d->report->server;
    if (server->is_standby)
        report_warn(d->report, d->arena, "the server is a replica: it accepts no writes");
    else if (server->is_read_only)
        report_warn(d->report, d->arena, "read_only is on: the server accepts no writes");
    else if (mariadb_list_number(status, "Slaves_running") > 0)
        report_warn(d->report, d->arena,
                    "the server is a replica that accepts writes: changes on both servers can "
                    "contradict each other");
    if (server->replication == STORE_REPLICATION_ASYNC)
        report_warn(d->report, d->arena,
                    "replication is asynchronous: a failover can lose changes that clients were "
                    "told are done");
}

/* The server read its clock at some moment between the two times. */
static void warn_of_clock(const struct mariadb_dangers *d, int64_t server_us, int64_t before_us,
                          int64_t after_us)
{
    int64_t ahead_us = server_us > after_us ? server_us - after_us : 0;
    int64_t behind_us = server_us < before_us ? before_us - server_us : 0;
    if (server_us > 0 && (ahead_us > SKEW_MOST_US || behind_us > SKEW_MOST_US))
        report_warn(d->report, d->arena,
                    "the server's clock is %lld s %s this machine's: rows get wrong times",
                    (long long)((ahead_us + behind_us) / 1000000),
                    ahead_us > 0 ? "ahead of" : "behind");
}

enum { ANSWER_CLOCK, ANSWER_STATUS, ANSWER_VARIABLES, ANSWERS };

/* The values are those of sessions that are made from now on. */
static const char SETTINGS[] =
    "SELECT CAST(UNIX_TIMESTAMP(NOW(6)) * 1000000 AS SIGNED);"
    " SHOW GLOBAL STATUS WHERE Variable_name = 'Slaves_running';"
    " SHOW GLOBAL VARIABLES WHERE Variable_name IN ('log_bin', 'wsrep_provider_options',"
    " 'innodb_flush_log_at_trx_commit', 'sync_binlog', 'innodb_doublewrite',"
    " 'innodb_force_recovery', 'max_allowed_packet', 'auto_increment_increment', 'binlog_format',"
    " 'wsrep_forced_binlog_format', 'wsrep_OSU_method', 'wsrep_sst_method', 'wsrep_max_ws_size',"
    " 'wsrep_max_ws_rows')";

static enum server_outcome check_settings(const struct mariadb_dangers *d, struct err *err)
{
    const struct mariadb_text text = {
        .sql = SLICE_LIT(SETTINGS), .statements = ANSWERS, .what = "read"};
    struct mariadb_rows rows[ANSWERS] = {0};
    int64_t before_us = clock_wall_us();
    enum server_outcome outcome =
        mariadb_session_execute(d->session, &text, rows, ANSWERS, NULL, d->deadline_us, err);
    if (outcome == SERVER_OK) {
        int64_t after_us = clock_wall_us();
        warn_of_role(d, &rows[ANSWER_STATUS]);
        warn_of_settings(d, &rows[ANSWER_VARIABLES]);
        warn_of_cluster(d, &rows[ANSWER_VARIABLES]);
        warn_of_clock(d, mariadb_answer_int(&rows[ANSWER_CLOCK], 0, 0), before_us, after_us);
    }
    for (size_t i = 0; i < ANSWERS; i++)
        mariadb_rows_free(&rows[i]);
    return outcome;
}

/* ---- old transactions ---- */

/* Their times are in the system's time zone, whatever the session's is; that of the session's own
 * transaction is now. */
static const char OLD[] =
    "SELECT o.trx_mysql_thread_id, TIMESTAMPDIFF(MINUTE, o.trx_started, s.trx_started)"
    " FROM information_schema.INNODB_TRX o, information_schema.INNODB_TRX s"
    " WHERE s.trx_mysql_thread_id = CONNECTION_ID() AND o.trx_mysql_thread_id <> 0"
    " AND o.trx_started < s.trx_started - INTERVAL 1 HOUR ORDER BY o.trx_started LIMIT 3";

static enum server_outcome check_old(const struct mariadb_dangers *d, struct err *err)
{
    struct mariadb_rows rows = {0};
    bool is_allowed = false;
    enum server_outcome outcome =
        mariadb_ask_if_allowed(d->session, SLICE_LIT(OLD), &rows, &is_allowed, d->deadline_us, err);
    for (size_t i = 0; outcome == SERVER_OK && i < mariadb_rows_count(&rows); i++)
        report_warn(d->report, d->arena,
                    "the transaction of connection %lld has been open for %lld minutes: old "
                    "versions of rows cannot be removed meanwhile",
                    (long long)mariadb_answer_int(&rows, i, 0),
                    (long long)mariadb_answer_int(&rows, i, 1));
    mariadb_rows_free(&rows);
    return outcome;
}

enum server_outcome mariadb_dangers_of_server(const struct mariadb_dangers *d, struct err *err)
{
    enum server_outcome outcome = check_settings(d, err);
    return outcome == SERVER_OK ? check_old(d, err) : outcome;
}
