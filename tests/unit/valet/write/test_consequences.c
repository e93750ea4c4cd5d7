/* When claims of groups begin and end (Valet spec, 8.3). Rack r1 has h1 and h2, rack r2 has h3; h4
 * is in no rack. Group g has the member f. */
#include "engine/allocations.h"
#include "placement/write/plan_providers.h"
#include "placement/write/plan_traits.h"
#include "unit.h"
#include "valet/write/valet_bench.h"

static struct valet_bench bench;

static int set_up(void **state)
{
    (void)state;
    valet_open(&bench);
    valet_rack(&bench, "r1", "one");
    valet_rack(&bench, "r2", "two");
    for (const char *name = "h1h2h3h4"; *name != '\0'; name += 2)
        valet_host(&bench, arena_printf(bench.arena, "%.2s", name).data);
    valet_aggregates(&bench, "h1", "one");
    valet_aggregates(&bench, "h2", "one");
    valet_aggregates(&bench, "h3", "two");
    valet_group(&bench, "g");
    valet_member(&bench, "g", "f");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    valet_close(&bench);
    return 0;
}

static void put(const char *claim)
{
    assert_int_equal(valet_put(&bench, claim), 0);
}

static void assert_claimed(const char *host, bool in_aggregate, bool by_row)
{
    assert_int_equal(valet_is_in(&bench, host, "g"), in_aggregate);
    assert_int_equal(valet_has_claim(&bench, "g", host), by_row);
}

static void an_automatic_claim_ends_with_the_last_allocation(void **state)
{
    (void)state;
    put("c1 f h4:VCPU=1");
    put("c2 f h4:VCPU=1");
    valet_claim_host(&bench, "g", "h4");
    assert_int_equal(valet_release(&bench, "c1"), 0);
    assert_claimed("h4", true, true);
    int64_t generation = valet_find(&bench, "h4")->generation;
    assert_int_equal(valet_release(&bench, "c2"), 0);
    assert_claimed("h4", false, false);
    assert_int_equal(valet_find(&bench, "h4")->generation, generation + 1);
    put("c3 x h4:VCPU=1");
}

static void it_ends_too_when_the_last_one_moves(void **state)
{
    (void)state;
    put("c1 f h4:VCPU=1");
    valet_claim_host(&bench, "g", "h4");
    put("c1 f h4:VCPU=2");
    assert_claimed("h4", true, true);
    put("c1 f h3:VCPU=2");
    assert_claimed("h4", false, false);
}

static void it_ends_with_the_hold(void **state)
{
    (void)state;
    put("c1 f h4:VCPU=1");
    valet_claim_host(&bench, "g", "h4");
    valet_member(&bench, "g", "p");
    valet_place(&bench, "pl1", "s1", "h4", 2);
    assert_int_equal(valet_release(&bench, "c1"), 0);
    assert_claimed("h4", true, true);
    put("s1 p h3:VCPU=2"); /* and drops the hold */
    assert_claimed("h4", false, false);
    valet_assert_location(&bench, "pl1", "h3");
}

static void an_operators_claim_stays(void **state)
{
    (void)state;
    valet_aggregates(&bench, "h4", "g");
    put("c1 f h4:VCPU=1");
    assert_int_equal(valet_release(&bench, "c1"), 0);
    assert_claimed("h4", true, false);
}

static void taking_the_aggregate_away_ends_it(void **state)
{
    (void)state;
    put("c1 f h4:VCPU=1");
    valet_claim_host(&bench, "g", "h4");
    valet_aggregates(&bench, "h4", "other");
    assert_claimed("h4", false, false);
    put("c2 x h4:VCPU=1");
}

static void claim_r1(void)
{
    put("c1 f h1:VCPU=1");
    valet_claim_rack(&bench, "g", "r1");
    assert_claimed("h1", true, true);
    assert_claimed("h2", true, true);
    assert_true(valet_has_claim(&bench, "g", "r1"));
}

static void a_rack_ends_with_its_last_allocation(void **state)
{
    (void)state;
    claim_r1();
    put("c2 f h2:VCPU=1");
    assert_int_equal(valet_release(&bench, "c1"), 0);
    assert_claimed("h1", true, true);
    assert_int_equal(valet_release(&bench, "c2"), 0);
    assert_claimed("h1", false, false);
    assert_claimed("h2", false, false);
    assert_false(valet_has_claim(&bench, "g", "r1"));
}

static void an_operators_host_in_a_claimed_rack(void **state)
{
    (void)state;
    valet_aggregates(&bench, "h2", "one g");
    put("c1 f h2:VCPU=1");
    valet_claim_rack(&bench, "g", "r1");
    assert_claimed("h1", true, true);
    assert_claimed("h2", true, false);
    assert_int_equal(valet_release(&bench, "c1"), 0);
    assert_false(valet_has_claim(&bench, "g", "r1"));
    assert_claimed("h1", false, false);
    assert_claimed("h2", true, false);
}

static void taking_it_from_one_host_ends_the_racks(void **state)
{
    (void)state;
    claim_r1();
    int64_t generation = valet_find(&bench, "h1")->generation;
    valet_aggregates(&bench, "h2", "one");
    assert_false(valet_has_claim(&bench, "g", "r1"));
    assert_claimed("h1", false, false);
    assert_claimed("h2", false, false);
    assert_int_equal(valet_find(&bench, "h1")->generation, generation + 1);
}

static void taking_it_from_an_operators_host_too(void **state)
{
    (void)state;
    valet_aggregates(&bench, "h2", "one g");
    put("c1 f h1:VCPU=1");
    valet_claim_rack(&bench, "g", "r1");
    valet_aggregates(&bench, "h2", "one");
    assert_false(valet_has_claim(&bench, "g", "r1"));
    assert_claimed("h1", false, false);
    assert_claimed("h2", false, false);
}

static void a_host_that_joins_is_claimed(void **state)
{
    (void)state;
    claim_r1();
    int64_t generation = valet_find(&bench, "h4")->generation;
    valet_aggregates(&bench, "h4", "one");
    assert_claimed("h4", true, true);
    assert_int_equal(valet_find(&bench, "h4")->generation, generation + 1); /* one request */
    assert_int_equal(valet_release(&bench, "c1"), 0);
    assert_claimed("h4", false, false);
    assert_claimed("h1", false, false);
}

static void a_host_that_leaves_keeps_its_claim_while_it_is_used(void **state)
{
    (void)state;
    claim_r1();
    put("c2 f h2:VCPU=1");
    valet_aggregates(&bench, "h1", "g");
    assert_claimed("h1", true, true);
    assert_true(valet_has_claim(&bench, "g", "r1"));
    assert_int_equal(valet_release(&bench, "c1"), 0);
    assert_claimed("h1", false, false);
    assert_claimed("h2", true, true);
}

/* Nothing is in the rack any more, but c1 is still where it was. */
static void the_only_used_host_leaves(void **state)
{
    (void)state;
    claim_r1();
    valet_aggregates(&bench, "h1", "g");
    assert_false(valet_has_claim(&bench, "g", "r1"));
    assert_claimed("h1", true, true);
    assert_claimed("h2", false, false);
    assert_int_equal(valet_release(&bench, "c1"), 0);
    assert_claimed("h1", false, false);
}

static void a_host_moves_to_another_claimed_rack(void **state)
{
    (void)state;
    claim_r1();
    put("c3 f h3:VCPU=1");
    valet_claim_rack(&bench, "g", "r2");
    valet_aggregates(&bench, "h2", "two g");
    assert_claimed("h2", true, true);
    assert_int_equal(valet_release(&bench, "c1"), 0);
    assert_claimed("h1", false, false);
    assert_claimed("h2", true, true);
    assert_int_equal(valet_release(&bench, "c3"), 0);
    assert_claimed("h2", false, false);
}

static void the_racks_aggregates_change(void **state)
{
    (void)state;
    claim_r1();
    valet_aggregates(&bench, "r1", "two");
    assert_true(valet_has_claim(&bench, "g", "h1")); /* c1 is there, in no rack */
    assert_claimed("h2", false, false);
    assert_false(valet_has_claim(&bench, "g", "r1")); /* h3 is its only host, and empty */
}

static void an_empty_host_that_leaves_is_free(void **state)
{
    (void)state;
    claim_r1();
    valet_aggregates(&bench, "h2", "g");
    assert_claimed("h2", false, false);
    assert_claimed("h1", true, true);
}

static void a_rack_that_is_none_any_more(void **state)
{
    (void)state;
    claim_r1();
    valet_traits(&bench, "r1", "");
    assert_false(valet_has_claim(&bench, "g", "r1"));
    assert_claimed("h1", true, true); /* c1 is there */
    assert_claimed("h2", false, false);
    assert_int_equal(valet_release(&bench, "c1"), 0);
    assert_claimed("h1", false, false);
}

static void a_rack_that_is_deleted(void **state)
{
    (void)state;
    claim_r1();
    valet_delete_provider(&bench, "r1");
    assert_claimed("h1", true, true);
    assert_claimed("h2", false, false);
}

static void a_host_that_is_deleted(void **state)
{
    (void)state;
    claim_r1();
    valet_delete_provider(&bench, "h2");
    assert_false(valet_has_claim(&bench, "g", "h2"));
    assert_true(valet_has_claim(&bench, "g", "r1"));
    valet_host(&bench, "h2");
    assert_claimed("h2", false, false);
}

static void another_groups_claim_stays(void **state)
{
    (void)state;
    valet_group(&bench, "k");
    valet_member(&bench, "k", "f");
    valet_aggregates(&bench, "h4", "k");
    put("c1 f h4:VCPU=1");
    valet_claim_host(&bench, "g", "h4");
    assert_int_equal(valet_release(&bench, "c1"), 0);
    assert_claimed("h4", false, false);
    assert_true(valet_is_in(&bench, "h4", "k"));
}

/* It is not a host then; the tree that it is in is unclaimed. */
static void a_host_that_gets_a_parent_keeps_its_claim_for_when_it_is_one_again(void **state)
{
    (void)state;
    put("c1 f h4:VCPU=1");
    valet_claim_host(&bench, "g", "h4");
    valet_parent(&bench, "h4", "h3");
    assert_claimed("h4", true, true);
    put("c2 x h4:VCPU=1");
    assert_int_equal(valet_release(&bench, "c2"), 0);
    valet_parent(&bench, "h4", NULL);
    assert_claimed("h4", true, true);
    assert_int_equal(valet_put(&bench, "c2 x h4:VCPU=1"), 409);
    assert_int_equal(valet_release(&bench, "c1"), 0);
    assert_claimed("h4", false, false);
}

static void it_ends_there_when_it_is_empty(void **state)
{
    (void)state;
    put("c1 f h4:VCPU=1");
    put("c2 f h3:VCPU=1");
    valet_claim_host(&bench, "g", "h4");
    valet_parent(&bench, "h4", "h3");
    assert_int_equal(valet_release(&bench, "c1"), 0); /* c2 is elsewhere in the tree */
    assert_claimed("h4", false, false);
}

/* What is below it is its own. */
static void a_claim_below_another_host_lasts_as_long_as_what_is_below(void **state)
{
    (void)state;
    valet_provider(&bench, "n4", "h4");
    valet_host(&bench, "n4");
    put("c1 f n4:VCPU=1");
    valet_claim_host(&bench, "g", "h4");
    valet_parent(&bench, "h4", "h3");
    assert_claimed("h4", true, true);
    valet_parent(&bench, "n4", "h3");
    assert_claimed("h4", false, false);
}

static void an_empty_tree_is_left_behind(void **state)
{
    (void)state;
    valet_provider(&bench, "n4", "h4");
    valet_host(&bench, "n4");
    put("c1 f n4:VCPU=1");
    valet_claim_host(&bench, "g", "h4");
    valet_parent(&bench, "n4", NULL);
    assert_claimed("h4", false, false);
}

static void a_host_that_shares_keeps_its_claim_for_when_it_is_one_again(void **state)
{
    (void)state;
    put("c1 f h4:VCPU=1");
    valet_claim_host(&bench, "g", "h4");
    valet_traits(&bench, "h4", "MISC_SHARES_VIA_AGGREGATE");
    assert_claimed("h4", true, true);
    put("c2 x h4:VCPU=1");
    assert_int_equal(valet_release(&bench, "c2"), 0);
    valet_traits(&bench, "h4", "");
    assert_claimed("h4", true, true);
    assert_int_equal(valet_put(&bench, "c2 x h4:VCPU=1"), 409);
    valet_traits(&bench, "h4", "MISC_SHARES_VIA_AGGREGATE");
    assert_int_equal(valet_release(&bench, "c1"), 0);
    assert_claimed("h4", false, false);
}

static void a_racks_host_gets_a_parent_and_comes_back(void **state)
{
    (void)state;
    claim_r1();
    put("c2 f h2:VCPU=1");
    valet_parent(&bench, "h1", "h4");
    assert_claimed("h1", true, true);
    assert_true(valet_has_claim(&bench, "g", "r1"));
    assert_claimed("h2", true, true);
    valet_parent(&bench, "h1", NULL);
    assert_int_equal(valet_release(&bench, "c1"), 0);
    assert_claimed("h1", true, true); /* with its rack */
    assert_int_equal(valet_release(&bench, "c2"), 0);
    assert_claimed("h1", false, false);
    assert_claimed("h2", false, false);
    assert_false(valet_has_claim(&bench, "g", "r1"));
}

static void the_only_used_host_of_a_rack_gets_a_parent(void **state)
{
    (void)state;
    claim_r1();
    valet_parent(&bench, "h1", "h4");
    assert_false(valet_has_claim(&bench, "g", "r1"));
    assert_claimed("h2", false, false);
    assert_claimed("h1", true, true);
    assert_int_equal(valet_release(&bench, "c1"), 0);
    assert_claimed("h1", false, false);
}

static void a_host_in_two_racks_is_one_of_both(void **state)
{
    (void)state;
    valet_aggregates(&bench, "h2", "one two");
    claim_r1();
    assert_claimed("h3", false, false);
    put("c2 f h2:VCPU=1");
    assert_int_equal(valet_release(&bench, "c1"), 0);
    assert_claimed("h1", true, true); /* c2 is in the rack */
    valet_claim_rack(&bench, "g", "r2");
    assert_int_equal(valet_release(&bench, "c2"), 0);
    for (const char *name = "h1h2h3"; *name != '\0'; name += 2)
        assert_claimed(arena_printf(bench.arena, "%.2s", name).data, false, false);
}

/* The plan that claims it found a host of the group there. */
static void a_claim_of_a_rack_takes_in_the_claims_of_its_hosts(void **state)
{
    (void)state;
    put("c1 f h1:VCPU=1");
    put("c2 f h2:VCPU=1");
    valet_claim_host(&bench, "g", "h1");
    valet_claim_rack(&bench, "g", "r1");
    assert_int_equal(valet_release(&bench, "c1"), 0);
    assert_claimed("h1", true, true);
    assert_int_equal(valet_release(&bench, "c2"), 0);
    assert_claimed("h1", false, false);
}

/* As if another program had written the rows. */
static void two_groups_claim_one_rack(void **state)
{
    (void)state;
    valet_group(&bench, "k");
    valet_member(&bench, "k", "f");
    claim_r1();
    valet_claim_rack(&bench, "k", "r1");
    valet_aggregates(&bench, "h2", "one g");
    assert_claimed("h1", true, true);
    assert_claimed("h2", true, true);
    assert_true(valet_has_claim(&bench, "g", "r1"));
    for (const char *name = "h1h2r1"; *name != '\0'; name += 2)
        assert_false(valet_has_claim(&bench, "k", arena_printf(bench.arena, "%.2s", name).data));
    assert_false(valet_is_in(&bench, "h1", "k"));
    valet_claim_rack(&bench, "k", "r1");
    assert_true(valet_is_in(&bench, "h1", "k"));
    assert_int_equal(valet_release(&bench, "c1"), 0);
    for (const char *name = "h1h2"; *name != '\0'; name += 2)
        assert_false(valet_is_in(&bench, arena_printf(bench.arena, "%.2s", name).data, "k"));
    assert_int_equal(valet_version(&bench)->valet[VALET_CLAIMS].rows.count, 0);
}

/* One iteration changes a host's aggregates once: the second rack ends in the next one. */
static void racks_of_two_groups_share_a_host(void **state)
{
    (void)state;
    valet_group(&bench, "k");
    valet_member(&bench, "k", "f");
    valet_aggregates(&bench, "h2", "one two");
    put("c1 f h2:VCPU=1");
    valet_claim_rack(&bench, "g", "r1");
    valet_claim_rack(&bench, "k", "r2");
    assert_true(valet_is_in(&bench, "h2", "g") && valet_is_in(&bench, "h2", "k"));
    assert_int_equal(valet_release(&bench, "c1"), 0);
    for (const char *name = "h1h2h3"; *name != '\0'; name += 2) {
        const char *host = arena_printf(bench.arena, "%.2s", name).data;
        assert_false(valet_is_in(&bench, host, "g") || valet_is_in(&bench, host, "k"));
    }
    assert_int_equal(valet_version(&bench)->valet[VALET_CLAIMS].rows.count, 0);
    put("c2 x h2:VCPU=1");
}

/* Damage: every row exists twice. */
static void claims_with_two_rows_end_at_once(void **state)
{
    (void)state;
    claim_r1();
    valet_shell(&bench, "INSERT INTO berth_valet_claims (group_id, provider_uuid, is_rack, "
                        "rack_uuid) SELECT group_id, provider_uuid, is_rack, rack_uuid FROM "
                        "berth_valet_claims");
    valet_open_again(&bench);
    assert_int_equal(valet_version(&bench)->valet[VALET_CLAIMS].rows.count, 6);
    assert_int_equal(valet_release(&bench, "c1"), 0);
    assert_claimed("h1", false, false);
    assert_claimed("h2", false, false);
    assert_int_equal(valet_version(&bench)->valet[VALET_CLAIMS].rows.count, 0);
}

/* It still represents a rack. */
static void a_claimed_rack_that_also_shares_stays_claimed(void **state)
{
    (void)state;
    claim_r1();
    valet_traits(&bench, "r1", "CUSTOM_VALET_RACK MISC_SHARES_VIA_AGGREGATE");
    assert_true(valet_has_claim(&bench, "g", "r1"));
    assert_claimed("h1", true, true);
    assert_claimed("h2", true, true);
    assert_int_equal(valet_release(&bench, "c1"), 0);
    assert_int_equal(valet_version(&bench)->valet[VALET_CLAIMS].rows.count, 0);
}

/* Creates h5 with an aggregate or a trait, in one request. */
static bool create_with(enum change_kind kind, int64_t other, const struct plan *plan,
                        struct err *err)
{
    struct planned_provider made;
    if (!plan_provider_create(valet_uuid(&bench, "h5"), SLICE_LIT("h5"), (struct slice){0}, plan,
                              &made, err))
        return false;
    const struct change *row = &plan->changes->items[plan->changes->count - 1];
    while (row->kind != CHANGE_PROVIDER_INSERT)
        row--;
    int64_t id = row->provider.id;
    change_append(plan->changes, kind)->link = (struct change_link){id, other};
    return true;
}

static bool create_in_one(void *cls, const struct plan *plan, struct err *err)
{
    (void)cls;
    const struct catalog_row *one =
        catalog_find(&plan->version->aggregates, valet_uuid(&bench, "one"));
    return create_with(CHANGE_PROVIDER_AGGREGATE_INSERT, one->id, plan, err);
}

static bool create_sharing(void *cls, const struct plan *plan, struct err *err)
{
    (void)cls;
    const struct catalog_row *shares =
        catalog_find(&plan->version->traits, SLICE_LIT("MISC_SHARES_VIA_AGGREGATE"));
    return create_with(CHANGE_PROVIDER_TRAIT_INSERT, shares->id, plan, err);
}

static void a_host_that_is_created_in_a_claimed_rack_is_claimed(void **state)
{
    (void)state;
    claim_r1();
    assert_int_equal(valet_write(&bench, create_in_one, NULL), 0);
    assert_claimed("h5", true, true);
    assert_int_equal(valet_release(&bench, "c1"), 0);
    assert_claimed("h5", false, false);
}

static void a_provider_that_is_created_sharing_changes_no_claim(void **state)
{
    (void)state;
    claim_r1();
    assert_int_equal(valet_write(&bench, create_sharing, NULL), 0);
    valet_aggregates(&bench, "h5", "one");
    assert_claimed("h5", false, false); /* it is not a host */
    assert_claimed("h1", true, true);
    valet_traits(&bench, "h5", "");
    assert_claimed("h5", true, true);
}

/* Its claim is one through the rack from then on, and ends with the rack's. */
static void a_host_that_was_claimed_alone_ends_with_its_rack(void **state)
{
    (void)state;
    put("c1 f h1:VCPU=1");
    valet_claim_host(&bench, "g", "h1");
    valet_claim_rack(&bench, "g", "r1");
    valet_aggregates(&bench, "h2", "one");
    assert_claimed("h1", false, false);
    assert_claimed("h2", false, false);
    assert_false(valet_has_claim(&bench, "g", "r1"));
}

static bool make_zone_trait(void *cls, const struct plan *plan, struct err *err)
{
    (void)cls;
    struct planned_trait trait;
    return plan_trait_put(SLICE_LIT("CUSTOM_VALET_ZONE"), plan, &trait, err);
}

static void a_host_that_becomes_a_zone_keeps_its_claim_for_when_it_is_one_again(void **state)
{
    (void)state;
    assert_int_equal(valet_write(&bench, make_zone_trait, NULL), 0);
    claim_r1();
    put("c2 f h2:VCPU=1");
    valet_traits(&bench, "h1", "CUSTOM_VALET_ZONE");
    assert_claimed("h1", true, true);
    put("c3 x h1:VCPU=1"); /* it is not a host */
    assert_int_equal(valet_release(&bench, "c3"), 0);
    assert_int_equal(valet_release(&bench, "c2"), 0); /* the last of the rack */
    assert_false(valet_has_claim(&bench, "g", "r1"));
    assert_claimed("h2", false, false);
    assert_claimed("h1", true, true);
    valet_traits(&bench, "h1", "");
    assert_int_equal(valet_put(&bench, "c3 x h1:VCPU=1"), 409);
    assert_int_equal(valet_release(&bench, "c1"), 0);
    assert_claimed("h1", false, false);
}

static void a_rack_with_inventory_is_none(void **state)
{
    (void)state;
    claim_r1();
    valet_host(&bench, "r1");
    assert_false(valet_has_claim(&bench, "g", "r1"));
    assert_claimed("h1", true, true); /* c1 is there */
    assert_claimed("h2", false, false);
    assert_int_equal(valet_release(&bench, "c1"), 0);
    assert_claimed("h1", false, false);
}

/* In one request, a host joins the rack and another one is emptied. */
static bool join_and_release(void *cls, const struct plan *plan, struct err *err)
{
    (void)cls;
    (void)err;
    const struct catalog_row *one =
        catalog_find(&plan->version->aggregates, valet_uuid(&bench, "one"));
    change_append(plan->changes, CHANGE_PROVIDER_AGGREGATE_INSERT)->link =
        (struct change_link){valet_find(&bench, "h3")->id, one->id};
    allocations_drop(plan, version_consumer(plan->version, valet_uuid(&bench, "c2")));
    return true;
}

static void a_host_joins_while_another_is_emptied(void **state)
{
    (void)state;
    valet_aggregates(&bench, "h4", "one");
    claim_r1();
    put("c2 f h4:VCPU=1");
    assert_int_equal(valet_write(&bench, join_and_release, NULL), 0);
    assert_claimed("h3", true, true);
    assert_claimed("h4", true, true);
}

static void the_only_used_host_of_a_rack_becomes(const char *trait)
{
    claim_r1();
    valet_traits(&bench, "h1", trait);
    assert_false(valet_has_claim(&bench, "g", "r1"));
    assert_claimed("h2", false, false);
    assert_claimed("h1", true, true);
    assert_int_equal(valet_release(&bench, "c1"), 0);
    assert_claimed("h1", false, false);
}

static void the_only_used_host_of_a_rack_becomes_a_zone(void **state)
{
    (void)state;
    assert_int_equal(valet_write(&bench, make_zone_trait, NULL), 0);
    the_only_used_host_of_a_rack_becomes("CUSTOM_VALET_ZONE");
}

static void the_only_used_host_of_a_rack_shares(void **state)
{
    (void)state;
    the_only_used_host_of_a_rack_becomes("MISC_SHARES_VIA_AGGREGATE");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_automatic_claim_ends_with_the_last_allocation, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(it_ends_too_when_the_last_one_moves, set_up, tear_down),
        cmocka_unit_test_setup_teardown(it_ends_with_the_hold, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_operators_claim_stays, set_up, tear_down),
        cmocka_unit_test_setup_teardown(taking_the_aggregate_away_ends_it, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_rack_ends_with_its_last_allocation, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_operators_host_in_a_claimed_rack, set_up, tear_down),
        cmocka_unit_test_setup_teardown(taking_it_from_one_host_ends_the_racks, set_up, tear_down),
        cmocka_unit_test_setup_teardown(taking_it_from_an_operators_host_too, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_host_that_joins_is_claimed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_host_that_leaves_keeps_its_claim_while_it_is_used, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(the_only_used_host_leaves, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_host_moves_to_another_claimed_rack, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_racks_aggregates_change, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_empty_host_that_leaves_is_free, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_rack_that_is_none_any_more, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_rack_that_is_deleted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_host_that_is_deleted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(another_groups_claim_stays, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            a_host_that_gets_a_parent_keeps_its_claim_for_when_it_is_one_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(it_ends_there_when_it_is_empty, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_claim_below_another_host_lasts_as_long_as_what_is_below,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_empty_tree_is_left_behind, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_host_that_shares_keeps_its_claim_for_when_it_is_one_again,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_racks_host_gets_a_parent_and_comes_back, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(the_only_used_host_of_a_rack_gets_a_parent, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_host_in_two_racks_is_one_of_both, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_claim_of_a_rack_takes_in_the_claims_of_its_hosts, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(two_groups_claim_one_rack, set_up, tear_down),
        cmocka_unit_test_setup_teardown(racks_of_two_groups_share_a_host, set_up, tear_down),
        cmocka_unit_test_setup_teardown(claims_with_two_rows_end_at_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_claimed_rack_that_also_shares_stays_claimed, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_host_that_is_created_in_a_claimed_rack_is_claimed, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_provider_that_is_created_sharing_changes_no_claim, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_host_that_was_claimed_alone_ends_with_its_rack, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(
            a_host_that_becomes_a_zone_keeps_its_claim_for_when_it_is_one_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_rack_with_inventory_is_none, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_host_joins_while_another_is_emptied, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_only_used_host_of_a_rack_becomes_a_zone, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(the_only_used_host_of_a_rack_shares, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
