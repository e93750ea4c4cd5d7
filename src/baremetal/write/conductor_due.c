/* Decides when to act on a row, depending on whose it is.
 *
 * A process acts on its own rows when they are due, however late that is. Rows of a process that is
 * known to have ended are due at once. If the owner cannot be seen from here, all that is known is
 * that its row has been there for longer than the owner needs. Such a row is late once it has been
 * seen here for that time, by this machine's own monotonic clock: the times in the row are those of
 * another machine, whose clock may differ. A row that is late for long enough means that the owner
 * has ended, unless the database was unavailable to both for that time. Therefore the conductor
 * first makes sure that the database takes writes, and from then on gives the owner, if it is
 * alive, some more seconds.
 *
 * An owner that was only stopped cannot do harm afterwards: its own work is planned on the newest
 * rows (conductor_work.c), which are no longer its own. The conductor's thread only, except
 * conductor_ends_before. */
#include <stdlib.h>

#include "baremetal/write/conductor_internal.h"
#include "replica/nodes.h"

/* Parts of the time for which a row may be late: one before its end, a test write is needed; one
 * after that, a living owner would have acted; and for one, the test write counts. However short
 * that time is, an owner that has just failed rests before it tries again. */
enum { PROOF_WANTED_PART = 4, PROOF_FROM_PART = 6, PROOF_UNTIL_PART = 2 };
enum {
    PROOF_FROM_LEAST_US = 3 * CONDUCTOR_RETRY_AFTER_US,
    PROOF_UNTIL_LEAST_US = 3 * PROOF_FROM_LEAST_US
};

/* Many rows have the same owner, so the last result is kept. */
static bool is_gone(struct conductor *conductor, struct slice owner)
{
    const struct metal *metal = conductor->metal;
    if (conductor->owner_seen.data == NULL || !slice_equal(owner, conductor->owner_seen)) {
        conductor->owner_seen = owner;
        conductor->owner_is_gone = instance_is_gone(owner, metal->host, metal->is_shared);
    }
    return conductor->owner_is_gone;
}

/* ---- since when rows of others have been seen ---- */

static void append_seen(struct conductor_seen_rows *rows, const struct conductor_seen *row)
{
    if (rows->count == rows->capacity) {
        rows->capacity = rows->capacity == 0 ? 16 : 2 * rows->capacity;
        rows->at = reallocarray(rows->at, rows->capacity, sizeof(*rows->at));
        check(rows->at != NULL);
    }
    rows->at[rows->count++] = *row;
}

void conductor_begin_seen(struct conductor_seen_rows seen[static 2])
{
    seen[1].count = 0;
    seen[0].passed = 0;
}

void conductor_end_seen(struct conductor_seen_rows seen[static 2], bool is_complete)
{
    while (!is_complete && seen[0].passed < seen[0].count)
        append_seen(&seen[1], &seen[0].at[seen[0].passed++]);
    struct conductor_seen_rows before = seen[0];
    seen[0] = seen[1];
    seen[1] = before;
}

void conductor_free_seen(struct conductor_seen_rows seen[static 2])
{
    free(seen[0].at);
    free(seen[1].at);
}

/* Rows come in ascending order of their ids. */
static uint64_t seen_since(struct conductor *conductor, const struct conductor_row *row)
{
    struct conductor_seen_rows *before = &row->seen[0];
    struct conductor_seen seen = {row->id, row->due_us, conductor->now.monotonic_us};
    while (before->passed < before->count && before->at[before->passed].id < row->id)
        before->passed++;
    if (before->passed < before->count && before->at[before->passed].id == row->id) {
        const struct conductor_seen *known = &before->at[before->passed++];
        if (known->due_us == row->due_us)
            seen = *known;
    }
    append_seen(&row->seen[1], &seen);
    return seen.since_us;
}

/* ---- */

static uint64_t part_us(uint64_t whole_us, unsigned parts, uint64_t least_us)
{
    return whole_us / parts > least_us ? whole_us / parts : least_us;
}

static uint64_t passed_us(uint64_t now_us, uint64_t since_us)
{
    return now_us > since_us ? now_us - since_us : 0;
}

static void note_due_in(struct conductor *conductor, uint64_t us)
{
    conductor_note_due(conductor, conductor->now.wall_us + (int64_t)us);
}

static bool may_take_over(struct conductor *conductor, const struct conductor_row *row)
{
    const uint64_t now_us = conductor->now.monotonic_us;
    const uint64_t late_us = (uint64_t)conductor->metal->takeover_us;
    const uint64_t dead_us = (uint64_t)row->longest_us + late_us;
    const uint64_t wanted_us = dead_us - part_us(late_us, PROOF_WANTED_PART, 0);
    const uint64_t from_us = part_us(late_us, PROOF_FROM_PART, PROOF_FROM_LEAST_US);
    const uint64_t until_us = part_us(late_us, PROOF_UNTIL_PART, PROOF_UNTIL_LEAST_US);
    const uint64_t seen_us = passed_us(now_us, seen_since(conductor, row));
    if (seen_us < wanted_us) {
        note_due_in(conductor, wanted_us - seen_us);
        return false;
    }
    const uint64_t proven_us = passed_us(now_us, conductor->proven_us);
    if (conductor->proven_us == 0 || proven_us > until_us) {
        conductor->wants_proof = true;
        return false;
    }
    const uint64_t left_us = seen_us < dead_us ? dead_us - seen_us : 0;
    const uint64_t proof_us = proven_us < from_us ? from_us - proven_us : 0;
    if (left_us == 0 && proof_us == 0)
        return true;
    note_due_in(conductor, left_us > proof_us ? left_us : proof_us);
    return false;
}

bool conductor_is_due(struct conductor *conductor, const struct conductor_row *row, bool *is_ours)
{
    *is_ours = row->owner.data != NULL && slice_equal(row->owner, conductor->metal->instance);
    if (*is_ours && conductor_is_to_come(row->due_us, conductor->now.wall_us, row->longest_us)) {
        conductor_note_due(conductor, row->due_us);
        return false;
    }
    return *is_ours || row->owner.data == NULL || is_gone(conductor, row->owner) ||
           may_take_over(conductor, row);
}

unsigned conductor_ends_before(const struct version *version, const struct metal *metal,
                               int64_t until_us)
{
    unsigned count = 0;
    for (const struct node *node = version_next_busy_node(version, 0); node != NULL;
         node = version_next_busy_node(version, node->record.id))
        count += slice_equal(node_text(node, NODE_OWNER_INSTANCE), metal->instance) &&
                 node_time(node, NODE_DUE_AT) <= until_us;
    return count;
}
