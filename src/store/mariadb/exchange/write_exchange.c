/* Sends a batch as one text, and says what the server has refused of it.
 *
 * The server executes nothing behind a statement that fails, COMMIT included, so the number of
 * results tells which one it was. The lock decides nothing, as the number of the log's row does: on
 * Galera, the second batch with a number fails when it is certified, or is rolled back while it is
 * executed, which write_texts.h makes sure of. */
#include <stdio.h>

#include "base/arena.h"
#include "base/clock.h"
#include "store/mariadb/exchange/culprit.h"
#include "store/mariadb/exchange/exchanges.h"
#include "store/mariadb/exchange/write_sql.h"
#include "store/mariadb/foreign/foreign_reopen.h"
#include "store/mariadb/log/log_sql.h"
#include "store/mariadb/log/write_texts.h"
#include "store/mariadb/schema/missing.h"
#include "store/mariadb/session/exchange.h"
#include "store/mariadb/session/literal.h"
#include "store/mariadb/session/session_settings.h"
#include "store/mariadb/session/session_state.h"

enum { COMMIT_BYTES_MOST = 1024 }; /* of COMMIT, and of its checks on a cluster */

/* The statements of a chunk: the results before `end` that are not those of an earlier one. */
struct sent_chunk {
    struct bundle chunk;
    size_t begin, end;
};

/* The statements of a batch, by the positions of their results. */
struct mariadb_batch {
    struct arena *arena;
    const struct log_row *row;
    const struct change *changes;
    size_t results;       /* so far */
    size_t log_begin;     /* the log's row, and its check */
    size_t look_begin;    /* the look for locked rows, a statement for each */
    size_t changes_begin; /* the chunks */
    size_t changes_at;    /* the same as a position in the text */
    size_t end;           /* of everything before COMMIT and its checks */
    struct sent_chunk *chunks;
    size_t chunk_count, chunk_capacity;
    bool is_unfit;       /* it is too large for a text */
    size_t unfit_change; /* STORE_UNNAMED: all of them together are */
};

static void append_log(struct mariadb_session *session, const struct server_batch *batch)
{
    session->batch->log_begin = session->batch->results;
    mariadb_log_sql_insert(batch->row, batch->before, &session->sql);
    mariadb_write_append_check(1, &session->sql);
    session->batch->results += 2;
}

/* A row that is not there either is not locked: the statement that changes it says so. */
static void append_look(struct mariadb_session *session, const struct server_batch *batch)
{
    session->batch->look_begin = session->batch->results;
    for (size_t i = 0; i < batch->look->count; i++)
        buf_printf(&session->sql,
                   "SELECT id FROM resource_providers WHERE id=%lld FOR UPDATE NOWAIT;",
                   (long long)batch->look->ids[i]);
    session->batch->results += batch->look->count;
}

/* False: the text has become too large. It is the change's fault only if the chunk has no other
 * one, and would be too large even without the chunks before it. */
static bool append_chunk(struct mariadb_session *session, const struct bundle *chunk, size_t most)
{
    struct mariadb_batch *sent = session->batch;
    size_t before = session->sql.len - sent->changes_at;
    sent->chunks = arena_grow(sent->arena, sent->chunks, sent->chunk_count, &sent->chunk_capacity,
                              sizeof(*sent->chunks));
    struct sent_chunk *added = &sent->chunks[sent->chunk_count++];
    *added = (struct sent_chunk){.chunk = *chunk, .begin = sent->results};
    sent->results += mariadb_write_append(chunk, sent->changes, &session->indexes, &session->sql);
    added->end = sent->results;
    sent->is_unfit = session->sql.len > most;
    if (chunk->count == 1 && session->sql.len - before > most)
        sent->unfit_change = chunk->rows[0].first;
    return !sent->is_unfit;
}

static bool append_changes(struct mariadb_session *session, const struct server_batch *batch,
                           size_t most)
{
    session->batch->changes_begin = session->batch->results;
    session->batch->changes_at = session->sql.len;
    for (size_t i = 0; i < batch->waves->count; i++) {
        const struct bundle *bundle = &batch->waves->bundles[i];
        const struct bundle_limit limit = mariadb_write_limit(bundle->kind);
        struct bundle chunk = {0};
        while (bundle_next_chunk(bundle, batch->changes, &limit, &chunk))
            if (!append_chunk(session, &chunk, most))
                return false;
    }
    return true;
}

static void append_epoch(struct mariadb_session *session, const struct epoch_insert *insert)
{
    if (insert == NULL)
        return;
    buf_printf(&session->sql,
               "INSERT INTO berth_epochs (epoch, number, began_at, reason) VALUES (%lld, %lld, ",
               (long long)insert->row.epoch, (long long)insert->row.number);
    mariadb_literal_instant(&session->sql, insert->row.began_us);
    buf_append_lit(&session->sql, ", ");
    mariadb_literal_text(&session->sql, slice_of(insert->reason));
    buf_append_lit(&session->sql, ");");
    session->batch->results++;
}

/* Nothing is sent. */
static enum server_outcome refuse_unfit(const struct mariadb_session *session, size_t most,
                                        struct err *err)
{
    err_set(err, 503, NULL,
            "the database '%.*s' cannot hold a change whose text has more than %zu bytes "
            "(max_allowed_packet)",
            SLICE_ARG(session->base.target), most);
    return SERVER_REFUSED;
}

enum server_outcome mariadb_batch_send(struct server_session *base,
                                       const struct server_batch *batch, struct arena *arena,
                                       struct err *err)
{
    struct mariadb_session *session = mariadb_session_of(base);
    bool is_cluster = session->server.is_galera;
    size_t most = session->server.text_bytes_most - COMMIT_BYTES_MOST;
    session->batch = arena_zalloc(arena, sizeof(*session->batch));
    *session->batch = (struct mariadb_batch){.arena = arena,
                                             .row = batch->row,
                                             .changes = batch->changes,
                                             .unfit_change = STORE_UNNAMED};
    session->sql.len = 0;
    base->commit = SERVER_COMMIT_NONE;
    if (!batch->has_lock) {
        mariadb_write_texts_lock(is_cluster, base->options.lock_timeout_ms, NULL, &session->sql);
        session->batch->results += MARIADB_LOCK_RESULTS;
    }
    append_log(session, batch);
    append_look(session, batch);
    if (!append_changes(session, batch, most))
        return refuse_unfit(session, most, err);
    append_epoch(session, batch->epoch);
    session->batch->end = session->batch->results;
    size_t commit =
        mariadb_write_texts_commit(is_cluster, batch->row, session->batch->end, &session->sql);
    const struct mariadb_text text = {
        .sql = buf_slice(&session->sql), .commit = commit, .what = "written"};
    return mariadb_text_start(session, &text, NULL, 0, err);
}

/* ---- its outcome ---- */

/* Whether the check after COMMIT has to be made again. */
static bool is_unsettled(const struct mariadb_session *session)
{
    return !session->progress.is_open && session->base.commit == SERVER_COMMIT_SENT;
}

static enum server_outcome check_again(struct mariadb_session *session, uint64_t deadline_us,
                                       struct err *err)
{
    struct buf sql = {0};
    struct err failed = {.arena = err->arena};
    buf_append_lit(&sql, MARIADB_ROLLBACK ";");
    mariadb_log_sql_check_later(session, session->batch->row, NULL, &sql);
    const struct mariadb_text text = {.sql = buf_slice(&sql), .commit = 1, .what = "written"};
    enum server_outcome outcome =
        mariadb_session_execute(session, &text, NULL, 0, NULL, deadline_us, &failed);
    buf_free(&sql);
    if (outcome == SERVER_OK)
        return SERVER_OK;
    if (outcome != SERVER_REFUSED || session->failure.kind != MARIADB_NOT_FOUND) {
        mariadb_exchange_drop(session);
        session->base.commit = SERVER_COMMIT_UNKNOWN;
        err_set_text(err, failed.status, failed.code, failed.message);
        return SERVER_LOST;
    }
    session->failure.kind = MARIADB_CONFLICT;
    session->failure.result = session->batch->end;
    return server_failure_set(SERVER_RETRY, session->base.target, "written",
                              SLICE_LIT("another node's transaction has won"), err);
}

enum server_outcome mariadb_batch_drive(struct server_session *base, uint64_t until_us,
                                        uint64_t deadline_us, struct err *err)
{
    struct mariadb_session *session = mariadb_session_of(base);
    enum server_outcome outcome = SERVER_RETRY;
    if (!is_unsettled(session))
        outcome = mariadb_text_drive(session, until_us, deadline_us, err);
    if (!is_unsettled(session))
        return outcome;
    *err = (struct err){.arena = err->arena};
    return check_again(session, deadline_us, err);
}

enum server_outcome mariadb_batch_receive(struct server_session *base, struct err *err)
{
    struct mariadb_session *session = mariadb_session_of(base);
    enum server_outcome outcome = mariadb_text_receive(session, err);
    return is_unsettled(session) ? SERVER_WOKEN : outcome;
}

/* Any other error ends a text at once. */
bool mariadb_has_failed(const struct server_session *base)
{
    return is_unsettled(mariadb_session_of_const(base));
}

/* ---- what was refused ---- */

/* Which row of an INSERT it was, as the server remembers until the next statement; 0: it does not
 * tell. MySQL, and MariaDB before 10.7, do not know ROW_NUMBER. */
static size_t ask_row(struct mariadb_session *session, uint64_t deadline_us)
{
    const struct mariadb_text text = {
        .sql = SLICE_LIT("GET DIAGNOSTICS CONDITION 1 @berth_row=ROW_NUMBER;SELECT @berth_row"),
        .what = "read"};
    struct err ignored = {.arena = session->batch->arena};
    struct mariadb_rows rows[2] = {0};
    int64_t row = 0;
    if (!session->server.is_mariadb || session->server.version < 100700)
        return 0;
    if (mariadb_session_execute(session, &text, rows, 2, NULL, deadline_us, &ignored) !=
            SERVER_OK ||
        !mariadb_rows_int(&rows[1], 0, 0, &row) || row < 0)
        row = 0;
    mariadb_rows_free(&rows[0]);
    mariadb_rows_free(&rows[1]);
    return (size_t)row;
}

/* The results: ROLLBACK; SET; and these. */
enum { MISSING_ROWS = 2, MISSING_RESULTS };

/* The change whose row was not there, as far as that can be seen once everything is undone. */
static size_t ask_missing(struct mariadb_session *session, const struct bundle *chunk,
                          uint64_t deadline_us)
{
    struct err ignored = {.arena = session->batch->arena};
    struct mariadb_rows rows[MISSING_RESULTS] = {0};
    struct buf sql = {0};
    size_t change = SIZE_MAX;
    if (chunk->count == 1)
        return chunk->rows[0].first;
    buf_append_lit(&sql, MARIADB_ROLLBACK ";");
    bool is_asked = mariadb_missing_append(chunk, session->batch->changes, &sql);
    const struct mariadb_text text = {.sql = buf_slice(&sql), .what = "read"};
    if (is_asked && mariadb_session_execute(session, &text, rows, MISSING_RESULTS, NULL,
                                            deadline_us, &ignored) == SERVER_OK)
        change = mariadb_missing_find(chunk, session->batch->changes, &rows[MISSING_ROWS]);
    mariadb_rows_free(&rows[0]);
    mariadb_rows_free(&rows[MISSING_ROWS]);
    buf_free(&sql);
    return change;
}

/* Whether a node of a cluster has rolled the transaction back and gone on with the text, so that
 * what is refused is a second transaction without the rows of the first. */
static bool is_second_transaction(struct mariadb_session *session, uint64_t deadline_us)
{
    struct err ignored = {.arena = session->batch->arena};
    struct buf sql = {0};
    if (!session->server.is_galera)
        return false;
    mariadb_log_sql_check(session->batch->row, &sql);
    const struct mariadb_text text = {.sql = buf_slice(&sql), .what = "read"};
    bool is_there =
        mariadb_session_execute(session, &text, NULL, 0, NULL, deadline_us, &ignored) == SERVER_OK;
    buf_free(&sql);
    return !is_there;
}

static void name_key(const struct mariadb_row_failure *failure, const struct bundle *chunk,
                     struct server_refusal *refusal)
{
    struct slice key = mariadb_failed_key(failure);
    bool is_link = chunk->kind == BUNDLE_PROVIDER_TRAIT_INSERT ||
                   chunk->kind == BUNDLE_PROVIDER_AGGREGATE_INSERT; /* they have no ids */
    snprintf(refusal->columns, sizeof(refusal->columns), "%.*s", SLICE_ARG(key));
    if (!is_link && slice_equal(key, SLICE_LIT("PRIMARY")))
        refusal->reason = SERVER_REASON_DUPLICATE_ID;
}

static void name_change(struct mariadb_session *session, const struct sent_chunk *sent,
                        uint64_t deadline_us, struct server_refusal *refusal)
{
    const struct mariadb_failure told = session->failure;
    const struct bundle *chunk = &sent->chunk;
    size_t row = ask_row(session, deadline_us);
    if (is_second_transaction(session, deadline_us)) {
        refusal->reason = SERVER_REASON_CONFLICT;
        return;
    }
    refusal->part = SERVER_PART_CHANGES;
    if (mariadb_write_is_check((unsigned)(told.result - sent->begin))) {
        size_t missing = ask_missing(session, chunk, deadline_us);
        refusal->reason = SERVER_REASON_NOT_FOUND;
        refusal->change = missing == SIZE_MAX ? STORE_UNNAMED : missing;
        return;
    }
    /* Not berth's message, in which the server's follows the name of the database. */
    struct mariadb_row_failure failure = {
        .error = told.code, .message = slice_of(told.message), .row = row};
    size_t change = mariadb_culprit(chunk, session->batch->changes, &failure);
    refusal->change = change == SIZE_MAX ? STORE_UNNAMED : change;
    if (refusal->reason == SERVER_REASON_DUPLICATE)
        name_key(&failure, chunk, refusal);
}

struct server_refusal mariadb_batch_refusal(struct server_session *base, struct slice message,
                                            uint64_t deadline_us)
{
    (void)message; /* session->failure has what matters of it */
    struct mariadb_session *session = mariadb_session_of(base);
    const struct mariadb_batch *sent = session->batch;
    size_t result = session->failure.result;
    struct server_refusal refusal = {
        .reason = mariadb_session_reason(session), .row = SIZE_MAX, .change = STORE_UNNAMED};
    if (session->failure.is_broken_table) {
        if (!mariadb_foreign_mend(session, deadline_us))
            refusal.reason = SERVER_REASON_OTHER;
        return refusal;
    }
    if (sent->is_unfit) {
        refusal.part = SERVER_PART_CHANGES;
        refusal.reason = SERVER_REASON_CANNOT_HOLD;
        refusal.change = sent->unfit_change;
    } else if (result >= sent->log_begin && result < sent->look_begin) {
        refusal.part = SERVER_PART_LOG;
    } else if (result >= sent->look_begin && result < sent->changes_begin) {
        refusal.part = SERVER_PART_LOOK;
        refusal.row = result - sent->look_begin;
    }
    if (result >= sent->end && refusal.reason == SERVER_REASON_NOT_FOUND)
        refusal.reason = SERVER_REASON_CONFLICT; /* rolled back between two statements */
    for (size_t i = 0; refusal.part == SERVER_PART_OTHER && i < sent->chunk_count; i++)
        if (result >= sent->chunks[i].begin && result < sent->chunks[i].end)
            name_change(session, &sent->chunks[i], deadline_us, &refusal);
    return refusal;
}
