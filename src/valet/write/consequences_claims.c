/* Consequences for claims of groups, after a change of the facts that they depend on: one step at a
 * time.
 *
 * A claim of a rack ends when the rack is empty, or when the group's aggregate is removed from one
 * of its hosts; the hosts claimed through it then lose the aggregate. Hosts added to the rack are
 * claimed. A claim of a host ends when the host is empty or its aggregate is removed. A host that
 * leaves its claimed rack keeps a claim of its own, so that its consumers remain isolated. If a
 * provider with a claim stops being a host, because it gets a parent or shares, the claim is not in
 * force, but it is kept for as long as something is allocated on the provider or below it, in case
 * the provider becomes a host again. Each step changes a provider's aggregates at most once, and
 * leaves further changes to the next step. Every step brings rows closer to what the aggregates and
 * racks say, so the steps end. The writer only. */
#include "valet/write/consequences_claims.h"
#include "base/arena.h"
#include "replica/rows.h"
#include "valet/state/hosts.h"

struct step {
    struct consequences *consequences;
    const struct plan *plan;
    const struct version *version;
    struct host_marks marks;
};

static bool is_touched(const struct step *step, const struct provider *provider)
{
    const struct consequences_provider *known =
        consequences_set_find(&step->consequences->providers, provider->id);
    return known != NULL && known->step == step->consequences->step;
}

/* The next step examines it again: another claim that ended in this one may involve it, too. */
static void touch(struct step *step, const struct provider *provider)
{
    struct consequences_provider *known =
        consequences_set_add(&step->consequences->providers, provider->id, step->plan->arena);
    known->has_moved = true;
    known->step = step->consequences->step;
}

static const struct provider *provider_of(const struct step *step, const struct valet_claim *claim)
{
    return version_provider_by_uuid(step->version,
                                    record_text(&claim->record, VALET_CLAIM_PROVIDER));
}

static const struct valet_group *consequences_claims_group_of(const struct step *step,
                                                              const struct valet_claim *claim)
{
    return version_valet_group(step->version, record_number(&claim->record, VALET_CLAIM_GROUP_ID));
}

static bool is_linked(const struct step *step, const struct provider *host,
                      const struct valet_group *group)
{
    const struct catalog_row *row = host_aggregate_of(step->version, group);
    return row != NULL && name_set_has(host->aggregates, row->number);
}

static void drop_row(const struct step *step, const struct valet_claim *claim)
{
    change_delete_valet(step->plan->changes, VALET_CLAIMS, claim->record.id);
}

static void put_rack(const struct step *step, const struct valet_claim *claim, struct slice rack)
{
    const struct record_shape *shape = &VALET_SHAPES[VALET_CLAIMS];
    struct record_value values[VALET_CLAIM_FIELD_COUNT];
    record_open(shape, &claim->record, values);
    values[VALET_CLAIM_RACK].text = rack;
    change_put_valet(step->plan->changes, VALET_CLAIMS,
                     record_pack(shape, claim->record.id, values, step->plan->arena));
}

/* Ends the claim of the host: row and aggregate are removed. */
static void release(struct step *step, const struct valet_claim *claim,
                    const struct valet_group *group)
{
    const struct provider *host = provider_of(step, claim);
    if (host != NULL && is_touched(step, host))
        return;
    drop_row(step, claim);
    if (host == NULL)
        return;
    touch(step, host);
    if (!is_linked(step, host, group))
        return;
    change_append(step->plan->changes, CHANGE_PROVIDER_AGGREGATE_DELETE)->link =
        (struct change_link){host->id, host_aggregate_of(step->version, group)->id};
}

/* The host was added to a rack that is claimed. */
static void join(struct step *step, const struct provider *host, const struct provider *rack,
                 const struct valet_group *group)
{
    const struct plan *plan = step->plan;
    const struct catalog_row *aggregate = host_aggregate_of(step->version, group);
    if (aggregate == NULL)
        return; /* no planner claims a rack without hosts */
    touch(step, host);
    struct change *change = change_append(plan->changes, CHANGE_PROVIDER_AGGREGATE_INSERT);
    change->created_at_us = plan->now_us;
    change->link = (struct change_link){host->id, aggregate->id};
    const struct record_shape *shape = &VALET_SHAPES[VALET_CLAIMS];
    struct record_value values[VALET_CLAIM_FIELD_COUNT];
    record_init(shape, values);
    values[VALET_CLAIM_GROUP_ID].number = group->record.id;
    values[VALET_CLAIM_PROVIDER].text = provider_uuid(host);
    values[VALET_CLAIM_RACK].text = provider_uuid(rack);
    values[VALET_CLAIM_IS_RACK].number = RECORD_FALSE;
    int64_t id = store_next_id(plan->store, (enum store_table)(STORE_VALET + VALET_CLAIMS));
    change_put_valet(plan->changes, VALET_CLAIMS, record_pack(shape, id, values, plan->arena));
}

/* ---- racks ---- */

static const struct valet_claim *next_of_rack(const struct step *step,
                                              const struct valet_group *group,
                                              const struct provider *rack, int64_t after)
{
    const struct valet_claim *claim;
    while ((claim = version_next_valet_claim_with(step->version, provider_uuid(rack), after)) !=
               NULL &&
           record_number(&claim->record, VALET_CLAIM_GROUP_ID) != group->record.id)
        after = claim->record.id;
    return claim;
}

static bool host_is_touched(const struct step *step, const struct valet_claim *claim)
{
    const struct provider *host = provider_of(step, claim);
    return host != NULL && is_touched(step, host);
}

/* Whether the host is still in the rack; one that has left keeps its claim as one of its own. */
static bool is_in_rack(const struct step *step, const struct valet_claim *of_host,
                       const struct provider *rack)
{
    const struct provider *host = provider_of(step, of_host);
    return host == NULL || host_is_under(step->version, &step->marks, host, rack, step->marks.rack);
}

/* Another rack than `other_than` (NULL: any rack) through whose claim the group has the host; NULL:
 * none. */
static const struct provider *claimed_rack(const struct step *step, const struct provider *host,
                                           const struct valet_group *group,
                                           const struct provider *other_than)
{
    if (!version_has_valet_rack_claims(step->version))
        return NULL;
    struct host_markers racks =
        host_markers_of(step->version, &step->marks, host, step->marks.rack);
    const struct provider *rack;
    while ((rack = host_markers_next(&racks)) != NULL)
        if (rack != other_than &&
            host_rack_is_claimed(step->version, provider_uuid(rack), group->record.id))
            return rack;
    return NULL;
}

/* The claim of the rack ends, and with it that of the host, unless the host is in another claimed
 * rack. */
static void leave_rack(struct step *step, const struct valet_claim *of_host,
                       const struct valet_group *group, const struct provider *rack)
{
    const struct provider *host = provider_of(step, of_host);
    const struct provider *other = host == NULL || !is_linked(step, host, group)
                                       ? NULL
                                       : claimed_rack(step, host, group, rack);
    if (other == NULL) {
        release(step, of_host, group);
    } else if (!is_touched(step, host)) {
        put_rack(step, of_host, provider_uuid(other));
        touch(step, host);
    }
}

static void end_rack(struct step *step, const struct valet_claim *claim,
                     const struct valet_group *group, const struct provider *rack)
{
    const struct valet_claim *of_host;
    for (int64_t id = 0; (of_host = next_of_rack(step, group, rack, id)) != NULL;
         id = of_host->record.id)
        if (host_is_touched(step, of_host))
            return; /* the next step will find it in that state */
    drop_row(step, claim);
    touch(step, rack);
    for (int64_t id = 0; (of_host = next_of_rack(step, group, rack, id)) != NULL;
         id = of_host->record.id)
        if (is_in_rack(step, of_host, rack))
            leave_rack(step, of_host, group, rack);
}

static bool rack_is_empty(const struct step *step, const struct provider *rack)
{
    struct marker_hosts hosts =
        marker_hosts_of(step->version, &step->marks, rack, step->marks.rack);
    const struct provider *host;
    while ((host = marker_hosts_next(&hosts)) != NULL)
        if (!host_is_empty(step->version, host))
            return false;
    return true;
}

static bool is_claimed_alone(const struct step *step, const struct provider *host,
                             const struct valet_group *group)
{
    const struct valet_claim *claim;
    for (int64_t id = 0;
         (claim = version_next_valet_claim_of(step->version, provider_uuid(host), id)) != NULL;
         id = claim->record.id)
        if (record_number(&claim->record, VALET_CLAIM_GROUP_ID) == group->record.id)
            return true;
    return false;
}

/* Hosts of the rack that lack the aggregate. If the row shows that a host had it, a foreign write
 * removed it. */
static void look_for_new_hosts(struct step *step, const struct valet_claim *claim,
                               const struct valet_group *group, const struct provider *rack)
{
    struct marker_hosts hosts =
        marker_hosts_of(step->version, &step->marks, rack, step->marks.rack);
    const struct provider *host;
    while ((host = marker_hosts_next(&hosts)) != NULL)
        if (!is_linked(step, host, group) && is_claimed_alone(step, host, group)) {
            end_rack(step, claim, group, rack);
            return;
        }
    hosts = marker_hosts_of(step->version, &step->marks, rack, step->marks.rack);
    while ((host = marker_hosts_next(&hosts)) != NULL)
        if (!is_linked(step, host, group) && !is_touched(step, host))
            join(step, host, rack, group);
}

static bool was_taken(const struct step *step, const struct valet_claim *claim)
{
    for (size_t i = 0; i < step->consequences->left_count; i++) {
        const struct consequences_left *left = &step->consequences->left[i];
        if (left->claim_id == claim->record.id && left->is_taken &&
            version_provider_by_id(step->version, left->host_id) != NULL)
            return true;
    }
    return false;
}

/* `may_have_come`: hosts that are not claimed. */
static void consequences_rack(struct step *step, const struct valet_claim *claim,
                              bool may_have_come)
{
    const struct valet_group *group = consequences_claims_group_of(step, claim);
    const struct provider *rack = provider_of(step, claim);
    if (rack != NULL && is_touched(step, rack))
        return;
    if (group == NULL || rack == NULL) {
        drop_row(step, claim);
        if (rack != NULL)
            touch(step, rack);
    } else if (was_taken(step, claim)) {
        end_rack(step, claim, group, rack);
    } else if (!host_mark_stands(step->version, rack, step->marks.rack)) {
        drop_row(step, claim);
        touch(step, rack);
    } else if (rack_is_empty(step, rack)) {
        end_rack(step, claim, group, rack);
    } else if (may_have_come) {
        look_for_new_hosts(step, claim, group, rack);
    }
}

/* ---- hosts ---- */

static void consequences_host(struct step *step, const struct valet_claim *claim)
{
    const struct valet_group *group = consequences_claims_group_of(step, claim);
    const struct provider *host = provider_of(step, claim);
    if (host != NULL && is_touched(step, host))
        return;
    if (group == NULL || host == NULL || !is_linked(step, host, group)) {
        drop_row(step, claim);
        return;
    }
    struct slice known = record_text(&claim->record, VALET_CLAIM_RACK);
    const struct provider *rack = claimed_rack(step, host, group, NULL);
    struct slice wanted = rack == NULL ? (struct slice){0} : provider_uuid(rack);
    if ((known.data == NULL) != (wanted.data == NULL) ||
        (known.data != NULL && !slice_equal(known, wanted))) {
        put_rack(step, claim, wanted);
        touch(step, host);
    } else if (rack == NULL && host_is_empty(step->version, host)) {
        release(step, claim, group);
    }
}

/* ---- all ---- */

static void consequences_all(struct step *step, bool racks)
{
    const struct valet_claim *claim;
    for (int64_t id = 0; (claim = version_next_valet_claim(step->version, id)) != NULL;
         id = claim->record.id)
        if (record_bool(&claim->record, VALET_CLAIM_IS_RACK) == racks) {
            if (racks)
                consequences_rack(step, claim, true);
            else
                consequences_host(step, claim);
        }
}

/* The claims of the rack, or those of the host itself. */
static void consequences_claims_of(struct step *step, const struct provider *provider, bool racks,
                                   bool may_have_come)
{
    const struct valet_claim *claim;
    for (int64_t id = 0;
         (claim = version_next_valet_claim_of(step->version, provider_uuid(provider), id)) != NULL;
         id = claim->record.id) {
        if (record_bool(&claim->record, VALET_CLAIM_IS_RACK) != racks)
            continue;
        if (racks)
            consequences_rack(step, claim, may_have_come);
        else
            consequences_host(step, claim);
    }
}

/* Claims whose host was deleted are found only here. */
static void consequences_left(struct step *step, bool racks)
{
    const struct consequences *consequences = step->consequences;
    for (size_t i = 0; i < consequences->left_count; i++) {
        const struct valet_claim *claim = (const struct valet_claim *)rows_at(
            &step->version->valet[VALET_CLAIMS].rows, consequences->left[i].claim_id);
        if (claim == NULL || record_bool(&claim->record, VALET_CLAIM_IS_RACK) != racks)
            continue;
        if (racks)
            consequences_rack(step, claim, false);
        else
            consequences_host(step, claim);
    }
}

/* The host, unless it still has consumers and has not moved: then it keeps its claims. */
static const struct provider *noted(const struct step *step, size_t at)
{
    const struct consequences_provider *item = &step->consequences->providers.items[at];
    const struct provider *host = version_provider_by_id(step->version, item->id);
    return host != NULL && (item->has_moved || host_is_empty(step->version, host)) ? host : NULL;
}

/* The claimed racks of all noted hosts, each once. */
static void consequences_racks_of_noted(struct step *step)
{
    const struct version *version = step->version;
    struct consequences_set all = {0};
    struct arena *arena = step->plan->arena;
    if (!version_has_valet_rack_claims(version))
        return;
    for (size_t i = 0; i < step->consequences->providers.count; i++) {
        const struct provider *host = noted(step, i);
        const struct provider *rack;
        if (host == NULL)
            continue;
        struct host_markers racks = host_markers_of(version, &step->marks, host, step->marks.rack);
        while ((rack = host_markers_next(&racks)) != NULL)
            consequences_set_add(&all, rack->id, arena)->has_moved |=
                step->consequences->providers.items[i].has_moved;
    }
    for (size_t i = 0; i < all.count; i++)
        consequences_claims_of(step, version_provider_by_id(version, all.items[i].id), true,
                               all.items[i].has_moved);
}

static void consequences_noted(struct step *step, bool racks)
{
    consequences_left(step, racks);
    if (racks) {
        consequences_racks_of_noted(step);
        return;
    }
    for (size_t i = 0; i < step->consequences->providers.count; i++) {
        const struct provider *host = noted(step, i);
        if (host != NULL)
            consequences_claims_of(step, host, false, false);
    }
}

bool consequences_claims(struct consequences *consequences, const struct plan *plan)
{
    struct step step = {
        .consequences = consequences,
        .plan = plan,
        .version = plan->version,
        .marks = host_marks_of(plan->version),
    };
    consequences->step++;
    for (int racks = 1; racks >= 0; racks--) {
        if (consequences->is_wide)
            consequences_all(&step, racks == 1);
        else
            consequences_noted(&step, racks == 1);
        if (plan->changes->count > 0)
            return true;
    }
    return false;
}
