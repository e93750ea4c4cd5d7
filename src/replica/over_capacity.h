/* The inventories of which more is allocated than their capacity, kept up to date so that nobody
 * has to walk all providers to count or to find them.
 *
 * No claim of berth's has that result (ARCHITECTURE.md, invariant 8), but smaller inventories and
 * other programs do. An inventory that is reserved as a whole is never one of them: that is how
 * nova and the Bare Metal API keep a machine that is in use from being allocated again. Neither are
 * allocations without an inventory (replica/usage.h).
 *
 * version.over_capacity: (provider number, class number) -> number of the version in which the
 * inventory has got there; version.over_capacity_since: (that number, over_capacity_key()) -> 0. A
 * follow that reads a provider again takes its inventories out and puts them back, so that number
 * may be too new. */
#ifndef BERTH_REPLICA_OVER_CAPACITY_H
#define BERTH_REPLICA_OVER_CAPACITY_H

#include "replica/version.h"

/* Whether the inventory is one of them, by its own figures. */
bool over_capacity_is(const struct provider_inventory *inventory);

/* Whether the version has it among them. Any thread, as the next two. */
bool over_capacity_has(const struct version *version, struct provider_no provider,
                       struct class_no class_no);

/* Passes those that have got there with this version, and perhaps others that the edit has read
 * again. */
typedef void over_capacity_visit(void *cls, const struct provider *provider,
                                 const struct provider_inventory *inventory);
void over_capacity_of_version(const struct version *version, over_capacity_visit *visit, void *cls);

/* Both numbers in one key. */
static inline uint64_t over_capacity_key(struct provider_no provider, struct class_no class_no)
{
    return (uint64_t)provider.v << 32 | class_no.v;
}

/* The inventory's figures or its used amount have changed; or it is removed. The writer only. */
void over_capacity_update(struct cow *cow, struct version *version, struct provider_no provider,
                          const struct provider_inventory *inventory);
void over_capacity_clear(struct cow *cow, struct version *version, struct provider_no provider,
                         struct class_no class_no);

#endif
