/* See scene.h. */
#include "scene.h"

#include "replica/apply.h"

void names(struct scene *scene, enum change_kind kind, const char *const *list)
{
    for (int64_t id = 1; list[id - 1] != NULL; id++)
        change_append(&scene->changes, kind)->catalog =
            (struct change_catalog){id, slice_of(list[id - 1])};
}

void provider(struct scene *scene, int64_t id, int64_t parent)
{
    struct slice uuid = arena_printf(scene->arena, "P%d", (int)id);
    change_append(&scene->changes, CHANGE_PROVIDER_INSERT)->provider =
        (struct change_provider){id, parent, 0, 0, uuid, uuid};
}

void inventory(struct scene *scene, int64_t id, int64_t class_id, int32_t total)
{
    change_append(&scene->changes, CHANGE_INVENTORY_INSERT)->inventory = (struct change_inventory){
        .provider_id = id,
        .class_id = class_id,
        .total = total,
        .min_unit = 1,
        .max_unit = total,
        .step_size = 1,
        .allocation_ratio = 1.0,
    };
}

void link_to(struct scene *scene, enum change_kind kind, int64_t id, int64_t other)
{
    change_append(&scene->changes, kind)->link = (struct change_link){id, other};
}

void cloud(struct scene *scene)
{
    static const char *const CLASSES[] = {"A", "B", "C", "SHARED", NULL};
    static const char *const TRAITS[] = {"X", "Y", "NOBODY", "MISC_SHARES_VIA_AGGREGATE", NULL};
    static const char *const AGGREGATES[] = {"1", "2", NULL};
    names(scene, CHANGE_CLASS_INSERT, CLASSES);
    names(scene, CHANGE_TRAIT_INSERT, TRAITS);
    names(scene, CHANGE_AGGREGATE_INSERT, AGGREGATES);
    provider(scene, 1, 0);
    provider(scene, 2, 1);
    provider(scene, 3, 0);
    provider(scene, 4, 0);
    change_append(&scene->changes, CHANGE_LOAD_PROVIDERS_END);
    inventory(scene, 1, CLASS_A, 10);
    inventory(scene, 2, CLASS_B, 10);
    inventory(scene, 3, CLASS_A, 4);
    inventory(scene, 3, CLASS_B, 4);
    inventory(scene, 4, CLASS_SHARED, 100);
    link_to(scene, CHANGE_PROVIDER_TRAIT_INSERT, 1, TRAIT_X);
    link_to(scene, CHANGE_PROVIDER_TRAIT_INSERT, 2, TRAIT_Y);
    link_to(scene, CHANGE_PROVIDER_TRAIT_INSERT, 4, TRAIT_SHARES);
    link_to(scene, CHANGE_PROVIDER_AGGREGATE_INSERT, 1, AGGREGATE_1);
    link_to(scene, CHANGE_PROVIDER_AGGREGATE_INSERT, 4, AGGREGATE_1);
}

void flat_cloud(struct scene *scene)
{
    static const char *const CLASSES[] = {"A", "B", "C", NULL};
    static const char *const TRAITS[] = {"X", "Y", "NOBODY", NULL};
    static const char *const AGGREGATES[] = {"1", "2", NULL};
    names(scene, CHANGE_CLASS_INSERT, CLASSES);
    names(scene, CHANGE_TRAIT_INSERT, TRAITS);
    names(scene, CHANGE_AGGREGATE_INSERT, AGGREGATES);
    provider(scene, 1, 0);
    provider(scene, 2, 0);
    change_append(&scene->changes, CHANGE_LOAD_PROVIDERS_END);
    inventory(scene, 1, CLASS_A, 10);
    inventory(scene, 2, CLASS_B, 10);
    link_to(scene, CHANGE_PROVIDER_TRAIT_INSERT, 1, TRAIT_X);
    link_to(scene, CHANGE_PROVIDER_AGGREGATE_INSERT, 1, AGGREGATE_1);
}

void scene_trees(struct scene *scene, int64_t trees)
{
    static const char *const CLASSES[] = {"A", NULL};
    static const char *const TRAITS[] = {"X", NULL};
    static const char *const AGGREGATES[] = {"1", "2", NULL};
    names(scene, CHANGE_CLASS_INSERT, CLASSES);
    names(scene, CHANGE_TRAIT_INSERT, TRAITS);
    names(scene, CHANGE_AGGREGATE_INSERT, AGGREGATES);
    for (int64_t i = 0; i < trees; i++) {
        provider(scene, 2 * i + 1, 0);
        provider(scene, 2 * i + 2, 2 * i + 1);
    }
    change_append(&scene->changes, CHANGE_LOAD_PROVIDERS_END);
    for (int64_t i = 0; i < trees; i++) {
        inventory(scene, 2 * i + 1, CLASS_A, 10);
        inventory(scene, 2 * i + 2, CLASS_A, 10);
        if (i % 2 == 0)
            link_to(scene, CHANGE_PROVIDER_TRAIT_INSERT, 2 * i + 1, TRAIT_X);
        if (i % 3 == 0)
            link_to(scene, CHANGE_PROVIDER_AGGREGATE_INSERT, 2 * i + 1, AGGREGATE_1);
        if (i % 5 == 0)
            link_to(scene, CHANGE_PROVIDER_AGGREGATE_INSERT, 2 * i + 2, AGGREGATE_1);
    }
}

void open_scene(struct scene *scene, void (*build)(struct scene *))
{
    *scene = (struct scene){.arena = arena_create(), .replica = replica_create()};
    scene->changes.arena = scene->arena;
    scene->edit = replica_edit_empty(scene->replica);
    build(scene);
    apply_changes(scene->edit, &scene->changes);
    struct version_stamp stamp = {{0}};
    replica_publish(scene->replica, scene->edit, &stamp);
    scene->version = replica_newest(scene->replica);
    scene->request =
        (struct ac_request){.groups = scene->groups, .limit = -1, .most = -1, .nested_aware = true};
}

void close_scene(struct scene *scene)
{
    replica_destroy(scene->replica);
    arena_destroy(scene->arena);
}

struct ac_names one(struct scene *scene, const char *name)
{
    struct ac_names list = {arena_array(scene->arena, 1, sizeof(struct slice)), 1};
    list.names[0] = slice_of(name);
    return list;
}

struct ac_names *list_of(struct scene *scene, const char *name)
{
    struct ac_names *list = arena_array(scene->arena, 1, sizeof(*list));
    *list = one(scene, name);
    return list;
}

struct ac_group *group(struct scene *scene, const char *suffix, const char *class_name,
                       int64_t amount)
{
    struct ac_group *made = &scene->groups[scene->request.group_count++];
    *made = (struct ac_group){.suffix = slice_of(suffix)};
    made->resources = arena_array(scene->arena, 2, sizeof(struct ac_resource));
    if (class_name != NULL)
        made->resources[made->resource_count++] =
            (struct ac_resource){slice_of(class_name), amount};
    return made;
}

void require(struct scene *scene, struct ac_group *to, const char *trait)
{
    to->required = list_of(scene, trait);
    to->required_count = 1;
}

void emit_nothing(void *cls, const struct ac_candidate *candidate)
{
    (void)candidate;
    ++*(unsigned *)cls;
}
