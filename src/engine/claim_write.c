/* From decided claims to changes, as few as do it.
 *
 * A consumer that holds nothing any more goes; a new one that gets nothing never comes. Writer
 * thread only. */
#include "engine/allocations.h"
#include "engine/claim.h"
#include "engine/generations.h"

struct namings {
    struct name_rows projects, users, types;
};

/* The owner as the claim wants it; `consumer` NULL: a new one. */
static struct consumer_owner wanted_owner(struct namings *namings, const struct claim *claim,
                                          const struct consumer *consumer)
{
    struct consumer_owner owner = {
        .project_id = name_row_id(&namings->projects, claim->project),
        .user_id = name_row_id(&namings->users, claim->user),
    };
    if (claim->type.data != NULL)
        owner.type_id = name_row_id(&namings->types, claim->type);
    else if (consumer != NULL && consumer->type != NUMBER_NONE)
        owner.type_id = catalog_row_at(namings->types.catalog, consumer->type)->id;
    return owner;
}

/* A consumer that is to hold nothing. One that held nothing before is of the Python service's
 * making: it stays, with the owner that the claim names. */
static void write_cleared(struct claim_set *set, struct namings *namings, size_t at)
{
    const struct consumer *consumer = set->consumers[at];
    if (consumer == NULL)
        return;
    if (consumer->allocation_count > 0) {
        allocations_drop(set->plan, consumer);
        return;
    }
    struct consumer_owner owner = wanted_owner(namings, &set->claims[at], consumer);
    allocations_set_owner(set->plan, consumer, &owner);
}

/* Writes a claim's consumer and its rows, beginning at `rows`; returns how many these are. */
static size_t write_claim(struct claim_set *set, struct namings *namings, size_t at,
                          const struct claim_row *rows)
{
    const struct claim *claim = &set->claims[at];
    const struct consumer *consumer = set->consumers[at];
    struct consumer_owner owner = wanted_owner(namings, claim, consumer);
    if (consumer != NULL)
        allocations_release(set->plan, consumer);
    int64_t id = allocations_put_consumer(set->plan, consumer, claim->consumer, &owner);
    size_t count = 0;
    for (size_t p = 0; p < claim->provider_count; p++)
        count += claim->providers[p].amount_count;
    for (size_t i = 0; i < count; i++)
        allocations_consume(set->plan, id, claim->consumer, rows[i].target->provider->id,
                            rows[i].class_row->id, rows[i].amount);
    return count;
}

/* The Python service raises the generations of the providers that a request names, and of those
 * that a consumer leaves with nothing; not of those that a consumer leaves for others. */
static void say_generations(struct claim_set *set)
{
    for (size_t i = 0; i < set->claim_count; i++) {
        const struct consumer *consumer = set->consumers[i];
        if (set->claims[i].provider_count == 0 || set->raises_left || consumer == NULL)
            continue;
        for (uint32_t a = 0; a < consumer->allocation_count; a++) {
            struct provider_no no = consumer->allocation[a].provider;
            const struct claim_target *target = claim_target_at(set, no);
            if (target == NULL || !target->is_named)
                generation_set_steps(set->plan, version_provider(set->plan->version, no), 0);
        }
    }
    for (size_t i = 0; i < set->target_count; i++)
        if (set->targets[i].generation_steps > 0)
            generation_set_steps(set->plan, set->targets[i].provider,
                                 set->targets[i].generation_steps +
                                     (set->targets[i].is_named ? 1u : 0u));
}

void claim_write(struct claim_set *set)
{
    struct namings namings = {
        .projects = name_rows_of(set->plan, CHANGE_PROJECT_INSERT),
        .users = name_rows_of(set->plan, CHANGE_USER_INSERT),
        .types = name_rows_of(set->plan, CHANGE_CONSUMER_TYPE_INSERT),
    };
    const struct claim_row *rows = set->rows;
    for (size_t i = 0; i < set->claim_count; i++) {
        if (set->claims[i].provider_count == 0)
            write_cleared(set, &namings, i);
        else
            rows += write_claim(set, &namings, i, rows);
    }
    say_generations(set);
}
