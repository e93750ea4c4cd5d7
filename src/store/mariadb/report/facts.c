/* See facts.h. SHOW needs no right, does not wait for other nodes (wsrep_sync_wait), and leaves out
 * names that a version does not have.
 *
 * Who replicates from a server is shown to ordinary users by MariaDB only, as a number
 * (Slaves_connected). A commit on Galera returns when all nodes have received it. Settings that
 * each session has of its own are shown as sessions get them from now on, as warnings name them.
 * One thread at a time. */
#include "store/mariadb/report/facts.h"

#include <ctype.h>
#include <stdio.h>

#include "store/mariadb/session/session_state.h"
#include "store/mariadb/session/variables.h"
#include "store/report.h"

enum { FACTS_STATUS, FACTS_VARIABLES, FACTS_GLOBAL, FACTS_RESULTS };

static const char FACTS[] =
    "SHOW GLOBAL STATUS WHERE Variable_name IN ('wsrep_cluster_size', 'wsrep_local_state_comment',"
    " 'Slaves_connected', 'Slaves_running', 'Rpl_semi_sync_master_status',"
    " 'Rpl_semi_sync_master_clients', 'Rpl_semi_sync_source_status',"
    " 'Rpl_semi_sync_source_clients');"
    " SHOW SESSION VARIABLES WHERE Variable_name IN ('version', 'version_comment', 'hostname',"
    " 'port', 'read_only', 'super_read_only', 'innodb_flush_log_at_trx_commit', 'log_bin',"
    " 'sync_binlog', 'tx_isolation', 'transaction_isolation', 'wsrep_on', 'wsrep_provider',"
    " 'wsrep_node_name');"
    " SHOW GLOBAL VARIABLES WHERE Variable_name IN ('max_allowed_packet',"
    " 'innodb_snapshot_isolation', 'auto_increment_increment')";

/* A primary that waits for the acknowledgement of a replica. It stops to wait, and says so, when
 * none has answered in time. */
static bool waits_for_replica(const struct mariadb_rows *status)
{
    static const char *const names[][2] = {
        {"Rpl_semi_sync_master_status", "Rpl_semi_sync_master_clients"},
        {"Rpl_semi_sync_source_status", "Rpl_semi_sync_source_clients"}};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (mariadb_value_is_on(mariadb_list_value(status, names[i][0])) &&
            mariadb_list_number(status, names[i][1]) > 0)
            return true;
    return false;
}

static enum store_replication replication(const struct store_server *facts,
                                          const struct mariadb_rows *status, bool has_binlog)
{
    if (facts->cluster_size > 0 || waits_for_replica(status))
        return STORE_REPLICATION_SYNC;
    if (facts->standbys > 0)
        return STORE_REPLICATION_ASYNC;
    return facts->knows_standbys || !has_binlog ? STORE_REPLICATION_NONE
                                                : STORE_REPLICATION_UNKNOWN;
}

static void take_node(const struct mariadb_rows *status, const struct mariadb_rows *variables,
                      struct store_server *facts)
{
    unsigned size = (unsigned)mariadb_list_number(status, "wsrep_cluster_size");
    facts->cluster_size = size == 0 ? 1 : size;
    mariadb_copy_value(facts->node, sizeof(facts->node),
                       mariadb_list_value(variables, "wsrep_node_name"));
    mariadb_copy_value(facts->node_state, sizeof(facts->node_state),
                       mariadb_list_value(status, "wsrep_local_state_comment"));
}

/* "READ-COMMITTED", under one of two names. */
static void write_isolation(const struct mariadb_rows *variables, char *out, size_t room)
{
    struct slice value = mariadb_list_value(variables, "transaction_isolation");
    mariadb_copy_value(out, room,
                       value.len > 0 ? value : mariadb_list_value(variables, "tx_isolation"));
    for (char *at = out; *at != '\0'; at++)
        *at = *at == '-' ? ' ' : (char)tolower((unsigned char)*at);
}

/* "10.11.19-MariaDB-deb12 (Debian 12)" */
static void write_version(const struct mariadb_rows *variables, char *out, size_t room)
{
    struct slice comment = mariadb_list_value(variables, "version_comment");
    snprintf(out, room, comment.len > 0 ? "%.*s (%.*s)" : "%.*s%.*s",
             SLICE_ARG(mariadb_list_value(variables, "version")), SLICE_ARG(comment));
}

/* One that this version of the server has. */
static void add_setting(struct store_server *facts, const struct mariadb_rows *list,
                        const char *name)
{
    struct slice value = mariadb_list_value(list, name);
    if (value.len > 0)
        report_add_setting(facts, name, value);
}

static void take_settings(const struct mariadb_rows *variables, const struct mariadb_rows *global,
                          bool has_binlog, struct store_server *facts)
{
    add_setting(facts, variables, "innodb_flush_log_at_trx_commit");
    if (has_binlog)
        add_setting(facts, variables, "sync_binlog");
    add_setting(facts, global, "max_allowed_packet");
    add_setting(facts, global, "innodb_snapshot_isolation");
    add_setting(facts, global, "auto_increment_increment");
}

static void take_facts(const struct mariadb_rows *status, const struct mariadb_rows *variables,
                       const struct mariadb_rows *global, struct store_server *facts)
{
    bool has_binlog = mariadb_value_is_on(mariadb_list_value(variables, "log_bin"));
    facts->is_read_only = mariadb_list_is_read_only(variables);
    facts->is_standby = facts->is_read_only && mariadb_list_number(status, "Slaves_running") > 0;
    facts->knows_standbys = mariadb_list_value(status, "Slaves_connected").len > 0;
    facts->standbys = (unsigned)mariadb_list_number(status, "Slaves_connected");
    if (mariadb_list_is_galera(variables))
        take_node(status, variables, facts);
    facts->replication = replication(facts, status, has_binlog);
    snprintf(facts->address, sizeof(facts->address), "%.*s:%llu",
             SLICE_ARG(mariadb_list_value(variables, "hostname")),
             (unsigned long long)mariadb_list_number(variables, "port"));
    write_version(variables, facts->version, sizeof(facts->version));
    write_isolation(variables, facts->isolation, sizeof(facts->isolation));
    take_settings(variables, global, has_binlog, facts);
}

bool mariadb_facts_read(struct server_session *base, struct store_server *facts,
                        uint64_t deadline_us, struct err *err)
{
    struct mariadb_session *session = mariadb_session_of(base);
    const struct mariadb_text text = {
        .sql = SLICE_LIT(FACTS), .statements = FACTS_RESULTS, .what = "read"};
    struct mariadb_rows rows[FACTS_RESULTS] = {0};
    bool ok = mariadb_session_execute(session, &text, rows, FACTS_RESULTS, NULL, deadline_us,
                                      err) == SERVER_OK;
    if (ok) {
        *facts = (struct store_server){.is_pooled = mariadb_session_server(session)->is_proxied,
                                       .uses_tls = mariadb_session_server(session)->uses_tls};
        take_facts(&rows[FACTS_STATUS], &rows[FACTS_VARIABLES], &rows[FACTS_GLOBAL], facts);
    }
    for (size_t i = 0; i < FACTS_RESULTS; i++)
        mariadb_rows_free(&rows[i]);
    return ok;
}
