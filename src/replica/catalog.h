/* Names with database ids: resource classes, traits, aggregates, projects, users, consumer types.
 *
 * A row has a number (dense, its position in the catalog), an id (the database's) and a name. Rows
 * are immutable; a rename makes a new row under the same number. A trait has a slot set of the
 * providers that have it, an aggregate one of its members; for other rows it is empty (column.h has
 * the providers with inventory of a resource class).
 *
 * Up to 16 777 216 rows, which take some gigabytes; one more ends the process (cow_array_own). */
#ifndef BERTH_REPLICA_CATALOG_H
#define BERTH_REPLICA_CATALOG_H

#include <stdint.h>

#include "base/cow.h"
#include "base/ptree.h"
#include "base/slice.h"
#include "replica/row_sums.h"
#include "replica/slotset.h"

struct catalog_row {
    struct cow_node node;
    int64_t id;
    int64_t created_at_us; /* 0: NULL */
    int64_t updated_at_us;
    uint32_t number;
    uint32_t name_len;
    char name[];
};

struct catalog_entry {
    const struct catalog_row *row; /* NULL: the number is free */
    struct slotset slots;
};

struct catalog {
    struct ptree by_id;   /* (id, 0) -> number; iterates in the order of the rows */
    struct ptree by_name; /* (hash, number) -> 0 */
    struct ptree free;    /* (number, 0) -> 0 */
    struct cow_array entries;
    struct row_sums sums;
    uint32_t limit; /* all numbers are below this */
};

static const struct cow_shape CATALOG_SHAPE = {sizeof(struct catalog_entry), 8};

static inline struct slice catalog_name(const struct catalog_row *row)
{
    return (struct slice){row->name, row->name_len};
}

/* The time of the last write to the row; 0: unknown. */
static inline int64_t catalog_modified_at_us(const struct catalog_row *row)
{
    return row->updated_at_us != 0 ? row->updated_at_us : row->created_at_us;
}

static inline const struct catalog_entry *catalog_at(const struct catalog *catalog, uint32_t number)
{
    return cow_array_at(&catalog->entries, CATALOG_SHAPE, number);
}

/* The row with that number, which must be in use. */
static inline const struct catalog_row *catalog_row_at(const struct catalog *catalog,
                                                       uint32_t number)
{
    return catalog_at(catalog, number)->row;
}

/* Find a row by name or id; NULL: there is none. Names compare byte by byte. Any thread. */
const struct catalog_row *catalog_find(const struct catalog *catalog, struct slice name);
const struct catalog_row *catalog_find_id(const struct catalog *catalog, int64_t id);

/* Called by the writer only, on a catalog of its edit. An inserted row must have a new name and a
 * new id; a row to be renamed, replaced or deleted must exist, and a deleted one must be in no set.
 * The text is copied. Times are microseconds since 1970 UTC, 0: NULL. */
const struct catalog_row *catalog_insert(struct cow *cow, struct catalog *catalog, int64_t id,
                                         struct slice name, int64_t created_at_us,
                                         int64_t updated_at_us);
void catalog_rename(struct cow *cow, struct catalog *catalog, uint32_t number, struct slice name,
                    int64_t updated_at_us);
void catalog_replace(struct cow *cow, struct catalog *catalog, uint32_t number, struct slice name,
                     int64_t created_at_us, int64_t updated_at_us);
void catalog_delete(struct cow *cow, struct catalog *catalog, uint32_t number);

/* The number's slot set, for modification; valid until the catalog changes. The writer only. */
struct slotset *catalog_own_slots(struct cow *cow, struct catalog *catalog, uint32_t number);

/* Frees everything born at or after `birth` (cow_array_free). The writer only. */
void catalog_free(struct catalog *catalog, uint64_t birth);

#endif
