/* Holds and their servers: what a write removes, what it may not change, and where placements are
 * (Valet spec, 8.2). */
#include "engine/allocations.h"
#include "placement/write/plan_providers.h"
#include "unit.h"
#include "valet/write/valet_bench.h"

static struct valet_bench bench;

static const char refused[] =
    "Consumer aaaaaaaa-0000-4000-8000-706c31000000 is kept for a placement of Valet.";

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

static int put(const char *claim)
{
    return valet_put(&bench, claim);
}

static int put_typed(const char *claim, const char *type)
{
    return valet_put_typed(&bench, claim, type);
}

/* The host has not enough capacity for the server beside its hold. */
static void a_first_claim_takes_the_place_of_the_hold(void **state)
{
    (void)state;
    valet_place(&bench, "pl1", "s1", "h1", HOST_VCPU);
    assert_int_equal(put("s1 p h1:VCPU=8"), 0);
    assert_int_equal(valet_holds(&bench, "pl1", "h1"), 0);
    assert_int_equal(valet_holds(&bench, "s1", "h1"), HOST_VCPU);
    valet_assert_location(&bench, "pl1", "h1");
    assert_int_equal(valet_release(&bench, "s1"), 0);
    assert_int_equal(valet_holds(&bench, "pl1", "h1"), 0); /* it is not created again */
    valet_assert_location(&bench, "pl1", "h1");
}

static void a_first_claim_elsewhere_does_too(void **state)
{
    (void)state;
    valet_place(&bench, "pl1", "s1", "h1", 4);
    assert_int_equal(put("s1 p h2:VCPU=2"), 0);
    assert_int_equal(valet_holds(&bench, "pl1", "h1"), 0);
    valet_assert_location(&bench, "pl1", "h2");
    assert_int_equal(valet_release(&bench, "s1"), 0);
    valet_assert_location(&bench, "pl1", "h2");
}

static void a_claim_of_another_leaves_it(void **state)
{
    (void)state;
    valet_place(&bench, "pl1", "s1", "h1", HOST_VCPU);
    assert_int_equal(put("s2 p h1:VCPU=1"), 409);
    assert_int_equal(put("s2 p h2:VCPU=1"), 0);
    assert_int_equal(valet_holds(&bench, "pl1", "h1"), HOST_VCPU);
}

static void a_refused_claim_leaves_it(void **state)
{
    (void)state;
    valet_place(&bench, "pl1", "s1", "h1", 4);
    assert_int_equal(put("s1 p h1:VCPU=9"), 409);
    assert_int_equal(put("s1 p nohost:VCPU=1"), 400);
    assert_int_equal(valet_holds(&bench, "pl1", "h1"), 4);
}

static void an_empty_claim_leaves_it(void **state)
{
    (void)state;
    valet_place(&bench, "pl1", "s1", "h1", 4);
    assert_int_equal(put("s1 p -"), 0);
    assert_int_equal(valet_holds(&bench, "pl1", "h1"), 4);
}

/* A replan has moved the hold: rewriting and shrinking the server change nothing, a new host does.
 */
static void a_rewrite_leaves_the_hold_elsewhere(void **state)
{
    (void)state;
    valet_place(&bench, "pl1", "s1", NULL, 0);
    assert_int_equal(put("s1 p h1:VCPU=4"), 0);
    valet_place(&bench, "pl1", "s1", "h2", 4);
    assert_int_equal(put("s1 p h1:VCPU=4"), 0);
    assert_int_equal(put("s1 p h1:VCPU=2"), 0);
    assert_int_equal(valet_holds(&bench, "pl1", "h2"), 4);
    valet_assert_location(&bench, "pl1", "h2");
    assert_int_equal(put("s1 p h1:VCPU=2,h2:VCPU=6"), 0);
    assert_int_equal(valet_holds(&bench, "pl1", "h2"), 0);
    assert_int_equal(valet_holds(&bench, "s1", "h2"), 6);
}

static void a_move_to_a_third_host_drops_it(void **state)
{
    (void)state;
    valet_place(&bench, "pl1", "s1", NULL, 0);
    assert_int_equal(put("s1 p h1:VCPU=4"), 0);
    valet_place(&bench, "pl1", "s1", "h2", 4);
    assert_int_equal(put("s1 p h3:VCPU=4"), 0);
    assert_int_equal(valet_holds(&bench, "pl1", "h2"), 0);
    valet_assert_location(&bench, "pl1", "h3");
}

static void the_bound_server_counts_before_the_planned_one(void **state)
{
    (void)state;
    valet_place(&bench, "pl1", "s1", "h1", 4);
    valet_bind(&bench, "pl1", "real");
    assert_int_equal(put("real p h2:VCPU=4"), 0);
    assert_int_equal(put("s1 p h3:VCPU=1"), 0);
    assert_int_equal(valet_holds(&bench, "pl1", "h1"), 0);
    valet_assert_location(&bench, "pl1", "h2");
    assert_int_equal(valet_release(&bench, "real"), 0);
    valet_assert_location(&bench, "pl1", "h3");
    assert_int_equal(valet_release(&bench, "s1"), 0);
    valet_assert_location(&bench, "pl1", "h3");
}

/* The plan's project is p. */
static void another_projects_server_is_none(void **state)
{
    (void)state;
    valet_place(&bench, "pl1", "s1", "h1", 4);
    assert_int_equal(put("s1 q h1:VCPU=1"), 0);
    assert_int_equal(valet_holds(&bench, "pl1", "h1"), 4);
    assert_int_equal(put("s1 q h2:VCPU=1"), 0);
    assert_int_equal(valet_holds(&bench, "pl1", "h1"), 4);
    valet_bind(&bench, "pl1", "s1");
    valet_assert_location(&bench, "pl1", "h1");
    assert_int_equal(put_typed("pl1 p -", VALET_HOLD_TYPE), 0);
    assert_int_equal(put("s1 q h3:VCPU=1"), 0);
    valet_assert_location(&bench, "pl1", "h1");
}

/* From the moment at which it belongs to the project; before and after, it belongs to none. */
static void a_server_of_another_project_then(void **state)
{
    (void)state;
    valet_place(&bench, "pl1", "s1", "h1", 4);
    assert_int_equal(put("s1 q h2:VCPU=1"), 0);
    assert_int_equal(put("s1 p h2:VCPU=1"), 0);
    assert_int_equal(valet_holds(&bench, "pl1", "h1"), 0);
    valet_assert_location(&bench, "pl1", "h2");
    assert_int_equal(put("s1 q h3:VCPU=1"), 0);
    valet_assert_location(&bench, "pl1", "h2");
    assert_int_equal(put("s1 p h3:VCPU=1"), 0);
    valet_assert_location(&bench, "pl1", "h3");
}

/* One that names another placement's hold, as a file written by an older berth may. */
static void a_hold_is_no_server(void **state)
{
    (void)state;
    valet_place(&bench, "pl1", "s1", "h1", 4);
    valet_place(&bench, "pl2", "s2", "h1", 4);
    valet_bind(&bench, "pl1", "pl2");
    assert_int_equal(valet_holds(&bench, "pl1", "h1"), 4);
    assert_int_equal(put_typed("pl1 p -", VALET_HOLD_TYPE), 0);
    valet_place(&bench, "pl2", "s2", "h2", 4);
    valet_assert_location(&bench, "pl1", "h1");
}

/* 7.3: a server that is recorded late may hold something already. */
static void recording_a_server_that_is_there(void **state)
{
    (void)state;
    valet_place(&bench, "pl1", "s1", "h1", 4);
    assert_int_equal(put("real p h1:VCPU=4"), 0);
    valet_bind(&bench, "pl1", "real");
    assert_int_equal(valet_holds(&bench, "pl1", "h1"), 0);
    valet_place(&bench, "pl2", "s2", "h1", 4);
    assert_int_equal(put("other p h2:VCPU=4"), 0);
    valet_bind(&bench, "pl2", "other");
    assert_int_equal(valet_holds(&bench, "pl2", "h1"), 4);
    valet_assert_location(&bench, "pl2", "h1");
}

static void several_in_one_request(void **state)
{
    (void)state;
    valet_place(&bench, "pl1", "s1", "h1", 4);
    valet_place(&bench, "pl2", "s2", "h1", 4);
    valet_place(&bench, "pl3", "s3", "h2", 8);
    const char *const claims[] = {"s1 p h1:VCPU=4", "s2 p h1:VCPU=4", "s3 p h2:VCPU=8"};
    assert_int_equal(valet_post(&bench, claims, 3), 0);
    assert_int_equal(valet_holds(&bench, "pl1", "h1") + valet_holds(&bench, "pl2", "h1") +
                         valet_holds(&bench, "pl3", "h2"),
                     0);
    /* two servers of one placement, and its hold by name */
    valet_place(&bench, "pl4", "s4", "h3", 8);
    valet_bind(&bench, "pl4", "real");
    const char *const both[] = {"s4 p h3:VCPU=4", "real p h3:VCPU=4", "pl4 p -"};
    assert_int_equal(valet_post(&bench, both, 3), 0);
    assert_int_equal(valet_holds(&bench, "pl4", "h3"), 0);
}

static void the_reshaper_drops_it_too(void **state)
{
    (void)state;
    valet_place(&bench, "pl1", "s1", "h1", HOST_VCPU);
    const char *const claim = "s1 p h1:VCPU=8";
    assert_int_equal(valet_reshape(&bench, &claim, 1, NULL), 0);
    assert_int_equal(valet_holds(&bench, "pl1", "h1"), 0);
    assert_int_equal(valet_holds(&bench, "s1", "h1"), HOST_VCPU);
    /* also if a claim of its own keeps it, for which there is not enough capacity */
    valet_place(&bench, "pl2", "s2", "h2", HOST_VCPU);
    const char *const both[] = {"s2 p h2:VCPU=8", "pl2 p h2:VCPU=8"};
    assert_int_equal(valet_reshape(&bench, both, 2, NULL), 0);
    assert_int_equal(valet_holds(&bench, "pl2", "h2"), 0);
    assert_int_equal(valet_holds(&bench, "s2", "h2"), HOST_VCPU);
}

static void holds_are_written_by_nobody_else(void **state)
{
    (void)state;
    valet_place(&bench, "pl1", "s1", "h1", 4);
    assert_int_equal(put("pl1 p h1:VCPU=4"), 409);
    valet_assert_refused(&bench, refused);
    const char *const both[] = {"s2 p h2:VCPU=1", "pl1 p h2:VCPU=1"};
    assert_int_equal(valet_post(&bench, both, 2), 409);
    assert_int_equal(valet_holds(&bench, "s2", "h2"), 0);
    assert_int_equal(valet_put_typed(&bench, "new p h1:VCPU=1", VALET_HOLD_TYPE), 409);
    assert_int_equal(valet_put_typed(&bench, "new p h1:VCPU=1", "INSTANCE"), 0);
    assert_int_equal(valet_put_typed(&bench, "new p h1:VCPU=1", VALET_HOLD_TYPE), 409);
    assert_int_equal(valet_put_typed(&bench, "new p -", VALET_HOLD_TYPE), 409);
    assert_int_equal(valet_holds(&bench, "pl1", "h1"), 4);
    assert_int_equal(put("pl1 p -"), 0);
    assert_int_equal(valet_holds(&bench, "pl1", "h1"), 0);
    assert_int_equal(put("pl1 p h1:VCPU=4"), 409); /* the uuid is the placement's nevertheless */
    valet_assert_location(&bench, "pl1", "h1");
}

static void holds_are_deleted_by_anybody(void **state)
{
    (void)state;
    valet_place(&bench, "pl1", "s1", "h2", 4);
    assert_int_equal(valet_release(&bench, "pl1"), 0);
    assert_int_equal(valet_holds(&bench, "pl1", "h2"), 0);
    valet_assert_location(&bench, "pl1", "h2");
    const char *const claim = "pl2 p -";
    valet_place(&bench, "pl2", "s2", "h2", 4);
    assert_int_equal(valet_post(&bench, &claim, 1), 0);
    assert_int_equal(valet_holds(&bench, "pl2", "h2"), 0);
}

static int reshape(const char *claim, const char *type)
{
    return valet_reshape(&bench, &claim, 1, type);
}

static void the_reshaper_moves_holds_within_their_tree(void **state)
{
    (void)state;
    valet_provider(&bench, "n1", "h1");
    valet_host(&bench, "n1");
    valet_place(&bench, "pl1", "s1", "h1", 4);
    assert_int_equal(reshape("pl1 p n1:VCPU=4", NULL), 0);
    assert_int_equal(valet_holds(&bench, "pl1", "n1"), 4);
    valet_assert_location(&bench, "pl1", "h1");
    assert_int_equal(reshape("pl1 p n1:VCPU=3,h1:VCPU=1", VALET_HOLD_TYPE), 0);
    assert_int_equal(reshape("pl1 p n1:VCPU=3", NULL), 409);
    assert_int_equal(reshape("pl1 p n1:VCPU=4,h1:VCPU=1", NULL), 409);
    assert_int_equal(reshape("pl1 p h2:VCPU=4", NULL), 409);
    assert_int_equal(reshape("pl1 p n1:VCPU=3,h1:MEMORY_MB=1", NULL), 409);
    assert_int_equal(reshape("pl1 q n1:VCPU=3,h1:VCPU=1", NULL), 409);
    assert_int_equal(reshape("pl1 p n1:VCPU=3,h1:VCPU=1", "INSTANCE"), 409);
    assert_int_equal(reshape("pl1 p -", NULL), 409);
    assert_int_equal(valet_holds(&bench, "pl1", "n1"), 3);
}

static void locations_follow_names_and_trees(void **state)
{
    (void)state;
    valet_provider(&bench, "n1", "h1");
    valet_host(&bench, "n1");
    valet_place(&bench, "pl1", "s1", NULL, 0);
    valet_assert_location(&bench, "pl1", "nowhere");
    assert_int_equal(put("s1 p h2:MEMORY_MB=1,n1:VCPU=1"), 0);
    valet_assert_location(&bench, "pl1", "h1"); /* the VCPU decides */
    assert_int_equal(put("s1 p h3:MEMORY_MB=1,h2:MEMORY_MB=1"), 0);
    valet_assert_location(&bench, "pl1", "h2"); /* the first by name */
}

/* Shared storage is not a host that it could have moved to. */
static void a_server_that_takes_shared_storage_leaves_the_hold_elsewhere(void **state)
{
    (void)state;
    valet_host(&bench, "sh");
    valet_traits(&bench, "sh", "MISC_SHARES_VIA_AGGREGATE");
    valet_place(&bench, "pl1", "s1", NULL, 0);
    assert_int_equal(put("s1 p h1:VCPU=1"), 0);
    valet_place(&bench, "pl1", "s1", "h2", 4);
    assert_int_equal(put("s1 p h1:VCPU=1,sh:VCPU=1"), 0);
    assert_int_equal(valet_holds(&bench, "pl1", "h2"), 4);
}

static void trees_that_become_one(void **state)
{
    (void)state;
    valet_place(&bench, "pl1", "s1", NULL, 0);
    assert_int_equal(put("s1 p h1:VCPU=1"), 0);
    valet_place(&bench, "pl1", "s1", "h2", 4);
    valet_place(&bench, "pl2", "s2", "h2", 2);
    valet_parent(&bench, "h2", "h1");
    assert_int_equal(valet_holds(&bench, "pl1", "h2"), 0); /* its server is on that host */
    assert_int_equal(valet_holds(&bench, "pl2", "h2"), 2);
    valet_assert_location(&bench, "pl1", "h1");
    valet_assert_location(&bench, "pl2", "h1");
}

static void a_claim_of_a_provider_that_is_gone_leaves_the_hold(void **state)
{
    (void)state;
    valet_place(&bench, "pl1", "s1", NULL, 0);
    assert_int_equal(put("s1 p h1:VCPU=4"), 0);
    valet_place(&bench, "pl1", "s1", "h2", 4);
    assert_int_equal(put("s1 p gone:VCPU=4,h3:VCPU=4"), 400);
    assert_int_equal(valet_holds(&bench, "pl1", "h2"), 4);
    assert_int_equal(valet_holds(&bench, "s1", "h1"), 4);
}

static void the_reshaper_takes_no_hold_out_of_the_known(void **state)
{
    (void)state;
    valet_place(&bench, "pl1", "s1", "h1", 4);
    assert_int_equal(reshape("pl1 p gone:VCPU=4", NULL), 409);
    valet_assert_refused(&bench, refused);
    assert_int_equal(reshape("pl1 p h1:CUSTOM_GONE=4", NULL), 409);
    valet_assert_refused(&bench, refused);
    assert_int_equal(reshape("pl1 p h1:VCPU=4294967300", NULL), 409);
    valet_assert_refused(&bench, refused);
    assert_int_equal(valet_holds(&bench, "pl1", "h1"), 4);
}

/* A planner that knows no rule. */
static bool move_to_new_root(void *cls, const struct plan *plan, struct err *err)
{
    (void)cls;
    const struct consumer *hold = version_consumer(plan->version, valet_uuid(&bench, "pl1"));
    struct planned_provider made;
    if (!plan_provider_create(valet_uuid(&bench, "new"), SLICE_LIT("new"), (struct slice){0}, plan,
                              &made, err))
        return false;
    const struct change *row = &plan->changes->items[plan->changes->count - 1];
    while (row->kind != CHANGE_PROVIDER_INSERT)
        row--;
    int64_t id = row->provider.id;
    change_append(plan->changes, CHANGE_INVENTORY_INSERT)->inventory =
        (struct change_inventory){id, 0, HOST_VCPU, 0, 1, HOST_VCPU, 1, 1.0};
    allocations_release(plan, hold);
    allocations_consume(plan, hold->id, consumer_uuid(hold), id, 0, 4);
    return true;
}

static void no_planner_moves_a_hold_to_a_new_tree(void **state)
{
    (void)state;
    valet_place(&bench, "pl1", "s1", "h1", 4);
    assert_int_equal(valet_write(&bench, move_to_new_root, NULL), 409);
    valet_assert_refused(&bench, refused);
    assert_null(valet_find(&bench, "new"));
    assert_int_equal(valet_holds(&bench, "pl1", "h1"), 4);
}

/* The first placement that there is. */
static void a_hold_for_a_server_that_is_there_goes_at_once(void **state)
{
    (void)state;
    assert_int_equal(put("s1 p h1:VCPU=4"), 0);
    valet_place(&bench, "pl1", "s1", "h1", 4);
    assert_int_equal(valet_holds(&bench, "pl1", "h1"), 0);
    assert_int_equal(valet_holds(&bench, "s1", "h1"), 4);
}

/* A planner that knows no rule: it gives the consumer VCPU of a host, or another project. */
struct giving {
    const char *consumer;
    const char *project;
    const char *host; /* NULL: nothing */
    const char *type; /* NULL: none */
    bool releases;    /* what it had */
};

static bool give(void *cls, const struct plan *plan, struct err *err)
{
    (void)err;
    const struct giving *giving = cls;
    struct slice uuid = valet_uuid(&bench, giving->consumer);
    const struct consumer *before = version_consumer(plan->version, uuid);
    struct consumer_owner owner = {
        .project_id = plan_name_id(plan, CHANGE_PROJECT_INSERT, slice_of(giving->project)),
        .user_id = plan_name_id(plan, CHANGE_USER_INSERT, SLICE_LIT("user")),
    };
    if (giving->type != NULL)
        owner.type_id = plan_name_id(plan, CHANGE_CONSUMER_TYPE_INSERT, slice_of(giving->type));
    int64_t id = allocations_put_consumer(plan, before, uuid, &owner);
    if (giving->releases)
        allocations_release(plan, before);
    if (giving->host != NULL)
        allocations_consume(plan, id, uuid, valet_find(&bench, giving->host)->id, 0, 1);
    return true;
}

/* Then the consequence does what the claim would have done, and what follows from it. */
static void a_server_that_a_planner_creates_drops_the_hold(void **state)
{
    (void)state;
    struct giving cases[] = {{"s1", "p", "h2", NULL, false}, {"real", "p", "h2", NULL, false}};
    valet_group(&bench, "g");
    valet_member(&bench, "g", "p");
    for (size_t i = 0; i < 2; i++) {
        valet_place(&bench, "pl1", "s1", "h1", 4);
        valet_bind(&bench, "pl1", "real");
        valet_claim_host(&bench, "g", "h1");
        assert_int_equal(valet_write(&bench, give, &cases[i]), 0);
        assert_int_equal(valet_holds(&bench, "pl1", "h1"), 0);
        valet_assert_location(&bench, "pl1", "h2");
        assert_false(valet_is_in(&bench, "h1", "g") || valet_has_claim(&bench, "g", "h1"));
        assert_int_equal(valet_release(&bench, cases[i].consumer), 0);
    }
}

static void a_consumer_that_a_planner_gives_the_plans_project_drops_the_hold(void **state)
{
    (void)state;
    struct giving giving = {"s1", "p", NULL, NULL, false};
    assert_int_equal(put("s1 q h2:VCPU=1"), 0);
    valet_place(&bench, "pl1", "s1", "h1", 4);
    assert_int_equal(valet_holds(&bench, "pl1", "h1"), 4);
    assert_int_equal(valet_write(&bench, give, &giving), 0);
    assert_int_equal(valet_holds(&bench, "pl1", "h1"), 0);
    valet_assert_location(&bench, "pl1", "h2");
}

/* Also the first hold that there would be, and for a consumer that is no hold and has nothing. */
static void no_planner_makes_a_hold(void **state)
{
    (void)state;
    struct giving giving = {"new", "p", "h1", VALET_HOLD_TYPE, false};
    assert_int_equal(valet_write(&bench, give, &giving), 409);
    assert_int_equal(put_typed("new p h1:VCPU=1", VALET_HOLD_TYPE), 409);
    giving.type = "INSTANCE";
    assert_int_equal(valet_write(&bench, give, &giving), 0);
    giving.type = VALET_HOLD_TYPE;
    giving.host = NULL;
    assert_int_equal(valet_write(&bench, give, &giving), 409);
    giving.releases = true;
    assert_int_equal(valet_write(&bench, give, &giving), 409);
    assert_int_equal(valet_holds(&bench, "new", "h1"), 1);
}

/* The plan's servers may be of any project from then on. */
static bool trust(void *cls, const struct plan *plan, struct err *err)
{
    (void)cls;
    (void)err;
    const struct record_shape *shape = &VALET_SHAPES[VALET_PLANS];
    const struct record *row = &version_next_valet_plan(plan->version, 0)->record;
    struct record_value values[VALET_PLAN_FIELD_COUNT];
    record_open(shape, row, values);
    values[VALET_PLAN_ANY_PROJECT].number = RECORD_TRUE;
    change_put_valet(plan->changes, VALET_PLANS, record_pack(shape, row->id, values, plan->arena));
    return true;
}

static void a_server_that_counts_from_now_on_drops_the_hold(void **state)
{
    (void)state;
    assert_int_equal(put("s1 q h1:VCPU=2"), 0);
    valet_place(&bench, "pl1", "s1", "h1", 4);
    assert_int_equal(valet_holds(&bench, "pl1", "h1"), 4);
    assert_int_equal(valet_write(&bench, trust, NULL), 0);
    assert_int_equal(valet_holds(&bench, "pl1", "h1"), 0);
    valet_assert_location(&bench, "pl1", "h1");
}

/* The host of the hold is none any more, but the server comes to it all the same, and needs the
 * room. */
static void a_server_that_comes_to_a_hold_on_shared_storage(void **state)
{
    (void)state;
    valet_place(&bench, "pl1", "s1", NULL, 0);
    assert_int_equal(put("s1 p h1:VCPU=1"), 0);
    valet_place(&bench, "pl1", "s1", "h2", 4);
    valet_traits(&bench, "h2", "MISC_SHARES_VIA_AGGREGATE");
    assert_int_equal(put("s1 p h1:VCPU=1,h2:VCPU=8"), 0);
    assert_int_equal(valet_holds(&bench, "pl1", "h2"), 0);
    assert_int_equal(valet_holds(&bench, "s1", "h2"), HOST_VCPU);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_first_claim_takes_the_place_of_the_hold, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_first_claim_elsewhere_does_too, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_claim_of_another_leaves_it, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_refused_claim_leaves_it, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_empty_claim_leaves_it, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_rewrite_leaves_the_hold_elsewhere, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_move_to_a_third_host_drops_it, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_bound_server_counts_before_the_planned_one, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(another_projects_server_is_none, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_server_of_another_project_then, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_hold_is_no_server, set_up, tear_down),
        cmocka_unit_test_setup_teardown(recording_a_server_that_is_there, set_up, tear_down),
        cmocka_unit_test_setup_teardown(several_in_one_request, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_reshaper_drops_it_too, set_up, tear_down),
        cmocka_unit_test_setup_teardown(holds_are_written_by_nobody_else, set_up, tear_down),
        cmocka_unit_test_setup_teardown(holds_are_deleted_by_anybody, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_reshaper_moves_holds_within_their_tree, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(locations_follow_names_and_trees, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            a_server_that_takes_shared_storage_leaves_the_hold_elsewhere, set_up, tear_down),
        cmocka_unit_test_setup_teardown(trees_that_become_one, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_claim_of_a_provider_that_is_gone_leaves_the_hold, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(the_reshaper_takes_no_hold_out_of_the_known, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(no_planner_moves_a_hold_to_a_new_tree, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_hold_for_a_server_that_is_there_goes_at_once, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_server_that_a_planner_creates_drops_the_hold, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(
            a_consumer_that_a_planner_gives_the_plans_project_drops_the_hold, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_planner_makes_a_hold, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_server_that_counts_from_now_on_drops_the_hold, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_server_that_comes_to_a_hold_on_shared_storage, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
