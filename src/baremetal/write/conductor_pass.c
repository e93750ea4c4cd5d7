/* Passes: collect what is due from a version, submit one request for each, wait for all, repeat.
 *
 * What is due is read from the rows (busy nodes with the time they are due, allocations in state
 * allocating), so that nothing has to be restored after a crash. A job whose work has already been
 * done by another process or request changes nothing. The conductor's thread only, except
 * conductor_job_done. */
#include <stdlib.h>

#include "baremetal/write/conductor_internal.h"
#include "baremetal/write/node_rule.h"
#include "log/log.h"
#include "replica/nodes.h"

void conductor_job_done(struct pipeline_request *request)
{
    struct conductor_job *job = (struct conductor_job *)request;
    struct conductor *conductor = job->conductor;
    pthread_mutex_lock(&conductor->lock);
    conductor->pending--;
    if (conductor->pending == 0)
        pthread_cond_signal(&conductor->changed);
    pthread_mutex_unlock(&conductor->lock);
}

/* NULL: the pass is full. */
static struct conductor_job *add_job(struct conductor *conductor, enum conductor_work work,
                                     int64_t id, int64_t due_us)
{
    if (conductor->job_count == CONDUCTOR_JOBS_MAX)
        return NULL;
    struct conductor_job *job = &conductor->jobs[conductor->job_count++];
    *job = (struct conductor_job){
        .request = {.plan = conductor_plan,
                    .done = conductor_job_done,
                    .author = &node_rule,
                    .err = {.arena = conductor->arena}},
        .conductor = conductor,
        .work = work,
        .id = id,
        .due_us = due_us,
    };
    return job;
}

/* Locks of ended processes are removed before allocations look for nodes. False: the pass is full.
 */
static bool collect_nodes(struct conductor *conductor, const struct version *version,
                          bool *recovers)
{
    for (const struct node *node = version_next_busy_node(version, 0); node != NULL;
         node = version_next_busy_node(version, node->record.id)) {
        bool is_ours;
        const struct conductor_row row = {
            .seen = conductor->nodes_seen,
            .id = node->record.id,
            .owner = node_text(node, NODE_OWNER_INSTANCE),
            .due_us = node_time(node, NODE_DUE_AT),
            .longest_us = conductor->metal->fake_delay_us,
        };
        if (!conductor_is_due(conductor, &row, &is_ours) ||
            conductor_is_set_aside(conductor, WORK_ADVANCE, row.id, row.due_us))
            continue;
        *recovers = *recovers || !is_ours;
        enum conductor_work work = is_ours ? WORK_ADVANCE : WORK_RECOVER;
        if (add_job(conductor, work, row.id, row.due_us) == NULL)
            return false;
    }
    return true;
}

/* False: the pass is full. */
static bool collect_allocations(struct conductor *conductor, const struct version *version)
{
    const struct metal *metal = conductor->metal;
    for (const struct node_allocation *at = version_next_allocating(version, 0); at != NULL;
         at = version_next_allocating(version, at->record.id)) {
        const struct conductor_row row = {
            .seen = conductor->allocations_seen,
            .id = at->record.id,
            .owner = node_allocation_text(at, NODE_ALLOCATION_OWNER_INSTANCE),
            .due_us = node_allocation_time(at, NODE_ALLOCATION_DUE_AT),
        };
        struct conductor_try *again = conductor_find_try(conductor, row.id, row.due_us);
        bool is_ours;
        bool is_due = conductor_is_due(conductor, &row, &is_ours);
        if (again != NULL && conductor_is_to_come(again->next_us, conductor->now.wall_us,
                                                  metal->locked_retry_interval_us)) {
            conductor_note_due(conductor, again->next_us);
            continue;
        }
        if (!is_due || conductor_is_set_aside(conductor, WORK_DECIDE, row.id, row.due_us))
            continue;
        struct conductor_job *job = add_job(conductor, WORK_DECIDE, row.id, row.due_us);
        if (job == NULL)
            return false;
        if (again != NULL) {
            job->choice = again->choice;
            again->choice = (struct node_choice){0};
        }
    }
    return true;
}

/* After a load or merge, because another program may have written Placement's tables, or the mirror
 * may have been turned on. */
static void watch_loads(struct conductor *conductor)
{
    struct conductor_walk *walk = &conductor->walk;
    uint64_t loads = pipeline_figures(conductor->pipeline).reloads;
    if (loads != walk->loads_seen && conductor->metal->mirror) {
        walk->is_wanted = true;
        walk->is_begun = false;
    }
    walk->loads_seen = loads;
}

static void begin_walk(struct conductor_walk *walk)
{
    if (walk->is_begun)
        return;
    walk->is_begun = true;
    walk->is_walked = false;
    walk->after = 0;
    walk->conflicts.count = 0;
}

/* Nodes that could not be mirrored have been logged. */
static void end_walk(struct conductor_walk *walk)
{
    struct conductor_ids previous = walk->conflicts;
    walk->conflicts = walk->conflicts_before;
    walk->conflicts_before = previous;
    walk->is_wanted = walk->is_begun = false;
}

/* True: all nodes have been examined. */
static bool collect_unmirrored(struct conductor *conductor, const struct version *version)
{
    struct conductor_walk *walk = &conductor->walk;
    if (!walk->is_wanted)
        return true;
    begin_walk(walk);
    for (const struct node *node = version_next_node(version, walk->after); node != NULL;
         node = version_next_node(version, walk->after)) {
        if (!node_is_mirrored(version, node, conductor->arena) &&
            !conductor_is_set_aside(conductor, WORK_MIRROR, node->record.id, 0) &&
            add_job(conductor, WORK_MIRROR, node->record.id, 0) == NULL)
            return false;
        walk->after = node->record.id;
    }
    walk->is_walked = true;
    return true;
}

/* Refused rows get at most every other pass, so that other rows are not delayed. */
static bool collect_refused(struct conductor *conductor, const struct version *version,
                            int64_t now_us)
{
    const struct conductor_refusal *refusal = conductor_next_refused(conductor, version, now_us);
    if (refusal != NULL && conductor->is_alone)
        conductor_note_due(conductor, now_us);
    conductor->is_alone = refusal != NULL && !conductor->is_alone;
    return conductor->is_alone &&
           add_job(conductor, refusal->work, refusal->id, refusal->due_us) != NULL;
}

/* Rows of the kind that is not examined stay as they were seen. */
static void collect_due(struct conductor *conductor, const struct version *version)
{
    bool recovers = false;
    conductor_begin_seen(conductor->nodes_seen);
    conductor_end_seen(conductor->nodes_seen, collect_nodes(conductor, version, &recovers));
    if (!collect_unmirrored(conductor, version) || recovers)
        return;
    conductor_begin_seen(conductor->allocations_seen);
    conductor_end_seen(conductor->allocations_seen, collect_allocations(conductor, version));
}

unsigned conductor_begin_pass(struct conductor *conductor, struct conductor_time now)
{
    conductor->job_count = 0;
    conductor->now = now;
    conductor->next_us = now.wall_us + CONDUCTOR_LOOK_EVERY_US;
    conductor->wants_proof = false;
    conductor->owner_seen = (struct slice){0};
    arena_reset(conductor->arena);
    watch_loads(conductor);
    const struct version *version = replica_pin(conductor->reader);
    conductor_tidy_tries(conductor, version);
    if (!collect_refused(conductor, version, now.wall_us))
        collect_due(conductor, version);
    replica_unpin(conductor->reader);
    if (conductor->wants_proof)
        (void)add_job(conductor, WORK_PROVE, 0, 0);
    conductor->pending = conductor->job_count; /* no other thread counts before the first submit */
    for (unsigned i = 0; i < conductor->job_count; i++)
        pipeline_submit(conductor->pipeline, &conductor->jobs[i].request);
    return conductor->job_count;
}

static int conductor_pass_compare_ids(const void *a, const void *b)
{
    int64_t one = *(const int64_t *)a;
    int64_t other = *(const int64_t *)b;
    return (one > other) - (one < other);
}

static void add_id(struct conductor_ids *ids, int64_t id)
{
    if (ids->count == ids->capacity) {
        ids->capacity = ids->capacity == 0 ? 16 : 2 * ids->capacity;
        ids->at = reallocarray(ids->at, ids->capacity, sizeof(*ids->at));
        check(ids->at != NULL);
    }
    ids->at[ids->count++] = id;
}

/* A node that cannot be mirrored is logged once, not in each walk. */
static void note_conflict(struct conductor *conductor, const struct conductor_job *job)
{
    struct conductor_walk *walk = &conductor->walk;
    const struct conductor_ids *before = &walk->conflicts_before;
    add_id(&walk->conflicts, job->id);
    if (before->count > 0 && bsearch(&job->id, before->at, before->count, sizeof(job->id),
                                     conductor_pass_compare_ids) != NULL)
        return;
    log_write(LOG_LEVEL_WARNING, "berth.baremetal", LOG_NO_CONTEXT, "%.*s",
              SLICE_ARG(job->request.err.message));
}

/* The decision may be that no node is free. It is logged because the client that created the
 * allocation was answered long before. */
static void log_decision(struct conductor *conductor, const struct conductor_job *job)
{
    const struct version *version = replica_pin(conductor->reader);
    const struct node_allocation *allocation = version_node_allocation(version, job->id);
    if (allocation != NULL && node_allocation_text_is(allocation, NODE_ALLOCATION_STATE, "error"))
        log_write(LOG_LEVEL_ERROR, "berth.baremetal", LOG_NO_CONTEXT, "%.*s",
                  SLICE_ARG(node_allocation_text(allocation, NODE_ALLOCATION_LAST_ERROR)));
    replica_unpin(conductor->reader);
}

/* The batch failed: what the choice remembers may come from changes that were lost. */
static void end_failed(struct conductor *conductor, struct conductor_job *job)
{
    conductor->proven_us = 0;
    node_choice_free(&job->choice);
    if (job->work == WORK_MIRROR)
        conductor->walk.is_begun = false;
}

static bool has_failed(const struct conductor_job *job)
{
    return err_is_set(&job->request.err) &&
           (job->request.err.status >= 500 || job->request.err.kind == (int)REFUSED_BY_DATABASE);
}

/* Whether the job would fail again in any batch. */
static bool is_refused(const struct conductor_job *job)
{
    return err_is_set(&job->request.err) &&
           (job->request.err.status < 500 || job->request.err.kind == (int)REFUSED_BY_DATABASE);
}

static void end_job(struct conductor *conductor, struct conductor_job *job)
{
    const int64_t now_us = conductor->now.wall_us;
    bool is_conflict = job->work == WORK_MIRROR && is_refused(job) && !has_failed(job);
    if (is_refused(job) && !is_conflict)
        conductor_set_aside(conductor, job, now_us);
    else if (conductor->is_alone && !has_failed(job))
        conductor_was_taken(conductor, job);

    if (is_conflict) {
        note_conflict(conductor, job);
    } else if (err_is_set(&job->request.err)) {
        end_failed(conductor, job);
    } else if (job->work == WORK_PROVE) {
        conductor->proven_us = conductor->now.monotonic_us;
    } else if (job->tries_again) {
        int64_t next_us = now_us + conductor->metal->locked_retry_interval_us;
        conductor_keep_try(conductor, job, next_us);
    } else {
        if (job->work == WORK_DECIDE)
            log_decision(conductor, job);
        node_choice_free(&job->choice);
    }
}

/* A failure is followed by a rest, except if one row that is then set aside caused it; two such
 * failures in a row are followed by a rest, too. */
static void note_failures(struct conductor *conductor)
{
    bool failed = false;
    bool refused = false;
    for (unsigned i = 0; i < conductor->job_count; i++) {
        failed |= has_failed(&conductor->jobs[i]);
        refused |= has_failed(&conductor->jobs[i]) && is_refused(&conductor->jobs[i]);
    }
    if (failed && (!refused || (conductor->has_failed && !conductor->is_alone)))
        conductor->rests_until_us = conductor->now.wall_us + CONDUCTOR_RETRY_AFTER_US;
    if (!conductor->is_alone)
        conductor->has_failed = failed;
}

void conductor_end_pass(struct conductor *conductor, struct conductor_time now)
{
    struct conductor_walk *walk = &conductor->walk;
    conductor->now = now;
    check(conductor->pending == 0);
    for (unsigned i = 0; i < conductor->job_count; i++)
        end_job(conductor, &conductor->jobs[i]);
    note_failures(conductor);
    if (walk->is_begun && walk->is_walked)
        end_walk(walk);
    if (conductor->job_count > 0)
        conductor->next_us = now.wall_us; /* these changes may have made other work due */
    if (conductor->next_us < conductor->rests_until_us && conductor_rests(conductor, now.wall_us))
        conductor->next_us = conductor->rests_until_us;
}
