/* Commits of plans: what is written, what is refused because it is no more so, what a deletion
 * frees. Hosts are p1 to p4; of the racks p5 has p1 and p2, p6 nothing;
 * classes are A to D. */
#include "write/valet/plan_stacks.h"

#include "replica/hosts.h"
#include "replica/placement_location.h"
#include "unit.h"
#include "world.h"

enum { HOSTS = 4, RACK = 5, SECOND_RACK = 6, PROVIDERS = 6, ROWS_MAX = 4 };
enum { RACK_AGGREGATE = 1, SECOND_AGGREGATE };
enum { TRAIT_RACK = 1, TRAIT_DISABLED, TRAIT_OTHER, TRAIT_SHARES, TRAIT_ZONE };

#define GOLD "10000000-0000-4000-8000-000000000001"

/* A commit in the making. */
struct bid {
    struct world *world;
    struct stack_commit commit;
    struct stack_row rows[ROWS_MAX];
    struct stack_claim claims[2];
    struct slice groups[1];
};

static void add_link(struct world *world, enum change_kind kind, int64_t provider, int64_t other)
{
    struct plan plan = world_plan(world);
    change_append(plan.changes, kind)->link = (struct change_link){provider, other};
    world_conclude(world, true);
}

static void add_trait(struct world *world, int64_t id, const char *name)
{
    struct plan plan = world_plan(world);
    change_append(plan.changes, CHANGE_TRAIT_INSERT)->catalog =
        (struct change_catalog){id, slice_of(name)};
    world_conclude(world, true);
}

static void put_row(struct world *world, enum valet_table table, int64_t id,
                    const struct record_value *values)
{
    struct plan plan = world_plan(world);
    change_put_valet(plan.changes, table,
                     record_pack(&VALET_SHAPES[table], id, values, world->arena));
    world_conclude(world, true);
}

static void add_group(struct world *world)
{
    struct record_value values[VALET_GROUP_FIELD_COUNT];
    record_init(&VALET_SHAPES[VALET_GROUPS], values);
    values[VALET_GROUP_UUID].text = SLICE_LIT(GOLD);
    values[VALET_GROUP_NAME].text = SLICE_LIT("gold");
    put_row(world, VALET_GROUPS, 1, values);
    struct record_value member[VALET_MEMBER_FIELD_COUNT];
    record_init(&VALET_SHAPES[VALET_MEMBERS], member);
    member[VALET_MEMBER_GROUP_ID].number = 1;
    member[VALET_MEMBER_PROJECT].text = SLICE_LIT("tenant");
    put_row(world, VALET_MEMBERS, 1, member);
}

static void remove_row(struct world *world, enum valet_table table, int64_t id)
{
    struct plan plan = world_plan(world);
    change_delete_valet(plan.changes, table, id);
    world_conclude(world, true);
}

static int setup(void **state)
{
    static struct world world;
    world_open(&world, PROVIDERS);
    for (unsigned i = 1; i <= HOSTS; i++)
        world_put_inventory(
            &world, i, 'A',
            (struct inventory_figures){
                .total = 4, .min_unit = 1, .max_unit = 4, .step_size = 1, .allocation_ratio = 1.0});
    add_trait(&world, TRAIT_RACK, "CUSTOM_VALET_RACK");
    add_trait(&world, TRAIT_DISABLED, "COMPUTE_STATUS_DISABLED");
    add_trait(&world, TRAIT_OTHER, "CUSTOM_OTHER");
    add_trait(&world, TRAIT_SHARES, "MISC_SHARES_VIA_AGGREGATE");
    add_trait(&world, TRAIT_ZONE, "CUSTOM_VALET_ZONE");
    struct plan plan = world_plan(&world);
    change_append(plan.changes, CHANGE_AGGREGATE_INSERT)->catalog =
        (struct change_catalog){RACK_AGGREGATE, SLICE_LIT("rack aggregate")};
    change_append(plan.changes, CHANGE_AGGREGATE_INSERT)->catalog =
        (struct change_catalog){SECOND_AGGREGATE, SLICE_LIT("second aggregate")};
    world_conclude(&world, true);
    for (int64_t id = RACK; id <= SECOND_RACK; id++)
        add_link(&world, CHANGE_PROVIDER_TRAIT_INSERT, id, TRAIT_RACK);
    add_link(&world, CHANGE_PROVIDER_AGGREGATE_INSERT, SECOND_RACK, SECOND_AGGREGATE);
    for (int64_t id = 1; id <= 2; id++)
        add_link(&world, CHANGE_PROVIDER_AGGREGATE_INSERT, id, RACK_AGGREGATE);
    add_link(&world, CHANGE_PROVIDER_AGGREGATE_INSERT, RACK, RACK_AGGREGATE);
    add_group(&world);
    *state = &world;
    return 0;
}

static int teardown(void **state)
{
    world_close(*state);
    return 0;
}

static const struct valet_plan *plan_row(struct world *world, const char *name)
{
    struct record_value values[VALET_PLAN_FIELD_COUNT];
    record_init(&VALET_SHAPES[VALET_PLANS], values);
    values[VALET_PLAN_UUID].text = arena_printf(world->arena, "%036d", 7);
    values[VALET_PLAN_NAME].text = slice_of(name);
    values[VALET_PLAN_STACK_ID].text = arena_printf(world->arena, "stack of %s", name);
    values[VALET_PLAN_PROJECT].text = SLICE_LIT("tenant");
    values[VALET_PLAN_USER].text = SLICE_LIT("somebody");
    return (const struct valet_plan *)record_pack(&VALET_SHAPES[VALET_PLANS], 0, values,
                                                  world->arena);
}

/* Rows of the version end with their next change. */
static const void *copy(struct world *world, const struct record *record)
{
    return memcpy(arena_alloc(world->arena, record->bytes), record, record->bytes);
}

static void begin(struct bid *bid, struct world *world, const char *name)
{
    *bid = (struct bid){.world = world};
    const struct valet_plan *there = version_valet_plan(world->edit->version, 1000);
    bid->commit.before = there == NULL ? NULL : copy(world, &there->record);
    bid->commit.after = bid->commit.before != NULL ? bid->commit.before : plan_row(world, name);
    bid->commit.covers_plan = true;
    bid->commit.rows = bid->rows;
    bid->commit.claims = bid->claims;
    bid->commit.groups = bid->groups;
    const struct valet_placement *at = NULL;
    for (int64_t id = 0;
         bid->commit.before != NULL &&
         (at = version_next_valet_placement_of(world->edit->version, 1000, id)) != NULL;
         id = at->record.id) {
        const struct provider *host = placement_host(world->edit->version, at);
        bid->rows[bid->commit.row_count++] = (struct stack_row){
            .before = copy(world, &at->record),
            .present =
                host == NULL ? (struct slice){0} : arena_copy(world->arena, provider_uuid(host)),
        };
        bid->rows[bid->commit.row_count - 1].after = bid->rows[bid->commit.row_count - 1].before;
    }
}

static void look_at(struct bid *bid, unsigned provider)
{
    struct stack_look *looks =
        arena_array(bid->world->arena, bid->commit.look_count + 1, sizeof(*looks));
    for (size_t i = 0; i < bid->commit.look_count; i++)
        looks[i] = bid->commit.looks[i];
    struct host_marks marks = host_marks_of(bid->world->edit->version);
    looks[bid->commit.look_count++] = (struct stack_look){
        world_uuid(bid->world, 'p', provider),
        stack_look(bid->world->edit->version, &marks, world_provider(bid->world, provider)), false};
    bid->commit.looks = looks;
}

/* The row's hold goes to that host. */
static struct stack_row *place(struct bid *bid, size_t row, unsigned host, int64_t amount)
{
    struct claim claim = {0};
    world_add(bid->world, &claim, host, 'A', amount);
    bid->rows[row].moves_hold = true;
    bid->rows[row].providers = claim.providers;
    bid->rows[row].provider_count = claim.provider_count;
    bid->rows[row].host = world_uuid(bid->world, 'p', host);
    look_at(bid, host);
    return &bid->rows[row];
}

static struct stack_row *add(struct bid *bid, const char *orchestration_id, unsigned host,
                             int64_t amount)
{
    struct record_value values[VALET_PLACEMENT_FIELD_COUNT];
    size_t row = bid->commit.row_count++;
    record_init(&VALET_SHAPES[VALET_PLACEMENTS], values);
    values[VALET_PLACEMENT_UUID].text = arena_printf(bid->world->arena, "%s-%0*d", orchestration_id,
                                                     35 - (int)strlen(orchestration_id), 0);
    values[VALET_PLACEMENT_NAME].text = slice_of(orchestration_id);
    values[VALET_PLACEMENT_ORCHESTRATION_ID].text = slice_of(orchestration_id);
    values[VALET_PLACEMENT_LOCATION].text = world_uuid(bid->world, 'p', host);
    bid->rows[row].after = (const struct valet_placement *)record_pack(
        &VALET_SHAPES[VALET_PLACEMENTS], 0, values, bid->world->arena);
    return place(bid, row, host, amount);
}

/* The plan's servers may be anybody's. */
static void trust(struct bid *bid)
{
    struct record_value values[VALET_PLAN_FIELD_COUNT];
    const struct record_shape *shape = &VALET_SHAPES[VALET_PLANS];
    record_open(shape, &bid->commit.after->record, values);
    values[VALET_PLAN_ANY_PROJECT].number = RECORD_TRUE;
    bid->commit.after = (const struct valet_plan *)record_pack(shape, bid->commit.after->record.id,
                                                               values, bid->world->arena);
}

static void set_resource(struct bid *bid, size_t row, const char *id)
{
    struct record_value values[VALET_PLACEMENT_FIELD_COUNT];
    const struct record_shape *shape = &VALET_SHAPES[VALET_PLACEMENTS];
    record_open(shape, &bid->rows[row].after->record, values);
    values[VALET_PLACEMENT_RESOURCE_ID].text = slice_of(id);
    bid->rows[row].after = (const struct valet_placement *)record_pack(
        shape, bid->rows[row].after->record.id, values, bid->world->arena);
}

static void claim_host(struct bid *bid, unsigned host)
{
    struct slice *uuid = arena_alloc(bid->world->arena, sizeof(*uuid));
    *uuid = world_uuid(bid->world, 'p', host);
    bid->claims[bid->commit.claim_count++] =
        (struct stack_claim){.group_id = 1, .provider = *uuid, .hosts = uuid, .host_count = 1};
}

static void claim_rack(struct bid *bid)
{
    struct slice *uuids = arena_array(bid->world->arena, 2, sizeof(*uuids));
    uuids[0] = world_uuid(bid->world, 'p', 1);
    uuids[1] = world_uuid(bid->world, 'p', 2);
    bid->claims[bid->commit.claim_count++] =
        (struct stack_claim){.group_id = 1,
                             .provider = world_uuid(bid->world, 'p', RACK),
                             .is_rack = true,
                             .hosts = uuids,
                             .host_count = 2};
}

static bool commit(struct bid *bid)
{
    struct plan plan = world_plan(bid->world);
    return world_conclude(bid->world, plan_stack_commit(&bid->commit, &plan, &bid->world->err));
}

static void assert_changed(struct bid *bid)
{
    struct version before = *bid->world->edit->version;
    assert_false(commit(bid));
    assert_int_equal(bid->world->err.kind, REFUSED_CHANGED);
    assert_int_equal(bid->world->err.status, 409);
    assert_string_equal(arena_copy(bid->world->arena, bid->world->err.message).data,
                        "Valet error: the cloud changed while planning for 'web'");
    assert_memory_equal(&before, bid->world->edit->version, sizeof(before));
}

static int64_t used(struct world *world, unsigned provider)
{
    return world_inventory(world, provider, 'A')->used;
}

static const struct valet_placement *placement(struct world *world, const char *orchestration_id)
{
    return version_valet_placement_by_orchestration(world->edit->version,
                                                    slice_of(orchestration_id));
}

static const struct consumer *hold(struct world *world, const char *orchestration_id)
{
    return version_consumer(
        world->edit->version,
        record_text(&placement(world, orchestration_id)->record, VALET_PLACEMENT_UUID));
}

static void occupy_as(struct world *world, const char *project, unsigned consumer, unsigned host,
                      int64_t amount)
{
    struct claim claim = world_claim(world, consumer);
    claim.project = slice_of(project);
    if (amount > 0)
        world_add(world, &claim, host, 'A', amount);
    assert_true(world_write(world, &claim, 1, CLAIM_BY_POST));
}

static void occupy(struct world *world, unsigned consumer, unsigned host, int64_t amount)
{
    occupy_as(world, "project", consumer, host, amount);
}

/* Another program's consumer, which asked nobody. */
static void intrude(struct world *world, unsigned host)
{
    occupy(world, 9, 1, 1);
    const struct consumer *model = world_consumer(world, 9);
    struct plan plan = world_plan(world);
    struct change *change = change_append(plan.changes, CHANGE_ALLOCATION_INSERT);
    change->allocation = (struct change_allocation){
        .id = 9000,
        .consumer_id = model->id,
        .provider_id = host,
        .class_id = 0,
        .used = 1,
        .consumer_uuid = SLICE_LIT("c9"),
    };
    world_conclude(world, true);
}

static void make(struct world *world, unsigned first_host, unsigned second_host)
{
    struct bid bid;
    begin(&bid, world, "web");
    add(&bid, "a", first_host, 3);
    add(&bid, "b", second_host, 3);
    assert_true(commit(&bid));
}

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
    /* the stack has a plan, the placements have ids that are taken */
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
    /* it is elsewhere by now */
    begin(&bid, world, "web");
    set_resource(&bid, 0, "c9");
    struct claim claim = {.consumer =
                              record_text(&bid.rows[0].before->record, VALET_PLACEMENT_UUID),
                          .project = SLICE_LIT("tenant"),
                          .user = SLICE_LIT("somebody")};
    assert_true(world_write(world, &claim, 1, CLAIM_BY_POST));
    assert_changed(&bid);
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
    /* a placement that goes frees its hold, a new one may have its room */
    begin(&bid, world, "web");
    bid.rows[0].after = NULL;
    add(&bid, "c", 2, 4);
    assert_true(commit(&bid));
    assert_null(placement(world, "a"));
    assert_int_equal(used(world, 2), 4);
    assert_int_equal(used(world, 1), 4);
}

static size_t claim_rows(struct world *world)
{
    return world->edit->version->valet[VALET_CLAIMS].rows.count;
}

static bool is_gold(struct world *world, unsigned host)
{
    struct host_claim claim = host_claim_of(world->edit->version, world_provider(world, host));
    return claim.group != NULL && !claim.several;
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
    assert_changed(&without); /* b's host is nobody's */
    claim_host(&bid, 4);
    occupy(world, 1, 4, 1);
    assert_changed(&bid); /* b's host is not empty */
    occupy(world, 1, 4, 0);
    assert_true(commit(&bid));
    assert_true(is_gold(world, 3) && is_gold(world, 4));
    assert_int_equal(claim_rows(world), 2);
    assert_int_equal(world_provider(world, 3)->generation, before + 2);
    /* nobody else's server gets there, one of the group's does, without another claim */
    begin(&bid, world, "web");
    add(&bid, "c", 3, 1);
    assert_changed(&bid);
    bid.rows[2].exclusive.group_id = 1;
    claim_host(&bid, 3);
    assert_true(commit(&bid));
    assert_int_equal(claim_rows(world), 2);
    /* a stranger on it keeps the group's servers away, too */
    intrude(world, 3);
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

/* What is claimed holds already what the plan's servers of that group have there. */
static void test_own_servers_of_the_group_do_not_hinder(void **state)
{
    struct world *world = *state;
    struct bid bid;
    make(world, 4, 3);
    occupy_as(world, "tenant", 2, 4, 1);
    begin(&bid, world, "web");
    claim_host(&bid, 4);
    bid.rows[0].exclusive.group_id = 1; /* a, whose hold is there */
    assert_changed(&bid);               /* nobody's server is there, too */
    set_resource(&bid, 0, "c2");
    bid.rows[0].exclusive.group_id = 0;
    assert_changed(&bid);
    bid.rows[0].exclusive.group_id = 1;
    struct stack_row none = bid.rows[0];
    bid.rows[0].host = world_uuid(world, 'p', 3);
    assert_changed(&bid); /* it is looked at although its hold does not move: p3 is nobody's */
    bid.rows[0] = none;
    bid.rows[0].host = world_uuid(world, 'p', 4);
    assert_true(commit(&bid));
    assert_true(is_gold(world, 4) && !is_gold(world, 3));
    assert_int_equal(used(world, 4), 1); /* the server's; it needs no hold beside it */
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

static void test_disabled(void **state)
{
    struct world *world = *state;
    struct bid bid;
    add_link(world, CHANGE_PROVIDER_TRAIT_INSERT, 1, TRAIT_DISABLED);
    begin(&bid, world, "web");
    add(&bid, "a", 1, 1);
    assert_changed(&bid);
}

static void test_servers_that_are_there(void **state)
{
    struct world *world = *state;
    struct bid bid;
    make(world, 1, 2);
    occupy_as(world, "tenant", 1, 1, 1);
    occupy_as(world, "tenant", 2, 4, 1);
    /* of the first the hold goes, of the second it stays */
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
    /* elsewhere it has one again */
    begin(&bid, world, "web");
    place(&bid, 1, 2, 3);
    assert_true(commit(&bid));
    assert_non_null(hold(world, "b"));
}

/* Another project's consumer is no server of the plan's; in a plan of one who sees all it is. */
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

/* Damage: two placements have one id. What a plan had before holds nothing up; what it brings
 * does, unless who has it goes. */
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

/* A host that is in another rack, too, is one of the rack's: claimed with it, and counted. */
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

/* Which racks and zones a host is in is told by others than itself. */
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

/* A host where others stay binds by its racks alone. */
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

/* Storage that the hold shares with its server does not make the host theirs. */
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
        cmocka_unit_test_setup_teardown(test_create, setup, teardown),
        cmocka_unit_test_setup_teardown(test_what_a_plan_rests_on, setup, teardown),
        cmocka_unit_test_setup_teardown(test_rows_that_changed, setup, teardown),
        cmocka_unit_test_setup_teardown(test_moves_release_before_capacity, setup, teardown),
        cmocka_unit_test_setup_teardown(test_hosts_are_claimed, setup, teardown),
        cmocka_unit_test_setup_teardown(test_own_holds_do_not_occupy, setup, teardown),
        cmocka_unit_test_setup_teardown(test_own_servers_of_the_group_do_not_hinder, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_racks_are_claimed, setup, teardown),
        cmocka_unit_test_setup_teardown(test_disabled, setup, teardown),
        cmocka_unit_test_setup_teardown(test_servers_that_are_there, setup, teardown),
        cmocka_unit_test_setup_teardown(test_servers_of_others, setup, teardown),
        cmocka_unit_test_setup_teardown(test_ids_that_are_brought, setup, teardown),
        cmocka_unit_test_setup_teardown(test_delete, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_host_in_two_racks, setup, teardown),
        cmocka_unit_test_setup_teardown(test_markers_that_changed, setup, teardown),
        cmocka_unit_test_setup_teardown(test_where_others_are, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_server_beside_shared_storage, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
