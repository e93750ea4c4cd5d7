/* Findings about holds and placements: only those that lack their counterpart. */
#include "valet/state/placement_findings.h"

#include "unit.h"
#include "valet/write/valet_bench.h"

static struct valet_bench bench;

static int set_up(void **state)
{
    (void)state;
    valet_open(&bench);
    valet_host(&bench, "h1");
    valet_place(&bench, "pl1", "s1", "h1", 2);
    valet_place(&bench, "pl2", "s2", "h1", 2);
    assert_int_equal(valet_put(&bench, "s2 p h1:VCPU=2"), 0);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    valet_close(&bench);
    return 0;
}

struct found {
    unsigned count;
    struct slice hold; /* the last one's uuid */
    struct slice placement;
};

static void note(void *cls, const struct placement_finding *finding)
{
    struct found *found = cls;
    found->count++;
    assert_true((finding->hold == NULL) != (finding->placement == NULL));
    if (finding->hold != NULL) {
        assert_null(found->placement.data); /* holds come first */
        found->hold = consumer_uuid(finding->hold);
    } else {
        found->placement = record_text(&finding->placement->record, VALET_PLACEMENT_UUID);
    }
}

static struct found look(void)
{
    struct found found = {0};
    placement_findings(valet_version(&bench), note, &found);
    return found;
}

static void a_hold_and_a_server_are_in_order(void **state)
{
    (void)state;
    assert_int_equal(look().count, 0);
}

static void placements_without_either(void **state)
{
    (void)state;
    assert_int_equal(valet_release(&bench, "s2"), 0);
    struct found found = look();
    assert_int_equal(found.count, 1);
    assert_true(slice_equal(found.placement, valet_uuid(&bench, "pl2")));
    assert_int_equal(valet_put(&bench, "s2 other h1:VCPU=2"), 0); /* not the plan's project */
    assert_int_equal(look().count, 1);
    assert_int_equal(valet_release(&bench, "pl1"), 0);
    assert_int_equal(look().count, 2);
}

static void holds_without_a_placement(void **state)
{
    (void)state;
    valet_shell(&bench, "DELETE FROM berth_valet_placements");
    valet_read(&bench);
    struct found found = look();
    assert_int_equal(found.count, 1);
    assert_true(slice_equal(found.hold, valet_uuid(&bench, "pl1")));
    assert_int_equal(valet_release(&bench, "pl1"), 0);
    assert_int_equal(look().count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_hold_and_a_server_are_in_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(placements_without_either, set_up, tear_down),
        cmocka_unit_test_setup_teardown(holds_without_a_placement, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
