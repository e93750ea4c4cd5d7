/* A large cloud and a stack for it: racks of partly filled hosts, and servers in two rack diversity
 * groups and one exclusivity group. */
#ifndef BERTH_TESTS_UNIT_SOLVE_LARGE_H
#define BERTH_TESTS_UNIT_SOLVE_LARGE_H

#include "plan.h"

struct large {
    unsigned hosts;
    unsigned racks;       /* at most LARGE_RACKS_MAX */
    unsigned per_cent;    /* how full hosts are */
    unsigned servers;     /* half of them in each diversity group */
    unsigned exclusive;   /* the number that is also in the exclusivity group */
    unsigned empty_hosts; /* percentage of hosts with nothing on them */
    unsigned seed;
};

enum { LARGE_RACKS_MAX = 60, LARGE_TOTAL = 64 };

/* Fresh, with its version. */
struct cloud *large_cloud(const struct large *large);
struct plan *large_plan(const struct large *large, struct arena *arena);

#endif
