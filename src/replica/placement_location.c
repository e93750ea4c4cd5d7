/* Placements follow the facts: nothing is kept of a location as long as a consumer tells it. */
#include "replica/placement_location.h"

const struct consumer *placement_consumer(const struct version *version, struct slice uuid)
{
    const struct consumer *consumer = uuid.data == NULL ? NULL : version_consumer(version, uuid);
    return consumer != NULL && consumer->allocation_count > 0 ? consumer : NULL;
}

const struct consumer *placement_hold(const struct version *version,
                                      const struct valet_placement *placement)
{
    return placement_consumer(version, record_text(&placement->record, VALET_PLACEMENT_UUID));
}

const struct consumer *placement_server(const struct version *version,
                                        const struct valet_placement *placement)
{
    const struct consumer *server =
        placement_consumer(version, record_text(&placement->record, VALET_PLACEMENT_RESOURCE_ID));
    if (server != NULL)
        return server;
    return placement_consumer(version,
                              record_text(&placement->record, VALET_PLACEMENT_ORCHESTRATION_ID));
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
        consumer = placement_server(version, placement);
    return consumer == NULL ? NULL : placement_host_of(version, consumer);
}

struct slice placement_location(const struct version *version,
                                const struct valet_placement *placement)
{
    const struct provider *host = placement_host(version, placement);
    return host == NULL ? record_text(&placement->record, VALET_PLACEMENT_LOCATION)
                        : provider_name(host);
}
