/* Hosts, one at a time. A host has few aggregates and there are few racks, so that both are simply
 * walked; without groups nothing is. */
#include "replica/hosts.h"

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
        .rack = trait_number(version, SLICE_LIT("CUSTOM_VALET_RACK")),
        .zone = trait_number(version, SLICE_LIT("CUSTOM_VALET_ZONE")),
    };
}

static bool has_mark(const struct provider *provider, uint32_t mark)
{
    return mark != NUMBER_NONE && name_set_has(provider->traits, mark);
}

bool host_is(const struct host_marks *marks, const struct provider *provider)
{
    return provider->parent.v == NUMBER_NONE && !has_mark(provider, marks->shares) &&
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

/* Whether both are in one aggregate that is no group's. */
static bool share_aggregate(const struct version *version, const struct provider *rack,
                            const struct provider *host)
{
    for (uint32_t i = 0; i < host->aggregates->count; i++) {
        uint32_t number = host->aggregates->numbers[i];
        if (name_set_has(rack->aggregates, number) &&
            host_group_of_aggregate(version, number) == NULL)
            return true;
    }
    return false;
}

const struct provider *host_next_rack(const struct version *version, const struct host_marks *marks,
                                      const struct provider *host, uint32_t *slot)
{
    if (marks->rack == NUMBER_NONE || !host_is(marks, host))
        return NULL;
    const struct slotset *racks = &catalog_at(&version->traits, marks->rack)->slots;
    while ((*slot = slotset_next(racks, *slot)) != NUMBER_NONE) {
        const struct provider *rack = version_place(version, (struct slot_no){(*slot)++})->provider;
        if (host_mark_stands(version, rack, marks->rack) && share_aggregate(version, rack, host))
            return rack;
    }
    return NULL;
}

const struct provider *host_rack(const struct version *version, const struct host_marks *marks,
                                 const struct provider *host, bool *several)
{
    uint32_t slot = 0;
    const struct provider *rack = host_next_rack(version, marks, host, &slot);
    *several = rack != NULL && host_next_rack(version, marks, host, &slot) != NULL;
    return *several ? NULL : rack;
}

struct rack_hosts rack_hosts_of(const struct version *version, const struct host_marks *marks,
                                const struct provider *rack)
{
    struct rack_hosts hosts = {.version = version, .marks = marks, .rack = rack};
    if (!host_mark_stands(version, rack, marks->rack))
        hosts.aggregate = rack->aggregates->count;
    return hosts;
}

const struct provider *rack_hosts_next(struct rack_hosts *hosts)
{
    const struct name_set *aggregates = hosts->rack->aggregates;
    for (; hosts->aggregate < aggregates->count; hosts->aggregate++, hosts->slot = 0) {
        uint32_t number = aggregates->numbers[hosts->aggregate];
        if (host_group_of_aggregate(hosts->version, number) != NULL)
            continue;
        const struct slotset *members = &catalog_at(&hosts->version->aggregates, number)->slots;
        while ((hosts->slot = slotset_next(members, hosts->slot)) != NUMBER_NONE) {
            struct slot_no slot = {hosts->slot++};
            const struct provider *host = version_place(hosts->version, slot)->provider;
            if (host_is(hosts->marks, host))
                return host;
        }
    }
    return NULL;
}

/* Steps through the groups that claim a host; a group may come more than once. */
struct claimants {
    const struct version *version;
    const struct provider *host;
    struct host_marks marks;
    uint32_t aggregate; /* the next of the host's to be looked at */
    uint32_t slot;      /* from which on racks are to be looked at */
    const struct provider *rack;
    int64_t claim_id; /* of the rack, the last that was seen */
};

static struct claimants claimants_of(const struct version *version, const struct provider *host)
{
    return (struct claimants){.version = version, .host = host};
}

static const struct valet_group *next_by_rack(struct claimants *all)
{
    for (;;) {
        if (all->rack == NULL)
            all->rack = host_next_rack(all->version, &all->marks, all->host, &all->slot);
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
    if (all->version->valet[VALET_CLAIMS].rows.count == 0)
        return NULL;
    if (all->slot == 0)
        all->marks = host_marks_of(all->version);
    return next_by_rack(all);
}

struct host_claim host_claim_of(const struct version *version, const struct provider *host)
{
    struct host_claim claim = {NULL, false};
    if (!version_has_valet_groups(version))
        return claim;
    struct claimants all = claimants_of(version, host);
    claim.group = next_claimant(&all);
    const struct valet_group *other;
    while (claim.group != NULL && !claim.several && (other = next_claimant(&all)) != NULL)
        claim.several = other != claim.group;
    return claim;
}

const struct valet_group *host_refuses(const struct version *version, const struct provider *host,
                                       struct slice project)
{
    if (!version_has_valet_groups(version))
        return NULL;
    struct claimants all = claimants_of(version, host);
    const struct valet_group *group;
    while ((group = next_claimant(&all)) != NULL)
        if (version_valet_member(version, group->record.id, project) == NULL)
            return group;
    return NULL;
}

bool host_visit_consumers(const struct version *version, const struct provider *host,
                          host_visit_consumer *visit, void *cls)
{
    uint32_t slot = version_slot(version, host->no).v;
    uint32_t end = version_place(version, (struct slot_no){slot})->end;
    for (; slot < end; slot++) {
        const struct provider *provider = version_place(version, (struct slot_no){slot})->provider;
        if (provider == NULL)
            continue;
        struct ptree_iter iter;
        const struct ptree_entry *entry;
        for (ptree_seek(&version->provider_consumers, provider->no.v, 0, &iter);
             (entry = ptree_iter_get(&iter)) != NULL && entry->k1 == provider->no.v;
             ptree_iter_next(&iter)) {
            uint64_t consumer;
            check(ptree_find(&version->consumers, entry->value, entry->k2, &consumer));
            if (!visit(cls, (const struct consumer *)(uintptr_t)consumer))
                return false;
        }
    }
    return true;
}

static bool refuse_any(void *cls, const struct consumer *consumer)
{
    (void)cls;
    (void)consumer;
    return false;
}

bool host_is_empty(const struct version *version, const struct provider *host)
{
    return host_visit_consumers(version, host, refuse_any, NULL);
}

struct strangers {
    const struct version *version;
    const struct valet_group *group;
};

static bool is_member(void *cls, const struct consumer *consumer)
{
    const struct strangers *strangers = cls;
    struct slice project =
        catalog_name(catalog_row_at(&strangers->version->projects, consumer->project));
    return version_valet_member(strangers->version, strangers->group->record.id, project) != NULL;
}

bool host_has_stranger(const struct version *version, const struct provider *host,
                       const struct valet_group *group)
{
    struct strangers strangers = {version, group};
    return !host_visit_consumers(version, host, is_member, &strangers);
}
