/* The writes of allocations alone: claims in order of their steps, and the deletion, which moves no
 * provider's generation. Writer thread only. */
#include "placement/write/plan_allocations.h"

#include "baremetal/write/node_guard.h"
#include "base/arena.h"
#include "base/buf.h"
#include "valet/write/exclusivity.h"
#include "valet/write/holds.h"

bool plan_allocations(const struct claim *claims, size_t claim_count, enum claim_door door,
                      const struct plan *plan, struct err *err)
{
    struct claim_set set;
    size_t count = claim_count;
    const struct claim *all = holds_add_drops(claims, &count, plan);
    claim_begin(&set, all, count, door, 0, plan, err);
    if (!holds_guard(&set, claims, claim_count) || !claim_check_generations(&set) ||
        !claim_find_providers(&set) || !claim_check_amounts(&set) || !exclusivity_check(&set))
        return false;
    for (size_t i = 0; i < claim_count; i++)
        if (!node_guard_claim(&claims[i], plan, err))
            return false;
    claim_write(&set);
    return true;
}

bool plan_allocations_delete(struct slice consumer, struct slice shown, const struct plan *plan,
                             struct err *err)
{
    const struct consumer *held = version_consumer(plan->version, consumer);
    if (held == NULL || held->allocation_count == 0) {
        struct buf text = {0};
        buf_append_lit(&text, "No allocations for consumer '");
        buf_append_slice(&text, shown);
        buf_append_lit(&text, "'");
        struct slice message = arena_copy(err->arena, buf_slice(&text));
        buf_free(&text);
        return err_set_text(err, 404, NULL, message);
    }
    if (!node_guard_consumer(consumer, plan, err))
        return false;
    struct change *change = change_append(plan->changes, CHANGE_ALLOCATIONS_OF_DELETE);
    change->allocation.consumer_id = held->id;
    change->allocation.consumer_uuid = consumer;
    change = change_append(plan->changes, CHANGE_CONSUMER_DELETE);
    change->consumer.id = held->id;
    change->consumer.uuid = consumer;
    return true;
}
