/* A small cloud for tests of planners: a replica, and a memory store that gives ids; the tables of
 * its database execute the same changes. */
#ifndef BERTH_TESTS_WORLD_H
#define BERTH_TESTS_WORLD_H

#include "base/arena.h"
#include "placement/write/plan_reshaper.h"
#include "products/products.h"
#include "replica/apply.h"
#include "replica/replica.h"
#include "store/store.h"

struct world {
    struct arena *arena;
    struct replica *replica;
    struct edit *edit;
    struct memory_database *database;
    struct store *store;
    bool skips_store;           /* for more rows than the store holds: it only gives ids */
    struct change_list changes; /* of the last plan */
    struct err err;             /* of the last plan */
    int64_t now_us;
    struct plan_said said;
    struct products products;
    const struct rule *author; /* of what is planned; NULL: nobody */
};

/* Classes A, B, C, D (ids 0 to 3) and `providers` providers "p1" ... without inventory. */
void world_open(struct world *world, unsigned providers);
void world_close(struct world *world);

struct slice world_uuid(struct world *world, char prefix, unsigned number);
const struct provider *world_provider(struct world *world, unsigned number);
const struct consumer *world_consumer(struct world *world, unsigned number);
const struct provider_inventory *world_inventory(struct world *world, unsigned provider,
                                                 char class_name);

/* Sets an inventory as somebody else would: no rule is checked. */
void world_put_inventory(struct world *world, unsigned provider, char class_name,
                         struct inventory_figures figures);

/* A claim of the consumer "c<number>", with nothing in it and the generation not checked. Project
 * and user are "project" and "user". */
struct claim world_claim(struct world *world, unsigned consumer);

/* Adds an amount to a claim; amounts of one provider come one after the other. */
void world_add(struct world *world, struct claim *claim, unsigned provider, char class_name,
               int64_t amount);

/* The next id that the store gives out for a new row. */
void world_set_next_id(struct world *world, enum store_table table, int64_t id);

/* Applies `changes` as another process's: no rule is checked, nothing is audited. */
void world_apply(struct world *world);

/* Plans, and if that is accepted applies and audits. */
bool world_write(struct world *world, const struct claim *claims, size_t count,
                 enum claim_source source);
bool world_reshape(struct world *world, const struct reshape *reshape);
bool world_delete(struct world *world, unsigned consumer);

/* For any other planner: what it plans with, and afterwards what it said. If it accepted, its
 * changes are applied and the result is audited. */
struct plan world_plan(struct world *world);
bool world_conclude(struct world *world, bool accepted);

/* The last plan was refused with that status, code and text. */
void world_assert_refused(struct world *world, int status, const char *code, const char *text);

#endif
