/* Providers, their aggregates and their traits: names, trees, generations, texts of refusals. */
#include "engine/world.h"
#include "memory_store/memory_store.h"
#include "placement/write/plan_aggregates.h"
#include "placement/write/plan_provider_traits.h"
#include "placement/write/plan_providers.h"
#include "placement/write/plan_traits.h"
#include "unit.h"

static struct world world;
static struct planned_provider result;

static int set_up(void **state)
{
    (void)state;
    world_open(&world, 3); /* p1, p2, p3, named like their uuids */
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    world_close(&world);
    return 0;
}

#define NONE    ((struct slice){0})
#define T(text) SLICE_LIT(text)

static bool create(struct slice uuid, struct slice name, struct slice parent)
{
    struct plan plan = world_plan(&world);
    return world_conclude(&world,
                          plan_provider_create(uuid, name, parent, &plan, &result, &world.err));
}

static bool move(struct slice uuid, struct slice parent, bool may_move)
{
    struct plan plan = world_plan(&world);
    const struct provider *provider = version_provider_by_uuid(plan.version, uuid);
    struct plan_provider_update update = {uuid, arena_copy(world.arena, provider_name(provider)),
                                          true, parent, may_move};
    return world_conclude(&world, plan_provider_update(&update, &plan, &result, &world.err));
}

static bool rename_to(struct slice uuid, struct slice name)
{
    struct plan plan = world_plan(&world);
    struct plan_provider_update update = {.uuid = uuid, .name = name};
    return world_conclude(&world, plan_provider_update(&update, &plan, &result, &world.err));
}

static bool delete (struct slice uuid)
{
    struct plan plan = world_plan(&world);
    return world_conclude(&world, plan_provider_delete(uuid, &plan, &world.err));
}

static void assert_text(struct slice text, const char *want)
{
    assert_int_equal(text.len, strlen(want));
    assert_memory_equal(text.data, want, text.len);
}

/* Where a provider is in its tree, in memory and in the database. "" as parent: none. */
static void assert_place(struct slice uuid, const char *parent_uuid, const char *root_uuid)
{
    const struct version *version = world.edit->version;
    const struct provider *provider = version_provider_by_uuid(version, uuid);
    const struct provider *root = version_provider(version, provider->root);
    const struct provider *parent = NULL;
    assert_text(provider_uuid(root), root_uuid);
    if (provider->parent.v != NUMBER_NONE) {
        parent = version_provider(version, provider->parent);
        assert_text(provider_uuid(parent), parent_uuid);
    } else {
        assert_string_equal(parent_uuid, "");
    }
    const struct row *row = tables_find(&world.database->tables, TABLE_PROVIDERS, provider->id);
    assert_non_null(row);
    assert_int_equal(row->image.provider.root_id, root->id);
    assert_int_equal(row->image.provider.parent_id, parent == NULL ? 0 : parent->id);
}

static void creating(void **state)
{
    (void)state;
    assert_true(create(T("u4"), T("n4"), NONE));
    assert_null(result.parent_uuid.data);
    assert_text(result.root_uuid, "u4");
    assert_true(create(T("u5"), T("n5"), T("u4")));
    assert_true(create(T("u6"), T("n6"), T("u5")));
    assert_text(result.root_uuid, "u4");
    assert_text(result.parent_uuid, "u5");
    assert_int_equal(result.generation, 0);
    assert_place(T("u4"), "", "u4");
    assert_place(T("u5"), "u4", "u4");
    assert_place(T("u6"), "u5", "u4");

    assert_false(create(T("u4"), T("n5"), NONE));
    world_assert_refused(&world, 409, "placement.duplicate_name",
                         "Conflicting resource provider uuid: u4 already exists.");
    assert_false(create(T("u7"), T("n5"), NONE));
    world_assert_refused(&world, 409, "placement.duplicate_name",
                         "Conflicting resource provider name: n5 already exists.");
    assert_false(create(T("u7"), T(""), NONE));
    world_assert_refused(&world, 400, NULL,
                         "Unable to create resource provider \"\", u7: Object action create failed "
                         "because: name is required");
    assert_false(create(T("u7"), T("n7"), T("u9")));
    world_assert_refused(&world, 400, NULL,
                         "Unable to create resource provider \"n7\", u7: Object action create "
                         "failed because: parent provider UUID does not exist.");
    assert_false(create(T("u7"), T("n7"), T("u7")));
    world_assert_refused(&world, 400, NULL,
                         "Unable to create resource provider \"n7\", u7: Object action create "
                         "failed because: parent provider UUID cannot be same as UUID. Please set "
                         "parent provider UUID to None if there is no parent.");
}

static void renaming(void **state)
{
    (void)state;
    assert_true(rename_to(T("p1"), T("a\0b")));
    assert_int_equal(result.name.len, 3);
    assert_true(rename_to(T("p1"), T("a\0b")));
    assert_int_equal(world.changes.count, 0);
    assert_false(rename_to(T("p1"), T("p2")));
    world_assert_refused(&world, 409, "placement.duplicate_name",
                         "Conflicting resource provider p2 already exists.");
    assert_false(rename_to(T("p9"), T("p9")));
    world_assert_refused(&world, 404, NULL, "No resource provider with uuid p9 found");
}

static void moving(void **state)
{
    (void)state;
    assert_true(create(T("u4"), T("n4"), T("p1")));
    /* a root can always be moved below another tree, with its descendants */
    assert_true(move(T("p1"), T("p2"), false));
    assert_text(result.root_uuid, "p2");
    assert_place(T("p1"), "p2", "p2");
    assert_place(T("u4"), "p1", "p2");
    assert_true(move(T("p1"), T("p2"), false));
    assert_int_equal(world.changes.count, 0);

    assert_false(move(T("p1"), T("p3"), false));
    world_assert_refused(
        &world, 400, NULL,
        "Unable to save resource provider p1: Object action update failed because: "
        "re-parenting a provider is not currently allowed.");
    assert_false(move(T("p1"), NONE, false));
    world_assert_refused(
        &world, 400, NULL,
        "Unable to save resource provider p1: Object action update failed because: "
        "un-parenting a provider is not currently allowed.");
    assert_false(move(T("p2"), T("u4"), true));
    world_assert_refused(
        &world, 400, NULL,
        "Unable to save resource provider p2: Object action update failed because: "
        "creating loop in the provider tree is not allowed.");
    assert_false(move(T("p2"), T("p2"), true));
    assert_false(move(T("p2"), T("p8"), true));
    world_assert_refused(
        &world, 400, NULL,
        "Unable to save resource provider p2: Object action create failed because: "
        "parent provider UUID does not exist.");
    assert_true(move(T("p1"), T("p3"), true));
    assert_text(result.root_uuid, "p3");
    assert_place(T("p1"), "p3", "p3");
    assert_place(T("u4"), "p1", "p3");
    assert_true(move(T("p1"), NONE, true));
    assert_text(result.root_uuid, "p1");
    assert_place(T("p1"), "", "p1");
    assert_place(T("u4"), "p1", "p1");
    assert_int_equal(world_provider(&world, 2)->generation, 0);
}

/* Moving a tree takes no longer than writing the maximum number of rows. */
static void moving_too_much(void **state)
{
    (void)state;
    assert_true(create(T("u4"), T("n4"), T("p1")));
    assert_true(create(T("u5"), T("n5"), T("p1")));
    assert_true(create(T("u6"), T("n6"), T("u5")));
    struct plan_provider_update update = {T("p1"), T("p1"), true, T("p2"), true};
    for (size_t most = 0; most < 6; most++) {
        struct plan plan = world_plan(&world);
        plan.max_rows = most;
        assert_true(plan_provider_update(&update, &plan, &result, &world.err));
        assert_int_equal(world.changes.count, most == 0 || most > 3 ? 4 : most + 1);
        assert_int_equal(plan_is_too_large(&plan), most > 0 && most < 4);
    }
}

static bool set_traits(struct slice uuid, const struct slice *names, size_t count,
                       int64_t generation)
{
    struct plan plan = world_plan(&world);
    static struct planned_traits planned;
    struct plan_provider_traits input = {uuid, names, count, generation >= 0, generation};
    return world_conclude(&world, plan_provider_traits_set(&input, &plan, &planned, &world.err)) &&
           planned.generation == world_provider(&world, 1)->generation;
}

static void put_trait(struct slice name)
{
    struct plan plan = world_plan(&world);
    struct planned_trait planned;
    assert_true(world_conclude(&world, plan_trait_put(name, &plan, &planned, &world.err)));
}

/* Of many unknown traits as many are named as fit. */
static void many_unknown_traits(void **state)
{
    (void)state;
    enum { COUNT = 500 };
    struct slice unknown[COUNT];
    struct buf shown = {0};
    buf_append_lit(&shown, "No such trait ");
    for (unsigned i = 0; i < COUNT; i++)
        unknown[i] = arena_printf(world.arena, "CUSTOM_NO_%03u", i); /* 13 bytes */
    for (unsigned i = 0; i <= 4096 / 13; i++)
        buf_printf(&shown, "CUSTOM_NO_%03u, ", i);
    buf_append(&shown, "...", 4);
    assert_false(set_traits(T("p1"), unknown, COUNT, -1));
    world_assert_refused(&world, 400, NULL, shown.data);
    buf_free(&shown);
}

static void traits(void **state)
{
    (void)state;
    put_trait(T("CUSTOM_A"));
    put_trait(T("CUSTOM_B"));
    put_trait(T("CUSTOM_B"));
    assert_int_equal(world.changes.count, 0);
    const struct slice both[] = {T("CUSTOM_B"), T("CUSTOM_A"), T("CUSTOM_B")};
    assert_true(set_traits(T("p1"), both, 3, 0));
    assert_int_equal(world_provider(&world, 1)->generation, 1);
    assert_text(name_set_json(world_provider(&world, 1)->traits), "[\"CUSTOM_A\", \"CUSTOM_B\"]");
    assert_true(set_traits(T("p1"), both, 2, 1)); /* nothing new: the generation is unchanged */
    assert_int_equal(world_provider(&world, 1)->generation, 1);
    assert_false(set_traits(T("p1"), both, 2, 0));
    world_assert_refused(&world, 409, "placement.concurrent_update",
                         "Resource provider's generation already changed. Please update the "
                         "generation and try again.");
    const struct slice unknown[] = {T("NO"), T("CUSTOM_A"), T("NEITHER"), T("NO")};
    assert_false(set_traits(T("p1"), unknown, 4, 1));
    world_assert_refused(&world, 400, NULL, "No such trait NEITHER, NO");
    assert_false(set_traits(T("p9"), both, 0, 0));
    world_assert_refused(&world, 404, NULL, "No resource provider with uuid p9 found");
    assert_true(set_traits(T("p1"), both, 1, 1));
    assert_text(name_set_json(world_provider(&world, 1)->traits), "[\"CUSTOM_B\"]");
    assert_true(set_traits(T("p1"), NULL, 0, -1));
    assert_int_equal(world_provider(&world, 1)->generation, 3);
    assert_true(set_traits(T("p1"), NULL, 0, -1));
    assert_int_equal(world_provider(&world, 1)->generation, 3);
}

static bool set_aggregates(const struct slice *uuids, size_t count, int64_t generation)
{
    struct plan plan = world_plan(&world);
    int64_t after;
    struct plan_aggregates input = {T("p1"), uuids, count, generation >= 0, generation};
    return world_conclude(&world, plan_aggregates_set(&input, &plan, &after, &world.err)) &&
           after == world_provider(&world, 1)->generation;
}

static void aggregates(void **state)
{
    (void)state;
    const struct slice ab[] = {T("a"), T("b")};
    const struct slice cb[] = {T("c"), T("b")};
    assert_true(set_aggregates(ab, 2, -1));
    assert_int_equal(world_provider(&world, 1)->generation, 0);
    assert_true(set_aggregates(cb, 2, 0));
    assert_int_equal(world_provider(&world, 1)->generation, 1);
    assert_text(name_set_json(world_provider(&world, 1)->aggregates), "[\"b\", \"c\"]");
    assert_true(set_aggregates(cb, 2, 1)); /* incremented although nothing changes */
    assert_int_equal(world_provider(&world, 1)->generation, 2);
    assert_false(set_aggregates(ab, 2, 1));
    world_assert_refused(&world, 409, "placement.concurrent_update",
                         "Resource provider's generation already changed. Please update the "
                         "generation and try again.");
    assert_true(set_aggregates(ab, 2, -1)); /* a and b are there already */
    assert_int_equal(world.edit->version->aggregates.by_id.count, 3);
}

/* The database takes the text for that of the row with the id. */
static void set_alike(enum change_kind insert, struct slice text, int64_t id, struct slice other)
{
    world.database->alike.insert = insert;
    world.database->alike.text = text;
    world.database->alike.row = (struct store_alike){id, other};
}

static void names_alike(void **state)
{
    (void)state;
    int64_t id = version_provider_by_name(world.edit->version, T("p1"))->id;
    set_alike(CHANGE_PROVIDER_INSERT, T("P1"), id, T("p1"));
    assert_false(create(T("new"), T("P1"), NONE));
    world_assert_refused(&world, 409, "placement.duplicate_name",
                         "Conflicting resource provider name: P1 already exists.");
    assert_false(rename_to(T("p2"), T("P1")));
    world_assert_refused(&world, 409, "placement.duplicate_name",
                         "Conflicting resource provider P1 already exists.");
    assert_true(rename_to(T("p1"), T("other"))); /* what was known of it says nothing any more */
    assert_true(rename_to(T("p2"), T("P1")));
    set_alike(CHANGE_PROVIDER_INSERT, T("OTHER"), id, T("other"));
    assert_true(rename_to(T("p1"), T("OTHER"))); /* it may have it itself */
}

static void aggregates_alike(void **state)
{
    (void)state;
    const struct slice agg = T("agg");
    const struct version *version = world.edit->version;
    assert_true(set_aggregates(&agg, 1, -1));
    const struct catalog_row *row = catalog_find(&version->aggregates, T("agg"));
    set_alike(CHANGE_AGGREGATE_INSERT, T("AGG"), row->id, T("agg"));
    const struct slice both[] = {T("AGG"), T("agg")};
    assert_true(set_aggregates(both, 1, -1)); /* it has it already */
    assert_text(name_set_json(world_provider(&world, 1)->aggregates), "[\"agg\"]");
    assert_true(set_aggregates(NULL, 0, -1));
    assert_true(set_aggregates(both, 2, -1));
    assert_text(name_set_json(world_provider(&world, 1)->aggregates), "[\"agg\"]");
    set_alike(CHANGE_AGGREGATE_INSERT, T("Agg"), row->id, T("before")); /* of which it was known */
    assert_true(set_aggregates((struct slice[]){T("Agg")}, 1, -1));
    assert_text(name_set_json(world_provider(&world, 1)->aggregates), "[\"Agg\"]");
}

/* Two spellings of a new aggregate: the first one is stored. */
static void new_aggregates_alike(void **state)
{
    (void)state;
    set_alike(CHANGE_AGGREGATE_INSERT, T("AGG"), 0, T("agg"));
    assert_true(set_aggregates((struct slice[]){T("agg"), T("b"), T("AGG")}, 3, -1));
    assert_text(name_set_json(world_provider(&world, 1)->aggregates), "[\"agg\", \"b\"]");
    assert_int_equal(world.edit->version->aggregates.by_id.count, 2);
    assert_true(set_aggregates(NULL, 0, -1));
    assert_true(set_aggregates((struct slice[]){T("AGG"), T("agg")}, 2, -1)); /* now it is known */
    assert_text(name_set_json(world_provider(&world, 1)->aggregates), "[\"agg\"]");
}

static void deleting(void **state)
{
    (void)state;
    put_trait(T("CUSTOM_A"));
    const struct slice trait = T("CUSTOM_A");
    const struct slice aggregate = T("a");
    assert_true(set_traits(T("p1"), &trait, 1, 0));
    assert_true(set_aggregates(&aggregate, 1, -1));
    world_put_inventory(&world, 1, 'A', (struct inventory_figures){10, 0, 1, 10, 1, 1.0});
    struct claim claim = world_claim(&world, 1);
    world_add(&world, &claim, 1, 'A', 1);
    assert_true(world_write(&world, &claim, 1, CLAIM_BY_PUT));
    assert_true(create(T("u4"), T("n4"), T("p1")));

    assert_false(delete (T("p1")));
    world_assert_refused(&world, 409, "placement.resource_provider.cannot_delete_parent",
                         "Unable to delete parent resource provider p1: It has child resource "
                         "providers.");
    assert_true(delete (T("u4")));
    assert_false(delete (T("p1")));
    world_assert_refused(&world, 409, "placement.resource_provider.inuse",
                         "Unable to delete resource provider p1: Resource provider has "
                         "allocations.");
    assert_true(world_delete(&world, 1));
    assert_true(delete (T("p1")));
    assert_null(world_provider(&world, 1));
    assert_false(delete (T("p1")));
    world_assert_refused(&world, 404, NULL, "No resource provider with uuid p1 found for delete");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(creating),         TEST(renaming),
        TEST(moving),           TEST(moving_too_much),
        TEST(traits),           TEST(many_unknown_traits),
        TEST(aggregates),       TEST(names_alike),
        TEST(aggregates_alike), TEST(new_aggregates_alike),
        TEST(deleting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
