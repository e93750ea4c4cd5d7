/* See observer.h.
 *
 * What is compared has to be one state of the database, on both sides: a snapshot, and the version
 * that was made of just that state. Memory publishes a state soon after it can be seen in the
 * database, so the snapshot is begun first, and then the newest version is looked at a few times;
 * if it never has the snapshot's stamp, memory is brought up to date and both are taken again. Thus
 * nothing is ever found that berth itself has written, and the writer's share of the work is
 * proportional to what others have written.
 *
 * The observer's thread, except for what is marked. */
#include "engine/observer.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/wait.h"
#include "engine/examine.h"
#include "log/log.h"
#include "replica/block.h"
#include "replica/losses.h"

enum { SNAPSHOTS_MOST = 30, GLANCES_MOST = 4, GLANCE_US = 300 };

/* The server's work is bounded: a look or a step takes one part in so many of the time. If they
 * take very long, because the server is slow or stands still, they are made all the same. */
enum {
    SHARE = 20,
    LOOK_EVERY_US = 1000000,
    LOOK_MOST_US = 60000000,
    STEP_EVERY_US = 10000,
    STEP_MOST_US = 10000000,
    AGAIN_US = 250000
};

/* The writer reads that many again at once, a provider with all its consumers, and serves others in
 * between. */
enum { SUSPECTS_EACH = 100 };

enum { TELL_EVERY_US = 60000000, NAMED_MOST = 5, LOOKS_KEPT = 4 };

struct observer {
    struct store_observer *rows;
    struct replica_reader *reader;
    struct currency *currency;
    struct currency_writer writer;
    struct arena *arena;             /* of one look or step */
    struct arena *request_arena;     /* of the request's error */
    struct pipeline_request request; /* while it is on its way, only others use it */
    struct differences portion;      /* the request's */
    struct suspects suspects;
    struct examined_before before; /* this look */
    const struct version *version; /* pinned, while a snapshot of its state is open */
    uint64_t look_at_us;           /* not before then */
    uint64_t looks_us[LOOKS_KEPT]; /* how long the last ones took */
    uint64_t looks;
    struct block block; /* of the scrub, as the next ones */
    struct block_place place;
    bool is_scrubbing;
    bool has_block;       /* false: the last step found that everything had been compared */
    uint64_t scrub_at_us; /* the next step, or the next scrub */
    uint64_t scrub_began_us;
    uint64_t scrub_found; /* by this scrub */
    uint64_t scrub_compared;
    uint64_t told_us; /* when looks that found something were last logged; 0: never */

    pthread_t thread;
    pthread_mutex_t lock; /* guards the next three; the thread reads the interval without it */
    pthread_cond_t wake;
    bool is_on_its_way;
    bool is_ending;
    _Atomic uint64_t interval_us;
    uint64_t seen_interval_us; /* the thread's */

    struct histogram look_us; /* any thread reads */
    struct counter put_off, scrubs, scrubbed, scrub_us;
    struct counter looked[ENTITY_COUNT];
    struct counter differed[ENTITY_COUNT];
};

const char *observer_kind_name(enum entity entity)
{
    switch (entity) {
    case ENTITY_AGGREGATE:
        return "aggregate";
    case ENTITY_PROJECT:
        return "project";
    case ENTITY_USER:
        return "user";
    case ENTITY_CONSUMER_TYPE:
        return "consumer_type";
    default:
        return losses_kind_name(entity);
    }
}

/* ---- requests ---- */

/* Any thread. */
static void observer_came_back(struct pipeline_request *request)
{
    struct observer *observer = request->submitter;
    pthread_mutex_lock(&observer->lock);
    observer->is_on_its_way = false;
    pthread_cond_signal(&observer->wake);
    pthread_mutex_unlock(&observer->lock);
}

static void begin_request(struct observer *observer)
{
    pthread_mutex_lock(&observer->lock);
    observer->is_on_its_way = true;
    pthread_mutex_unlock(&observer->lock);
    arena_reset(observer->request_arena);
    observer->request = (struct pipeline_request){.done = observer_came_back,
                                                  .submitter = observer,
                                                  .is_upkeep = true,
                                                  .err = {.arena = observer->request_arena}};
}

/* False: the thread ends, and the request may still be on its way. */
static bool await_request(struct observer *observer)
{
    pthread_mutex_lock(&observer->lock);
    while (observer->is_on_its_way && !observer->is_ending)
        pthread_cond_wait(&observer->wake, &observer->lock);
    bool goes_on = !observer->is_ending;
    pthread_mutex_unlock(&observer->lock);
    return goes_on;
}

/* False: memory cannot be brought up to date. */
static bool refresh(struct observer *observer)
{
    begin_request(observer);
    currency_submit(observer->currency, &observer->request);
    return await_request(observer) && !err_is_set(&observer->request.err);
}

/* The writer reads the suspects again, a few at a time. False: not all of them, so far. */
static bool hand_over(struct observer *observer)
{
    const struct differences *all = &observer->suspects.list;
    size_t at = 0;
    bool ok = true;
    bool again = all->count > 0 || observer->suspects.is_incomplete;
    for (; again; at += SUSPECTS_EACH, again = at < all->count) {
        size_t left = all->count - at;
        begin_request(observer);
        observer->portion =
            (struct differences){.items = at == 0 ? all->items : all->items + at,
                                 .count = left < SUSPECTS_EACH ? left : SUSPECTS_EACH};
        observer->request.suspects = &observer->portion;
        observer->writer.submit(observer->writer.cls, &observer->request);
        if (!await_request(observer))
            return false;
        ok &= !err_is_set(&observer->request.err);
    }
    return ok;
}

/* ---- one state ---- */

static bool has_stamp(const struct version *version, const struct store_stamp *stamp)
{
    return memcmp(&version->stamp, stamp, sizeof(*stamp)) == 0;
}
_Static_assert(sizeof(struct store_stamp) == sizeof(struct version_stamp), "stamps are compared");

/* Pins the version that has the state; false: memory does not have it at the moment. */
static bool pin_state(struct observer *observer, const struct store_stamp *stamp)
{
    for (int glance = 0; glance < GLANCES_MOST; glance++) {
        if (glance > 0)
            wait_sleep_us(GLANCE_US);
        observer->version = replica_pin(observer->reader);
        if (has_stamp(observer->version, stamp))
            return true;
        replica_unpin(observer->reader);
    }
    return false;
}

static void close_state(struct observer *observer)
{
    replica_unpin(observer->reader);
    store_observer_end(observer->rows);
}

/* Begins a snapshot and pins the version that has its state; close_state() ends both. */
static bool open_state(struct observer *observer, struct err *err)
{
    for (int i = 0; i < SNAPSHOTS_MOST; i++) {
        struct store_stamp stamp;
        if ((i > 0 && !refresh(observer)) || !store_observer_begin(observer->rows, &stamp, err))
            return false;
        if (pin_state(observer, &stamp))
            return true;
        store_observer_end(observer->rows);
    }
    return false;
}

/* ---- what was found ---- */

/* "12, such as consumer 3 (uuid), user 4" */
static void append_found(struct buf *buf, const struct differences *found)
{
    buf_printf(buf, "%zu, such as", found->count);
    for (size_t i = 0; i < found->count && i < NAMED_MOST; i++) {
        const struct difference *one = &found->items[i];
        buf_printf(buf, "%s %s %lld", i == 0 ? "" : ",", observer_kind_name(one->entity),
                   (long long)one->id);
        if (one->uuid.len > 0)
            buf_printf(buf, " (%.*s)", SLICE_ARG(one->uuid));
    }
}

static void count_found(struct observer *observer, struct counter counters[static ENTITY_COUNT])
{
    for (size_t i = 0; i < observer->suspects.list.count; i++)
        counter_add(&counters[observer->suspects.list.items[i].entity], 1);
}

static void tell_looked(struct observer *observer, uint64_t now_us)
{
    struct buf buf = {0};
    if (observer->told_us != 0 && now_us - observer->told_us < TELL_EVERY_US)
        return;
    observer->told_us = now_us;
    append_found(&buf, &observer->suspects.list);
    log_write(LOG_LEVEL_INFO, "berth", LOG_NO_CONTEXT,
              "another program has written to the database; what differs from memory is read "
              "again: %.*s",
              SLICE_ARG(buf_slice(&buf)));
    buf_free(&buf);
}

/* A program raises generations, and nothing lowers one but a database that has lost commits. */
static void tell_older(const struct observer *observer)
{
    struct buf buf = {0};
    if (observer->suspects.older == 0)
        return;
    append_found(&buf, &observer->suspects.list);
    log_write(LOG_LEVEL_WARNING, "berth", LOG_NO_CONTEXT,
              "the database has lost commits of another program: %zu rows are older there than in "
              "memory; what differs is read again: %.*s",
              observer->suspects.older, SLICE_ARG(buf_slice(&buf)));
    buf_free(&buf);
}

static void tell_scrubbed(const struct observer *observer)
{
    struct buf buf = {0};
    append_found(&buf, &observer->suspects.list);
    log_write(LOG_LEVEL_WARNING, "berth", LOG_NO_CONTEXT,
              "the scrub found rows that another program has changed without a new generation; "
              "they are read again: %.*s",
              SLICE_ARG(buf_slice(&buf)));
    buf_free(&buf);
}

/* ---- the look ---- */

/* Compares in the open state; false: the database did not answer. */
typedef bool comparison(struct observer *observer, struct err *err);

/* Opens a state, compares, and closes it; the comparison, which took that long, has filled the list
 * of suspects. False: it is put off. */
static bool compare_in_one_state(struct observer *observer, comparison *compare, uint64_t *took_us)
{
    arena_reset(observer->arena);
    observer->suspects = (struct suspects){.arena = observer->arena};
    struct err ignored = {.arena = observer->arena}; /* an outage is logged for requests */
    bool ok = open_state(observer, &ignored);
    uint64_t opened_us = clock_monotonic_us();
    if (ok) {
        ok = compare(observer, &ignored);
        close_state(observer);
    }
    *took_us = clock_monotonic_us() - opened_us;
    if (!ok)
        counter_add(&observer->put_off, 1);
    return ok;
}

static bool compare_recent(struct observer *observer, struct err *err)
{
    return examine_rows(observer->rows, observer->version, &observer->before, &observer->suspects,
                        err);
}

/* A look may have waited for the processor, or for a paused machine, so the shortest of the last
 * ones counts; the first few count as short. */
static uint64_t usual_look_us(struct observer *observer, uint64_t took_us)
{
    uint64_t least_us = took_us;
    observer->looks_us[observer->looks++ % LOOKS_KEPT] = took_us;
    for (size_t i = 0; i < LOOKS_KEPT; i++)
        if (observer->looks_us[i] < least_us)
            least_us = observer->looks_us[i];
    return least_us;
}

static void plan_next_look(struct observer *observer, uint64_t began_us, uint64_t took_us)
{
    uint64_t pause_us = usual_look_us(observer, took_us) * SHARE;
    if (pause_us < LOOK_EVERY_US)
        pause_us = LOOK_EVERY_US;
    if (pause_us > took_us + LOOK_MOST_US)
        pause_us = took_us + LOOK_MOST_US;
    observer->look_at_us = began_us + pause_us;
}

static void look(struct observer *observer)
{
    uint64_t took_us;
    uint64_t began_us = clock_monotonic_us();
    observer->look_at_us = began_us + AGAIN_US;
    if (!compare_in_one_state(observer, compare_recent, &took_us))
        return;
    histogram_add(&observer->look_us, &OBSERVER_LOOK_SHAPE_US, took_us);
    plan_next_look(observer, began_us, took_us);
    count_found(observer, observer->looked);
    tell_older(observer);
    if (observer->suspects.list.count > 0)
        tell_looked(observer, began_us);
    if (!hand_over(observer))
        observer->before = (struct examined_before){0};
}

/* ---- the scrub ---- */

static void end_scrub(struct observer *observer, uint64_t now_us)
{
    uint64_t took_us = now_us - observer->scrub_began_us;
    observer->is_scrubbing = false;
    observer->scrub_at_us = now_us + observer->seen_interval_us;
    counter_add(&observer->scrubs, 1);
    counter_set(&observer->scrub_us, took_us);
    log_write(LOG_LEVEL_INFO, "berth", LOG_NO_CONTEXT,
              "the scrub compared %llu entities in memory with the database in %llu s; %llu "
              "differed",
              (unsigned long long)observer->scrub_compared, (unsigned long long)(took_us / 1000000),
              (unsigned long long)observer->scrub_found);
}

static bool compare_block(struct observer *observer, struct err *err)
{
    struct block *block = &observer->block;
    if (!store_observer_find(observer->rows, block->entity, block->ids, block->count, block_compare,
                             block, err))
        return false;
    observer->scrub_found += block_end(block, suspects_add, &observer->suspects);
    observer->scrub_compared += block->count;
    counter_add(&observer->scrubbed, block->count);
    return true;
}

static bool compare_next_block(struct observer *observer, struct err *err)
{
    struct block_place place = observer->place;
    observer->has_block = block_take(&observer->block, observer->version, &place);
    if (observer->has_block && !compare_block(observer, err))
        return false;
    observer->place = place;
    return true;
}

static void scrub_step(struct observer *observer)
{
    uint64_t took_us;
    observer->scrub_at_us = clock_monotonic_us() + AGAIN_US;
    if (!compare_in_one_state(observer, compare_next_block, &took_us))
        return;
    uint64_t now_us = clock_monotonic_us();
    uint64_t pause_us = took_us * SHARE;
    if (pause_us > STEP_MOST_US)
        pause_us = STEP_MOST_US;
    observer->scrub_at_us = now_us + (pause_us > STEP_EVERY_US ? pause_us : STEP_EVERY_US);
    if (!observer->has_block)
        end_scrub(observer, now_us);
    if (observer->suspects.list.count == 0)
        return;
    count_found(observer, observer->differed);
    tell_scrubbed(observer);
    (void)hand_over(observer);
}

static void begin_scrub(struct observer *observer, uint64_t now_us)
{
    observer->is_scrubbing = true;
    observer->place = (struct block_place){0};
    observer->scrub_began_us = now_us;
    observer->scrub_found = observer->scrub_compared = 0;
}

/* ---- the thread ---- */

/* Waits until then, or until the interval has changed; false: the thread ends. */
static bool await_time(struct observer *observer, uint64_t until_us)
{
    pthread_mutex_lock(&observer->lock);
    bool is_late = false;
    while (!observer->is_ending && !is_late && observer->interval_us == observer->seen_interval_us)
        is_late = !wait_until(&observer->wake, &observer->lock, until_us);
    bool goes_on = !observer->is_ending;
    pthread_mutex_unlock(&observer->lock);
    return goes_on;
}

/* Memory was read lately, or the last scrub was at another time. */
static void note_interval(struct observer *observer, uint64_t now_us)
{
    if (observer->interval_us == observer->seen_interval_us)
        return;
    observer->seen_interval_us = observer->interval_us;
    if (!observer->is_scrubbing)
        observer->scrub_at_us = now_us + observer->seen_interval_us;
}

static bool is_scrub_due(const struct observer *observer, uint64_t now_us)
{
    return observer->seen_interval_us != 0 && now_us >= observer->scrub_at_us;
}

static uint64_t next_us(const struct observer *observer)
{
    bool has_scrub =
        observer->seen_interval_us != 0 && observer->scrub_at_us < observer->look_at_us;
    return has_scrub ? observer->scrub_at_us : observer->look_at_us;
}

static void *run_observer(void *cls)
{
    struct observer *observer = cls;
    pthread_setname_np(pthread_self(), "observer");
    while (await_time(observer, next_us(observer))) {
        uint64_t now_us = clock_monotonic_us();
        note_interval(observer, now_us);
        if (now_us >= observer->look_at_us) {
            look(observer);
        } else if (is_scrub_due(observer, now_us)) {
            if (!observer->is_scrubbing)
                begin_scrub(observer, now_us);
            scrub_step(observer);
        }
    }
    return NULL;
}

/* ---- for others ---- */

static void observer_free(struct observer *observer)
{
    store_observer_free(observer->rows);
    replica_reader_close(observer->reader);
    pthread_cond_destroy(&observer->wake);
    pthread_mutex_destroy(&observer->lock);
    arena_destroy(observer->request_arena);
    arena_destroy(observer->arena);
    free(observer);
}

struct observer *observer_start(struct store_observer *rows, struct replica *replica,
                                struct currency *currency, struct currency_writer writer)
{
    struct observer *observer = calloc(1, sizeof(*observer));
    check(observer != NULL);
    observer->rows = rows;
    observer->reader = replica_reader_open(replica);
    observer->currency = currency;
    observer->writer = writer;
    observer->arena = arena_create();
    observer->request_arena = arena_create();
    pthread_mutex_init(&observer->lock, NULL);
    wait_init(&observer->wake);
    if (pthread_create(&observer->thread, NULL, run_observer, observer) == 0)
        return observer;
    observer_free(observer);
    return NULL;
}

void observer_set_scrub_interval(struct observer *observer, uint64_t interval_us)
{
    pthread_mutex_lock(&observer->lock);
    observer->interval_us = interval_us;
    pthread_mutex_unlock(&observer->lock);
    pthread_cond_signal(&observer->wake);
}

void observer_stop(struct observer *observer)
{
    if (observer == NULL)
        return;
    store_observer_stop(observer->rows);
    pthread_mutex_lock(&observer->lock);
    observer->is_ending = true;
    pthread_mutex_unlock(&observer->lock);
    pthread_cond_signal(&observer->wake);
    pthread_join(observer->thread, NULL);
}

void observer_destroy(struct observer *observer)
{
    if (observer != NULL)
        observer_free(observer);
}

struct observer_figures observer_figures(const struct observer *observer)
{
    struct observer_figures figures = {0};
    if (observer == NULL)
        return figures;
    histogram_read(&observer->look_us, &figures.look_us);
    figures.put_off = counter_read(&observer->put_off);
    figures.scrubs = counter_read(&observer->scrubs);
    figures.scrubbed = counter_read(&observer->scrubbed);
    figures.scrub_us = counter_read(&observer->scrub_us);
    for (int entity = 0; entity < ENTITY_COUNT; entity++) {
        figures.looked[entity] = counter_read(&observer->looked[entity]);
        figures.differed[entity] = counter_read(&observer->differed[entity]);
    }
    return figures;
}
