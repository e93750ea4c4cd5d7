/* See cloud.h. One thread. */
#include "products/cloud.h"

#include "baremetal/write/node_rule.h"
#include "replica/valet.h"
#include "unit.h"
#include "valet/write/valet_rule.h"

void cloud_put_row(struct metal_world *cloud, enum valet_table table,
                   const struct record_value *values)
{
    cloud->world.author = &valet_rule;
    struct plan plan = metal_plan(cloud);
    int64_t id = store_next_id(plan.store, (enum store_table)(STORE_VALET + (int)table));
    change_put_valet(plan.changes, table,
                     record_pack(&VALET_SHAPES[table], id, values, plan.arena));
    assert_true(world_conclude(&cloud->world, true));
}

static int64_t group_id(struct metal_world *cloud)
{
    return version_valet_group_by_name(cloud->world.edit->version, SLICE_LIT("gold"))->record.id;
}

static void put_group(struct metal_world *cloud)
{
    struct record_value group[VALET_GROUP_FIELD_COUNT];
    record_init(&VALET_SHAPES[VALET_GROUPS], group);
    group[VALET_GROUP_UUID].text = SLICE_LIT("gold");
    group[VALET_GROUP_NAME].text = SLICE_LIT("gold");
    cloud_put_row(cloud, VALET_GROUPS, group);
    struct record_value member[VALET_MEMBER_FIELD_COUNT];
    record_init(&VALET_SHAPES[VALET_MEMBERS], member);
    member[VALET_MEMBER_GROUP_ID].number = group_id(cloud);
    member[VALET_MEMBER_PROJECT].text = SLICE_LIT("friend");
    cloud_put_row(cloud, VALET_MEMBERS, member);
}

static void claim_rack(struct metal_world *cloud)
{
    struct record_value claim[VALET_CLAIM_FIELD_COUNT];
    record_init(&VALET_SHAPES[VALET_CLAIMS], claim);
    claim[VALET_CLAIM_GROUP_ID].number = group_id(cloud);
    claim[VALET_CLAIM_PROVIDER].text = SLICE_LIT("r1");
    claim[VALET_CLAIM_IS_RACK].number = RECORD_TRUE;
    cloud_put_row(cloud, VALET_CLAIMS, claim);
}

static void put_placement(struct metal_world *cloud, const char *uuid, const char *server)
{
    struct record_value values[VALET_PLACEMENT_FIELD_COUNT];
    record_init(&VALET_SHAPES[VALET_PLACEMENTS], values);
    values[VALET_PLACEMENT_UUID].text = slice_of(uuid);
    values[VALET_PLACEMENT_PLAN_ID].number =
        version_next_valet_plan(cloud->world.edit->version, 0)->record.id;
    values[VALET_PLACEMENT_NAME].text = slice_of(uuid);
    values[VALET_PLACEMENT_ORCHESTRATION_ID].text = slice_of(server);
    cloud_put_row(cloud, VALET_PLACEMENTS, values);
}

static void put_holds(struct metal_world *cloud)
{
    struct record_value plan[VALET_PLAN_FIELD_COUNT];
    record_init(&VALET_SHAPES[VALET_PLANS], plan);
    plan[VALET_PLAN_UUID].text = plan[VALET_PLAN_NAME].text = SLICE_LIT("plan");
    plan[VALET_PLAN_PROJECT].text = SLICE_LIT("friend");
    plan[VALET_PLAN_USER].text = SLICE_LIT("user");
    cloud_put_row(cloud, VALET_PLANS, plan);
    put_placement(cloud, "pl1", "srv1");
    put_placement(cloud, "pl2", "srv2");
    static const char *const steps[] = {"consume pl1 friend h4 A 2", "type pl1 VALET_HOLD"};
    for (size_t i = 0; i < 2; i++) {
        cloud->world.author = &valet_rule;
        struct plan raw = metal_plan(cloud);
        assert_true(world_conclude(&cloud->world, cloud_plan_raw(&raw, steps[i])));
    }
}

static void must(struct metal_world *cloud, const char *request)
{
    if (cloud_raw(cloud, request) != 0)
        fail_msg("%s: %.*s", request, SLICE_ARG(cloud->world.err.message));
}

static void put_nodes(struct metal_world *cloud)
{
    cloud->world.author = &node_rule;
    metal_create_available(cloud, "m1", "iron");
    assert_true(metal_allocate(cloud, "al1", "iron"));
    assert_true(metal_decide(cloud, "al1", NULL));
    metal_create_available(cloud, "m2", "iron");
    assert_true(metal_set_traits(cloud, "m2", "CUSTOM_T"));
    metal_create_available(cloud, "m4", "copper");
    cloud->metal.mirror = false;
    assert_true(metal_allocate(cloud, "al4", "copper"));
    assert_true(metal_decide(cloud, "al4", NULL));
    metal_assert_active(cloud, "al4", "m4");
    cloud->metal.mirror = true;
    struct plan plan = metal_plan(cloud);
    struct node_draft draft = metal_new_node("m3", "iron");
    const struct node *node;
    assert_true(
        world_conclude(&cloud->world, plan_node_create(&draft, &plan, &node, &cloud->world.err)));
    plan = metal_plan(cloud);
    draft = metal_new_node("m5", NULL);
    assert_true(
        world_conclude(&cloud->world, plan_node_create(&draft, &plan, &node, &cloud->world.err)));
}

void cloud_open(struct metal_world *cloud)
{
    static const char *const requests[] = {
        "insert h1; stock h1 A 8; stock h1 B 8; insert n1 h1; stock n1 A 8",
        "insert h2; stock h2 A 8; stock h2 B 8",
        "insert h3; stock h3 A 8; stock h3 B 8; join h3 ra",
        "insert h4; stock h4 A 8; stock h4 B 8",
        "insert h5; stock h5 A 8; stock h5 B 8 6",
        "insert r1; join r1 ra; trait r1 CUSTOM_VALET_RACK",
        "consume old nonmember h1 A 2; consume away nonmember h2 A 2",
        "consume mine friend h1 A 1; consume racked friend h3 A 1",
    };
    metal_open(cloud);
    put_nodes(cloud);
    for (size_t i = 0; i < sizeof(requests) / sizeof(*requests); i++)
        must(cloud, requests[i]);
    put_group(cloud);
    must(cloud, "join h1 gold");
    claim_rack(cloud);
    put_holds(cloud);
    cloud->world.author = NULL;
}

void cloud_close(struct metal_world *cloud)
{
    metal_close(cloud);
}
