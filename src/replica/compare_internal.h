/* What the compare files share. */
#ifndef BERTH_REPLICA_COMPARE_INTERNAL_H
#define BERTH_REPLICA_COMPARE_INTERNAL_H

#include "model/change.h"
#include "model/difference.h"
#include "replica/version.h"

/* Whether memory has the row as the record says: everything that apply_change() keeps of such a
 * record is compared here, and nowhere else. What belongs to a row is compared with it by place:
 * `at` is how many rows of the same provider or consumer came before. */
bool same_catalog_name(const struct catalog_row *row, const struct change *change);
bool same_catalog(const struct catalog_row *row, const struct change *change);
/* Of a provider: what an update may change, and the rest of its row. */
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

/* Of a row of a catalog that memory has. */
enum catalog_seen {
    NOT_SEEN,
    SEEN,
    SEEN_OTHER, /* all that refers to it is to be read again */
};

/* Of a provider that memory has. */
struct provider_seen {
    uint32_t inventories;
    uint32_t traits;
    uint32_t aggregates;
    bool has_come;
    bool has_other_row;
    bool has_moved;
    bool has_contents; /* other ones */
};

/* Of a consumer of the database; they come by ascending ids. */
struct consumer_seen {
    int64_t id;
    const struct consumer *consumer; /* in memory, of that id and uuid; or NULL */
    uint32_t allocations;
    bool differs;
    bool has_newest; /* an allocation as new as memory says the newest is */
};

struct comparison {
    const struct version *version;
    size_t most;
    size_t capacity;
    bool is_over; /* there are more differences */
    struct differences differences;

    struct {
        unsigned char *seen; /* enum catalog_seen, by number */
        uint64_t count;      /* of those that have come */
    } catalogs[ENTITY_PROVIDER];
    struct provider_seen *providers; /* by number */
    const struct provider *provider; /* the last one that was looked for */
    struct consumer_seen *consumers;
    size_t consumer_count;
    size_t consumer_capacity;
    uint64_t consumers_known;
    int64_t record_id[ENTITY_COUNT - ENTITY_NODE]; /* of memory's rows, up to this one */
};

const struct catalog *compare_catalog_of(const struct version *version, enum entity entity);
void compare_note(struct comparison *comparison, struct difference difference);
/* NULL: the database has no consumer of that id. */
struct consumer_seen *compare_find_consumer(struct comparison *comparison, int64_t id);
/* Notes memory's rows up to that id, exclusively: the database does not have them. */
void compare_skip_records(struct comparison *comparison, enum entity entity, int64_t to);

#endif
