/* Valet's rules in the form that the engine calls. Exclusivity binds every request, Valet's own
 * included; holds may be written by Valet's requests only. */
#include "valet/write/valet_rule.h"

#include "valet/state/hosts.h"
#include "valet/state/placement_location.h"
#include "valet/write/exclusivity.h"
#include "valet/write/foreign_write_scan.h"
#include "valet/write/holds.h"

static const struct claim *amend(void *context, const struct claim *claims, size_t *count,
                                 const struct plan *plan)
{
    (void)context;
    return holds_add_drops(claims, count, plan);
}

static bool guard(void *context, const struct claim_set *set)
{
    (void)context;
    return holds_guard(set);
}

static bool check_effects(void *context, const struct effects *effects, const struct plan *plan,
                          struct err *err)
{
    (void)context;
    return (plan->author == &valet_rule || holds_check(effects, err)) &&
           (plan->said->records_what_is || exclusivity_check(effects, err));
}

static void *valet_rule_note(void *context, const struct effects *effects, const struct plan *plan)
{
    (void)context;
    return consequences_begin(effects, plan);
}

static bool follow(void *noted, const struct plan *plan)
{
    return consequences_next(noted, plan);
}

static void foreign(void *context, enum foreign_write kind, const struct version *before,
                    const struct version *after, struct arena *arena)
{
    if (kind == FOREIGN_LOADED)
        foreign_write_scan_compare(context, before, after, arena);
    else
        foreign_write_scan_follow(context, before, after);
}

static bool owes(const void *context)
{
    const struct foreign_write_scan *scan = context;
    return scan->is_due;
}

static void *make_up(void *context, const struct plan *plan)
{
    return foreign_write_scan_begin(context, plan);
}

static void made_up(void *context)
{
    foreign_write_scan_end(context);
}

static bool refuses(void *context, const struct version *version, const struct provider *host,
                    struct slice project)
{
    (void)context;
    return host_refuses(version, NULL, host, project) != NULL;
}

/* A hold gives way to the real server of its placement (8.2). */
static bool yields(void *context, const struct version *version, const struct consumer *consumer,
                   struct slice uuid, struct slice project)
{
    (void)context;
    const struct valet_placement *placement =
        version_has_valet_placements(version)
            ? version_valet_placement_by_uuid(version, consumer_uuid(consumer))
            : NULL;
    if (placement == NULL || (project.data != NULL &&
                              !placement_takes_server(placement_plan(version, placement), project)))
        return false;
    struct slice resource = record_text(&placement->record, VALET_PLACEMENT_RESOURCE_ID);
    return (resource.data != NULL && valet_id_equal(resource, uuid)) ||
           valet_id_equal(record_text(&placement->record, VALET_PLACEMENT_ORCHESTRATION_ID), uuid);
}

static bool owns_consumer(void *context, const struct version *version, struct slice uuid)
{
    (void)context;
    return version_valet_placement_by_uuid(version, uuid) != NULL;
}

const struct rule valet_rule = {
    .name = "valet",
    .amend = amend,
    .guard = guard,
    .check_effects = check_effects,
    .note = valet_rule_note,
    .follow = follow,
    .foreign = foreign,
    .owes = owes,
    .make_up = make_up,
    .made_up = made_up,
    .refuses = refuses,
    .yields = yields,
    .owns_consumer = owns_consumer,
};
