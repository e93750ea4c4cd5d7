/* The inventory of all providers under openstack-exporter's names, so that its dashboards keep
 * working: resources by host name and class, in the order of the providers' rows; and allocations
 * by consumer, in no particular order. Everything comes from one version. A page whose client has
 * disconnected is abandoned, because the next one waits behind it, and so does a stop. */
#include <stdlib.h>

#include "api/admin/admin_internal.h"

enum { ROWS_A_LOOK = 256 }; /* a check of the client takes several system calls */

/* Live providers in the order of their rows. */
struct providers {
    const struct provider **at;
    size_t count;
};

static struct providers list_providers(const struct version *version)
{
    struct providers list = {calloc(version->provider_by_id.count + 1, sizeof(*list.at)), 0};
    check(list.at != NULL);
    struct ptree_iter iter;
    ptree_seek(&version->provider_by_id, 0, 0, &iter);
    for (const struct ptree_entry *entry; (entry = ptree_iter_get(&iter)) != NULL;
         ptree_iter_next(&iter))
        list.at[list.count++] =
            version_provider(version, (struct provider_no){(uint32_t)entry->value});
    return list;
}

static double inventory_metrics_value_of(enum metric_id id, const struct provider *provider,
                                         const struct provider_inventory *inventory)
{
    switch (id) {
    case METRIC_RESOURCE_TOTAL:
        return inventory->figures.total;
    case METRIC_RESOURCE_RESERVED:
        return inventory->figures.reserved;
    case METRIC_RESOURCE_RATIO:
        return inventory->figures.allocation_ratio;
    case METRIC_RESOURCE_USAGE:
        return (double)inventory->used;
    default:
        return provider->generation;
    }
}

static bool is_abandoned(const struct admin_page *page, size_t row)
{
    return row % ROWS_A_LOOK == 0 && admin_page_is_abandoned(page);
}

/* False: the client has disconnected. */
static bool write_family(const struct version *version, const struct providers *providers,
                         enum metric_id id, const struct admin_page *page,
                         struct exposition *exposition)
{
    struct label labels[] = {{"hostname", {0}}, {"resourcetype", {0}}};
    exposition_begin(exposition, id);
    for (size_t p = 0; p < providers->count; p++) {
        if (is_abandoned(page, p))
            return false;
        const struct provider *provider = providers->at[p];
        labels[0].value = provider_name(provider);
        for (uint32_t i = 0; i < provider->inventory_count; i++) {
            const struct provider_inventory *inventory = &provider->inventory[i];
            labels[1].value =
                catalog_name(catalog_row_at(&version->classes, inventory->class_no.v));
            exposition_value(exposition, labels, 2,
                             inventory_metrics_value_of(id, provider, inventory));
        }
    }
    return true;
}

bool inventory_metrics_write(const struct version *version, const struct admin_page *page,
                             struct exposition *exposition)
{
    static const enum metric_id IDS[] = {METRIC_RESOURCE_TOTAL, METRIC_RESOURCE_RESERVED,
                                         METRIC_RESOURCE_RATIO, METRIC_RESOURCE_USAGE,
                                         METRIC_RESOURCE_GENERATION};
    struct providers providers = list_providers(version);
    bool goes_on = true;
    for (size_t i = 0; goes_on && i < sizeof(IDS) / sizeof(IDS[0]); i++)
        goes_on = write_family(version, &providers, IDS[i], page, exposition);
    free(providers.at);
    return goes_on;
}

static void write_consumer(const struct version *version, const struct consumer *consumer,
                           struct exposition *exposition)
{
    for (uint32_t i = 0; i < consumer->allocation_count; i++) {
        const struct consumer_allocation *allocation = &consumer->allocation[i];
        const struct label labels[] = {
            {"hostname", provider_name(version_provider(version, allocation->provider))},
            {"uuid", consumer_uuid(consumer)},
            {"resourcetype",
             catalog_name(catalog_row_at(&version->classes, allocation->class_no.v))},
        };
        exposition_value(exposition, labels, 3, (double)allocation->used);
    }
}

bool allocation_metrics_write(const struct version *version, const struct admin_page *page,
                              struct exposition *exposition)
{
    struct ptree_iter iter;
    size_t row = 0;
    exposition_begin(exposition, METRIC_PROVIDER_ALLOCATIONS);
    ptree_seek(&version->consumers, 0, 0, &iter);
    for (const struct ptree_entry *entry; (entry = ptree_iter_get(&iter)) != NULL;
         ptree_iter_next(&iter)) {
        if (is_abandoned(page, row++))
            return false;
        write_consumer(version, (const struct consumer *)(uintptr_t)entry->value, exposition);
    }
    return true;
}
