/* Notes which of a request's changes affect claims of groups, before they are applied: providers
 * that lose allocations, providers that move, and changes that may affect all claims.
 *
 * Invariant: without claims nothing is examined, and an ordinary write of allocations costs a few
 * lookups for each provider that loses something, however many hosts, racks and claims there are.
 * The writer only. */
#include "valet/write/consequences_notes.h"
#include "base/arena.h"

static const struct host_marks *marks_of(struct consequences *consequences,
                                         const struct version *version)
{
    if (!consequences->has_marks)
        consequences->marks = host_marks_of(version);
    consequences->has_marks = true;
    return &consequences->marks;
}

static void note_provider(struct consequences *consequences, const struct plan *plan, int64_t id,
                          bool has_moved)
{
    consequences_set_add(&consequences->providers, id, plan->arena)->has_moved |= has_moved;
}

static bool has_claim(const struct version *version, const struct provider *provider)
{
    return version_next_valet_claim_of(version, provider_uuid(provider), 0) != NULL;
}

static bool is_in_claimed_rack(struct consequences *consequences, const struct version *version,
                               const struct provider *root)
{
    if (!version_has_valet_rack_claims(version))
        return false;
    const struct host_marks *marks = marks_of(consequences, version);
    struct host_markers racks = host_markers_of(version, marks, root, marks->rack);
    const struct provider *rack;
    while ((rack = host_markers_next(&racks)) != NULL)
        if (has_claim(version, rack))
            return true;
    return false;
}

/* The provider loses something: claims of it and of its ancestors may be of empty hosts then. */
static void note_loss(struct consequences *consequences, const struct plan *plan,
                      const struct provider *provider)
{
    const struct version *version = plan->version;
    for (;;) {
        if (has_claim(version, provider))
            note_provider(consequences, plan, provider->id, false);
        if (provider->parent.v == NUMBER_NONE)
            break;
        provider = version_provider(version, provider->parent);
    }
    if (is_in_claimed_rack(consequences, version, provider))
        note_provider(consequences, plan, provider->id, false);
}

void consequences_note_loss(struct consequences *consequences, const struct plan *plan,
                            const struct consumer *consumer)
{
    const struct version *version = plan->version;
    if (consumer == NULL || version->valet[VALET_CLAIMS].rows.count == 0)
        return;
    for (uint32_t i = 0; i < consumer->allocation_count; i++) {
        struct provider_no provider = consumer->allocation[i].provider;
        if (i == 0 || consumer->allocation[i - 1].provider.v != provider.v)
            note_loss(consequences, plan, version_provider(version, provider));
    }
}

static void note_left(struct consequences *consequences, const struct plan *plan,
                      struct consequences_left left)
{
    consequences->left = arena_grow(plan->arena, consequences->left, consequences->left_count,
                                    &consequences->left_capacity, sizeof(*consequences->left));
    consequences->left[consequences->left_count++] = left;
}

/* The claims of the host's racks before it leaves them. */
static void note_racks(struct consequences *consequences, const struct plan *plan,
                       const struct provider *host, const struct valet_group *taken_from)
{
    const struct version *version = plan->version;
    if (!version_has_valet_rack_claims(version))
        return;
    const struct host_marks *marks = marks_of(consequences, version);
    struct host_markers racks = host_markers_of(version, marks, host, marks->rack);
    const struct provider *rack;
    while ((rack = host_markers_next(&racks)) != NULL) {
        const struct valet_claim *claim;
        for (int64_t id = 0;
             (claim = version_next_valet_claim_of(version, provider_uuid(rack), id)) != NULL;
             id = claim->record.id)
            if (record_bool(&claim->record, VALET_CLAIM_IS_RACK))
                note_left(consequences, plan,
                          (struct consequences_left){
                              .claim_id = claim->record.id,
                              .host_id = host->id,
                              .is_taken = taken_from != NULL &&
                                          record_number(&claim->record, VALET_CLAIM_GROUP_ID) ==
                                              taken_from->record.id,
                          });
    }
}

/* A provider that marks racks is handled by is_about_all. The provider may be new: then it was in
 * no rack. */
static void note_aggregate(struct consequences *consequences, const struct plan *plan,
                           const struct change *change)
{
    const struct version *version = plan->version;
    note_provider(consequences, plan, change->link.provider_id, true);
    const struct provider *host = version_provider_by_id(version, change->link.provider_id);
    if (host == NULL || change->kind == CHANGE_PROVIDER_AGGREGATE_INSERT)
        return;
    const struct catalog_row *row = catalog_find_id(&version->aggregates, change->link.other_id);
    note_racks(consequences, plan, host,
               row == NULL ? NULL : host_group_of_aggregate(version, row->number));
}

/* The provider becomes a host, or ceases to be one; it may be new. */
static void note_turn(struct consequences *consequences, const struct plan *plan, int64_t id)
{
    const struct provider *provider = version_provider_by_id(plan->version, id);
    note_provider(consequences, plan, id, true);
    if (provider != NULL)
        note_racks(consequences, plan, provider, NULL);
}

bool consequences_is_moved(const struct version *version, const struct provider *provider,
                           const struct change_provider *change)
{
    int64_t parent_id =
        provider->parent.v == NUMBER_NONE ? 0 : version_provider(version, provider->parent)->id;
    return parent_id != change->parent_id;
}

static void note_update(struct consequences *consequences, const struct plan *plan,
                        const struct change_provider *change)
{
    const struct version *version = plan->version;
    const struct provider *provider = version_provider_by_id(version, change->id);
    if (provider == NULL || !consequences_is_moved(version, provider, change))
        return;
    note_turn(consequences, plan, provider->id);
    if (provider->parent.v != NUMBER_NONE)
        note_loss(consequences, plan, version_provider(version, provider->parent));
}

static void note_delete(struct consequences *consequences, const struct plan *plan,
                        struct slice uuid, int64_t id)
{
    const struct valet_claim *claim;
    for (int64_t at = 0; (claim = version_next_valet_claim_of(plan->version, uuid, at)) != NULL;
         at = claim->record.id)
        note_left(consequences, plan, (struct consequences_left){claim->record.id, id, false});
}

/* The hosts of a claimed rack may have claims of their own. */
static void note_rack(struct consequences *consequences, const struct plan *plan,
                      const struct record *row)
{
    const struct version *version = plan->version;
    const struct provider *rack =
        version_provider_by_uuid(version, record_text(row, VALET_CLAIM_PROVIDER));
    if (rack == NULL || !record_bool(row, VALET_CLAIM_IS_RACK))
        return;
    const struct host_marks *marks = marks_of(consequences, version);
    struct marker_hosts hosts = marker_hosts_of(version, marks, rack, marks->rack);
    const struct provider *host;
    while ((host = marker_hosts_next(&hosts)) != NULL)
        note_provider(consequences, plan, host->id, true);
}

static bool has_rack_mark(struct consequences *consequences, const struct version *version,
                          int64_t provider_id)
{
    const struct host_marks *marks = marks_of(consequences, version);
    const struct provider *provider = version_provider_by_id(version, provider_id);
    return provider != NULL && marks->rack != NUMBER_NONE &&
           name_set_has(provider->traits, marks->rack);
}

static bool is_trait(const struct version *version, int64_t trait_id, uint32_t number)
{
    const struct catalog_row *row = catalog_find_id(&version->traits, trait_id);
    return row != NULL && row->number == number;
}

static void note_trait(struct consequences *consequences, const struct plan *plan,
                       const struct change *change)
{
    const struct version *version = plan->version;
    const struct host_marks *marks = marks_of(consequences, version);
    if (is_trait(version, change->link.other_id, marks->shares) ||
        is_trait(version, change->link.other_id, marks->zone))
        note_turn(consequences, plan, change->link.provider_id);
}

/* Whether the changes may affect racks or claims of many hosts. */
static bool is_about_all(struct consequences *consequences, const struct version *version,
                         const struct change *change)
{
    switch (change->kind) {
    case CHANGE_VALET_GROUP_DELETE:
    case CHANGE_VALET_CLAIM_DELETE:
        return true;
    case CHANGE_PROVIDER_AGGREGATE_INSERT:
    case CHANGE_PROVIDER_AGGREGATE_DELETE:
        return has_rack_mark(consequences, version, change->link.provider_id);
    case CHANGE_PROVIDER_TRAIT_INSERT:
    case CHANGE_PROVIDER_TRAIT_DELETE:
        return is_trait(version, change->link.other_id, marks_of(consequences, version)->rack);
    case CHANGE_INVENTORY_INSERT:
    case CHANGE_INVENTORY_DELETE:
        return has_rack_mark(consequences, version, change->inventory.provider_id);
    default:
        return false;
    }
}

void consequences_note_claims(struct consequences *consequences, const struct plan *plan,
                              const struct change *change)
{
    switch (change->kind) {
    case CHANGE_PROVIDER_AGGREGATE_INSERT:
    case CHANGE_PROVIDER_AGGREGATE_DELETE:
        note_aggregate(consequences, plan, change);
        break;
    case CHANGE_PROVIDER_TRAIT_INSERT:
    case CHANGE_PROVIDER_TRAIT_DELETE:
        note_trait(consequences, plan, change);
        break;
    case CHANGE_PROVIDER_UPDATE:
        note_update(consequences, plan, &change->provider);
        break;
    case CHANGE_PROVIDER_DELETE:
        note_delete(consequences, plan, change->provider.uuid, change->provider.id);
        break;
    case CHANGE_VALET_CLAIM_PUT:
        note_rack(consequences, plan, change->row.record);
        break;
    default:
        break;
    }
    consequences->is_wide =
        consequences->is_wide || is_about_all(consequences, plan->version, change);
}
