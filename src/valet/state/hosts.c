/* Hosts, one at a time, and the one function that finds the racks of a host. Without groups nothing
 * is walked, and without a claim of a rack no racks are: an ordinary claim only examines the few
 * aggregates of its host. */
#include "valet/state/hosts.h"

#include "replica/provider_consumers.h"

static uint32_t trait_number(const struct version *version, struct slice name)
{
    const struct catalog_row *row = catalog_find(&version->traits, name);
    return row == NULL ? NUMBER_NONE : row->number;
}

struct host_marks host_marks_of(const struct version *version)
{
    return (struct host_marks){
        .disabled = trait_number(version, SLICE_LIT("COMPUTE_STATUS_DISABLED")),
        .shares = trait_number(version, SLICE_LIT("MISC_SHARES_VIA_AGGREGATE")),
        .rack = trait_number(version, SLICE_LIT(VALET_RACK_TRAIT)),
        .zone = trait_number(version, SLICE_LIT(VALET_ZONE_TRAIT)),
    };
}

static bool has_mark(const struct provider *provider, uint32_t mark)
{
    return mark != NUMBER_NONE && name_set_has(provider->traits, mark);
}

bool host_is(const struct host_marks *marks, const struct provider *provider)
{
    return provider->parent.v == NUMBER_NONE && !host_shares(marks, provider) &&
           !has_mark(provider, marks->rack) && !has_mark(provider, marks->zone);
}

const struct valet_group *host_group_of_aggregate(const struct version *version, uint32_t aggregate)
{
    if (!version_has_valet_groups(version))
        return NULL;
    return version_valet_group_by_uuid(
        version, catalog_name(catalog_row_at(&version->aggregates, aggregate)));
}

const struct catalog_row *host_aggregate_of(const struct version *version,
                                            const struct valet_group *group)
{
    return catalog_find(&version->aggregates, record_text(&group->record, VALET_GROUP_UUID));
}

bool host_mark_stands(const struct version *version, const struct provider *provider, uint32_t mark)
{
    if (!has_mark(provider, mark) || provider->inventory_count > 0)
        return false;
    for (uint32_t i = 0; i < provider->aggregates->count; i++)
        if (host_group_of_aggregate(version, provider->aggregates->numbers[i]) == NULL)
            return true;
    return false;
}

/* Whether both are in one of the first `count` aggregates of a list, not counting aggregates of
 * groups. */
static bool meets(const struct version *version, const struct name_set *list, uint32_t count,
                  const struct provider *other)
{
    for (uint32_t i = 0; i < count; i++)
        if (name_set_has(other->aggregates, list->numbers[i]) &&
            host_group_of_aggregate(version, list->numbers[i]) == NULL)
            return true;
    return false;
}

bool host_is_under(const struct version *version, const struct host_marks *marks,
                   const struct provider *host, const struct provider *marker, uint32_t mark)
{
    return host_is(marks, host) && host_mark_stands(version, marker, mark) &&
           meets(version, host->aggregates, host->aggregates->count, marker);
}

struct host_markers host_markers_of(const struct version *version, const struct host_marks *marks,
                                    const struct provider *host, uint32_t mark)
{
    struct host_markers markers = {version, marks, host, mark, 0, 0};
    if (mark == NUMBER_NONE || !host_is(marks, host))
        markers.aggregate = host->aggregates->count;
    return markers;
}

/* The next provider, from that number on, that marks something in the aggregate; NULL: no more. */
static const struct provider *next_marker(const struct version *version, uint32_t aggregate,
                                          uint32_t *from)
{
    struct ptree_iter iter;
    ptree_seek(&version->markers, aggregate, *from, &iter);
    const struct ptree_entry *entry = ptree_iter_get(&iter);
    if (entry == NULL || entry->k1 != aggregate)
        return NULL;
    *from = (uint32_t)entry->k2 + 1;
    return version_provider(version, (struct provider_no){(uint32_t)entry->k2});
}

const struct provider *host_markers_next(struct host_markers *markers)
{
    const struct version *version = markers->version;
    const struct name_set *aggregates = markers->host->aggregates;
    for (; markers->aggregate < aggregates->count; markers->aggregate++, markers->from = 0) {
        uint32_t number = aggregates->numbers[markers->aggregate];
        const struct provider *marker;
        while ((marker = next_marker(version, number, &markers->from)) != NULL)
            if (has_mark(marker, markers->mark) && marker->inventory_count == 0 &&
                host_group_of_aggregate(version, number) == NULL &&
                !meets(version, aggregates, markers->aggregate, marker))
                return marker;
    }
    return NULL;
}

const struct provider *host_rack(const struct version *version, const struct host_marks *marks,
                                 const struct provider *host, bool *several)
{
    struct host_markers racks = host_markers_of(version, marks, host, marks->rack);
    const struct provider *rack = host_markers_next(&racks);
    *several = rack != NULL && host_markers_next(&racks) != NULL;
    return *several ? NULL : rack;
}

struct marker_hosts marker_hosts_of(const struct version *version, const struct host_marks *marks,
                                    const struct provider *marker, uint32_t mark)
{
    struct marker_hosts hosts = {version, marks, marker, 0, 0};
    if (!host_mark_stands(version, marker, mark))
        hosts.aggregate = marker->aggregates->count;
    return hosts;
}

const struct provider *marker_hosts_next(struct marker_hosts *hosts)
{
    const struct version *version = hosts->version;
    const struct name_set *aggregates = hosts->marker->aggregates;
    for (; hosts->aggregate < aggregates->count; hosts->aggregate++, hosts->slot = 0) {
        uint32_t number = aggregates->numbers[hosts->aggregate];
        if (host_group_of_aggregate(version, number) != NULL)
            continue;
        const struct slotset *members = &catalog_at(&version->aggregates, number)->slots;
        while ((hosts->slot = slotset_next(members, hosts->slot)) != NUMBER_NONE) {
            struct slot_no slot = {hosts->slot++};
            const struct provider *host = version_place(version, slot)->provider;
            if (host_is(hosts->marks, host) && !meets(version, aggregates, hosts->aggregate, host))
                return host;
        }
    }
    return NULL;
}

bool host_rack_is_claimed(const struct version *version, struct slice rack, int64_t group_id)
{
    const struct valet_claim *claim;
    for (int64_t id = 0; (claim = version_next_valet_claim_of(version, rack, id)) != NULL;
         id = claim->record.id)
        if (record_bool(&claim->record, VALET_CLAIM_IS_RACK) &&
            record_number(&claim->record, VALET_CLAIM_GROUP_ID) == group_id)
            return true;
    return false;
}

/* Steps through the groups that claim a host; a group may be returned more than once. */
struct claimants {
    const struct version *version;
    const struct provider *host;
    uint32_t aggregate; /* the next of the host's to be examined */
    bool is_past_aggregates;
    const struct host_marks *marks; /* NULL: not looked up yet */
    struct host_marks own_marks;
    struct host_markers racks; /* all zero: not examined */
    const struct provider *rack;
    int64_t claim_id; /* of the rack, the last one returned */
};

static struct claimants claimants_of(const struct version *version, const struct host_marks *marks,
                                     const struct provider *host)
{
    return (struct claimants){.version = version, .host = host, .marks = marks};
}

static const struct host_marks *marks_of(struct claimants *all)
{
    if (all->marks == NULL) {
        all->own_marks = host_marks_of(all->version);
        all->marks = &all->own_marks;
    }
    return all->marks;
}

static const struct valet_group *next_by_rack(struct claimants *all)
{
    for (;;) {
        if (all->rack == NULL)
            all->rack = host_markers_next(&all->racks);
        if (all->rack == NULL)
            return NULL;
        const struct valet_claim *claim;
        while ((claim = version_next_valet_claim_of(all->version, provider_uuid(all->rack),
                                                    all->claim_id)) != NULL) {
            all->claim_id = claim->record.id;
            const struct valet_group *group = version_valet_group(
                all->version, record_number(&claim->record, VALET_CLAIM_GROUP_ID));
            if (group != NULL && record_bool(&claim->record, VALET_CLAIM_IS_RACK))
                return group;
        }
        all->rack = NULL;
        all->claim_id = 0;
    }
}

static const struct valet_group *next_claimant(struct claimants *all)
{
    const struct name_set *aggregates = all->host->aggregates;
    while (all->aggregate < aggregates->count) {
        const struct valet_group *group =
            host_group_of_aggregate(all->version, aggregates->numbers[all->aggregate++]);
        if (group != NULL)
            return group;
    }
    if (!all->is_past_aggregates) {
        all->is_past_aggregates = true;
        if (!version_has_valet_rack_claims(all->version))
            return NULL;
        const struct host_marks *marks = marks_of(all);
        all->racks = host_markers_of(all->version, marks, all->host, marks->rack);
    }
    return all->racks.version == NULL ? NULL : next_by_rack(all);
}

/* The first of them; NULL: the host is unclaimed, or the provider is not a host. */
static const struct valet_group *first_claimant(struct claimants *all)
{
    const struct valet_group *group = next_claimant(all);
    return group != NULL && host_is(marks_of(all), all->host) ? group : NULL;
}

struct host_claim host_claim_of(const struct version *version, const struct provider *host)
{
    struct host_claim claim = {NULL, false};
    if (!version_has_valet_groups(version))
        return claim;
    struct claimants all = claimants_of(version, NULL, host);
    claim.group = first_claimant(&all);
    const struct valet_group *other;
    while (claim.group != NULL && !claim.several && (other = next_claimant(&all)) != NULL)
        claim.several = other != claim.group;
    return claim;
}

const struct valet_group *host_refuses(const struct version *version,
                                       const struct host_marks *marks, const struct provider *host,
                                       struct slice project)
{
    if (!version_has_valet_groups(version))
        return NULL;
    struct claimants all = claimants_of(version, marks, host);
    const struct valet_group *group;
    for (group = first_claimant(&all); group != NULL; group = next_claimant(&all))
        if (version_valet_member(version, group->record.id, project) == NULL)
            return group;
    return NULL;
}

bool host_visit_consumers(const struct version *version, const struct provider *host,
                          host_visit_consumer *visit, void *cls)
{
    struct provider_consumers walk;
    const struct consumer *consumer;
    provider_consumers_below(&walk, version, host->no);
    while ((consumer = provider_consumers_next(&walk)) != NULL)
        if (!visit(cls, consumer))
            return false;
    return true;
}

bool host_is_empty(const struct version *version, const struct provider *host)
{
    struct provider_consumers walk;
    provider_consumers_below(&walk, version, host->no);
    return provider_consumers_next(&walk) == NULL;
}

bool host_has_non_member(const struct version *version, const struct provider *host,
                         const struct valet_group *group)
{
    struct provider_consumers walk;
    const struct consumer *consumer;
    provider_consumers_below(&walk, version, host->no);
    while ((consumer = provider_consumers_next(&walk)) != NULL)
        if (version_valet_member(
                version, group->record.id,
                catalog_name(catalog_row_at(&version->projects, consumer->project))) == NULL)
            return true;
    return false;
}
