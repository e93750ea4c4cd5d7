/* Groups and members as planned: what is written, what is refused, and the effects of a group's
 * deletion on providers and claims. Every accepted plan is applied and audited. */
#include "valet/write/plan_groups.h"

#include "engine/world.h"
#include "placement/write/plan_aggregates.h"
#include "unit.h"
#include "valet/state/hosts.h"

#define GOLD "10000000-0000-4000-8000-000000000001"
#define IRON "10000000-0000-4000-8000-000000000002"
#define P1   "b7d0e9b175294b649464caa3411adb3f"
#define P1_B "B7D0E9B1-7529-4b64-9464-caa3411adb3f"

static const struct version *version(struct world *world)
{
    return world->edit->version;
}

static bool create(struct world *world, const char *uuid, const char *name)
{
    const struct plan_group group = {slice_of(uuid), slice_of(name), SLICE_LIT("")};
    struct plan plan = world_plan(world);
    return world_conclude(world, plan_group_create(&group, &plan, &world->err));
}

static bool describe(struct world *world, const char *uuid, struct slice text)
{
    struct plan plan = world_plan(world);
    return world_conclude(world, plan_group_describe(slice_of(uuid), text, &plan, &world->err));
}

static bool drop(struct world *world, const char *uuid)
{
    struct plan plan = world_plan(world);
    return world_conclude(world, plan_group_delete(slice_of(uuid), &plan, &world->err));
}

static bool add(struct world *world, const char *uuid, const char *const *texts, size_t count,
                struct planned_members *planned)
{
    struct slice *projects = arena_array(world->arena, count, sizeof(*projects));
    struct plan plan = world_plan(world);
    for (size_t i = 0; i < count; i++)
        projects[i] = slice_of(texts[i]);
    return world_conclude(world, plan_group_add_members(slice_of(uuid), projects, count, &plan,
                                                        planned, &world->err));
}

static bool drop_members(struct world *world, const char *uuid, const char *project)
{
    struct slice text = project == NULL ? (struct slice){0} : slice_of(project);
    struct plan plan = world_plan(world);
    return world_conclude(world,
                          plan_group_remove_members(slice_of(uuid), text, &plan, &world->err));
}

static void set_aggregates(struct world *world, unsigned provider, const char *one,
                           const char *other)
{
    const struct slice uuids[] = {slice_of(one), slice_of(other)};
    int64_t generation;
    struct plan plan = world_plan(world);
    struct plan_aggregates input = {
        .provider_uuid = world_uuid(world, 'p', provider), .uuids = uuids, .uuid_count = 2};
    assert_true(
        world_conclude(world, plan_aggregates_set(&input, &plan, &generation, &world->err)));
}

static const struct valet_group *gold(struct world *world)
{
    return version_valet_group_by_uuid(version(world), SLICE_LIT(GOLD));
}

static size_t members(struct world *world)
{
    size_t count = 0;
    const struct valet_member *member;
    for (int64_t id = 0;
         (member = version_next_valet_member(version(world), gold(world)->record.id, id)) != NULL;
         id = member->record.id)
        count++;
    return count;
}

static void groups(void **state)
{
    (void)state;
    struct world world;
    world_open(&world, 1);
    assert_true(create(&world, GOLD, "gold"));
    assert_true(record_number(&gold(&world)->record, VALET_GROUP_CREATED_AT) > 0);
    assert_false(create(&world, IRON, "gold"));
    world_assert_refused(&world, 400, NULL, "There is a group named gold already");
    assert_true(create(&world, IRON, "Gold"));
    assert_true(describe(&world, GOLD, SLICE_LIT("a\0b")));
    assert_true(slice_equal(record_text(&gold(&world)->record, VALET_GROUP_DESCRIPTION),
                            SLICE_LIT("a\0b")));
    assert_true(
        slice_equal(record_text(&gold(&world)->record, VALET_GROUP_NAME), SLICE_LIT("gold")));
    assert_false(describe(&world, "nobody", SLICE_LIT("")));
    world_assert_refused(&world, 404, NULL, "There is no group nobody");
    assert_false(drop(&world, "nobody"));
    assert_true(drop(&world, IRON));
    assert_null(version_valet_group_by_name(version(&world), SLICE_LIT("Gold")));
    world_close(&world);
}

static void union_of_members(void **state)
{
    (void)state;
    const char *const first[] = {"a", P1, "b", "a", P1_B};
    const char *const second[] = {"b", "c", P1_B};
    struct planned_members planned;
    struct world world;
    world_open(&world, 1);
    assert_true(create(&world, GOLD, "gold"));
    assert_true(add(&world, GOLD, first, 5, &planned));
    assert_int_equal(planned.count, 3);
    assert_true(slice_equal(planned.added[1], SLICE_LIT(P1)));
    int64_t with = 0;
    for (const struct valet_member *member =
             version_next_valet_member(version(&world), gold(&world)->record.id, 0);
         member != NULL; member = version_next_valet_member(
                             version(&world), gold(&world)->record.id, member->record.id)) {
        with = with == 0 ? member->record.id : with;
        assert_int_equal(record_number(&member->record, VALET_MEMBER_ADDED_WITH), with);
    }
    assert_true(add(&world, GOLD, second, 3, &planned));
    assert_int_equal(planned.count, 1);
    assert_int_equal(members(&world), 4);
    assert_true(add(&world, GOLD, second, 0, &planned));
    assert_int_equal(planned.count, 0);
    assert_false(add(&world, IRON, second, 1, &planned));
    world_assert_refused(&world, 404, NULL, "There is no group " IRON);
    assert_false(drop(&world, GOLD));
    world_assert_refused(&world, 409, NULL, "The group gold has members");
    assert_false(drop_members(&world, GOLD, "d"));
    world_assert_refused(&world, 404, NULL, "The group has no member d");
    assert_true(drop_members(&world, GOLD, P1_B));
    assert_int_equal(members(&world), 3);
    assert_false(drop_members(&world, IRON, NULL));
    world_assert_refused(&world, 404, NULL, "There is no group " IRON);
    assert_true(drop_members(&world, GOLD, NULL));
    assert_int_equal(members(&world), 0);
    assert_true(drop_members(&world, GOLD, NULL));
    world_close(&world);
}

static void most_members(void **state)
{
    (void)state;
    static const char *texts[PLAN_GROUP_MEMBERS_MAX];
    struct planned_members planned;
    struct world world;
    world_open(&world, 1);
    world.skips_store = true;
    for (unsigned i = 0; i < PLAN_GROUP_MEMBERS_MAX; i++)
        texts[i] = arena_printf(world.arena, "m%u", i).data;
    assert_true(create(&world, GOLD, "gold"));
    assert_true(add(&world, GOLD, texts, PLAN_GROUP_MEMBERS_MAX, &planned));
    assert_true(add(&world, GOLD, texts, PLAN_GROUP_MEMBERS_MAX, &planned));
    texts[7] = "one more";
    assert_false(add(&world, GOLD, texts, 8, &planned));
    world_assert_refused(&world, 400, NULL, "-> members -> the group would have more than 10000");
    assert_int_equal(members(&world), PLAN_GROUP_MEMBERS_MAX);
    world_close(&world);
}

static void claim_host(struct world *world, unsigned consumer, unsigned provider)
{
    struct claim claim = world_claim(world, consumer);
    world_add(world, &claim, provider, 'A', 1);
    assert_true(world_write(world, &claim, 1, CLAIM_BY_PUT));
}

static void members_in_use(void **state)
{
    (void)state;
    const char *const both[] = {"project", "other"};
    const struct inventory_figures figures = {8, 0, 1, 8, 1, 1.0};
    struct planned_members planned;
    struct world world;
    world_open(&world, 3);
    for (unsigned i = 1; i <= 2; i++)
        world_put_inventory(&world, i, 'A', figures);
    assert_true(create(&world, GOLD, "gold"));
    assert_true(add(&world, GOLD, both, 2, &planned));
    set_aggregates(&world, 1, GOLD, IRON);
    claim_host(&world, 2, 2);
    assert_true(drop_members(&world, GOLD, "project")); /* it holds something only elsewhere */
    assert_true(add(&world, GOLD, both, 2, &planned));
    claim_host(&world, 1, 1);
    assert_false(drop_members(&world, GOLD, "project"));
    world_assert_refused(&world, 409, NULL, "A member holds something on p1, a host of the group");
    assert_false(drop_members(&world, GOLD, NULL));
    assert_int_equal(members(&world), 2);
    assert_true(drop_members(&world, GOLD, "other"));
    assert_true(world_delete(&world, 1));
    assert_true(drop_members(&world, GOLD, NULL));
    world_close(&world);
}

static void put_claim(struct world *world, int64_t id, const struct valet_group *group,
                      unsigned provider, bool is_rack)
{
    struct record_value values[VALET_CLAIM_FIELD_COUNT];
    struct plan plan = world_plan(world);
    record_init(&VALET_SHAPES[VALET_CLAIMS], values);
    values[VALET_CLAIM_GROUP_ID].number = group->record.id;
    values[VALET_CLAIM_PROVIDER].text = world_uuid(world, 'p', provider);
    values[VALET_CLAIM_IS_RACK].number = is_rack ? RECORD_TRUE : RECORD_FALSE;
    change_put_valet(plan.changes, VALET_CLAIMS,
                     record_pack(&VALET_SHAPES[VALET_CLAIMS], id, values, world->arena));
    assert_true(world_conclude(world, true));
}

/* A host of a claimed rack that lacks the aggregate, as after a foreign write, is one of the
 * group's all the same. */
static void members_in_a_claimed_rack(void **state)
{
    (void)state;
    const char *const one[] = {"project"};
    const struct inventory_figures figures = {8, 0, 1, 8, 1, 1.0};
    struct planned_members planned;
    struct world world;
    world_open(&world, 2);
    world_put_inventory(&world, 1, 'A', figures);
    assert_true(create(&world, GOLD, "gold"));
    assert_true(add(&world, GOLD, one, 1, &planned));
    set_aggregates(&world, 1, IRON, "another");
    set_aggregates(&world, 2, IRON, "third");
    struct plan plan = world_plan(&world);
    change_append(plan.changes, CHANGE_TRAIT_INSERT)->catalog =
        (struct change_catalog){1, SLICE_LIT(VALET_RACK_TRAIT)};
    change_append(plan.changes, CHANGE_PROVIDER_TRAIT_INSERT)->link = (struct change_link){2, 1};
    assert_true(world_conclude(&world, true));
    claim_host(&world, 1, 1);
    world.products.rules.count = 0; /* as a consequence the host would get the aggregate */
    put_claim(&world, 1, gold(&world), 2, true);
    assert_false(drop_members(&world, GOLD, "project"));
    world_assert_refused(&world, 409, NULL, "A member holds something on p1, a host of the group");
    assert_true(world_delete(&world, 1));
    assert_true(drop_members(&world, GOLD, "project"));
    world_close(&world);
}

/* It is in the group's aggregate, but not a host. */
static void members_on_shared_storage(void **state)
{
    (void)state;
    const char *const one[] = {"project"};
    const struct inventory_figures figures = {8, 0, 1, 8, 1, 1.0};
    struct planned_members planned;
    struct world world;
    world_open(&world, 1);
    world_put_inventory(&world, 1, 'A', figures);
    assert_true(create(&world, GOLD, "gold"));
    assert_true(add(&world, GOLD, one, 1, &planned));
    set_aggregates(&world, 1, GOLD, IRON);
    claim_host(&world, 1, 1);
    assert_false(drop_members(&world, GOLD, "project"));
    struct plan plan = world_plan(&world);
    change_append(plan.changes, CHANGE_TRAIT_INSERT)->catalog =
        (struct change_catalog){1, SLICE_LIT("MISC_SHARES_VIA_AGGREGATE")};
    change_append(plan.changes, CHANGE_PROVIDER_TRAIT_INSERT)->link = (struct change_link){1, 1};
    assert_true(world_conclude(&world, true));
    assert_true(drop_members(&world, GOLD, "project"));
    world_close(&world);
}

/* What others hold there keeps no member. */
static void members_beside_others(void **state)
{
    (void)state;
    const char *const one[] = {"other"};
    const struct inventory_figures figures = {8, 0, 1, 8, 1, 1.0};
    struct planned_members planned;
    struct world world;
    world_open(&world, 1);
    world_put_inventory(&world, 1, 'A', figures);
    claim_host(&world, 1, 1);
    assert_true(create(&world, GOLD, "gold"));
    assert_true(add(&world, GOLD, one, 1, &planned));
    set_aggregates(&world, 1, GOLD, IRON);
    assert_true(drop_members(&world, GOLD, NULL));
    assert_int_equal(members(&world), 0);
    world_close(&world);
}

/* The claim is of a host, and another member's consumer is on it. */
static void members_beside_a_claim(void **state)
{
    (void)state;
    const char *const both[] = {"project", "other"};
    const struct inventory_figures figures = {8, 0, 1, 8, 1, 1.0};
    struct planned_members planned;
    struct world world;
    world_open(&world, 1);
    world_put_inventory(&world, 1, 'A', figures);
    assert_true(create(&world, GOLD, "gold"));
    assert_true(add(&world, GOLD, both, 2, &planned));
    set_aggregates(&world, 1, GOLD, IRON);
    claim_host(&world, 1, 1);
    put_claim(&world, 1, gold(&world), 1, false);
    assert_false(drop_members(&world, GOLD, "project"));
    assert_true(drop_members(&world, GOLD, "other"));
    assert_int_equal(members(&world), 1);
    assert_non_null(version_next_valet_claim(version(&world), 0));
    world_close(&world);
}

/* Providers lose the aggregate, count up, and keep their others; claims are deleted. */
static void end_of_a_group(void **state)
{
    (void)state;
    struct world world;
    world_open(&world, 4);
    assert_true(create(&world, GOLD, "gold"));
    assert_true(create(&world, IRON, "iron"));
    world.products.rules.count = 0; /* the claims are of empty hosts: consequences would end them */
    set_aggregates(&world, 1, GOLD, IRON);
    set_aggregates(&world, 3, IRON, GOLD);
    set_aggregates(&world, 4, IRON, "another");
    for (unsigned i = 0; i < 3; i++)
        put_claim(&world, i + 1,
                  i == 2 ? version_valet_group_by_name(version(&world), SLICE_LIT("iron"))
                         : gold(&world),
                  i + 1, false);
    int32_t before[5];
    for (unsigned i = 1; i <= 4; i++)
        before[i] = world_provider(&world, i)->generation;
    assert_true(drop(&world, GOLD));
    for (unsigned i = 1; i <= 4; i++) {
        const struct provider *provider = world_provider(&world, i);
        bool was_in = i == 1 || i == 3;
        assert_int_equal(provider->generation, before[i] + was_in);
        assert_int_equal(provider->aggregates->count, i == 2 ? 0 : was_in ? 1 : 2);
    }
    const struct valet_claim *left = version_next_valet_claim(version(&world), 0);
    assert_int_equal(left->record.id, 3);
    assert_null(version_next_valet_claim(version(&world), 3));
    world_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups),
        cmocka_unit_test(union_of_members),
        cmocka_unit_test(most_members),
        cmocka_unit_test(members_in_use),
        cmocka_unit_test(end_of_a_group),
        cmocka_unit_test(members_beside_a_claim),
        cmocka_unit_test(members_in_a_claimed_rack),
        cmocka_unit_test(members_on_shared_storage),
        cmocka_unit_test(members_beside_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
