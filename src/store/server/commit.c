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
#include "store/server/dialect.h"
#include "store/server/unknown.h"

enum {
    GIVEN_UP_MS = 1000,
    FAILURES_MOST = 2, /* in a row, after each of which the batch is planned again */
    IN_VAIN_MS = 5000, /* of attempts that others win, after which all sessions connect again */
    SEEN_MS = 100,     /* for which an answer may come after what it tells was seen */
};

/* ---- the batch ---- */

/* A batch on its way to the server. */
struct sending {
    struct server_store *store;
    struct store_batch batch;
    struct arena *arena;
    uint64_t began_us;
    uint64_t deadline_us; /* then the server must have answered */
    uint64_t losses;      /* of the head, when it was sent */
    uint64_t resolve_us;  /* until then, what became of it is found out; 0: it is not unknown */
    bool is_given_up;
    bool is_unknown;    /* unknown.h finds out what became of it */
    struct err failure; /* if is_unknown: why */
    bool has_outcome;   /* it was received at once, and store_await() is to decide on it: */
    enum server_outcome outcome;
    struct err outcome_err;
    struct log_row row;
    unsigned char mark[LOG_MARK_LEN];
    struct log_state before;
    struct locked_look look;
    struct waves waves;
    struct epoch_insert epoch;
};

static size_t changes_of(const struct store_batch *batch)
{
    return batch->requests == 0 ? 0 : batch->ends[batch->requests - 1];
}

/* The changes themselves, unless others have to read the tables. */
static void make_entries(struct server_store *store, const struct store_batch *batch)
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
    struct server_store *store = sending->store;
    const struct store_batch *batch = &sending->batch;
    make_entries(store, batch);
    server_make_mark(store, sending->mark);
    sending->before = store->followed;
    sending->row = (struct log_row){
        .number = store->followed.number + 1,
        .mark = {(const char *)sending->mark, LOG_MARK_LEN},
        .before = {(const char *)sending->before.digest, LOG_DIGEST_LEN},
        .entries = buf_slice(&store->touched),
    };
}

/* ---- what came of it ---- */

/* Nothing was written, because of what others have written: the batch is to be planned again. */
static enum store_result again(const struct server_store *store, struct err *err)
{
    *err = (struct err){.arena = err->arena};
    err_set(err, 503, NULL, "other processes keep writing to the database '%.*s'",
            SLICE_ARG(store->address.target));
    return STORE_TAKEN;
}

static size_t request_of(const struct sending *sending, size_t change)
{
    return change == STORE_UNNAMED ? STORE_UNNAMED : bundle_request_of(&sending->batch, change);
}

/* Another session has locked a row that the batch changes. */
static enum store_result refuse_locked(const struct sending *sending, size_t row, struct err *err)
{
    struct server_store *store = sending->store;
    bool is_new = store->locked.is_unnamed;
    size_t found = locked_rows_find(&store->locked, &sending->look, row);
    size_t change = found == SIZE_MAX ? STORE_UNNAMED : found;
    if (found != SIZE_MAX && is_new)
        server_log_lock_holder(store, sending->look.ids[row]);
    store->refusal = (struct store_refusal){
        .change = change, .request = request_of(sending, change), .is_locked = true};
    *err = (struct err){.arena = err->arena};
    err_set(err, 503, NULL, "the database '%.*s': another session has locked the row of a provider",
            SLICE_ARG(store->address.target));
    return STORE_REFUSED;
}

/* A change was refused. What was planned is valid in memory: so if a row is there twice, or one
 * that it refers to is not, another program inserted or deleted it. */
static enum store_result refuse(struct sending *sending, const struct server_refusal *why,
                                struct err *err)
{
    struct server_store *store = sending->store;
    bool is_id_taken = why->reason == SERVER_REASON_DUPLICATE_ID;
    bool is_duplicate = why->reason == SERVER_REASON_DUPLICATE || is_id_taken;
    if (is_id_taken) { /* somebody inserted rows without the sequence */
        server_drop_ids(store);
        store->mends_sequences = true;
        if (!store->has_mended)
            return again(store, err);
    }
    if (is_id_taken)
        server_drop_ids(store); /* or the next batch would have the same ones */
    store->refusal = (struct store_refusal){
        .change = why->change,
        .request = request_of(sending, why->change),
        .is_duplicate = is_duplicate,
        .cannot_hold = why->reason == SERVER_REASON_CANNOT_HOLD,
        .memory_is_wrong = is_duplicate || why->reason == SERVER_REASON_REFERENCE ||
                           why->reason == SERVER_REASON_NOT_FOUND,
        .is_locked = why->reason == SERVER_REASON_LOCKED,
    };
    if (store->refusal.is_locked)
        locked_rows_wait_ended(&store->locked);
    if (is_duplicate)
        memcpy(store->refusal.columns, why->columns, sizeof(why->columns));
    if (store->refusal.memory_is_wrong)
        store->refusal.memory_is_wrong =
            server_suspect_refused(store, &sending->batch, why->change, is_duplicate);
    return STORE_REFUSED;
}

static enum store_result failed(struct sending *sending, enum server_outcome outcome,
                                struct err *err)
{
    struct server_store *store = sending->store;
    bool is_answer =
        outcome == SERVER_REFUSED || outcome == SERVER_RETRY || outcome == SERVER_FAILED;
    struct server_refusal why = {0};
    if (is_answer)
        why = store->writer->dialect->batch_refusal(store->writer, err->message,
                                                    server_deadline(store));
    bool is_late = why.reason == SERVER_REASON_LOCKED;
    counter_add(&store->conflicts, why.reason == SERVER_REASON_CONFLICT);
    if (outcome == SERVER_REFUSED && why.part == SERVER_PART_LOG) {
        store->crowded = SERVER_CROWDED;
        server_asks_refused(store);
        return again(store, err);
    }
    if ((outcome == SERVER_REFUSED || is_late) && why.part == SERVER_PART_LOOK)
        return refuse_locked(sending, why.row, err);
    if ((outcome == SERVER_REFUSED || is_late) && why.part == SERVER_PART_CHANGES)
        return refuse(sending, &why, err);
    store->waits_in_vain = is_late;
    if (store->waits_in_vain)
        store->crowded = SERVER_CROWDED; /* reads are answered between attempts to lock */
    if (why.reason == SERVER_REASON_CONFLICT)
        server_asks_refused(store);
    if (store->waits_in_vain || why.reason == SERVER_REASON_CONFLICT)
        return again(store, err);
    if (outcome == SERVER_RETRY && why.reason != SERVER_REASON_READ_ONLY &&
        store->failures++ < FAILURES_MOST)
        return STORE_TAKEN; /* err says why */
    store->failures = 0;
    /* COMMIT was not executed: another connection may do better */
    return outcome == SERVER_LOST ? again(store, err) : STORE_FAILED;
}

/* Without an answer to COMMIT, of which the server may have got enough to execute it. */
static enum store_result become_unknown(struct sending *sending, struct err *err)
{
    struct server_store *store = sending->store;
    sending->failure = *err;
    *err = (struct err){.arena = err->arena};
    sending->is_unknown = true;
    if (sending->resolve_us == 0)
        sending->resolve_us = clock_monotonic_us() + UNKNOWN_RESOLVE_S * UINT64_C(1000000);
    server_unknown_begin(store->unknown, &sending->row, &store->followed, sending->resolve_us);
    if (sending->is_given_up)
        server_unknown_give_up(store->unknown);
    return STORE_PENDING;
}

/* The batch was found to be committed, by that session, after so many losses: memory is to have its
 * state, unless the server has been replaced since, or a snapshot shows that the batch may be gone
 * again. Then what became of it is to be found out once more, and by new sessions, as those may be
 * to different halves of a cluster that has split. */
static enum store_result trust(struct sending *sending, const struct server_session *session,
                               uint64_t losses, struct err *err)
{
    struct server_store *store = sending->store;
    struct log_state state;
    check(log_row_state(&sending->row, &state));
    bool may_be_gone = server_head_losses(store->head) != losses;
    if (!may_be_gone && server_head_note(store->head, &state, NULL, &session->id, true))
        return STORE_OK;
    server_session_close(store->writer);
    if (may_be_gone) {
        server_session_close(store->follower);
        (void)server_failure_set(SERVER_LOST, store->address.target, "written",
                                 SLICE_LIT("the database may have lost it again"), err);
    } else {
        server_refuse_replaced(store, "written", err);
    }
    return become_unknown(sending, err);
}

static enum store_result take_outcome(struct sending *sending, enum server_outcome outcome,
                                      struct err *err)
{
    if (outcome == SERVER_WOKEN)
        return STORE_PENDING;
    enum server_commit commit = sending->store->writer->commit;
    /* a connection that ends after the answer to COMMIT changes nothing */
    if (outcome == SERVER_OK || commit == SERVER_COMMIT_DONE)
        return trust(sending, sending->store->writer, sending->losses, err);
    if (commit == SERVER_COMMIT_UNKNOWN)
        return become_unknown(sending, err);
    return failed(sending, outcome, err);
}

/* A batch whose wait for a standby has ended, and that is on a server which was promoted since, had
 * reached that standby: as when a primary is shut down for a planned switch. */
static void forget_wait_if_promoted(const struct server_store *store,
                                    const struct server_session *session)
{
    const struct server_id *before = &store->writer->id;
    const struct server_id *now = &session->id;
    if (now->system == before->system && now->timeline > before->timeline)
        (void)!server_session_take_unreplicated(store->writer);
}

static enum store_result take_answer_about_unknown(struct sending *sending, uint64_t until_us,
                                                   struct err *err)
{
    const struct err *failure = &sending->failure;
    enum store_result result = server_unknown_wait(sending->store->unknown, until_us);
    if (result == STORE_TAKEN)
        return again(sending->store, err);
    if (result == STORE_OK) {
        const struct server_session *session = server_unknown_session(sending->store->unknown);
        forget_wait_if_promoted(sending->store, session);
        return trust(sending, session, server_unknown_losses(sending->store->unknown), err);
    }
    if (result == STORE_UNKNOWN)
        err_set(err, failure->status, failure->code, "%.*s", SLICE_ARG(failure->message));
    return result;
}

/* The batch is committed, and everybody sees it, so its requests are answered as committed: a
 * client that was refused would repeat what has happened. But the primary alone has it. */
static void note_unreplicated(struct server_store *store)
{
    if (!server_session_take_unreplicated(store->writer))
        return;
    counter_add(&store->unreplicated, 1);
    log_write(LOG_LEVEL_WARNING, "berth", LOG_NO_CONTEXT,
              "the database '%.*s': somebody cancelled the wait for a synchronous standby; batch "
              "%lld is committed, but a failover may lose it",
              SLICE_ARG(store->address.target), (long long)store->followed.number);
}

/* The batch is in the log: memory counts as having its state. */
static void note_committed(const struct sending *sending, struct store_stamp *stamp)
{
    struct server_store *store = sending->store;
    check(log_row_state(&sending->row, &store->followed));
    note_unreplicated(store);
    uint64_t now_us = clock_monotonic_us();
    turns_note(&store->turns, store->instance, store->followed.number, sending->mark, now_us);
    turns_note_commit(&store->turns, now_us - sending->began_us);
    server_asks_committed(store);
    epochs_commit(&store->epochs, store->followed.number);
    server_remember(store);
    counter_set(&store->epoch, (uint64_t)epochs_newest(&store->epochs).epoch);
    log_entries_free(&store->unlogged);
    log_entries_free(&store->refused);
    store->crowded -= store->crowded > 0;
    store->has_mended = false;
    store->failures = 0;
    locked_rows_passed(&store->locked, &sending->look);
    counter_set(&store->log_head, (uint64_t)store->followed.number);
    *stamp = log_state_stamp(&store->followed, store->foreign.taken);
}

/* What the limits (value_limits.h) do not tell: nothing was sent. */
static enum store_result refuse_unfit(struct sending *sending, struct err *err)
{
    const struct server_refusal why = sending->store->writer->dialect->batch_refusal(
        sending->store->writer, err->message, server_deadline(sending->store));
    sending->store->refusal = (struct store_refusal){
        .change = why.change, .request = request_of(sending, why.change), .cannot_hold = true};
    return STORE_REFUSED;
}

static enum server_outcome hand_over(struct sending *sending, struct err *err)
{
    struct server_store *store = sending->store;
    bool has_epoch = epochs_begin(&store->epochs, sending->row.number, &sending->epoch);
    const struct server_batch batch = {
        .has_lock = store->is_locked,
        .row = &sending->row,
        .before = &sending->before,
        .look = &sending->look,
        .changes = sending->batch.changes,
        .waves = &sending->waves,
        .epoch = has_epoch ? &sending->epoch : NULL,
    };
    return store->writer->dialect->batch_send(store->writer, &batch, sending->arena, err);
}

static enum store_result send_batch(struct server_store *store, const struct store_batch *batch,
                                    struct err *err)
{
    struct sending *sending = arena_zalloc(err->arena, sizeof(*sending));
    *sending = (struct sending){.store = store,
                                .batch = *batch,
                                .arena = err->arena,
                                .began_us = clock_monotonic_us(),
                                .losses = server_head_losses(store->head),
                                .deadline_us = server_lock_deadline(store)};
    make_row(sending);
    sending->look =
        locked_rows_ask(&store->locked, sending->arena, batch->changes, changes_of(batch));
    sending->waves = waves_arrange(batch, sending->arena);
    enum server_outcome outcome = hand_over(sending, err);
    if (outcome == SERVER_REFUSED)
        return refuse_unfit(sending, err);
    server_hand_over_ids(store);
    store->sending = sending;
    store->seen = (struct server_seen){0};
    return outcome == SERVER_OK ? STORE_PENDING : take_outcome(sending, outcome, err);
}

/* Whether memory has the newest state. */
static enum store_result confirm(struct server_store *store, struct store_stamp *stamp,
                                 struct err *err)
{
    enum store_news news = server_begin_read(&store->base, err);
    if (news == STORE_NEWS_FAILED)
        return STORE_FAILED;
    if (server_end_read(&store->base, stamp) && news == STORE_NEWS_NONE)
        return STORE_OK;
    return again(store, err);
}

/* The batch could refer to what another program had written to the server that memory was read
 * from, and that is gone. The log does not tell, so everything is read from the new one. */
static enum store_result read_again(struct server_store *store, struct err *err)
{
    server_session_close(store->writer);
    server_session_close(store->follower);
    return again(store, err);
}

static bool has_usable_writer(const struct server_store *store)
{
    return server_session_is_open(store->writer) && !server_session_has_moved(store->writer);
}

static enum store_result try_commit(struct server_store *store, const struct store_batch *batch,
                                    struct store_stamp *stamp, struct err *err)
{
    if (!store->has_state || store->suspects.count > 0)
        return again(store, err);
    if (server_lacks_id(&store->base, err))
        return STORE_FAILED;
    if (changes_of(batch) == 0 && !batch->must_commit)
        return confirm(store, stamp, err);
    if (store->must_not_wait && !has_usable_writer(store))
        return again(store, err);
    if (!store->must_not_wait && !store->is_locked && !server_ensure_writer(store, err))
        return STORE_FAILED;
    if (!store->is_locked && !server_is_server_of_memory(store, &store->writer->id))
        return read_again(store, err);
    return send_batch(store, batch, err);
}

/* Others may win for a while. But if a cluster has split, and somebody made both halves go on, then
 * sessions that were connected before may be to both: what is read from one half never fits what
 * the other has. New connections lead to one of them. */
static void note_taken(struct server_store *store, enum store_result result)
{
    const uint64_t now_us = clock_monotonic_us();
    const uint64_t limit_us = IN_VAIN_MS * UINT64_C(1000);
    bool is_first = store->taken_us == 0 || now_us - store->last_taken_us >= limit_us;
    bool is_in_vain = !is_first && now_us - store->taken_us >= limit_us;
    store->last_taken_us = now_us;
    if (result != STORE_TAKEN || store->waits_in_vain)
        store->taken_us = 0;
    else if (is_first || is_in_vain)
        store->taken_us = now_us;
    if (store->taken_us != 0 && is_in_vain)
        server_lineage_leave_all(store->lineage);
}

/* The result, or STORE_PENDING. */
static enum store_result commit_decide(struct server_store *store, enum store_result result,
                                       struct store_stamp *stamp)
{
    if (result == STORE_PENDING)
        return result;
    if (store->sending != NULL) {
        if (result == STORE_OK)
            note_committed(store->sending, stamp);
        server_decide_ids(store, result == STORE_OK || result == STORE_UNKNOWN);
        store->sending = NULL;
    }
    server_unlock(&store->base);
    note_taken(store, result);
    if (store->waits_in_vain)
        server_end_stalled(store);
    store->waits_in_vain = false;
    server_ask(store);
    if (store->mends_sequences) {
        store->has_mended = true;
        struct err ignored = server_ignored(store);
        store->mends_sequences = !(server_ensure_session(store, store->writer, &ignored) &&
                                   server_mend_sequences(store, store->writer, &ignored));
    }
    return result;
}

enum store_result server_commit(struct store *base, const struct store_batch *batch,
                                struct store_stamp *stamp, bool *foreign, struct err *err)
{
    struct server_store *store = server_store_of(base);
    check(!store->read.is_open && !store->is_locking && store->sending == NULL);
    *foreign = false;
    return commit_decide(store, try_commit(store, batch, stamp, err), stamp);
}

/* A read has found the batch's row: it is committed, and the answer to it does not come. */
static bool is_answer_lost(const struct sending *sending)
{
    const struct server_seen *seen = &sending->store->seen;
    return seen->at_us != 0 && seen->number == sending->row.number &&
           memcmp(seen->mark, sending->mark, LOG_MARK_LEN) == 0 && !sending->is_unknown &&
           clock_monotonic_us() - seen->at_us > SEEN_MS * UINT64_C(1000);
}

enum store_result server_await(struct store *base, uint64_t until_us, struct store_stamp *stamp,
                               bool *foreign, struct err *err)
{
    struct server_store *store = server_store_of(base);
    struct sending *sending = store->sending;
    check(!store->read.is_open && sending != NULL);
    *foreign = false;
    if (is_answer_lost(sending)) {
        server_session_close(store->writer);
        (void)server_failure_set(SERVER_LOST, store->address.target, "written",
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
        store->writer->dialect->batch_drive(store->writer, until_us, sending->deadline_us, err);
    return commit_decide(store, take_outcome(sending, outcome, err), stamp);
}

void server_give_up(struct store *base)
{
    const struct server_store *store = server_store_of(base);
    uint64_t latest_us = clock_monotonic_us() + GIVEN_UP_MS * UINT64_C(1000);
    struct sending *sending = store->sending;
    if (sending == NULL || sending->is_given_up)
        return;
    sending->is_given_up = true;
    if (sending->is_unknown)
        server_unknown_give_up(store->unknown);
    else if (sending->deadline_us > latest_us)
        sending->deadline_us = latest_us;
}

/* ---- at once ---- */

bool server_begin_at_once(struct store *base)
{
    struct server_store *store = server_store_of(base);
    check(!store->read.is_open && store->sending == NULL && !store->is_locked);
    server_session_notice_end(store->writer);
    store->must_not_wait = store->has_state && store->suspects.count == 0 &&
                           !store->mends_sequences && !store->is_locking &&
                           !server_locks_first(base) && !server_reads_first(base) &&
                           !server_turn(base).is_shared && has_usable_writer(store) &&
                           server_is_server_of_memory(store, &store->writer->id);
    return store->must_not_wait;
}

void server_end_at_once(struct store *base)
{
    server_store_of(base)->must_not_wait = false;
}

int server_pending_descriptor(const struct store *base)
{
    const struct server_store *store = server_store_of_const(base);
    const struct sending *sending = store->sending;
    return sending != NULL && !sending->is_unknown && !sending->has_outcome &&
                   !store->writer->dialect->has_failed(store->writer) &&
                   store->writer->dialect->is_sent(store->writer)
               ? server_session_socket(store->writer)
               : -1;
}

/* Only the answer that is usual is taken: what follows from any other one may take long. */
enum store_received server_receive(struct store *base, struct store_stamp *stamp, bool *foreign)
{
    struct server_store *store = server_store_of(base);
    struct sending *sending = store->sending;
    check(!store->read.is_open && sending != NULL && !sending->is_unknown);
    *foreign = false;
    struct err err = {.arena = sending->arena};
    enum server_outcome outcome = store->writer->dialect->batch_receive(store->writer, &err);
    if (outcome == SERVER_WOKEN)
        return store->writer->dialect->has_failed(store->writer) ? STORE_RECEIVED_OTHER
                                                                 : STORE_RECEIVED_PART;
    if (outcome == SERVER_OK && !store->mends_sequences &&
        take_outcome(sending, outcome, &err) == STORE_OK) {
        (void)commit_decide(store, STORE_OK, stamp);
        return STORE_RECEIVED_COMMIT;
    }
    if (outcome == SERVER_OK)
        server_head_note_seen(store->head, sending->row.number);
    sending->has_outcome = !sending->is_unknown;
    sending->outcome = outcome;
    sending->outcome_err = err;
    return STORE_RECEIVED_OTHER;
}
