/* See over_capacity_log.h. The work is proportional to what the version has read, not to what is
 * over its capacity: an operator who lowers an allocation ratio may leave all hosts so. What
 * another berthd has written is not named here, because it has either kept to the rules or named
 * it. */
#include "placement/write/over_capacity_log.h"

#include "base/clock.h"
#include "log/log.h"
#include "replica/over_capacity.h"

enum { LOG_EVERY_US = 60000000, NAMED_MOST = 5 };

struct naming {
    const struct version *before; /* NULL: there was none */
    const struct version *after;
    uint64_t count;
    struct buf names;
};

/* A load gives out other numbers, so rows are found by their ids. */
static bool was_over(const struct naming *naming, const struct provider *provider,
                     const struct catalog_row *class_row)
{
    if (naming->before == NULL)
        return false;
    const struct provider *had = version_provider_by_id(naming->before, provider->id);
    const struct catalog_row *had_class = catalog_find_id(&naming->before->classes, class_row->id);
    return had != NULL && had_class != NULL &&
           over_capacity_has(naming->before, had->no, (struct class_no){had_class->number});
}

/* "VCPU of resource provider 5c0f… (host1): 17 of 16" */
static void name_inventory(void *cls, const struct provider *provider,
                           const struct provider_inventory *inventory)
{
    struct naming *naming = cls;
    const struct catalog_row *class_row =
        catalog_row_at(&naming->after->classes, inventory->class_no.v);
    if (was_over(naming, provider, class_row) || naming->count++ >= NAMED_MOST)
        return;
    buf_printf(&naming->names, "%s %.*s of resource provider %.*s (%.*s): %lld of %lld",
               naming->count == 1 ? "" : ",", SLICE_ARG(catalog_name(class_row)),
               SLICE_ARG(provider_uuid(provider)), SLICE_ARG(provider_name(provider)),
               (long long)inventory->used, (long long)capacity_of(&inventory->figures));
}

static void write_line(const struct over_capacity_log *log, const struct naming *naming)
{
    if (log->not_logged > 0)
        log_write(LOG_LEVEL_WARNING, "berth", LOG_NO_CONTEXT,
                  "%llu more inventories whose capacity was exceeded were not logged",
                  (unsigned long long)log->not_logged);
    log_write(LOG_LEVEL_WARNING, "berth", LOG_NO_CONTEXT,
              "%s exceeds the capacity of inventories: %llu, such as%.*s",
              naming->before == NULL
                  ? "what is allocated"
                  : "what another process has written, or the database has lost,",
              (unsigned long long)naming->count, SLICE_ARG(buf_slice(&naming->names)));
}

void over_capacity_log_foreign(struct over_capacity_log *log, enum foreign_write kind,
                               const struct version *before, const struct version *after)
{
    struct naming naming = {.before = before, .after = after};
    if (kind == FOREIGN_FOLLOWED)
        return;
    over_capacity_of_version(after, name_inventory, &naming);
    if (naming.count == 0)
        return;
    uint64_t now_us = clock_monotonic_us();
    if (log->logged_us != 0 && now_us - log->logged_us < LOG_EVERY_US) {
        log->not_logged += naming.count;
    } else {
        write_line(log, &naming);
        *log = (struct over_capacity_log){.logged_us = now_us};
    }
    buf_free(&naming.names);
}
