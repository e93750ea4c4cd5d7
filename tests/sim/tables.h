/* Upstream's tables and our own in memory: rows, constraints, and how a load and a follow tell
 * them.
 *
 * A row is the image that a load would send. Texts live in one set for the whole program, so that
 * tables can be copied and compared by bytes. */
#ifndef BERTH_SIM_TABLES_H
#define BERTH_SIM_TABLES_H

#include "model/valet.h"
#include "rng.h"
#include "store/store.h"

enum table {
    TABLE_CLASSES,
    TABLE_TRAITS,
    TABLE_AGGREGATES,
    TABLE_PROJECTS,
    TABLE_USERS,
    TABLE_TYPES,
    TABLE_PROVIDERS,
    TABLE_INVENTORIES,
    TABLE_PROVIDER_TRAITS,
    TABLE_PROVIDER_AGGREGATES,
    TABLE_CONSUMERS,
    TABLE_ALLOCATIONS,
    TABLE_NODES,
    TABLE_NODE_ALLOCATIONS,
    TABLE_VALET, /* those of model/valet.h, in its order */
    TABLE_COUNT = TABLE_VALET + VALET_TABLE_COUNT
};

enum { ROWS_MAX = 512 };

struct row {
    uint64_t birth;    /* no two rows ever have the same */
    uint64_t revision; /* moves with every update */
    struct change image;
};

/* In the order of the ids; of rows without ids, in the order in which they came. */
struct rows {
    uint32_t count;
    struct row row[ROWS_MAX];
};

struct tables {
    struct rows rows[TABLE_COUNT];
    uint64_t clock; /* gives births and revisions */
};

/* No tables are in use any more: what their texts took is free again. */
void tables_forget_texts(void);

void tables_copy(struct tables *to, const struct tables *from);

/* Executes one change. NULL, or the constraint that it breaks (static text). */
const char *tables_execute(struct tables *tables, const struct change *change);

/* NULL if there is none. */
const struct row *tables_find(const struct tables *tables, enum table table, int64_t id);

int64_t tables_highest_id(const struct tables *tables, enum table table);

/* The sum of the allocations of a class on a provider. */
int64_t tables_used(const struct tables *tables, int64_t provider_id, int64_t class_id);

void tables_load(const struct tables *tables, store_sink *sink, void *cls);

/* Tells what differs between two states as a follow does (model/change.h); rows that are as they
 * were are told anew now and then, as a log that names them would. False, nothing sent: this pair
 * cannot be followed. With sink NULL only the answer. */
bool tables_follow(const struct tables *old, const struct tables *new, struct rng *rng,
                   store_sink *sink, void *cls);

/* Tells what was found to differ as a merge does (model/change.h). */
void tables_merge(const struct tables *tables, const struct differences *differences,
                  store_sink *sink, void *cls);

#endif
