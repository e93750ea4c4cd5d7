/* A consumer's row in memory, with its allocations. */
#ifndef BERTH_REPLICA_CONSUMER_H
#define BERTH_REPLICA_CONSUMER_H

#include "base/cow.h"
#include "base/slice.h"
#include "model/numbers.h"
#include "replica/provider.h"

struct consumer_allocation {
    struct provider_no provider;
    struct class_no class_no;
    int64_t used;
};

/* Immutable once published. Allocations have the order of their rows. */
struct consumer {
    struct cow_node node;
    int64_t id;
    int64_t allocated_at_us; /* the newest created_at of its allocations */
    uint32_t project;        /* numbers in the catalogs */
    uint32_t user;
    uint32_t type; /* NUMBER_NONE: no type, shown as "unknown" */
    int32_t generation;
    uint32_t allocation_count;
    uint32_t allocation_capacity;
    char uuid[UUID_TEXT_MAX];
    uint8_t uuid_len;
    struct consumer_allocation allocation[];
};

static inline struct slice consumer_uuid(const struct consumer *consumer)
{
    return (struct slice){consumer->uuid, consumer->uuid_len};
}

#endif
