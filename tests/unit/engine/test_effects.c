/* Effects that hardly any request has: inventories with the same key, consumers without a row, and
 * consequences that allocate. */
#include "base/arena.h"
#include "engine/effects.h"
#include "engine/rules.h"
#include "replica/apply.h"
#include "replica/replica.h"
#include "unit.h"

enum { PROVIDER = 1, STAYS = 1, GOES = 2, COMES = 3, UNKNOWN = 4 };

struct world {
    struct arena *arena;
    struct replica *replica;
    struct edit *edit;
    struct change_list list;
    struct effects effects;
};

static struct change *put(struct world *world, enum change_kind kind)
{
    return change_append(&world->list, kind);
}

static void put_consumer(struct world *world, enum change_kind kind, int64_t id, int64_t owner)
{
    put(world, kind)->consumer = (struct change_consumer){
        .id = id,
        .project_id = owner,
        .user_id = owner,
        .type_id = owner,
        .uuid = arena_printf(world->arena, "consumer-%d", (int)id),
    };
}

static void put_names(struct world *world, int64_t id)
{
    put(world, CHANGE_PROJECT_INSERT)->catalog =
        (struct change_catalog){id, arena_printf(world->arena, "project-%d", (int)id)};
    put(world, CHANGE_USER_INSERT)->catalog =
        (struct change_catalog){id, arena_printf(world->arena, "user-%d", (int)id)};
    put(world, CHANGE_CONSUMER_TYPE_INSERT)->catalog =
        (struct change_catalog){id, arena_printf(world->arena, "TYPE-%d", (int)id)};
}

static int setup(void **state)
{
    static struct world world;
    world = (struct world){.arena = arena_create(), .replica = replica_create()};
    world.edit = replica_edit(world.replica);
    world.list.arena = world.arena;
    put_names(&world, 1);
    put(&world, CHANGE_CLASS_INSERT)->catalog = (struct change_catalog){0, SLICE_LIT("VCPU")};
    put(&world, CHANGE_PROVIDER_INSERT)->provider =
        (struct change_provider){PROVIDER, 0, PROVIDER, 0, SLICE_LIT("uuid"), SLICE_LIT("name")};
    put_consumer(&world, CHANGE_CONSUMER_INSERT, STAYS, 1);
    put_consumer(&world, CHANGE_CONSUMER_INSERT, GOES, 1);
    apply_changes(world.edit, &world.list);
    world.list.count = 0;
    *state = &world;
    return 0;
}

static int teardown(void **state)
{
    struct world *world = *state;
    replica_abandon(world->replica, world->edit);
    replica_destroy(world->replica);
    arena_destroy(world->arena);
    return 0;
}

static struct plan plan_of(struct world *world)
{
    return (struct plan){
        .version = world->edit->version, .changes = &world->list, .arena = world->arena};
}

static void derive(struct world *world)
{
    struct plan plan = plan_of(world);
    effects_derive(&world->effects, &plan);
}

static void put_inventory(struct world *world, enum change_kind kind, int64_t provider,
                          int64_t class_id, int32_t total)
{
    put(world, kind)->inventory = (struct change_inventory){
        .provider_id = provider, .class_id = class_id, .total = total, .allocation_ratio = 1};
}

/* The total; -1: there is no such inventory after the request. */
static int32_t total_of(const struct world *world, int64_t provider, int64_t class_id)
{
    struct inventory_figures figures;
    const struct effect_provider *effect = effects_provider(&world->effects, provider);
    assert_non_null(effect);
    return effects_inventory(&world->effects, effect, class_id, &figures) ? figures.total : -1;
}

/* The key is the provider's id times an odd number plus the class's id. Class 0 of the provider
 * that is returned has the key of *class_id of PROVIDER. */
static int64_t provider_with_same_key(int64_t *class_id)
{
    const uint64_t factor = 0x9e3779b97f4a7c15u;
    uint64_t inverse = factor; /* of three bits; each step doubles them */
    for (unsigned bits = 3; bits < 64; bits *= 2)
        inverse *= 2 - factor * inverse;
    assert_true(factor * inverse == 1);
    uint64_t provider = UINT64_MAX;
    for (*class_id = 0; provider > INT64_MAX || provider == PROVIDER;)
        provider = PROVIDER + (uint64_t)++ * class_id * inverse;
    return (int64_t)provider;
}

static void inventories_with_the_same_key(void **state)
{
    struct world *world = *state;
    int64_t class_id;
    int64_t other = provider_with_same_key(&class_id);
    put_inventory(world, CHANGE_INVENTORY_INSERT, PROVIDER, class_id, 1);
    put_inventory(world, CHANGE_INVENTORY_INSERT, other, 0, 2);
    derive(world);
    assert_int_equal(total_of(world, PROVIDER, class_id), 1);
    assert_int_equal(total_of(world, other, 0), 2);
    put_inventory(world, CHANGE_INVENTORY_UPDATE, other, 0, 3);
    put_inventory(world, CHANGE_INVENTORY_INSERT, other, 1, 4);
    put_inventory(world, CHANGE_INVENTORY_UPDATE, PROVIDER, class_id, 5);
    put(world, CHANGE_PROVIDER_TRAIT_INSERT)->link = (struct change_link){other, 0};
    derive(world);
    assert_int_equal(total_of(world, PROVIDER, class_id), 5);
    assert_int_equal(total_of(world, other, 0), 3);
    assert_int_equal(total_of(world, other, 1), 4);
    put_inventory(world, CHANGE_INVENTORY_DELETE, other, 0, 0);
    derive(world);
    assert_int_equal(total_of(world, PROVIDER, class_id), 5);
    assert_int_equal(total_of(world, other, 0), -1);
    put_inventory(world, CHANGE_INVENTORY_DELETE, PROVIDER, class_id, 0);
    put_inventory(world, CHANGE_INVENTORY_INSERT, other, 0, 6);
    derive(world);
    assert_int_equal(total_of(world, PROVIDER, class_id), -1);
    assert_int_equal(total_of(world, other, 0), 6);
}

/* Only one of the two inventories is changed; the other is the one whose key is known. */
static void one_of_the_same_key_is_unchanged(void **state)
{
    struct world *world = *state;
    int64_t class_id;
    int64_t other = provider_with_same_key(&class_id);
    put_inventory(world, CHANGE_INVENTORY_INSERT, PROVIDER, class_id, 1);
    put_inventory(world, CHANGE_INVENTORY_INSERT, other, 1, 2);
    derive(world);
    assert_int_equal(total_of(world, other, 0), -1);
    assert_int_equal(total_of(world, other, 1), 2);
}

static void put_allocation(struct world *world, int64_t consumer)
{
    put(world, CHANGE_ALLOCATION_INSERT)->allocation = (struct change_allocation){
        .consumer_id = consumer,
        .provider_id = PROVIDER,
        .used = 1,
        .consumer_uuid = arena_printf(world->arena, "consumer-%d", (int)consumer),
    };
}

/* NULL: it has none. */
static void expect_owner(const struct world *world, int64_t consumer, const char *project,
                         const char *user, const char *type)
{
    const struct effects *effects = &world->effects;
    const struct effect_consumer *effect = effects_consumer(effects, consumer);
    assert_non_null(effect);
    const struct slice found[] = {effects_project(effects, effect), effects_user(effects, effect),
                                  effects_type(effects, effect)};
    const char *const wanted[] = {project, user, type};
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(found[i].data != NULL, wanted[i] != NULL);
        if (wanted[i] != NULL)
            assert_true(slice_equal(found[i], slice_of(wanted[i])));
    }
}

static void owners_after_the_request(void **state)
{
    struct world *world = *state;
    put_names(world, 2);
    put_allocation(world, STAYS);
    put_consumer(world, CHANGE_CONSUMER_DELETE, GOES, 1);
    put_consumer(world, CHANGE_CONSUMER_INSERT, COMES, 2);
    put_allocation(world, UNKNOWN);
    derive(world);
    expect_owner(world, STAYS, "project-1", "user-1", "TYPE-1");
    expect_owner(world, GOES, NULL, NULL, NULL);
    expect_owner(world, COMES, "project-2", "user-2", "TYPE-2");
    expect_owner(world, UNKNOWN, NULL, NULL, NULL);
    put_consumer(world, CHANGE_CONSUMER_UPDATE, STAYS, 2);
    derive(world);
    expect_owner(world, STAYS, "project-2", "user-2", "TYPE-2");
}

static void consequences_affect_providers(void **state)
{
    struct world *world = *state;
    struct plan plan = plan_of(world);
    derive(world);
    assert_null(effects_provider(&world->effects, PROVIDER));
    put_allocation(world, STAYS);
    effects_add_providers(&world->effects, &plan);
    assert_int_equal(effects_provider(&world->effects, PROVIDER)->on, EFFECT_ALLOCATED);
    assert_null(effects_consumer(&world->effects, STAYS));
    apply_changes(world->edit, &world->list);
    world->list.count = 0;
    put(world, CHANGE_ALLOCATIONS_OF_DELETE)->allocation =
        (struct change_allocation){.consumer_id = STAYS, .consumer_uuid = SLICE_LIT("consumer-1")};
    effects_add_providers(&world->effects, &plan);
    assert_int_equal(effects_provider(&world->effects, PROVIDER)->on,
                     EFFECT_ALLOCATED | EFFECT_RELEASED);
}

static void context_of_a_rule(void **state)
{
    static const struct rule here = {.name = "here"};
    static const struct rule elsewhere = {.name = "elsewhere"};
    int context;
    struct rules rules = {.count = 1, .rows = {{.rule = &here, .context = &context}}};
    (void)state;
    assert_ptr_equal(rules_context(&rules, &here), &context);
    assert_null(rules_context(&rules, &elsewhere));
    assert_null(rules_context(NULL, &here));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(inventories_with_the_same_key, setup, teardown),
        cmocka_unit_test_setup_teardown(one_of_the_same_key_is_unchanged, setup, teardown),
        cmocka_unit_test_setup_teardown(owners_after_the_request, setup, teardown),
        cmocka_unit_test_setup_teardown(consequences_affect_providers, setup, teardown),
        cmocka_unit_test(context_of_a_rule),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
