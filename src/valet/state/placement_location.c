/* Locations follow the facts: none is stored as long as a consumer determines it. */
#include "valet/state/placement_location.h"

bool consumer_is_hold(const struct version *version, const struct consumer *consumer)
{
    return consumer->type != NUMBER_NONE &&
           slice_equal(catalog_name(catalog_row_at(&version->types, consumer->type)),
                       SLICE_LIT(VALET_HOLD_TYPE));
}

static const struct consumer *holding(const struct version *version, struct slice uuid)
{
    const struct consumer *consumer = version_consumer(version, uuid);
    return consumer != NULL && consumer->allocation_count > 0 ? consumer : NULL;
}

const struct consumer *placement_hold(const struct version *version,
                                      const struct valet_placement *placement)
{
    return holding(version, record_text(&placement->record, VALET_PLACEMENT_UUID));
}

bool placement_takes_server(const struct valet_plan *plan, struct slice project)
{
    return plan != NULL && (record_bool(&plan->record, VALET_PLAN_ANY_PROJECT) ||
                            project_equal(record_text(&plan->record, VALET_PLAN_PROJECT), project));
}

const struct consumer *placement_server_of(const struct version *version, struct slice project,
                                           struct slice id)
{
    char dashed[VALET_ID_DASHED_LEN];
    const struct consumer *consumer = NULL;
    if (id.data == NULL)
        return NULL;
    if (valet_id_dashed(id, dashed))
        consumer = holding(version, (struct slice){dashed, VALET_ID_DASHED_LEN});
    if (consumer == NULL)
        consumer = holding(version, id); /* POST stores the uuid in the form in which it was sent */
    if (consumer == NULL || consumer_is_hold(version, consumer))
        return NULL;
    struct slice owner = catalog_name(catalog_row_at(&version->projects, consumer->project));
    return project.data == NULL || project_equal(project, owner) ? consumer : NULL;
}

const struct consumer *placement_server_by(const struct version *version,
                                           const struct valet_plan *plan, struct slice id)
{
    struct slice any = {0};
    if (plan == NULL)
        return NULL;
    return placement_server_of(version,
                               record_bool(&plan->record, VALET_PLAN_ANY_PROJECT)
                                   ? any
                                   : record_text(&plan->record, VALET_PLAN_PROJECT),
                               id);
}

const struct valet_plan *placement_plan(const struct version *version,
                                        const struct valet_placement *placement)
{
    return version_valet_plan(version, record_number(&placement->record, VALET_PLACEMENT_PLAN_ID));
}

const struct consumer *placement_server(const struct version *version,
                                        const struct valet_placement *placement,
                                        const struct valet_plan *plan)
{
    const struct record *row = &placement->record;
    const struct consumer *server =
        placement_server_by(version, plan, record_text(row, VALET_PLACEMENT_RESOURCE_ID));
    if (server != NULL)
        return server;
    return placement_server_by(version, plan, record_text(row, VALET_PLACEMENT_ORCHESTRATION_ID));
}

static bool name_is_less(const struct provider *a, const struct provider *b)
{
    struct slice one = provider_name(a);
    struct slice other = provider_name(b);
    int order = memcmp(one.data, other.data, one.len < other.len ? one.len : other.len);
    return order != 0 ? order < 0 : one.len < other.len;
}

const struct provider *placement_host_of(const struct version *version,
                                         const struct consumer *consumer)
{
    const struct catalog_row *row = catalog_find(&version->classes, SLICE_LIT("VCPU"));
    const struct provider *first = NULL;
    bool first_has_cpu = false;
    for (uint32_t i = 0; i < consumer->allocation_count; i++) {
        const struct consumer_allocation *allocation = &consumer->allocation[i];
        const struct provider *provider = version_provider(version, allocation->provider);
        bool has_cpu = row != NULL && allocation->class_no.v == row->number;
        if (first == NULL || (has_cpu && !first_has_cpu) ||
            (has_cpu == first_has_cpu && name_is_less(provider, first))) {
            first = provider;
            first_has_cpu = has_cpu;
        }
    }
    check(first != NULL);
    return version_provider(version, first->root);
}

bool placement_is_on(const struct version *version, const struct consumer *consumer,
                     const struct provider *host)
{
    for (uint32_t i = 0; i < consumer->allocation_count; i++)
        if (version_provider(version, consumer->allocation[i].provider)->root.v == host->no.v)
            return true;
    return false;
}

const struct provider *placement_host(const struct version *version,
                                      const struct valet_placement *placement)
{
    const struct consumer *consumer = placement_hold(version, placement);
    if (consumer == NULL)
        consumer = placement_server(version, placement, placement_plan(version, placement));
    return consumer == NULL ? NULL : placement_host_of(version, consumer);
}

struct slice placement_location(const struct version *version,
                                const struct valet_placement *placement)
{
    const struct provider *host = placement_host(version, placement);
    return host == NULL ? record_text(&placement->record, VALET_PLACEMENT_LOCATION)
                        : provider_name(host);
}
