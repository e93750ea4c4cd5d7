/* Publishing by generation: each thread holds the policy that it used last, and compares the
 * keeper's generation number before each check; only if the number has changed does it lock, to
 * exchange the old policy for the new one. So an old policy is freed when the last thread has made
 * another check or ended.
 *
 * Invariants: `current` and `generation` change together under the lock; a thread holds a reference
 * to its policy. */
#include "policy/keeper.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/counter.h"
#include "log/log.h"

enum { FRESH_US = 100 * 1000 };

static const char LOGGER[] = "berth.policy";

struct policy_keeper {
    _Atomic uint64_t generation; /* no generation number is used twice, even by different keepers */
    pthread_mutex_t lock;
    struct policy *current;

    /* Only used by the main thread. */
    bool has_places;
    struct policy_places places;
    struct policy_options options;
    struct arena *arena; /* of the inventory */
    struct policy_inventory read;
    bool waited; /* for the writer of a file, at the last check */
    bool missed; /* a file or directory, at the last check */
    bool unread; /* the files found at the last check are still to be read, unless they have changed
                    since */
    char *problem; /* the last problem logged; NULL: the files that were read are in force */

    struct counter reloads; /* figures that any thread may read */
    struct counter failures;
    struct counter is_stale;
};

static struct {
    pthread_once_t once;
    pthread_key_t at_thread_end;
    _Atomic uint64_t generations;
} state = {.once = PTHREAD_ONCE_INIT};

static _Thread_local struct {
    uint64_t generation;
    struct policy *policy;
} own;

static void end_thread(void *policy)
{
    policy_release(policy);
}

static void make_key(void)
{
    check(pthread_key_create(&state.at_thread_end, end_thread) == 0);
}

/* Makes the calling thread hold `policy`, whose reference it already has, in place of the one that
 * it held. */
static void hold_in_thread(struct policy *policy, uint64_t generation)
{
    struct policy *before = own.policy;
    pthread_once(&state.once, make_key);
    own.policy = policy;
    own.generation = generation;
    check(pthread_setspecific(state.at_thread_end, policy) == 0);
    if (before != NULL)
        policy_release(before);
}

const struct policy *policy_keeper_current(struct policy_keeper *keeper)
{
    if (atomic_load_explicit(&keeper->generation, memory_order_acquire) == own.generation)
        return own.policy;
    pthread_mutex_lock(&keeper->lock);
    struct policy *policy = keeper->current;
    uint64_t generation = atomic_load_explicit(&keeper->generation, memory_order_relaxed);
    policy_hold(policy);
    pthread_mutex_unlock(&keeper->lock);
    hold_in_thread(policy, generation);
    return policy;
}

static void publish(struct policy_keeper *keeper, struct policy *policy)
{
    pthread_mutex_lock(&keeper->lock);
    struct policy *before = keeper->current;
    keeper->current = policy;
    atomic_store_explicit(&keeper->generation,
                          atomic_fetch_add_explicit(&state.generations, 1, memory_order_relaxed) +
                              1,
                          memory_order_release);
    pthread_mutex_unlock(&keeper->lock);
    if (before != NULL)
        policy_release(before);
}

static struct policy_keeper *keeper_new(void)
{
    struct policy_keeper *keeper = calloc(1, sizeof(*keeper));
    check(keeper != NULL && pthread_mutex_init(&keeper->lock, NULL) == 0);
    return keeper;
}

struct policy_keeper *policy_keeper_of(struct policy *policy)
{
    struct policy_keeper *keeper = keeper_new();
    publish(keeper, policy);
    return keeper;
}

static void add_notes(struct policy *policy, const struct policy_notes *notes)
{
    for (unsigned i = 0; i < notes->count; i++)
        policy_note(&policy->notes, notes->items[i].level, "%.*s", SLICE_ARG(notes->items[i].text));
    policy->notes.more += notes->more;
    policy->notes.more_warnings += notes->more_warnings;
}

static struct policy *build(const struct policy_inventory *inventory,
                            const struct policy_options *options, struct err *err)
{
    struct arena *arena = arena_create();
    struct policy_notes notes = {.arena = arena};
    struct policy_overrides overrides;
    struct policy *policy = NULL;
    if (inventory->missing != NULL)
        policy_note(
            &notes, LOG_LEVEL_WARNING,
            "[oslo_policy] policy_file: there is no %s in the directories that are searched",
            inventory->missing);
    if (policy_files_read(inventory, arena, &overrides, &notes, err))
        policy = policy_build(options, &overrides, err);
    if (policy != NULL)
        add_notes(policy, &notes);
    arena_destroy(arena);
    return policy;
}

struct policy *policy_load(const struct policy_places *places, const struct policy_options *options,
                           struct err *err)
{
    struct arena *arena = arena_create();
    struct policy_inventory inventory;
    struct policy *policy = NULL;
    if (policy_files_list(places, arena, &inventory, err))
        policy = build(&inventory, options, err);
    arena_destroy(arena);
    return policy;
}

/* `quiet`: at startup, nothing is logged if there are no files. */
static void log_loaded(const struct policy *policy, const struct policy_inventory *inventory,
                       bool quiet)
{
    struct buf files = {0};
    for (size_t i = 0; i < inventory->count; i++)
        buf_printf(&files, "%s%s", i == 0 ? "" : ", ", inventory->files[i].path);
    if (files.len > 0)
        log_write(LOG_LEVEL_INFO, LOGGER, LOG_NO_CONTEXT, "policies: the defaults, changed by %.*s",
                  SLICE_ARG(buf_slice(&files)));
    else
        log_write(quiet ? LOG_LEVEL_DEBUG : LOG_LEVEL_INFO, LOGGER, LOG_NO_CONTEXT,
                  "policies: the defaults; no policy file");
    buf_free(&files);
    for (unsigned i = 0; i < policy->notes.count; i++)
        log_write(policy->notes.items[i].level, LOGGER, LOG_NO_CONTEXT, "%.*s",
                  SLICE_ARG(policy->notes.items[i].text));
    if (policy->notes.more > 0)
        log_write(LOG_LEVEL_WARNING, LOGGER, LOG_NO_CONTEXT,
                  "and %u more about policies: berth policy validate lists all",
                  policy->notes.more);
}

/* Takes ownership of the arena. */
static void keep_inventory(struct policy_keeper *keeper, struct arena *arena,
                           const struct policy_inventory *inventory)
{
    if (keeper->arena != NULL)
        arena_destroy(keeper->arena);
    keeper->arena = arena;
    keeper->read = *inventory;
}

struct policy_keeper *policy_keeper_open(const struct policy_places *places,
                                         const struct policy_options *options, struct err *err)
{
    struct arena *arena = arena_create();
    struct policy_inventory inventory;
    struct policy *policy = NULL;
    if (policy_files_list(places, arena, &inventory, err))
        policy = build(&inventory, options, err);
    if (policy == NULL) {
        arena_destroy(arena);
        return NULL;
    }
    struct policy_keeper *keeper = policy_keeper_of(policy);
    keeper->has_places = true;
    keeper->places = *places;
    keeper->options = *options;
    keep_inventory(keeper, arena, &inventory);
    log_loaded(policy, &inventory, true);
    return keeper;
}

void policy_keeper_close(struct policy_keeper *keeper)
{
    if (keeper == NULL)
        return;
    if (own.policy == keeper->current)
        hold_in_thread(NULL, 0);
    policy_release(keeper->current);
    if (keeper->arena != NULL)
        arena_destroy(keeper->arena);
    pthread_mutex_destroy(&keeper->lock);
    free(keeper->problem);
    free(keeper);
}

/* A file changed within the last tenth of a second may still be being written. Times in the future
 * are ignored. */
static bool is_fresh(const struct policy_inventory *inventory)
{
    int64_t now_us = clock_wall_us();
    for (size_t i = 0; i < inventory->count; i++) {
        struct timespec then = inventory->files[i].modified;
        int64_t age_s = now_us / 1000000 - then.tv_sec;
        int64_t age_us = age_s * 1000000 + now_us % 1000000 - then.tv_nsec / 1000;
        if (age_s >= -1 && age_s <= 1 && age_us >= 0 && age_us < FRESH_US)
            return true;
    }
    return false;
}

static void forget_problem(struct policy_keeper *keeper)
{
    free(keeper->problem);
    keeper->problem = NULL;
}

struct policy_keeper_figures policy_keeper_figures(const struct policy_keeper *keeper)
{
    return (struct policy_keeper_figures){
        .reloads = counter_read(&keeper->reloads),
        .failures = counter_read(&keeper->failures),
        .is_stale = counter_read(&keeper->is_stale) != 0,
    };
}

static void complain(struct policy_keeper *keeper, struct slice problem)
{
    if (keeper->problem != NULL && slice_equal(slice_of(keeper->problem), problem))
        return;
    forget_problem(keeper);
    keeper->problem = slice_dup(problem);
    counter_set(&keeper->is_stale, 1);
    counter_add(&keeper->failures, 1);
    log_write(LOG_LEVEL_ERROR, LOGGER, LOG_NO_CONTEXT,
              "policies stay as they were, because the files are invalid: %.*s",
              SLICE_ARG(problem));
}

static void reload(struct policy_keeper *keeper, const struct policy_inventory *inventory,
                   struct err *err)
{
    struct policy *policy = build(inventory, &keeper->options, err);
    if (policy == NULL) {
        complain(keeper, err->message);
        return;
    }
    forget_problem(keeper);
    log_loaded(policy, inventory, false);
    publish(keeper, policy);
    counter_set(&keeper->is_stale, 0);
    counter_add(&keeper->reloads, 1);
}

/* A missing file or directory removes no rules unless SIGHUP requests it: it may be in the middle
 * of a rename, which the first check tolerates, or its disk may be unavailable. */
static bool is_complete(struct policy_keeper *keeper, struct arena *arena,
                        const struct policy_inventory *inventory)
{
    const char *gone = policy_inventory_find_gone(&keeper->read, inventory);
    if (gone != NULL && keeper->missed)
        complain(keeper, arena_printf(arena, "%s is missing; SIGHUP drops its rules", gone));
    keeper->missed = gone != NULL;
    return gone == NULL;
}

void policy_keeper_look(struct policy_keeper *keeper, bool forced)
{
    if (!keeper->has_places)
        return;
    if (forced)
        forget_problem(keeper);
    struct arena *arena = arena_create();
    struct err err = {.arena = arena};
    struct policy_inventory inventory;
    bool listed = policy_files_list(&keeper->places, arena, &inventory, &err);
    if (!listed)
        complain(keeper, err.message);
    bool usable = listed && (forced || is_complete(keeper, arena, &inventory));
    bool unread = forced || keeper->unread;
    bool same = usable && !unread && policy_inventory_equal(&inventory, &keeper->read);
    bool wait = usable && !forced && !same && !keeper->waited && is_fresh(&inventory);
    keeper->waited = wait;
    keeper->unread = !usable || (wait && unread);
    if (!usable || same || wait) {
        arena_destroy(arena);
        return;
    }
    reload(keeper, &inventory, &err);
    keep_inventory(keeper, arena, &inventory);
}
