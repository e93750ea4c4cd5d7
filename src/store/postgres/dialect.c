/* The dialect of PostgreSQL: the functions that need no file of their own, and the table. */
#include "store/postgres/exchange/exchanges.h"
#include "store/postgres/foreign/foreign_log.h"
#include "store/postgres/report/collation.h"
#include "store/postgres/report/facts.h"
#include "store/postgres/report/inspect.h"
#include "store/postgres/schema/migrate.h"
#include "store/postgres/session/pipeline.h"
#include "store/postgres/session/restoring.h"
#include "store/postgres/session/session_state.h"
#include "store/server/dialects.h"

const char pg_standby[] = "is a standby: writes need the primary (see target_session_attrs)";

static const struct value_limits limits = {.has_lengths = true, .refuses_nul = true};

static const struct value_forms forms = {0};

static const void *url_parse(struct slice url, struct arena *arena, struct slice *target,
                             struct err *err)
{
    struct pg_url *parsed = arena_zalloc(arena, sizeof(*parsed));
    if (!pg_url_parse(url, SLICE_LIT(""), arena, parsed, err))
        return NULL;
    *target = parsed->target;
    return parsed;
}

static struct server_session *dialect_create(const struct server_session_options *options)
{
    return &pg_session_create(options)->base;
}

static void destroy(struct server_session *session)
{
    pg_session_destroy(pg_session_of(session));
}

static enum server_outcome dialect_connect(struct server_session *session, uint64_t deadline_us,
                                           struct err *err)
{
    return pg_session_connect(pg_session_of(session), deadline_us, err);
}

static void dialect_close(struct server_session *session)
{
    pg_session_close(pg_session_of(session));
}

static bool dialect_is_open(const struct server_session *session)
{
    return pg_session_is_open(pg_session_of_const(session));
}

static int dialect_socket(const struct server_session *session)
{
    return pg_session_socket(pg_session_of_const(session));
}

static void notice_end(struct server_session *session)
{
    pg_session_notice_end(pg_session_of(session));
}

static bool in_transaction(const struct server_session *session)
{
    return pg_session_in_transaction(pg_session_of_const(session));
}

static enum server_outcome dialect_rollback(struct server_session *session, const char *what,
                                            uint64_t deadline_us, struct err *err)
{
    return pg_session_run(pg_session_of(session), "ROLLBACK", what, deadline_us, err);
}

static enum server_reason dialect_reason(const struct server_session *session)
{
    return pg_session_reason(pg_session_of_const(session));
}

static enum server_outcome check_restored(struct server_session *session, uint64_t deadline_us,
                                          struct err *err)
{
    return pg_restoring_check(pg_session_of(session), deadline_us, err);
}

static bool dialect_start(struct server_session *session, bool sync, uint64_t deadline_us,
                          struct err *err)
{
    return pg_migrate_at_start(pg_session_of(session), sync, deadline_us, err) &&
           pg_collation_check(pg_session_of(session), deadline_us, err);
}

static bool dialect_check_schema(struct server_session *session,
                                 char revision[static STORE_REVISION_BYTES], uint64_t deadline_us,
                                 struct err *err)
{
    return pg_migrate_check_served(pg_session_of(session), revision, deadline_us, err);
}

static bool dialect_facts(struct server_session *session, struct store_server *facts,
                          uint64_t deadline_us, struct err *err)
{
    return pg_facts_read(pg_session_of(session), facts, deadline_us, err);
}

static enum server_outcome dialect_inspect(struct server_session *session, const char *own,
                                           struct arena *arena, struct store_report *report,
                                           uint64_t deadline_us, struct err *err)
{
    return pg_inspect(pg_session_of(session), own, arena, report, deadline_us, err);
}

static enum server_outcome batch_drive(struct server_session *session, uint64_t until_us,
                                       uint64_t deadline_us, struct err *err)
{
    return pg_pipeline_drive(pg_session_of(session), NULL, until_us, deadline_us, err);
}

static enum server_outcome batch_receive(struct server_session *session, struct err *err)
{
    return pg_pipeline_receive(pg_session_of(session), NULL, err);
}

static bool has_failed(const struct server_session *session)
{
    return pg_pipeline_has_failed(pg_session_of_const(session));
}

static bool is_sent(struct server_session *session)
{
    return pg_pipeline_is_sent(pg_session_of(session));
}

static enum server_outcome notes_move(struct server_session *session, uint64_t *moved,
                                      uint64_t deadline_us, struct err *err)
{
    return foreign_log_move(pg_session_of(session), moved, deadline_us, err);
}

const struct server_dialect pg_dialect = {
    .is_served = true,
    .url_matches = pg_url_matches,
    .url_parse = url_parse,
    .create = dialect_create,
    .destroy = destroy,
    .connect = dialect_connect,
    .close = dialect_close,
    .is_open = dialect_is_open,
    .socket = dialect_socket,
    .notice_end = notice_end,
    .in_transaction = in_transaction,
    .rollback = dialect_rollback,
    .reason = dialect_reason,
    .limits = &limits,
    .forms = &forms,
    .standby = pg_standby,
    .make_ready = pg_make_ready,
    .check_restored = check_restored,
    .start = dialect_start,
    .check_schema = dialect_check_schema,
    .facts = dialect_facts,
    .inspect = dialect_inspect,
    .snapshot_begin = pg_snapshot_begin,
    .snapshot_ask = pg_snapshot_ask,
    .snapshot_look = pg_snapshot_look,
    .rows_stream = pg_rows_stream,
    .rows_find = pg_rows_find,
    .rows_examine = pg_rows_examine,
    .consumers_find = pg_consumers_find,
    .rows_ids = pg_rows_ids,
    .question_ask = pg_question_ask,
    .question_send = pg_question_send,
    .question_receive = pg_question_receive,
    .lock_send = pg_lock_send,
    .lock_drive = pg_lock_drive,
    .batch_send = pg_batch_send,
    .batch_drive = batch_drive,
    .batch_receive = batch_receive,
    .has_failed = has_failed,
    .is_sent = is_sent,
    .batch_refusal = pg_batch_refusal,
    .log_first = pg_log_first,
    .lock_wait = pg_lock_wait,
    .lock_leave = pg_lock_leave,
    .number_take = pg_number_take,
    .ids_reserve = pg_ids_reserve,
    .ids_mend = pg_ids_mend,
    .consumers_create = pg_consumers_create,
    .namesakes = pg_namesakes,
    .row_holder = pg_row_holder,
    .stalled_end = pg_stalled_end,
    .instance_write = pg_instance_write,
    .instance_delete = pg_instance_delete,
    .log_oldest = pg_log_oldest,
    .log_delete = pg_log_delete,
    .notes_move = notes_move,
};
