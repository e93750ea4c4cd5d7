/* One state of a database as tables in memory: upstream's tables and berth's own, statements with
 * their constraints, and the records that a load, a follow and a merge send.
 *
 * A row is the record that a load sends for it. Tables are plain memory and are copied as a whole;
 * the texts of all copies are in one set. One thread at a time. */
#ifndef BERTH_TESTS_TABLES_H
#define BERTH_TESTS_TABLES_H

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
    uint64_t birth;    /* unique among all rows that ever existed */
    uint64_t revision; /* grows with each update */
    struct change image;
};

/* In the order of the ids; rows without ids in the order of their insertion. */
struct rows {
    uint32_t count;
    struct row row[ROWS_MAX];
};

/* The texts and records that the rows of one database point to. Zeroed: empty. */
struct texts {
    struct text *first;
};

struct tables {
    struct rows rows[TABLE_COUNT];
    uint64_t clock;      /* gives births and revisions */
    struct texts *texts; /* of the database that these tables are a state of */
};

/* Frees them: no tables with these texts are in use any more. */
void texts_free(struct texts *texts);

/* Copies the rows in use; `to` then has the same texts as `from`. */
void tables_copy(struct tables *to, const struct tables *from);

/* What the text of a broken constraint begins with: a row with the same unique text exists, or the
 * row is not as the change expects it, or another session has locked it. */
#define TABLES_UNIQUE "UNIQUE: "
#define TABLES_STALE  "STALE: "
#define TABLES_LOCKED "LOCKED: "

/* Executes one change. Returns NULL, or the constraint that it breaks (static text); the tables are
 * then unchanged. */
const char *tables_execute(struct tables *tables, const struct change *change);

/* The same for a change of a batch, whose puts say what they do: one that is_new replaces no row,
 * any other one does, and keeps_names is true. */
const char *tables_execute_planned(struct tables *tables, const struct change *change);

/* NULL if there is none. */
const struct row *tables_find(const struct tables *tables, enum table table, int64_t id);

int64_t tables_highest_id(const struct tables *tables, enum table table);

/* The sum of the allocations of a class on a provider. */
int64_t tables_used(const struct tables *tables, int64_t provider_id, int64_t class_id);

void tables_load(const struct tables *tables, store_sink *sink, void *cls);

/* Sends the differences of two states as a follow does (model/change.h). With rng, it also sends
 * some rows that have not changed, as a log that names them would. False, with nothing sent: these
 * two states cannot be followed. sink NULL: nothing is sent. */
bool tables_follow(const struct tables *old, const struct tables *new, struct rng *rng,
                   store_sink *sink, void *cls);

/* Sends the rows of these differences as a merge does (model/change.h). */
void tables_merge(const struct tables *tables, const struct differences *differences,
                  store_sink *sink, void *cls);

#endif
