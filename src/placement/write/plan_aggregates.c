/* Aggregates are created when they are first named; none is ever deleted. The writer only. */
#include "placement/write/plan_aggregates.h"

#include "base/arena.h"
#include "engine/allocations.h"
#include "engine/generations.h"
#include "placement/write/plan_providers.h"

/* The aggregates' ids in the order of the request. Unknown aggregates are created; those to which
 * the provider already belongs get id 0 and are marked in `kept`, which is indexed by number. One
 * that is named again, by another text that the database takes for its own, also gets id 0. */
static int64_t *plan_aggregates_resolve(const struct plan_aggregates *input,
                                        const struct plan *plan, const struct provider *provider,
                                        bool *kept)
{
    const struct catalog *catalog = &plan->version->aggregates;
    bool *member = arena_zalloc(plan->arena, catalog->limit * sizeof(bool));
    for (uint32_t i = 0; i < provider->aggregates->count; i++)
        member[provider->aggregates->numbers[i]] = true;
    int64_t *ids = arena_array(plan->arena, input->uuid_count, sizeof(*ids));
    struct name_rows rows = name_rows_of(plan, CHANGE_AGGREGATE_INSERT);
    for (size_t i = 0; i < input->uuid_count; i++) {
        const struct catalog_row *row = name_row_find(&rows, input->uuids[i]);
        if (row == NULL) {
            size_t before = rows.fresh_count;
            int64_t id = name_row_id(&rows, input->uuids[i]);
            ids[i] = rows.fresh_count > before ? id : 0;
            continue;
        }
        ids[i] = member[row->number] || kept[row->number] ? 0 : row->id;
        kept[row->number] = true;
    }
    return ids;
}

bool plan_aggregates_set(const struct plan_aggregates *input, const struct plan *plan,
                         int64_t *generation, struct err *err)
{
    const struct version *version = plan->version;
    const struct provider *provider = plan_provider_find(version, input->provider_uuid, err);
    if (provider == NULL ||
        (input->has_generation && !plan_generation_is(provider, input->generation, err)))
        return false;

    bool *kept = arena_zalloc(plan->arena, version->aggregates.limit * sizeof(bool));
    int64_t *ids = plan_aggregates_resolve(input, plan, provider, kept);
    for (size_t i = 0; i < input->uuid_count; i++) {
        if (ids[i] == 0)
            continue;
        struct change *change = change_append(plan->changes, CHANGE_PROVIDER_AGGREGATE_INSERT);
        change->created_at_us = plan->now_us;
        change->link = (struct change_link){provider->id, ids[i]};
    }
    for (uint32_t i = 0; i < provider->aggregates->count; i++) {
        uint32_t number = provider->aggregates->numbers[i];
        if (!kept[number])
            change_append(plan->changes, CHANGE_PROVIDER_AGGREGATE_DELETE)->link =
                (struct change_link){provider->id,
                                     catalog_row_at(&version->aggregates, number)->id};
    }
    *generation = provider->generation;
    generation_set_steps(plan, provider, input->has_generation ? 1 : 0);
    if (input->has_generation)
        *generation = change_next_generation(provider->generation);
    return true;
}
