/* The parts of the hostile stacks, and the methods that are updates. */
#ifndef BERTH_TESTS_UNIT_SOLVE_HOSTILE_INTERNAL_H
#define BERTH_TESTS_UNIT_SOLVE_HOSTILE_INTERNAL_H

#include "hostile.h"

enum { HOSTILE_TOTAL = 1000 };

unsigned hostile_below(unsigned n);

/* Hosts of equal size, alternating between racks; racks are the first providers. */
void hostile_add_hosts(const struct hostile *hostile, struct cloud *cloud, int total);

/* No two hosts have the same amount left, so that none can stand for another. */
void hostile_use_hosts(const struct hostile *hostile, struct cloud *cloud);

struct slice hostile_host_name(struct arena *arena, unsigned host);
void hostile_add_servers(struct plan *plan, unsigned count, int amount);
uint32_t hostile_add_group(struct plan *plan, enum stack_group_type type, enum stack_level level);

/* Adds all servers to the group. */
void hostile_add_all(struct plan *plan, uint32_t group);

void hostile_standing_apart(const struct hostile *hostile, struct cloud *cloud, struct plan *plan);
void hostile_standing_in_rack(const struct hostile *hostile, struct cloud *cloud,
                              struct plan *plan);
void hostile_standing_together(const struct hostile *hostile, struct cloud *cloud,
                               struct plan *plan);
void hostile_standing_lists(const struct hostile *hostile, struct cloud *cloud, struct plan *plan);
void hostile_standing_claims(const struct hostile *hostile, struct cloud *cloud, struct plan *plan);
void hostile_kept_in_vain(const struct hostile *hostile, struct cloud *cloud, struct plan *plan);

#endif
