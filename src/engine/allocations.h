/* The one writer of allocations: what a consumer gets, gives back, and how it comes and goes. Every
 * planner's changes to consumers and their allocations are appended here. Writer thread only. */
#ifndef BERTH_ENGINE_ALLOCATIONS_H
#define BERTH_ENGINE_ALLOCATIONS_H

#include "base/hash_map.h"
#include "engine/plan.h"

/* Maps names of one catalog to their rows. A name that nobody used before gets a row, once a
 * request. */
struct name_rows {
    const struct plan *plan;
    const struct catalog *catalog;
    enum change_kind insert;
    enum store_table table;
    struct change_catalog *fresh; /* those that the request brings */
    size_t fresh_count;
    size_t fresh_capacity;
    struct hash_map fresh_by_name;
};

/* CHANGE_CLASS_INSERT, CHANGE_TRAIT_INSERT, CHANGE_AGGREGATE_INSERT, CHANGE_PROJECT_INSERT,
 * CHANGE_USER_INSERT or CHANGE_CONSUMER_TYPE_INSERT say of which catalog. */
struct name_rows name_rows_of(const struct plan *plan, enum change_kind insert);

/* The id of the name's row; appends the row if there is none. */
int64_t name_row_id(struct name_rows *rows, struct slice name);

/* The same for a single name. */
int64_t plan_name_id(const struct plan *plan, enum change_kind insert, struct slice name);

/* A consumer's row as it is to be. */
struct consumer_owner {
    int64_t project_id;
    int64_t user_id;
    int64_t type_id; /* 0: none */
};

/* Those of the consumer. */
struct consumer_owner consumer_owner_of(const struct version *version,
                                        const struct consumer *consumer);

/* The consumer's row comes (`before` NULL), or gets that owner and the next generation. Returns its
 * id. */
int64_t allocations_put_consumer(const struct plan *plan, const struct consumer *before,
                                 struct slice uuid, const struct consumer_owner *owner);

/* Only the owner changes, if it does; the generation stays. */
void allocations_set_owner(const struct plan *plan, const struct consumer *before,
                           const struct consumer_owner *owner);

/* The consumer gets so much. */
void allocations_consume(const struct plan *plan, int64_t consumer_id, struct slice consumer_uuid,
                         int64_t provider_id, int64_t class_id, int64_t used);

/* All that the consumer holds goes; its row stays. It may hold nothing. */
void allocations_release(const struct plan *plan, const struct consumer *consumer);

/* The consumer goes with all that it holds. */
void allocations_drop(const struct plan *plan, const struct consumer *consumer);

#endif
