/* The statements whose texts are fixed: sessions, transactions, locks, the log, ids. They are known
 * by their beginnings; of a condition that they may have or not, the text is looked at. One thread.
 */
#include "statements.h"

#include "consumers.h"

#include <stdio.h>
#include <stdlib.h>

#include "process.h"
#include "store/postgres/session/locks.h"

/* ---- parameters ---- */

struct slice parameter_bytes(const struct call *call, unsigned at)
{
    check(at >= 1 && at <= call->message->count);
    return call->message->parameters[at - 1].bytes;
}

int64_t parameter_int(const struct call *call, unsigned at)
{
    struct slice bytes = parameter_bytes(call, at);
    uint64_t value = bytes.len > 0 && (bytes.data[0] & 0x80) != 0 ? UINT64_MAX : 0;
    for (size_t i = 0; i < bytes.len; i++)
        value = value << 8 | (unsigned char)bytes.data[i];
    return (int64_t)value;
}

static bool contains(const struct call *call, const char *part)
{
    return strstr(call->sql, part) != NULL;
}

static void rows(struct call *call)
{
    call->result = result_rows(call->message->is_binary);
}

/* ---- sessions ---- */

static enum outcome set_up_session(struct call *call)
{
    struct session *session = call->session;
    session->idle_timeout_us = (uint64_t)parameter_int(call, 2) * 1000;
    session->lock_timeout_us = (uint64_t)parameter_int(call, 3) * 1000;
    rows(call);
    result_column(call->result, PG_INT4);
    result_column(call->result, PG_TEXT);
    result_column(call->result, PG_TEXT);
    result_add_int(call->result, session->pid);
    result_add_null(call->result);
    result_add_bytes(call->result, SLICE_LIT("()"));
    return OUTCOME_DONE;
}

/* Settings, and last whether the server is a standby. */
static enum outcome set_planner(struct call *call)
{
    int settings = 0;
    for (const char *at = call->sql; (at = strstr(at, "set_config(")) != NULL; at++)
        settings++;
    rows(call);
    for (int i = 0; i < settings; i++)
        result_column(call->result, PG_TEXT);
    result_column(call->result, PG_BOOL);
    for (int i = 0; i < settings; i++)
        result_add_bytes(call->result, SLICE_LIT(""));
    result_add_bool(call->result, false);
    return OUTCOME_DONE;
}

/* When the server was started, its cluster, its timeline. */
static enum outcome identify(struct call *call)
{
    int node = call->session->node;
    rows(call);
    for (int i = 0; i < 3; i++)
        result_column(call->result, PG_INT8);
    result_add_int(call->result, server.started[node]);
    result_add_int(call->result, node + 1);
    result_add_int(call->result, server.timeline);
    return OUTCOME_DONE;
}

/* Columns whose collation is not the usual one: there are none. */
static enum outcome find_collations(struct call *call)
{
    rows(call);
    result_column(call->result, PG_TEXT);
    return OUTCOME_DONE;
}

/* A table without a primary key: there is none. */
static enum outcome find_unfinished(struct call *call)
{
    rows(call);
    result_column(call->result, PG_TEXT);
    result_add_null(call->result);
    return OUTCOME_DONE;
}

static enum outcome begin(struct call *call)
{
    transaction_begin(call->session, true, contains(call, "REPEATABLE READ"));
    return OUTCOME_DONE;
}

static void tag(struct call *call, const char *text)
{
    call->result = result_create(PGRES_COMMAND_OK);
    call->result->tag = text;
}

static enum outcome commit(struct call *call)
{
    if (call->session->transaction.has_failed) {
        transaction_roll_back(call->session);
        tag(call, "ROLLBACK");
        return OUTCOME_DONE;
    }
    enum outcome outcome = transaction_commit(call);
    if (outcome == OUTCOME_DONE)
        tag(call, "COMMIT");
    return outcome;
}

static enum outcome roll_back(struct call *call)
{
    transaction_roll_back(call->session);
    tag(call, "ROLLBACK");
    return OUTCOME_DONE;
}

/* Whatever is committed after this snapshot has a number from there on. */
static enum outcome select_horizon(struct call *call)
{
    const struct view view = transaction_view(call->session);
    const int64_t next = (int64_t)view.state->tables.clock + 1;
    const bool is_load = contains(call, "FROM pg_catalog.pg_trigger");
    char snapshot[64];
    rows(call);
    result_column(call->result, PG_INT8);
    for (int i = 0; is_load && i < 2; i++)
        result_column(call->result, i == 0 ? PG_INT8 : PG_TEXT);
    result_add_int(call->result, next);
    if (!is_load)
        return OUTCOME_DONE;
    snprintf(snapshot, sizeof(snapshot), "%lld:%lld:", (long long)next, (long long)next);
    result_add_int(call->result, 0); /* there are no triggers */
    result_add_bytes(call->result, slice_of(snapshot));
    return OUTCOME_DONE;
}

/* ---- the lock ---- */

static enum outcome take_lock(struct call *call)
{
    enum outcome outcome = transaction_lock(call);
    if (outcome != OUTCOME_DONE)
        return outcome;
    rows(call);
    result_column(call->result, PG_TEXT);
    result_add_bytes(call->result, SLICE_LIT(""));
    return OUTCOME_DONE;
}

static enum outcome end_stalled(struct call *call)
{
    uint64_t least_us = (uint64_t)parameter_int(call, 1) * 1000;
    rows(call);
    result_column(call->result, PG_INT4);
    result_column(call->result, PG_BOOL);
    for (int s = 0; s < server.session_count; s++) {
        struct session *holder = &server.sessions[s];
        if (!holder->is_used || holder->node != call->session->node ||
            !holder->transaction.has_lock || holder->first != NULL ||
            process_now_us() - holder->idle_us <= least_us)
            continue;
        result_add_int(call->result, holder->pid);
        result_add_bool(call->result, true);
        fake_server_terminate(holder);
    }
    return OUTCOME_DONE;
}

/* Who has locked a row: nobody is named. */
static enum outcome find_holder(struct call *call)
{
    rows(call);
    result_column(call->result, PG_TEXT);
    return OUTCOME_DONE;
}

/* ---- the log ---- */

static enum outcome append_line(struct call *call)
{
    int64_t number = parameter_int(call, 1);
    uint64_t key = line_key(number);
    enum outcome outcome = transaction_take(call, &key, 1);
    if (outcome != OUTCOME_DONE)
        return outcome;
    const struct view view = transaction_view(call->session);
    if (view_line(&view, number) != NULL)
        return call_fail(call, "23505", "duplicate key value violates \"berth_log_pkey\"");
    transaction_log(
        call->session,
        states_line(&server.states, number, parameter_int(call, 4), parameter_bytes(call, 2),
                    parameter_bytes(call, 3),
                    contains(call, "''::bytea") ? SLICE_LIT("") : parameter_bytes(call, 5)));
    return OUTCOME_DONE;
}

/* Whether the row may follow the newest one, as far as the statement looks. `compares`: how it
 * compares the mark of the row before with parameter `mark`. */
static bool may_follow(struct call *call, const char *compares, unsigned mark)
{
    const struct view view = transaction_view(call->session);
    int64_t number = parameter_int(call, 1);
    const struct log_line *before = view_line(&view, number - 1);
    if (number == 1)
        return !contains(call, "ELSE NOT EXISTS (SELECT FROM berth_log)") ||
               view_head(&view) == NULL;
    if (!contains(call, "THEN EXISTS (SELECT FROM berth_log"))
        return true;
    return before != NULL &&
           (!contains(call, compares) || slice_equal(before->mark, parameter_bytes(call, mark)));
}

static enum outcome insert_line(struct call *call)
{
    if (!may_follow(call, "AND mark = $6::bytea", 6))
        return call_fail(call, "23502", "null value in column \"number\"");
    return append_line(call);
}

static enum outcome take_number(struct call *call)
{
    return may_follow(call, "AND mark = $5::bytea", 5) ? append_line(call) : OUTCOME_DONE;
}

static void line_columns(struct call *call)
{
    rows(call);
    result_column(call->result, PG_INT8);
    for (int i = 0; i < 3; i++)
        result_column(call->result, PG_BYTES);
}

static void add_line(struct call *call, const struct log_line *line, bool omits_entries)
{
    result_add_int(call->result, line->number);
    result_add_bytes(call->result, line->mark);
    result_add_bytes(call->result, line->digest);
    if (omits_entries)
        result_add_null(call->result);
    else
        result_add_bytes(call->result, line->entries);
}

/* The first row from that number on. */
static enum outcome select_mark(struct call *call)
{
    const struct view view = transaction_view(call->session);
    int64_t from = parameter_int(call, 1);
    rows(call);
    result_column(call->result, PG_INT8);
    result_column(call->result, PG_BYTES);
    for (unsigned i = 0; i < view.state->log_count && call->result->rows == 0; i++)
        if (view.state->log[i]->number >= from) {
            result_add_int(call->result, view.state->log[i]->number);
            result_add_bytes(call->result, view.state->log[i]->mark);
        }
    return OUTCOME_DONE;
}

/* "1:500:1795667861001792,2:…"; NULL without rows. */
static void add_epochs(struct call *call, const struct state *state)
{
    struct buf text = {0};
    for (unsigned i = 0; i < state->epoch_count; i++)
        buf_printf(&text, "%s%lld:%lld:%lld", i == 0 ? "" : ",", (long long)state->epochs[i].epoch,
                   (long long)state->epochs[i].number, (long long)state->epochs[i].began_us);
    if (text.len == 0)
        result_add_null(call->result);
    else
        result_add_bytes(call->result, buf_slice(&text));
    buf_free(&text);
}

static void add_newest_epoch(struct call *call, const struct state *state)
{
    if (state->epoch_count == 0)
        result_add_null(call->result);
    else
        result_add_int(call->result, state->epochs[state->epoch_count - 1].epoch);
}

/* One row, whose log columns are NULL if the log is empty; with the epochs, or the newest of them,
 * if they are asked for. */
static enum outcome select_newest(struct call *call)
{
    const struct view view = transaction_view(call->session);
    const struct log_line *head = view_head(&view);
    bool has_epochs = contains(call, "SELECT string_agg(epoch");
    bool has_newest = contains(call, "SELECT max(epoch) FROM berth_epochs");
    bool is_known = contains(call, "CASE WHEN l.mark = $1::bytea THEN NULL ELSE l.entries END") &&
                    head != NULL && slice_equal(head->mark, parameter_bytes(call, 1));
    line_columns(call);
    result_column(call->result, PG_BOOL);
    if (has_epochs || has_newest)
        result_column(call->result, has_epochs ? PG_TEXT : PG_INT8);
    if (head != NULL)
        add_line(call, head, is_known);
    for (int i = 0; head == NULL && i < 4; i++)
        result_add_null(call->result);
    result_add_bool(call->result, false);
    if (has_epochs)
        add_epochs(call, view.state);
    else if (has_newest && is_known)
        result_add_null(call->result);
    else if (has_newest)
        add_newest_epoch(call, view.state);
    return OUTCOME_DONE;
}

/* "batch 500 is gone, as ..." */
static int64_t read_reason(struct slice reason)
{
    static const char begin[] = "batch ";
    check(reason.len > strlen(begin) && memcmp(reason.data, begin, strlen(begin)) == 0);
    return strtoll(reason.data + strlen(begin), NULL, 10);
}

static enum outcome insert_epoch(struct call *call)
{
    struct session *session = call->session;
    const struct epoch_line epoch = {
        .epoch = parameter_int(call, 1),
        .number = parameter_int(call, 2),
        .began_us = parameter_int(call, 3) + PG_EPOCH_S * INT64_C(1000000),
        .gone = read_reason(parameter_bytes(call, 4)),
    };
    uint64_t key = epoch_key(epoch.epoch);
    enum outcome outcome = transaction_take(call, &key, 1);
    const struct view view = transaction_view(session);
    if (outcome != OUTCOME_DONE)
        return outcome;
    for (unsigned i = 0; i < view.state->epoch_count; i++)
        if (view.state->epochs[i].epoch == epoch.epoch)
            return call_fail(call, "23505", "duplicate key value violates \"berth_epochs_pkey\"");
    session->transaction.epoch = epoch;
    return OUTCOME_DONE;
}

static enum outcome select_since(struct call *call)
{
    const struct view view = transaction_view(call->session);
    int64_t from = parameter_int(call, 1);
    int64_t most = parameter_int(call, 2);
    line_columns(call);
    for (unsigned i = 0; i < view.state->log_count; i++)
        if (view.state->log[i]->number >= from && call->result->rows < most)
            add_line(call, view.state->log[i], false);
    return OUTCOME_DONE;
}

/* The same, each row with the newest epoch. */
static enum outcome select_since_and_epoch(struct call *call)
{
    const struct view view = transaction_view(call->session);
    const struct state *state = view.state;
    int64_t from = parameter_int(call, 1);
    int64_t most = parameter_int(call, 2);
    line_columns(call);
    result_column(call->result, PG_INT8);
    for (unsigned i = 0; i < state->log_count; i++) {
        if (state->log[i]->number < from || call->result->rows >= most)
            continue;
        add_line(call, state->log[i], false);
        add_newest_epoch(call, state);
    }
    return OUTCOME_DONE;
}

/* Providers whose rows another transaction has. */
static enum outcome look_for_locked(struct call *call)
{
    enum { ROWS_MOST = 1024 }; /* with a row for each change */
    static struct value ids[ROWS_MOST];
    uint64_t keys[ROW_KEYS];
    size_t count = parameter_array(call, 1, ids, ROWS_MOST);
    for (size_t i = 0; i < count; i++) {
        const struct change image = {.kind = CHANGE_PROVIDER_INSERT, .provider.id = ids[i].integer};
        (void)row_keys(TABLE_PROVIDERS, &image, keys);
        if (transaction_is_taken(call, keys, 1))
            return call_fail(call, "22P02", "invalid input syntax for type integer: \"!%zu\"",
                             i + 1);
        enum outcome taken = transaction_take(call, keys, 1);
        if (taken != OUTCOME_DONE)
            return taken;
    }
    rows(call);
    return OUTCOME_DONE;
}

/* ---- ids ---- */

enum rows_table table_named(struct slice name)
{
    for (int table = 0; table < ROWS_PARENTS; table++)
        if (slice_equal(name, slice_of(rows_name((enum rows_table)table))))
            return (enum rows_table)table;
    return ROWS_TABLE_COUNT;
}

static enum outcome next_ids(struct call *call)
{
    enum rows_table table = table_named(parameter_bytes(call, 2));
    check(table < ROWS_PARENTS);
    rows(call);
    result_column(call->result, PG_INT8);
    for (int64_t left = parameter_int(call, 1); left > 0; left--)
        result_add_int(call->result, ++server.states.sequences[table]);
    return OUTCOME_DONE;
}

static enum outcome class_ids(struct call *call)
{
    const struct view view = transaction_view(call->session);
    int64_t highest = tables_highest_id(view.tables, TABLE_CLASSES);
    highest = highest < 9999 ? 9999 : highest;
    highest = highest < parameter_int(call, 4) ? parameter_int(call, 4) : highest;
    rows(call);
    result_column(call->result, PG_INT8);
    for (int64_t i = 1; i <= parameter_int(call, 1); i++)
        result_add_int(call->result, highest + i);
    return OUTCOME_DONE;
}

static enum outcome mend_sequence(struct call *call)
{
    struct slice rest = slice_of(strstr(call->sql, "pg_get_serial_sequence("));
    (void)slice_cut(&rest, '\'');
    enum rows_table table = table_named(slice_cut(&rest, '\''));
    check(table < ROWS_PARENTS);
    const struct view view = transaction_view(call->session);
    int64_t highest = tables_highest_id(view.tables, (enum table)table);
    static const char least[] = "greatest(max(id), ";
    int64_t floor = strtoll(strstr(call->sql, least) + strlen(least), NULL, 10);
    highest = highest < floor ? floor : highest;
    if (highest > server.states.sequences[table])
        server.states.sequences[table] = highest;
    rows(call);
    return OUTCOME_DONE;
}

/* ---- consumers without a row ---- */

static int64_t next_sequence(struct call *call, enum table table)
{
    (void)call;
    return ++server.states.sequences[table];
}

static int64_t parameter_time(const struct call *call, unsigned at)
{
    return parameter_int(call, at) + PG_EPOCH_S * INT64_C(1000000);
}

static void add_consumer(struct call *call, int64_t id, struct slice uuid)
{
    result_add_int(call->result, id);
    result_add_bytes(call->result, uuid);
}

static enum outcome find_consumers(struct call *call)
{
    static struct value uuids[CONSUMERS_ASKED_MOST];
    size_t count = parameter_array(call, 1, uuids, CONSUMERS_ASKED_MOST);
    rows(call);
    result_column(call->result, PG_INT4);
    result_column(call->result, PG_TEXT);
    consumers_find(call, uuids, count, false, add_consumer);
    consumers_find(call, uuids, count, true, add_consumer);
    return OUTCOME_DONE;
}

static enum outcome create_owner(struct call *call, enum table table)
{
    size_t ignored;
    enum outcome outcome = consumers_create_owner(
        call, table, parameter_time(call, 1), parameter_bytes(call, 2), next_sequence, &ignored);
    if (outcome == OUTCOME_DONE)
        tag(call, "INSERT");
    return outcome;
}

static enum outcome create_project(struct call *call)
{
    return create_owner(call, TABLE_PROJECTS);
}

static enum outcome create_user(struct call *call)
{
    return create_owner(call, TABLE_USERS);
}

static enum outcome create_consumers(struct call *call)
{
    static struct value uuids[CONSUMERS_ASKED_MOST];
    size_t count = parameter_array(call, 4, uuids, CONSUMERS_ASKED_MOST);
    size_t created;
    enum outcome outcome =
        consumers_create(call, parameter_time(call, 1), parameter_bytes(call, 2),
                         parameter_bytes(call, 3), uuids, count, next_sequence, &created);
    if (outcome == OUTCOME_DONE)
        tag(call, "INSERT");
    if (outcome == OUTCOME_DONE)
        call->result->affected = created;
    return outcome;
}

/* ---- all ---- */

static const struct {
    const char *beginning;
    enum outcome (*execute)(struct call *call);
} statements[] = {
    {"SELECT pg_backend_pid()", set_up_session},
    {"SELECT set_config('plan_cache_mode'", set_planner},
    {"SELECT c.relname || '.' || a.attname FROM pg_catalog.pg_attribute", find_collations},
    {"SELECT min(name) FROM unnest($1::text[]) AS t", find_unfinished},
    {"SELECT CASE WHEN l.id IS NULL AND EXISTS (SELECT FROM resource_prov", look_for_locked},
    {"SELECT pg_postmaster_start_time(), (SELECT system_identifier", identify},
    {"SELECT txid_snapshot_xmin(txid_current_snapshot())", select_horizon},
    {"BEGIN", begin},
    {"COMMIT", commit},
    {"ROLLBACK", roll_back},
    {"SELECT pg_advisory_xact_lock(" PG_LOCK_BATCHES ")", take_lock},
    {"SELECT a.pid, pg_terminate_backend(a.pid) FROM pg_locks", end_stalled},
    {"SELECT format('server process %s (%s)%s', a.pid", find_holder},
    {"INSERT INTO berth_log (number, mark, digest, written_at, entries) VALUES", insert_line},
    {"INSERT INTO berth_log (number, mark, digest, written_at, entries) SELECT", take_number},
    {"SELECT number, mark FROM berth_log WHERE number >= ", select_mark},
    {"SELECT number, mark, digest, entries FROM berth_log WHERE number >=", select_since},
    {"SELECT number, mark, digest, entries, (SELECT max(epoch)", select_since_and_epoch},
    {"SELECT l.number, l.mark, l.digest, CASE WHEN l.mark = $1", select_newest},
    {"SELECT l.number, l.mark, l.digest, l.entries, pg_is_in_recovery()", select_newest},
    {"SELECT n.*, (SELECT string_agg(epoch", select_newest},
    {"INSERT INTO berth_epochs (epoch, number, began_at, reason) VALUES", insert_epoch},
    {"SELECT nextval(s.name) FROM", next_ids},
    {"SELECT m.id + g FROM (SELECT greatest(max(id), 9999", class_ids},
    {"SELECT setval(x.s, x.m) FROM", mend_sequence},
    {"SELECT c.id, c.uuid FROM consumers c WHERE c.uuid = ANY", find_consumers},
    {"INSERT INTO projects (created_at, external_id) SELECT", create_project},
    {"INSERT INTO users (created_at, external_id) SELECT", create_user},
    {"INSERT INTO consumers (created_at, uuid, project_id, user_id, generation) SELECT",
     create_consumers},
};
enum { STATEMENTS = sizeof(statements) / sizeof(statements[0]) };

/* In a cluster, what begins a transaction waits until the node has everything that was committed
 * before (wsrep_sync_wait). */
static bool is_behind(struct session *session)
{
    if (!session->awaits)
        session->awaited = server.states.newest;
    session->awaits = true;
    return server.applied[session->node] < session->awaited;
}

enum outcome statement_execute(struct call *call)
{
    const struct transaction *transaction = &call->session->transaction;
    bool ends = strcmp(call->sql, "COMMIT") == 0 || strcmp(call->sql, "ROLLBACK") == 0;
    if (transaction->has_failed && !ends)
        return call_fail(call, "25P02", "current transaction is aborted");
    if (transaction->is_doomed && !ends)
        return call_fail(call, "40P01", "deadlock detected: another node has written the same");
    if (!transaction->is_explicit && !ends && is_behind(call->session))
        return OUTCOME_BLOCKED;
    call->session->awaits = false;
    for (int i = 0; i < STATEMENTS; i++)
        if (strncmp(call->sql, statements[i].beginning, strlen(statements[i].beginning)) == 0)
            return statements[i].execute(call);
    bool is_known = false;
    enum outcome outcome = statement_record(call, &is_known);
    if (!is_known)
        outcome = statement_write(call, &is_known);
    if (!is_known)
        outcome = statement_read(call, &is_known);
    if (!is_known) {
        fprintf(stderr, "the fake server does not know this statement: %s\n", call->sql);
        check(false);
    }
    return outcome;
}
