/* The only code that writes allocations: how consumers receive and release them, and how consumers
 * are created and deleted. Every planner appends its changes to consumers and their allocations
 * through these functions. The writer only. */
#ifndef BERTH_ENGINE_ALLOCATIONS_H
#define BERTH_ENGINE_ALLOCATIONS_H

#include "base/hash_map.h"
#include "engine/plan.h"

/* Maps names in one catalog to their rows. A name without a row gets one, once per request. */
struct name_rows {
    const struct plan *plan;
    const struct catalog *catalog;
    enum change_kind insert;
    enum store_table table;
    struct change_catalog *fresh; /* rows that the request adds */
    size_t fresh_count;
    size_t fresh_capacity;
    struct hash_map fresh_by_name;
};

/* `insert` selects the catalog: CHANGE_CLASS_INSERT, CHANGE_TRAIT_INSERT, CHANGE_AGGREGATE_INSERT,
 * CHANGE_PROJECT_INSERT, CHANGE_USER_INSERT or CHANGE_CONSUMER_TYPE_INSERT. */
struct name_rows name_rows_of(const struct plan *plan, enum change_kind insert);

/* The row that the name has, or that the database takes for it (store_find_alike()); NULL: there is
 * none. */
const struct catalog_row *name_row_find(const struct name_rows *rows, struct slice name);

/* The id of that row, or of one that the request adds for an equal name; appends one with this name
 * if there is none. */
int64_t name_row_id(struct name_rows *rows, struct slice name);

/* The same for a single name. */
int64_t plan_name_id(const struct plan *plan, enum change_kind insert, struct slice name);

/* The owner that a consumer's row will have. */
struct consumer_owner {
    int64_t project_id;
    int64_t user_id;
    int64_t type_id; /* 0: none */
};

struct consumer_owner consumer_owner_of(const struct version *version,
                                        const struct consumer *consumer);

/* Inserts the consumer's row (`before` is NULL), or gives it that owner and the next generation.
 * Returns its id. */
int64_t allocations_put_consumer(const struct plan *plan, const struct consumer *before,
                                 struct slice uuid, const struct consumer_owner *owner);

/* Changes only the owner, if it differs; the generation stays the same. */
void allocations_set_owner(const struct plan *plan, const struct consumer *before,
                           const struct consumer_owner *owner);

/* Allocates `used` of the provider's class to the consumer. */
void allocations_consume(const struct plan *plan, int64_t consumer_id, struct slice consumer_uuid,
                         int64_t provider_id, int64_t class_id, int64_t used);

/* Deletes all allocations of the consumer, which may have none; its row stays. */
void allocations_release(const struct plan *plan, const struct consumer *consumer);

/* Deletes the consumer and all its allocations. */
void allocations_drop(const struct plan *plan, const struct consumer *consumer);

#endif
