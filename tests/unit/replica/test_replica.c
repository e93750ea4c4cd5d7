/* Random changes to a replica, audited after each version: derived data stays consistent, abandoned
 * edits leave no trace, and pinned versions stay readable. */
#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "model/change.h"
#include "replica/apply.h"
#include "replica/audit.h"
#include "replica/provider_consumers.h"
#include "replica/replica.h"
#include "unit.h"

enum { CLASSES = 4, TRAITS = 6, AGGREGATES = 5, PROVIDERS = 60, CONSUMERS = 40, PROJECTS = 3 };

struct world {
    struct arena *arena;
    struct replica *replica;
    struct edit *edit;
    struct change_list list;
    int64_t now;
};

static struct slice text(struct world *world, const char *prefix, unsigned n)
{
    return arena_printf(world->arena, "%s%u", prefix, n);
}

static unsigned below(unsigned n)
{
    return (unsigned)random() % n;
}

static void apply(struct world *world)
{
    apply_changes(world->edit, &world->list);
    world->list.count = 0;
}

static struct change *put(struct world *world, enum change_kind kind)
{
    struct change *change = change_append(&world->list, kind);
    change->created_at_us = change->updated_at_us = ++world->now;
    return change;
}

static void catalog_rows(struct world *world, enum change_kind kind, const char *prefix, unsigned n)
{
    for (unsigned i = 1; i <= n; i++) {
        struct slice name = text(world, prefix, i);
        put(world, kind)->catalog = (struct change_catalog){i, name};
    }
    apply(world);
}

static const struct provider *provider(struct world *world, unsigned id)
{
    return version_provider_by_id(world->edit->version, id);
}

static bool has_children(struct world *world, const struct provider *p)
{
    struct slot_no slot = version_slot(world->edit->version, p->no);
    return version_place(world->edit->version, slot)->end > slot.v + 1;
}

static bool is_below(struct world *world, const struct provider *p, const struct provider *top)
{
    struct slot_no slot = version_slot(world->edit->version, p->no);
    struct slot_no from = version_slot(world->edit->version, top->no);
    return slot.v >= from.v && slot.v < version_place(world->edit->version, from)->end;
}

static bool is_used(struct world *world, const struct provider *p)
{
    struct provider_consumers walk;
    provider_consumers_of(&walk, world->edit->version, p->no);
    return provider_consumers_next(&walk) != NULL;
}

static void step_provider(struct world *world)
{
    unsigned id = 1 + below(PROVIDERS);
    const struct provider *p = provider(world, id);
    unsigned parent = below(3) == 0 ? 0 : 1 + below(PROVIDERS);
    const struct provider *up = parent == 0 ? NULL : provider(world, parent);
    int64_t parent_id = up == NULL ? 0 : up->id;
    if (p == NULL) {
        struct slice uuid = text(world, "uuid-", id);
        struct slice name = text(world, "name-", id);
        put(world, CHANGE_PROVIDER_INSERT)->provider =
            (struct change_provider){id, parent_id, 0, 0, uuid, name};
    } else if (below(3) == 0 && !has_children(world, p) && p->inventory_count == 0 &&
               !is_used(world, p) && p->traits->count == 0 && p->aggregates->count == 0) {
        put(world, CHANGE_PROVIDER_DELETE)->provider = (struct change_provider){.id = id};
    } else if (up == NULL || !is_below(world, up, p)) {
        struct slice name = text(world, "renamed-", id * 1000 + below(1000));
        put(world, CHANGE_PROVIDER_UPDATE)->provider =
            (struct change_provider){id, parent_id, 0, 0, {0}, name};
    }
    apply(world);
}

static void step_inventory(struct world *world)
{
    const struct provider *p = provider(world, 1 + below(PROVIDERS));
    if (p == NULL)
        return;
    unsigned class_id = 1 + below(CLASSES);
    const struct catalog_row *row = catalog_find_id(&world->edit->version->classes, class_id);
    const struct provider_inventory *inventory =
        provider_inventory_of(p, (struct class_no){row->number});
    struct change_inventory figures = {
        .provider_id = p->id,
        .class_id = class_id,
        .total = 1 + (int32_t)below(100),
        .reserved = (int32_t)below(3),
        .min_unit = 1 + (int32_t)(below(4) == 0),
        .max_unit = 1 + (int32_t)below(50),
        .step_size = 1 + (int32_t)(below(5) == 0),
        .allocation_ratio = 0.5 * below(8),
    };
    if (inventory == NULL)
        put(world, CHANGE_INVENTORY_INSERT)->inventory = figures;
    else if (below(3) == 0) /* also while it is in use: existing allocations stay */
        put(world, CHANGE_INVENTORY_DELETE)->inventory = figures;
    else
        put(world, CHANGE_INVENTORY_UPDATE)->inventory = figures;
    apply(world);
}

static void step_links(struct world *world)
{
    const struct provider *p = provider(world, 1 + below(PROVIDERS));
    if (p == NULL)
        return;
    bool traits = below(2) == 0;
    const struct catalog *catalog =
        traits ? &world->edit->version->traits : &world->edit->version->aggregates;
    const struct name_set *set = traits ? p->traits : p->aggregates;
    bool wipe = below(3) == 0;
    for (unsigned id = 1; id <= (traits ? TRAITS : AGGREGATES); id++) {
        bool has = name_set_has(set, catalog_find_id(catalog, id)->number);
        bool want = !wipe && below(2) == 0;
        if (has == want)
            continue;
        enum change_kind kind =
            traits ? CHANGE_PROVIDER_TRAIT_INSERT : CHANGE_PROVIDER_AGGREGATE_INSERT;
        if (has)
            kind = traits ? CHANGE_PROVIDER_TRAIT_DELETE : CHANGE_PROVIDER_AGGREGATE_DELETE;
        put(world, kind)->link = (struct change_link){p->id, id};
    }
    apply(world);
}

static void step_consumer(struct world *world)
{
    unsigned id = 1 + below(CONSUMERS);
    struct slice uuid = text(world, "consumer-", id);
    const struct consumer *consumer = version_consumer(world->edit->version, uuid);
    struct change_consumer row = {
        .id = id,
        .project_id = 1 + below(PROJECTS),
        .user_id = 1 + below(PROJECTS),
        .type_id = below(PROJECTS + 1),
        .uuid = uuid,
    };
    struct change_allocation allocation = {.consumer_id = id, .consumer_uuid = uuid};
    if (consumer == NULL) {
        put(world, CHANGE_CONSUMER_INSERT)->consumer = row;
    } else {
        put(world, CHANGE_ALLOCATIONS_OF_DELETE)->allocation = allocation;
        if (below(3) == 0) {
            put(world, CHANGE_CONSUMER_DELETE)->consumer = row;
            apply(world);
            return;
        }
        put(world, CHANGE_CONSUMER_UPDATE)->consumer = row;
    }
    for (unsigned i = below(7); i > 0; i--) {
        const struct provider *p = provider(world, 1 + below(PROVIDERS));
        bool strays = below(4) == 0; /* whatever inventory it has */
        if (p == NULL || (p->inventory_count == 0 && !strays))
            continue;
        struct class_no class_no = {below(CLASSES)};
        if (!strays)
            class_no = p->inventory[below(p->inventory_count)].class_no;
        allocation.provider_id = p->id;
        allocation.class_id = catalog_row_at(&world->edit->version->classes, class_no.v)->id;
        allocation.used = 1 + below(20);
        put(world, CHANGE_ALLOCATION_INSERT)->allocation = allocation;
    }
    apply(world);
}

/* As in a follow: a consumer is removed if it exists; a provider is emptied and written again. */
static void step_follow(struct world *world)
{
    const struct version *version = world->edit->version;
    const struct provider *p = provider(world, 1 + below(PROVIDERS));
    unsigned consumer = 1 + below(CONSUMERS);
    put(world, CHANGE_FOLLOW_CONSUMER_RESET)->consumer =
        (struct change_consumer){.id = consumer, .uuid = text(world, "consumer-", consumer)};
    if (p != NULL)
        put(world, CHANGE_FOLLOW_PROVIDER_RESET)->provider = (struct change_provider){.id = p->id};
    for (uint32_t i = 0; p != NULL && i < p->inventory_count; i++) {
        const struct inventory_figures *figures = &p->inventory[i].figures;
        put(world, CHANGE_INVENTORY_INSERT)->inventory = (struct change_inventory){
            .provider_id = p->id,
            .class_id = catalog_row_at(&version->classes, p->inventory[i].class_no.v)->id,
            .total = figures->total,
            .min_unit = figures->min_unit,
            .max_unit = figures->max_unit,
            .step_size = figures->step_size,
            .allocation_ratio = figures->allocation_ratio,
        };
    }
    for (uint32_t i = 0; p != NULL && i < p->traits->count; i++)
        put(world, CHANGE_PROVIDER_TRAIT_INSERT)->link = (struct change_link){
            p->id, catalog_row_at(&version->traits, p->traits->numbers[i])->id};
    apply(world);
}

static void check_sound(const struct version *version)
{
    struct buf why = {0};
    if (!audit_version(version, &why)) {
        buf_append_char(&why, '\0');
        fail_msg("%s", why.data);
    }
    buf_free(&why);
}

static void run(unsigned seed)
{
    srandom(seed);
    struct world world = {.arena = arena_create(), .replica = replica_create()};
    world.list.arena = world.arena;
    world.edit = replica_edit(world.replica);
    catalog_rows(&world, CHANGE_CLASS_INSERT, "CLASS", CLASSES);
    catalog_rows(&world, CHANGE_TRAIT_INSERT, "TRAIT", TRAITS);
    catalog_rows(&world, CHANGE_AGGREGATE_INSERT, "AGGREGATE", AGGREGATES);
    catalog_rows(&world, CHANGE_PROJECT_INSERT, "project", PROJECTS);
    catalog_rows(&world, CHANGE_USER_INSERT, "user", PROJECTS);
    catalog_rows(&world, CHANGE_CONSUMER_TYPE_INSERT, "TYPE", PROJECTS);
    struct version_stamp stamp = {{0}};
    replica_publish(world.replica, world.edit, &stamp);
    struct replica_reader *reader = replica_reader_open(world.replica);
    const struct version *pinned = replica_pin(reader);
    for (unsigned version = 0; version < 80; version++) {
        world.edit = replica_edit(world.replica);
        for (unsigned i = 0; i < 12; i++) {
            switch (below(6)) {
            case 0:
            case 1:
                step_provider(&world);
                break;
            case 2:
                step_inventory(&world);
                break;
            case 3:
                step_links(&world);
                break;
            case 4:
                step_consumer(&world);
                break;
            default:
                step_follow(&world);
                break;
            }
        }
        check_sound(world.edit->version);
        if (below(3) == 0)
            replica_abandon(world.replica, world.edit);
        else
            replica_publish(world.replica, world.edit, &stamp);
        check_sound(replica_newest(world.replica));
        check_sound(pinned);
        if (below(4) == 0) {
            replica_unpin(reader);
            pinned = replica_pin(reader);
        }
        arena_reset(world.arena);
        world.list = (struct change_list){.arena = world.arena};
    }
    replica_unpin(reader);
    replica_reader_close(reader);
    world.edit = replica_edit_empty(world.replica);
    put(&world, CHANGE_LOAD_PROVIDERS_END);
    apply(&world);
    replica_publish(world.replica, world.edit, &stamp);
    assert_int_equal(replica_waiting(world.replica), 0);
    assert_int_equal(replica_figures(world.replica).retained_bytes, 0);
    replica_destroy(world.replica);
    arena_destroy(world.arena);
}

static void random_changes(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 10; seed++)
        run(seed);
}

static void load_lays_out_trees(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 20; seed++) {
        srandom(seed);
        struct world world = {.arena = arena_create(), .replica = replica_create()};
        world.list.arena = world.arena;
        world.edit = replica_edit_empty(world.replica);
        for (unsigned id = 1; id <= PROVIDERS; id++) {
            struct slice uuid = text(&world, "uuid-", id);
            struct slice name = text(&world, "name-", id);
            /* parents before and after their children, unknown parents, cycles */
            put(&world, CHANGE_PROVIDER_INSERT)->provider = (struct change_provider){
                id, below(3) == 0 ? 0 : 1 + below(PROVIDERS + 3), 0, 0, uuid, name};
        }
        put(&world, CHANGE_LOAD_PROVIDERS_END);
        apply(&world);
        check_sound(world.edit->version);
        assert_int_equal(world.edit->version->provider_by_id.count, PROVIDERS);
        struct version_stamp stamp = {{0}};
        replica_publish(world.replica, world.edit, &stamp);
        replica_destroy(world.replica);
        arena_destroy(world.arena);
    }
}

/* A trait that is created after another was deleted gets the same number, but is not in the sets
 * that named the deleted one. */
static void a_number_comes_back_without_its_sets(void **state)
{
    (void)state;
    struct world world = {.arena = arena_create(), .replica = replica_create()};
    world.list.arena = world.arena;
    world.edit = replica_edit(world.replica);
    put(&world, CHANGE_TRAIT_INSERT)->catalog = (struct change_catalog){1, SLICE_LIT("OLD")};
    put(&world, CHANGE_PROVIDER_INSERT)->provider =
        (struct change_provider){1, 0, 1, 0, SLICE_LIT("uuid"), SLICE_LIT("name")};
    put(&world, CHANGE_PROVIDER_TRAIT_INSERT)->link = (struct change_link){1, 1};
    put(&world, CHANGE_PROVIDER_TRAIT_DELETE)->link = (struct change_link){1, 1};
    apply(&world);
    put(&world, CHANGE_PROVIDER_TRAIT_INSERT)->link = (struct change_link){1, 1};
    apply(&world);
    put(&world, CHANGE_PROVIDER_TRAIT_DELETE)->link = (struct change_link){1, 1};
    put(&world, CHANGE_TRAIT_DELETE)->catalog.id = 1;
    put(&world, CHANGE_TRAIT_INSERT)->catalog = (struct change_catalog){2, SLICE_LIT("NEW")};
    put(&world, CHANGE_PROVIDER_TRAIT_INSERT)->link = (struct change_link){1, 2};
    apply(&world);
    struct slice json = name_set_json(provider(&world, 1)->traits);
    assert_true(slice_equal(json, SLICE_LIT("[\"NEW\"]")));
    check_sound(world.edit->version);
    struct version_stamp stamp = {{0}};
    replica_publish(world.replica, world.edit, &stamp);
    replica_destroy(world.replica);
    arena_destroy(world.arena);
}

/* A trait that is there is put once more, and one that is not is removed. */
static void links_again(void **state)
{
    (void)state;
    struct world world = {.arena = arena_create(), .replica = replica_create()};
    world.list.arena = world.arena;
    world.edit = replica_edit(world.replica);
    catalog_rows(&world, CHANGE_TRAIT_INSERT, "TRAIT", 3);
    put(&world, CHANGE_PROVIDER_INSERT)->provider =
        (struct change_provider){1, 0, 1, 0, SLICE_LIT("uuid"), SLICE_LIT("name")};
    for (int64_t i = 0; i < 4; i++) /* 1, 2, 2, 1 */
        put(&world, CHANGE_PROVIDER_TRAIT_INSERT)->link =
            (struct change_link){1, 1 + (i == 1 || i == 2)};
    apply(&world);
    assert_int_equal(provider(&world, 1)->traits->count, 2);
    check_sound(world.edit->version);
    for (int64_t i = 0; i < 4; i++) /* 3, 2, 2, 2 */
        put(&world, CHANGE_PROVIDER_TRAIT_DELETE)->link = (struct change_link){1, 2 + (i == 0)};
    apply(&world);
    struct slice json = name_set_json(provider(&world, 1)->traits);
    assert_true(slice_equal(json, SLICE_LIT("[\"TRAIT1\"]")));
    check_sound(world.edit->version);
    replica_abandon(world.replica, world.edit);
    replica_destroy(world.replica);
    arena_destroy(world.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_changes),
        cmocka_unit_test(load_lays_out_trees),
        cmocka_unit_test(a_number_comes_back_without_its_sets),
        cmocka_unit_test(links_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
