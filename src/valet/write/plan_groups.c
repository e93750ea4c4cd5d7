/* Each planner writes rows of its own tables; only deleting a group also changes providers. Checks
 * read the newest, unpublished version. The writer only. */
#include "valet/write/plan_groups.h"

#include "base/arena.h"
#include "base/hash_map.h"
#include "replica/valet.h"
#include "valet/state/hosts.h"

static const struct valet_group *find_group(struct slice uuid, const struct plan *plan,
                                            struct err *err)
{
    const struct valet_group *group = version_valet_group_by_uuid(plan->version, uuid);
    if (group == NULL)
        err_set_join(err, 404, NULL, SLICE_LIT("There is no group "), uuid);
    return group;
}

static void plan_groups_put(const struct plan *plan, enum valet_table table, int64_t id,
                            const struct record_value *values)
{
    change_put_valet(plan->changes, table,
                     record_pack(&VALET_SHAPES[table], id, values, plan->arena));
}

static int64_t next_id(const struct plan *plan, enum valet_table table)
{
    return store_next_id(plan->store, (enum store_table)(STORE_VALET + (int)table));
}

bool plan_group_create(const struct plan_group *group, const struct plan *plan, struct err *err)
{
    struct record_value values[VALET_GROUP_FIELD_COUNT];
    if (version_valet_group_by_name(plan->version, group->name) != NULL)
        return err_set_join(err, 400, NULL, SLICE_LIT("There is a group named "), group->name,
                            SLICE_LIT(" already"));
    record_init(&VALET_SHAPES[VALET_GROUPS], values);
    values[VALET_GROUP_UUID].text = group->uuid;
    values[VALET_GROUP_NAME].text = group->name;
    values[VALET_GROUP_DESCRIPTION].text = group->description;
    values[VALET_GROUP_CREATED_AT].number = plan->now_us;
    plan_groups_put(plan, VALET_GROUPS, next_id(plan, VALET_GROUPS), values);
    return true;
}

bool plan_group_describe(struct slice uuid, struct slice description, const struct plan *plan,
                         struct err *err)
{
    struct record_value values[VALET_GROUP_FIELD_COUNT];
    const struct valet_group *group = find_group(uuid, plan, err);
    if (group == NULL)
        return false;
    record_open(&VALET_SHAPES[VALET_GROUPS], &group->record, values);
    values[VALET_GROUP_DESCRIPTION].text = description;
    plan_groups_put(plan, VALET_GROUPS, group->record.id, values);
    return true;
}

static void remove_aggregate(const struct valet_group *group, const struct plan *plan)
{
    const struct version *version = plan->version;
    const struct catalog_row *row = host_aggregate_of(version, group);
    if (row == NULL)
        return;
    const struct slotset *slots = &catalog_at(&version->aggregates, row->number)->slots;
    for (uint32_t slot = 0; (slot = slotset_next(slots, slot)) != NUMBER_NONE; slot++) {
        const struct provider *provider = version_place(version, (struct slot_no){slot})->provider;
        change_append(plan->changes, CHANGE_PROVIDER_AGGREGATE_DELETE)->link =
            (struct change_link){provider->id, row->id};
    }
}

static void remove_claims(const struct valet_group *group, const struct plan *plan)
{
    const struct valet_claim *claim;
    for (int64_t id = 0;
         (claim = version_next_valet_claim_of_group(plan->version, group->record.id, id)) != NULL;
         id = claim->record.id)
        change_delete_valet(plan->changes, VALET_CLAIMS, claim->record.id);
}

bool plan_group_delete(struct slice uuid, const struct plan *plan, struct err *err)
{
    const struct valet_group *group = find_group(uuid, plan, err);
    if (group == NULL)
        return false;
    if (version_next_valet_member(plan->version, group->record.id, 0) != NULL)
        return err_set_join(err, 409, NULL, SLICE_LIT("The group "),
                            record_text(&group->record, VALET_GROUP_NAME),
                            SLICE_LIT(" has members"));
    remove_claims(group, plan);
    remove_aggregate(group, plan);
    change_delete_valet(plan->changes, VALET_GROUPS, group->record.id);
    return true;
}

static size_t count_members(const struct version *version, const struct valet_group *group)
{
    size_t count = 0;
    const struct valet_member *member;
    for (int64_t id = 0;
         (member = version_next_valet_member(version, group->record.id, id)) != NULL;
         id = member->record.id)
        count++;
    return count;
}

/* Whether one of the texts is the same project; if not, it is added to the map. */
static bool is_among(const struct slice *projects, struct hash_map *map, struct slice project,
                     uint32_t index)
{
    uint64_t hash = project_hash(project);
    struct hash_slot *slot;
    HASH_MAP_FIND(slot, map, hash, project_equal(projects[hash_slot_item(slot)], project));
    if (!hash_slot_is_free(slot))
        return true;
    hash_slot_put(slot, hash, index);
    return false;
}

/* Those that are new, each once. */
static void find_new(const struct valet_group *group, const struct slice *projects, size_t count,
                     const struct plan *plan, struct planned_members *planned)
{
    struct slice *added = arena_array(plan->arena, count, sizeof(*added));
    struct hash_map map = hash_map_create(plan->arena, count);
    *planned = (struct planned_members){added, 0};
    for (size_t i = 0; i < count; i++) {
        added[planned->count] = projects[i];
        if (version_valet_member(plan->version, group->record.id, projects[i]) == NULL &&
            !is_among(added, &map, projects[i], (uint32_t)planned->count))
            planned->count++;
    }
}

bool plan_group_add_members(struct slice uuid, const struct slice *projects, size_t count,
                            const struct plan *plan, struct planned_members *planned,
                            struct err *err)
{
    struct record_value values[VALET_MEMBER_FIELD_COUNT];
    const struct valet_group *group = find_group(uuid, plan, err);
    if (group == NULL)
        return false;
    check(count <= PLAN_GROUP_MEMBERS_MAX);
    find_new(group, projects, count, plan, planned);
    if (planned->count + count_members(plan->version, group) > PLAN_GROUP_MEMBERS_MAX)
        return err_set(err, 400, NULL, "-> members -> the group would have more than %d",
                       PLAN_GROUP_MEMBERS_MAX);
    int64_t first = 0;
    for (size_t i = 0; i < planned->count; i++) {
        int64_t id = next_id(plan, VALET_MEMBERS);
        first = i == 0 ? id : first;
        record_init(&VALET_SHAPES[VALET_MEMBERS], values);
        values[VALET_MEMBER_GROUP_ID].number = group->record.id;
        values[VALET_MEMBER_PROJECT].text = planned->added[i];
        values[VALET_MEMBER_ADDED_WITH].number = first;
        plan_groups_put(plan, VALET_MEMBERS, id, values);
    }
    return true;
}

/* The use of the group's hosts that is searched for. */
struct use {
    const struct version *version;
    const struct valet_group *group;
    struct slice project;        /* data == NULL: any member */
    const struct provider *host; /* where it was found */
};

static bool is_not_used_by(void *cls, const struct consumer *consumer)
{
    const struct use *use = cls;
    struct slice project = catalog_name(catalog_row_at(&use->version->projects, consumer->project));
    if (use->project.data != NULL)
        return !project_equal(project, use->project);
    return version_valet_member(use->version, use->group->record.id, project) == NULL;
}

static bool is_used_on(struct use *use, const struct provider *host)
{
    use->host = host;
    return !host_visit_consumers(use->version, host, is_not_used_by, use);
}

/* Checks the hosts among the providers in the group's aggregate. */
static bool is_used_in(struct use *use, const struct host_marks *marks, uint32_t aggregate)
{
    const struct slotset *slots = &catalog_at(&use->version->aggregates, aggregate)->slots;
    for (uint32_t slot = 0; (slot = slotset_next(slots, slot)) != NUMBER_NONE; slot++) {
        const struct provider *host = version_place(use->version, (struct slot_no){slot})->provider;
        if (host_is(marks, host) && is_used_on(use, host))
            return true;
    }
    return false;
}

static bool is_used_in_rack(struct use *use, const struct host_marks *marks,
                            const struct valet_claim *claim)
{
    const struct provider *rack =
        version_provider_by_uuid(use->version, record_text(&claim->record, VALET_CLAIM_PROVIDER));
    if (!record_bool(&claim->record, VALET_CLAIM_IS_RACK) || rack == NULL)
        return false;
    struct marker_hosts hosts = marker_hosts_of(use->version, marks, rack, marks->rack);
    const struct provider *host;
    while ((host = marker_hosts_next(&hosts)) != NULL)
        if (is_used_on(use, host))
            return true;
    return false;
}

/* A group's hosts are those in its aggregate, and those in the racks that it has claimed (8.3). */
static bool is_used(struct use *use)
{
    const struct host_marks marks = host_marks_of(use->version);
    const struct catalog_row *row = host_aggregate_of(use->version, use->group);
    if (row != NULL && is_used_in(use, &marks, row->number))
        return true;
    const struct valet_claim *claim;
    for (int64_t id = 0;
         (claim = version_next_valet_claim_of_group(use->version, use->group->record.id, id)) !=
         NULL;
         id = claim->record.id)
        if (is_used_in_rack(use, &marks, claim))
            return true;
    return false;
}

static void remove_all(const struct valet_group *group, const struct plan *plan)
{
    const struct valet_member *member;
    for (int64_t id = 0;
         (member = version_next_valet_member(plan->version, group->record.id, id)) != NULL;
         id = member->record.id)
        change_delete_valet(plan->changes, VALET_MEMBERS, member->record.id);
}

bool plan_group_remove_members(struct slice uuid, struct slice project, const struct plan *plan,
                               struct err *err)
{
    const struct valet_group *group = find_group(uuid, plan, err);
    if (group == NULL)
        return false;
    const struct valet_member *member =
        project.data == NULL ? NULL
                             : version_valet_member(plan->version, group->record.id, project);
    if (project.data != NULL && member == NULL)
        return err_set_join(err, 404, NULL, SLICE_LIT("The group has no member "), project);
    struct use use = {.version = plan->version, .group = group, .project = project};
    if (is_used(&use))
        return err_set_join(err, 409, NULL, SLICE_LIT("A member holds something on "),
                            provider_name(use.host), SLICE_LIT(", a host of the group"));
    if (member != NULL)
        change_delete_valet(plan->changes, VALET_MEMBERS, member->record.id);
    else
        remove_all(group, plan);
    return true;
}
