/* See housekeeping.h. The session is closed after a failure and connected again in the next pass,
 * which then comes sooner. All statements are limited to a few seconds, by the server as well, so
 * that a stop waits no longer than that. */
#include "store/server/housekeeping.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/counter.h"
#include "base/wait.h"
#include "log/log.h"
#include "store/server/dialect.h"
#include "store/server/io.h"
#include "store/server/prune.h"

enum {
    PASS_EVERY_MS = 60000,
    PASS_AGAIN_MS = 10000, /* after a failure, and while the log is empty */
    PASS_SOON_MS = 1000,
    FIRST_PASSES = 10,     /* so soon, until memory has read the database */
    PASS_AT_ONCE_MS = 250, /* after a conflict */
    MOVE_EVERY_MS = 2000,  /* what other programs have written, into the log */
    ANSWER_MS = 3000,
    LAST_ANSWER_MS = 1000,
    CONFLICTS_MOST = 3, /* in a row that are not worth a line */
};

struct housekeeping {
    struct server_session *session; /* the thread's, as are the next ones */
    struct server_meanwhile meanwhile;
    struct instance_row row;
    struct prune prune;
    uint64_t recycle_us;
    struct server_head *head;
    unsigned passes; /* while the log seemed to be empty */
    bool is_reporting;
    bool was_cut; /* a stop has ended the report */
    bool is_told; /* that a pass failed */
    bool is_told_of_foreign;
    unsigned conflicts; /* passes in a row that failed because of one; the same of moves */
    unsigned conflicts_of_foreign;
    int stop_fd; /* readable: the thread ends */
    pthread_t thread;
    pthread_mutex_t lock; /* guards the rest */
    pthread_cond_t wake;
    bool is_ending;
    _Atomic uint64_t latest_us; /* until then, what is on its way waits for its answer; 0: the
                                 * thread is not to end; read without the lock */
    struct arena *arena;        /* of the report; NULL: there is none */
    struct store_report report;
    struct counter pruned; /* any thread reads; the same */
    struct counter moved;
};

static uint64_t in_ms(uint64_t ms)
{
    return clock_monotonic_us() + ms * 1000;
}

/* False: the session is closed. */
static bool housekeeping_connect(struct housekeeping *h, struct err *err)
{
    if (server_session_is_old(h->session, h->recycle_us) || server_session_has_moved(h->session))
        server_session_close(h->session);
    return server_session_is_open(h->session) ||
           server_session_connect(h->session, in_ms(ANSWER_MS), err) == SERVER_OK;
}

static bool make_report(struct housekeeping *h, struct err *err)
{
    struct arena *arena = arena_create();
    struct store_report report;
    bool ok = h->session->dialect->inspect(h->session, h->row.name, arena, &report,
                                           in_ms(ANSWER_MS), err) == SERVER_OK;
    if (ok) {
        pthread_mutex_lock(&h->lock);
        struct arena *old = h->arena;
        h->arena = arena;
        h->report = report;
        pthread_mutex_unlock(&h->lock);
        /* Only a load knows that there are none any more: this report may be older. */
        if (report.triggers > 0)
            server_head_set_coexists(h->head, true);
        arena = old;
    }
    if (arena != NULL)
        arena_destroy(arena);
    return ok;
}

/* Another transaction has won, or a statement that changes a table has begun: for those that write
 * to a cluster, this is usual, and the same succeeds a moment later. Asked before the session is
 * closed; `conflicts` are those in a row. */
static bool has_lost_a_conflict(const struct housekeeping *h, bool ok, unsigned *conflicts)
{
    bool has_lost = !ok && server_session_reason(h->session) == SERVER_REASON_CONFLICT;
    *conflicts = has_lost ? *conflicts + 1 : 0;
    return has_lost && *conflicts <= CONFLICTS_MOST;
}

/* Once, until it works again. A server that cannot be reached is logged by those whom requests wait
 * for. */
static void tell_failure(struct housekeeping *h, bool ok, const struct err *err)
{
    if (!ok && !h->is_told)
        log_write(LOG_LEVEL_WARNING, "berth", LOG_NO_CONTEXT,
                  "the row of this instance, old rows of the log or the report on the server must "
                  "wait: %.*s",
                  SLICE_ARG(err->message));
    h->is_told = !ok;
}

static bool write_row(struct housekeeping *h, int64_t newest, struct err *err)
{
    if (h->session->options.lineage != NULL)
        server_lineage_writer(h->session->options.lineage, h->row.node);
    return h->session->dialect->instance_write(h->session, &h->row, newest, in_ms(ANSWER_MS),
                                               err) == SERVER_OK;
}

/* The row of the instance, and old rows of the log. */
static bool keep_rows(struct housekeeping *h, int64_t newest, struct err *err)
{
    uint64_t deleted = 0;
    bool ok = write_row(h, newest, err) && prune_log(&h->prune, h->session, newest, &deleted,
                                                     in_ms(ANSWER_MS), err) == SERVER_OK;
    counter_add(&h->pruned, deleted);
    return ok;
}

/* Returns the time until the next one. */
static uint64_t run_pass(struct housekeeping *h, struct err *err)
{
    int64_t newest = server_head_newest(h->head);
    bool is_reached = housekeeping_connect(h, err);
    bool ok = is_reached && keep_rows(h, newest, err);
    bool is_repeated = is_reached && has_lost_a_conflict(h, ok, &h->conflicts);
    if (!ok)
        server_session_close(h->session);
    /* A server that cannot be written is just what operators should know of. */
    struct err other = {.arena = err->arena};
    h->is_reporting = ok;
    bool is_asked = is_reached && housekeeping_connect(h, &other);
    bool is_reported = is_asked && make_report(h, &other);
    h->was_cut = h->is_reporting && h->meanwhile.is_over;
    h->is_reporting = false;
    if (is_asked && ok)
        is_repeated = has_lost_a_conflict(h, is_reported, &h->conflicts);
    if (!is_reported)
        server_session_close(h->session);
    if (is_reached && !h->was_cut && !is_repeated)
        tell_failure(h, ok && is_reported, err_is_set(err) ? err : &other);
    if (is_repeated)
        return PASS_AT_ONCE_MS;
    if (ok && is_reported && newest > 0)
        return PASS_EVERY_MS;
    return ok && h->passes++ < FIRST_PASSES ? PASS_SOON_MS : PASS_AGAIN_MS;
}

/* Without the lock of batches, it is tried again the next time. */
static void move_foreign(struct housekeeping *h, struct err *err)
{
    uint64_t moved = 0;
    if (!server_head_coexists(h->head))
        return;
    bool is_reached = housekeeping_connect(h, err);
    bool ok = is_reached && h->session->dialect->notes_move(h->session, &moved, in_ms(ANSWER_MS),
                                                            err) == SERVER_OK;
    bool is_repeated = is_reached && has_lost_a_conflict(h, ok, &h->conflicts_of_foreign);
    counter_add(&h->moved, moved);
    if (!ok)
        server_session_close(h->session);
    if (is_reached && !ok && !is_repeated && !h->is_told_of_foreign)
        log_write(LOG_LEVEL_WARNING, "berth", LOG_NO_CONTEXT,
                  "what other programs have written waits in berth_foreign: %.*s",
                  SLICE_ARG(err->message));
    if (is_reached && !is_repeated)
        h->is_told_of_foreign = !ok;
}

/* Waits until then; false: the thread ends. */
static bool sleep_until(struct housekeeping *h, uint64_t until_us)
{
    pthread_mutex_lock(&h->lock);
    while (!h->is_ending && wait_until(&h->wake, &h->lock, until_us))
        continue;
    bool goes_on = !h->is_ending;
    pthread_mutex_unlock(&h->lock);
    return goes_on;
}

/* Nobody will read the report. */
static bool housekeeping_goes_on(void *cls)
{
    const struct housekeeping *h = cls;
    uint64_t latest_us = h->latest_us;
    return latest_us == 0 || (!h->is_reporting && clock_monotonic_us() < latest_us);
}

/* A last statement waits for its answer, unless the server has just left something unanswered. */
static void housekeeping_leave(struct housekeeping *h, struct err *err)
{
    const bool is_silent = h->meanwhile.is_over && !h->was_cut;
    uint64_t until_us = in_ms(LAST_ANSWER_MS);
    h->meanwhile = (struct server_meanwhile){0};
    server_session_set_stop(h->session, -1);
    bool is_open = server_session_is_open(h->session) ||
                   (!is_silent && server_session_connect(h->session, until_us, err) == SERVER_OK);
    if (is_open &&
        h->session->dialect->instance_delete(h->session, &h->row, until_us, err) != SERVER_OK)
        server_session_close(h->session);
}

static void *run_housekeeping(void *cls)
{
    struct housekeeping *h = cls;
    struct arena *arena = arena_create();
    uint64_t pass_us = 0;
    uint64_t until_us;
    pthread_setname_np(pthread_self(), "housekeeping");
    do {
        struct err ignored = {.arena = arena};
        struct err of_foreign = {.arena = arena};
        if (clock_monotonic_us() >= pass_us)
            pass_us = in_ms(run_pass(h, &ignored));
        move_foreign(h, &of_foreign);
        until_us = in_ms(MOVE_EVERY_MS);
        if (until_us > pass_us)
            until_us = pass_us;
        arena_reset(arena);
    } while (sleep_until(h, until_us));
    struct err ignored = {.arena = arena};
    housekeeping_leave(h, &ignored);
    arena_destroy(arena);
    return NULL;
}

static void housekeeping_free(struct housekeeping *h)
{
    server_session_destroy(h->session);
    if (h->arena != NULL)
        arena_destroy(h->arena);
    pthread_cond_destroy(&h->wake);
    pthread_mutex_destroy(&h->lock);
    if (h->stop_fd >= 0)
        close(h->stop_fd);
    free(h);
}

struct housekeeping *housekeeping_start(const struct server_address *address,
                                        struct server_lineage *lineage,
                                        struct server_connection_counts *counts,
                                        uint64_t recycle_us, struct server_head *head)
{
    struct housekeeping *h = calloc(1, sizeof(*h));
    check(h != NULL);
    h->recycle_us = recycle_us;
    h->head = head;
    h->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    h->meanwhile = (struct server_meanwhile){.run = housekeeping_goes_on, .cls = h};
    h->session =
        server_session_create(&(struct server_session_options){.address = address,
                                                               .lineage = lineage,
                                                               .statement_timeout_ms = ANSWER_MS,
                                                               .idle_in_transaction_ms = ANSWER_MS,
                                                               .lock_timeout_ms = ANSWER_MS,
                                                               .wake_fd = -1,
                                                               .counts = counts,
                                                               .meanwhile = &h->meanwhile});
    server_session_set_stop(h->session, h->stop_fd);
    pthread_mutex_init(&h->lock, NULL);
    wait_init(&h->wake);
    if (h->stop_fd >= 0 && instance_row_init(&h->row) &&
        pthread_create(&h->thread, NULL, run_housekeeping, h) == 0)
        return h;
    housekeeping_free(h);
    return NULL;
}

void housekeeping_stop(struct housekeeping *h)
{
    if (h == NULL)
        return;
    uint64_t one = 1;
    h->latest_us = in_ms(LAST_ANSWER_MS);
    ssize_t written = write(h->stop_fd, &one, sizeof(one));
    (void)written; /* it can only fail if it is readable already */
    pthread_mutex_lock(&h->lock);
    h->is_ending = true;
    pthread_mutex_unlock(&h->lock);
    pthread_cond_signal(&h->wake);
    pthread_join(h->thread, NULL);
    housekeeping_free(h);
}

bool housekeeping_report(struct housekeeping *h, struct arena *arena, struct store_report *report)
{
    pthread_mutex_lock(&h->lock);
    bool is_there = h->arena != NULL;
    if (is_there)
        *report = report_copy(&h->report, arena);
    pthread_mutex_unlock(&h->lock);
    return is_there;
}

struct housekeeping_figures housekeeping_figures(const struct housekeeping *h)
{
    return (struct housekeeping_figures){.pruned = counter_read(&h->pruned),
                                         .moved = counter_read(&h->moved)};
}
