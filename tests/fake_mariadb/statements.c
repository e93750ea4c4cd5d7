/* The statements whose texts are fixed but for their values: sessions, transactions, the lock, ids.
 * log.c has those of the log. One thread. */
#include <stdio.h>
#include <stdlib.h>

#include "fake_postgres/consumers.h"
#include "fake_postgres/process.h"
#include "maria.h"
#include "store/mariadb/foreign/foreign_sql.h"
#include "store/mariadb/session/indexes.h"
#include "store/mariadb/session/session_settings.h"

static int64_t world_s(void)
{
    return 1700000000 + (int64_t)(process_now_us() / 1000000);
}

/* The number of nodes that are in the cluster. *offset: of the node's ids, which follow each other
 * in that distance. */
static int count_nodes(int node, int *offset)
{
    int count = 0;
    *offset = 1;
    for (int n = 0; n < server.node_count; n++) {
        count += !server.is_apart[n];
        *offset += n < node && !server.is_apart[n];
    }
    return count == 0 ? 1 : count;
}

/* ---- sessions ---- */

static enum outcome ignore(struct call *call)
{
    (void)call;
    return OUTCOME_DONE;
}

static enum outcome commit(struct call *call);

static enum outcome set_session(struct call *call)
{
    struct session *session = call->session;
    if (maria_has(call, "innodb_lock_wait_timeout="))
        session->lock_timeout_us =
            (uint64_t)maria_int_after(call, "innodb_lock_wait_timeout=") * 1000000;
    if (maria_has(call, " idle_transaction_timeout="))
        session->idle_timeout_us =
            (uint64_t)maria_int_after(call, " idle_transaction_timeout=") * 1000000;
    return OUTCOME_DONE;
}

/* Autocommit commits what is open when it is switched on. */
static enum outcome set_autocommit(struct call *call)
{
    struct maria_session *maria_session = &call->session->maria;
    bool is_on = maria_int_after(call, "autocommit=") != 0;
    enum outcome outcome = is_on && !maria_session->has_autocommit ? commit(call) : OUTCOME_DONE;
    maria_session->has_autocommit = is_on;
    (void)set_session(call);
    return outcome;
}

static enum outcome set_sync_wait(struct call *call)
{
    call->session->maria.waits = (maria_int_after(call, "wsrep_sync_wait=") & 1) != 0;
    return OUTCOME_DONE;
}

static enum outcome set_isolation(struct call *call)
{
    call->session->maria.reads_repeatably = true;
    return OUTCOME_DONE;
}

static void add_pair(struct call *call, const char *name, const char *value)
{
    maria_add_text(call, slice_of(name));
    maria_add_text(call, slice_of(value));
}

static enum outcome show_status(struct call *call)
{
    enum { NOW_S = 1700000000, FIRST_START_S = 1000000 };
    const int node = call->session->node;
    char uptime[24], cluster[40];
    snprintf(uptime, sizeof(uptime), "%lld",
             (long long)(NOW_S - FIRST_START_S - server.started[node]));
    snprintf(cluster, sizeof(cluster), "%llu", (unsigned long long)maria.cluster);
    const char *const pairs[][2] = {
        {"UPTIME", uptime},
        {"WSREP_CLUSTER_STATE_UUID", maria_is_galera() ? cluster : ""},
        {"WSREP_CLUSTER_STATUS", server.is_apart[node] ? "non-Primary" : "Primary"},
        {"WSREP_READY", server.is_apart[node] ? "OFF" : "ON"},
        {"WSREP_LOCAL_STATE_COMMENT", server.is_apart[node] ? "Initialized" : "Synced"},
    };
    maria_columns(call, "ttn");
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        add_pair(call, pairs[i][0], pairs[i][1]);
        maria_add_int(call, NOW_S);
    }
    return OUTCOME_DONE;
}

/* Whatever is started in place of the only server that is gone is another one. */
static void name_host(const struct session *session, char *name, size_t room)
{
    if (maria_is_galera())
        snprintf(name, room, "node%d", session->node);
    else
        snprintf(name, room, "server%llu", (unsigned long long)maria.cluster);
}

static enum outcome set_sign(struct call *call)
{
    struct maria_session *session = &call->session->maria;
    char host[MARIA_HOST_BYTES];
    name_host(call->session, host, sizeof(host));
    snprintf(session->sign, sizeof(session->sign), "%d/%d/%s", session->backend,
             maria_is_galera() && session->waits, host);
    return OUTCOME_DONE;
}

static enum outcome show_variables(struct call *call)
{
    char node[16], host[MARIA_HOST_BYTES], increment[16], backend[16];
    int offset;
    snprintf(node, sizeof(node), "node%d", call->session->node);
    name_host(call->session, host, sizeof(host));
    snprintf(increment, sizeof(increment), "%d", count_nodes(call->session->node, &offset));
    snprintf(backend, sizeof(backend), "%d", call->session->maria.backend);
    const char *const pairs[][2] = {
        {"version", "10.11.6-MariaDB-log"},
        {"hostname", host},
        {"port", "3306"},
        {"datadir", "/var/lib/mysql/"},
        {"server_id", "1"},
        {"read_only", "OFF"},
        {"max_allowed_packet", "16777216"},
        {"innodb_rollback_on_timeout", "OFF"},
        {"auto_increment_increment", increment},
        {"log_bin", "OFF"},
        {"binlog_format", "ROW"},
        {"sql_mode", MARIADB_SQL_MODE},
        {"time_zone", "+00:00"},
        {"character_set_client", "utf8mb4"},
        {"character_set_connection", "utf8mb4"},
        {"character_set_results", "utf8mb4"},
        {"wsrep_on", maria_is_galera() ? "ON" : "OFF"},
        {"wsrep_provider", maria_is_galera() ? "/usr/lib/libgalera_smm.so" : "none"},
        {"wsrep_node_name", node},
        {"wsrep_cluster_name", "cluster"},
        {"wsrep_sync_wait", "0"},
        {"pseudo_thread_id", backend},
    };
    maria_columns(call, "tt");
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
        add_pair(call, pairs[i][0], pairs[i][1]);
    return OUTCOME_DONE;
}

static enum outcome one_int(struct call *call, int64_t value)
{
    maria_columns(call, "n");
    maria_add_int(call, value);
    return OUTCOME_DONE;
}

static enum outcome show_connection(struct call *call)
{
    return one_int(call, call->session->pid);
}

static enum outcome zero(struct call *call)
{
    return one_int(call, 0);
}

static enum outcome show_time(struct call *call)
{
    return one_int(call, world_s());
}

static enum outcome show_indexes(struct call *call)
{
    maria_columns(call, "t");
    maria_add_text(call, SLICE_LIT(MARIADB_INVENTORY_INDEX));
    maria_add_text(call, SLICE_LIT(MARIADB_CONSUMER_INDEX));
    maria_add_text(call, SLICE_LIT(MARIADB_PROVIDER_INDEX));
    return OUTCOME_DONE;
}

/* Of the information schema, which the simulation does not need. */
static enum outcome nothing_two(struct call *call)
{
    maria_columns(call, "tn");
    return OUTCOME_DONE;
}

static enum outcome nothing_six(struct call *call)
{
    maria_columns(call, "ttnttt");
    return OUTCOME_DONE;
}

/* Nobody coexists. */
static enum outcome no_triggers(struct call *call)
{
    maria_columns(call, "nn");
    maria_add_int(call, 0);
    maria_add_int(call, 0);
    return OUTCOME_DONE;
}

static enum outcome no_ids(struct call *call)
{
    maria_columns(call, "n");
    return OUTCOME_DONE;
}

static enum outcome no_notes(struct call *call)
{
    maria_columns(call, "tnt");
    return OUTCOME_DONE;
}

/* ---- transactions ---- */

static enum outcome begin(struct call *call)
{
    transaction_begin(call->session, true, false);
    call->session->maria.reads_repeatably = false;
    return OUTCOME_DONE;
}

static enum outcome begin_snapshot(struct call *call)
{
    struct session *session = call->session;
    transaction_begin(session, true, session->maria.reads_repeatably);
    session->maria.reads_repeatably = false;
    (void)transaction_view(session);
    return OUTCOME_DONE;
}

static enum outcome commit(struct call *call)
{
    if (!call->session->transaction.is_open)
        return OUTCOME_DONE;
    const struct transaction *transaction = &call->session->transaction;
    if (transaction->write_count == 0 && transaction->line_count == 0 &&
        transaction->epoch.epoch == 0) {
        transaction_roll_back(call->session);
        return OUTCOME_DONE;
    }
    const bool has_line = transaction->line_count > 0;
    enum outcome outcome = transaction_commit(call);
    maria.refused += outcome == OUTCOME_ERROR;
    if (outcome == OUTCOME_DONE && has_line)
        call->session->maria.told = server.states.newest;
    return outcome;
}

static enum outcome roll_back(struct call *call)
{
    transaction_roll_back(call->session);
    return OUTCOME_DONE;
}

static enum outcome take_lock(struct call *call)
{
    enum outcome outcome = transaction_lock(call);
    if (outcome != OUTCOME_DONE)
        return outcome;
    maria_columns(call, "tt");
    maria_add_text(call, SLICE_LIT("batches"));
    maria_add_sign(call);
    return OUTCOME_DONE;
}

/* Adds 1 to the largest number, unless the count is right. */
static enum outcome check_count(struct call *call)
{
    if (maria_int_after(call, "(ROW_COUNT()<>") == call->session->maria.row_count)
        return OUTCOME_DONE;
    return maria_fail(call, ERROR_RANGE, "BIGINT UNSIGNED value is out of range");
}

/* NOWAIT: a lock that another transaction has is not waited for. */
static enum outcome look_for_locked(struct call *call)
{
    const struct change image = {.kind = CHANGE_PROVIDER_INSERT,
                                 .provider.id = maria_int_after(call, "WHERE id=")};
    uint64_t keys[ROW_KEYS];
    (void)row_keys(TABLE_PROVIDERS, &image, keys);
    if (transaction_is_taken(call, keys, 1))
        return maria_fail(call, ERROR_LOCKED, "Lock wait timeout exceeded");
    enum outcome outcome = transaction_take(call, keys, 1);
    if (outcome != OUTCOME_DONE)
        return outcome;
    const struct view view = transaction_view(call->session);
    maria_columns(call, "n");
    if (tables_find(view.tables, TABLE_PROVIDERS, image.provider.id) != NULL)
        maria_add_int(call, image.provider.id);
    return OUTCOME_DONE;
}

static enum outcome ask_row(struct call *call)
{
    return one_int(call, call->session->maria.failed_row);
}

/* ---- ids ---- */

static enum rows_table table_after(const struct call *call, const char *text)
{
    struct slice at = maria_after(call, text);
    enum rows_table table = table_named(maria_cut(&at, " "));
    if (table >= ROWS_PARENTS)
        maria_give_up(call);
    return table;
}

/* A node knows the ids of the rows that it has applied. */
static int64_t *counter_of(int node, enum rows_table table)
{
    const struct state *state = states_at(&server.states, server.applied[node]);
    int64_t *counter = &maria.counters[node][table];
    int64_t highest = state == NULL ? 0 : tables_highest_id(&state->tables, (enum table)table);
    *counter = highest > *counter ? highest : *counter;
    return counter;
}

/* The next number of the node's series. */
static int64_t next_id(int node, int64_t *counter, int64_t increment)
{
    int offset;
    int64_t distance = increment * count_nodes(node, &offset);
    int64_t id =
        *counter < offset ? offset : offset + (*counter - offset + distance) / distance * distance;
    *counter = id + distance - 1;
    return id;
}

int64_t maria_next_id(enum table table)
{
    int node = 0;
    while (node + 1 < server.node_count &&
           (server.applied[node] != server.states.newest || server.is_apart[node]))
        node++;
    return next_id(node, counter_of(node, (enum rows_table)table), 1);
}

#define RESERVE "SET STATEMENT auto_increment_increment=@@global.auto_increment_increment*"

/* "… *32 FOR INSERT INTO traits (name) VALUES (UUID())". A node of a cluster would ignore the
 * setting of a session. */
static enum outcome reserve_ids(struct call *call)
{
    int64_t *counter = counter_of(call->session->node, table_after(call, " FOR INSERT INTO "));
    call->session->maria.insert_id =
        next_id(call->session->node, counter, maria_int_after(call, RESERVE));
    return maria_affected(call, 1);
}

static enum outcome show_ids(struct call *call)
{
    int offset;
    maria_columns(call, "nn");
    maria_add_int(call, call->session->maria.insert_id);
    maria_add_int(call, count_nodes(call->session->node, &offset));
    return OUTCOME_DONE;
}

static enum outcome raise_counter(struct call *call)
{
    int64_t *counter = counter_of(call->session->node, table_after(call, "INSERT IGNORE INTO "));
    int64_t floor = maria_int_after(call, "VALUES (");
    *counter = floor > *counter ? floor : *counter;
    return maria_affected(call, 1);
}

static enum outcome select_class_id(struct call *call)
{
    const struct view view = transaction_view(call->session);
    int64_t highest = tables_highest_id(view.tables, TABLE_CLASSES);
    return one_int(call, highest < 9999 ? 9999 : highest);
}

/* ---- consumers without a row ---- */

static int64_t take_id(struct call *call, enum table table)
{
    const int node = call->session->node;
    return next_id(node, counter_of(node, (enum rows_table)table), 1);
}

/* The list of texts behind "column IN(". */
static size_t take_uuids(const struct call *call, const char *column, struct value *uuids)
{
    struct slice at = maria_after(call, column);
    size_t count = 0;
    if (!maria_skip(&at, " IN("))
        maria_give_up(call);
    do {
        check(count < CONSUMERS_ASKED_MOST);
        if (!maria_take_literal(&at, &uuids[count++]))
            maria_give_up(call);
    } while (maria_skip(&at, ","));
    return count;
}

static void add_consumer(struct call *call, int64_t id, struct slice uuid)
{
    maria_add_int(call, id);
    maria_add_text(call, uuid);
}

static enum outcome find_by_uuids(struct call *call, const char *column, bool missing)
{
    static struct value uuids[CONSUMERS_ASKED_MOST];
    size_t count = take_uuids(call, column, uuids);
    maria_columns(call, "nt");
    consumers_find(call, uuids, count, missing, add_consumer);
    return OUTCOME_DONE;
}

static enum outcome find_consumers(struct call *call)
{
    return find_by_uuids(call, " WHERE c.uuid", false);
}

static enum outcome find_missing(struct call *call)
{
    return find_by_uuids(call, " WHERE a.consumer_id", true);
}

static enum outcome end_creation(struct call *call, enum outcome outcome, size_t rows)
{
    return outcome == OUTCOME_DONE ? maria_affected(call, rows) : outcome;
}

static enum outcome create_owner(struct call *call)
{
    const bool is_project = maria_has(call, "INTO projects ");
    struct slice at = maria_after(call, ") SELECT ");
    struct value now, name;
    size_t rows = 0;
    if (!maria_take_literal(&at, &now) || !maria_skip(&at, ",") || !maria_take_literal(&at, &name))
        maria_give_up(call);
    return end_creation(call,
                        consumers_create_owner(call, is_project ? TABLE_PROJECTS : TABLE_USERS,
                                               now.integer, name.text, take_id, &rows),
                        rows);
}

static enum outcome create_consumers(struct call *call)
{
    static struct value uuids[CONSUMERS_ASKED_MOST];
    struct slice at = maria_after(call, ") SELECT ");
    struct value now;
    size_t rows = 0;
    if (!maria_take_literal(&at, &now))
        maria_give_up(call);
    const struct slice project =
        maria_bytes_after(call, "(SELECT id FROM projects WHERE external_id=");
    const struct slice user = maria_bytes_after(call, "(SELECT id FROM users WHERE external_id=");
    size_t count = take_uuids(call, " WHERE a.consumer_id", uuids);
    return end_creation(
        call, consumers_create(call, now.integer, project, user, uuids, count, take_id, &rows),
        rows);
}

/* ---- all ---- */

static const struct {
    struct slice beginning;
    enum maria_kind kind;
    enum outcome (*execute)(struct call *call);
} statements[] = {
    {SLICE_LIT("SET NAMES utf8mb4"), MARIA_SETS, ignore},
    {SLICE_LIT("SET SESSION sql_mode="), MARIA_SETS, set_session},
    {SLICE_LIT("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED"), MARIA_SETS, ignore},
    {SLICE_LIT("SELECT VARIABLE_NAME, VARIABLE_VALUE, UNIX_TIMESTAMP() FROM"), MARIA_SETS,
     show_status},
    {SLICE_LIT("SHOW SESSION VARIABLES WHERE"), MARIA_SETS, show_variables},
    {SLICE_LIT("SELECT CONNECTION_ID()"), MARIA_SETS, show_connection},
    {SLICE_LIT("SET SESSION wsrep_sync_wait="), MARIA_SETS, set_sync_wait},
    {SLICE_LIT("SET @berth_session=CONCAT_WS('/', @@pseudo_thread_id, "), MARIA_SETS, set_sign},
    {SLICE_LIT("SET @berth_writer = 1"), MARIA_SETS, ignore},
    {SLICE_LIT("SELECT @@read_only"), MARIA_SETS, zero},
    {SLICE_LIT("SELECT DISTINCT index_name FROM information_schema.statistics"), MARIA_SETS,
     show_indexes},
    {SLICE_LIT("SELECT TABLE_NAME, MAX(COLUMN_KEY"), MARIA_SETS, nothing_two},
    {SLICE_LIT("SELECT TABLE_NAME, COLUMN_NAME, CHARACTER_MAXIMUM_LENGTH"), MARIA_SETS,
     nothing_six},
    {SLICE_LIT("SELECT " MARIADB_FOREIGN_TRIGGERS_SEEN), MARIA_READS, no_triggers},
    {SLICE_LIT("SELECT id FROM berth_foreign"), MARIA_READS, no_ids},
    {SLICE_LIT("SELECT f.entity, "), MARIA_READS, no_notes},
    {SLICE_LIT("SELECT EXISTS(SELECT 1 FROM berth_foreign WHERE"), MARIA_READS, zero},
    {SLICE_LIT("SELECT c.id,c.uuid FROM consumers c WHERE c.uuid IN("), MARIA_READS,
     find_consumers},
    {SLICE_LIT("SELECT 0,a.consumer_id FROM allocations a "), MARIA_READS, find_missing},
    {SLICE_LIT("INSERT INTO projects (created_at,external_id) SELECT "), MARIA_WRITES,
     create_owner},
    {SLICE_LIT("INSERT INTO users (created_at,external_id) SELECT "), MARIA_WRITES, create_owner},
    {SLICE_LIT("INSERT INTO consumers (created_at,uuid,project_id,user_id,generation) SELECT "),
     MARIA_WRITES, create_consumers},
    {SLICE_LIT("SELECT 0"), MARIA_READS, zero},
    {SLICE_LIT("SELECT UNIX_TIMESTAMP()"), MARIA_READS, show_time},
    {SLICE_LIT("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"), MARIA_SETS, set_isolation},
    {SLICE_LIT("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY"), MARIA_BEGINS,
     begin_snapshot},
    {SLICE_LIT("BEGIN"), MARIA_BEGINS, begin},
    {SLICE_LIT("COMMIT"), MARIA_ENDS, commit},
    {SLICE_LIT("ROLLBACK"), MARIA_ENDS, roll_back},
    {SLICE_LIT("SET innodb_lock_wait_timeout="), MARIA_SETS, set_session},
    {SLICE_LIT("SET autocommit="), MARIA_SETS, set_autocommit},
    {SLICE_LIT("DO 0"), MARIA_SETS, ignore},
    {SLICE_LIT("SET @berth=IF((SELECT COUNT(*) FROM berth_log WHERE number="), MARIA_WRITES,
     maria_check_line},
    {SLICE_LIT("SELECT name FROM berth_locks WHERE name='batches' FOR UPDATE"), MARIA_READS,
     take_lock},
    {SLICE_LIT("SELECT name, @berth_session FROM berth_locks WHERE name='batches' FOR UPDATE"),
     MARIA_READS, take_lock},
    {SLICE_LIT("SELECT name FROM berth_locks WHERE name LIKE 't.%' "), MARIA_READS,
     maria_select_asks},
    {SLICE_LIT("INSERT INTO berth_locks (name) VALUES ("), MARIA_WRITES, maria_insert_ask},
    {SLICE_LIT("DELETE FROM berth_locks WHERE name="), MARIA_WRITES, maria_delete_ask},
    {SLICE_LIT("SET @berth=~0+(ROW_COUNT()<>"), MARIA_SETS, check_count},
    {SLICE_LIT("SELECT id FROM resource_providers WHERE id="), MARIA_READS, look_for_locked},
    {SLICE_LIT("GET DIAGNOSTICS CONDITION 1 @berth_row=ROW_NUMBER"), MARIA_SETS, ignore},
    {SLICE_LIT("SELECT @berth_row"), MARIA_SETS, ask_row},
    {SLICE_LIT("INSERT INTO berth_log (number, mark, digest, written_at, entries) SELECT "),
     MARIA_WRITES, maria_insert_line},
    {SLICE_LIT("SELECT l.number, l.mark, l.digest, "), MARIA_READS, maria_select_newest},
    {SLICE_LIT(
         "SELECT number, mark, @@read_only, @berth_session FROM berth_log ORDER BY number DESC "
         "LIMIT 1"),
     MARIA_READS, maria_select_newest_mark},
    {SLICE_LIT("SELECT MAX(number), NULL, @@read_only, @berth_session FROM berth_log"), MARIA_READS,
     maria_select_newest_number},
    {SLICE_LIT("SELECT number, mark, digest, entries FROM berth_log WHERE number >= "), MARIA_READS,
     maria_select_since},
    {SLICE_LIT("SELECT number, mark, digest, entries, (SELECT MAX(epoch) FROM berth_epochs)"
               " FROM berth_log WHERE number >= "),
     MARIA_READS, maria_select_locked},
    {SLICE_LIT("SELECT number, mark FROM berth_log WHERE number >= "), MARIA_READS,
     maria_select_first},
    {SLICE_LIT("SELECT epoch, number, TIMESTAMPDIFF(MICROSECOND"), MARIA_READS,
     maria_select_epochs},
    {SLICE_LIT("INSERT INTO berth_epochs (epoch, number, began_at, reason) VALUES ("), MARIA_WRITES,
     maria_insert_epoch},
    {SLICE_LIT(RESERVE), MARIA_WRITES, reserve_ids},
    {SLICE_LIT("SELECT LAST_INSERT_ID(), @@global.auto_increment_increment"), MARIA_SETS, show_ids},
    {SLICE_LIT("INSERT IGNORE INTO "), MARIA_WRITES, raise_counter},
    {SLICE_LIT("SELECT GREATEST(COALESCE(MAX(id), 0), 9999) FROM resource_classes"), MARIA_READS,
     select_class_id},
};
enum { STATEMENTS = sizeof(statements) / sizeof(statements[0]) };

struct maria_statement maria_statement_of(const struct call *call)
{
    const struct slice sql = slice_of(call->sql);
    bool is_known = false;
    for (int i = 0; i < STATEMENTS; i++)
        if (slice_starts_with(sql, statements[i].beginning))
            return (struct maria_statement){statements[i].kind, statements[i].execute};
    const struct maria_statement read = maria_read_of(call, &is_known);
    return is_known ? read : (struct maria_statement){MARIA_WRITES, maria_write};
}
