/* Around the application of one request's changes: what they touch is noted before, what follows
 * from it is appended after, step by step, each on the version that the step before has made.
 *
 * Invariants: after each request no automatic claim is on an empty host, hosts of a claimed rack
 * are claimed, and a placement that nobody tells the location of has the last one in its row.
 * Nothing is noted, and nothing follows, where there are neither placements nor claims. Writer
 * thread only.
 */
#include "write/valet/settle.h"

#include <stdlib.h>

#include "base/arena.h"
#include "replica/hosts.h"
#include "replica/placement_location.h"
#include "write/valet/holds.h"

/* ---- placements ---- */

static void note(struct settle *settle, const struct plan *plan, struct settle_note what)
{
    settle->notes = arena_grow(plan->arena, settle->notes, settle->note_count,
                               &settle->note_capacity, sizeof(*settle->notes));
    settle->notes[settle->note_count++] = what;
}

static void note_placement(struct settle *settle, const struct plan *plan,
                           const struct valet_placement *placement, bool is_first)
{
    if (placement != NULL)
        note(settle, plan,
             (struct settle_note){
                 .placement_id = placement->record.id,
                 .location = arena_copy(plan->arena, placement_location(plan->version, placement)),
                 .is_first = is_first,
             });
}

/* That of its uuid, and those whose server it is. */
static void note_consumer(struct settle *settle, const struct plan *plan, struct slice uuid,
                          bool is_written)
{
    const struct version *version = plan->version;
    if (!version_has_valet_placements(version))
        return;
    const struct consumer *before = version_consumer(version, uuid);
    bool is_first = is_written && (before == NULL || before->allocation_count == 0);
    note_placement(settle, plan, version_valet_placement_by_uuid(version, uuid), false);
    note_placement(settle, plan, version_valet_placement_by_resource(version, uuid), is_first);
    note_placement(settle, plan, version_valet_placement_by_orchestration(version, uuid), is_first);
}

/* A server whose id is recorded late may be there already (7.3). */
static void note_row(struct settle *settle, const struct plan *plan, int64_t id)
{
    const struct valet_placement *before = version_valet_placement(plan->version, id);
    if (before != NULL)
        note_placement(settle, plan, before, false);
    else
        note(settle, plan, (struct settle_note){.placement_id = id});
}

static int compare_notes(const void *a, const void *b)
{
    int64_t one = ((const struct settle_note *)a)->placement_id;
    int64_t other = ((const struct settle_note *)b)->placement_id;
    return (one > other) - (one < other);
}

/* One note for each placement: what they say of its location is the same. */
static void merge_notes(struct settle *settle)
{
    size_t count = 0;
    if (settle->note_count > 1)
        qsort(settle->notes, settle->note_count, sizeof(*settle->notes), compare_notes);
    for (size_t i = 0; i < settle->note_count; i++) {
        struct settle_note *last = count == 0 ? NULL : &settle->notes[count - 1];
        if (last == NULL || last->placement_id != settle->notes[i].placement_id)
            settle->notes[count++] = settle->notes[i];
        else
            last->is_first |= settle->notes[i].is_first;
    }
    settle->note_count = count;
}

/* ---- claims ---- */

static bool has_claims(const struct version *version)
{
    return version->valet[VALET_CLAIMS].rows.count > 0;
}

void settle_note_host(struct settle *settle, const struct plan *plan, int64_t id, bool has_moved)
{
    for (size_t i = 0; i < settle->host_count; i++)
        if (settle->hosts[i].id == id) {
            settle->hosts[i].has_moved |= has_moved;
            return;
        }
    settle->hosts = arena_grow(plan->arena, settle->hosts, settle->host_count,
                               &settle->host_capacity, sizeof(*settle->hosts));
    settle->hosts[settle->host_count++] = (struct settle_host){id, has_moved};
}

/* Hosts that somebody claims: others have nothing to settle. */
static void note_release(struct settle *settle, const struct plan *plan,
                         const struct consumer *consumer)
{
    const struct version *version = plan->version;
    if (consumer == NULL || !has_claims(version))
        return;
    for (uint32_t i = 0; i < consumer->allocation_count; i++) {
        const struct provider *root = version_provider(
            version, version_provider(version, consumer->allocation[i].provider)->root);
        if (host_claim_of(version, root).group != NULL)
            settle_note_host(settle, plan, root->id, false);
    }
}

/* The claims of the host's racks as they are before it leaves the aggregate. */
static void note_racks(struct settle *settle, const struct plan *plan, const struct provider *host,
                       const struct valet_group *taken_from)
{
    const struct version *version = plan->version;
    struct host_marks marks = host_marks_of(version);
    uint32_t slot = 0;
    const struct provider *rack;
    while ((rack = host_next_rack(version, &marks, host, &slot)) != NULL) {
        const struct valet_claim *claim;
        for (int64_t id = 0;
             (claim = version_next_valet_claim_of(version, provider_uuid(rack), id)) != NULL;
             id = claim->record.id) {
            if (!record_bool(&claim->record, VALET_CLAIM_IS_RACK))
                continue;
            settle->left = arena_grow(plan->arena, settle->left, settle->left_count,
                                      &settle->left_capacity, sizeof(*settle->left));
            settle->left[settle->left_count++] = (struct settle_left){
                .claim_id = claim->record.id,
                .host_id = host->id,
                .is_taken =
                    taken_from != NULL &&
                    record_number(&claim->record, VALET_CLAIM_GROUP_ID) == taken_from->record.id,
            };
        }
    }
}

/* Of a provider that marks racks it is told by is_about_all. */
static void note_aggregate(struct settle *settle, const struct plan *plan,
                           const struct change *change)
{
    const struct version *version = plan->version;
    const struct provider *host = version_provider_by_id(version, change->link.provider_id);
    if (host == NULL)
        return;
    settle_note_host(settle, plan, host->id, true);
    if (change->kind == CHANGE_PROVIDER_AGGREGATE_INSERT)
        return;
    const struct catalog_row *row = catalog_find_id(&version->aggregates, change->link.other_id);
    note_racks(settle, plan, host,
               row == NULL ? NULL : host_group_of_aggregate(version, row->number));
}

static bool has_rack_mark(const struct version *version, int64_t provider_id)
{
    struct host_marks marks = host_marks_of(version);
    const struct provider *provider = version_provider_by_id(version, provider_id);
    return provider != NULL && marks.rack != NUMBER_NONE &&
           name_set_has(provider->traits, marks.rack);
}

static bool is_mark(const struct version *version, int64_t trait_id)
{
    const struct catalog_row *row = catalog_find_id(&version->traits, trait_id);
    struct host_marks marks = host_marks_of(version);
    return row != NULL &&
           (row->number == marks.rack || row->number == marks.zone || row->number == marks.shares);
}

/* Whether afterwards who is a host, or a rack, or claimed, may be another thing for many. */
static bool is_about_all(const struct version *version, const struct change *change)
{
    switch (change->kind) {
    case CHANGE_PROVIDER_UPDATE:
    case CHANGE_PROVIDER_DELETE:
    case CHANGE_VALET_GROUP_DELETE:
    case CHANGE_VALET_CLAIM_DELETE:
        return true;
    case CHANGE_VALET_CLAIM_PUT:
        return record_bool(change->row.record, VALET_CLAIM_IS_RACK);
    case CHANGE_PROVIDER_AGGREGATE_INSERT:
    case CHANGE_PROVIDER_AGGREGATE_DELETE:
        return has_rack_mark(version, change->link.provider_id);
    case CHANGE_PROVIDER_TRAIT_INSERT:
    case CHANGE_PROVIDER_TRAIT_DELETE:
        return is_mark(version, change->link.other_id);
    case CHANGE_INVENTORY_INSERT:
    case CHANGE_INVENTORY_DELETE:
        return has_rack_mark(version, change->inventory.provider_id);
    default:
        return false;
    }
}

/* ---- all ---- */

static void note_change(struct settle *settle, const struct plan *plan, const struct change *change)
{
    const struct version *version = plan->version;
    switch (change->kind) {
    case CHANGE_ALLOCATIONS_OF_DELETE:
        note_consumer(settle, plan, change->allocation.consumer_uuid, false);
        note_release(settle, plan, version_consumer(version, change->allocation.consumer_uuid));
        break;
    case CHANGE_ALLOCATION_INSERT:
        note_consumer(settle, plan, change->allocation.consumer_uuid, true);
        break;
    case CHANGE_VALET_PLACEMENT_PUT:
        note_row(settle, plan, change->row.id);
        break;
    case CHANGE_PROVIDER_AGGREGATE_INSERT:
    case CHANGE_PROVIDER_AGGREGATE_DELETE:
        if (has_claims(version))
            note_aggregate(settle, plan, change);
        break;
    default:
        break;
    }
    settle->is_wide = settle->is_wide || (has_claims(version) && is_about_all(version, change));
}

static bool brings_placements(const struct change_list *changes)
{
    for (size_t i = 0; i < changes->count; i++)
        if (changes->items[i].kind == CHANGE_VALET_PLACEMENT_PUT)
            return true;
    return false;
}

void settle_begin(struct settle *settle, const struct plan *plan)
{
    *settle = (struct settle){0};
    if (!version_has_valet_placements(plan->version) && !has_claims(plan->version) &&
        !brings_placements(plan->changes))
        return;
    for (size_t i = 0; i < plan->changes->count; i++)
        note_change(settle, plan, &plan->changes->items[i]);
    merge_notes(settle);
}

void settle_begin_all(struct settle *settle, const int64_t *placement_ids, size_t count,
                      const struct plan *plan)
{
    *settle = (struct settle){.is_wide = has_claims(plan->version)};
    const struct valet_placement *placement;
    for (int64_t id = 0; (placement = version_next_valet_placement(plan->version, id)) != NULL;
         id = placement->record.id)
        note(settle, plan, (struct settle_note){.placement_id = placement->record.id});
    for (size_t i = 0; i < count; i++)
        note(settle, plan, (struct settle_note){placement_ids[i], {NULL, 0}, true});
    merge_notes(settle);
}

/* Whether one of the placement's servers is on the host of its hold, or is there for the first
 * time.
 */
static bool is_replaced(const struct version *version, const struct settle_note *what,
                        const struct valet_placement *placement, const struct consumer *hold)
{
    static const enum valet_placement_field ids[] = {VALET_PLACEMENT_RESOURCE_ID,
                                                     VALET_PLACEMENT_ORCHESTRATION_ID};
    const struct provider *host = placement_host_of(version, hold);
    for (size_t i = 0; i < 2; i++) {
        const struct consumer *server =
            placement_consumer(version, record_text(&placement->record, ids[i]));
        if (server != NULL && server != hold &&
            (what->is_first || placement_is_on(version, server, host)))
            return true;
    }
    return false;
}

static void append_drops(struct settle *settle, const struct plan *plan)
{
    const struct version *version = plan->version;
    for (size_t i = 0; i < settle->note_count; i++) {
        const struct valet_placement *placement =
            version_valet_placement(version, settle->notes[i].placement_id);
        const struct consumer *hold = placement == NULL ? NULL : placement_hold(version, placement);
        if (hold == NULL || !is_replaced(version, &settle->notes[i], placement, hold))
            continue;
        note_release(settle, plan, hold);
        holds_append_drop(hold, plan);
    }
}

static void append_location(const struct settle_note *note, const struct plan *plan)
{
    const struct version *version = plan->version;
    const struct valet_placement *placement = version_valet_placement(version, note->placement_id);
    if (placement == NULL)
        return;
    const struct provider *host = placement_host(version, placement);
    struct slice location = host == NULL ? note->location : provider_name(host);
    struct record_value values[VALET_PLACEMENT_FIELD_COUNT];
    const struct record_shape *shape = &VALET_SHAPES[VALET_PLACEMENTS];
    record_open(shape, &placement->record, values);
    if (location.data == NULL || slice_equal(values[VALET_PLACEMENT_LOCATION].text, location))
        return;
    values[VALET_PLACEMENT_LOCATION].text = location;
    change_put_valet(plan->changes, VALET_PLACEMENTS,
                     record_pack(shape, placement->record.id, values, plan->arena));
}

bool settle_next(struct settle *settle, const struct plan *plan)
{
    if (!settle->has_dropped) {
        settle->has_dropped = true;
        append_drops(settle, plan);
        if (plan->changes->count > 0)
            return true;
    }
    if ((settle->is_wide || settle->host_count > 0) && settle_claims(settle, plan))
        return true;
    if (settle->has_located)
        return false;
    settle->has_located = true;
    for (size_t i = 0; i < settle->note_count; i++)
        append_location(&settle->notes[i], plan);
    return plan->changes->count > 0;
}
