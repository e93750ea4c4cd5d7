/* The rules of Valet's spec (8.2, 8.3) over plain tables, as plainly as possible; nothing is shared
 * with the planners. A commit may hold several requests: the checks cover only what no sequence of
 * requests may do. One thread. */
#include "model/valet.h"
#include "universe.h"
#include "valet_round.h"

static const struct rows *valet(const struct tables *tables, enum valet_table table)
{
    return &tables->rows[TABLE_VALET + (int)table];
}

static const struct record *record_at(const struct rows *rows, uint32_t i)
{
    return rows->row[i].image.row.record;
}

static int64_t root_of(const struct tables *tables, int64_t provider_id)
{
    return tables_find(tables, TABLE_PROVIDERS, provider_id)->image.provider.root_id;
}

static int64_t provider_by_uuid(const struct tables *tables, struct slice uuid)
{
    const struct rows *rows = &tables->rows[TABLE_PROVIDERS];
    for (uint32_t i = 0; i < rows->count; i++)
        if (slice_equal(rows->row[i].image.provider.uuid, uuid))
            return rows->row[i].image.provider.id;
    return 0;
}

static bool is_linked(const struct tables *tables, int64_t provider_id, struct slice aggregate)
{
    const struct rows *links = &tables->rows[TABLE_PROVIDER_AGGREGATES];
    for (uint32_t i = 0; i < links->count; i++) {
        const struct change_link *link = &links->row[i].image.link;
        if (link->provider_id == provider_id &&
            slice_equal(tables_find(tables, TABLE_AGGREGATES, link->other_id)->image.catalog.name,
                        aggregate))
            return true;
    }
    return false;
}

static bool is_marked(const struct tables *tables, int64_t provider_id)
{
    const struct rows *links = &tables->rows[TABLE_PROVIDER_TRAITS];
    for (uint32_t i = 0; i < links->count; i++)
        if (links->row[i].image.link.provider_id == provider_id)
            return true;
    return false;
}

static int64_t parent_of(const struct tables *tables, int64_t provider_id)
{
    return tables_find(tables, TABLE_PROVIDERS, provider_id)->image.provider.parent_id;
}

/* Whether the host's traits mark it as sharing. */
static bool is_host(const struct tables *tables, int64_t provider_id)
{
    return parent_of(tables, provider_id) == 0 && !is_marked(tables, provider_id);
}

static bool is_in_rack(const struct tables *tables, int64_t host_id, int64_t rack_id)
{
    if (!is_marked(tables, rack_id) || !is_host(tables, host_id))
        return false;
    for (int a = 0; a < V_RACKS; a++)
        if (is_linked(tables, host_id, v_rack_aggregate(a)) &&
            is_linked(tables, rack_id, v_rack_aggregate(a)))
            return true;
    return false;
}

/* The amount of the consumers of that uuid (data == NULL: of all) or of that project (0: of all) in
 * the tree of that root. */
static int64_t sum_in_tree(const struct tables *tables, int64_t root_id, struct slice uuid,
                           int64_t project_id)
{
    const struct rows *rows = &tables->rows[TABLE_ALLOCATIONS];
    int64_t sum = 0;
    for (uint32_t i = 0; i < rows->count; i++) {
        const struct change_allocation *row = &rows->row[i].image.allocation;
        const struct row *consumer = tables_find(tables, TABLE_CONSUMERS, row->consumer_id);
        if (root_of(tables, row->provider_id) == root_id &&
            (uuid.data == NULL || slice_equal(row->consumer_uuid, uuid)) &&
            (project_id == 0 || consumer->image.consumer.project_id == project_id))
            sum += row->used;
    }
    return sum;
}

static int64_t sum_of(const struct tables *tables, struct slice uuid)
{
    const struct rows *rows = &tables->rows[TABLE_ALLOCATIONS];
    int64_t sum = 0;
    for (uint32_t i = 0; uuid.data != NULL && i < rows->count; i++)
        if (slice_equal(rows->row[i].image.allocation.consumer_uuid, uuid))
            sum += rows->row[i].image.allocation.used;
    return sum;
}

static bool is_below(const struct tables *tables, int64_t provider_id, int64_t top_id)
{
    while (provider_id != 0 && provider_id != top_id)
        provider_id = parent_of(tables, provider_id);
    return provider_id == top_id;
}

/* Whether nothing is allocated on the provider and below it, wherever it is in its tree. */
static bool is_empty(const struct tables *tables, int64_t top_id)
{
    const struct rows *rows = &tables->rows[TABLE_ALLOCATIONS];
    for (uint32_t i = 0; i < rows->count; i++)
        if (is_below(tables, rows->row[i].image.allocation.provider_id, top_id))
            return false;
    return true;
}

/* Whether a consumer was on the provider or below and still is: then also between the requests that
 * a commit may have. */
static bool has_stayed(const struct tables *before, const struct tables *after, int64_t top_id)
{
    const struct rows *rows = &before->rows[TABLE_ALLOCATIONS];
    for (uint32_t i = 0; i < rows->count; i++) {
        const struct row *now =
            tables_find(after, TABLE_ALLOCATIONS, rows->row[i].image.allocation.id);
        if (now != NULL && now->birth == rows->row[i].birth &&
            is_below(before, rows->row[i].image.allocation.provider_id, top_id) &&
            is_below(after, now->image.allocation.provider_id, top_id))
            return true;
    }
    return false;
}

static struct slice group_uuid(const struct tables *tables, int64_t group_id)
{
    const struct row *row = tables_find(tables, (enum table)(TABLE_VALET + VALET_GROUPS), group_id);
    if (row == NULL)
        sim_fail("a claim of no group");
    return record_text(row->image.row.record, VALET_GROUP_UUID);
}

/* ---- claims ---- */

static bool rack_is_claimed(const struct tables *tables, int64_t group_id, int64_t rack_id)
{
    const struct rows *rows = valet(tables, VALET_CLAIMS);
    for (uint32_t i = 0; i < rows->count; i++) {
        const struct record *row = record_at(rows, i);
        if (record_bool(row, VALET_CLAIM_IS_RACK) &&
            record_number(row, VALET_CLAIM_GROUP_ID) == group_id &&
            provider_by_uuid(tables, record_text(row, VALET_CLAIM_PROVIDER)) == rack_id)
            return true;
    }
    return false;
}

static void check_rack(const struct tables *tables, const struct record *row, int64_t rack)
{
    struct slice group = group_uuid(tables, record_number(row, VALET_CLAIM_GROUP_ID));
    bool is_used = false;
    for (int h = 0; h < V_HOSTS; h++) {
        if (!is_in_rack(tables, h + 1, rack))
            continue;
        is_used |= !is_empty(tables, h + 1);
        if (!is_linked(tables, h + 1, group))
            sim_fail("host %d of a claimed rack is not claimed", h);
    }
    if (!is_used)
        sim_fail("an empty rack is claimed");
}

static void check_host(const struct tables *tables, const struct record *row, int64_t host)
{
    int64_t group_id = record_number(row, VALET_CLAIM_GROUP_ID);
    struct slice rack_uuid = record_text(row, VALET_CLAIM_RACK);
    if (!is_linked(tables, host, group_uuid(tables, group_id)))
        sim_fail("an automatic claim without its aggregate");
    if (rack_uuid.data == NULL) {
        if (is_empty(tables, host))
            sim_fail("an automatic claim of an empty host");
        return;
    }
    int64_t rack = provider_by_uuid(tables, rack_uuid);
    if (!rack_is_claimed(tables, group_id, rack) || !is_in_rack(tables, host, rack))
        sim_fail("a host is claimed with a rack that is not");
}

static void check_claims(const struct tables *tables)
{
    const struct rows *rows = valet(tables, VALET_CLAIMS);
    for (uint32_t i = 0; i < rows->count; i++) {
        const struct record *row = record_at(rows, i);
        int64_t provider = provider_by_uuid(tables, record_text(row, VALET_CLAIM_PROVIDER));
        if (provider == 0)
            sim_fail("a claim of a missing provider");
        if (record_bool(row, VALET_CLAIM_IS_RACK))
            check_rack(tables, row, provider);
        else
            check_host(tables, row, provider);
    }
}

/* ---- sums ---- */

static bool is_member(const struct tables *tables, int64_t group_id, struct slice project)
{
    const struct rows *rows = valet(tables, VALET_MEMBERS);
    for (uint32_t i = 0; i < rows->count; i++)
        if (record_number(record_at(rows, i), VALET_MEMBER_GROUP_ID) == group_id &&
            slice_equal(record_text(record_at(rows, i), VALET_MEMBER_PROJECT), project))
            return true;
    return false;
}

static void check_sums(const struct tables *before, const struct tables *after)
{
    const struct rows *projects = &after->rows[TABLE_PROJECTS];
    for (int g = 0; g < V_GROUPS; g++)
        for (int h = 0; h < V_HOSTS; h++)
            for (uint32_t p = 0; p < projects->count; p++) {
                struct slice project = projects->row[p].image.catalog.name;
                int64_t id = projects->row[p].image.catalog.id;
                bool is_held = is_host(before, h + 1) && is_host(after, h + 1) &&
                               is_linked(before, h + 1, v_group(g)) &&
                               is_linked(after, h + 1, v_group(g));
                bool is_one = is_member(before, g + 1, project) || is_member(after, g + 1, project);
                if (is_held && !is_one &&
                    sum_in_tree(after, h + 1, (struct slice){0}, id) >
                        sum_in_tree(before, h + 1, (struct slice){0}, id))
                    sim_fail("a non-member has more of host %d, which group %d holds", h, g);
            }
}

static bool has_turned(const struct tables *before, const struct tables *after)
{
    for (int h = 0; h < V_HOSTS; h++)
        if (is_host(before, h + 1) != is_host(after, h + 1))
            return true;
    return false;
}

static bool has_claim(const struct tables *tables, int64_t group_id, struct slice provider)
{
    const struct rows *rows = valet(tables, VALET_CLAIMS);
    for (uint32_t i = 0; i < rows->count; i++)
        if (record_number(record_at(rows, i), VALET_CLAIM_GROUP_ID) == group_id &&
            slice_equal(record_text(record_at(rows, i), VALET_CLAIM_PROVIDER), provider))
            return true;
    return false;
}

/* A host that becomes one, or ceases to be one, keeps its own claim as long as a consumer is on it.
 */
static void check_kept(const struct tables *before, const struct tables *after)
{
    const struct rows *rows = valet(before, VALET_CLAIMS);
    for (uint32_t i = 0; has_turned(before, after) && i < rows->count; i++) {
        const struct record *row = record_at(rows, i);
        struct slice uuid = record_text(row, VALET_CLAIM_PROVIDER);
        int64_t host = provider_by_uuid(before, uuid);
        int64_t group_id = record_number(row, VALET_CLAIM_GROUP_ID);
        if (!record_bool(row, VALET_CLAIM_IS_RACK) &&
            record_text(row, VALET_CLAIM_RACK).data == NULL &&
            is_linked(before, host, group_uuid(before, group_id)) &&
            has_stayed(before, after, host) && !has_claim(after, group_id, uuid))
            sim_fail("a claim is lost while a consumer is on the host");
    }
}

/* ---- placements ---- */

/* The root of the provider whose VCPU the consumer holds, the only class here: the first by name.
 */
static int64_t host_of(const struct tables *tables, struct slice uuid)
{
    const struct rows *rows = &tables->rows[TABLE_ALLOCATIONS];
    int64_t first = 0;
    for (uint32_t i = 0; i < rows->count; i++) {
        const struct change_allocation *row = &rows->row[i].image.allocation;
        /* names are in the order of the ids */
        if (slice_equal(row->consumer_uuid, uuid) && (first == 0 || row->provider_id < first))
            first = row->provider_id;
    }
    return first == 0 ? 0 : root_of(tables, first);
}

static const enum valet_placement_field tellers[] = {
    VALET_PLACEMENT_UUID, VALET_PLACEMENT_RESOURCE_ID, VALET_PLACEMENT_ORCHESTRATION_ID};

/* Whether a consumer of that uuid shows the placement's plan where the placement is. */
static bool counts(const struct tables *tables, const struct record *row, struct slice uuid)
{
    const struct record *plan = tables_find(tables, (enum table)(TABLE_VALET + VALET_PLANS),
                                            record_number(row, VALET_PLACEMENT_PLAN_ID))
                                    ->image.row.record;
    const struct rows *rows = &tables->rows[TABLE_CONSUMERS];
    for (uint32_t i = 0; i < rows->count; i++) {
        const struct change_consumer *consumer = &rows->row[i].image.consumer;
        if (slice_equal(consumer->uuid, uuid))
            return record_bool(plan, VALET_PLAN_ANY_PROJECT) ||
                   slice_equal(record_text(plan, VALET_PLAN_PROJECT),
                               tables_find(tables, TABLE_PROJECTS, consumer->project_id)
                                   ->image.catalog.name);
    }
    return false;
}

static bool tells(const struct tables *tables, const struct record *row, int f)
{
    struct slice uuid = record_text(row, tellers[f]);
    return sum_of(tables, uuid) > 0 && (f == 0 || counts(tables, row, uuid));
}

static struct slice teller_of(const struct tables *tables, const struct record *row)
{
    for (int f = 0; f < 3; f++)
        if (tells(tables, row, f))
            return record_text(row, tellers[f]);
    return (struct slice){0};
}

static int tellers_of(const struct tables *tables, const struct record *row)
{
    int count = 0;
    for (int f = 0; f < 3; f++)
        count += tells(tables, row, f);
    return count;
}

static void check_placement(const struct tables *after, const struct record *row)
{
    struct slice hold = record_text(row, VALET_PLACEMENT_UUID);
    int64_t host = host_of(after, hold);
    static const enum valet_placement_field servers[] = {VALET_PLACEMENT_RESOURCE_ID,
                                                         VALET_PLACEMENT_ORCHESTRATION_ID};
    for (int s = 0; s < 2; s++) {
        struct slice uuid = record_text(row, servers[s]);
        if (host != 0 && uuid.data != NULL && counts(after, row, uuid) &&
            sum_in_tree(after, host, uuid, 0) > 0)
            sim_fail("a hold beside its server");
    }
}

/* The last consumer that showed a placement's location is deleted: the location is kept. */
static void check_location(const struct tables *before, const struct tables *after,
                           const struct record *row)
{
    const struct row *known =
        tables_find(before, (enum table)(TABLE_VALET + VALET_PLACEMENTS), row->id);
    if (known == NULL || teller_of(after, row).data != NULL)
        return;
    struct slice teller = teller_of(before, known->image.row.record);
    if (teller.data == NULL || tellers_of(before, known->image.row.record) > 1)
        return; /* of several, as non-members leave them, one may have been deleted before the other
                 */
    const struct row *host = tables_find(before, TABLE_PROVIDERS, host_of(before, teller));
    if (!slice_equal(record_text(row, VALET_PLACEMENT_LOCATION), host->image.provider.name))
        sim_fail("a placement that no consumer shows is not at its last location");
}

void valet_check(const struct tables *before, const struct tables *after)
{
    check_claims(after);
    check_sums(before, after);
    const struct rows *rows = valet(after, VALET_PLACEMENTS);
    for (uint32_t i = 0; i < rows->count; i++)
        check_placement(after, record_at(rows, i));
}

static struct {
    bool is_there;
    struct valet_action action;
} placed;

void valet_check_placed(const struct valet_action *action)
{
    placed.is_there = action != NULL;
    if (action != NULL)
        placed.action = *action;
}

static void check_own(const struct tables *after, int64_t host, int group)
{
    const struct rows *projects = &after->rows[TABLE_PROJECTS];
    for (int g = 0; g < V_GROUPS; g++)
        if (is_linked(after, host, v_group(g)) != (g == group))
            sim_fail("a server of group %d is where group %d is, or is not", group, g);
    for (uint32_t p = 0; p < projects->count; p++)
        if (!is_member(after, group + 1, projects->row[p].image.catalog.name) &&
            sum_in_tree(after, host, (struct slice){0}, projects->row[p].image.catalog.id) > 0)
            sim_fail("a server of group %d is placed beside a non-member", group);
}

/* The rules of 8.3 about which hosts a server may use. */
static void check_placed(const struct tables *after)
{
    const struct valet_action *action = &placed.action;
    int64_t host = action->host + 1;
    if (!placed.is_there)
        return;
    if (!is_host(after, host))
        sim_fail("a server is placed on a provider that is not a host");
    for (int g = 0; action->what == V_PLACE && g < V_GROUPS; g++)
        if (is_linked(after, host, v_group(g)))
            sim_fail("a server of no group is placed where group %d is", g);
    if (action->what != V_PLACE)
        check_own(after, host, action->group);
    for (int r = 0; action->what == V_PLACE_RACK && r < V_RACKS; r++)
        for (int h = 0; is_in_rack(after, host, V_HOSTS + V_CHILDREN + r + 1) && h < V_HOSTS; h++)
            if (is_in_rack(after, h + 1, V_HOSTS + V_CHILDREN + r + 1))
                check_own(after, h + 1, action->group);
}

void valet_check_one(const struct tables *before, const struct tables *after)
{
    valet_check(before, after);
    check_placed(after);
    check_kept(before, after);
    const struct rows *rows = valet(after, VALET_PLACEMENTS);
    for (uint32_t i = 0; i < rows->count; i++)
        check_location(before, after, record_at(rows, i));
}
