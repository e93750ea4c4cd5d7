/* Turns plain numbers into a version, through the changes that a database load sends. */
#include "cloud.h"

#include <stdlib.h>

#include "replica/apply.h"
#include "unit.h"

static const char *const CLASS_NAMES[CLOUD_CLASSES] = {"VCPU", "MEMORY_MB", "DISK_GB"};
static const char *const TRAIT_NAMES[CLOUD_TRAITS] = {
    [TRAIT_FAST] = "CUSTOM_FAST",
    [TRAIT_OLD] = "CUSTOM_OLD",
    [TRAIT_DISABLED] = "COMPUTE_STATUS_DISABLED",
    [TRAIT_SHARES] = "MISC_SHARES_VIA_AGGREGATE",
    [TRAIT_RACK] = "CUSTOM_VALET_RACK",
    [TRAIT_ZONE] = "CUSTOM_VALET_ZONE",
};
static const char *const GROUP_UUIDS[CLOUD_GROUPS] = {"10000000-0000-4000-8000-000000000001",
                                                      "10000000-0000-4000-8000-000000000002"};
static const char *const GROUP_NAMES[CLOUD_GROUPS] = {"gold", "iron"};
static const char *const PROJECTS[CLOUD_PROJECTS] = {"member", "other", "nonmember"};

const char *cloud_class_name(int class_at)
{
    return CLASS_NAMES[class_at];
}

const char *cloud_trait_name(int trait)
{
    return TRAIT_NAMES[trait];
}

const char *cloud_group_uuid(int group)
{
    return GROUP_UUIDS[group];
}

const char *cloud_group_name(int group)
{
    return GROUP_NAMES[group];
}

struct cloud *cloud_create(void)
{
    struct cloud *cloud = calloc(1, sizeof(*cloud));
    assert_non_null(cloud);
    cloud->arena = arena_create();
    cloud->replica = replica_create();
    return cloud;
}

void cloud_destroy(struct cloud *cloud)
{
    replica_destroy(cloud->replica);
    arena_destroy(cloud->arena);
    free(cloud);
}

int cloud_add(struct cloud *cloud, const char *name, int parent)
{
    assert_true(cloud->provider_count < CLOUD_PROVIDERS_MAX && parent < cloud->provider_count);
    struct cloud_provider *provider = &cloud->providers[cloud->provider_count];
    provider->name = arena_copy(cloud->arena, slice_of(name)).data;
    provider->parent = parent;
    return cloud->provider_count++;
}

void cloud_give(struct cloud *cloud, int provider, int class_at, int total)
{
    cloud->providers[provider].inventory[class_at] =
        (struct cloud_inventory){total, 1, total, 1, 0};
}

int cloud_add_host(struct cloud *cloud, const char *name, int rack_aggregate, int total)
{
    int host = cloud_add(cloud, name, -1);
    if (rack_aggregate >= 0)
        cloud->providers[host].aggregates = CLOUD_BIT(rack_aggregate);
    for (int c = 0; c < CLOUD_CLASSES; c++)
        cloud_give(cloud, host, c, total);
    return host;
}

int cloud_add_rack(struct cloud *cloud, const char *name, int aggregate)
{
    int rack = cloud_add(cloud, name, -1);
    cloud->providers[rack].traits = 1u << TRAIT_RACK;
    cloud->providers[rack].aggregates = CLOUD_BIT(aggregate);
    return rack;
}

int cloud_use(struct cloud *cloud, int project, int provider, int class_at, int amount)
{
    assert_true(cloud->consumer_count < CLOUD_CONSUMERS_MAX);
    struct cloud_consumer *consumer = &cloud->consumers[cloud->consumer_count];
    *consumer = (struct cloud_consumer){.project = project, .provider = provider};
    consumer->amounts[class_at] = amount;
    cloud->providers[provider].inventory[class_at].used += amount;
    return cloud->consumer_count++;
}

static void add_name(struct change_list *list, enum change_kind kind, int64_t id, const char *name)
{
    change_append(list, kind)->catalog = (struct change_catalog){id, slice_of(name)};
}

static void add_names(const struct cloud *cloud, struct change_list *list)
{
    for (int i = 0; i < CLOUD_CLASSES; i++)
        add_name(list, CHANGE_CLASS_INSERT, i + 1, CLASS_NAMES[i]);
    for (int i = 0; i < CLOUD_TRAITS; i++)
        add_name(list, CHANGE_TRAIT_INSERT, i + 1, TRAIT_NAMES[i]);
    for (int i = 0; i < GROUP_AGGREGATE; i++)
        add_name(list, CHANGE_AGGREGATE_INSERT, i + 1,
                 arena_printf(cloud->arena, "20000000-0000-4000-8000-%012d", i).data);
    for (int i = 0; i < CLOUD_GROUPS; i++)
        add_name(list, CHANGE_AGGREGATE_INSERT, GROUP_AGGREGATE + i + 1, GROUP_UUIDS[i]);
    for (int i = 1; i <= CLOUD_FAR_AGGREGATES && cloud->has_far_aggregates; i++)
        add_name(list, CHANGE_AGGREGATE_INSERT, CLOUD_AGGREGATES + i,
                 arena_printf(cloud->arena, "30000000-0000-4000-8000-%012d", i).data);
    for (int i = 0; i < CLOUD_PROJECTS; i++)
        add_name(list, CHANGE_PROJECT_INSERT, i + 1, PROJECTS[i]);
    add_name(list, CHANGE_USER_INSERT, 1, "user");
}

static void add_provider(const struct cloud *cloud, struct change_list *list, int at)
{
    const struct cloud_provider *provider = &cloud->providers[at];
    int root = at;
    while (cloud->providers[root].parent >= 0)
        root = cloud->providers[root].parent;
    change_append(list, CHANGE_PROVIDER_INSERT)->provider = (struct change_provider){
        .id = at + 1,
        .parent_id = provider->parent + 1,
        .root_id = root + 1,
        .uuid = slice_of(provider->name),
        .name = slice_of(provider->name),
    };
}

static void add_contents(const struct cloud *cloud, struct change_list *list, int at)
{
    const struct cloud_provider *provider = &cloud->providers[at];
    for (int c = 0; c < CLOUD_CLASSES; c++) {
        const struct cloud_inventory *inventory = &provider->inventory[c];
        if (inventory->total > 0)
            change_append(list, CHANGE_INVENTORY_INSERT)->inventory = (struct change_inventory){
                .provider_id = at + 1,
                .class_id = c + 1,
                .total = inventory->total,
                .min_unit = inventory->min_unit,
                .max_unit = inventory->max_unit,
                .step_size = inventory->step_size,
                .allocation_ratio = 1.0,
            };
    }
    for (int i = 0; i < CLOUD_TRAITS; i++)
        if (provider->traits >> i & 1)
            change_append(list, CHANGE_PROVIDER_TRAIT_INSERT)->link =
                (struct change_link){at + 1, i + 1};
    for (int i = 0; i < CLOUD_AGGREGATES; i++)
        if (provider->aggregates >> i & 1)
            change_append(list, CHANGE_PROVIDER_AGGREGATE_INSERT)->link =
                (struct change_link){at + 1, i + 1};
    if (provider->far_aggregate > 0)
        change_append(list, CHANGE_PROVIDER_AGGREGATE_INSERT)->link =
            (struct change_link){at + 1, CLOUD_AGGREGATES + provider->far_aggregate};
}

static struct slice consumer_name(const struct cloud *cloud, int at)
{
    return arena_printf(cloud->arena, "consumer-%d", at);
}

static void add_consumer(const struct cloud *cloud, struct change_list *list, int at, int64_t *id)
{
    const struct cloud_consumer *consumer = &cloud->consumers[at];
    struct slice uuid = consumer_name(cloud, at);
    change_append(list, CHANGE_CONSUMER_INSERT)->consumer = (struct change_consumer){
        .id = at + 1, .project_id = consumer->project + 1, .user_id = 1, .uuid = uuid};
    for (int c = 0; c < CLOUD_CLASSES; c++)
        if (consumer->amounts[c] > 0)
            change_append(list, CHANGE_ALLOCATION_INSERT)->allocation = (struct change_allocation){
                (*id)++, at + 1, consumer->provider + 1, c + 1, consumer->amounts[c], uuid};
}

static void put_row(const struct cloud *cloud, struct change_list *list, enum valet_table table,
                    int64_t id, const struct record_value *values)
{
    change_put_valet(list, table, record_pack(&VALET_SHAPES[table], id, values, cloud->arena));
}

/* `provider`: from 1; 0: none. */
static void add_claim(const struct cloud *cloud, struct change_list *list, int group, int provider,
                      bool is_rack)
{
    if (provider == 0)
        return;
    struct record_value claim[VALET_CLAIM_FIELD_COUNT];
    record_init(&VALET_SHAPES[VALET_CLAIMS], claim);
    claim[VALET_CLAIM_GROUP_ID].number = group + 1;
    claim[VALET_CLAIM_PROVIDER].text = slice_of(cloud->providers[provider - 1].name);
    claim[VALET_CLAIM_IS_RACK].number = is_rack ? RECORD_TRUE : RECORD_FALSE;
    put_row(cloud, list, VALET_CLAIMS, 2 * group + is_rack + 1, claim);
}

static void add_group(const struct cloud *cloud, struct change_list *list, int group)
{
    struct record_value values[VALET_GROUP_FIELD_COUNT];
    record_init(&VALET_SHAPES[VALET_GROUPS], values);
    values[VALET_GROUP_UUID].text = slice_of(GROUP_UUIDS[group]);
    values[VALET_GROUP_NAME].text = slice_of(GROUP_NAMES[group]);
    put_row(cloud, list, VALET_GROUPS, group + 1, values);
    for (int project = 0; project < NON_MEMBER; project++) {
        struct record_value member[VALET_MEMBER_FIELD_COUNT];
        record_init(&VALET_SHAPES[VALET_MEMBERS], member);
        member[VALET_MEMBER_GROUP_ID].number = group + 1;
        member[VALET_MEMBER_PROJECT].text = slice_of(PROJECTS[project]);
        put_row(cloud, list, VALET_MEMBERS, group * CLOUD_PROJECTS + project + 1, member);
    }
    add_claim(cloud, list, group, cloud->rack_claims[group], true);
    add_claim(cloud, list, group, cloud->host_claims[group], false);
}

const struct version *cloud_publish(struct cloud *cloud)
{
    struct change_list list = {.arena = cloud->arena};
    struct edit *edit = replica_edit_empty(cloud->replica);
    struct version_stamp stamp = {{0}};
    int64_t allocation = 1;
    add_names(cloud, &list);
    for (int i = 0; i < cloud->provider_count; i++)
        add_provider(cloud, &list, i);
    change_append(&list, CHANGE_LOAD_PROVIDERS_END);
    for (int i = 0; i < cloud->provider_count; i++)
        add_contents(cloud, &list, i);
    for (int i = 0; i < cloud->consumer_count; i++)
        add_consumer(cloud, &list, i, &allocation);
    for (int i = 0; i < CLOUD_GROUPS && !cloud->no_groups; i++)
        add_group(cloud, &list, i);
    apply_changes(edit, &list);
    replica_publish(cloud->replica, edit, &stamp);
    cloud->version = replica_newest(cloud->replica);
    return cloud->version;
}

const struct provider *cloud_provider_at(const struct cloud *cloud, int provider)
{
    return version_provider_by_id(cloud->version, provider + 1);
}

const struct consumer *cloud_consumer_at(const struct cloud *cloud, int consumer)
{
    return version_consumer(cloud->version, consumer_name(cloud, consumer));
}
