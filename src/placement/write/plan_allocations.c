/* The writes of allocations alone: claims in the order of their steps, and the deletion, which
 * raises no provider's generation. The writer only. */
#include "placement/write/plan_allocations.h"

#include "base/arena.h"
#include "base/buf.h"
#include "engine/allocations.h"
#include "engine/generations.h"

bool plan_allocations(const struct claim *claims, size_t claim_count, enum claim_source source,
                      const struct plan *plan, struct err *err)
{
    struct claim_set set;
    claim_begin(&set, claims, claim_count, source, 0, plan, err);
    if (!claim_check_generations(&set) || !claim_find_providers(&set) || !claim_check_amounts(&set))
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
    allocations_drop(plan, held);
    for (uint32_t i = 0; i < held->allocation_count; i++)
        generation_set_steps(plan, version_provider(plan->version, held->allocation[i].provider),
                             0);
    return true;
}
