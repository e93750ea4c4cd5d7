/* Makes one seek for each provider in the tree that orders consumers by provider. Any thread. */
#include "replica/provider_consumers.h"

static void enter(struct provider_consumers *walk, struct provider_no provider)
{
    walk->provider = provider.v;
    ptree_seek(&walk->version->provider_consumers, provider.v, 0, &walk->iter);
}

void provider_consumers_of(struct provider_consumers *walk, const struct version *version,
                           struct provider_no provider)
{
    walk->version = version;
    walk->slot = walk->end = 0;
    enter(walk, provider);
}

void provider_consumers_below(struct provider_consumers *walk, const struct version *version,
                              struct provider_no provider)
{
    struct slot_no slot = version_slot(version, provider);
    walk->version = version;
    walk->slot = slot.v + 1;
    walk->end = version_place(version, slot)->end;
    enter(walk, provider);
}

/* False: end of the subtree. */
static bool enter_next(struct provider_consumers *walk)
{
    while (walk->slot < walk->end) {
        const struct provider *provider =
            version_place(walk->version, (struct slot_no){walk->slot++})->provider;
        if (provider != NULL) {
            enter(walk, provider->no);
            return true;
        }
    }
    return false;
}

const struct consumer *provider_consumers_next(struct provider_consumers *walk)
{
    const struct ptree_entry *entry;
    while ((entry = ptree_iter_get(&walk->iter)) == NULL || entry->k1 != walk->provider)
        if (!enter_next(walk))
            return NULL;
    uint64_t value;
    check(ptree_find(&walk->version->consumers, entry->value, entry->k2, &value));
    ptree_iter_next(&walk->iter);
    return (const struct consumer *)(uintptr_t)value;
}
