/* The dialect of MariaDB and MySQL: the functions that need no file of their own, and the table. */
#include "store/mariadb/exchange/exchanges.h"
#include "store/mariadb/foreign/foreign_log.h"
#include "store/mariadb/foreign/foreign_triggers.h"
#include "store/mariadb/report/facts.h"
#include "store/mariadb/report/inspect.h"
#include "store/mariadb/report/value_facts.h"
#include "store/mariadb/schema/migrate.h"
#include "store/mariadb/session/restoring.h"
#include "store/mariadb/session/session_state.h"
#include "store/mariadb/session/variables.h"
#include "store/server/dialects.h"

static const struct value_forms forms = {.has_whole_seconds = true, .has_single_ratios = true};

static const void *mariadb_parse(struct slice url, struct arena *arena, struct slice *target,
                                 struct err *err)
{
    struct mariadb_url *parsed = arena_zalloc(arena, sizeof(*parsed));
    if (!mariadb_url_parse(url, SLICE_LIT(""), arena, parsed, err))
        return NULL;
    *target = parsed->target;
    return parsed;
}

static struct slice mariadb_ignored(const void *url)
{
    const struct mariadb_url *parsed = url;
    return parsed->ignored;
}

static struct server_session *mariadb_create(const struct server_session_options *options)
{
    return &mariadb_session_create(options)->base;
}

static void mariadb_destroy(struct server_session *session)
{
    mariadb_session_destroy(mariadb_session_of(session));
}

static enum server_outcome mariadb_reach(struct server_session *session, uint64_t deadline_us,
                                         struct err *err)
{
    return mariadb_session_connect(mariadb_session_of(session), deadline_us, err);
}

static void mariadb_leave(struct server_session *session)
{
    mariadb_session_close(mariadb_session_of(session));
}

static bool mariadb_is_open(const struct server_session *session)
{
    return mariadb_session_is_open(mariadb_session_of_const(session));
}

static int mariadb_socket(const struct server_session *session)
{
    return mariadb_session_socket(mariadb_session_of_const(session));
}

static void mariadb_notice_end(struct server_session *session)
{
    mariadb_session_notice_end(mariadb_session_of(session));
}

static bool mariadb_in_transaction(const struct server_session *session)
{
    return mariadb_session_in_transaction(mariadb_session_of_const(session));
}

static enum server_outcome mariadb_rollback(struct server_session *session, const char *what,
                                            uint64_t deadline_us, struct err *err)
{
    return mariadb_session_rollback(mariadb_session_of(session), what, deadline_us, err);
}

static enum server_reason mariadb_reason(const struct server_session *session)
{
    return mariadb_session_reason(mariadb_session_of_const(session));
}

/* Of MARIADB_*_INDEX. */
static void read_indexes(const struct mariadb_rows *rows, struct mariadb_indexes *indexes)
{
    *indexes = (struct mariadb_indexes){0};
    for (size_t i = 0; i < mariadb_rows_count(rows); i++) {
        struct slice name = mariadb_rows_bytes(rows, i, 0);
        indexes->has_inventory_index |= slice_equal(name, SLICE_LIT(MARIADB_INVENTORY_INDEX));
        indexes->has_consumer_index |= slice_equal(name, SLICE_LIT(MARIADB_CONSUMER_INDEX));
        indexes->has_provider_index |= slice_equal(name, SLICE_LIT(MARIADB_PROVIDER_INDEX));
    }
}

/* The variable keeps what berth writes out of berth_foreign. To find the indexes, the server opens
 * the tables, which a change of the schema may end on Galera. */
static const char READY[] =
    MARIADB_IS_WRITER ";SELECT @@read_only;"
                      "SELECT DISTINCT index_name FROM information_schema.statistics"
                      " WHERE table_schema=DATABASE() AND index_name IN ('" MARIADB_INVENTORY_INDEX
                      "', '" MARIADB_CONSUMER_INDEX "', '" MARIADB_PROVIDER_INDEX "')";
enum { READ_ONLY_RESULT = 1, INDEXES_RESULT, READY_RESULTS };

static enum server_outcome mariadb_ready(struct server_session *base, uint64_t deadline_us,
                                         struct err *err)
{
    struct mariadb_session *session = mariadb_session_of(base);
    struct mariadb_rows rows[READY_RESULTS] = {0};
    const struct mariadb_text text = {.sql = slice_of(READY), .what = "used"};
    enum server_outcome outcome;
    struct err failed;
    do {
        failed = (struct err){.arena = err->arena};
        outcome = mariadb_session_execute(session, &text, rows, READY_RESULTS, NULL, deadline_us,
                                          &failed);
    } while (mariadb_session_tries_again(session, outcome, deadline_us));
    if (outcome != SERVER_OK)
        (void)!err_set_text(err, failed.status, failed.code, failed.message);
    if (outcome == SERVER_OK &&
        !mariadb_value_accepts_writes(mariadb_rows_bytes(&rows[READ_ONLY_RESULT], 0, 0))) {
        err_set(err, 503, NULL, "the database '%.*s' %s", SLICE_ARG(base->target),
                mariadb_dialect.standby);
        outcome = SERVER_RETRY;
    }
    read_indexes(&rows[INDEXES_RESULT], &session->indexes);
    for (size_t i = 0; i < READY_RESULTS; i++)
        mariadb_rows_free(&rows[i]);
    return outcome;
}

static bool mariadb_start(struct server_session *session, bool sync, uint64_t deadline_us,
                          struct err *err)
{
    return mariadb_migrate_at_start(mariadb_session_of(session), sync, deadline_us, err);
}

static bool mariadb_check_schema(struct server_session *session,
                                 char revision[static STORE_REVISION_BYTES], uint64_t deadline_us,
                                 struct err *err)
{
    return mariadb_migrate_check_served(mariadb_session_of(session), revision, deadline_us, err);
}

static enum server_outcome mariadb_notes_move(struct server_session *session, uint64_t *moved,
                                              uint64_t deadline_us, struct err *err)
{
    return mariadb_foreign_log_move(mariadb_session_of(session), moved, deadline_us, err);
}

static bool mariadb_is_sent(struct server_session *session)
{
    return mariadb_text_is_sent(mariadb_session_of(session));
}

const struct server_dialect mariadb_dialect = {
    .is_served = true,
    .url_matches = mariadb_url_matches,
    .url_parse = mariadb_parse,
    .url_ignored = mariadb_ignored,
    .create = mariadb_create,
    .destroy = mariadb_destroy,
    .connect = mariadb_reach,
    .close = mariadb_leave,
    .is_open = mariadb_is_open,
    .socket = mariadb_socket,
    .notice_end = mariadb_notice_end,
    .in_transaction = mariadb_in_transaction,
    .rollback = mariadb_rollback,
    .reason = mariadb_reason,
    .limits = &mariadb_value_limits,
    .limits_read = mariadb_value_facts_read,
    .forms = &forms,
    .standby = "is read-only: writes need a server that accepts them",
    .make_ready = mariadb_ready,
    .check_restored = mariadb_restoring_check,
    .start = mariadb_start,
    .check_schema = mariadb_check_schema,
    .facts = mariadb_facts_read,
    .inspect = mariadb_inspect,
    .batch_drive = mariadb_batch_drive,
    .batch_receive = mariadb_batch_receive,
    .has_failed = mariadb_has_failed,
    .is_sent = mariadb_is_sent,
    .snapshot_begin = mariadb_snapshot_begin,
    .snapshot_ask = mariadb_snapshot_ask,
    .snapshot_look = mariadb_snapshot_look,
    .rows_stream = mariadb_rows_stream,
    .rows_find = mariadb_rows_find,
    .rows_examine = mariadb_rows_examine,
    .consumers_find = mariadb_consumers_find,
    .rows_ids = mariadb_rows_ids,
    .question_ask = mariadb_question_ask,
    .question_send = mariadb_question_send,
    .question_receive = mariadb_question_receive,
    .lock_send = mariadb_lock_send,
    .lock_drive = mariadb_lock_drive,
    .batch_send = mariadb_batch_send,
    .batch_refusal = mariadb_batch_refusal,
    .log_first = mariadb_log_first,
    .lock_wait = mariadb_lock_wait,
    .lock_leave = mariadb_lock_leave,
    .number_take = mariadb_number_take,
    .ids_reserve = mariadb_ids_reserve,
    .ids_mend = mariadb_ids_mend,
    .consumers_create = mariadb_consumers_create,
    .namesakes = mariadb_namesakes,
    .names_alike = mariadb_names_alike,
    .row_holder = mariadb_row_holder,
    .stalled_end = mariadb_stalled_end,
    .ask_write = mariadb_ask_write,
    .ask_delete = mariadb_ask_delete,
    .asks_read = mariadb_asks_read,
    .instance_write = mariadb_instance_write,
    .instance_delete = mariadb_instance_delete,
    .log_oldest = mariadb_log_oldest,
    .log_delete = mariadb_log_delete,
    .notes_move = mariadb_notes_move,
};
