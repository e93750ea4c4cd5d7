/* One batch: memory brought up to date, every request planned, one transaction, all answered.
 *
 * Invariants (architecture, section 6): 1. a version equals the store at one committed state; 2.
 * nothing is answered or published before it is committed. A batch is planned request by request on
 * one edit; a refused request leaves no change; a store that fails takes the whole batch with it,
 * memory included. Writer thread only. */
#include "base/arena.h"
#include "base/clock.h"
#include "engine/pipeline_internal.h"
#include "replica/apply.h"

_Static_assert(sizeof(struct store_stamp) == sizeof(struct version_stamp), "stamps are copied");

static void count_refusal(struct pipeline *pipeline, const struct pipeline_request *request,
                          bool database_failed)
{
    enum pipeline_refusal why =
        database_failed ? REFUSED_BY_DATABASE : (enum pipeline_refusal)request->err.kind;
    if (request->plan != NULL && err_is_set(&request->err))
        counter_add(&pipeline->refused[why], 1);
}

/* `culprit`: whose changes the failure is about, or NULL. */
static void answer_all(struct pipeline *pipeline, struct pipeline_request *first,
                       const struct err *failure, const struct pipeline_request *culprit)
{
    while (first != NULL) {
        struct pipeline_request *request = first;
        first = request->next;
        if (failure != NULL) {
            /* whatever it was refused for may have been the work of its batch, which is undone */
            request->err = (struct err){.arena = request->err.arena};
            err_set(&request->err, failure->status, failure->code, "%.*s",
                    SLICE_ARG(failure->message));
            if (request == culprit)
                request->err.kind = REFUSED_BY_DATABASE;
        }
        count_refusal(pipeline, request, failure != NULL);
        request->done(request);
    }
}

static void sink_apply(void *cls, const struct change *change)
{
    apply_change(cls, change);
}

/* What a stranger wrote, who keeps none of our rules. */
static void compare_loaded(struct pipeline *pipeline, const struct edit *edit)
{
    const struct version *before =
        pipeline->reloads == 1 ? NULL : replica_newest(pipeline->replica);
    sweep_compare(&pipeline->sweep, before, edit->version, pipeline->arena);
}

/* An edit that is as new as the database, as the open transaction sees it. NULL with err when it
 * cannot be made; the transaction is ended. */
static struct edit *bring_up_to_date(struct pipeline *pipeline, enum store_begun begun,
                                     struct err *err)
{
    if (begun == STORE_BEGIN_FAILED)
        return NULL;
    struct edit *edit;
    enum store_result result = STORE_OK;
    if (begun == STORE_BEGIN_RELOAD) {
        pipeline->reloads++;
        edit = replica_edit_empty(pipeline->replica);
        result = store_load(pipeline->store, sink_apply, edit, err);
    } else {
        edit = replica_edit(pipeline->replica);
        if (begun == STORE_BEGIN_FOLLOW) {
            pipeline->follows++;
            result = store_follow(pipeline->store, sink_apply, edit, err);
        }
    }
    if (result == STORE_OK) {
        apply_flush(edit);
        if (begun == STORE_BEGIN_RELOAD)
            compare_loaded(pipeline, edit);
        else if (begun == STORE_BEGIN_FOLLOW)
            sweep_follow(&pipeline->sweep, replica_newest(pipeline->replica), edit->version);
        return edit;
    }
    struct store_stamp ignored;
    store_rollback(pipeline->store, &ignored);
    replica_abandon(pipeline->replica, edit);
    return NULL;
}

/* Writes what is in the plan's list and takes it over into memory. */
static enum store_result apply_planned(const struct plan *plan, struct edit *edit, struct err *err)
{
    enum store_result result = store_apply(plan->store, plan->changes, err);
    if (result == STORE_OK)
        apply_changes(edit, plan->changes);
    plan->changes->count = 0;
    return result;
}

static enum store_result apply_settled(const struct plan *plan, struct settle *settle,
                                       struct edit *edit, size_t *changes_made, struct err *err)
{
    enum store_result result = STORE_OK;
    while (result == STORE_OK && settle_next(settle, plan)) {
        *changes_made += plan->changes->count;
        result = apply_planned(plan, edit, err);
    }
    return result;
}

/* What a request was planned to change, and what follows from it. */
static enum store_result apply_request(const struct plan *plan, struct edit *edit,
                                       size_t *changes_made, struct err *err)
{
    struct settle settle;
    settle_begin(&settle, plan);
    *changes_made += plan->changes->count;
    enum store_result result = apply_planned(plan, edit, err);
    return result == STORE_OK ? apply_settled(plan, &settle, edit, changes_made, err) : result;
}

/* What strangers have left to do. */
static bool sweep(struct pipeline *pipeline, const struct plan *plan, struct edit *edit,
                  size_t *changes_made, struct err *err)
{
    struct settle settle;
    if (!pipeline->sweep.is_due)
        return true;
    plan->changes->count = 0;
    sweep_begin(&pipeline->sweep, &settle, plan);
    enum store_result result = apply_settled(plan, &settle, edit, changes_made, err);
    if (result == STORE_REFUSED)
        sweep_end(&pipeline->sweep); /* it would be refused with the next batch, too */
    return result == STORE_OK;
}

/* Plans every request of the batch on the edit; false when the store failed (err is set), and if it
 * did for one request's changes, *culprit is that request. */
static bool plan_batch(struct pipeline *pipeline, struct edit *edit, struct pipeline_request *first,
                       size_t *changes_made, const struct pipeline_request **culprit,
                       struct err *err)
{
    struct change_list changes = {.arena = pipeline->arena};
    struct plan plan = {
        .version = edit->version,
        .changes = &changes,
        .arena = pipeline->arena,
        .store = pipeline->store,
        .metal = pipeline->metal,
        .now_us = clock_wall_us(),
    };
    if (!sweep(pipeline, &plan, edit, changes_made, err))
        return false;
    for (struct pipeline_request *request = first; request != NULL; request = request->next) {
        changes.count = 0;
        plan.now_us = clock_wall_us();
        if (!request->plan(request, &plan)) {
            check(err_is_set(&request->err));
            continue;
        }
        if (changes.count == 0)
            continue;
        enum store_result result = apply_request(&plan, edit, changes_made, err);
        if (result == STORE_REFUSED)
            *culprit = request;
        if (result != STORE_OK)
            return false;
        if (request->settled != NULL)
            request->settled(request, &plan);
    }
    return true;
}

static void publish(struct pipeline *pipeline, struct edit *edit, const struct store_stamp *stamp,
                    bool holds)
{
    struct version_stamp copy = {
        {0}}; /* all zero is never current: readers will ask the writer again */
    if (holds) {
        memcpy(&copy, stamp, sizeof(copy));
        counter_set(&pipeline->fresh_at_us, clock_monotonic_us());
    }
    replica_publish(pipeline->replica, edit, &copy);
}

bool batch_renew(struct pipeline *pipeline, struct err *err)
{
    enum store_begun begun = store_begin(pipeline->store, STORE_TO_READ, err);
    struct edit *edit = bring_up_to_date(pipeline, begun, err);
    if (edit == NULL)
        return false;
    struct store_stamp stamp;
    bool holds = store_rollback(pipeline->store, &stamp);
    publish(pipeline, edit, &stamp, holds);
    return true;
}

/* The same, and tells when that fails. */
static bool renew(struct pipeline *pipeline, struct err *err)
{
    if (!batch_renew(pipeline, err)) {
        outage_read_failed(&pipeline->outage, err);
        return false;
    }
    outage_read_worked(&pipeline->outage);
    return true;
}

static bool is_current(struct pipeline *pipeline)
{
    if (!pipeline_is_current(pipeline, replica_newest(pipeline->replica)))
        return false;
    counter_set(&pipeline->fresh_at_us, clock_monotonic_us());
    return true;
}

/* Reads the database, and follows it; the schema is asked in the same transaction. */
static void ask_database(struct pipeline *pipeline, struct pipeline_probe *probe, struct err *err)
{
    struct err schema = {.arena = err->arena};
    struct store_stamp stamp;
    enum store_begun begun = store_begin(pipeline->store, STORE_TO_READ, err);
    *probe = (struct pipeline_probe){.is_reached = begun != STORE_BEGIN_FAILED};
    if (!probe->is_reached)
        return;
    probe->is_served = store_check_schema(pipeline->store, probe->revision, &schema);
    if (begun == STORE_BEGIN_UNCHANGED && is_current(pipeline)) {
        store_rollback(pipeline->store, &stamp);
        probe->is_followed = true;
    } else {
        struct edit *edit = bring_up_to_date(pipeline, begun, err);
        probe->is_followed = edit != NULL;
        if (edit != NULL) {
            bool holds = store_rollback(pipeline->store, &stamp);
            publish(pipeline, edit, &stamp, holds);
        }
    }
    if (!probe->is_served)
        err_set_text(err, schema.status, schema.code, schema.message);
}

/* One answer serves all that ask. */
static void answer_probes(struct pipeline *pipeline, struct pipeline_request *first)
{
    struct err err = {.arena = pipeline->arena};
    struct pipeline_probe probe;
    ask_database(pipeline, &probe, &err);
    if (probe.is_reached && probe.is_followed)
        outage_read_worked(&pipeline->outage);
    else
        outage_read_failed(&pipeline->outage, &err);
    for (struct pipeline_request *request = first; request != NULL; request = request->next)
        *request->probe = probe;
    answer_all(pipeline, first, err_is_set(&err) ? &err : NULL, NULL);
}

static void answer_readers(struct pipeline *pipeline, struct pipeline_request *first)
{
    struct err err = {.arena = pipeline->arena};
    /* Mostly the last commit of our own is what they did not know yet. */
    if (is_current(pipeline) || renew(pipeline, &err))
        answer_all(pipeline, first, NULL, NULL);
    else
        answer_all(pipeline, first, &err, NULL);
}

static void answer_waiting(struct pipeline *pipeline, struct pipeline_request *first)
{
    struct queue readers;
    struct queue probes;
    queue_clear(&readers);
    queue_clear(&probes);
    while (first != NULL) {
        struct pipeline_request *request = first;
        first = request->next;
        queue_append(request->probe == NULL ? &readers : &probes, request);
    }
    if (readers.first != NULL)
        answer_readers(pipeline, readers.first);
    if (probes.first != NULL)
        answer_probes(pipeline, probes.first);
}

/* The write lock may be somebody else's for seconds: reads need not wait with the writes. */
static enum store_begun lock_to_write(struct pipeline *pipeline, struct err *err)
{
    enum store_begun begun;
    while ((begun = store_begin(pipeline->store, STORE_TO_WRITE_SOON, err)) == STORE_BEGIN_BUSY) {
        pipeline_beat(pipeline);
        struct pipeline_request *readers = pipeline_take_readers(pipeline);
        if (readers != NULL)
            answer_waiting(pipeline, readers);
    }
    return begun;
}

/* A load takes long: it is made in a snapshot first, so that it holds the lock only if somebody
 * writes meanwhile. */
static struct edit *begin_to_write(struct pipeline *pipeline, struct err *err)
{
    struct store_stamp ignored;
    enum store_begun begun = lock_to_write(pipeline, err);
    if (begun != STORE_BEGIN_RELOAD)
        return bring_up_to_date(pipeline, begun, err);
    store_rollback(pipeline->store, &ignored);
    if (!renew(pipeline, err))
        return NULL;
    begun = lock_to_write(pipeline, err);
    return bring_up_to_date(pipeline, begun, err);
}

static void refuse_all(struct pipeline *pipeline, struct pipeline_request *first,
                       const struct err *err, const struct pipeline_request *culprit)
{
    outage_write_failed(&pipeline->outage, err);
    answer_all(pipeline, first, err, culprit);
}

static void run_planned(struct pipeline *pipeline, struct pipeline_request *first)
{
    struct err err = {.arena = pipeline->arena};
    struct edit *edit = begin_to_write(pipeline, &err);
    if (edit == NULL) {
        refuse_all(pipeline, first, &err, NULL);
        return;
    }
    size_t changes = 0;
    struct store_stamp stamp;
    const struct pipeline_request *culprit = NULL;
    if (!plan_batch(pipeline, edit, first, &changes, &culprit, &err)) {
        store_rollback(pipeline->store, &stamp);
        replica_abandon(pipeline->replica, edit);
        refuse_all(pipeline, first, &err, culprit);
        return;
    }
    if (changes == 0) {
        bool holds = store_rollback(pipeline->store, &stamp);
        sweep_end(&pipeline->sweep);
        publish(pipeline, edit, &stamp, holds);
        answer_all(pipeline, first, NULL, NULL);
        return;
    }
    bool stranger = false;
    uint64_t before = clock_monotonic_us();
    if (store_commit(pipeline->store, &stamp, &stranger, &err) != STORE_OK) {
        replica_abandon(pipeline->replica, edit);
        refuse_all(pipeline, first, &err, NULL);
        return;
    }
    outage_write_worked(&pipeline->outage);
    sweep_end(&pipeline->sweep);
    pipeline->last_commit_us = clock_monotonic_us() - before;
    pipeline->commits++;
    histogram_add(&pipeline->commit_us, &PIPELINE_COMMIT_SHAPE_US, pipeline->last_commit_us);
    publish(pipeline, edit, &stamp, !stranger);
    answer_all(pipeline, first, NULL, NULL);
}

/* What only waits for news goes first: it needs neither the lock that another process may hold nor
 * a disk that can be written. */
void batch_run(struct pipeline *pipeline, struct pipeline_request *first)
{
    struct queue waiting;
    struct queue planned;
    queue_clear(&waiting);
    queue_clear(&planned);
    while (first != NULL) {
        struct pipeline_request *request = first;
        first = request->next;
        queue_append(request->plan == NULL ? &waiting : &planned, request);
    }
    if (waiting.first != NULL)
        answer_waiting(pipeline, waiting.first);
    if (planned.first == NULL)
        return;
    histogram_add(&pipeline->batch_requests, &PIPELINE_BATCH_SHAPE, planned.count);
    run_planned(pipeline, planned.first);
}
