/* See memory.h. */
#include "memory.h"

static void set_text(char *to, size_t size, struct slice text)
{
    assert_true(text.len < size);
    memmove(to, text.data, text.len); /* it may be the same text */
    memset(to + text.len, 0, size - text.len);
}

static void drop_allocations(struct memory *memory, int64_t consumer)
{
    for (int i = 0; i < ALLOCATIONS; i++)
        if (memory->allocations[i].consumer == consumer)
            memory->allocations[i] = (struct allocation){0};
}

static void take_provider(struct memory *memory, const struct change *change)
{
    const struct change_provider *from = &change->provider;
    struct provider *to = &memory->providers[from->id];
    assert_true(memory->loading || from->parent_id == 0 ||
                memory->providers[from->parent_id].there);
    if (change->kind == CHANGE_PROVIDER_INSERT) {
        assert_false(to->there);
        memset(to, 0, sizeof(*to));
        to->there = true;
        to->generation = from->generation;
    }
    assert_true(to->there);
    set_text(to->uuid, sizeof(to->uuid), from->uuid);
    to->parent = from->parent_id;
    to->root = from->root_id;
    set_text(to->name, sizeof(to->name), from->name);
}

static void delete_provider(struct memory *memory, int64_t id)
{
    struct provider *provider = &memory->providers[id];
    assert_true(provider->there);
    for (int class = 0; class < CLASSES; class ++)
        assert_int_equal(provider->total[class], 0);
    for (int i = 0; i < PROVIDERS; i++)
        assert_false(memory->providers[i].there && memory->providers[i].parent == id);
    memset(provider, 0, sizeof(*provider));
}

static void take_consumer(struct memory *memory, const struct change *change)
{
    struct consumer *to = &memory->consumers[change->consumer.id];
    assert_int_equal(to->there, change->kind == CHANGE_CONSUMER_UPDATE);
    to->there = true;
    to->generation = change->consumer.generation;
    set_text(to->uuid, sizeof(to->uuid), change->consumer.uuid);
}

void memory_sink(void *cls, const struct change *change)
{
    struct memory *memory = cls;
    struct provider *providers = memory->providers;
    switch (change->kind) {
    case CHANGE_PROVIDER_INSERT:
    case CHANGE_PROVIDER_UPDATE:
        take_provider(memory, change);
        return;
    case CHANGE_PROVIDER_GENERATION:
        assert_true(providers[change->generation.provider_id].there);
        providers[change->generation.provider_id].generation = change->generation.next;
        return;
    case CHANGE_PROVIDER_DELETE:
        delete_provider(memory, change->provider.id);
        return;
    case CHANGE_FOLLOW_PROVIDER_RESET:
        assert_true(providers[change->provider.id].there);
        memset(providers[change->provider.id].total, 0, sizeof(providers->total));
        memset(providers[change->provider.id].traits, 0, sizeof(providers->traits));
        return;
    case CHANGE_INVENTORY_INSERT:
        assert_true(providers[change->inventory.provider_id].there);
        assert_int_equal(providers[change->inventory.provider_id].total[change->inventory.class_id],
                         0);
        providers[change->inventory.provider_id].total[change->inventory.class_id] =
            change->inventory.total;
        return;
    case CHANGE_INVENTORY_DELETE:
        providers[change->inventory.provider_id].total[change->inventory.class_id] = 0;
        return;
    case CHANGE_PROVIDER_TRAIT_INSERT:
        assert_false(providers[change->link.provider_id].traits[change->link.other_id - 1]);
        providers[change->link.provider_id].traits[change->link.other_id - 1] = true;
        return;
    case CHANGE_PROVIDER_TRAIT_DELETE:
        providers[change->link.provider_id].traits[change->link.other_id - 1] = false;
        return;
    case CHANGE_CONSUMER_INSERT:
    case CHANGE_CONSUMER_UPDATE:
        take_consumer(memory, change);
        return;
    case CHANGE_FOLLOW_CONSUMER_RESET:
    case CHANGE_CONSUMER_DELETE:
        drop_allocations(memory, change->consumer.id);
        memset(&memory->consumers[change->consumer.id], 0, sizeof(struct consumer));
        return;
    case CHANGE_ALLOCATIONS_OF_DELETE:
        drop_allocations(memory, change->allocation.consumer_id);
        return;
    case CHANGE_ALLOCATION_INSERT:
        assert_true(providers[change->allocation.provider_id].there);
        assert_true(memory->consumers[change->allocation.consumer_id].there);
        assert_int_equal(memory->allocations[change->allocation.id].consumer, 0);
        memory->allocations[change->allocation.id] =
            (struct allocation){change->allocation.consumer_id, change->allocation.provider_id,
                                change->allocation.used};
        return;
    default: /* the catalogs never change */
        return;
    }
}

static struct known_entity find_entity(void *cls, enum entity entity, int64_t id)
{
    const struct memory *memory = cls;
    if (entity < ENTITY_PROVIDER)
        return (struct known_entity){.is_known = true};
    if (entity != ENTITY_PROVIDER || id >= PROVIDERS || !memory->providers[id].there)
        return (struct known_entity){.is_known = false};
    uint32_t depth = 0;
    for (int64_t at = id; at != 0; at = memory->providers[at].parent)
        depth++;
    return (struct known_entity){true, (int32_t)memory->providers[id].generation, depth};
}

static void pass_holders(void *cls, int64_t provider_id, consumer_take *take, void *take_cls)
{
    const struct memory *memory = cls;
    for (int i = 0; i < ALLOCATIONS; i++) {
        int64_t consumer = memory->allocations[i].consumer;
        if (consumer != 0 && memory->allocations[i].provider == provider_id)
            take(take_cls, consumer, slice_of(memory->consumers[consumer].uuid));
    }
}

struct memory_view memory_view_of(struct memory *memory)
{
    return (struct memory_view){find_entity, pass_holders, memory};
}
