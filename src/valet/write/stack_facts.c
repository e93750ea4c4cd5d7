/* Checks again the facts that a plan depends on: its rows, the ids that it adds, groups and
 * membership, the state of the chosen providers, claims of the chosen hosts, and which hosts are
 * free or make up a rack. Appends nothing. The writer only. */
#include <stdlib.h>

#include "base/arena.h"
#include "valet/state/hosts.h"
#include "valet/state/placement_location.h"
#include "valet/write/plan_stacks_internal.h"

/* FNV-1a over numbers: the hashes are compared within one process, and only administrators choose
 * the values. */
static uint64_t mix(uint64_t hash, const void *data, size_t len)
{
    const unsigned char *bytes = data;
    for (size_t i = 0; i < len; i++)
        hash = (hash ^ bytes[i]) * 0x100000001b3u;
    return hash;
}

static uint64_t mix_text(uint64_t hash, struct slice text)
{
    hash = mix(hash, &text.len, sizeof(text.len));
    return mix(hash, text.data, text.len);
}

static const uint64_t LOOK_BASIS = 0xcbf29ce484222325u;

/* By their names, in any order: a load may give them other numbers. */
static uint64_t mix_names(uint64_t hash, const struct catalog *catalog, const struct name_set *set)
{
    uint64_t sum = set->count;
    for (uint32_t i = 0; i < set->count; i++)
        sum += mix_text(LOOK_BASIS, catalog_name(catalog_row_at(catalog, set->numbers[i])));
    return mix(hash, &sum, sizeof(sum));
}

/* In any order. */
static uint64_t sum_of_markers(const struct version *version, const struct host_marks *marks,
                               const struct provider *host, uint32_t mark)
{
    uint64_t sum = 0;
    struct host_markers markers = host_markers_of(version, marks, host, mark);
    const struct provider *marker;
    while ((marker = host_markers_next(&markers)) != NULL)
        sum += mix_text(mix_text(LOOK_BASIS, provider_uuid(marker)), provider_name(marker));
    return sum;
}

uint64_t stack_place(const struct version *version, const struct host_marks *marks,
                     const struct provider *provider)
{
    uint64_t racks = sum_of_markers(version, marks, provider, marks->rack);
    uint64_t zones = sum_of_markers(version, marks, provider, marks->zone);
    uint64_t hash = mix_text(LOOK_BASIS, provider_uuid(version_provider(version, provider->root)));
    hash = mix(hash, &racks, sizeof(racks));
    return mix(hash, &zones, sizeof(zones));
}

uint64_t stack_look(const struct version *version, const struct host_marks *marks,
                    const struct provider *provider)
{
    uint64_t hash = mix_text(stack_place(version, marks, provider), provider_name(provider));
    hash = mix_names(hash, &version->traits, provider->traits);
    return mix_names(hash, &version->aggregates, provider->aggregates);
}

static bool looks_hold(const struct stack_commit *commit, const struct plan *plan,
                       const struct host_marks *marks)
{
    const struct version *version = plan->version;
    for (size_t i = 0; i < commit->look_count; i++) {
        const struct stack_look *known = &commit->looks[i];
        const struct provider *now = version_provider_by_uuid(version, known->provider);
        if (now == NULL || known->look != (known->is_place ? stack_place(version, marks, now)
                                                           : stack_look(version, marks, now)))
            return false;
    }
    return true;
}

/* Whether the project has no other plan for the stack. */
static bool stack_is_free(const struct stack_commit *commit, const struct plan *plan)
{
    struct slice stack_id = record_text(&commit->after->record, VALET_PLAN_STACK_ID);
    struct slice project = record_text(&commit->after->record, VALET_PLAN_PROJECT);
    return version_valet_plan_of_stack(plan->version, project, stack_id) == NULL;
}

static bool plan_holds(const struct stack_commit *commit, const struct plan *plan)
{
    if (commit->before == NULL)
        return stack_is_free(commit, plan);
    const struct valet_plan *row = version_valet_plan(plan->version, commit->before->record.id);
    return row != NULL && record_equal(&row->record, &commit->before->record);
}

static bool goes(const struct stack_commit *commit, int64_t id)
{
    for (size_t i = 0; i < commit->row_count; i++)
        if (commit->rows[i].before != NULL && commit->rows[i].before->record.id == id)
            return commit->rows[i].after == NULL;
    return false;
}

/* Whether the placement's new ids are free. Ids that it already had are not checked: a file that
 * has an id twice would block both plans. */
static bool ids_are_free(const struct stack_commit *commit, const struct stack_row *row,
                         const struct plan *plan)
{
    static const enum valet_placement_field ids[] = {VALET_PLACEMENT_ORCHESTRATION_ID,
                                                     VALET_PLACEMENT_RESOURCE_ID};
    int64_t own = row->before == NULL ? 0 : row->before->record.id;
    for (size_t i = 0; i < 2; i++) {
        struct slice id = record_text(&row->after->record, ids[i]);
        struct slice had = {0};
        if (row->before != NULL)
            had = record_text(&row->before->record, ids[i]);
        if (id.data == NULL || (had.data != NULL && valet_id_equal(id, had)))
            continue;
        const struct valet_placement *other = version_valet_placement_with(plan->version, id, own);
        if (other != NULL && !goes(commit, other->record.id))
            return false;
    }
    return true;
}

/* Whether the placement and its location are unchanged. */
static bool placement_holds(const struct stack_row *row, const struct plan *plan)
{
    const struct valet_placement *now =
        version_valet_placement(plan->version, row->before->record.id);
    if (now == NULL || !record_equal(&now->record, &row->before->record))
        return false;
    const struct provider *host = placement_host(plan->version, now);
    return slice_equal(row->present, host == NULL ? (struct slice){0} : provider_uuid(host));
}

static bool placements_hold(const struct stack_commit *commit, const struct plan *plan)
{
    size_t known = 0;
    size_t there = 0;
    for (size_t i = 0; i < commit->row_count; i++) {
        const struct stack_row *row = &commit->rows[i];
        if (row->after != NULL && !ids_are_free(commit, row, plan))
            return false;
        if (row->before == NULL)
            continue;
        if (!placement_holds(row, plan))
            return false;
        known++;
    }
    const struct valet_placement *at = NULL;
    for (int64_t id = 0;
         commit->before != NULL && commit->covers_plan &&
         (at = version_next_valet_placement_of(plan->version, commit->before->record.id, id)) !=
             NULL;
         id = at->record.id)
        there++;
    return !commit->covers_plan || known == there;
}

static bool groups_hold(const struct stack_commit *commit, const struct plan *plan)
{
    struct slice project = record_text(&commit->after->record, VALET_PLAN_PROJECT);
    for (size_t i = 0; i < commit->group_count; i++) {
        const struct valet_group *group =
            version_valet_group_by_uuid(plan->version, commit->groups[i]);
        if (group == NULL || version_valet_member(plan->version, group->record.id, project) == NULL)
            return false;
    }
    return true;
}

/* Consumers that do not prevent a claim of a host: for that group, or for any. */
struct harmless {
    const struct consumer *consumer;
    int64_t group_id;
};

enum { ANY_GROUP = 0 };

/* Ascending. */
struct emptying {
    const struct version *version;
    struct harmless *list;
    size_t count;
    int64_t group_id; /* that wants the claim */
};

static int compare_harmless(const void *left, const void *right)
{
    const struct harmless *a = left;
    const struct harmless *b = right;
    if (a->consumer != b->consumer)
        return a->consumer < b->consumer ? -1 : 1;
    return (a->group_id > b->group_id) - (a->group_id < b->group_id);
}

/* A plan of a caller who sees all projects may have servers of projects that are not members. */
static bool is_of_member(const struct version *version, const struct consumer *consumer,
                         int64_t group_id)
{
    struct slice project = catalog_name(catalog_row_at(&version->projects, consumer->project));
    return version_valet_member(version, group_id, project) != NULL;
}

static void add_harmless(struct emptying *emptying, const struct consumer *consumer,
                         int64_t group_id)
{
    if (consumer != NULL &&
        (group_id == ANY_GROUP || is_of_member(emptying->version, consumer, group_id)))
        emptying->list[emptying->count++] = (struct harmless){consumer, group_id};
}

enum { HARMLESS_OF_ROW = 4 };

/* Holds that the commit deletes or moves, and the consumers of the plan's servers that are assigned
 * to a group, as in the solver (valet/solve/prepare.c). */
static struct emptying emptying_of(const struct stack_commit *commit, const struct plan *plan)
{
    const struct version *version = plan->version;
    struct emptying emptying = {version, NULL, 0, 0};
    emptying.list =
        arena_array(plan->arena, commit->row_count * HARMLESS_OF_ROW, sizeof(*emptying.list));
    for (size_t i = 0; i < commit->row_count && commit->claim_count > 0; i++) {
        const struct stack_row *row = &commit->rows[i];
        if (row->before != NULL && (row->moves_hold || row->after == NULL))
            add_harmless(
                &emptying,
                version_consumer(version, record_text(&row->before->record, VALET_PLACEMENT_UUID)),
                ANY_GROUP);
        if (row->after == NULL || row->exclusive.group_id == 0)
            continue;
        const struct record *after = &row->after->record;
        int64_t group_id = row->exclusive.group_id;
        add_harmless(&emptying, version_consumer(version, record_text(after, VALET_PLACEMENT_UUID)),
                     group_id);
        add_harmless(&emptying,
                     placement_server_by(version, commit->after,
                                         record_text(after, VALET_PLACEMENT_RESOURCE_ID)),
                     group_id);
        add_harmless(&emptying,
                     placement_server_by(version, commit->after,
                                         record_text(after, VALET_PLACEMENT_ORCHESTRATION_ID)),
                     group_id);
    }
    if (emptying.count > 1)
        qsort(emptying.list, emptying.count, sizeof(*emptying.list), compare_harmless);
    return emptying;
}

static bool has_harmless(const struct emptying *emptying, const struct consumer *consumer,
                         int64_t group_id)
{
    struct harmless key = {consumer, group_id};
    return emptying->count > 0 && bsearch(&key, emptying->list, emptying->count,
                                          sizeof(*emptying->list), compare_harmless) != NULL;
}

static bool is_no_hindrance(void *cls, const struct consumer *consumer)
{
    const struct emptying *emptying = cls;
    return has_harmless(emptying, consumer, ANY_GROUP) ||
           has_harmless(emptying, consumer, emptying->group_id);
}

static bool host_is_disabled(const struct host_marks *marks, const struct provider *host)
{
    return marks->disabled != NUMBER_NONE && name_set_has(host->traits, marks->disabled);
}

/* Unclaimed, not disabled, with nothing on it that prevents the group's claim. */
static bool host_is_free(struct emptying *emptying, const struct host_marks *marks,
                         const struct provider *host, const struct valet_group *group)
{
    emptying->group_id = group->record.id;
    return !host_is_disabled(marks, host) && host_claim_of(emptying->version, host).group == NULL &&
           host_visit_consumers(emptying->version, host, is_no_hindrance, emptying);
}

static bool host_is_of(const struct version *version, const struct provider *host,
                       const struct valet_group *group)
{
    struct host_claim claim = host_claim_of(version, host);
    return claim.group == group && !claim.several && !host_has_non_member(version, host, group);
}

static size_t count_of_rack(const struct version *version, const struct host_marks *marks,
                            const struct provider *rack)
{
    size_t count = 0;
    struct marker_hosts hosts = marker_hosts_of(version, marks, rack, marks->rack);
    while (marker_hosts_next(&hosts) != NULL)
        count++;
    return count;
}

static bool find_claim(struct emptying *emptying, const struct stack_claim *claim,
                       const struct plan *plan, const struct host_marks *marks,
                       struct stack_claim_found *found)
{
    const struct version *version = plan->version;
    *found = (struct stack_claim_found){
        .group = version_valet_group(version, claim->group_id),
        .provider = claim->provider,
        .is_rack = claim->is_rack,
        .hosts = arena_array(plan->arena, claim->host_count, sizeof(struct provider *)),
    };
    const struct provider *rack = version_provider_by_uuid(version, claim->provider);
    if (found->group == NULL || rack == NULL)
        return false;
    for (size_t i = 0; i < claim->host_count; i++) {
        const struct provider *host = version_provider_by_uuid(version, claim->hosts[i]);
        if (host == NULL || !host_is(marks, host) ||
            (claim->is_rack && !host_is_under(version, marks, host, rack, marks->rack)))
            return false;
        if (host_is_free(emptying, marks, host, found->group))
            found->hosts[found->host_count++] = host;
        else if (!host_is_of(version, host, found->group))
            return false;
    }
    return !claim->is_rack || count_of_rack(version, marks, rack) == claim->host_count;
}

/* A claim of a rack that the group already has is omitted. */
static bool find_claims(const struct stack_commit *commit, const struct plan *plan,
                        const struct host_marks *marks, struct stack_facts *facts)
{
    facts->claims = arena_array(plan->arena, commit->claim_count, sizeof(*facts->claims));
    facts->claim_count = 0;
    struct emptying emptying = emptying_of(commit, plan);
    for (size_t i = 0; i < commit->claim_count; i++) {
        const struct stack_claim *claim = &commit->claims[i];
        struct stack_claim_found *found = &facts->claims[facts->claim_count];
        if (claim->is_rack && host_rack_is_claimed(plan->version, claim->provider, claim->group_id))
            continue;
        if (!find_claim(&emptying, claim, plan, marks, found))
            return false;
        if (found->host_count == 0 && !found->is_rack)
            continue;
        facts->claim_count++;
    }
    return true;
}

/* The group for which the commit claims the host; NULL: none. */
static const struct valet_group *claimed_now(const struct stack_facts *facts,
                                             const struct provider *host)
{
    for (size_t i = 0; i < facts->claim_count; i++)
        for (size_t h = 0; h < facts->claims[i].host_count; h++)
            if (facts->claims[i].hosts[h] == host)
                return facts->claims[i].group;
    return NULL;
}

static bool rack_is_claimed_now(const struct stack_facts *facts, struct slice rack,
                                int64_t group_id)
{
    for (size_t i = 0; i < facts->claim_count; i++)
        if (facts->claims[i].is_rack && slice_equal(facts->claims[i].provider, rack))
            return facts->claims[i].group->record.id == group_id;
    return false;
}

/* Whether the rack is the group's, or will be after the commit, and all its hosts are the group's
 * alone. */
static bool rack_is_of(const struct version *version, const struct host_marks *marks,
                       const struct stack_facts *facts, struct slice uuid,
                       const struct valet_group *group)
{
    if (rack_is_claimed_now(facts, uuid, group->record.id))
        return true; /* find_claims has checked its hosts */
    const struct provider *rack = version_provider_by_uuid(version, uuid);
    if (rack == NULL || !host_rack_is_claimed(version, uuid, group->record.id))
        return false;
    struct marker_hosts hosts = marker_hosts_of(version, marks, rack, marks->rack);
    const struct provider *host;
    while ((host = marker_hosts_next(&hosts)) != NULL)
        if (!host_is_of(version, host, group))
            return false;
    return true;
}

static bool host_is_allowed(const struct stack_row *row, const struct plan *plan,
                            const struct host_marks *marks, const struct stack_facts *facts)
{
    const struct version *version = plan->version;
    const struct provider *host = version_provider_by_uuid(version, row->host);
    if (host == NULL || !host_is(marks, host) || host_is_disabled(marks, host))
        return false;
    if (row->exclusive.group_id == 0)
        return host_claim_of(version, host).group == NULL && claimed_now(facts, host) == NULL;
    const struct valet_group *group = version_valet_group(version, row->exclusive.group_id);
    if (group == NULL)
        return false;
    struct slice rack = row->exclusive.rack;
    return (claimed_now(facts, host) == group || host_is_of(version, host, group)) &&
           (rack.data == NULL || rack_is_of(version, marks, facts, rack, group));
}

bool stack_facts_hold(const struct stack_commit *commit, const struct plan *plan,
                      struct stack_facts *facts)
{
    struct host_marks marks = host_marks_of(plan->version);
    if (!plan_holds(commit, plan) || !placements_hold(commit, plan) || !groups_hold(commit, plan) ||
        !looks_hold(commit, plan, &marks) || !find_claims(commit, plan, &marks, facts))
        return false;
    for (size_t i = 0; i < commit->row_count; i++)
        if (commit->rows[i].after != NULL && commit->rows[i].host.data != NULL &&
            !host_is_allowed(&commit->rows[i], plan, &marks, facts))
            return false;
    return true;
}
