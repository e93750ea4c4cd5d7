/* Sends a batch in one round trip, and says what the server has refused of it.
 *
 * The lock decides nothing, as the number of the log's row does. It is taken all the same, because
 * whoever writes without it would overtake those that wait for it. */
#include <stdio.h>

#include "base/arena.h"
#include "base/clock.h"
#include "store/postgres/exchange/detail.h"
#include "store/postgres/exchange/exchanges.h"
#include "store/postgres/exchange/write_sql.h"
#include "store/postgres/log/write_texts.h"
#include "store/postgres/session/pipeline.h"
#include "store/postgres/session/session_state.h"

enum {
    STATEMENT_ROWS_MOST = 8192,
    STATEMENT_BYTES_MOST = 64 << 20, /* the server takes no message of a gigabyte */
};

/* A row that is not there either is not locked: the statement that changes it says so. */
static const char LOCKED_ROWS[] =
    "SELECT CASE WHEN l.id IS NULL AND EXISTS (SELECT FROM resource_providers t WHERE t.id = p.id)"
    " THEN ('!' || p.n)::int END FROM unnest($1::int[]) WITH ORDINALITY AS p (id, n)"
    " LEFT JOIN (SELECT id FROM resource_providers WHERE id = ANY ($1::int[])"
    " FOR NO KEY UPDATE SKIP LOCKED) l ON l.id = p.id";
static const char EPOCH_INSERT[] = "INSERT INTO berth_epochs (epoch, number, began_at, reason)"
                                   " VALUES ($1::bigint, $2::bigint, $3::timestamp, $4::text)";

/* The statements of a batch. */
struct pg_batch {
    struct arena *arena;
    const struct change *changes;
    size_t statements;     /* queued so far */
    size_t log_statement;  /* the position of the log's */
    size_t look_statement; /* that of the look for locked rows; 0: there is none */
    size_t first_chunk;    /* that of the first chunk */
    struct bundle *chunks; /* of the statements from there on */
    size_t chunk_count, chunk_capacity;
    bool is_out_of_range;
    size_t nul_change; /* the first change with U+0000 in a text; STORE_UNNAMED: none has */
};

static bool queue_sql(struct pg_session *session, const char *sql,
                      const struct pg_parameter *parameters, size_t count, struct err *err)
{
    session->batch->statements++;
    return pg_pipeline_queue_text(session, sql, parameters, count, "written", err) == SERVER_OK;
}

static bool queue_begin(struct pg_session *session, const struct server_batch *batch,
                        struct err *err)
{
    if (batch->has_lock)
        return true;
    session->batch->statements++;
    return pg_pipeline_queue_begin(session, PG_BEGIN_WRITE, err) == SERVER_OK &&
           queue_sql(session, PG_TAKE_LOCK, NULL, 0, err);
}

static bool queue_log(struct pg_session *session, const struct server_batch *batch, struct err *err)
{
    struct pg_parameter parameters[PG_LOG_INSERT_PARAMETERS];
    pg_log_insert_parameters(batch->row, batch->before, parameters);
    session->batch->log_statement = session->batch->statements;
    return queue_sql(session, PG_LOG_INSERT, parameters, PG_LOG_INSERT_PARAMETERS, err);
}

static bool queue_look(struct pg_session *session, const struct server_batch *batch,
                       struct err *err)
{
    struct pg_array *ids = &session->arrays[0];
    if (batch->look->count == 0)
        return true;
    pg_array_begin(ids, PG_INT4_ARRAY);
    for (size_t i = 0; i < batch->look->count; i++)
        pg_array_add_int(ids, batch->look->ids[i]);
    const struct pg_parameter parameter = pg_array_parameter(ids);
    session->batch->look_statement = session->batch->statements;
    return queue_sql(session, LOCKED_ROWS, &parameter, 1, err);
}

static bool queue_chunk(struct pg_session *session, const struct bundle *chunk, struct err *err)
{
    struct pg_batch *sent = session->batch;
    struct pg_array *arrays = session->arrays;
    struct pg_parameter parameters[WRITE_SQL_ARRAYS_MOST];
    struct buf sql = {0};
    size_t count = write_sql_fill(chunk, sent->changes, arrays);
    for (size_t i = 0; i < count; i++) {
        sent->is_out_of_range |= arrays[i].is_out_of_range;
        if (arrays[i].nul_at < chunk->count)
            sent->nul_change = chunk->rows[arrays[i].nul_at].first;
        parameters[i] = pg_array_parameter(&arrays[i]);
    }
    sent->chunks = arena_grow(sent->arena, sent->chunks, sent->chunk_count, &sent->chunk_capacity,
                              sizeof(*sent->chunks));
    sent->chunks[sent->chunk_count++] = *chunk;
    write_sql_append(chunk->kind, &sql);
    bool ok = queue_sql(session, sql.data, parameters, count, err);
    buf_free(&sql);
    return ok;
}

static bool queue_changes(struct pg_session *session, const struct server_batch *batch,
                          struct err *err)
{
    const struct bundle_limit limit = {STATEMENT_ROWS_MOST, STATEMENT_BYTES_MOST, write_sql_bytes};
    session->batch->first_chunk = session->batch->statements;
    for (size_t i = 0; i < batch->waves->count; i++) {
        struct bundle chunk = {0};
        while (bundle_next_chunk(&batch->waves->bundles[i], batch->changes, &limit, &chunk))
            if (!queue_chunk(session, &chunk, err))
                return false;
    }
    return true;
}

static bool queue_epoch(struct pg_session *session, const struct server_batch *batch,
                        struct err *err)
{
    const struct epoch_insert *insert = batch->epoch;
    if (insert == NULL)
        return true;
    const struct pg_parameter parameters[] = {
        pg_int8(insert->row.epoch), pg_int8(insert->row.number), pg_timestamp(insert->row.began_us),
        pg_text(slice_of(insert->reason))};
    const struct pg_statement statement = {
        .sql = EPOCH_INSERT, .parameters = parameters, .parameters_n = 4, .what = "written"};
    return pg_pipeline_queue(session, &statement, err) == SERVER_OK;
}

/* A value cannot even be sent. */
static enum server_outcome refuse_unfit(struct pg_session *session, struct err *err)
{
    const char *what =
        session->batch->nul_change == STORE_UNNAMED ? "a number of 64 bits" : "a text with U+0000";
    pg_session_close(session);
    err_set(err, 503, NULL, "the database '%.*s' cannot hold %s", SLICE_ARG(session->url.target),
            what);
    return SERVER_REFUSED;
}

static bool is_unfit(const struct pg_session *session)
{
    return session->batch->nul_change != STORE_UNNAMED || session->batch->is_out_of_range;
}

enum server_outcome pg_batch_send(struct server_session *base, const struct server_batch *batch,
                                  struct arena *arena, struct err *err)
{
    struct pg_session *session = pg_session_of(base);
    const struct pg_statement commit = {.sql = "COMMIT", .is_commit = true, .what = "written"};
    session->batch = arena_zalloc(arena, sizeof(*session->batch));
    *session->batch =
        (struct pg_batch){.arena = arena, .changes = batch->changes, .nul_change = STORE_UNNAMED};
    session->base.commit = SERVER_COMMIT_NONE;
    bool is_queued = pg_pipeline_begin(session, err) == SERVER_OK &&
                     queue_begin(session, batch, err) && queue_log(session, batch, err) &&
                     queue_look(session, batch, err) && queue_changes(session, batch, err);
    if (is_queued && is_unfit(session))
        return refuse_unfit(session, err);
    is_queued = is_queued && queue_epoch(session, batch, err) &&
                pg_pipeline_queue(session, &commit, err) == SERVER_OK;
    return is_queued ? pg_pipeline_start(session, err) : SERVER_LOST;
}

/* ---- what was refused ---- */

/* The change because of which the statement of the chunk failed; STORE_UNNAMED: the error does not
 * tell. */
static size_t find_culprit(const struct pg_batch *sent, const struct bundle *chunk,
                           const struct pg_failure *failure)
{
    struct bundle_key key;
    if (!pg_detail_key(slice_of(failure->detail), sizeof(failure->detail) - 1, &key))
        return STORE_UNNAMED;
    return bundle_find(chunk, sent->changes, &key);
}

static bool is_of_id(const struct bundle *chunk, const struct pg_failure *failure)
{
    static const char end[] = "_pkey";
    size_t len = strlen(failure->constraint);
    bool is_link = chunk->kind == BUNDLE_PROVIDER_TRAIT_INSERT ||
                   chunk->kind == BUNDLE_PROVIDER_AGGREGATE_INSERT; /* they have no ids */
    return !is_link && len >= sizeof(end) - 1 &&
           strcmp(failure->constraint + len - (sizeof(end) - 1), end) == 0;
}

static void name_change(const struct pg_session *session, struct slice message,
                        struct server_refusal *refusal)
{
    const struct pg_batch *sent = session->batch;
    const struct pg_failure *failure = &session->failure;
    const struct bundle *chunk = &sent->chunks[failure->statement - sent->first_chunk];
    bool is_cast = strcmp(failure->sqlstate, "22P02") == 0;
    size_t row = is_cast ? write_sql_row(message) : SIZE_MAX;
    if (row < chunk->count) {
        refusal->reason = SERVER_REASON_NOT_FOUND;
        refusal->change = chunk->rows[row].first;
        return;
    }
    refusal->change = find_culprit(sent, chunk, failure);
    if (refusal->reason != SERVER_REASON_DUPLICATE)
        return;
    snprintf(refusal->columns, sizeof(refusal->columns), "%s", failure->constraint);
    if (is_of_id(chunk, failure))
        refusal->reason = SERVER_REASON_DUPLICATE_ID;
}

struct server_refusal pg_batch_refusal(struct server_session *base, struct slice message,
                                       uint64_t deadline_us)
{
    const struct pg_session *session = pg_session_of(base);
    const struct pg_batch *sent = session->batch;
    const struct pg_failure *failure = &session->failure;
    (void)deadline_us;
    struct server_refusal refusal = {
        .reason = pg_session_reason(session), .row = SIZE_MAX, .change = STORE_UNNAMED};
    if (is_unfit(session)) {
        refusal.part = SERVER_PART_CHANGES;
        refusal.reason = SERVER_REASON_CANNOT_HOLD;
        refusal.change = sent->nul_change;
    } else if (failure->statement == sent->log_statement) {
        refusal.part = SERVER_PART_LOG;
    } else if (sent->look_statement > 0 && failure->statement == sent->look_statement) {
        refusal.part = SERVER_PART_LOOK;
        refusal.row = write_sql_row(message);
    } else if (failure->statement >= sent->first_chunk &&
               failure->statement - sent->first_chunk < sent->chunk_count) {
        refusal.part = SERVER_PART_CHANGES;
        name_change(session, message, &refusal);
    }
    return refusal;
}
