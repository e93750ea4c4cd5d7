/* A cloud in which every rule of every product has something to forbid, and requests whose planner
 * knows no rule: the sentences of a request are appended as changes that have no author.
 *
 * Hosts h1 to h5 have 8 of A and of B; n1 is below h1. The group gold, whose one member is the
 * project friend, has h1 by its aggregate and h3 through its claim of the rack r1. The non-member
 * has 2 of h1's A (consumer old, there before the group), and 2 of h2's (away); the friend has 1 of
 * h1's (mine) and of h3's (racked). pl1 holds 2 of h4's A for a server of the friend; pl2
 * holds nothing. Of the nodes, m1 is allocated to al1, m2 has the trait CUSTOM_T, and m3 is free;
 * their class is CUSTOM_IRON. The mirror has not yet sent to Placement that al4 has m4, whose class
 * is CUSTOM_COPPER. */
#ifndef BERTH_TESTS_CLOUD_H
#define BERTH_TESTS_CLOUD_H

#include "baremetal/write/metal_world.h"

void cloud_open(struct metal_world *cloud);
void cloud_close(struct metal_world *cloud);

/* One request; its sentences are separated by "; ":
 *   consume CONSUMER PROJECT PROVIDER CLASS AMOUNT   (creates the consumer if missing)
 *   owner CONSUMER PROJECT    user CONSUMER USER   type CONSUMER TYPE
 *   release CONSUMER          drop CONSUMER
 *   insert PROVIDER [PARENT]  parent PROVIDER PARENT   unparent PROVIDER
 *   rename PROVIDER NAME      remove PROVIDER
 *   join PROVIDER AGGREGATE   leave PROVIDER AGGREGATE
 *   trait PROVIDER TRAIT      untrait PROVIDER TRAIT
 *   stock PROVIDER CLASS TOTAL [RESERVED]   clear PROVIDER CLASS
 *   class NAME NEW_NAME
 * Returns 0 if it was committed, otherwise the status; world.err has the error. */
int cloud_raw(struct metal_world *cloud, const char *request);

/* Appends them. */
bool cloud_plan_raw(const struct plan *plan, const char *request);

/* A row of Valet's, written as by another process. */
void cloud_put_row(struct metal_world *cloud, enum valet_table table,
                   const struct record_value *values);

#endif
