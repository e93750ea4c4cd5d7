/* Hosts, racks, claims and non-members, on one small cloud: rack r1 has h1 and h2, r2 has h3; h2
 * has a child; h4 is in no rack. */
#include <stdlib.h>

#include "base/arena.h"
#include "replica/apply.h"
#include "replica/replica.h"
#include "unit.h"
#include "valet/state/hosts.h"

enum { H1 = 1, H2, H3, H4, CHILD, R1, R2, SHARE, PROVIDERS };
enum { RACK_1 = 1, RACK_2, GOLD_HOSTS, IRON_HOSTS, AGGREGATES };
enum { TRAIT_DISABLED = 1, TRAIT_SHARES, TRAIT_RACK, TRAIT_ZONE, TRAITS };
enum { GOLD = 1, IRON };
enum { FRIEND = 1, NON_MEMBER };
enum { VCPU = 1 };

#define GOLD_UUID "10000000-0000-4000-8000-000000000001"
#define IRON_UUID "10000000-0000-4000-8000-000000000002"

static const char *const provider_names[PROVIDERS] = {
    [H1] = "h1",       [H2] = "h2", [H3] = "h3", [H4] = "h4",
    [CHILD] = "h2_c1", [R1] = "r1", [R2] = "r2", [SHARE] = "share",
};

struct cloud {
    struct arena *arena;
    struct replica *replica;
    struct edit *edit;
    struct change_list list;
    int64_t next_id; /* of consumers, allocations and rows */
};

static void publish(struct cloud *cloud)
{
    struct version_stamp stamp = {{0}};
    apply_changes(cloud->edit, &cloud->list);
    cloud->list = (struct change_list){.arena = cloud->arena};
    replica_publish(cloud->replica, cloud->edit, &stamp);
    cloud->edit = replica_edit(cloud->replica);
}

static const struct version *version_of(struct cloud *cloud)
{
    publish(cloud);
    return replica_newest(cloud->replica);
}

static void add_catalog(struct cloud *cloud, enum change_kind kind, int64_t id, const char *name)
{
    change_append(&cloud->list, kind)->catalog = (struct change_catalog){id, slice_of(name)};
}

static void add_link(struct cloud *cloud, enum change_kind kind, int64_t provider, int64_t other)
{
    change_append(&cloud->list, kind)->link = (struct change_link){provider, other};
}

static void join(struct cloud *cloud, int64_t provider, int64_t aggregate)
{
    add_link(cloud, CHANGE_PROVIDER_AGGREGATE_INSERT, provider, aggregate);
}

static void leave(struct cloud *cloud, int64_t provider, int64_t aggregate)
{
    add_link(cloud, CHANGE_PROVIDER_AGGREGATE_DELETE, provider, aggregate);
}

static void add_inventory(struct cloud *cloud, int64_t provider)
{
    change_append(&cloud->list, CHANGE_INVENTORY_INSERT)->inventory = (struct change_inventory){
        .provider_id = provider,
        .class_id = VCPU,
        .total = 8,
        .min_unit = 1,
        .max_unit = 8,
        .step_size = 1,
        .allocation_ratio = 1.0,
    };
}

static void add_provider(struct cloud *cloud, int64_t id)
{
    int64_t parent = id == CHILD ? H2 : 0;
    change_append(&cloud->list, CHANGE_PROVIDER_INSERT)->provider = (struct change_provider){
        .id = id,
        .parent_id = parent,
        .root_id = parent == 0 ? id : parent,
        .uuid = slice_of(provider_names[id]),
        .name = slice_of(provider_names[id]),
    };
    if (id != R1 && id != R2)
        add_inventory(cloud, id);
}

static void put_row(struct cloud *cloud, enum valet_table table, int64_t id,
                    const struct record_value *values)
{
    change_put_valet(&cloud->list, table,
                     record_pack(&VALET_SHAPES[table], id, values, cloud->arena));
}

static void add_group(struct cloud *cloud, int64_t id, const char *uuid, const char *name)
{
    struct record_value values[VALET_GROUP_FIELD_COUNT];
    record_init(&VALET_SHAPES[VALET_GROUPS], values);
    values[VALET_GROUP_UUID].text = slice_of(uuid);
    values[VALET_GROUP_NAME].text = slice_of(name);
    put_row(cloud, VALET_GROUPS, id, values);
}

static void add_member(struct cloud *cloud, int64_t group, const char *project)
{
    struct record_value values[VALET_MEMBER_FIELD_COUNT];
    record_init(&VALET_SHAPES[VALET_MEMBERS], values);
    values[VALET_MEMBER_GROUP_ID].number = group;
    values[VALET_MEMBER_PROJECT].text = slice_of(project);
    put_row(cloud, VALET_MEMBERS, cloud->next_id++, values);
}

static void add_rack_claim(struct cloud *cloud, int64_t group, const char *rack, bool is_rack)
{
    struct record_value values[VALET_CLAIM_FIELD_COUNT];
    record_init(&VALET_SHAPES[VALET_CLAIMS], values);
    values[VALET_CLAIM_GROUP_ID].number = group;
    values[VALET_CLAIM_PROVIDER].text = slice_of(rack);
    values[VALET_CLAIM_IS_RACK].number = is_rack ? RECORD_TRUE : RECORD_FALSE;
    put_row(cloud, VALET_CLAIMS, cloud->next_id++, values);
}

static void add_consumer(struct cloud *cloud, int64_t project, int64_t provider)
{
    int64_t id = cloud->next_id++;
    struct slice uuid = arena_printf(cloud->arena, "consumer-%lld", (long long)id);
    change_append(&cloud->list, CHANGE_CONSUMER_INSERT)->consumer =
        (struct change_consumer){.id = id, .project_id = project, .user_id = 1, .uuid = uuid};
    change_append(&cloud->list, CHANGE_ALLOCATION_INSERT)->allocation =
        (struct change_allocation){cloud->next_id++, id, provider, VCPU, 1, uuid};
}

static int open_cloud(void **state)
{
    struct cloud *cloud = calloc(1, sizeof(*cloud));
    cloud->arena = arena_create();
    cloud->replica = replica_create();
    cloud->list.arena = cloud->arena;
    cloud->edit = replica_edit(cloud->replica);
    cloud->next_id = 1;
    add_catalog(cloud, CHANGE_CLASS_INSERT, VCPU, "VCPU");
    add_catalog(cloud, CHANGE_TRAIT_INSERT, TRAIT_DISABLED, "COMPUTE_STATUS_DISABLED");
    add_catalog(cloud, CHANGE_TRAIT_INSERT, TRAIT_SHARES, "MISC_SHARES_VIA_AGGREGATE");
    add_catalog(cloud, CHANGE_TRAIT_INSERT, TRAIT_RACK, "CUSTOM_VALET_RACK");
    add_catalog(cloud, CHANGE_AGGREGATE_INSERT, RACK_1, "20000000-0000-4000-8000-000000000001");
    add_catalog(cloud, CHANGE_AGGREGATE_INSERT, RACK_2, "20000000-0000-4000-8000-000000000002");
    add_catalog(cloud, CHANGE_AGGREGATE_INSERT, GOLD_HOSTS, GOLD_UUID);
    add_catalog(cloud, CHANGE_AGGREGATE_INSERT, IRON_HOSTS, IRON_UUID);
    add_catalog(cloud, CHANGE_PROJECT_INSERT, FRIEND, "b7d0e9b175294b649464caa3411adb3f");
    add_catalog(cloud, CHANGE_PROJECT_INSERT, NON_MEMBER, "nonmember");
    add_catalog(cloud, CHANGE_USER_INSERT, 1, "user");
    for (int64_t id = 1; id < PROVIDERS; id++)
        add_provider(cloud, id);
    for (int64_t id = R1; id <= R2; id++)
        add_link(cloud, CHANGE_PROVIDER_TRAIT_INSERT, id, TRAIT_RACK);
    add_link(cloud, CHANGE_PROVIDER_TRAIT_INSERT, SHARE, TRAIT_SHARES);
    join(cloud, H1, RACK_1);
    join(cloud, H2, RACK_1);
    join(cloud, R1, RACK_1);
    join(cloud, SHARE, RACK_1);
    join(cloud, H3, RACK_2);
    join(cloud, R2, RACK_2);
    *state = cloud;
    return 0;
}

static int close_cloud(void **state)
{
    struct cloud *cloud = *state;
    replica_abandon(cloud->replica, cloud->edit);
    replica_destroy(cloud->replica);
    arena_destroy(cloud->arena);
    free(cloud);
    return 0;
}

static const struct provider *at(const struct version *version, int64_t id)
{
    return version_provider_by_id(version, id);
}

static const struct provider *rack_of(const struct version *version, int64_t id, bool *several)
{
    struct host_marks marks = host_marks_of(version);
    return host_rack(version, &marks, at(version, id), several);
}

static void who_is_a_host(void **state)
{
    const struct version *version = version_of(*state);
    struct host_marks marks = host_marks_of(version);
    for (int64_t id = 1; id < PROVIDERS; id++)
        assert_int_equal(host_is(&marks, at(version, id)), id <= H4);
    assert_int_equal(marks.zone, NUMBER_NONE);
    assert_true(host_mark_stands(version, at(version, R1), marks.rack));
    assert_false(host_mark_stands(version, at(version, H1), marks.rack));
    assert_false(host_mark_stands(version, at(version, H1), marks.zone));
}

static void racks_of_hosts(void **state)
{
    struct cloud *cloud = *state;
    const struct version *version = version_of(cloud);
    bool several;
    assert_ptr_equal(rack_of(version, H1, &several), at(version, R1));
    assert_ptr_equal(rack_of(version, H2, &several), at(version, R1));
    assert_ptr_equal(rack_of(version, H3, &several), at(version, R2));
    assert_null(rack_of(version, H4, &several));
    assert_false(several);
    assert_null(rack_of(version, SHARE, &several));
    assert_null(rack_of(version, R1, &several));
    join(cloud, H3, RACK_1);
    version = version_of(cloud);
    assert_null(rack_of(version, H3, &several));
    assert_true(several);
}

/* A marker with inventory, one without aggregates, and one only in a group's aggregate are none. */
static void markers_that_do_not_stand(void **state)
{
    struct cloud *cloud = *state;
    bool several;
    add_inventory(cloud, R1);
    leave(cloud, R2, RACK_2);
    const struct version *version = version_of(cloud);
    assert_null(rack_of(version, H1, &several));
    assert_null(rack_of(version, H3, &several));
    add_group(cloud, GOLD, GOLD_UUID, "gold");
    join(cloud, R2, GOLD_HOSTS);
    join(cloud, H3, GOLD_HOSTS);
    version = version_of(cloud);
    assert_null(rack_of(version, H3, &several));
    struct host_marks marks = host_marks_of(version);
    assert_false(host_mark_stands(version, at(version, R2), marks.rack));
}

static unsigned count_hosts(const struct version *version, int64_t marker)
{
    struct host_marks marks = host_marks_of(version);
    struct marker_hosts hosts = marker_hosts_of(version, &marks, at(version, marker), marks.rack);
    unsigned count = 0;
    while (marker_hosts_next(&hosts) != NULL)
        count++;
    return count;
}

static void hosts_of_racks(void **state)
{
    struct cloud *cloud = *state;
    join(cloud, H3, RACK_1);
    join(cloud, R1, RACK_2); /* h3 is in both of its aggregates */
    const struct version *version = version_of(cloud);
    assert_int_equal(count_hosts(version, R1), 3);
    assert_int_equal(count_hosts(version, R2), 1);
    assert_int_equal(count_hosts(version, H1), 0);
    add_inventory(cloud, R1);
    assert_int_equal(count_hosts(version_of(cloud), R1), 0);
}

static void claims_by_aggregate(void **state)
{
    struct cloud *cloud = *state;
    struct slice friend = SLICE_LIT("b7d0e9b1-7529-4b64-9464-caa3411adb3f");
    join(cloud, H1, GOLD_HOSTS);
    const struct version *version = version_of(cloud);
    assert_null(host_claim_of(version, at(version, H1)).group);
    add_group(cloud, GOLD, GOLD_UUID, "gold");
    add_member(cloud, GOLD, "b7d0e9b175294b649464caa3411adb3f");
    version = version_of(cloud);
    const struct valet_group *gold = version_valet_group(version, GOLD);
    struct host_claim claim = host_claim_of(version, at(version, H1));
    assert_ptr_equal(claim.group, gold);
    assert_false(claim.several);
    assert_null(host_claim_of(version, at(version, H2)).group);
    assert_null(host_refuses(version, NULL, at(version, H1), friend));
    assert_ptr_equal(host_refuses(version, NULL, at(version, H1), SLICE_LIT("nonmember")), gold);
    assert_null(host_refuses(version, NULL, at(version, H2), SLICE_LIT("nonmember")));
    add_group(cloud, IRON, IRON_UUID, "iron");
    join(cloud, H1, IRON_HOSTS);
    version = version_of(cloud);
    assert_true(host_claim_of(version, at(version, H1)).several);
    assert_ptr_equal(host_refuses(version, NULL, at(version, H1), friend),
                     version_valet_group(version, IRON));
}

static void claims_by_rack(void **state)
{
    struct cloud *cloud = *state;
    add_group(cloud, GOLD, GOLD_UUID, "gold");
    add_rack_claim(cloud, GOLD, "r1", true);
    add_rack_claim(cloud, GOLD, "r2", false); /* a row of another kind claims no rack */
    add_rack_claim(cloud, IRON, "r2", true);  /* of a deleted group */
    const struct version *version = version_of(cloud);
    const struct valet_group *gold = version_valet_group(version, GOLD);
    assert_ptr_equal(host_claim_of(version, at(version, H1)).group, gold);
    assert_false(host_claim_of(version, at(version, H1)).several);
    assert_ptr_equal(host_claim_of(version, at(version, H2)).group, gold);
    assert_null(host_claim_of(version, at(version, H3)).group);
    assert_null(host_claim_of(version, at(version, H4)).group);
    assert_null(host_claim_of(version, at(version, SHARE)).group);
    assert_ptr_equal(host_refuses(version, NULL, at(version, H2), SLICE_LIT("x")), gold);
    join(cloud, H1, GOLD_HOSTS); /* both ways to the same group are one claim */
    version = version_of(cloud);
    assert_false(host_claim_of(version, at(version, H1)).several);
}

static void who_is_there(void **state)
{
    struct cloud *cloud = *state;
    add_group(cloud, GOLD, GOLD_UUID, "gold");
    add_member(cloud, GOLD, "b7d0e9b1-7529-4b64-9464-caa3411adb3f");
    add_consumer(cloud, FRIEND, CHILD);
    const struct version *version = version_of(cloud);
    const struct valet_group *gold = version_valet_group(version, GOLD);
    assert_true(host_is_empty(version, at(version, H1)));
    assert_false(host_is_empty(version, at(version, H2)));
    assert_false(host_has_non_member(version, at(version, H1), gold));
    assert_false(host_has_non_member(version, at(version, H2), gold));
    add_consumer(cloud, NON_MEMBER, CHILD);
    version = version_of(cloud);
    assert_true(host_has_non_member(version, at(version, H2), version_valet_group(version, GOLD)));
}

#define ON_A_CLOUD(test) cmocka_unit_test_setup_teardown(test, open_cloud, close_cloud)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_A_CLOUD(who_is_a_host),
        ON_A_CLOUD(racks_of_hosts),
        ON_A_CLOUD(markers_that_do_not_stand),
        ON_A_CLOUD(hosts_of_racks),
        ON_A_CLOUD(claims_by_aggregate),
        ON_A_CLOUD(claims_by_rack),
        ON_A_CLOUD(who_is_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
