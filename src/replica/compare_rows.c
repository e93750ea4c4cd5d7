/* Compares rows with memory field by field; the counterpart of apply_change(). Pure; any thread, on
 * a pinned version. */
#include "replica/apply_internal.h"
#include "replica/compare_internal.h"

static bool is_id(const struct catalog *catalog, uint32_t number, int64_t id)
{
    return number == NUMBER_NONE ? id == 0 : catalog_row_at(catalog, number)->id == id;
}

bool same_catalog_name(const struct catalog_row *row, const struct change *change)
{
    return slice_equal(catalog_name(row), change->catalog.name);
}

bool same_catalog(const struct catalog_row *row, const struct change *change)
{
    return same_catalog_name(row, change) && row->created_at_us == change->created_at_us &&
           row->updated_at_us == change->updated_at_us;
}

/* The root is not compared because it follows from the parents. */
bool same_place(const struct version *version, const struct provider *provider,
                const struct change *change)
{
    const struct change_provider *row = &change->provider;
    int64_t parent_id = 0;
    if (provider->parent.v != NUMBER_NONE)
        parent_id = version_provider(version, provider->parent)->id;
    return parent_id == row->parent_id && slice_equal(provider_uuid(provider), row->uuid) &&
           slice_equal(provider_name(provider), row->name);
}

bool same_provider(const struct version *version, const struct provider *provider,
                   const struct change *change)
{
    return same_place(version, provider, change) &&
           provider->generation == (int32_t)change->provider.generation &&
           provider->modified_at_us == apply_modified_at(change);
}

/* Compares the bits, because ratios are only stored here, never calculated. */
static bool same_ratio(double a, double b)
{
    return memcmp(&a, &b, sizeof(a)) == 0; /* NOLINT(bugprone-suspicious-memory-comparison) */
}

bool same_inventory(const struct version *version, const struct provider *provider, uint32_t at,
                    const struct change *change)
{
    const struct change_inventory *row = &change->inventory;
    if (at >= provider->inventory_count)
        return false;
    const struct provider_inventory *has = &provider->inventory[at];
    const struct inventory_figures *figures = &has->figures;
    return is_id(&version->classes, has->class_no.v, row->class_id) &&
           figures->total == row->total && figures->reserved == row->reserved &&
           figures->min_unit == row->min_unit && figures->max_unit == row->max_unit &&
           figures->step_size == row->step_size &&
           same_ratio(figures->allocation_ratio, row->allocation_ratio) &&
           has->modified_at_us == apply_modified_at(change);
}

bool same_link(const struct version *version, const struct provider *provider,
               const struct catalog *catalog, const struct catalog_row *row)
{
    return slotset_has(&catalog_at(catalog, row->number)->slots,
                       version_slot(version, provider->no));
}

/* The consumer was found by its uuid and id, so these are equal. */
bool same_consumer(const struct version *version, const struct consumer *consumer,
                   const struct change *change)
{
    const struct change_consumer *row = &change->consumer;
    return is_id(&version->projects, consumer->project, row->project_id) &&
           is_id(&version->users, consumer->user, row->user_id) &&
           is_id(&version->types, consumer->type, row->type_id) &&
           consumer->generation == (int32_t)row->generation;
}

/* The creation time is compared for the consumer as a whole, because memory keeps only the
 * newest. */
bool same_allocation(const struct version *version, const struct consumer *consumer, uint32_t at,
                     const struct change *change)
{
    const struct change_allocation *row = &change->allocation;
    if (at >= consumer->allocation_count)
        return false;
    const struct consumer_allocation *has = &consumer->allocation[at];
    return version_provider(version, has->provider)->id == row->provider_id &&
           is_id(&version->classes, has->class_no.v, row->class_id) && has->used == row->used;
}
