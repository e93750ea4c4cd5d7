/* The cost of stacks that are made to keep the planner busy: run by hand, on a quiet machine.
 *
 *     build/tests/unit/solve/bench_solve_hostile [DIVISOR [METHOD]]
 *
 * Prints for each method, with its figures divided by DIVISOR (1), the CPU of one solve(), the
 * longest between two checks of the client, and the memory. */
#include <stdio.h>
#include <stdlib.h>

#include "hostile.h"
#include "unit.h"

enum { STEPS_BETWEEN_LOOKS = 2000000 };

struct looks {
    double last;
    double longest;
    long count;
};

static void look(struct looks *looks)
{
    double now = hostile_clock_ms();
    looks->longest = now - looks->last > looks->longest ? now - looks->last : looks->longest;
    looks->last = now;
    looks->count++;
}

static bool is_gone(void *cls)
{
    look(cls);
    return false;
}

static unsigned share(unsigned most, unsigned divisor)
{
    return most / divisor > 0 || most == 0 ? most / divisor : 1;
}

static void run(const struct hostile_method *method, unsigned divisor)
{
    struct hostile hostile = {
        share(method->most.servers, divisor), share(method->most.hosts, divisor),
        share(method->most.racks, divisor), share(method->most.groups, divisor)};
    struct arena *arena = arena_create();
    struct arena *work = arena_create();
    struct cloud *cloud;
    struct plan *plan = hostile_plan(method, &hostile, arena, &cloud);
    plan->arena = work;
    double before = hostile_clock_ms();
    struct looks looks = {.last = before};
    plan->budget = (struct budget){.left = STEPS_BETWEEN_LOOKS,
                                   .refill = STEPS_BETWEEN_LOOKS,
                                   .cancelled = is_gone,
                                   .cls = &looks};
    plan_solve(plan, cloud->version);
    look(&looks);
    printf("%-18s %8.0f ms, %6.0f ms at most in %5ld looks, %5zu MiB, %7lld steps, %.100s\n",
           method->name, hostile_clock_ms() - before, looks.longest, looks.count,
           arena_footprint_bytes(work) >> 20, (long long)plan->outcome.steps,
           plan->result == SOLVE_FOUND ? "found" : plan->outcome.reason.data);
    fflush(stdout);
    arena_destroy(work);
    arena_destroy(arena);
    cloud_destroy(cloud);
}

int main(int argc, char **argv)
{
    unsigned divisor = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
    for (unsigned i = 0; i < HOSTILE_COUNT; i++)
        if (argc < 3 || strcmp(argv[2], HOSTILE_METHODS[i].name) == 0)
            run(&HOSTILE_METHODS[i], divisor);
    return 0;
}
