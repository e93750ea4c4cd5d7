/* Stacks made to keep the planner busy, each by one method, always the same for the same figures.
 */
#ifndef BERTH_TESTS_UNIT_SOLVE_HOSTILE_H
#define BERTH_TESTS_UNIT_SOLVE_HOSTILE_H

#include "plan.h"

struct hostile {
    unsigned servers;
    unsigned hosts;
    unsigned racks;
    unsigned groups; /* or whatever the method has several of */
};

struct hostile_method {
    const char *name;
    struct hostile most; /* the most that a request can have with the default limits */
    void (*make)(const struct hostile *hostile, struct cloud *cloud, struct plan *plan);
};

extern const struct hostile_method HOSTILE_METHODS[];
extern const unsigned HOSTILE_COUNT;

/* The cloud is published; both belong to the caller, the plan in the arena. */
struct plan *hostile_plan(const struct hostile_method *method, const struct hostile *hostile,
                          struct arena *arena, struct cloud **cloud);

/* CPU time of the calling thread, in milliseconds. */
double hostile_clock_ms(void);

#endif
