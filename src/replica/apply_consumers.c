/* Changes of consumers and allocations. The used amounts of inventories and the sums by project are
 * updated in the same step. Writer only. */
#include <stdlib.h>

#include "base/hash.h"
#include "replica/apply_internal.h"
#include "replica/forest.h"
#include "replica/usage.h"

enum { ALLOCATIONS_FIRST = 3 };

static size_t consumer_bytes(uint32_t capacity)
{
    return sizeof(struct consumer) + capacity * sizeof(struct consumer_allocation);
}

static void consumer_store(struct edit *edit, const struct consumer *consumer)
{
    ptree_set(&edit->cow, &edit->version->consumers, hash_text(consumer_uuid(consumer)),
              (uint64_t)consumer->id, (uintptr_t)consumer);
}

static const struct consumer *consumer_at(const struct edit *edit, struct slice uuid, int64_t id)
{
    uint64_t value;
    if (!ptree_find(&edit->version->consumers, hash_text(uuid), (uint64_t)id, &value))
        return NULL;
    return (const struct consumer *)(uintptr_t)value;
}

/* A modifiable copy with room for `capacity` allocations. */
static struct consumer *consumer_own(struct edit *edit, const struct consumer *old,
                                     uint32_t capacity)
{
    if (capacity <= old->allocation_capacity && old->node.birth == edit->cow.birth)
        return (struct consumer *)(uintptr_t)old;
    struct consumer *consumer = cow_new(&edit->cow, consumer_bytes(capacity));
    uint64_t birth = consumer->node.birth;
    uint32_t count = old->allocation_count < capacity ? old->allocation_count : capacity;
    memcpy(consumer, old, consumer_bytes(count));
    consumer->node.birth = birth;
    consumer->allocation_capacity = capacity;
    cow_drop(&edit->cow, old);
    consumer_store(edit, consumer);
    return consumer;
}

static uint32_t number_of(const struct catalog *catalog, int64_t id)
{
    if (id == 0)
        return NUMBER_NONE;
    const struct catalog_row *row = catalog_find_id(catalog, id);
    check(row != NULL);
    return row->number;
}

static void put_owner(struct edit *edit, struct consumer *consumer,
                      const struct change_consumer *row)
{
    consumer->project = number_of(&edit->version->projects, row->project_id);
    consumer->user = number_of(&edit->version->users, row->user_id);
    consumer->type = number_of(&edit->version->types, row->type_id);
    consumer->generation = (int32_t)row->generation;
}

static void consumer_insert(struct edit *edit, const struct change_consumer *row)
{
    check(row->uuid.len <= UUID_TEXT_MAX);
    struct consumer *consumer = cow_new(&edit->cow, consumer_bytes(ALLOCATIONS_FIRST));
    consumer->id = row->id;
    consumer->allocation_capacity = ALLOCATIONS_FIRST;
    consumer->uuid_len = (uint8_t)row->uuid.len;
    memcpy(consumer->uuid, row->uuid.data, row->uuid.len);
    put_owner(edit, consumer, row);
    row_sums_add(&edit->version->consumer_sums, consumer->id, consumer->generation);
    consumer_store(edit, consumer);
}

static void consumer_update(struct edit *edit, const struct change_consumer *row)
{
    const struct consumer *old = consumer_at(edit, row->uuid, row->id);
    check(old != NULL);
    usage_account(&edit->cow, edit->version, old, -1);
    struct row_sums *sums = &edit->version->consumer_sums;
    row_sums_subtract(sums, old->id, old->generation);
    struct consumer *consumer = consumer_own(edit, old, old->allocation_capacity);
    put_owner(edit, consumer, row);
    row_sums_add(sums, consumer->id, consumer->generation);
    usage_account(&edit->cow, edit->version, consumer, 1);
}

/* Adds to the used amount of a provider's class and updates the column; if there is no inventory,
 * adds to the strays. */
static void use(struct edit *edit, const struct consumer_allocation *allocation, int sign)
{
    struct provider *provider = edit_own_provider(edit, allocation->provider);
    for (uint32_t i = 0; i < provider->inventory_count; i++) {
        struct provider_inventory *inventory = &provider->inventory[i];
        if (inventory->class_no.v != allocation->class_no.v)
            continue;
        inventory->used += sign * allocation->used;
        provider_inventory_summarise(inventory);
        forest_refresh(edit, provider, inventory);
        return;
    }
    usage_stray_add(&edit->cow, edit->version, allocation->provider, allocation->class_no,
                    sign * allocation->used);
}

static void allocations_delete(struct edit *edit, struct slice uuid, int64_t id)
{
    const struct consumer *old = consumer_at(edit, uuid, id);
    check(old != NULL);
    if (old->allocation_count == 0)
        return;
    usage_account(&edit->cow, edit->version, old, -1);
    for (uint32_t i = 0; i < old->allocation_count; i++) {
        use(edit, &old->allocation[i], -1);
        ptree_remove(&edit->cow, &edit->version->provider_consumers, old->allocation[i].provider.v,
                     (uint64_t)old->id);
    }
    struct consumer *consumer = consumer_own(edit, old, ALLOCATIONS_FIRST);
    consumer->allocation_count = 0;
    consumer->allocated_at_us = 0; /* the wall clock may have stepped back since */
}

static void consumer_delete(struct edit *edit, struct slice uuid, int64_t id)
{
    const struct consumer *consumer = consumer_at(edit, uuid, id);
    check(consumer != NULL && consumer->allocation_count == 0);
    ptree_remove(&edit->cow, &edit->version->consumers, hash_text(uuid), (uint64_t)id);
    row_sums_subtract(&edit->version->consumer_sums, id, consumer->generation);
    cow_drop(&edit->cow, consumer);
}

static void allocation_insert(struct edit *edit, const struct change *change)
{
    const struct change_allocation *row = &change->allocation;
    const struct consumer *old = consumer_at(edit, row->consumer_uuid, row->consumer_id);
    check(old != NULL);
    uint32_t capacity = old->allocation_capacity;
    if (old->allocation_count == capacity)
        capacity *= 2;
    struct consumer *consumer = consumer_own(edit, old, capacity);
    struct consumer_allocation allocation = {
        .provider = apply_provider_no(edit, row->provider_id),
        .class_no = apply_class_no(edit, row->class_id),
        .used = row->used,
    };
    usage_account_allocation(&edit->cow, edit->version, consumer, &allocation,
                             consumer->allocation_count == 0);
    bool is_there =
        consumer->allocation_count > 0 &&
        consumer->allocation[consumer->allocation_count - 1].provider.v == allocation.provider.v;
    consumer->allocation[consumer->allocation_count++] = allocation;
    if (change->created_at_us > consumer->allocated_at_us)
        consumer->allocated_at_us = change->created_at_us;
    use(edit, &allocation, 1);
    if (!is_there)
        ptree_set(&edit->cow, &edit->version->provider_consumers, allocation.provider.v,
                  (uint64_t)consumer->id, hash_text(consumer_uuid(consumer)));
}

static void consumer_reset(struct edit *edit, const struct change_consumer *row)
{
    if (consumer_at(edit, row->uuid, row->id) == NULL)
        return;
    allocations_delete(edit, row->uuid, row->id);
    consumer_delete(edit, row->uuid, row->id);
}

void apply_consumer_change(struct edit *edit, const struct change *change)
{
    switch (change->kind) {
    case CHANGE_CONSUMER_INSERT:
        consumer_insert(edit, &change->consumer);
        break;
    case CHANGE_CONSUMER_UPDATE:
        consumer_update(edit, &change->consumer);
        break;
    case CHANGE_CONSUMER_DELETE:
        consumer_delete(edit, change->consumer.uuid, change->consumer.id);
        break;
    case CHANGE_ALLOCATION_INSERT:
        allocation_insert(edit, change);
        break;
    case CHANGE_ALLOCATIONS_OF_DELETE:
        allocations_delete(edit, change->allocation.consumer_uuid, change->allocation.consumer_id);
        break;
    case CHANGE_FOLLOW_CONSUMER_RESET:
        consumer_reset(edit, &change->consumer);
        break;
    default:
        check(false);
    }
}
