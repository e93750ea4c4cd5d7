/* How the commits are built and checked. */
#include "valet/write/stack_bid.h"

#include "valet/write/valet_rule.h"

void add_link(struct world *world, enum change_kind kind, int64_t provider, int64_t other)
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

void put_row(struct world *world, enum valet_table table, int64_t id,
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

void remove_row(struct world *world, enum valet_table table, int64_t id)
{
    struct plan plan = world_plan(world);
    change_delete_valet(plan.changes, table, id);
    world_conclude(world, true);
}

int stack_bid_setup(void **state)
{
    static struct world world;
    world_open(&world, PROVIDERS);
    world.author = &valet_rule;
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

int stack_bid_teardown(void **state)
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

/* Rows of the version are valid until their next change. */
const void *copy(struct world *world, const struct record *record)
{
    return memcpy(arena_alloc(world->arena, record->bytes), record, record->bytes);
}

void begin(struct bid *bid, struct world *world, const char *name)
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

void look_at(struct bid *bid, unsigned provider)
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

/* The row's hold moves to that host. */
struct stack_row *place(struct bid *bid, size_t row, unsigned host, int64_t amount)
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

struct stack_row *add(struct bid *bid, const char *orchestration_id, unsigned host, int64_t amount)
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

/* The plan's servers may be of any project. */
void trust(struct bid *bid)
{
    struct record_value values[VALET_PLAN_FIELD_COUNT];
    const struct record_shape *shape = &VALET_SHAPES[VALET_PLANS];
    record_open(shape, &bid->commit.after->record, values);
    values[VALET_PLAN_ANY_PROJECT].number = RECORD_TRUE;
    bid->commit.after = (const struct valet_plan *)record_pack(shape, bid->commit.after->record.id,
                                                               values, bid->world->arena);
}

void set_resource(struct bid *bid, size_t row, const char *id)
{
    struct record_value values[VALET_PLACEMENT_FIELD_COUNT];
    const struct record_shape *shape = &VALET_SHAPES[VALET_PLACEMENTS];
    record_open(shape, &bid->rows[row].after->record, values);
    values[VALET_PLACEMENT_RESOURCE_ID].text = slice_of(id);
    bid->rows[row].after = (const struct valet_placement *)record_pack(
        shape, bid->rows[row].after->record.id, values, bid->world->arena);
}

void claim_host(struct bid *bid, unsigned host)
{
    struct slice *uuid = arena_alloc(bid->world->arena, sizeof(*uuid));
    *uuid = world_uuid(bid->world, 'p', host);
    bid->claims[bid->commit.claim_count++] =
        (struct stack_claim){.group_id = 1, .provider = *uuid, .hosts = uuid, .host_count = 1};
}

void claim_rack(struct bid *bid)
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

bool commit(struct bid *bid)
{
    struct plan plan = world_plan(bid->world);
    return world_conclude(bid->world, plan_stack_commit(&bid->commit, &plan, &bid->world->err));
}

void assert_changed(struct bid *bid)
{
    struct version before = *bid->world->edit->version;
    assert_false(commit(bid));
    assert_int_equal(bid->world->err.kind, REFUSED_CHANGED);
    assert_int_equal(bid->world->err.status, 409);
    assert_string_equal(arena_copy(bid->world->arena, bid->world->err.message).data,
                        "Valet error: the cloud changed while planning for 'web'");
    assert_memory_equal(&before, bid->world->edit->version, sizeof(before));
}

int64_t used(struct world *world, unsigned provider)
{
    return world_inventory(world, provider, 'A')->used;
}

const struct valet_placement *placement(struct world *world, const char *orchestration_id)
{
    return version_valet_placement_by_orchestration(world->edit->version,
                                                    slice_of(orchestration_id));
}

const struct consumer *hold(struct world *world, const char *orchestration_id)
{
    return version_consumer(
        world->edit->version,
        record_text(&placement(world, orchestration_id)->record, VALET_PLACEMENT_UUID));
}

void occupy_as(struct world *world, const char *project, unsigned consumer, unsigned host,
               int64_t amount)
{
    struct claim claim = world_claim(world, consumer);
    claim.project = slice_of(project);
    if (amount > 0)
        world_add(world, &claim, host, 'A', amount);
    assert_true(world_write(world, &claim, 1, CLAIM_BY_POST));
}

void occupy(struct world *world, unsigned consumer, unsigned host, int64_t amount)
{
    occupy_as(world, "project", consumer, host, amount);
}

/* Another program's consumer, written without any check: it is also on `from`, which is unclaimed.
 */
void intrude(struct world *world, unsigned from, unsigned host)
{
    occupy(world, 9, from, 1);
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
    size_t rules = world->products.rules.count;
    world->products.rules.count = 0; /* another program writes no claims */
    assert_true(world_conclude(world, true));
    world->products.rules.count = rules;
}

void make(struct world *world, unsigned first_host, unsigned second_host)
{
    struct bid bid;
    begin(&bid, world, "web");
    add(&bid, "a", first_host, 3);
    add(&bid, "b", second_host, 3);
    assert_true(commit(&bid));
}

size_t claim_rows(struct world *world)
{
    return world->edit->version->valet[VALET_CLAIMS].rows.count;
}

bool is_gold(struct world *world, unsigned host)
{
    struct host_claim claim = host_claim_of(world->edit->version, world_provider(world, host));
    return claim.group != NULL && !claim.several;
}
