/* Rows whose work is refused, and would be refused each time, because their own changes break a
 * rule of the database (a trigger, or a name in use by a row that cannot be read). They are set
 * aside and tried alone, at intervals that double each time, so that they do not make the work of
 * other rows fail. Kept only in memory. The conductor's thread only, between the requests of its
 * passes. */
#include <stdlib.h>

#include "baremetal/write/conductor_internal.h"
#include "log/log.h"
#include "replica/nodes.h"

enum { FIRST_DELAY_US = 1000000, LONGEST_DELAY_US = 60000000 };

/* The kind under which a job is remembered: a node's regular end and its end after a crash are the
 * same. */
static enum conductor_work conductor_refused_kind_of(enum conductor_work work)
{
    return work == WORK_RECOVER ? WORK_ADVANCE : work;
}

static struct conductor_refusal *conductor_refused_find(const struct conductor_refused *refused,
                                                        enum conductor_work work, int64_t id,
                                                        int64_t due_us)
{
    for (size_t i = 0; i < refused->count; i++) {
        struct conductor_refusal *at = &refused->at[i];
        if (at->id == id &&
            conductor_refused_kind_of(at->work) == conductor_refused_kind_of(work) &&
            at->due_us == due_us)
            return at;
    }
    return NULL;
}

bool conductor_is_set_aside(const struct conductor *conductor, enum conductor_work work, int64_t id,
                            int64_t due_us)
{
    return conductor_refused_find(&conductor->refused, work, id, due_us) != NULL;
}

static struct conductor_refusal *conductor_refused_append(struct conductor_refused *refused)
{
    if (refused->count == refused->capacity) {
        refused->capacity = refused->capacity == 0 ? 16 : 2 * refused->capacity;
        refused->at = reallocarray(refused->at, refused->capacity, sizeof(*refused->at));
        check(refused->at != NULL);
    }
    return &refused->at[refused->count++];
}

static void log_refusal(struct conductor *conductor, const struct conductor_job *job)
{
    const struct version *version = replica_pin(conductor->reader);
    bool is_allocation = job->work == WORK_DECIDE;
    const struct node *node = is_allocation ? NULL : version_node(version, job->id);
    const struct node_allocation *allocation =
        is_allocation ? version_node_allocation(version, job->id) : NULL;
    struct slice uuid = node != NULL ? node_text(node, NODE_UUID)
                        : allocation != NULL
                            ? node_allocation_text(allocation, NODE_ALLOCATION_UUID)
                            : SLICE_LIT("");
    log_write(LOG_LEVEL_WARNING, "berth.baremetal", LOG_NO_CONTEXT,
              "A pending change of bare metal %s %.*s cannot be written, and is retried at "
              "growing intervals: %.*s",
              is_allocation ? "allocation" : "node", SLICE_ARG(uuid),
              SLICE_ARG(job->request.err.message));
    replica_unpin(conductor->reader);
}

void conductor_set_aside(struct conductor *conductor, const struct conductor_job *job,
                         int64_t now_us)
{
    struct conductor_refusal *at =
        conductor_refused_find(&conductor->refused, job->work, job->id, job->due_us);
    if (at == NULL) {
        log_refusal(conductor, job);
        at = conductor_refused_append(&conductor->refused);
        *at = (struct conductor_refusal){.id = job->id, .due_us = job->due_us};
    }
    at->work = job->work;
    at->delay_us = at->delay_us == 0 ? FIRST_DELAY_US : 2 * at->delay_us;
    if (at->delay_us > LONGEST_DELAY_US)
        at->delay_us = LONGEST_DELAY_US;
    at->next_us = now_us + at->delay_us;
}

void conductor_was_taken(struct conductor *conductor, const struct conductor_job *job)
{
    struct conductor_refused *refused = &conductor->refused;
    struct conductor_refusal *at = conductor_refused_find(refused, job->work, job->id, job->due_us);
    if (at != NULL)
        *at = refused->at[--refused->count];
}

/* Whether the row still is the one that was refused. */
static bool conductor_refused_is_wanted(const struct version *version,
                                        const struct conductor_refusal *at, struct arena *arena)
{
    if (at->work == WORK_DECIDE) {
        const struct node_allocation *row = version_node_allocation(version, at->id);
        return row != NULL && node_allocation_text_is(row, NODE_ALLOCATION_STATE, "allocating") &&
               node_allocation_time(row, NODE_ALLOCATION_DUE_AT) == at->due_us;
    }
    const struct node *node = version_node(version, at->id);
    if (node == NULL)
        return false;
    if (at->work == WORK_MIRROR)
        return !node_is_mirrored(version, node, arena);
    return !node_is_null(node, NODE_RESERVATION) && node_time(node, NODE_DUE_AT) == at->due_us;
}

const struct conductor_refusal *
conductor_next_refused(struct conductor *conductor, const struct version *version, int64_t now_us)
{
    struct conductor_refused *refused = &conductor->refused;
    const struct conductor_refusal *first = NULL;
    size_t kept = 0;
    for (size_t i = 0; i < refused->count; i++)
        if (conductor_refused_is_wanted(version, &refused->at[i], conductor->arena))
            refused->at[kept++] = refused->at[i];
    refused->count = kept;
    for (size_t i = 0; i < kept; i++) {
        const struct conductor_refusal *at = &refused->at[i];
        if (conductor_is_to_come(at->next_us, now_us, LONGEST_DELAY_US))
            conductor_note_due(conductor, at->next_us);
        else if (first == NULL || at->next_us < first->next_us)
            first = at;
    }
    return first;
}
