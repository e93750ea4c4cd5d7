/* Commits of plans: what is refused because it is no longer true. */
#include "placement/write/plan_providers.h"
#include "valet/write/stack_bid.h"

#define IRON "10000000-0000-4000-8000-000000000002"

static void test_what_a_plan_rests_on(void **state)
{
    struct world *world = *state;
    struct bid bid;
    begin(&bid, world, "web");
    add(&bid, "a", 1, 3);
    add(&bid, "b", 2, 3);
    occupy(world, 1, 2, 2);
    assert_changed(&bid); /* no room */
    occupy(world, 1, 2, 0);
    add_link(world, CHANGE_PROVIDER_TRAIT_INSERT, 2, TRAIT_OTHER);
    assert_changed(&bid); /* another look */
    add_link(world, CHANGE_PROVIDER_TRAIT_DELETE, 2, TRAIT_OTHER);
    bid.groups[bid.commit.group_count++] = SLICE_LIT(GOLD);
    remove_row(world, VALET_MEMBERS, 1);
    assert_changed(&bid); /* no member */
    bid.commit.group_count = 0;
    assert_true(commit(&bid));
    /* the stack has a plan, the placements have ids that are already used */
    bid.commit.before = NULL;
    assert_changed(&bid);
    struct bid other;
    remove_row(world, VALET_PLACEMENTS, placement(world, "a")->record.id);
    begin(&other, world, "web");
    assert_int_equal(other.commit.row_count, 1);
    add(&other, "b", 3, 1);
    assert_changed(&other);
}

static void test_rows_that_changed(void **state)
{
    struct world *world = *state;
    struct bid bid;
    make(world, 1, 2);
    begin(&bid, world, "web");
    place(&bid, 0, 3, 3);
    bid.commit.row_count = 1;
    assert_changed(&bid); /* there is one more than it knows */
    begin(&bid, world, "web");
    set_resource(&bid, 1, "b");
    place(&bid, 0, 3, 3);
    struct bid first = bid;
    assert_true(commit(&first)); /* its own orchestration id */
    assert_changed(&bid);
    begin(&bid, world, "web");
    set_resource(&bid, 0, "b");
    assert_changed(&bid);
    /* it is on another host by now */
    begin(&bid, world, "web");
    set_resource(&bid, 0, "c9");
    struct claim claim = {.consumer =
                              record_text(&bid.rows[0].before->record, VALET_PLACEMENT_UUID),
                          .project = SLICE_LIT("tenant"),
                          .user = SLICE_LIT("somebody")};
    assert_true(world_write(world, &claim, 1, CLAIM_BY_POST));
    assert_changed(&bid);
}

/* A claim that is to be made exists already where the plan's servers of that group are. */
static void test_own_servers_of_the_group_do_not_hinder(void **state)
{
    struct world *world = *state;
    struct bid bid;
    make(world, 4, 3);
    occupy_as(world, "tenant", 2, 4, 1);
    begin(&bid, world, "web");
    claim_host(&bid, 4);
    bid.rows[0].exclusive.group_id = 1; /* a, whose hold is there */
    assert_changed(&bid);               /* a server without a plan is there, too */
    set_resource(&bid, 0, "c2");
    bid.rows[0].exclusive.group_id = 0;
    assert_changed(&bid);
    bid.rows[0].exclusive.group_id = 1;
    struct stack_row none = bid.rows[0];
    bid.rows[0].host = world_uuid(world, 'p', 3);
    assert_changed(&bid); /* it is checked although its hold does not move: p3 is unclaimed */
    bid.rows[0] = none;
    bid.rows[0].host = world_uuid(world, 'p', 4);
    assert_true(commit(&bid));
    assert_true(is_gold(world, 4) && !is_gold(world, 3));
    assert_int_equal(used(world, 4), 1); /* the server's; it needs no hold beside it */
}

static void test_disabled(void **state)
{
    struct world *world = *state;
    struct bid bid;
    add_link(world, CHANGE_PROVIDER_TRAIT_INSERT, 1, TRAIT_DISABLED);
    begin(&bid, world, "web");
    add(&bid, "a", 1, 1);
    assert_changed(&bid);
}

/* Another project's consumer is not a server of the plan; it is in the plan of a user who sees all
 * projects. */
static void test_servers_of_others(void **state)
{
    struct world *world = *state;
    struct bid bid;
    make(world, 1, 2);
    occupy_as(world, "p", 1, 1, 1);
    begin(&bid, world, "web");
    set_resource(&bid, 0, "c1");
    assert_true(commit(&bid));
    assert_non_null(hold(world, "a"));
    begin(&bid, world, "web");
    trust(&bid);
    assert_true(commit(&bid));
    assert_null(hold(world, "a"));
}

/* A plan of a user who sees all projects may have servers of a project that is not a member: such a
 * server would at once be a non-member on its host. */
static void test_own_servers_of_non_members_hinder(void **state)
{
    struct world *world = *state;
    struct bid bid;
    make(world, 4, 3);
    occupy_as(world, "p", 1, 4, 1);
    begin(&bid, world, "web");
    trust(&bid);
    set_resource(&bid, 0, "c1");
    claim_host(&bid, 4);
    bid.rows[0].exclusive.group_id = 1;
    assert_changed(&bid);
    occupy_as(world, "tenant", 1, 4, 1);
    assert_true(commit(&bid));
    assert_true(is_gold(world, 4));
}

/* Damage: two placements have one id. Ids that a plan had before do not stop it; new ones do,
 * unless their owner is deleted with it. */
static void test_ids_that_are_brought(void **state)
{
    struct world *world = *state;
    struct bid bid;
    make(world, 1, 2);
    begin(&bid, world, "web");
    set_resource(&bid, 0, "real");
    assert_true(commit(&bid));
    struct record_value values[VALET_PLACEMENT_FIELD_COUNT];
    record_open(&VALET_SHAPES[VALET_PLACEMENTS], copy(world, &placement(world, "a")->record),
                values);
    values[VALET_PLACEMENT_UUID].text = SLICE_LIT("another");
    values[VALET_PLACEMENT_PLAN_ID].number = 999;
    values[VALET_PLACEMENT_ORCHESTRATION_ID].text = SLICE_LIT("real");
    values[VALET_PLACEMENT_RESOURCE_ID].text = (struct slice){0};
    put_row(world, VALET_PLACEMENTS, 2000, values);
    begin(&bid, world, "web");
    place(&bid, 0, 3, 3);
    assert_true(commit(&bid));
    begin(&bid, world, "web");
    set_resource(&bid, 1, "real");
    assert_changed(&bid);
    begin(&bid, world, "web");
    set_resource(&bid, 1, "another"); /* a hold's */
    assert_changed(&bid);
    begin(&bid, world, "web");
    add(&bid, "fresh", 4, 1);
    set_resource(&bid, 2, "b");
    assert_changed(&bid);
    bid.rows[1].after = NULL;
    assert_true(commit(&bid));
    assert_int_equal(used(world, 4), 1);
}

/* A host that is also in another rack belongs to the rack: it is claimed with it, and counted. */
static void test_a_host_in_two_racks(void **state)
{
    struct world *world = *state;
    struct bid bid;
    add_link(world, CHANGE_PROVIDER_AGGREGATE_INSERT, 2, SECOND_AGGREGATE);
    begin(&bid, world, "web");
    add(&bid, "a", 1, 1)->exclusive = (struct stack_exclusive){1, world_uuid(world, 'p', RACK)};
    claim_rack(&bid);
    occupy(world, 1, 2, 1);
    assert_changed(&bid);
    occupy(world, 1, 2, 0);
    struct bid fewer = bid;
    fewer.claims[0].host_count = 1;
    fewer.commit.claims = fewer.claims;
    assert_changed(&fewer);
    assert_true(commit(&bid));
    assert_true(is_gold(world, 1) && is_gold(world, 2));
    assert_int_equal(claim_rows(world), 3);
}

/* A rack is claimed if all its hosts are free, and none of those that are disabled is (8.3). */
static void test_a_rack_with_a_disabled_host(void **state)
{
    struct world *world = *state;
    struct bid bid;
    begin(&bid, world, "web");
    add(&bid, "a", 1, 1)->exclusive = (struct stack_exclusive){1, world_uuid(world, 'p', RACK)};
    claim_rack(&bid);
    add_link(world, CHANGE_PROVIDER_TRAIT_INSERT, 2, TRAIT_DISABLED);
    assert_changed(&bid);
    add_link(world, CHANGE_PROVIDER_TRAIT_DELETE, 2, TRAIT_DISABLED);
    assert_true(commit(&bid));
}

/* A rack that the group has by now can be used as long as all its hosts are only the group's. */
static void test_a_claimed_rack_with_a_non_member(void **state)
{
    struct world *world = *state;
    struct bid bid;
    struct bid first;
    begin(&first, world, "web");
    add(&first, "a", 1, 1)->exclusive = (struct stack_exclusive){1, world_uuid(world, 'p', RACK)};
    claim_rack(&first);
    assert_true(commit(&first));
    begin(&bid, world, "web");
    add(&bid, "b", 1, 1)->exclusive = (struct stack_exclusive){1, world_uuid(world, 'p', RACK)};
    claim_rack(&bid);
    intrude(world, 3, 2);
    assert_changed(&bid);
    occupy(world, 9, 3, 0);
    assert_true(commit(&bid));
    assert_int_equal(claim_rows(world), 3);
}

/* The racks and zones of a host are found from other providers than the host itself. */
static void test_markers_that_changed(void **state)
{
    struct world *world = *state;
    struct bid bid;
    begin(&bid, world, "web");
    add(&bid, "a", 1, 1);
    add_link(world, CHANGE_PROVIDER_AGGREGATE_DELETE, RACK, RACK_AGGREGATE);
    assert_changed(&bid); /* in no rack */
    add_link(world, CHANGE_PROVIDER_AGGREGATE_INSERT, RACK, RACK_AGGREGATE);
    add_link(world, CHANGE_PROVIDER_AGGREGATE_INSERT, SECOND_RACK, RACK_AGGREGATE);
    assert_changed(&bid); /* in two */
    add_link(world, CHANGE_PROVIDER_TRAIT_INSERT, SECOND_RACK, TRAIT_ZONE);
    add_link(world, CHANGE_PROVIDER_TRAIT_DELETE, SECOND_RACK, TRAIT_RACK);
    assert_changed(&bid); /* in a zone */
    add_link(world, CHANGE_PROVIDER_AGGREGATE_DELETE, SECOND_RACK, RACK_AGGREGATE);
    add_link(world, CHANGE_PROVIDER_TRAIT_DELETE, RACK, TRAIT_RACK);
    assert_changed(&bid);
    add_link(world, CHANGE_PROVIDER_TRAIT_INSERT, RACK, TRAIT_RACK);
    assert_true(commit(&bid));
}

/* A host where other servers stay restricts only through its racks. */
static void test_where_others_are(void **state)
{
    struct world *world = *state;
    struct bid bid;
    begin(&bid, world, "web");
    add(&bid, "a", 3, 1);
    look_at(&bid, 1);
    struct host_marks marks = host_marks_of(world->edit->version);
    struct stack_look *others = (struct stack_look *)(uintptr_t)&bid.commit.looks[1];
    others->look = stack_place(world->edit->version, &marks, world_provider(world, 1));
    others->is_place = true;
    add_link(world, CHANGE_PROVIDER_AGGREGATE_INSERT, SECOND_RACK, RACK_AGGREGATE);
    assert_changed(&bid);
    add_link(world, CHANGE_PROVIDER_AGGREGATE_DELETE, SECOND_RACK, RACK_AGGREGATE);
    add_link(world, CHANGE_PROVIDER_TRAIT_INSERT, 1, TRAIT_OTHER);
    assert_true(commit(&bid));
}

static void delete_provider(struct world *world, unsigned provider)
{
    struct plan plan = world_plan(world);
    assert_true(world_conclude(
        world, plan_provider_delete(world_uuid(world, 'p', provider), &plan, &world->err)));
}

/* Claims to be made are compared although no server is checked there. */
static void test_claims_of_what_is_gone(void **state)
{
    struct world *world = *state;
    struct bid bid;
    begin(&bid, world, "web");
    add(&bid, "a", 4, 1);
    claim_host(&bid, 3);
    bid.claims[0].group_id = 2;
    assert_changed(&bid); /* no such group */
    bid.claims[0].group_id = 1;
    add_link(world, CHANGE_PROVIDER_TRAIT_INSERT, 3, TRAIT_SHARES);
    assert_changed(&bid); /* not a host */
    add_link(world, CHANGE_PROVIDER_TRAIT_DELETE, 3, TRAIT_SHARES);
    struct bid rack;
    begin(&rack, world, "web");
    add(&rack, "a", 4, 1);
    claim_rack(&rack);
    add_link(world, CHANGE_PROVIDER_AGGREGATE_DELETE, 2, RACK_AGGREGATE);
    assert_changed(&rack); /* p2 has left the rack */
    delete_provider(world, RACK);
    assert_changed(&rack);
    delete_provider(world, 3);
    assert_changed(&bid);
}

/* As after a commit, when no check can have another result. */
static void test_hosts_that_are_none_any_more(void **state)
{
    struct world *world = *state;
    struct bid bid;
    begin(&bid, world, "web");
    add(&bid, "a", 3, 1);
    bid.commit.look_count = 0;
    add_link(world, CHANGE_PROVIDER_TRAIT_INSERT, 3, TRAIT_ZONE);
    assert_changed(&bid);
    add_link(world, CHANGE_PROVIDER_TRAIT_DELETE, 3, TRAIT_ZONE);
    add_link(world, CHANGE_PROVIDER_TRAIT_INSERT, 3, TRAIT_DISABLED);
    assert_changed(&bid);
    add_link(world, CHANGE_PROVIDER_TRAIT_DELETE, 3, TRAIT_DISABLED);
    bid.rows[0].exclusive.group_id = 2;
    assert_changed(&bid); /* no such group */
    bid.rows[0].exclusive.group_id = 0;
    assert_true(commit(&bid));
}

/* Rows that another commit has changed, although nothing has moved. */
static void test_rows_that_say_something_else(void **state)
{
    struct world *world = *state;
    struct bid bid;
    struct bid other;
    make(world, 1, 2);
    begin(&bid, world, "web");
    place(&bid, 0, 3, 3);
    begin(&other, world, "web");
    set_resource(&other, 1, "real");
    assert_true(commit(&other));
    assert_changed(&bid);
    begin(&bid, world, "web");
    place(&bid, 0, 3, 3);
    begin(&other, world, "web");
    trust(&other);
    assert_true(commit(&other));
    assert_changed(&bid);
    begin(&bid, world, "web");
    place(&bid, 0, 3, 3);
    assert_true(commit(&bid));
}

/* The plan's own hold that stays, and is of no group, keeps its host from being claimed. */
static void test_own_holds_of_no_group_hinder(void **state)
{
    struct world *world = *state;
    struct bid bid;
    make(world, 4, 3);
    begin(&bid, world, "web");
    claim_host(&bid, 4);
    place(&bid, 1, 4, 1)->exclusive.group_id = 1;
    assert_changed(&bid);
    place(&bid, 0, 2, 3);
    assert_true(commit(&bid));
    assert_true(is_gold(world, 4));
}

/* Nor does the commit itself put another server where it claims. */
static void test_no_others_where_it_claims(void **state)
{
    struct world *world = *state;
    struct bid bid;
    begin(&bid, world, "web");
    add(&bid, "a", 4, 1)->exclusive.group_id = 1;
    add(&bid, "b", 4, 1);
    claim_host(&bid, 4);
    assert_changed(&bid);
    place(&bid, 1, 3, 1);
    assert_true(commit(&bid));
    assert_true(is_gold(world, 4) && !is_gold(world, 3));
}

/* p3 is in the aggregate of another group, of which the plan's project is a member, too. */
static void claim_for_iron(struct world *world)
{
    enum { IRON_AGGREGATE = 9000, IRON_ID = 2 };
    struct record_value values[VALET_GROUP_FIELD_COUNT];
    record_init(&VALET_SHAPES[VALET_GROUPS], values);
    values[VALET_GROUP_UUID].text = SLICE_LIT(IRON);
    values[VALET_GROUP_NAME].text = SLICE_LIT("iron");
    put_row(world, VALET_GROUPS, IRON_ID, values);
    struct record_value member[VALET_MEMBER_FIELD_COUNT];
    record_init(&VALET_SHAPES[VALET_MEMBERS], member);
    member[VALET_MEMBER_GROUP_ID].number = IRON_ID;
    member[VALET_MEMBER_PROJECT].text = SLICE_LIT("tenant");
    put_row(world, VALET_MEMBERS, IRON_ID, member);
    struct plan plan = world_plan(world);
    change_append(plan.changes, CHANGE_AGGREGATE_INSERT)->catalog =
        (struct change_catalog){IRON_AGGREGATE, SLICE_LIT(IRON)};
    world_conclude(world, true);
    add_link(world, CHANGE_PROVIDER_AGGREGATE_INSERT, 3, IRON_AGGREGATE);
}

static void test_a_host_of_another_group(void **state)
{
    struct world *world = *state;
    struct bid bid;
    begin(&bid, world, "web");
    add(&bid, "a", 3, 1)->exclusive.group_id = 1;
    bid.commit.look_count = 0; /* which would show it, too */
    claim_host(&bid, 3);
    claim_for_iron(world);
    assert_changed(&bid);
    bid.commit.claim_count = 0;
    assert_changed(&bid);
}

/* It is of use to neither, although one of them is the server's. */
static void test_a_host_of_two_groups(void **state)
{
    struct world *world = *state;
    struct bid bid;
    begin(&bid, world, "web");
    add(&bid, "a", 3, 1)->exclusive.group_id = 1;
    claim_host(&bid, 3);
    assert_true(commit(&bid));
    assert_true(is_gold(world, 3));
    begin(&bid, world, "web");
    add(&bid, "b", 3, 1)->exclusive.group_id = 1;
    bid.commit.look_count = 0;
    claim_for_iron(world);
    assert_changed(&bid);
}

/* As many hosts as before, but not the same. */
static void test_a_rack_of_other_hosts(void **state)
{
    struct world *world = *state;
    struct bid bid;
    begin(&bid, world, "web");
    add(&bid, "a", 1, 1)->exclusive = (struct stack_exclusive){1, world_uuid(world, 'p', RACK)};
    claim_rack(&bid);
    add_link(world, CHANGE_PROVIDER_AGGREGATE_DELETE, 2, RACK_AGGREGATE);
    add_link(world, CHANGE_PROVIDER_AGGREGATE_INSERT, 3, RACK_AGGREGATE);
    assert_changed(&bid);
    assert_int_equal(claim_rows(world), 0);
}

/* There is no room for the server and a hold beside it. */
static void test_a_hold_that_would_come_beside_its_server(void **state)
{
    struct world *world = *state;
    struct bid bid;
    make(world, 1, 2);
    occupy_as(world, "tenant", 2, 3, 3);
    begin(&bid, world, "web");
    set_resource(&bid, 0, "c2");
    place(&bid, 0, 3, 3);
    assert_true(commit(&bid));
    assert_int_equal(used(world, 3), 3);
    assert_int_equal(used(world, 1), 0);
    assert_null(hold(world, "a"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_what_a_plan_rests_on, stack_bid_setup,
                                        stack_bid_teardown),
        cmocka_unit_test_setup_teardown(test_rows_that_changed, stack_bid_setup,
                                        stack_bid_teardown),
        cmocka_unit_test_setup_teardown(test_own_servers_of_the_group_do_not_hinder,
                                        stack_bid_setup, stack_bid_teardown),
        cmocka_unit_test_setup_teardown(test_disabled, stack_bid_setup, stack_bid_teardown),
        cmocka_unit_test_setup_teardown(test_servers_of_others, stack_bid_setup,
                                        stack_bid_teardown),
        cmocka_unit_test_setup_teardown(test_ids_that_are_brought, stack_bid_setup,
                                        stack_bid_teardown),
        cmocka_unit_test_setup_teardown(test_a_host_in_two_racks, stack_bid_setup,
                                        stack_bid_teardown),
        cmocka_unit_test_setup_teardown(test_own_servers_of_non_members_hinder, stack_bid_setup,
                                        stack_bid_teardown),
        cmocka_unit_test_setup_teardown(test_a_rack_with_a_disabled_host, stack_bid_setup,
                                        stack_bid_teardown),
        cmocka_unit_test_setup_teardown(test_a_claimed_rack_with_a_non_member, stack_bid_setup,
                                        stack_bid_teardown),
        cmocka_unit_test_setup_teardown(test_markers_that_changed, stack_bid_setup,
                                        stack_bid_teardown),
        cmocka_unit_test_setup_teardown(test_where_others_are, stack_bid_setup, stack_bid_teardown),
        cmocka_unit_test_setup_teardown(test_claims_of_what_is_gone, stack_bid_setup,
                                        stack_bid_teardown),
        cmocka_unit_test_setup_teardown(test_hosts_that_are_none_any_more, stack_bid_setup,
                                        stack_bid_teardown),
        cmocka_unit_test_setup_teardown(test_rows_that_say_something_else, stack_bid_setup,
                                        stack_bid_teardown),
        cmocka_unit_test_setup_teardown(test_own_holds_of_no_group_hinder, stack_bid_setup,
                                        stack_bid_teardown),
        cmocka_unit_test_setup_teardown(test_no_others_where_it_claims, stack_bid_setup,
                                        stack_bid_teardown),
        cmocka_unit_test_setup_teardown(test_a_host_of_another_group, stack_bid_setup,
                                        stack_bid_teardown),
        cmocka_unit_test_setup_teardown(test_a_host_of_two_groups, stack_bid_setup,
                                        stack_bid_teardown),
        cmocka_unit_test_setup_teardown(test_a_rack_of_other_hosts, stack_bid_setup,
                                        stack_bid_teardown),
        cmocka_unit_test_setup_teardown(test_a_hold_that_would_come_beside_its_server,
                                        stack_bid_setup, stack_bid_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
