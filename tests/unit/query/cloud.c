/* Random clouds, through the same changes that a database load sends. */
#include "cloud.h"

#include <stdlib.h>

#include "replica/apply.h"

unsigned cloud_below(unsigned n)
{
    return (unsigned)random() % n;
}

struct slice cloud_text(struct arena *arena, const char *prefix, unsigned n)
{
    return arena_printf(arena, "%s%u", prefix, n);
}

static void add_names(struct arena *arena, struct change_list *list, enum change_kind kind,
                      const char *prefix, unsigned n)
{
    for (unsigned i = 1; i <= n; i++) {
        struct slice name = cloud_text(arena, prefix, i);
        change_append(list, kind)->catalog = (struct change_catalog){i, name};
    }
}

static void add_inventories(struct change_list *list, unsigned provider)
{
    for (unsigned class_id = 1; class_id <= CLOUD_CLASSES; class_id++) {
        if (cloud_below(2) == 0)
            continue;
        change_append(list, CHANGE_INVENTORY_INSERT)->inventory = (struct change_inventory){
            .provider_id = provider,
            .class_id = class_id,
            .total = 1 + (int32_t)cloud_below(6),
            .reserved = 0,
            .min_unit = 1 + (int32_t)(cloud_below(6) == 0),
            .max_unit = 1 + (int32_t)cloud_below(6),
            .step_size = 1 + (int32_t)(cloud_below(6) == 0),
            .allocation_ratio = cloud_below(4) == 0 ? 1.5 : 1.0,
        };
    }
}

static void add_links(struct change_list *list, unsigned provider, unsigned sharing_in_10)
{
    for (unsigned id = 1; id <= CLOUD_TRAITS; id++)
        if (cloud_below(3) == 0)
            change_append(list, CHANGE_PROVIDER_TRAIT_INSERT)->link =
                (struct change_link){provider, id};
    if (cloud_below(10) < sharing_in_10)
        change_append(list, CHANGE_PROVIDER_TRAIT_INSERT)->link =
            (struct change_link){provider, CLOUD_TRAITS + 1};
    for (unsigned id = 1; id <= CLOUD_AGGREGATES; id++)
        if (cloud_below(3) == 0)
            change_append(list, CHANGE_PROVIDER_AGGREGATE_INSERT)->link =
                (struct change_link){provider, id};
}

static void add_use(struct change_list *list, struct arena *arena, const struct version *version)
{
    struct slice uuid = SLICE_LIT("consumer");
    change_append(list, CHANGE_PROJECT_INSERT)->catalog =
        (struct change_catalog){1, SLICE_LIT("project")};
    change_append(list, CHANGE_USER_INSERT)->catalog =
        (struct change_catalog){1, SLICE_LIT("user")};
    change_append(list, CHANGE_CONSUMER_INSERT)->consumer =
        (struct change_consumer){.id = 1, .project_id = 1, .user_id = 1, .uuid = uuid};
    (void)arena;
    for (uint32_t slot = 0; slot < version->slot_limit; slot++) {
        const struct place *place = version_place(version, (struct slot_no){slot});
        if (place->provider == NULL || place->provider->inventory_count == 0 || cloud_below(3) != 0)
            continue;
        const struct provider_inventory *inventory = &place->provider->inventory[0];
        change_append(list, CHANGE_ALLOCATION_INSERT)->allocation = (struct change_allocation){
            .id = slot + 1,
            .consumer_id = 1,
            .provider_id = place->provider->id,
            .class_id = catalog_row_at(&version->classes, inventory->class_no.v)->id,
            .used = 1 + cloud_below(3),
            .consumer_uuid = uuid,
        };
    }
}

struct cloud cloud_create(unsigned providers, unsigned nested_in_10, unsigned sharing_in_10)
{
    struct cloud cloud = {arena_create(), replica_create(), NULL, providers};
    struct change_list list = {.arena = cloud.arena};
    struct edit *edit = replica_edit_empty(cloud.replica);
    add_names(cloud.arena, &list, CHANGE_CLASS_INSERT, "C", CLOUD_CLASSES);
    add_names(cloud.arena, &list, CHANGE_TRAIT_INSERT, "T", CLOUD_TRAITS);
    change_append(&list, CHANGE_TRAIT_INSERT)->catalog =
        (struct change_catalog){CLOUD_TRAITS + 1, SLICE_LIT("MISC_SHARES_VIA_AGGREGATE")};
    add_names(cloud.arena, &list, CHANGE_AGGREGATE_INSERT, "A", CLOUD_AGGREGATES);
    for (unsigned id = 1; id <= providers; id++) {
        int64_t parent = id > 1 && cloud_below(10) < nested_in_10 ? 1 + cloud_below(id - 1) : 0;
        struct slice uuid = cloud_text(cloud.arena, "P", id);
        change_append(&list, CHANGE_PROVIDER_INSERT)->provider =
            (struct change_provider){id, parent, 0, 0, uuid, uuid};
    }
    change_append(&list, CHANGE_LOAD_PROVIDERS_END);
    for (unsigned id = 1; id <= providers; id++) {
        add_inventories(&list, id);
        add_links(&list, id, sharing_in_10);
    }
    apply_changes(edit, &list);
    list.count = 0;
    add_use(&list, cloud.arena, edit->version);
    apply_changes(edit, &list);
    struct version_stamp stamp = {{0}};
    replica_publish(cloud.replica, edit, &stamp);
    cloud.version = replica_newest(cloud.replica);
    return cloud;
}

void cloud_destroy(struct cloud *cloud)
{
    replica_destroy(cloud->replica);
    arena_destroy(cloud->arena);
}
