/* A foreign write is seen as two versions: the last known one and the loaded one. Comparing them
 * shows which holds the rule of 8.2 would have dropped, and which sums have grown against
 * exclusivity. For writes made while no berthd ran, only the state can be checked: a hold on its
 * server's host is dropped, and claims of empty hosts end. The writer only. */
#include "valet/write/foreign_write_scan.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/sums.h"
#include "log/log.h"
#include "valet/state/hosts.h"
#include "valet/state/placement_location.h"

void foreign_write_scan_free(struct foreign_write_scan *scan)
{
    free(scan->placement_ids);
    *scan = (struct foreign_write_scan){0};
}

void foreign_write_scan_end(struct foreign_write_scan *scan)
{
    scan->is_due = false;
    scan->count = 0;
}

struct consequences *foreign_write_scan_begin(const struct foreign_write_scan *scan,
                                              const struct plan *plan)
{
    return scan->is_due ? consequences_begin_all(scan->placement_ids, scan->count, plan) : NULL;
}

/* ---- holds ---- */

/* Whether the server is on a host where it was not before. */
static bool has_come(const struct version *before, const struct version *after,
                     const struct valet_plan *plan, struct slice id)
{
    struct host_marks marks = host_marks_of(after);
    const struct consumer *now = placement_server_by(after, plan, id);
    const struct consumer *was = placement_server_by(before, plan, id);
    for (uint32_t i = 0; now != NULL && was != NULL && i < now->allocation_count; i++) {
        const struct provider *root =
            version_provider(after, version_provider(after, now->allocation[i].provider)->root);
        const struct provider *known = version_provider_by_uuid(before, provider_uuid(root));
        if (host_is(&marks, root) && (known == NULL || !placement_is_on(before, was, known)))
            return true;
    }
    return now != NULL && was == NULL;
}

static void note_hold(struct foreign_write_scan *scan, int64_t id)
{
    if (scan->count == scan->capacity) {
        scan->capacity = scan->capacity == 0 ? 16 : 2 * scan->capacity;
        scan->placement_ids = reallocarray(scan->placement_ids, scan->capacity, sizeof(int64_t));
        check(scan->placement_ids != NULL);
    }
    scan->placement_ids[scan->count++] = id;
}

static bool has_same(const struct version *before, const struct version *after,
                     const struct consumer_allocation *was, const struct consumer_allocation *now)
{
    return was->used == now->used &&
           slice_equal(provider_uuid(version_provider(before, was->provider)),
                       provider_uuid(version_provider(after, now->provider))) &&
           slice_equal(catalog_name(catalog_row_at(&before->classes, was->class_no.v)),
                       catalog_name(catalog_row_at(&after->classes, now->class_no.v)));
}

/* The hold of the placement, unless it was created or moved in between. Ids may be reused, so its
 * allocations are compared, too. */
static const struct consumer *hold_that_stayed(const struct version *before,
                                               const struct version *after,
                                               const struct valet_placement *placement)
{
    const struct consumer *hold = placement_hold(after, placement);
    const struct consumer *known =
        hold == NULL ? NULL : version_consumer(before, consumer_uuid(hold));
    if (known == NULL || known->id != hold->id || known->generation != hold->generation ||
        known->allocation_count != hold->allocation_count)
        return NULL;
    for (uint32_t i = 0; i < hold->allocation_count; i++)
        if (!has_same(before, after, &known->allocation[i], &hold->allocation[i]))
            return NULL;
    return hold;
}

/* Keep only the ids noted at an earlier load whose holds still exist. */
static void forget_others(struct foreign_write_scan *scan, const struct version *before,
                          const struct version *after)
{
    size_t count = 0;
    for (size_t i = 0; i < scan->count; i++) {
        const struct valet_placement *placement =
            version_valet_placement(after, scan->placement_ids[i]);
        if (placement != NULL && hold_that_stayed(before, after, placement) != NULL)
            scan->placement_ids[count++] = scan->placement_ids[i];
    }
    scan->count = count;
}

/* A follow creates new objects for what was written and leaves the rest. So a hold that was
 * rewritten with its old allocations also counts as a different one. */
void foreign_write_scan_follow(struct foreign_write_scan *scan, const struct version *before,
                               const struct version *after)
{
    size_t count = 0;
    for (size_t i = 0; i < scan->count; i++) {
        const struct valet_placement *placement =
            version_valet_placement(after, scan->placement_ids[i]);
        const struct consumer *hold = placement == NULL ? NULL : placement_hold(after, placement);
        if (hold != NULL && hold == version_consumer(before, consumer_uuid(hold)))
            scan->placement_ids[count++] = scan->placement_ids[i];
    }
    scan->count = count;
}

static void compare_holds(struct foreign_write_scan *scan, const struct version *before,
                          const struct version *after)
{
    const struct valet_placement *placement;
    forget_others(scan, before, after);
    for (int64_t id = 0; (placement = version_next_valet_placement(after, id)) != NULL;
         id = placement->record.id) {
        const struct record *row = &placement->record;
        if (hold_that_stayed(before, after, placement) == NULL)
            continue;
        const struct valet_plan *plan = placement_plan(after, placement);
        if (has_come(before, after, plan, record_text(row, VALET_PLACEMENT_RESOURCE_ID)) ||
            has_come(before, after, plan, record_text(row, VALET_PLACEMENT_ORCHESTRATION_ID)))
            note_hold(scan, row->id);
    }
}

/* ---- exclusivity ---- */

/* What projects hold on one host, by project and class. Both are identified by hashes of their
 * names, since a load may give them other numbers. */
struct portions {
    const struct version *version;
    const struct provider *host;
    const struct consumer **consumers;
    size_t consumer_count;
    size_t consumer_capacity;
    struct sums sums; /* `of`: the project's name */
};

static bool foreign_write_scan_note_consumer(void *cls, const struct consumer *consumer)
{
    struct portions *all = cls;
    all->consumers = arena_grow(all->sums.arena, all->consumers, all->consumer_count,
                                &all->consumer_capacity, sizeof(*all->consumers));
    all->consumers[all->consumer_count++] = consumer;
    return true;
}

static int compare_consumers(const void *a, const void *b)
{
    int64_t one = (*(const struct consumer *const *)a)->id;
    int64_t other = (*(const struct consumer *const *)b)->id;
    return (one > other) - (one < other);
}

static void add_consumer(struct portions *all, const struct consumer *consumer)
{
    const struct version *version = all->version;
    struct slice *project = arena_alloc(all->sums.arena, sizeof(*project));
    *project = catalog_name(catalog_row_at(&version->projects, consumer->project));
    for (uint32_t i = 0; i < consumer->allocation_count; i++) {
        const struct consumer_allocation *allocation = &consumer->allocation[i];
        struct slice class_name =
            catalog_name(catalog_row_at(&version->classes, allocation->class_no.v));
        if (version_provider(version, allocation->provider)->root.v == all->host->no.v)
            sums_add(&all->sums, (int64_t)project_hash(*project), (int64_t)hash_text(class_name), 0,
                     allocation->used, project);
    }
}

/* Sorted. `host` NULL: empty. */
static struct sums portions_of(const struct version *version, const struct provider *host,
                               struct arena *arena)
{
    struct portions all = {.version = version, .host = host, .sums = {.arena = arena}};
    if (host != NULL)
        host_visit_consumers(version, host, foreign_write_scan_note_consumer, &all);
    if (all.consumer_count > 1)
        qsort(all.consumers, all.consumer_count, sizeof(*all.consumers), compare_consumers);
    for (size_t i = 0; i < all.consumer_count; i++)
        if (i == 0 || all.consumers[i] != all.consumers[i - 1])
            add_consumer(&all, all.consumers[i]);
    sums_end_sorted(&all.sums);
    return all.sums;
}

static bool has_grown(const struct sums *before, const struct sum *now)
{
    const struct sum *was = before->count == 0 ? NULL
                                               : bsearch(now, before->items, before->count,
                                                         sizeof(*before->items), sums_compare);
    return was == NULL || now->amount > was->amount;
}

static void compare_host(const struct version *before, const struct version *after,
                         const struct provider *host, struct arena *arena)
{
    struct sums now = portions_of(after, host, arena);
    struct sums was =
        portions_of(before, version_provider_by_uuid(before, provider_uuid(host)), arena);
    const struct sum *logged = NULL;
    for (size_t i = 0; i < now.count; i++) {
        const struct sum *portion = &now.items[i];
        const struct slice *project = portion->of;
        bool is_logged = logged != NULL && logged->key[0] == portion->key[0];
        const struct valet_group *group = is_logged || !has_grown(&was, portion)
                                              ? NULL
                                              : host_refuses(after, NULL, host, *project);
        if (group == NULL)
            continue;
        logged = portion;
        log_write(LOG_LEVEL_WARNING, "berth.valet", LOG_NO_CONTEXT,
                  "Another program has given project %.*s more of resource provider '%.*s', which "
                  "is held by exclusivity group '%.*s'.",
                  SLICE_ARG(*project), SLICE_ARG(provider_name(host)),
                  SLICE_ARG(record_text(&group->record, VALET_GROUP_NAME)));
    }
}

/* A host that several groups claim is checked only at its first aggregate that belongs to a group.
 * The host is in `aggregate`, which belongs to one. */
static bool comes_first(const struct version *version, const struct provider *host,
                        uint32_t aggregate)
{
    for (const uint32_t *at = host->aggregates->numbers; *at != aggregate; at++)
        if (host_group_of_aggregate(version, *at) != NULL)
            return false;
    return true;
}

static void compare_claims(const struct version *before, const struct version *after,
                           struct arena *arena)
{
    const struct valet_group *group;
    for (int64_t id = 0; (group = version_next_valet_group(after, id)) != NULL;
         id = group->record.id) {
        const struct catalog_row *row = host_aggregate_of(after, group);
        const struct slotset *members =
            row == NULL ? NULL : &catalog_at(&after->aggregates, row->number)->slots;
        for (uint32_t slot = 0;
             members != NULL && (slot = slotset_next(members, slot)) != NUMBER_NONE; slot++) {
            const struct provider *host = version_place(after, (struct slot_no){slot})->provider;
            if (host->parent.v == NUMBER_NONE && comes_first(after, host, row->number))
                compare_host(before, after, host, arena);
        }
    }
}

void foreign_write_scan_compare(struct foreign_write_scan *scan, const struct version *before,
                                const struct version *after, struct arena *arena)
{
    scan->is_due = version_has_valet_placements(after) ||
                   after->valet[VALET_CLAIMS].rows.count > 0 || scan->is_due;
    if (before == NULL)
        return;
    compare_holds(scan, before, after);
    compare_claims(before, after, arena);
}
