/* Decides when to act on a row, depending on whose it is.
 *
 * A process acts on its own rows when they are due, however late that is. Rows of a process that is
 * known to have ended are due at once. If the owner cannot be seen from here, all that is known is
 * that its row is late. A minute's delay means that the owner has ended, unless the database was
 * unavailable to both for that minute. Therefore the conductor first makes sure that the database
 * takes writes, and from then on gives the owner, if it is alive, ten more seconds. Clocks that are
 * stepped, and hosts whose clocks differ, can only delay a row or cause it to be taken over, which
 * is what a restart does, too. The conductor's thread only, except conductor_ends_before. */
#include "baremetal/write/conductor_internal.h"
#include "replica/nodes.h"

enum {
    LATE_AFTER_US = 45000000, /* then a test write is needed */
    DEAD_AFTER_US = 60000000,
    PROOF_FROM_US = 10000000, /* a living owner would have acted by then */
    PROOF_UNTIL_US = 30000000
};

/* Many rows have the same owner, so the last result is kept. */
static bool is_gone(struct conductor *conductor, struct slice owner)
{
    if (conductor->owner_seen.data == NULL || !slice_equal(owner, conductor->owner_seen)) {
        conductor->owner_seen = owner;
        conductor->owner_is_gone = instance_is_gone(owner, conductor->metal->host);
    }
    return conductor->owner_is_gone;
}

static bool may_take_over(struct conductor *conductor, int64_t due_us, int64_t now_us)
{
    if (due_us + LATE_AFTER_US > now_us) {
        conductor_note_due(conductor, due_us + LATE_AFTER_US);
        return false;
    }
    int64_t proven_us = conductor->proven_us;
    if (proven_us == 0 || proven_us > now_us || now_us - proven_us > PROOF_UNTIL_US) {
        conductor->wants_proof = true;
        return false;
    }
    int64_t at_us = due_us + DEAD_AFTER_US;
    if (at_us < proven_us + PROOF_FROM_US)
        at_us = proven_us + PROOF_FROM_US;
    if (at_us <= now_us)
        return true;
    conductor_note_due(conductor, at_us);
    return false;
}

bool conductor_is_due(struct conductor *conductor, struct slice owner, int64_t due_us,
                      int64_t longest_us, int64_t now_us, bool *is_ours)
{
    *is_ours = owner.data != NULL && slice_equal(owner, conductor->metal->instance);
    if (*is_ours && conductor_is_to_come(due_us, now_us, longest_us)) {
        conductor_note_due(conductor, due_us);
        return false;
    }
    return *is_ours || owner.data == NULL || is_gone(conductor, owner) ||
           may_take_over(conductor, due_us, now_us);
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
