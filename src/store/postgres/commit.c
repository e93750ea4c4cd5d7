/* Commits a batch in one round trip: the lock, the row of the log, the changes, COMMIT.
 *
 * The row's number is a primary key, so of two instances that write on top of the same state one
 * waits for the other and is then refused: the order of all batches is that of the log. The lock
 * decides nothing. It is taken all the same, because whoever writes without it would overtake those
 * that wait for it (lock.c). Nothing here waits, apart from a connection that has to be made: while
 * the batch is pending, the writer looks after it now and then. The writer only. */
#include <stdio.h>

#include "base/arena.h"
#include "base/clock.h"
#include "log/log.h"
#include "store/log_changes.h"
#include "store/postgres/detail.h"
#include "store/postgres/failure.h"
#include "store/postgres/unknown.h"
#include "store/postgres/write_sql.h"
#include "store/waves.h"

enum {
    STATEMENT_ROWS_MOST = 8192,
    STATEMENT_BYTES_MOST = 64 << 20, /* the server takes no message of a gigabyte */
    LOG_NUMBER_PARAMETERS = 6,
    GIVEN_UP_MS = 1000,
    FAILURES_MOST = 2, /* in a row, after each of which the batch is planned again */
    SEEN_MS = 100,     /* for which an answer may come after what it tells was seen */
};

static const char LOCK_NOT_AVAILABLE[] = "55P03";
static const char DEADLOCK[] = "40P01";
static const char SERIALIZATION_FAILURE[] = "40001";
static const char READ_ONLY[] = "25006";
static const char UNIQUE_VIOLATION[] = "23505";
static const char FOREIGN_KEY_VIOLATION[] = "23503";
/* The number becomes NULL, which is refused, unless the row before is there: a database that went
 * back would otherwise take the batch on top of a state that it does not have. */
const char POSTGRES_LOG_INSERT[] =
    "INSERT INTO berth_log (number, mark, digest, written_at, entries)"
    " VALUES (CASE WHEN CASE WHEN $1::bigint > 1 THEN EXISTS (SELECT FROM berth_log WHERE number ="
    " $1::bigint - 1 AND mark = $6::bytea) ELSE NOT EXISTS (SELECT FROM berth_log) END"
    " THEN $1::bigint END, $2::bytea, $3::bytea, $4::timestamp, $5::bytea)";

static const char EPOCH_INSERT[] = "INSERT INTO berth_epochs (epoch, number, began_at, reason)"
                                   " VALUES ($1::bigint, $2::bigint, $3::timestamp, $4::text)";

static bool sqlstate_is(const struct pg_failure *failure, const char *state)
{
    return strcmp(failure->sqlstate, state) == 0;
}

static bool sqlstate_begins(const struct pg_failure *failure, const char *class)
{
    return strncmp(failure->sqlstate, class, strlen(class)) == 0;
}

/* ---- the pipeline ---- */

/* A batch on its way to the server. */
struct sending {
    struct postgres_store *store;
    struct store_batch batch;
    struct arena *arena;
    uint64_t deadline_us; /* then the server must have answered */
    bool has_commit;      /* COMMIT is among what is sent */
    bool is_given_up;
    bool is_unknown;    /* unknown.h finds out what became of it */
    struct err failure; /* if is_unknown: why */
    bool has_outcome;   /* it was received at once, and store_await() is to decide on it: */
    enum server_outcome outcome;
    struct err outcome_err;
    struct log_row row;
    unsigned char mark[LOG_MARK_LEN];
    unsigned char before[LOG_DIGEST_LEN];
    size_t log_statement;  /* its position in the pipeline */
    size_t look_statement; /* that of the look for locked rows; 0: there is none */
    struct locked_look look;
    size_t first_chunk;    /* that of the first chunk */
    size_t statements;     /* queued so far */
    struct bundle *chunks; /* of the statements after the log's */
    size_t chunk_count, chunk_capacity;
    bool is_impossible; /* the database cannot hold the batch */
    bool is_out_of_range;
    size_t nul_change; /* the first change with U+0000 in a text; STORE_UNNAMED: none has */
};

static size_t changes_of(const struct store_batch *batch)
{
    return batch->requests == 0 ? 0 : batch->ends[batch->requests - 1];
}

static bool queue_sql(struct sending *sending, const char *sql,
                      const struct pg_parameter *parameters, size_t count, struct err *err)
{
    const struct pg_statement statement = {.sql = sql,
                                           .parameters = parameters,
                                           .parameters_n = count,
                                           .binary_results = true,
                                           .is_prepared = true,
                                           .what = "written"};
    sending->statements++;
    return pg_pipeline_queue(sending->store->writer, &statement, err) == SERVER_OK;
}

static bool queue_begin(struct sending *sending, struct err *err)
{
    if (sending->store->is_locked)
        return true;
    sending->statements++;
    return pg_pipeline_queue_begin(sending->store->writer, POSTGRES_BEGIN, err) == SERVER_OK &&
           queue_sql(sending, POSTGRES_LOCK, NULL, 0, err);
}

static bool queue_log(struct sending *sending, struct err *err)
{
    const struct log_row *row = &sending->row;
    const struct pg_parameter parameters[LOG_NUMBER_PARAMETERS] = {
        pg_int8(row->number),
        pg_bytes(row->mark),
        pg_bytes(row->before),
        pg_timestamp(clock_wall_us()),
        pg_bytes(row->entries),
        pg_bytes((struct slice){(const char *)sending->store->followed.mark, LOG_MARK_LEN}),
    };
    sending->log_statement = sending->statements;
    return queue_sql(sending, POSTGRES_LOG_INSERT, parameters, LOG_NUMBER_PARAMETERS, err);
}

static bool queue_look(struct sending *sending, struct err *err)
{
    struct postgres_store *store = sending->store;
    const struct store_batch *batch = &sending->batch;
    if (locked_rows_ask(&store->locked, &sending->look, sending->arena, batch->changes,
                        changes_of(batch), &store->arrays[0]) == 0)
        return true;
    const struct pg_parameter ids = pg_array_parameter(&store->arrays[0]);
    sending->look_statement = sending->statements;
    return queue_sql(sending, LOCKED_ROWS_SQL, &ids, 1, err);
}

static bool queue_chunk(struct sending *sending, const struct bundle *chunk, struct err *err)
{
    struct postgres_store *store = sending->store;
    struct pg_parameter parameters[WRITE_SQL_ARRAYS_MOST];
    struct buf sql = {0};
    size_t count = write_sql_fill(chunk, sending->batch.changes, store->arrays);
    for (size_t i = 0; i < count; i++) {
        sending->is_out_of_range |= store->arrays[i].is_out_of_range;
        if (store->arrays[i].nul_at < chunk->count)
            sending->nul_change = chunk->rows[store->arrays[i].nul_at].first;
        parameters[i] = pg_array_parameter(&store->arrays[i]);
    }
    sending->chunks = arena_grow(sending->arena, sending->chunks, sending->chunk_count,
                                 &sending->chunk_capacity, sizeof(*sending->chunks));
    sending->chunks[sending->chunk_count++] = *chunk;
    write_sql_append(chunk->kind, &sql);
    bool ok = queue_sql(sending, sql.data, parameters, count, err);
    buf_free(&sql);
    return ok;
}

/* A value cannot even be sent. */
static bool is_unfit(const struct sending *sending)
{
    return sending->nul_change != STORE_UNNAMED || sending->is_out_of_range;
}

static bool queue_changes(struct sending *sending, struct err *err)
{
    const struct bundle_limit limit = {STATEMENT_ROWS_MOST, STATEMENT_BYTES_MOST, write_sql_bytes};
    const struct waves waves = waves_arrange(&sending->batch, sending->arena);
    sending->first_chunk = sending->statements;
    for (size_t i = 0; i < waves.count; i++) {
        struct bundle chunk = {0};
        while (bundle_next_chunk(&waves.bundles[i], sending->batch.changes, &limit, &chunk))
            if (!queue_chunk(sending, &chunk, err))
                return false;
    }
    sending->is_impossible = is_unfit(sending);
    if (sending->nul_change != STORE_UNNAMED)
        return err_set(err, 503, NULL, "the database '%.*s' cannot hold a text with U+0000",
                       SLICE_ARG(sending->store->url.target));
    if (sending->is_out_of_range)
        return err_set(err, 503, NULL, "the database '%.*s' cannot hold a number of 64 bits",
                       SLICE_ARG(sending->store->url.target));
    return true;
}

static bool queue_epoch(struct sending *sending, struct err *err)
{
    struct epoch_insert insert;
    if (!epochs_begin(&sending->store->epochs, sending->row.number, &insert))
        return true;
    const struct pg_parameter parameters[] = {pg_int8(insert.row.epoch), pg_int8(insert.row.number),
                                              pg_timestamp(insert.row.began_us),
                                              pg_text(slice_of(insert.reason))};
    const struct pg_statement statement = {
        .sql = EPOCH_INSERT, .parameters = parameters, .parameters_n = 4, .what = "written"};
    return pg_pipeline_queue(sending->store->writer, &statement, err) == SERVER_OK;
}

static bool queue_commit(struct sending *sending, struct err *err)
{
    const struct pg_statement commit = {.sql = "COMMIT", .is_commit = true, .what = "written"};
    sending->has_commit = true;
    return pg_pipeline_queue(sending->store->writer, &commit, err) == SERVER_OK;
}

static bool queue_all(struct sending *sending, struct err *err)
{
    struct pg_session *session = sending->store->writer;
    return pg_pipeline_begin(session, err) == SERVER_OK && queue_begin(sending, err) &&
           queue_log(sending, err) && queue_look(sending, err) && queue_changes(sending, err) &&
           queue_epoch(sending, err) && queue_commit(sending, err);
}

/* The changes themselves, unless others have to read the tables. */
static void make_entries(struct postgres_store *store, const struct store_batch *batch)
{
    size_t count = changes_of(batch);
    store->touched.len = 0;
    if (store->unlogged.count == 0 && count > 0 &&
        log_changes_append(&store->touched, batch->changes, count))
        return;
    for (size_t i = 0; i < store->unlogged.count; i++)
        log_append_entry(&store->touched, &store->unlogged.data[i]);
    log_append_all(&store->touched, batch->changes, count);
}

/* Names what the batch changes, in the row of the log. */
static void make_row(struct sending *sending)
{
    struct postgres_store *store = sending->store;
    const struct store_batch *batch = &sending->batch;
    make_entries(store, batch);
    postgres_make_mark(store, sending->mark);
    memcpy(sending->before, store->followed.digest, LOG_DIGEST_LEN);
    sending->row = (struct log_row){
        .number = store->followed.number + 1,
        .mark = {(const char *)sending->mark, LOG_MARK_LEN},
        .before = {(const char *)sending->before, LOG_DIGEST_LEN},
        .entries = buf_slice(&store->touched),
    };
}

/* ---- what came of it ---- */

/* Nothing was written, because of what others have written: the batch is to be planned again. */
static enum store_result again(const struct postgres_store *store, struct err *err)
{
    *err = (struct err){.arena = err->arena};
    err_set(err, 503, NULL, "other processes keep writing to the database '%.*s'",
            SLICE_ARG(store->url.target));
    return STORE_TAKEN;
}

/* The change because of which the statement of the chunk failed; STORE_UNNAMED: the error does not
 * tell. */
static size_t find_culprit(const struct sending *sending, const struct bundle *chunk,
                           const struct pg_failure *failure)
{
    struct bundle_key key;
    if (!pg_detail_key(slice_of(failure->detail), sizeof(failure->detail) - 1, &key))
        return STORE_UNNAMED;
    return bundle_find(chunk, sending->batch.changes, &key);
}

static bool constraint_ends_with(const char *text, const char *end)
{
    size_t len = strlen(text);
    return len >= strlen(end) && strcmp(text + len - strlen(end), end) == 0;
}

/* Another session has locked a row that the batch changes. */
static enum store_result refuse_locked(const struct sending *sending, struct err *err)
{
    const struct store_batch *batch = &sending->batch;
    bool is_new = sending->store->locked.is_unnamed;
    size_t change =
        locked_rows_find(&sending->store->locked, &sending->look, batch->changes, err->message);
    bool is_named = change != SIZE_MAX;
    if (is_named && is_new)
        postgres_log_lock_holder(sending->store, locked_rows_provider(&batch->changes[change]));
    sending->store->refusal = (struct store_refusal){
        .change = is_named ? change : STORE_UNNAMED,
        .request = is_named ? bundle_request_of(batch, change) : STORE_UNNAMED,
        .is_locked = true,
    };
    *err = (struct err){.arena = err->arena};
    err_set(err, 503, NULL, "the database '%.*s': another session has locked the row of a provider",
            SLICE_ARG(sending->store->url.target));
    return STORE_REFUSED;
}

/* A statement that writes a chunk was refused. */
static enum store_result refuse(struct sending *sending, const struct pg_failure *failure,
                                struct err *err)
{
    struct postgres_store *store = sending->store;
    const struct bundle *chunk = &sending->chunks[failure->statement - sending->first_chunk];
    size_t row = sqlstate_is(failure, "22P02") ? write_sql_row(err->message) : SIZE_MAX;
    bool is_known_row = row < chunk->count;
    bool is_duplicate = sqlstate_is(failure, UNIQUE_VIOLATION);
    bool is_link = chunk->kind == BUNDLE_PROVIDER_TRAIT_INSERT ||
                   chunk->kind == BUNDLE_PROVIDER_AGGREGATE_INSERT; /* they have no ids */
    /* What was planned is valid in memory: so another program inserted or deleted a row. */
    bool is_foreign = is_duplicate || sqlstate_is(failure, FOREIGN_KEY_VIOLATION);
    bool is_id_taken =
        is_duplicate && !is_link && constraint_ends_with(failure->constraint, "_pkey");
    if (is_id_taken && !store->has_mended) {
        store->mends_sequences = true; /* somebody inserted rows without the sequence */
        return again(store, err);
    }
    size_t change = is_known_row ? chunk->rows[row].first : find_culprit(sending, chunk, failure);
    store->refusal = (struct store_refusal){
        .change = change,
        .request =
            change == STORE_UNNAMED ? STORE_UNNAMED : bundle_request_of(&sending->batch, change),
        .is_duplicate = is_duplicate,
        .cannot_hold =
            !is_known_row && (sqlstate_begins(failure, "22") || sqlstate_begins(failure, "54")),
        .memory_is_wrong = is_known_row || is_foreign,
        .is_locked = sqlstate_is(failure, LOCK_NOT_AVAILABLE),
    };
    if (store->refusal.is_locked)
        locked_rows_wait_ended(&store->locked);
    if (is_duplicate)
        snprintf(store->refusal.columns, sizeof(store->refusal.columns), "%s", failure->constraint);
    if (store->refusal.memory_is_wrong)
        postgres_suspect_refused(
            store, change == STORE_UNNAMED ? NULL : &sending->batch.changes[change], is_duplicate);
    return STORE_REFUSED;
}

/* What the limits (value_limits.h) do not tell: nothing was sent. */
static enum store_result refuse_unfit(struct sending *sending)
{
    size_t change = sending->nul_change;
    sending->store->refusal = (struct store_refusal){
        .change = change,
        .request =
            change == STORE_UNNAMED ? STORE_UNNAMED : bundle_request_of(&sending->batch, change),
        .cannot_hold = true,
    };
    return STORE_REFUSED;
}

static enum store_result failed(struct sending *sending, enum server_outcome outcome,
                                struct err *err)
{
    struct postgres_store *store = sending->store;
    const struct pg_failure *failure = pg_session_failure(store->writer);
    bool is_answer =
        outcome == SERVER_REFUSED || outcome == SERVER_RETRY || outcome == SERVER_FAILED;
    if (outcome == SERVER_REFUSED && failure->statement == sending->log_statement) {
        store->crowded = POSTGRES_CROWDED;
        return again(store, err);
    }
    bool is_late = is_answer && sqlstate_is(failure, LOCK_NOT_AVAILABLE);
    if (outcome == SERVER_REFUSED && sending->look_statement > 0 &&
        failure->statement == sending->look_statement)
        return refuse_locked(sending, err);
    if ((outcome == SERVER_REFUSED || is_late) && failure->statement >= sending->first_chunk &&
        failure->statement - sending->first_chunk < sending->chunk_count)
        return refuse(sending, failure, err);
    store->waits_in_vain = is_late;
    if (store->waits_in_vain)
        store->crowded = POSTGRES_CROWDED; /* reads are answered between attempts to lock */
    bool is_conflict =
        sqlstate_is(failure, DEADLOCK) || sqlstate_is(failure, SERIALIZATION_FAILURE);
    if (store->waits_in_vain || (is_answer && is_conflict))
        return again(store, err);
    if (is_answer && outcome == SERVER_RETRY && !sqlstate_is(failure, READ_ONLY) &&
        store->failures++ < FAILURES_MOST)
        return STORE_TAKEN; /* err says why */
    store->failures = 0;
    /* COMMIT was not executed: another connection may do better */
    return outcome == SERVER_LOST ? again(store, err) : STORE_FAILED;
}

/* Without an answer to COMMIT, of which the server may have got enough to execute it. */
static enum store_result become_unknown(struct sending *sending, struct err *err)
{
    struct postgres_store *store = sending->store;
    sending->failure = *err;
    *err = (struct err){.arena = err->arena};
    sending->is_unknown = true;
    postgres_unknown_begin(store->unknown, &sending->row, &store->followed);
    if (sending->is_given_up)
        postgres_unknown_give_up(store->unknown);
    return STORE_PENDING;
}

/* The batch was found to be committed, by that session: memory is to have its state, unless the
 * server has been replaced since. Its successor may not have the batch, so what became of it there
 * is to be found out. */
static enum store_result trust(struct sending *sending, const struct pg_session *session,
                               struct err *err)
{
    struct postgres_store *store = sending->store;
    struct log_state state;
    check(log_row_state(&sending->row, &state));
    if (postgres_head_note(store->head, &state, NULL, &pg_session_server(session)->id, true))
        return STORE_OK;
    pg_session_close(store->writer);
    postgres_refuse_replaced(store, "written", err);
    return become_unknown(sending, err);
}

static enum store_result take_outcome(struct sending *sending, enum server_outcome outcome,
                                      struct err *err)
{
    if (outcome == SERVER_WOKEN)
        return STORE_PENDING;
    enum pg_commit commit =
        sending->has_commit ? pg_session_commit(sending->store->writer) : PG_COMMIT_NONE;
    /* a connection that ends after the answer to COMMIT changes nothing */
    if (outcome == SERVER_OK || commit == PG_COMMIT_DONE)
        return trust(sending, sending->store->writer, err);
    if (commit == PG_COMMIT_UNKNOWN)
        return become_unknown(sending, err);
    return failed(sending, outcome, err);
}

/* A batch whose wait for a standby has ended, and that is on a server which was promoted since, had
 * reached that standby: as when a primary is shut down for a planned switch. */
static void forget_wait_if_promoted(const struct postgres_store *store,
                                    const struct pg_session *session)
{
    const struct server_id *before = &pg_session_server(store->writer)->id;
    const struct server_id *now = &pg_session_server(session)->id;
    if (now->system == before->system && now->timeline > before->timeline)
        (void)!pg_session_take_unreplicated(store->writer);
}

static enum store_result take_answer_about_unknown(struct sending *sending, uint64_t until_us,
                                                   struct err *err)
{
    const struct err *failure = &sending->failure;
    enum store_result result = postgres_unknown_wait(sending->store->unknown, until_us);
    if (result == STORE_TAKEN)
        return again(sending->store, err);
    if (result == STORE_OK) {
        const struct pg_session *session = postgres_unknown_session(sending->store->unknown);
        forget_wait_if_promoted(sending->store, session);
        return trust(sending, session, err);
    }
    if (result == STORE_UNKNOWN)
        err_set(err, failure->status, failure->code, "%.*s", SLICE_ARG(failure->message));
    return result;
}

/* The batch is committed, and everybody sees it, so its requests are answered as committed: a
 * client that was refused would repeat what has happened. But the primary alone has it. */
static void note_unreplicated(struct postgres_store *store)
{
    if (!pg_session_take_unreplicated(store->writer))
        return;
    counter_add(&store->unreplicated, 1);
    log_write(LOG_LEVEL_WARNING, "berth", LOG_NO_CONTEXT,
              "the database '%.*s': somebody cancelled the wait for a synchronous standby; batch "
              "%lld is committed, but a failover may lose it",
              SLICE_ARG(store->url.target), (long long)store->followed.number);
}

/* The batch is in the log: memory counts as having its state. */
static void note_committed(const struct sending *sending, struct store_stamp *stamp)
{
    struct postgres_store *store = sending->store;
    check(log_row_state(&sending->row, &store->followed));
    note_unreplicated(store);
    epochs_commit(&store->epochs, store->followed.number);
    postgres_remember(store);
    counter_set(&store->epoch, (uint64_t)epochs_newest(&store->epochs).epoch);
    log_entries_free(&store->unlogged);
    log_entries_free(&store->refused);
    store->crowded -= store->crowded > 0;
    store->has_mended = false;
    store->failures = 0;
    locked_rows_passed(&store->locked, &sending->look, sending->batch.changes);
    counter_set(&store->log_head, (uint64_t)store->followed.number);
    *stamp = log_state_stamp(&store->followed, store->foreign.taken);
}

static enum store_result send_batch(struct postgres_store *store, const struct store_batch *batch,
                                    struct err *err)
{
    struct sending *sending = arena_zalloc(err->arena, sizeof(*sending));
    *sending = (struct sending){.store = store,
                                .batch = *batch,
                                .arena = err->arena,
                                .deadline_us = postgres_lock_deadline(store),
                                .nul_change = STORE_UNNAMED};
    make_row(sending);
    bool is_queued = queue_all(sending, err);
    if (!is_queued && sending->is_impossible) {
        pg_session_close(store->writer);
        return refuse_unfit(sending);
    }
    postgres_hand_over_ids(store);
    store->sending = sending;
    store->seen = (struct postgres_seen){0};
    enum server_outcome outcome = is_queued ? pg_pipeline_start(store->writer, err) : SERVER_LOST;
    return outcome == SERVER_OK ? STORE_PENDING : take_outcome(sending, outcome, err);
}

/* Whether memory has the newest state. */
static enum store_result confirm(struct postgres_store *store, struct store_stamp *stamp,
                                 struct err *err)
{
    enum store_news news = postgres_begin_read(&store->base, err);
    if (news == STORE_NEWS_FAILED)
        return STORE_FAILED;
    if (postgres_end_read(&store->base, stamp) && news == STORE_NEWS_NONE)
        return STORE_OK;
    return again(store, err);
}

/* The batch could refer to what another program had written to the server that memory was read
 * from, and that is gone. The log does not tell, so everything is read from the new one. */
static enum store_result read_again(struct postgres_store *store, struct err *err)
{
    pg_session_close(store->writer);
    pg_session_close(store->follower);
    return again(store, err);
}

static bool has_usable_writer(const struct postgres_store *store)
{
    return pg_session_is_open(store->writer) && !pg_session_has_moved(store->writer);
}

static enum store_result try_commit(struct postgres_store *store, const struct store_batch *batch,
                                    struct store_stamp *stamp, struct err *err)
{
    if (!store->has_state || store->suspects.count > 0)
        return again(store, err);
    if (postgres_lacks_id(&store->base, err))
        return STORE_FAILED;
    if (changes_of(batch) == 0 && !batch->must_commit)
        return confirm(store, stamp, err);
    if (store->must_not_wait && !has_usable_writer(store))
        return again(store, err);
    if (!store->must_not_wait && !store->is_locked && !postgres_ensure_writer(store, err))
        return STORE_FAILED;
    if (!store->is_locked &&
        !postgres_is_server_of_memory(store, &pg_session_server(store->writer)->id))
        return read_again(store, err);
    return send_batch(store, batch, err);
}

/* The result, or STORE_PENDING. */
static enum store_result commit_decide(struct postgres_store *store, enum store_result result,
                                       struct store_stamp *stamp)
{
    if (result == STORE_PENDING)
        return result;
    if (store->sending != NULL) {
        if (result == STORE_OK)
            note_committed(store->sending, stamp);
        postgres_decide_ids(store, result == STORE_OK || result == STORE_UNKNOWN);
        store->sending = NULL;
    }
    postgres_unlock(&store->base);
    if (store->waits_in_vain)
        postgres_end_stalled(store);
    store->waits_in_vain = false;
    if (store->mends_sequences) {
        store->has_mended = true;
        struct err ignored = postgres_ignored(store);
        store->mends_sequences = !(postgres_ensure_session(store, store->writer, &ignored) &&
                                   postgres_mend_sequences(store, store->writer, &ignored));
    }
    return result;
}

enum store_result postgres_commit(struct store *base, const struct store_batch *batch,
                                  struct store_stamp *stamp, bool *foreign, struct err *err)
{
    struct postgres_store *store = postgres_of(base);
    check(!store->read.is_open && !store->is_locking && store->sending == NULL);
    *foreign = false;
    return commit_decide(store, try_commit(store, batch, stamp, err), stamp);
}

/* A read has found the batch's row: it is committed, and the answer to it does not come. */
static bool is_answer_lost(const struct sending *sending)
{
    const struct postgres_seen *seen = &sending->store->seen;
    return seen->at_us != 0 && seen->number == sending->row.number &&
           memcmp(seen->mark, sending->mark, LOG_MARK_LEN) == 0 && !sending->is_unknown &&
           clock_monotonic_us() - seen->at_us > SEEN_MS * UINT64_C(1000);
}

enum store_result postgres_await(struct store *base, uint64_t until_us, struct store_stamp *stamp,
                                 bool *foreign, struct err *err)
{
    struct postgres_store *store = postgres_of(base);
    struct sending *sending = store->sending;
    check(!store->read.is_open && sending != NULL);
    *foreign = false;
    if (is_answer_lost(sending)) {
        pg_session_close(store->writer);
        (void)server_failure_set(SERVER_LOST, store->url.target, "written",
                                 SLICE_LIT("the answer to a commit does not come"), err);
        return commit_decide(store, become_unknown(sending, err), stamp);
    }
    if (sending->is_unknown)
        return commit_decide(store, take_answer_about_unknown(sending, until_us, err), stamp);
    if (sending->has_outcome) {
        sending->has_outcome = false;
        *err = sending->outcome_err;
        return commit_decide(store, take_outcome(sending, sending->outcome, err), stamp);
    }
    enum server_outcome outcome =
        pg_pipeline_drive(store->writer, NULL, until_us, sending->deadline_us, err);
    return commit_decide(store, take_outcome(sending, outcome, err), stamp);
}

void postgres_give_up(struct store *base)
{
    const struct postgres_store *store = postgres_of(base);
    uint64_t latest_us = clock_monotonic_us() + GIVEN_UP_MS * UINT64_C(1000);
    struct sending *sending = store->sending;
    if (sending == NULL || sending->is_given_up)
        return;
    sending->is_given_up = true;
    if (sending->is_unknown)
        postgres_unknown_give_up(store->unknown);
    else if (sending->deadline_us > latest_us)
        sending->deadline_us = latest_us;
}

/* ---- at once ---- */

bool postgres_begin_at_once(struct store *base)
{
    struct postgres_store *store = postgres_of(base);
    check(!store->read.is_open && store->sending == NULL && !store->is_locked);
    pg_session_notice_end(store->writer);
    store->must_not_wait =
        store->has_state && store->suspects.count == 0 && !store->mends_sequences &&
        !store->is_locking && !postgres_locks_first(base) && has_usable_writer(store) &&
        postgres_is_server_of_memory(store, &pg_session_server(store->writer)->id);
    return store->must_not_wait;
}

void postgres_end_at_once(struct store *base)
{
    postgres_of(base)->must_not_wait = false;
}

int postgres_pending_descriptor(const struct store *base)
{
    const struct postgres_store *store = postgres_of_const(base);
    const struct sending *sending = store->sending;
    return sending != NULL && !sending->is_unknown && !sending->has_outcome &&
                   !pg_pipeline_has_failed(store->writer) && pg_pipeline_is_sent(store->writer)
               ? pg_session_socket(store->writer)
               : -1;
}

/* Only the answer that is usual is taken: what follows from any other one may take long. */
enum store_received postgres_receive(struct store *base, struct store_stamp *stamp, bool *foreign)
{
    struct postgres_store *store = postgres_of(base);
    struct sending *sending = store->sending;
    check(!store->read.is_open && sending != NULL && !sending->is_unknown);
    *foreign = false;
    struct err err = {.arena = sending->arena};
    enum server_outcome outcome = pg_pipeline_receive(store->writer, NULL, &err);
    if (outcome == SERVER_WOKEN)
        return pg_pipeline_has_failed(store->writer) ? STORE_RECEIVED_OTHER : STORE_RECEIVED_PART;
    if (outcome == SERVER_OK && !store->mends_sequences &&
        take_outcome(sending, outcome, &err) == STORE_OK) {
        (void)commit_decide(store, STORE_OK, stamp);
        return STORE_RECEIVED_COMMIT;
    }
    sending->has_outcome = !sending->is_unknown;
    sending->outcome = outcome;
    sending->outcome_err = err;
    return STORE_RECEIVED_OTHER;
}
