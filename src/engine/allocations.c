/* Plans consumers and their allocations as changes, in the order in which the store and the replica
 * expect them: old allocations are deleted before the consumer's row, and the row is inserted
 * before its new allocations. */
#include "engine/allocations.h"

#include "base/arena.h"
#include "base/hash.h"

/* ---- names ---- */

struct name_rows name_rows_of(const struct plan *plan, enum change_kind insert)
{
    const struct version *version = plan->version;
    struct name_rows rows = {.plan = plan, .insert = insert};
    switch (insert) {
    case CHANGE_CLASS_INSERT:
        rows.catalog = &version->classes;
        rows.table = STORE_CLASSES;
        break;
    case CHANGE_TRAIT_INSERT:
        rows.catalog = &version->traits;
        rows.table = STORE_TRAITS;
        break;
    case CHANGE_AGGREGATE_INSERT:
        rows.catalog = &version->aggregates;
        rows.table = STORE_AGGREGATES;
        break;
    case CHANGE_PROJECT_INSERT:
        rows.catalog = &version->projects;
        rows.table = STORE_PROJECTS;
        break;
    case CHANGE_USER_INSERT:
        rows.catalog = &version->users;
        rows.table = STORE_USERS;
        break;
    case CHANGE_CONSUMER_TYPE_INSERT:
        rows.catalog = &version->types;
        rows.table = STORE_CONSUMER_TYPES;
        break;
    default:
        check(false);
    }
    return rows;
}

const struct catalog_row *name_row_find(const struct name_rows *rows, struct slice name)
{
    struct store_alike alike;
    const struct catalog_row *row = catalog_find(rows->catalog, name);
    if (row != NULL || !store_find_alike(rows->plan->store, rows->insert, 0, name, &alike))
        return row;
    return catalog_find(rows->catalog, alike.text);
}

/* The slot of a row that the request adds, or the free one where it belongs. */
static struct hash_slot *fresh_slot(const struct name_rows *rows, struct slice name)
{
    struct hash_slot *slot;
    HASH_MAP_FIND(slot, &rows->fresh_by_name, hash_text(name),
                  slice_equal(rows->fresh[hash_slot_item(slot)].name, name));
    return slot;
}

/* The row that the request adds for the name, or for one that the database takes for it. NULL:
 * there is none; *slot is then where the name's belongs. */
static const struct change_catalog *find_fresh(const struct name_rows *rows, struct slice name,
                                               struct hash_slot **slot)
{
    struct store_alike alike;
    *slot = fresh_slot(rows, name);
    if (!hash_slot_is_free(*slot))
        return &rows->fresh[hash_slot_item(*slot)];
    if (!store_find_alike(rows->plan->store, rows->insert, 0, name, &alike))
        return NULL;
    const struct hash_slot *other = fresh_slot(rows, alike.text);
    return hash_slot_is_free(other) ? NULL : &rows->fresh[hash_slot_item(other)];
}

int64_t name_row_id(struct name_rows *rows, struct slice name)
{
    const struct catalog_row *row = name_row_find(rows, name);
    if (row != NULL)
        return row->id;
    struct arena *arena = rows->plan->arena;
    struct hash_slot *slot;
    hash_map_make_room(&rows->fresh_by_name, arena, rows->fresh_count);
    const struct change_catalog *known = find_fresh(rows, name, &slot);
    if (known != NULL)
        return known->id;
    hash_slot_put(slot, hash_text(name), (uint32_t)rows->fresh_count);
    rows->fresh = arena_grow(arena, rows->fresh, rows->fresh_count, &rows->fresh_capacity,
                             sizeof(*rows->fresh));
    struct change_catalog *fresh = &rows->fresh[rows->fresh_count++];
    *fresh = (struct change_catalog){store_next_id(rows->plan->store, rows->table), name};
    struct change *change = change_append(rows->plan->changes, rows->insert);
    change->created_at_us = rows->plan->now_us;
    change->catalog = *fresh;
    return fresh->id;
}

int64_t plan_name_id(const struct plan *plan, enum change_kind insert, struct slice name)
{
    struct name_rows rows = name_rows_of(plan, insert);
    return name_row_id(&rows, name);
}

/* ---- consumers ---- */

static int64_t number_id(const struct catalog *catalog, uint32_t number)
{
    return number == NUMBER_NONE ? 0 : catalog_row_at(catalog, number)->id;
}

struct consumer_owner consumer_owner_of(const struct version *version,
                                        const struct consumer *consumer)
{
    return (struct consumer_owner){
        .project_id = number_id(&version->projects, consumer->project),
        .user_id = number_id(&version->users, consumer->user),
        .type_id = number_id(&version->types, consumer->type),
    };
}

static struct change_consumer allocations_row_of(const struct consumer_owner *owner, int64_t id,
                                                 struct slice uuid)
{
    return (struct change_consumer){
        .id = id,
        .project_id = owner->project_id,
        .user_id = owner->user_id,
        .type_id = owner->type_id,
        .uuid = uuid,
    };
}

static bool owns(const struct plan *plan, const struct consumer_owner *owner,
                 const struct consumer *consumer)
{
    struct consumer_owner is = consumer_owner_of(plan->version, consumer);
    return is.project_id == owner->project_id && is.user_id == owner->user_id &&
           is.type_id == owner->type_id;
}

static void append_update(const struct plan *plan, const struct consumer *before, struct slice uuid,
                          const struct consumer_owner *owner, int64_t generation)
{
    struct change *change = change_append(plan->changes, CHANGE_CONSUMER_UPDATE);
    change->is_generation_only = owns(plan, owner, before);
    change->updated_at_us = plan->now_us;
    change->consumer = allocations_row_of(owner, before->id, uuid);
    change->consumer.expected_generation = before->generation;
    change->consumer.generation = generation;
}

int64_t allocations_put_consumer(const struct plan *plan, const struct consumer *before,
                                 struct slice uuid, const struct consumer_owner *owner)
{
    if (before != NULL) {
        append_update(plan, before, uuid, owner, change_next_generation(before->generation));
        return before->id;
    }
    int64_t id = store_next_id(plan->store, STORE_CONSUMERS);
    struct change *change = change_append(plan->changes, CHANGE_CONSUMER_INSERT);
    change->created_at_us = plan->now_us;
    change->consumer = allocations_row_of(owner, id, uuid);
    change->consumer.generation = 1;
    return id;
}

void allocations_set_owner(const struct plan *plan, const struct consumer *before,
                           const struct consumer_owner *owner)
{
    if (!owns(plan, owner, before))
        append_update(plan, before, arena_copy(plan->arena, consumer_uuid(before)), owner,
                      before->generation);
}

/* Whoever reads the table gets the allocations of a consumer in the order of their ids, so they are
 * planned in that order, also where a new block of ids begins lower than the one before. */
static void order_ids(const struct change_list *changes)
{
    for (size_t i = changes->count - 1; i > 0; i--) {
        struct change *before = &changes->items[i - 1];
        struct change *last = &changes->items[i];
        if (before->kind != CHANGE_ALLOCATION_INSERT ||
            before->allocation.consumer_id != last->allocation.consumer_id ||
            before->allocation.id < last->allocation.id)
            return;
        int64_t lower = last->allocation.id;
        last->allocation.id = before->allocation.id;
        before->allocation.id = lower;
    }
}

void allocations_consume(const struct plan *plan, int64_t consumer_id, struct slice consumer_uuid,
                         int64_t provider_id, int64_t class_id, int64_t used)
{
    struct change *change = change_append(plan->changes, CHANGE_ALLOCATION_INSERT);
    change->created_at_us = plan->now_us;
    change->allocation = (struct change_allocation){
        .id = store_next_id(plan->store, STORE_ALLOCATIONS),
        .consumer_id = consumer_id,
        .provider_id = provider_id,
        .class_id = class_id,
        .used = used,
        .consumer_uuid = consumer_uuid,
    };
    order_ids(plan->changes);
}

static void append_release(const struct plan *plan, int64_t id, struct slice uuid)
{
    struct change *change = change_append(plan->changes, CHANGE_ALLOCATIONS_OF_DELETE);
    change->allocation.consumer_id = id;
    change->allocation.consumer_uuid = uuid;
}

void allocations_release(const struct plan *plan, const struct consumer *consumer)
{
    if (consumer->allocation_count > 0)
        append_release(plan, consumer->id, arena_copy(plan->arena, consumer_uuid(consumer)));
}

void allocations_drop(const struct plan *plan, const struct consumer *consumer)
{
    struct slice uuid = arena_copy(plan->arena, consumer_uuid(consumer));
    append_release(plan, consumer->id, uuid);
    struct change *change = change_append(plan->changes, CHANGE_CONSUMER_DELETE);
    change->consumer = (struct change_consumer){
        .id = consumer->id, .expected_generation = consumer->generation, .uuid = uuid};
}
