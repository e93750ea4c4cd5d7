/* One text sets everything that berth's statements rely on, whatever the administrator's defaults
 * are, and reads back what has become of it.
 *
 * The charset is set by a statement, although the login has asked for utf8mb4: a server with
 * init_connect='SET NAMES utf8' or skip_character_set_client_handshake, as several deployment tools
 * configure it, changes it after or in spite of the login, and texts of the APIs would be damaged
 * silently. Its collation is binary, so that literals compare as they are; that of a column still
 * decides where one is compared with a literal.
 *
 * A limit for the time of any statement, which an administrator may have set, would end each load
 * of a database that takes longer, again and again; there is none but the session's own (0).
 *
 * Connections are kept, however short the time is after which the server would end an idle one; the
 * one given is the longest. Its other side is still found to be gone, by TCP's own means: by berth
 * soon, by the server after hours. Meanwhile it keeps the locks of a machine that is gone. MariaDB
 * has a limit for sessions that are idle within a transaction. MySQL only has the one for all idle
 * connections, so there it is shorter for a session that is to have such a limit, and not so short
 * that the writer of a quiet cloud would have to connect for each batch.
 *
 * MySQL keeps what its information schema tells of a table's counter for a day, unless told
 * otherwise.
 *
 * The products' differences are in comments that only one of them executes: MariaDB reads those
 * with an M, and none of MySQL's from 5.7 to 9.99. A variable that one version does not have would
 * fail the whole text, so optional ones are read with SHOW VARIABLES. Neither these statements nor
 * tables of the information schema are refused by a Galera node that is not in the primary
 * component, so it can be told why it is not used.
 *
 * The time of the server's start is computed in one statement, in which both of its terms have the
 * same clock; so it is the same for all connections, even if the clock is changed. Pure; any
 * thread. */
#include "store/mariadb/session/session_settings.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "store/mariadb/session/variables.h"

enum { IDLE_LEAST_S = 60 };

enum { TEXT_BYTES_MOST = 64 * 1024 * 1024, PACKET_BYTES_SPARE = 1024 };

/* What must be as set for COMMIT, and for what a statement reads and changes. */
#define SET                                                                                        \
    "SET SESSION sql_mode='" MARIADB_SQL_MODE "', time_zone='+00:00', autocommit=1, "              \
    "completion_type=0, foreign_key_checks=1, unique_checks=1, sql_auto_is_null=0, "               \
    "sql_safe_updates=0, sql_big_selects=1, sql_select_limit=18446744073709551615, "               \
    "lc_messages='en_US', wait_timeout=31536000"

#define STATUS                                                                                     \
    "SELECT VARIABLE_NAME, VARIABLE_VALUE, UNIX_TIMESTAMP() FROM"                                  \
    " /*M!100600 information_schema.GLOBAL_STATUS */"                                              \
    " /*!80000 performance_schema.global_status */"                                                \
    " WHERE VARIABLE_NAME IN ('Uptime', 'wsrep_cluster_state_uuid', 'wsrep_cluster_status',"       \
    " 'wsrep_ready', 'wsrep_gcomm_uuid', 'wsrep_local_state_comment')"

#define VARIABLES                                                                                  \
    "SHOW SESSION VARIABLES WHERE Variable_name IN ('version', 'hostname', 'port', 'datadir',"     \
    " 'server_id', 'server_uuid', 'server_uid', 'read_only', 'super_read_only',"                   \
    " 'max_allowed_packet', 'innodb_rollback_on_timeout',"                                         \
    " 'auto_increment_increment', 'log_bin', 'binlog_format', 'sql_mode', 'time_zone',"            \
    " 'character_set_client', 'character_set_connection', 'character_set_results',"                \
    " 'wsrep_on', 'wsrep_provider', 'wsrep_node_name', 'wsrep_cluster_name',"                      \
    " 'wsrep_sync_wait', 'wsrep_dirty_reads', 'pseudo_thread_id')"

static int seconds_of(int ms)
{
    return ms / 1000 + (ms % 1000 != 0);
}

struct slice mariadb_settings_text(const struct server_session_options *options,
                                   struct arena *arena)
{
    struct buf out = {0};
    int idle = seconds_of(options->idle_in_transaction_ms);
    int lock = seconds_of(options->lock_timeout_ms);
    int statement_ms = options->statement_timeout_ms;
    buf_append_lit(&out, "SET NAMES utf8mb4 COLLATE utf8mb4_bin; " SET);
    if (lock > 0)
        buf_printf(&out, ", innodb_lock_wait_timeout=%d, lock_wait_timeout=%d", lock, lock);
    if (idle > 0)
        buf_printf(&out,
                   " /*M!100600 , idle_transaction_timeout=%d, idle_write_transaction_timeout=%d, "
                   "idle_readonly_transaction_timeout=%d */ /*!80000 , wait_timeout=%d */",
                   idle, idle, idle, idle > IDLE_LEAST_S ? idle : IDLE_LEAST_S);
    buf_printf(&out,
               " /*M!100600 , max_statement_time=%d.%03d */"
               " /*!80000 , max_execution_time=%d, information_schema_stats_expiry=0 */",
               statement_ms / 1000, statement_ms % 1000, statement_ms);
    buf_append_lit(&out,
                   "; SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED, READ WRITE; " STATUS
                   "; " VARIABLES "; SELECT CONNECTION_ID()");
    struct slice text = arena_copy(arena, buf_slice(&out));
    buf_free(&out);
    return text;
}

/* ---- facts ---- */

/* "10.11.19-MariaDB-log" is 101119. */
static unsigned read_version(const char *text)
{
    unsigned major = 0, minor = 0, patch = 0;
    if (sscanf(text, "%3u.%2u.%2u", &major, &minor, &patch) < 2)
        return 0;
    return major * 10000 + minor * 100 + patch;
}

/* FNV-1a: the same in all processes. */
static uint64_t hash_more(uint64_t hash, struct slice text)
{
    for (size_t i = 0; i < text.len; i++)
        hash = (hash ^ (unsigned char)text.data[i]) * 0x100000001b3u;
    return (hash ^ 0x1f) * 0x100000001b3u;
}

static const uint64_t HASH_START = 0xcbf29ce484222325u;

/* The second of its start; 0: not known. */
static int64_t started_of(const struct mariadb_rows *status)
{
    int64_t now = 0;
    struct slice uptime = mariadb_list_value(status, "Uptime");
    if (uptime.len == 0 || !mariadb_rows_int(status, 0, 2, &now))
        return 0;
    return now - (int64_t)strtoull(uptime.data, NULL, 10);
}

/* Of the server that runs now: the same for all its connections. After a restart, only its start is
 * another one. A replica that has taken its place counts as another system: it may lack what other
 * programs wrote last, of which the log says nothing. */
static void identify(const struct mariadb_rows *status, const struct mariadb_rows *variables,
                     struct mariadb_server *server)
{
    static const char *const of_server[] = {
        "hostname", "port", "datadir", "server_id", "server_uuid", "server_uid", "wsrep_node_name"};
    int64_t started = started_of(status);
    uint64_t hash = HASH_START;
    for (size_t i = 0; i < sizeof(of_server) / sizeof(of_server[0]); i++)
        hash = hash_more(hash, mariadb_list_value(variables, of_server[i]));
    server->id.system = hash;
    if (server->is_galera)
        server->id.system =
            hash_more(HASH_START, mariadb_list_value(status, "wsrep_cluster_state_uuid"));
    hash = hash_more(hash, (struct slice){(const char *)&started, sizeof(started)});
    server->id.started = (server->is_galera ? server->id.system : hash) | 1; /* 0: not known */
    server->id.timeline = 1; /* there are none: no server counts as older than another */
}

static const char *check_version(const struct mariadb_server *server, struct arena *arena)
{
    unsigned least = server->is_mariadb ? 100600 : 80000;
    if (server->version >= least)
        return NULL;
    return arena_printf(arena,
                        "its version is %s, and must be at least 10.6 of MariaDB or 8.0 of MySQL",
                        server->version_text)
        .data;
}

static const char *check_settings(const struct mariadb_rows *variables, struct arena *arena)
{
    static const char *const charsets[] = {"character_set_client", "character_set_connection",
                                           "character_set_results"};
    for (size_t i = 0; i < sizeof(charsets) / sizeof(charsets[0]); i++) {
        struct slice charset = mariadb_list_value(variables, charsets[i]);
        if (!slice_equal_nocase(charset, SLICE_LIT("utf8mb4")))
            return arena_printf(arena, "its %s stays %.*s, and must be utf8mb4", charsets[i],
                                SLICE_ARG(charset))
                .data;
    }
    const char *mode = mariadb_list_value(variables, "sql_mode").data;
    bool is_set = strstr(mode, "NO_BACKSLASH_ESCAPES") != NULL &&
                  strstr(mode, "STRICT_ALL_TABLES") != NULL && strstr(mode, "ANSI_QUOTES") == NULL;
    if (!is_set || mariadb_list_value(variables, "time_zone").data[0] != '+')
        return "its sql_mode or time_zone cannot be set";
    return NULL;
}

/* Of Galera: a node that is not in the primary component refuses statements with 1047, and must not
 * be read either. */
static const char *check_node(const struct mariadb_rows *status,
                              const struct mariadb_server *server, struct arena *arena)
{
    struct slice component = mariadb_list_value(status, "wsrep_cluster_status");
    bool is_primary = slice_equal_nocase(component, SLICE_LIT("Primary"));
    if (!server->is_galera ||
        (is_primary && mariadb_value_is_on(mariadb_list_value(status, "wsrep_ready"))))
        return NULL;
    return arena_printf(arena, "the Galera node %s is not ready (%.*s, %.*s)", server->node,
                        SLICE_ARG(component),
                        SLICE_ARG(mariadb_list_value(status, "wsrep_local_state_comment")))
        .data;
}

static uint64_t text_bytes_most(const struct mariadb_rows *variables)
{
    uint64_t packet = mariadb_list_number(variables, "max_allowed_packet");
    if (packet > TEXT_BYTES_MOST)
        return TEXT_BYTES_MOST;
    return packet > 2 * PACKET_BYTES_SPARE ? packet - PACKET_BYTES_SPARE : PACKET_BYTES_SPARE;
}

const char *mariadb_settings_read(const struct mariadb_rows rows[static MARIADB_SETTINGS_RESULTS],
                                  uint64_t accepted_id, struct mariadb_server *server,
                                  struct arena *arena, bool *passes)
{
    const struct mariadb_rows *status = &rows[MARIADB_SETTINGS_STATUS];
    const struct mariadb_rows *variables = &rows[MARIADB_SETTINGS_VARIABLES];
    int64_t id = 0;
    *passes = false;
    *server = (struct mariadb_server){0};
    if (!mariadb_rows_int(&rows[MARIADB_SETTINGS_CONNECTION], 0, 0, &id))
        return "it does not answer as MariaDB or MySQL does";
    mariadb_copy_value(server->version_text, sizeof(server->version_text),
                       mariadb_list_value(variables, "version"));
    mariadb_copy_value(server->host, sizeof(server->host),
                       mariadb_list_value(variables, "hostname"));
    server->version = read_version(server->version_text);
    server->is_mariadb = server->version >= 100000;
    server->connection_id = (uint64_t)id;
    server->backend_id = mariadb_list_number(variables, "pseudo_thread_id");
    server->is_proxied =
        (server->backend_id == 0 ? (uint64_t)id : server->backend_id) != accepted_id;
    server->is_read_only = mariadb_list_is_read_only(variables);
    server->is_galera = mariadb_list_is_galera(variables);
    server->rolls_back_on_timeout =
        mariadb_value_is_on(mariadb_list_value(variables, "innodb_rollback_on_timeout"));
    server->text_bytes_most = text_bytes_most(variables);
    server->auto_increment_increment = mariadb_list_number(variables, "auto_increment_increment");
    if (server->is_galera)
        mariadb_copy_value(server->node, sizeof(server->node),
                           mariadb_list_value(variables, "wsrep_node_name"));
    if (mariadb_value_is_on(mariadb_list_value(variables, "log_bin")))
        mariadb_copy_value(server->binlog_format, sizeof(server->binlog_format),
                           mariadb_list_value(variables, "binlog_format"));
    identify(status, variables, server);
    const char *wrong = check_version(server, arena);
    if (wrong == NULL)
        wrong = check_settings(variables, arena);
    if (wrong != NULL)
        return wrong;
    wrong = check_node(status, server, arena);
    *passes = wrong != NULL;
    return wrong;
}

void mariadb_settings_sync_wait(int sync_wait, const struct mariadb_rows *variables,
                                struct buf *sql)
{
    struct slice value = mariadb_list_value(variables, "wsrep_sync_wait");
    if (value.len > 0 && strtol(value.data, NULL, 10) != sync_wait)
        buf_printf(sql, "SET SESSION wsrep_sync_wait=%d;", sync_wait);
    /* otherwise no read waits, and a node outside of the primary component answers them as well */
    if (mariadb_value_is_on(mariadb_list_value(variables, "wsrep_dirty_reads")))
        buf_append_lit(sql, "SET SESSION wsrep_dirty_reads=OFF;");
}
