/* The workers of an instance: tasks with event loops, to which some requests come. The linker
 * replaces the loop. What they call must not wait; but now and then they do not run for a while,
 * with an answer that they have just read. One thread. */
#include "fleet.h"

#include <pthread.h>

#include "engine/pipeline_internal.h"
#include "fake_postgres/libpq.h"

enum { TICK_US = 250000 };

/* The one that runs; NULL: none does. */
static struct worker *here;

void worker_enter(struct worker *worker)
{
    here = worker;
    process_forbid_waits(here != NULL);
}

/* ---- what is replaced ---- */

uint64_t __wrap_event_loop_number(void);
uint64_t __wrap_event_loop_number(void)
{
    return here == NULL ? 0 : here->number;
}

static struct watched *find(struct event_watcher *watcher)
{
    struct watched *free = NULL;
    for (int i = 0; i < WATCHED_MOST; i++) {
        struct watched *watched = &here->watched[i];
        if (watched->watcher == watcher)
            return watched;
        if (watched->watcher == NULL && free == NULL)
            free = watched;
    }
    check(free != NULL);
    free->watcher = watcher;
    return free;
}

void __wrap_event_loop_when_idle(struct event_watcher *watcher, uint64_t gather_us);
void __wrap_event_loop_when_idle(struct event_watcher *watcher, uint64_t gather_us)
{
    (void)gather_us; /* how much happens before a worker's turn comes, the seed decides */
    find(watcher)->wants_idle = true;
}

static bool watch(struct event_watcher *watcher, int fd, bool is_once)
{
    struct watched *watched = find(watcher);
    watched->fd = fd;
    watched->serial = libpq_serial(fd);
    watched->is_once = is_once;
    return true;
}

bool __wrap_event_loop_watch(struct event_watcher *watcher, int fd);
bool __wrap_event_loop_watch(struct event_watcher *watcher, int fd)
{
    return watch(watcher, fd, false);
}

bool __wrap_event_loop_watch_once(struct event_watcher *watcher, int fd);
bool __wrap_event_loop_watch_once(struct event_watcher *watcher, int fd)
{
    return watch(watcher, fd, true);
}

/* The worker waits for a processor. */
static void pause_here(void)
{
    enum { SELDOM = 4, PAUSES_MOST = 12 };
    struct worker *worker = here;
    if (rng_below(&fleet.rng, SELDOM) > 0)
        return;
    worker_enter(NULL);
    for (int left = 1 + rng_below(&fleet.rng, PAUSES_MOST); left > 0; left--)
        process_pause();
    worker_enter(worker);
}

enum store_asked __real_store_take_answer(struct store_asker *asker, struct store_head *head);
enum store_asked __wrap_store_take_answer(struct store_asker *asker, struct store_head *head);
enum store_asked __wrap_store_take_answer(struct store_asker *asker, struct store_head *head)
{
    enum store_asked asked = __real_store_take_answer(asker, head);
    fleet.tally.own_answers += asked == STORE_ASKED_ANSWERED;
    fleet.tally.vain_questions += asked == STORE_ASKED_IN_VAIN;
    pause_here();
    return asked;
}

enum store_received __real_store_receive(struct store *store, struct store_stamp *stamp,
                                         bool *foreign);
enum store_received __wrap_store_receive(struct store *store, struct store_stamp *stamp,
                                         bool *foreign);
enum store_received __wrap_store_receive(struct store *store, struct store_stamp *stamp,
                                         bool *foreign)
{
    enum store_received received = __real_store_receive(store, stamp, foreign);
    pause_here();
    return received;
}

bool __real_direct_resume(struct pipeline *pipeline, struct commit *commit, struct err *err);
bool __wrap_direct_resume(struct pipeline *pipeline, struct commit *commit, struct err *err);
bool __wrap_direct_resume(struct pipeline *pipeline, struct commit *commit, struct err *err)
{
    bool is_taken_over = __real_direct_resume(pipeline, commit, err);
    fleet.tally.taken_over += is_taken_over;
    return is_taken_over;
}

/* ---- the task ---- */

/* A connection that is closed is not watched any more. */
static bool is_watched(const struct watched *watched)
{
    return watched->serial != 0 && libpq_serial(watched->fd) == watched->serial;
}

static bool is_readable(const struct watched *watched)
{
    return is_watched(watched) && libpq_is_ready(watched->fd, 0);
}

static bool has_work(void *cls)
{
    const struct worker *worker = cls;
    for (int i = 0; i < WATCHED_MOST; i++)
        if (worker->watched[i].wants_idle || is_readable(&worker->watched[i]))
            return true;
    return false;
}

static uint64_t next_us(void *cls)
{
    const struct worker *worker = cls;
    uint64_t next_us = UINT64_MAX;
    for (int i = 0; i < WATCHED_MOST; i++) {
        const struct watched *watched = &worker->watched[i];
        uint64_t at_us = is_watched(watched) ? libpq_next_us(watched->fd) : UINT64_MAX;
        next_us = at_us < next_us ? at_us : next_us;
    }
    return next_us;
}

static void turn(struct worker *worker)
{
    for (int i = 0; i < WATCHED_MOST; i++) {
        struct watched *watched = &worker->watched[i];
        if (is_readable(watched)) {
            watched->serial = watched->is_once ? 0 : watched->serial;
            watched->watcher->readable(watched->watcher);
        }
    }
    for (int i = 0; i < WATCHED_MOST; i++) {
        struct watched *watched = &worker->watched[i];
        if (watched->wants_idle) {
            watched->wants_idle = false;
            watched->watcher->idle(watched->watcher);
        }
    }
}

static void *run(void *cls)
{
    struct worker *worker = cls;
    struct instance *instance = worker->instance;
    while (!instance->process.is_ending) {
        process_idle_until(has_work, next_us, worker,
                           instance->unanswered > 0 ? TICK_US : UINT64_MAX);
        worker_enter(worker);
        turn(worker);
        worker_enter(NULL);
        currency_tick(instance->pipeline->currency);
    }
    return NULL;
}

void workers_start(struct instance *instance)
{
    for (unsigned i = 0; i < WORKERS; i++) {
        struct worker *worker = &instance->workers[i];
        *worker = (struct worker){.instance = instance, .number = i + 1};
        check(pthread_create(&worker->thread, NULL, run, worker) == 0);
    }
}

void workers_stop(struct instance *instance)
{
    for (unsigned i = 0; i < WORKERS; i++)
        pthread_join(instance->workers[i].thread, NULL);
}
