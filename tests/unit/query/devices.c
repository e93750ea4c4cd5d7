/* Fleets, through the same changes that a database load sends. */
#include "devices.h"

#include "replica/apply.h"

enum { CLASS_DEVICE = 1, CLASS_PORT, MODS = 4, TRAITS_EACH = 128 };

static void add_names(struct change_list *list)
{
    change_append(list, CHANGE_CLASS_INSERT)->catalog =
        (struct change_catalog){CLASS_DEVICE, SLICE_LIT("DEVICE")};
    change_append(list, CHANGE_CLASS_INSERT)->catalog =
        (struct change_catalog){CLASS_PORT, SLICE_LIT("PORT")};
    for (unsigned i = 1; i <= MODS; i++)
        change_append(list, CHANGE_TRAIT_INSERT)->catalog =
            (struct change_catalog){i, arena_printf(list->arena, "M%u", i - 1)};
    for (unsigned i = 1; i <= TRAITS_EACH; i++)
        change_append(list, CHANGE_TRAIT_INSERT)->catalog =
            (struct change_catalog){MODS + i, arena_printf(list->arena, "E%u", i)};
}

static void add_consumer(struct change_list *list)
{
    change_append(list, CHANGE_PROJECT_INSERT)->catalog =
        (struct change_catalog){1, SLICE_LIT("project")};
    change_append(list, CHANGE_USER_INSERT)->catalog =
        (struct change_catalog){1, SLICE_LIT("user")};
    change_append(list, CHANGE_CONSUMER_INSERT)->consumer = (struct change_consumer){
        .id = 1, .project_id = 1, .user_id = 1, .uuid = SLICE_LIT("consumer")};
}

static void add_provider(struct change_list *list, int64_t id, int64_t parent)
{
    struct slice uuid = arena_printf(list->arena, "P%d", (int)id);
    change_append(list, CHANGE_PROVIDER_INSERT)->provider =
        (struct change_provider){id, parent, 0, 0, uuid, uuid};
}

static void equip(struct change_list *list, int64_t id, unsigned number,
                  const struct devices_shape *shape)
{
    for (int64_t class_id = CLASS_DEVICE; class_id <= CLASS_PORT; class_id++)
        change_append(list, CHANGE_INVENTORY_INSERT)->inventory = (struct change_inventory){
            .provider_id = id,
            .class_id = class_id,
            .total = shape->units,
            .min_unit = 1,
            .max_unit = shape->units,
            .step_size = 1,
            .allocation_ratio = 1.0,
        };
    change_append(list, CHANGE_PROVIDER_TRAIT_INSERT)->link =
        (struct change_link){id, 1 + number % MODS};
    for (unsigned i = 1; i <= shape->traits; i++)
        change_append(list, CHANGE_PROVIDER_TRAIT_INSERT)->link =
            (struct change_link){id, MODS + i};
}

static unsigned devices_of(const struct devices_shape *shape, unsigned host)
{
    return shape->devices + (host == shape->better);
}

struct devices_fleet devices_create(const struct devices_shape *shape)
{
    struct devices_fleet fleet = {arena_create(), replica_create(), NULL};
    struct change_list list = {.arena = fleet.arena};
    struct edit *edit = replica_edit_empty(fleet.replica);
    int64_t id = 0;
    add_names(&list);
    for (unsigned host = 1; host <= shape->hosts; host++) {
        int64_t root = ++id;
        add_provider(&list, root, 0);
        for (unsigned d = 0; d < devices_of(shape, host); d++)
            add_provider(&list, ++id, root);
    }
    change_append(&list, CHANGE_LOAD_PROVIDERS_END);
    add_consumer(&list);
    apply_changes(edit, &list);
    struct arena *scratch = arena_create(); /* all at once they are large */
    id = 0;
    for (unsigned host = 1; host <= shape->hosts; host++) {
        arena_reset(scratch);
        list = (struct change_list){.arena = scratch};
        id++;
        for (unsigned d = 0; d < devices_of(shape, host); d++) {
            equip(&list, ++id, d, shape);
            if (d == 0 && shape->one_used && host != shape->better)
                change_append(&list, CHANGE_ALLOCATION_INSERT)->allocation =
                    (struct change_allocation){.id = id,
                                               .consumer_id = 1,
                                               .provider_id = id,
                                               .class_id = CLASS_DEVICE,
                                               .used = shape->units,
                                               .consumer_uuid = SLICE_LIT("consumer")};
        }
        apply_changes(edit, &list);
    }
    arena_destroy(scratch);
    struct version_stamp stamp = {{0}};
    replica_publish(fleet.replica, edit, &stamp);
    fleet.version = replica_newest(fleet.replica);
    return fleet;
}

void devices_destroy(struct devices_fleet *fleet)
{
    replica_destroy(fleet->replica);
    arena_destroy(fleet->arena);
}

struct ac_request devices_ask(struct arena *arena, unsigned groups, int64_t amount, bool isolate,
                              enum devices_traits traits)
{
    struct ac_request request = {.groups = arena_array(arena, groups, sizeof(struct ac_group)),
                                 .group_count = groups,
                                 .isolate = isolate,
                                 .nested_aware = true,
                                 .limit = -1,
                                 .most = -1};
    for (unsigned g = 0; g < groups; g++) {
        struct ac_group *group = &request.groups[g];
        *group = (struct ac_group){.suffix = arena_printf(arena, "%u", g + 1)};
        group->resources = arena_array(arena, 1, sizeof(struct ac_resource));
        group->resources[0] = (struct ac_resource){SLICE_LIT("DEVICE"), amount};
        group->resource_count = 1;
        if (traits == DEVICES_ALIKE)
            continue;
        group->required = arena_array(arena, 1, sizeof(struct ac_names));
        group->required[0] = (struct ac_names){arena_array(arena, 1, sizeof(struct slice)), 1};
        group->required[0].names[0] = traits == DEVICES_TRAIT_MOD
                                          ? arena_printf(arena, "M%u", g % MODS)
                                          : arena_printf(arena, "E%u", 1 + g % TRAITS_EACH);
        group->required_count = 1;
    }
    return request;
}
