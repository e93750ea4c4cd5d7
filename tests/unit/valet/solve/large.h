/* A large cloud and a stack for it: racks of hosts filled to some share, and servers that two rack
 * diversity groups and one exclusivity group constrain. */
#ifndef BERTH_TESTS_UNIT_SOLVE_LARGE_H
#define BERTH_TESTS_UNIT_SOLVE_LARGE_H

#include "plan.h"

struct large {
    unsigned hosts;
    unsigned racks;       /* at most LARGE_RACKS_MAX */
    unsigned per_cent;    /* how full hosts are */
    unsigned servers;     /* half of them in each diversity group */
    unsigned exclusive;   /* how many are in the exclusivity group as well */
    unsigned empty_hosts; /* of all: nothing is on them */
    unsigned seed;
};

enum { LARGE_RACKS_MAX = 60, LARGE_TOTAL = 64 };

/* Fresh, with its version. */
struct cloud *large_cloud(const struct large *large);
struct plan *large_plan(const struct large *large, struct arena *arena);

#endif
