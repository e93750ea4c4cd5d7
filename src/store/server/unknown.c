/* See unknown.h.
 *
 * The server may still be executing the batch, or may not even have read all of it. So it does not
 * suffice to look for its row: the row may be missing now and committed later. With the lock held,
 * the batch is either before us, and its row is there, or it has to come after us; then its number
 * is taken by a row of ours, and the batch can only be refused. A row that is there needs no lock:
 * it will not become another one.
 *
 * The thread uses nothing of the store but what never changes, counters, and the head. */
#include "store/server/unknown.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/wait.h"
#include "store/server/dialect.h"
#include "store/server/io.h"

enum { TRY_AGAIN_MS = 20 };

enum found { FOUND_NOTHING, FOUND_OURS, FOUND_OTHER, FOUND_LATER };

struct server_unknown {
    struct server_store *store;
    struct server_session *session; /* the thread's */
    int give_up;                    /* eventfd: readable once it has been given up */
    bool is_running;                /* there is a thread */
    pthread_t thread;
    pthread_mutex_t lock; /* guards the next two */
    pthread_cond_t ended;
    bool has_ended;
    enum store_result result;
    uint64_t losses; /* the thread's, until it has ended: before the last look */
    uint64_t deadline_us;
    /* The batch, and the row that takes its number. */
    int64_t number;
    unsigned char mark[LOG_MARK_LEN];
    unsigned char own_mark[LOG_MARK_LEN];
    struct log_state before;
};

static struct slice bytes(const unsigned char *data, size_t len)
{
    return (struct slice){(const char *)data, len};
}

static bool is_given_up(const struct server_unknown *unknown)
{
    return server_io_wait(NULL, -1, 0, unknown->give_up, 0) == SERVER_IO_WOKEN;
}

/* The log has no gaps: if only later rows are there, the batch's number has been pruned, and nobody
 * can tell whose row it was. */
static bool look(struct server_unknown *unknown, enum found *found, struct err *err)
{
    struct log_rows rows;
    unknown->losses = server_head_losses(unknown->store->head);
    bool ok =
        unknown->session->dialect->log_first(unknown->session, unknown->number, &rows,
                                             server_lock_timeout(unknown->store), err) == SERVER_OK;
    struct slice mark = bytes(unknown->mark, LOG_MARK_LEN);
    *found = !ok || rows.count == 0                ? FOUND_NOTHING
             : rows.at[0].number > unknown->number ? FOUND_LATER
             : slice_equal(rows.at[0].mark, mark)  ? FOUND_OURS
                                                   : FOUND_OTHER;
    log_rows_free(&rows);
    return ok;
}

/* Another instance may hold the lock and do nothing with it; or the batch itself does, whose client
 * the server does not know to be gone. */
static bool take_lock(const struct server_unknown *unknown, struct err *err)
{
    uint64_t timeout_us = server_lock_timeout(unknown->store);
    struct server_session *session = unknown->session;
    if (session->dialect->lock_wait(session, timeout_us, err) == SERVER_OK)
        return true;
    struct err ignored = {.arena = err->arena};
    if (server_session_reason(session) == SERVER_REASON_LOCKED &&
        session->dialect->lock_leave(session, timeout_us, &ignored) == SERVER_OK)
        server_end_stalled_by(unknown->store, session, &ignored);
    return false;
}

/* An empty batch of ours takes the number. If the row before is gone, the database went back, and
 * the lost batch is refused as well; so is a first batch once there are others. */
static bool unknown_take_number(const struct server_unknown *unknown, struct err *err)
{
    const struct log_row row = {
        .number = unknown->number,
        .mark = bytes(unknown->own_mark, LOG_MARK_LEN),
        .before = bytes(unknown->before.digest, LOG_DIGEST_LEN),
    };
    return unknown->session->dialect->number_take(unknown->session, &row, &unknown->before,
                                                  server_lock_timeout(unknown->store),
                                                  err) == SERVER_OK;
}

/* False: try again. */
static bool resolve_once(struct server_unknown *unknown, enum store_result *result, struct err *err)
{
    enum found found;
    if (!server_ensure_session(unknown->store, unknown->session, err) ||
        !look(unknown, &found, err))
        return false;
    if (found == FOUND_NOTHING && (!take_lock(unknown, err) || !look(unknown, &found, err)))
        return false;
    if (found == FOUND_OURS)
        server_head_note_seen(unknown->store->head, unknown->number);
    *result = found == FOUND_OURS ? STORE_OK : found == FOUND_LATER ? STORE_UNKNOWN : STORE_TAKEN;
    return found != FOUND_NOTHING || unknown_take_number(unknown, err);
}

static void count_outcome(struct server_store *store, enum store_result result)
{
    atomic_fetch_add(result == STORE_OK        ? &store->unknown_done
                     : result == STORE_UNKNOWN ? &store->unknown_open
                                               : &store->unknown_undone,
                     1);
}

static void *run_unknown(void *cls)
{
    struct server_unknown *unknown = cls;
    struct arena *arena = arena_create();
    enum store_result result = STORE_UNKNOWN;
    bool is_known = false;
    pthread_setname_np(pthread_self(), "unknown");
    while (!is_known && !is_given_up(unknown) && clock_monotonic_us() < unknown->deadline_us) {
        struct err ignored = {.arena = arena};
        arena_reset(arena);
        is_known = resolve_once(unknown, &result, &ignored);
        server_session_close(unknown->session);
        if (!is_known)
            server_io_wait(NULL, -1, 0, unknown->give_up,
                           clock_monotonic_us() + TRY_AGAIN_MS * UINT64_C(1000));
    }
    arena_destroy(arena);
    count_outcome(unknown->store, is_known ? result : STORE_UNKNOWN);
    pthread_mutex_lock(&unknown->lock);
    unknown->has_ended = true;
    unknown->result = is_known ? result : STORE_UNKNOWN;
    pthread_cond_signal(&unknown->ended);
    pthread_mutex_unlock(&unknown->lock);
    return NULL;
}

struct server_unknown *server_unknown_create(struct server_store *store, struct err *err)
{
    int give_up = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (give_up < 0) {
        err_set(err, 503, NULL, "the system has no file descriptor left");
        return NULL;
    }
    struct server_unknown *unknown = calloc(1, sizeof(*unknown));
    check(unknown != NULL);
    unknown->store = store;
    unknown->give_up = give_up;
    unknown->session = server_session_create(&(struct server_session_options){
        .address = &store->address,
        .lineage = store->lineage,
        .idle_in_transaction_ms = (int)(store->stalled_us / 1000),
        .lock_timeout_ms = (int)(store->stalled_us / 2000),
        .wake_fd = give_up,
        .counts = &store->connections,
    });
    server_session_set_stop(unknown->session, give_up);
    pthread_mutex_init(&unknown->lock, NULL);
    wait_init(&unknown->ended);
    return unknown;
}

void server_unknown_begin(struct server_unknown *unknown, const struct log_row *row,
                          const struct log_state *before, uint64_t deadline_us)
{
    check(!unknown->is_running && row->mark.len == LOG_MARK_LEN);
    unknown->deadline_us = deadline_us;
    unknown->number = row->number;
    unknown->before = *before;
    memcpy(unknown->mark, row->mark.data, LOG_MARK_LEN);
    server_make_mark(unknown->store, unknown->own_mark);
    unknown->result = STORE_UNKNOWN;
    unknown->is_running = pthread_create(&unknown->thread, NULL, run_unknown, unknown) == 0;
    unknown->has_ended = !unknown->is_running;
}

static void unknown_join(struct server_unknown *unknown)
{
    uint64_t ignored;
    if (unknown->is_running)
        pthread_join(unknown->thread, NULL);
    unknown->is_running = false;
    if (read(unknown->give_up, &ignored, sizeof(ignored)) < 0)
        return; /* it was not given up */
}

enum store_result server_unknown_wait(struct server_unknown *unknown, uint64_t until_us)
{
    bool is_late = false;
    pthread_mutex_lock(&unknown->lock);
    while (!unknown->has_ended && !is_late)
        is_late = !wait_until(&unknown->ended, &unknown->lock, until_us);
    bool has_ended = unknown->has_ended;
    pthread_mutex_unlock(&unknown->lock);
    if (!has_ended)
        return STORE_PENDING;
    unknown_join(unknown);
    return unknown->result;
}

const struct server_session *server_unknown_session(const struct server_unknown *unknown)
{
    check(!unknown->is_running);
    return unknown->session;
}

uint64_t server_unknown_losses(const struct server_unknown *unknown)
{
    check(!unknown->is_running);
    return unknown->losses;
}

void server_unknown_give_up(struct server_unknown *unknown)
{
    const uint64_t one = 1;
    check(write(unknown->give_up, &one, sizeof(one)) == sizeof(one));
}

void server_unknown_destroy(struct server_unknown *unknown)
{
    if (unknown == NULL)
        return;
    server_unknown_give_up(unknown);
    unknown_join(unknown);
    server_session_destroy(unknown->session);
    close(unknown->give_up);
    pthread_cond_destroy(&unknown->ended);
    pthread_mutex_destroy(&unknown->lock);
    free(unknown);
}
