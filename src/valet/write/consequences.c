/* Derives the consequences of one request's changes: before they are applied, what they affect is
 * noted; after that, consequences are appended step by step, each step on the version created by
 * the previous one.
 *
 * Invariants: after each request no automatic claim is on an empty host, hosts of a claimed rack
 * are claimed, and a placement whose location no consumer determines has the last one in its row.
 * Without placements and claims, nothing is noted and there are no consequences. Writer thread
 * only. */
#include "valet/write/consequences.h"
#include "valet/write/consequences_claims.h"
#include "valet/write/consequences_notes.h"

#include <stdlib.h>

#include "base/arena.h"
#include "engine/allocations.h"
#include "valet/state/hosts.h"
#include "valet/state/placement_location.h"
#include "valet/write/holds.h"

/* ---- placements ---- */

static void note(struct consequences *consequences, const struct plan *plan,
                 struct consequences_note what)
{
    consequences->notes = arena_grow(plan->arena, consequences->notes, consequences->note_count,
                                     &consequences->note_capacity, sizeof(*consequences->notes));
    consequences->notes[consequences->note_count++] = what;
}

static void note_placement(struct consequences *consequences, const struct plan *plan,
                           const struct valet_placement *placement, bool is_first)
{
    if (placement != NULL)
        note(consequences, plan,
             (struct consequences_note){
                 .placement_id = placement->record.id,
                 .location = arena_copy(plan->arena, placement_location(plan->version, placement)),
                 .is_first = is_first,
             });
}

/* A consumer that becomes the placement's server: it held nothing before, or did not count. */
static void note_server(struct consequences *consequences, const struct plan *plan,
                        const struct valet_placement *placement, struct slice uuid, bool is_written)
{
    const struct version *version = plan->version;
    if (placement != NULL)
        note_placement(consequences, plan, placement,
                       is_written &&
                           placement_server_by(version, placement_plan(version, placement), uuid) ==
                               NULL);
}

/* The placement with its uuid, and those whose server it is. */
static void consequences_note_consumer(struct consequences *consequences, const struct plan *plan,
                                       struct slice uuid, bool is_written)
{
    const struct version *version = plan->version;
    if (!version_has_valet_placements(version))
        return;
    note_placement(consequences, plan, version_valet_placement_by_uuid(version, uuid), false);
    note_server(consequences, plan, version_valet_placement_by_resource(version, uuid), uuid,
                is_written);
    note_server(consequences, plan, version_valet_placement_by_orchestration(version, uuid), uuid,
                is_written);
}

/* If servers stop counting for a plan, their locations are recorded as the last known ones. */
static void note_plan(struct consequences *consequences, const struct plan *plan,
                      const struct record *after)
{
    const struct version *version = plan->version;
    const struct valet_plan *before = version_valet_plan(version, after->id);
    const struct valet_placement *at;
    if (before == NULL || record_bool(&before->record, VALET_PLAN_ANY_PROJECT) ==
                              record_bool(after, VALET_PLAN_ANY_PROJECT))
        return;
    for (int64_t id = 0; (at = version_next_valet_placement_of(version, after->id, id)) != NULL;
         id = at->record.id)
        note_placement(consequences, plan, at, false);
}

/* A server may already exist when its id is recorded (7.3). */
static void note_row(struct consequences *consequences, const struct plan *plan, int64_t id)
{
    const struct valet_placement *before = version_valet_placement(plan->version, id);
    if (before != NULL)
        note_placement(consequences, plan, before, false);
    else
        note(consequences, plan, (struct consequences_note){.placement_id = id});
}

static int compare_notes(const void *a, const void *b)
{
    int64_t one = ((const struct consequences_note *)a)->placement_id;
    int64_t other = ((const struct consequences_note *)b)->placement_id;
    return (one > other) - (one < other);
}

/* Merges the notes of each placement into one: they agree on its location. */
static void merge_notes(struct consequences *consequences)
{
    size_t count = 0;
    if (consequences->note_count > 1)
        qsort(consequences->notes, consequences->note_count, sizeof(*consequences->notes),
              compare_notes);
    for (size_t i = 0; i < consequences->note_count; i++) {
        struct consequences_note *last = count == 0 ? NULL : &consequences->notes[count - 1];
        if (last == NULL || last->placement_id != consequences->notes[i].placement_id)
            consequences->notes[count++] = consequences->notes[i];
        else
            last->is_first |= consequences->notes[i].is_first;
    }
    consequences->note_count = count;
}

struct moving {
    struct consequences *consequences;
    const struct plan *plan;
};

static bool note_moving(void *cls, const struct consumer *consumer)
{
    const struct moving *moving = cls;
    consequences_note_consumer(moving->consequences, moving->plan, consumer_uuid(consumer), false);
    return true;
}

/* A hold and its server may get into one tree together. */
static void note_moved_tree(struct consequences *consequences, const struct plan *plan,
                            const struct change_provider *change)
{
    const struct provider *provider = version_provider_by_id(plan->version, change->id);
    struct moving moving = {consequences, plan};
    if (provider != NULL && consequences_is_moved(plan->version, provider, change) &&
        version_has_valet_placements(plan->version))
        host_visit_consumers(plan->version, provider, note_moving, &moving);
}

static bool has_claims(const struct version *version)
{
    return version->valet[VALET_CLAIMS].rows.count > 0;
}

/* ---- all ---- */

/* A consumer that is written. One that is only deleted, or only loses allocations, is not a new
 * server. */
static void note_effect(struct consequences *consequences, const struct plan *plan,
                        const struct effect_consumer *consumer)
{
    bool is_written =
        consumer->gets != NULL ||
        (consumer->row != NULL &&
         consumer->before != NULL); /* with another project it may begin or cease to count */
    if (is_written || consumer->is_released)
        consequences_note_consumer(consequences, plan, consumer->uuid, is_written);
    if (consumer->is_released)
        consequences_note_loss(consequences, plan, consumer->before);
}

static bool has_row_changes(const struct effects *effects)
{
    return effects_have(effects, CHANGE_VALET_PLAN_PUT) ||
           effects_have(effects, CHANGE_VALET_PLACEMENT_PUT);
}

static void note_rows(struct consequences *consequences, const struct plan *plan)
{
    for (size_t i = 0; i < plan->changes->count; i++) {
        const struct change *change = &plan->changes->items[i];
        if (change->kind == CHANGE_VALET_PLAN_PUT)
            note_plan(consequences, plan, change->row.record);
        else if (change->kind == CHANGE_VALET_PLACEMENT_PUT)
            note_row(consequences, plan, change->row.id);
    }
}

struct consequences *consequences_begin(const struct effects *effects, const struct plan *plan)
{
    bool has = has_claims(plan->version);
    if (!version_has_valet_placements(plan->version) && !has &&
        !effects_have(effects, CHANGE_VALET_PLACEMENT_PUT))
        return NULL;
    struct consequences *consequences = arena_zalloc(plan->arena, sizeof(*consequences));
    for (size_t i = 0; i < effects->consumer_count; i++)
        note_effect(consequences, plan, &effects->consumers[i]);
    for (size_t i = 0; i < effects->provider_count; i++)
        if (effects->providers[i].row != NULL && effects->providers[i].before != NULL)
            note_moved_tree(consequences, plan, effects->providers[i].row);
    if (has_row_changes(effects))
        note_rows(consequences, plan);
    for (size_t i = 0; has && i < plan->changes->count; i++)
        consequences_note_claims(consequences, plan, &plan->changes->items[i]);
    merge_notes(consequences);
    return consequences;
}

struct consequences *consequences_begin_all(const int64_t *placement_ids, size_t count,
                                            const struct plan *plan)
{
    struct consequences *consequences = arena_zalloc(plan->arena, sizeof(*consequences));
    consequences->is_wide = has_claims(plan->version);
    const struct valet_placement *placement;
    for (int64_t id = 0; (placement = version_next_valet_placement(plan->version, id)) != NULL;
         id = placement->record.id)
        note(consequences, plan, (struct consequences_note){.placement_id = placement->record.id});
    for (size_t i = 0; i < count; i++)
        note(consequences, plan, (struct consequences_note){placement_ids[i], {NULL, 0}, true});
    merge_notes(consequences);
    return consequences;
}

/* Whether one of the placement's servers is on the host of its hold, or exists for the first time.
 */
static bool is_replaced(const struct version *version, const struct consequences_note *what,
                        const struct valet_placement *placement, const struct consumer *hold)
{
    static const enum valet_placement_field ids[] = {VALET_PLACEMENT_RESOURCE_ID,
                                                     VALET_PLACEMENT_ORCHESTRATION_ID};
    const struct valet_plan *plan = placement_plan(version, placement);
    const struct provider *host = placement_host_of(version, hold);
    for (size_t i = 0; i < 2; i++) {
        const struct consumer *server =
            placement_server_by(version, plan, record_text(&placement->record, ids[i]));
        if (server != NULL && (what->is_first || placement_is_on(version, server, host)))
            return true;
    }
    return false;
}

static void append_drops(struct consequences *consequences, const struct plan *plan)
{
    const struct version *version = plan->version;
    for (size_t i = 0; i < consequences->note_count; i++) {
        const struct valet_placement *placement =
            version_valet_placement(version, consequences->notes[i].placement_id);
        const struct consumer *hold = placement == NULL ? NULL : placement_hold(version, placement);
        if (hold == NULL || !is_replaced(version, &consequences->notes[i], placement, hold))
            continue;
        consequences_note_loss(consequences, plan, hold);
        allocations_drop(plan, hold);
    }
}

static void append_location(const struct consequences_note *note, const struct plan *plan)
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

bool consequences_next(struct consequences *consequences, const struct plan *plan)
{
    if (!consequences->has_dropped) {
        consequences->has_dropped = true;
        append_drops(consequences, plan);
        if (plan->changes->count > 0)
            return true;
    }
    if ((consequences->is_wide || consequences->providers.count > 0 ||
         consequences->left_count > 0) &&
        consequences_claims(consequences, plan))
        return true;
    if (consequences->has_located)
        return false;
    consequences->has_located = true;
    for (size_t i = 0; i < consequences->note_count; i++)
        append_location(&consequences->notes[i], plan);
    return plan->changes->count > 0;
}
