/* Compares a few entities of a version with their rows at a time, so that all can be compared in
 * short snapshots one after the other. Entities that memory does not have are not found in this
 * way. Any one thread, on a pinned version. */
#ifndef BERTH_REPLICA_BLOCK_H
#define BERTH_REPLICA_BLOCK_H

#include "model/change.h"
#include "model/difference.h"
#include "replica/version.h"

enum { BLOCK_MOST = 200 };

/* Up to where entities have been compared, in any version. All zero: the beginning. */
struct block_place {
    enum entity entity;
    uint64_t k1, k2; /* in the version's tree of that kind */
};

struct block_item {
    int64_t id;
    const struct catalog_row *row; /* one of these is what memory has */
    const struct provider *provider;
    const struct consumer *consumer;
    const struct record *record;
    uint32_t inventories, traits, aggregates, allocations; /* that have come */
    bool has_come;
    bool differs;
    bool has_newest; /* of its allocations, one is as new as the newest one in memory */
};

/* Entities of one kind, in the order of their ids. */
struct block {
    const struct version *version;
    enum entity entity;
    size_t count;
    struct block_item items[BLOCK_MOST];
    int64_t ids[BLOCK_MOST];
};

/* Takes the next entities, and moves the place behind them. False: none are left. */
bool block_take(struct block *block, const struct version *version, struct block_place *place);

/* Compares one row of the block's entities, which come as from a load; cls is the block. */
void block_compare(void *cls, const struct change *change);

/* After the last row: passes the entities that memory does not have as the database does. `uuid`:
 * of a consumer, in the version. Returns how many. */
size_t block_end(const struct block *block,
                 void (*differs)(void *cls, enum entity entity, int64_t id, struct slice uuid),
                 void *cls);

#endif
