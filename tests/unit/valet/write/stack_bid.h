/* Commits of plans being built, for tests of their preconditions and effects. Hosts are p1 to p4;
 * of the racks p5 has p1 and p2, p6 nothing; classes are A to D. */
#ifndef BERTH_TESTS_STACK_BID_H
#define BERTH_TESTS_STACK_BID_H

#include "engine/world.h"
#include "unit.h"
#include "valet/state/hosts.h"
#include "valet/state/placement_location.h"
#include "valet/write/plan_stacks.h"

enum { HOSTS = 4, RACK = 5, SECOND_RACK = 6, PROVIDERS = 6, ROWS_MAX = 4 };
enum { RACK_AGGREGATE = 1, SECOND_AGGREGATE };
enum { TRAIT_RACK = 1, TRAIT_DISABLED, TRAIT_OTHER, TRAIT_SHARES, TRAIT_ZONE };

#define GOLD "10000000-0000-4000-8000-000000000001"

/* A commit being built. */
struct bid {
    struct world *world;
    struct stack_commit commit;
    struct stack_row rows[ROWS_MAX];
    struct stack_claim claims[2];
    struct slice groups[1];
};

void add_link(struct world *world, enum change_kind kind, int64_t provider, int64_t other);
void put_row(struct world *world, enum valet_table table, int64_t id,
             const struct record_value *values);
void remove_row(struct world *world, enum valet_table table, int64_t id);
int stack_bid_setup(void **state);
int stack_bid_teardown(void **state);
const void *copy(struct world *world, const struct record *record);
void begin(struct bid *bid, struct world *world, const char *name);
void look_at(struct bid *bid, unsigned provider);
struct stack_row *place(struct bid *bid, size_t row, unsigned host, int64_t amount);
struct stack_row *add(struct bid *bid, const char *orchestration_id, unsigned host, int64_t amount);
void trust(struct bid *bid);
void set_resource(struct bid *bid, size_t row, const char *id);
void claim_host(struct bid *bid, unsigned host);
void claim_rack(struct bid *bid);
bool commit(struct bid *bid);
void assert_changed(struct bid *bid);
int64_t used(struct world *world, unsigned provider);
const struct valet_placement *placement(struct world *world, const char *orchestration_id);
const struct consumer *hold(struct world *world, const char *orchestration_id);
void occupy_as(struct world *world, const char *project, unsigned consumer, unsigned host,
               int64_t amount);
void occupy(struct world *world, unsigned consumer, unsigned host, int64_t amount);
void intrude(struct world *world, unsigned from, unsigned host);
void make(struct world *world, unsigned first_host, unsigned second_host);
size_t claim_rows(struct world *world);
bool is_gold(struct world *world, unsigned host);

#endif
