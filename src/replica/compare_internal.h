/* Shared by the compare files. */
#ifndef BERTH_REPLICA_COMPARE_INTERNAL_H
#define BERTH_REPLICA_COMPARE_INTERNAL_H

#include "model/change.h"
#include "model/difference.h"
#include "replica/version.h"

/* Whether memory has the row as the record states it. Everything that apply_change() stores of such
 * a record is compared here, and nowhere else. Rows that belong to an entity are compared by
 * position: `at` is how many rows of the same provider or consumer came before. */
bool same_catalog_name(const struct catalog_row *row, const struct change *change);
bool same_catalog(const struct catalog_row *row, const struct change *change);
/* Compare the parts of a provider's row: those that an update may change, and the rest. */
bool same_place(const struct version *version, const struct provider *provider,
                const struct change *change);
bool same_provider(const struct version *version, const struct provider *provider,
                   const struct change *change);
bool same_inventory(const struct version *version, const struct provider *provider, uint32_t at,
                    const struct change *change);
bool same_link(const struct version *version, const struct provider *provider,
               const struct catalog *catalog, const struct catalog_row *row);
bool same_consumer(const struct version *version, const struct consumer *consumer,
                   const struct change *change);
bool same_allocation(const struct version *version, const struct consumer *consumer, uint32_t at,
                     const struct change *change);

/* The state of a catalog row that memory has. */
enum catalog_seen {
    NOT_SEEN,
    SEEN,
    SEEN_OTHER, /* different: everything that refers to it must be read again */
};

/* The state of a provider that memory has. */
struct provider_seen {
    uint32_t inventories;
    uint32_t traits;
    uint32_t aggregates;
    bool has_come;
    bool has_other_row;
    bool has_moved;
    bool has_contents; /* its contents differ */
};

/* The state of a consumer of the database; consumers come in ascending order of their ids. */
struct consumer_seen {
    int64_t id;
    const struct consumer *consumer; /* in memory, with that id and uuid; NULL: none */
    uint32_t allocations;
    bool differs;
    bool has_newest; /* one of its allocations is as new as the newest one in memory */
};

struct comparison {
    const struct version *version;
    size_t most;
    size_t capacity;
    bool is_over; /* there are more differences than recorded */
    struct differences differences;

    struct {
        unsigned char *seen; /* enum catalog_seen, by number */
        uint64_t count;      /* of those that have come */
    } catalogs[ENTITY_PROVIDER];
    struct provider_seen *providers; /* by number */
    const struct provider *provider; /* the last one that was looked up */
    struct consumer_seen *consumers;
    size_t consumer_count;
    size_t consumer_capacity;
    uint64_t consumers_known;
    int64_t record_id[ENTITY_COUNT - ENTITY_NODE]; /* of memory's rows: those up to this id have
                                                    * been compared */
};

const struct catalog *compare_catalog_of(const struct version *version, enum entity entity);
/* Of our own tables. */
const struct ptree *compare_rows_of(const struct version *version, enum entity entity);
void compare_note(struct comparison *comparison, struct difference difference);
/* NULL: the database has no consumer with that id. */
struct consumer_seen *compare_find_consumer(struct comparison *comparison, int64_t id);
/* Notes memory's rows below that id as missing in the database. */
void compare_skip_records(struct comparison *comparison, enum entity entity, int64_t to);

#endif
