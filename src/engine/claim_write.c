/* Turns decided claims into as few changes as possible.
 *
 * A consumer that no longer holds anything is deleted; a new consumer whose claim is empty is never
 * inserted. The writer only. */
#include <stdlib.h>

#include "base/arena.h"
#include "engine/allocations.h"
#include "engine/claim.h"
#include "engine/generations.h"

struct namings {
    struct name_rows projects, users, types;
};

/* The owner that the claim names; `consumer` NULL: a new one. */
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

/* One claim to be written. */
struct writing {
    struct slice consumer; /* first, because it is the sort key */
    size_t at;             /* the index of the claim */
    const struct claim_row *rows;
    size_t row_count; /* 0: the claim is empty */
    struct consumer_owner owner;
    int64_t consumer_id;
};

enum { MANY = 8 };

/* Writes a consumer whose claim is empty. If it held nothing before, it was created by the Python
 * service: it stays, with the owner that the claim names. */
static void write_cleared(struct claim_set *set, const struct writing *writing)
{
    const struct consumer *consumer = set->consumers[writing->at];
    if (consumer == NULL)
        return;
    if (consumer->allocation_count > 0)
        allocations_drop(set->plan, consumer);
    else
        allocations_set_owner(set->plan, consumer, &writing->owner);
}

static void write_consumer(struct claim_set *set, struct writing *writing)
{
    const struct consumer *consumer = set->consumers[writing->at];
    if (consumer != NULL)
        allocations_release(set->plan, consumer);
    writing->consumer_id =
        allocations_put_consumer(set->plan, consumer, writing->consumer, &writing->owner);
}

/* In the order of the request, because the database may take names for one another: the first one
 * is then stored. */
static void name_owner(const struct claim_set *set, struct namings *namings,
                       struct writing *writing)
{
    const struct consumer *consumer = set->consumers[writing->at];
    bool stays_empty =
        writing->row_count == 0 && consumer != NULL && consumer->allocation_count == 0;
    if (writing->row_count > 0 || stays_empty)
        writing->owner = wanted_owner(namings, &set->claims[writing->at], consumer);
}

static void write_rows(const struct claim_set *set, const struct writing *writing)
{
    for (size_t i = 0; i < writing->row_count; i++) {
        const struct claim_row *row = &writing->rows[i];
        allocations_consume(set->plan, writing->consumer_id, writing->consumer,
                            row->target->provider->id, row->class_row->id, row->amount);
    }
}

/* The claims in the order in which they are written. With many claims this is the order of their
 * consumers, which is also that of the database's indexes: each index page is then changed only
 * once. */
static struct writing *order_claims(const struct claim_set *set, struct namings *namings)
{
    struct writing *writings =
        arena_array(set->plan->arena, set->claim_count, sizeof(struct writing));
    const struct claim_row *rows = set->rows;
    for (size_t i = 0; i < set->claim_count; i++) {
        const struct claim *claim = &set->claims[i];
        writings[i] = (struct writing){.consumer = claim->consumer, .at = i, .rows = rows};
        for (size_t p = 0; p < claim->provider_count; p++)
            writings[i].row_count += claim->providers[p].amount_count;
        rows += writings[i].row_count;
        name_owner(set, namings, &writings[i]);
    }
    if (set->claim_count >= MANY)
        qsort(writings, set->claim_count, sizeof(*writings), slice_compare);
    return writings;
}

/* Writes all consumers, then all rows: rows of one kind are written faster together. */
static void write_claims(struct claim_set *set, struct namings *namings)
{
    struct writing *writings = order_claims(set, namings);
    for (size_t i = 0; i < set->claim_count; i++) {
        if (writings[i].row_count == 0)
            write_cleared(set, &writings[i]);
        else
            write_consumer(set, &writings[i]);
    }
    for (size_t i = 0; i < set->claim_count; i++)
        write_rows(set, &writings[i]);
}

/* The Python service raises the generations of the providers that a request names, and of those
 * that a consumer leaves because it gives up everything, but not of those that it leaves for
 * others. */
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
    write_claims(set, &namings);
    say_generations(set);
}
