/* Commits of plans: what is written, what is claimed, what a deletion frees. */
#include "valet/write/stack_bid.h"

static void test_create(void **state)
{
    struct world *world = *state;
    struct bid bid;
    int32_t before = world_provider(world, 1)->generation;
    begin(&bid, world, "web");
    add(&bid, "a", 1, 1);
    add(&bid, "b", 1, 2);
    assert_true(commit(&bid));
    const struct version *version = world->edit->version;
    const struct valet_plan *row = version_valet_plan(version, 1000);
    assert_non_null(row);
    assert_int_equal(record_number(&row->record, VALET_PLAN_CREATED_AT), world->now_us);
    assert_int_equal(record_number(&placement(world, "b")->record, VALET_PLACEMENT_PLAN_ID), 1000);
    const struct consumer *held = hold(world, "b");
    assert_non_null(held);
    assert_int_equal(held->allocation_count, 1);
    assert_int_equal(held->allocation[0].used, 2);
    assert_true(slice_equal(catalog_name(catalog_row_at(&version->types, held->type)),
                            SLICE_LIT("VALET_HOLD")));
    assert_true(slice_equal(catalog_name(catalog_row_at(&version->projects, held->project)),
                            SLICE_LIT("tenant")));
    assert_true(slice_equal(catalog_name(catalog_row_at(&version->users, held->user)),
                            SLICE_LIT("somebody")));
    assert_int_equal(used(world, 1), 3);
    assert_int_equal(world_provider(world, 1)->generation, before + 1);
}

static void test_moves_release_before_capacity(void **state)
{
    struct world *world = *state;
    struct bid bid;
    make(world, 1, 2);
    begin(&bid, world, "web");
    place(&bid, 0, 2, 4);
    place(&bid, 1, 1, 4);
    assert_true(commit(&bid));
    assert_int_equal(used(world, 1), 4);
    assert_int_equal(used(world, 2), 4);
    assert_true(hold(world, "a")->allocation[0].provider.v == world_provider(world, 2)->no.v);
    /* a deleted placement frees its hold, and a new one may use that capacity */
    begin(&bid, world, "web");
    bid.rows[0].after = NULL;
    add(&bid, "c", 2, 4);
    assert_true(commit(&bid));
    assert_null(placement(world, "a"));
    assert_int_equal(used(world, 2), 4);
    assert_int_equal(used(world, 1), 4);
}

static void test_hosts_are_claimed(void **state)
{
    struct world *world = *state;
    struct bid bid;
    int32_t before = world_provider(world, 3)->generation;
    begin(&bid, world, "web");
    add(&bid, "a", 3, 1)->exclusive.group_id = 1;
    add(&bid, "b", 4, 1)->exclusive.group_id = 1;
    claim_host(&bid, 3);
    struct bid without = bid;
    assert_changed(&without); /* b's host is unclaimed */
    claim_host(&bid, 4);
    occupy(world, 1, 4, 1);
    assert_changed(&bid); /* b's host is not empty */
    occupy(world, 1, 4, 0);
    assert_true(commit(&bid));
    assert_true(is_gold(world, 3) && is_gold(world, 4));
    assert_int_equal(claim_rows(world), 2);
    assert_int_equal(world_provider(world, 3)->generation, before + 1); /* hold and aggregate */
    /* no other project's server is placed there; one of the group's is, without another claim */
    begin(&bid, world, "web");
    add(&bid, "c", 3, 1);
    assert_changed(&bid);
    bid.rows[2].exclusive.group_id = 1;
    claim_host(&bid, 3);
    assert_true(commit(&bid));
    assert_int_equal(claim_rows(world), 2);
    /* a non-member on it keeps the group's servers away, too */
    intrude(world, 1, 3);
    begin(&bid, world, "web");
    add(&bid, "d", 3, 1)->exclusive.group_id = 1;
    assert_changed(&bid);
}

static void test_own_holds_do_not_occupy(void **state)
{
    struct world *world = *state;
    struct bid bid;
    make(world, 3, 4);
    begin(&bid, world, "web");
    place(&bid, 0, 4, 3)->exclusive.group_id = 1;
    claim_host(&bid, 4);
    assert_changed(&bid); /* b stays there */
    place(&bid, 1, 3, 3);
    assert_true(commit(&bid));
    assert_true(is_gold(world, 4) && !is_gold(world, 3));
}

static void test_racks_are_claimed(void **state)
{
    struct world *world = *state;
    struct bid bid;
    begin(&bid, world, "web");
    add(&bid, "a", 1, 1)->exclusive = (struct stack_exclusive){1, world_uuid(world, 'p', RACK)};
    assert_changed(&bid);
    claim_rack(&bid);
    occupy(world, 1, 2, 1);
    assert_changed(&bid);
    occupy(world, 1, 2, 0);
    add_link(world, CHANGE_PROVIDER_AGGREGATE_INSERT, 3, RACK_AGGREGATE);
    assert_changed(&bid); /* the rack has one more */
    add_link(world, CHANGE_PROVIDER_AGGREGATE_DELETE, 3, RACK_AGGREGATE);
    assert_true(commit(&bid));
    assert_true(is_gold(world, 1) && is_gold(world, 2) && !is_gold(world, 3));
    assert_int_equal(claim_rows(world), 3);
    const struct valet_claim *claim =
        version_next_valet_claim_of(world->edit->version, world_uuid(world, 'p', 2), 0);
    assert_true(
        slice_equal(record_text(&claim->record, VALET_CLAIM_RACK), world_uuid(world, 'p', RACK)));
    assert_false(record_bool(&claim->record, VALET_CLAIM_IS_RACK));
}

static void test_servers_that_are_there(void **state)
{
    struct world *world = *state;
    struct bid bid;
    make(world, 1, 2);
    occupy_as(world, "tenant", 1, 1, 1);
    occupy_as(world, "tenant", 2, 4, 1);
    /* the hold of the first is removed, that of the second stays */
    begin(&bid, world, "web");
    set_resource(&bid, 0, "c1");
    set_resource(&bid, 1, "c2");
    assert_true(commit(&bid));
    assert_null(hold(world, "a"));
    assert_non_null(hold(world, "b"));
    assert_int_equal(used(world, 1), 1);
    /* moved to where its server is, it needs none either */
    occupy_as(world, "tenant", 3, 3, 1);
    begin(&bid, world, "web");
    set_resource(&bid, 1, "c3");
    place(&bid, 1, 3, 3);
    assert_true(commit(&bid));
    assert_null(hold(world, "b"));
    assert_int_equal(used(world, 3), 1);
    /* on another host it has one again */
    begin(&bid, world, "web");
    place(&bid, 1, 2, 3);
    assert_true(commit(&bid));
    assert_non_null(hold(world, "b"));
}

static void test_delete(void **state)
{
    struct world *world = *state;
    make(world, 1, 1 + 1);
    struct bid bid;
    begin(&bid, world, "web");
    add(&bid, "c", 1, 1);
    assert_true(commit(&bid));
    int32_t before = world_provider(world, 1)->generation;
    struct plan plan = world_plan(world);
    plan_placement_delete(placement(world, "c"), &plan);
    world_conclude(world, true);
    assert_null(placement(world, "c"));
    assert_int_equal(used(world, 1), 3);
    assert_int_equal(world_provider(world, 1)->generation, before + 1);
    plan = world_plan(world);
    plan_stack_delete(version_valet_plan(world->edit->version, 1000), &plan);
    world_conclude(world, true);
    assert_int_equal(used(world, 1) + used(world, 2), 0);
    assert_null(version_next_valet_plan(world->edit->version, 0));
    assert_null(version_next_valet_placement(world->edit->version, 0));
    assert_int_equal(world->edit->version->allocation_count, 0);
}

/* Storage that the hold shares with its server does not mean that they are on the same host. */
static void test_a_server_beside_shared_storage(void **state)
{
    struct world *world = *state;
    struct bid bid;
    add_link(world, CHANGE_PROVIDER_TRAIT_INSERT, 4, TRAIT_SHARES);
    begin(&bid, world, "web");
    struct claim both = {0};
    world_add(world, &both, 1, 'A', 1);
    world_add(world, &both, 4, 'A', 1);
    struct stack_row *row = add(&bid, "a", 1, 1);
    row->providers = both.providers;
    row->provider_count = both.provider_count;
    look_at(&bid, 4);
    assert_true(commit(&bid));
    assert_int_equal(used(world, 4), 1);
    struct claim server = world_claim(world, 1);
    world_add(world, &server, 2, 'A', 1);
    world_add(world, &server, 4, 'A', 1);
    assert_true(world_write(world, &server, 1, CLAIM_BY_POST));
    begin(&bid, world, "web");
    set_resource(&bid, 0, "c1");
    assert_true(commit(&bid));
    assert_non_null(hold(world, "a"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_create, stack_bid_setup, stack_bid_teardown),
        cmocka_unit_test_setup_teardown(test_moves_release_before_capacity, stack_bid_setup,
                                        stack_bid_teardown),
        cmocka_unit_test_setup_teardown(test_hosts_are_claimed, stack_bid_setup,
                                        stack_bid_teardown),
        cmocka_unit_test_setup_teardown(test_own_holds_do_not_occupy, stack_bid_setup,
                                        stack_bid_teardown),
        cmocka_unit_test_setup_teardown(test_racks_are_claimed, stack_bid_setup,
                                        stack_bid_teardown),
        cmocka_unit_test_setup_teardown(test_servers_that_are_there, stack_bid_setup,
                                        stack_bid_teardown),
        cmocka_unit_test_setup_teardown(test_delete, stack_bid_setup, stack_bid_teardown),
        cmocka_unit_test_setup_teardown(test_a_server_beside_shared_storage, stack_bid_setup,
                                        stack_bid_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
