/* See missing.h. What a program without berth's rules may have done to the rows of providers,
 * consumers and catalogs is checked; rows of berth's own tables refer to nothing. */
#include "replica/missing.h"

#include "base/hash.h"
#include "replica/provider_consumers.h"

static const struct slice NO_UUID;

struct checking {
    const struct version *version;
    missing_note *note;
    void *cls;
    bool fits;
};

static void lack(struct checking *checking, enum entity entity, int64_t id)
{
    checking->note(checking->cls, entity, id, NO_UUID);
    checking->fits = false;
}

static void need_provider(struct checking *checking, int64_t id)
{
    if (version_provider_by_id(checking->version, id) == NULL)
        lack(checking, ENTITY_PROVIDER, id);
}

static void need_row(struct checking *checking, const struct catalog *catalog, enum entity entity,
                     int64_t id)
{
    if (id != 0 && catalog_find_id(catalog, id) == NULL)
        lack(checking, entity, id);
}

/* Another provider with the same name or uuid is gone, or has another by now. */
static void check_namesakes(struct checking *checking, const struct change_provider *row)
{
    const struct provider *others[] = {version_provider_by_name(checking->version, row->name),
                                       version_provider_by_uuid(checking->version, row->uuid)};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (others[i] != NULL && others[i]->id != row->id)
            checking->note(checking->cls, ENTITY_PROVIDER, others[i]->id, NO_UUID);
}

/* The provider from which that one descends next; NULL: it is a root. */
static const struct provider *above(const struct version *version, const struct provider *provider)
{
    return provider->parent.v == NUMBER_NONE ? NULL : version_provider(version, provider->parent);
}

/* The new parent must not be below the provider. If it is, it was moved before, or, in a database
 * that has a cycle, all of it must be read at once. */
static void check_no_cycle(struct checking *checking, const struct change_provider *row)
{
    const struct version *version = checking->version;
    const struct provider *parent = version_provider_by_id(version, row->parent_id);
    const struct provider *at = parent;
    while (at != NULL && at->id != row->id)
        at = above(version, at);
    if (at == NULL)
        return;
    lack(checking, ENTITY_PROVIDER, parent->id);
    for (at = parent; at->id != row->id && above(version, at)->id != row->id;) {
        at = above(version, at);
        lack(checking, ENTITY_PROVIDER, at->id);
    }
}

static void check_place(struct checking *checking, const struct change_provider *row)
{
    if (row->parent_id != 0) {
        need_provider(checking, row->parent_id);
        check_no_cycle(checking, row);
    }
    check_namesakes(checking, row);
}

static void note_consumers(struct checking *checking, const struct provider *provider)
{
    struct provider_consumers walk;
    const struct consumer *consumer;
    provider_consumers_of(&walk, checking->version, provider->no);
    while ((consumer = provider_consumers_next(&walk)) != NULL) {
        checking->note(checking->cls, ENTITY_CONSUMER, consumer->id, consumer_uuid(consumer));
        checking->fits = false;
    }
}

/* Its children and consumers must have been moved or deleted before. */
static void check_delete(struct checking *checking, int64_t id)
{
    const struct version *version = checking->version;
    const struct provider *provider = version_provider_by_id(version, id);
    if (provider == NULL) {
        lack(checking, ENTITY_PROVIDER, id);
        return;
    }
    struct slot_no slot = version_slot(version, provider->no);
    uint32_t end = version_place(version, slot)->end;
    for (uint32_t at = slot.v + 1; at < end; at++)
        if (version_place(version, (struct slot_no){at})->provider != NULL)
            lack(checking, ENTITY_PROVIDER,
                 version_place(version, (struct slot_no){at})->provider->id);
    note_consumers(checking, provider);
}

static bool refers_to(const struct provider *provider, const struct catalog_row *class)
{
    for (uint32_t i = 0; i < provider->inventory_count; i++)
        if (provider->inventory[i].class_no.v == class->number)
            return true;
    return false;
}

/* A class is deleted so rarely that all providers can be looked at. */
static void check_class_is_unused(struct checking *checking, const struct catalog_row *class)
{
    const struct version *version = checking->version;
    for (uint32_t slot = 0; slot < version->slot_limit; slot++) {
        const struct place *place = version_place(version, (struct slot_no){slot});
        if (place != NULL && place->provider != NULL && refers_to(place->provider, class))
            lack(checking, ENTITY_PROVIDER, place->provider->id);
    }
    struct ptree_iter iter;
    ptree_seek(&version->consumers, 0, 0, &iter);
    const struct ptree_entry *entry;
    for (; (entry = ptree_iter_get(&iter)) != NULL; ptree_iter_next(&iter)) {
        const struct consumer *consumer = (const struct consumer *)(uintptr_t)entry->value;
        for (uint32_t i = 0; i < consumer->allocation_count; i++)
            if (consumer->allocation[i].class_no.v == class->number) {
                checking->note(checking->cls, ENTITY_CONSUMER, consumer->id,
                               consumer_uuid(consumer));
                checking->fits = false;
            }
    }
}

static void check_set_is_empty(struct checking *checking, const struct catalog *catalog,
                               const struct catalog_row *row)
{
    const struct version *version = checking->version;
    const struct slotset *slots = &catalog_at(catalog, row->number)->slots;
    for (uint32_t slot = slotset_next(slots, 0); slot != NUMBER_NONE;
         slot = slotset_next(slots, slot + 1))
        lack(checking, ENTITY_PROVIDER,
             version_place(version, (struct slot_no){slot})->provider->id);
}

/* Projects, users and types are never deleted. */
static void check_catalog(struct checking *checking, const struct change *change)
{
    const struct version *version = checking->version;
    enum change_kind of = change->merged.of;
    bool is_delete = change->kind == CHANGE_MERGE_CATALOG_DELETE;
    const struct catalog *catalog = of == CHANGE_CLASS_INSERT       ? &version->classes
                                    : of == CHANGE_TRAIT_INSERT     ? &version->traits
                                    : of == CHANGE_AGGREGATE_INSERT ? &version->aggregates
                                                                    : NULL;
    const struct catalog_row *row =
        catalog == NULL ? NULL : catalog_find_id(catalog, change->merged.row.id);
    if (row == NULL)
        checking->fits = catalog == NULL && !is_delete;
    else if (of != CHANGE_CLASS_INSERT && !is_delete)
        checking->fits = slice_equal(catalog_name(row), change->merged.row.name);
    else if (of != CHANGE_CLASS_INSERT)
        check_set_is_empty(checking, catalog, row);
    else if (is_delete)
        check_class_is_unused(checking, row);
}

static void check_consumer(struct checking *checking, const struct change_consumer *row)
{
    const struct version *version = checking->version;
    const struct consumer *other = version_consumer(version, row->uuid);
    checking->fits &= row->project_id != 0 && row->user_id != 0;
    need_row(checking, &version->projects, ENTITY_PROJECT, row->project_id);
    need_row(checking, &version->users, ENTITY_USER, row->user_id);
    need_row(checking, &version->types, ENTITY_CONSUMER_TYPE, row->type_id);
    if (other != NULL && other->id != row->id) /* it was deleted and created again */
        checking->note(checking->cls, ENTITY_CONSUMER, other->id, consumer_uuid(other));
}

/* Changes as another instance has planned them, which are not images of rows, have what they expect
 * (model/change.h). */
static void check_generation(struct checking *checking, const struct change_generation *change)
{
    const struct provider *provider =
        version_provider_by_id(checking->version, change->provider_id);
    bool is_image = change->expected == change->next;
    if (provider == NULL || (!is_image && provider->generation != change->expected))
        lack(checking, ENTITY_PROVIDER, change->provider_id);
}

static const struct consumer *find_consumer(const struct checking *checking, int64_t id,
                                            struct slice uuid)
{
    uint64_t value;
    bool is_there =
        ptree_find(&checking->version->consumers, hash_text(uuid), (uint64_t)id, &value);
    return is_there ? (const struct consumer *)(uintptr_t)value : NULL;
}

static void need_consumer(struct checking *checking, bool is_as_needed, int64_t id,
                          struct slice uuid)
{
    if (is_as_needed)
        return;
    checking->note(checking->cls, ENTITY_CONSUMER, id, uuid);
    checking->fits = false;
}

static void check_known_consumer(struct checking *checking, const struct change *change)
{
    const struct change_consumer *row = &change->consumer;
    const struct consumer *known = find_consumer(checking, row->id, row->uuid);
    bool is_delete = change->kind == CHANGE_CONSUMER_DELETE;
    need_consumer(checking,
                  known != NULL && known->generation == row->expected_generation &&
                      (!is_delete || known->allocation_count == 0),
                  row->id, row->uuid);
    if (!is_delete)
        check_consumer(checking, row);
}

static void check_allocation(struct checking *checking, const struct change *change)
{
    const struct change_allocation *row = &change->allocation;
    need_consumer(checking, find_consumer(checking, row->consumer_id, row->consumer_uuid) != NULL,
                  row->consumer_id, row->consumer_uuid);
    if (change->kind == CHANGE_ALLOCATIONS_OF_DELETE)
        return;
    need_provider(checking, row->provider_id);
    need_row(checking, &checking->version->classes, ENTITY_CLASS, row->class_id);
}

bool missing_check(const struct edit *edit, const struct change *change, missing_note *note,
                   void *cls)
{
    const struct version *version = edit->version;
    struct checking checking = {version, note, cls, .fits = true};
    switch (change->kind) {
    case CHANGE_PROVIDER_UPDATE:
        need_provider(&checking, change->provider.id);
        check_place(&checking, &change->provider);
        break;
    case CHANGE_PROVIDER_INSERT:
        check_place(&checking, &change->provider);
        break;
    case CHANGE_PROVIDER_GENERATION:
        check_generation(&checking, &change->generation);
        break;
    case CHANGE_FOLLOW_PROVIDER_RESET:
        need_provider(&checking, change->provider.id);
        break;
    case CHANGE_PROVIDER_DELETE:
        check_delete(&checking, change->provider.id);
        break;
    case CHANGE_INVENTORY_INSERT:
        need_provider(&checking, change->inventory.provider_id);
        need_row(&checking, &version->classes, ENTITY_CLASS, change->inventory.class_id);
        break;
    case CHANGE_PROVIDER_TRAIT_INSERT:
        need_provider(&checking, change->link.provider_id);
        need_row(&checking, &version->traits, ENTITY_TRAIT, change->link.other_id);
        break;
    case CHANGE_PROVIDER_AGGREGATE_INSERT:
        need_provider(&checking, change->link.provider_id);
        need_row(&checking, &version->aggregates, ENTITY_AGGREGATE, change->link.other_id);
        break;
    case CHANGE_CONSUMER_INSERT:
        need_consumer(&checking,
                      find_consumer(&checking, change->consumer.id, change->consumer.uuid) == NULL,
                      change->consumer.id, change->consumer.uuid);
        check_consumer(&checking, &change->consumer);
        break;
    case CHANGE_CONSUMER_UPDATE:
    case CHANGE_CONSUMER_DELETE:
        check_known_consumer(&checking, change);
        break;
    case CHANGE_ALLOCATION_INSERT:
    case CHANGE_ALLOCATIONS_OF_DELETE:
        check_allocation(&checking, change);
        break;
    case CHANGE_MERGE_CATALOG_PUT:
    case CHANGE_MERGE_CATALOG_DELETE:
        check_catalog(&checking, change);
        break;
    default: /* refers to nothing that memory might lack */
        break;
    }
    return checking.fits;
}
