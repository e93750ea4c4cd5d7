/* One walk over the consumers and one over the placements. */
#include "valet/state/placement_findings.h"

#include "valet/state/placement_location.h"

static void find_holds(const struct version *version, placement_finding_sink *sink, void *cls)
{
    const struct catalog_row *type = catalog_find(&version->types, SLICE_LIT(VALET_HOLD_TYPE));
    struct ptree_iter iter;
    ptree_seek(&version->consumers, 0, 0, &iter);
    const struct ptree_entry *entry;
    for (; type != NULL && (entry = ptree_iter_get(&iter)) != NULL; ptree_iter_next(&iter)) {
        const struct consumer *consumer = (const struct consumer *)(uintptr_t)entry->value;
        if (consumer->type == type->number && consumer->allocation_count > 0 &&
            version_valet_placement_by_uuid(version, consumer_uuid(consumer)) == NULL)
            sink(cls, &(struct placement_finding){.hold = consumer});
    }
}

void placement_findings(const struct version *version, placement_finding_sink *sink, void *cls)
{
    find_holds(version, sink, cls);
    const struct valet_placement *placement;
    for (int64_t id = 0; (placement = version_next_valet_placement(version, id)) != NULL;
         id = placement->record.id)
        if (placement_host(version, placement) == NULL)
            sink(cls, &(struct placement_finding){.placement = placement});
}
