/* What a project may hold on hosts that groups claim (Valet spec, 8.3). Group g has h1, group k has
 * h3; f is the friend, a member of g; x is a member of none. */
#include "engine/allocations.h"
#include "placement/write/plan_providers.h"
#include "unit.h"
#include "valet/write/valet_bench.h"

static struct valet_bench bench;

static const char held[] = "Resource provider 'h1' is held by exclusivity group 'g'.";

static int set_up(void **state)
{
    (void)state;
    valet_open(&bench);
    valet_host(&bench, "h1");
    valet_host(&bench, "h2");
    valet_host(&bench, "h3");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    valet_close(&bench);
    return 0;
}

static void claim_h1(void)
{
    valet_group(&bench, "g");
    valet_member(&bench, "g", "f");
    valet_aggregates(&bench, "h1", "g");
}

static int put(const char *claim)
{
    return valet_put(&bench, claim);
}

static void assert_held(int status)
{
    assert_int_equal(status, 409);
    valet_assert_refused(&bench, held);
    assert_null(bench.err.code); /* placement.undefined_code */
}

static void members_only(void **state)
{
    (void)state;
    claim_h1();
    assert_held(put("c1 x h1:VCPU=1"));
    assert_int_equal(put("c1 x h2:VCPU=1"), 0);
    assert_int_equal(put("c2 f h1:VCPU=1"), 0);
    assert_held(put("c1 x h1:VCPU=1,h2:VCPU=1"));
    const char *const claims[] = {"c3 f h1:VCPU=1", "c4 x h1:VCPU=1"};
    assert_held(valet_post(&bench, claims, 2));
    assert_int_equal(valet_holds(&bench, "c3", "h1"), 0);
    assert_held(valet_reshape(&bench, claims, 2, NULL));
    assert_int_equal(valet_post(&bench, claims, 1), 0);
}

static void nested_providers_are_of_their_host(void **state)
{
    (void)state;
    valet_provider(&bench, "n1", "h1");
    valet_host(&bench, "n1");
    claim_h1();
    assert_held(put("c1 x n1:VCPU=1"));
    assert_int_equal(put("c1 f n1:VCPU=1"), 0);
}

/* The non-member was there first. */
static void who_was_there_stays(void **state)
{
    (void)state;
    assert_int_equal(put("c1 x h1:VCPU=2"), 0);
    claim_h1();
    assert_int_equal(put("c1 x h1:VCPU=2"), 0);
    assert_held(put("c1 x h1:VCPU=3"));
    assert_held(put("c2 x h1:VCPU=1"));
    assert_held(put("c1 x h1:MEMORY_MB=1"));
    assert_int_equal(put("c1 x h1:VCPU=1"), 0);
    assert_held(put("c1 x h1:VCPU=2"));
    const char *const migration[] = {"c1 x h2:VCPU=1", "move x h1:VCPU=1"};
    assert_int_equal(valet_post(&bench, migration, 2), 0);
    const char *const back[] = {"move x -", "c1 x h1:VCPU=1"};
    assert_int_equal(valet_post(&bench, back, 2), 0);
    assert_int_equal(put("c1 x h1:VCPU=1,h2:VCPU=1"), 0); /* evacuated: still on the dead host */
    assert_int_equal(put("c1 x h2:VCPU=1"), 0);
    assert_held(put("c1 x h1:VCPU=1"));
}

static void it_is_not_handed_to_another_project(void **state)
{
    (void)state;
    assert_int_equal(put("c1 x h1:VCPU=2"), 0);
    claim_h1();
    assert_held(put("c1 y h1:VCPU=2"));
    const char *const claims[] = {"c1 x -", "c2 y h1:VCPU=2"};
    assert_held(valet_post(&bench, claims, 2));
    assert_int_equal(put("c1 f h1:VCPU=2"), 0);
    assert_held(put("c1 x h1:VCPU=2"));
}

/* Two forms of one UUID are one project. */
static void projects_compare_as_uuids(void **state)
{
    (void)state;
    assert_int_equal(put("c1 B7D0E9B1-7529-4b64-9464-caa3411adb3f h1:VCPU=2"), 0);
    claim_h1();
    assert_int_equal(put("c1 b7d0e9b175294b649464caa3411adb3f h1:VCPU=2"), 0);
    assert_held(put("c2 b7d0e9b175294b649464caa3411adb3f h1:VCPU=1"));
    valet_member(&bench, "g", "b7d0e9b1-7529-4b64-9464-caa3411adb3f");
    assert_int_equal(put("c2 b7d0e9b175294b649464caa3411adb3f h1:VCPU=1"), 0);
}

static void each_group_that_claims_it(void **state)
{
    (void)state;
    claim_h1();
    valet_group(&bench, "k");
    valet_member(&bench, "k", "y");
    valet_aggregates(&bench, "h3", "k");
    assert_int_equal(put("c1 f h3:VCPU=1"), 409);
    valet_assert_refused(&bench, "Resource provider 'h3' is held by exclusivity group 'k'.");
    valet_aggregates(&bench, "h3", "k g");
    assert_int_equal(put("c1 f h3:VCPU=1"), 409);
    assert_int_equal(put("c1 y h3:VCPU=1"), 409);
    valet_member(&bench, "g", "y");
    assert_int_equal(put("c1 y h3:VCPU=1"), 0);
}

static void racks_that_are_claimed(void **state)
{
    (void)state;
    valet_group(&bench, "g");
    valet_member(&bench, "g", "f");
    valet_rack(&bench, "r1", "one");
    valet_aggregates(&bench, "h1", "one");
    valet_aggregates(&bench, "h2", "one");
    valet_claim_rack(&bench, "g", "r1");
    assert_held(put("c1 x h1:VCPU=1"));
    assert_int_equal(put("c1 x h2:VCPU=1"), 409);
    assert_int_equal(put("c1 x h3:VCPU=1"), 0);
    assert_int_equal(put("c2 f h2:VCPU=1"), 0);
}

static void shared_storage_is_outside(void **state)
{
    (void)state;
    claim_h1();
    valet_host(&bench, "share");
    assert_int_equal(put("c1 f h1:VCPU=1,share:MEMORY_MB=1"), 0);
    assert_int_equal(put("c2 x h2:VCPU=1,share:MEMORY_MB=1"), 0);
}

/* The hold of the same project counts as what was there. */
static void the_hold_of_a_non_member(void **state)
{
    (void)state;
    valet_place(&bench, "pl1", "s1", "h1", 2);
    claim_h1();
    assert_held(put("s1 p h1:VCPU=3"));
    assert_held(put("s1 x h1:VCPU=2"));
    assert_int_equal(put("s1 p h1:VCPU=2"), 0);
}

static void removing_is_always_allowed(void **state)
{
    (void)state;
    assert_int_equal(put("c1 x h1:VCPU=2"), 0);
    assert_int_equal(put("c2 x h1:VCPU=2"), 0);
    claim_h1();
    assert_int_equal(put("c1 x -"), 0);
    assert_int_equal(valet_release(&bench, "c2"), 0);
    assert_held(put("c1 x h1:VCPU=1"));
}

/* It is not a host, and outside all trees that could be claimed. */
static void a_sharing_provider_in_the_groups_aggregate(void **state)
{
    (void)state;
    claim_h1();
    valet_host(&bench, "sh");
    valet_traits(&bench, "sh", "MISC_SHARES_VIA_AGGREGATE");
    valet_aggregates(&bench, "sh", "g");
    assert_int_equal(put("c1 x h2:VCPU=1,sh:VCPU=1"), 0);
    assert_held(put("c2 x h1:VCPU=1,sh:VCPU=1"));
    valet_traits(&bench, "sh", "");
    assert_int_equal(put("c3 x sh:VCPU=1"), 409);
}

/* In one request, h5 moves below h1, and the consumer on it gets another project. */
static bool move_and_hand_over(void *cls, const struct plan *plan, struct err *err)
{
    const char *project = cls;
    struct planned_provider result;
    struct plan_provider_update update = {
        .uuid = valet_uuid(&bench, "h5"),
        .name = SLICE_LIT("h5"),
        .has_parent = true,
        .parent_uuid = valet_uuid(&bench, "h1"),
        .may_move = true,
    };
    const struct consumer *consumer = version_consumer(plan->version, valet_uuid(&bench, "c1"));
    struct consumer_owner owner = consumer_owner_of(plan->version, consumer);
    owner.project_id = plan_name_id(plan, CHANGE_PROJECT_INSERT, slice_of(project));
    allocations_set_owner(plan, consumer, &owner);
    return plan_provider_update(&update, plan, &result, err);
}

static void what_moves_is_counted_where_it_comes(void **state)
{
    (void)state;
    char non_member[] = "y";
    char member[] = "f";
    valet_host(&bench, "h5");
    assert_int_equal(put("c1 x h5:VCPU=1"), 0);
    claim_h1();
    assert_held(valet_write(&bench, move_and_hand_over, non_member));
    assert_int_equal(valet_find(&bench, "h5")->parent.v, NUMBER_NONE);
    assert_int_equal(valet_write(&bench, move_and_hand_over, member), 0);
    assert_int_equal(valet_holds(&bench, "c1", "h5"), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(members_only, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nested_providers_are_of_their_host, set_up, tear_down),
        cmocka_unit_test_setup_teardown(who_was_there_stays, set_up, tear_down),
        cmocka_unit_test_setup_teardown(it_is_not_handed_to_another_project, set_up, tear_down),
        cmocka_unit_test_setup_teardown(projects_compare_as_uuids, set_up, tear_down),
        cmocka_unit_test_setup_teardown(each_group_that_claims_it, set_up, tear_down),
        cmocka_unit_test_setup_teardown(racks_that_are_claimed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(shared_storage_is_outside, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_hold_of_a_non_member, set_up, tear_down),
        cmocka_unit_test_setup_teardown(removing_is_always_allowed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_sharing_provider_in_the_groups_aggregate, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(what_moves_is_counted_where_it_comes, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
