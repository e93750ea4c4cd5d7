/* From decided claims to changes, as few as do it.
 *
 * A consumer that holds nothing any more goes; a new one that gets nothing never comes. Projects,
 * users and consumer types that nobody used before get rows, once each. Writer thread only. */
#include "base/arena.h"
#include "base/hash.h"
#include "engine/claim.h"

/* Names of one catalog, those that this request brings included. */
struct naming {
    const struct plan *plan;
    const struct catalog *catalog;
    enum change_kind kind;
    enum store_table table;
    size_t claim_count; /* an upper bound of new names */
    struct change_catalog *fresh;
    uint64_t mask; /* of the open addressing in fresh */
};

static int64_t name_id(struct naming *naming, struct slice name)
{
    const struct catalog_row *row = catalog_find(naming->catalog, name);
    if (row != NULL)
        return row->id;
    if (naming->fresh == NULL) {
        size_t capacity = 2;
        while (capacity < 2 * naming->claim_count)
            capacity *= 2;
        naming->fresh = arena_zalloc(naming->plan->arena, capacity * sizeof(*naming->fresh));
        naming->mask = capacity - 1;
    }
    uint64_t at = hash_text(name) & naming->mask;
    while (naming->fresh[at].id != 0 && !slice_equal(naming->fresh[at].name, name))
        at = (at + 1) & naming->mask;
    struct change_catalog *fresh = &naming->fresh[at];
    if (fresh->id != 0)
        return fresh->id;
    *fresh = (struct change_catalog){store_next_id(naming->plan->store, naming->table), name};
    struct change *change = change_append(naming->plan->changes, naming->kind);
    change->created_at_us = naming->plan->now_us;
    change->catalog = *fresh;
    return fresh->id;
}

struct namings {
    struct naming projects, users, types;
};

static struct namings namings_of(const struct claim_set *set)
{
    const struct plan *plan = set->plan;
    const struct version *version = plan->version;
    size_t count = set->claim_count;
    return (struct namings){
        .projects = {plan, &version->projects, CHANGE_PROJECT_INSERT, STORE_PROJECTS, count, NULL,
                     0},
        .users = {plan, &version->users, CHANGE_USER_INSERT, STORE_USERS, count, NULL, 0},
        .types = {plan, &version->types, CHANGE_CONSUMER_TYPE_INSERT, STORE_CONSUMER_TYPES, count,
                  NULL, 0},
    };
}

static int64_t number_id(const struct catalog *catalog, uint32_t number)
{
    return number == NUMBER_NONE ? 0 : catalog_row_at(catalog, number)->id;
}

/* The consumer's row as the claim wants it; `consumer` NULL: a new one, whose id is still 0. */
static struct change_consumer wanted_row(struct namings *namings, const struct claim *claim,
                                         const struct consumer *consumer)
{
    struct change_consumer row = {
        .project_id = name_id(&namings->projects, claim->project),
        .user_id = name_id(&namings->users, claim->user),
        .generation = 1,
        .uuid = claim->consumer,
    };
    if (claim->type.data != NULL)
        row.type_id = name_id(&namings->types, claim->type);
    else if (consumer != NULL)
        row.type_id = number_id(namings->types.catalog, consumer->type);
    if (consumer != NULL) {
        row.id = consumer->id;
        row.expected_generation = consumer->generation;
        row.generation = change_next_generation(consumer->generation);
    }
    return row;
}

static void append_update(const struct plan *plan, const struct change_consumer *row)
{
    struct change *change = change_append(plan->changes, CHANGE_CONSUMER_UPDATE);
    change->updated_at_us = plan->now_us;
    change->consumer = *row;
}

static void append_release(const struct plan *plan, int64_t id, struct slice uuid)
{
    struct change *change = change_append(plan->changes, CHANGE_ALLOCATIONS_OF_DELETE);
    change->allocation.consumer_id = id;
    change->allocation.consumer_uuid = uuid;
}

/* A consumer that is to hold nothing. One that held nothing before is of the Python service's
 * making: it stays, with the owner that the claim names. */
static void write_cleared(struct claim_set *set, struct namings *namings, size_t at)
{
    const struct plan *plan = set->plan;
    const struct claim *claim = &set->claims[at];
    const struct consumer *consumer = set->consumers[at];
    if (consumer == NULL)
        return;
    if (consumer->allocation_count > 0) {
        append_release(plan, consumer->id, claim->consumer);
        struct change *change = change_append(plan->changes, CHANGE_CONSUMER_DELETE);
        change->consumer.id = consumer->id;
        change->consumer.uuid = claim->consumer;
        return;
    }
    struct change_consumer row = wanted_row(namings, claim, consumer);
    row.generation = row.expected_generation;
    if (row.project_id != number_id(namings->projects.catalog, consumer->project) ||
        row.user_id != number_id(namings->users.catalog, consumer->user) ||
        row.type_id != number_id(namings->types.catalog, consumer->type))
        append_update(plan, &row);
}

/* Writes a claim's consumer and its rows, beginning at `rows`; returns how many these are. */
static size_t write_claim(struct claim_set *set, struct namings *namings, size_t at,
                          const struct claim_row *rows)
{
    const struct plan *plan = set->plan;
    const struct claim *claim = &set->claims[at];
    const struct consumer *consumer = set->consumers[at];
    struct change_consumer row = wanted_row(namings, claim, consumer);
    if (consumer == NULL) {
        row.id = store_next_id(plan->store, STORE_CONSUMERS);
        struct change *change = change_append(plan->changes, CHANGE_CONSUMER_INSERT);
        change->created_at_us = plan->now_us;
        change->consumer = row;
    } else {
        if (consumer->allocation_count > 0)
            append_release(plan, consumer->id, claim->consumer);
        append_update(plan, &row);
    }
    size_t count = 0;
    for (size_t p = 0; p < claim->provider_count; p++)
        count += claim->providers[p].amount_count;
    for (size_t i = 0; i < count; i++) {
        struct change *change = change_append(plan->changes, CHANGE_ALLOCATION_INSERT);
        change->created_at_us = plan->now_us;
        change->allocation = (struct change_allocation){
            .id = store_next_id(plan->store, STORE_ALLOCATIONS),
            .consumer_id = row.id,
            .provider_id = rows[i].target->provider->id,
            .class_id = rows[i].class_row->id,
            .used = rows[i].amount,
            .consumer_uuid = claim->consumer,
        };
    }
    return count;
}

void claim_write(struct claim_set *set)
{
    const struct plan *plan = set->plan;
    struct namings namings = namings_of(set);
    const struct claim_row *rows = set->rows;
    for (size_t i = 0; i < set->claim_count; i++) {
        if (set->claims[i].provider_count == 0)
            write_cleared(set, &namings, i);
        else
            rows += write_claim(set, &namings, i, rows);
    }
    for (size_t i = 0; i < set->target_count; i++) {
        const struct claim_target *target = &set->targets[i];
        int32_t steps = target->generation_steps + (target->is_named ? 1 : 0);
        struct change *change = change_append(plan->changes, CHANGE_PROVIDER_GENERATION);
        change->updated_at_us = plan->now_us;
        change->generation = (struct change_generation){
            .provider_id = target->provider->id,
            .expected = target->provider->generation,
            .next = (int64_t)target->provider->generation + steps,
        };
    }
}
