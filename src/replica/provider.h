/* A resource provider's row in memory: identity, generation, inventories with their used amounts,
 * interned sets. */
#ifndef BERTH_REPLICA_PROVIDER_H
#define BERTH_REPLICA_PROVIDER_H

#include "base/buf.h"
#include "base/slice.h"
#include "model/capacity.h"
#include "model/numbers.h"
#include "replica/name_set.h"

enum { UUID_TEXT_MAX = 36, SUMMARY_TEXT_MAX = 48 };

struct provider_inventory {
    struct inventory_figures figures;
    struct class_no class_no;
    uint32_t summary_len;           /* 0: too long (see provider_inventory_write_summary) */
    int64_t used;                   /* the sum of the allocations of that class */
    int64_t modified_at_us;         /* the newer of created_at and updated_at */
    char summary[SUMMARY_TEXT_MAX]; /* {"capacity": 64, "used": 8}, which most answers contain */
};

/* Immutable once published. The name's bytes follow the inventories, which have the order of their
 * rows. */
struct provider {
    struct cow_node node;
    int64_t id;
    int64_t modified_at_us; /* the newer of created_at and updated_at */
    const struct name_set *traits;
    const struct name_set *aggregates;
    struct provider_no no;
    struct provider_no parent; /* NUMBER_NONE: a root */
    struct provider_no root;   /* itself for a root */
    int32_t generation;
    uint32_t inventory_count;
    uint32_t name_len;
    uint32_t uuid_len;
    char uuid[UUID_TEXT_MAX];
    struct provider_inventory inventory[];
};

static inline struct slice provider_uuid(const struct provider *provider)
{
    return (struct slice){provider->uuid, provider->uuid_len};
}

static inline struct slice provider_name(const struct provider *provider)
{
    return (struct slice){(const char *)&provider->inventory[provider->inventory_count],
                          provider->name_len};
}

static inline size_t provider_bytes(uint32_t inventory_count, uint32_t name_len)
{
    return sizeof(struct provider) + inventory_count * sizeof(struct provider_inventory) + name_len;
}

/* Writes the summary's text again; call it after every change of the figures or the used amount. */
void provider_inventory_summarise(struct provider_inventory *inventory);

/* Appends the summary's text, even if it is too long to be stored. */
void provider_inventory_write_summary(struct buf *out, const struct provider_inventory *inventory);

/* The inventory of that class, or NULL. */
static inline const struct provider_inventory *
provider_inventory_of(const struct provider *provider, struct class_no class_no)
{
    for (uint32_t i = 0; i < provider->inventory_count; i++)
        if (provider->inventory[i].class_no.v == class_no.v)
            return &provider->inventory[i];
    return NULL;
}

#endif
