/* The cost of queries for one device for each group, on a thousand hosts of which all but at most
 * one lack one device: a line of JSON for each case, for run.py. An argument limits the number of
 * steps, because some queries would never end without the matching. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "devices.h"

static void count(void *cls, const struct ac_candidate *candidate)
{
    (void)candidate;
    ++*(unsigned long *)cls;
}

static double cpu_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void measure(const struct devices_shape *shape, unsigned groups, bool isolate,
                    enum devices_traits traits, int64_t limit, int64_t steps)
{
    static const char *const TRAITS[] = {"alike", "trait_each", "trait_of_four"};
    struct devices_fleet fleet = devices_create(shape);
    double best = 1e9;
    unsigned long found = 0;
    enum ac_outcome outcome = AC_DONE;
    int64_t used = 0;
    for (unsigned round = 0; round < 5 && outcome == AC_DONE; round++) {
        struct arena *arena = arena_create();
        struct ac_request request = devices_ask(arena, groups, 1, isolate, traits);
        struct budget budget = {.left = steps};
        struct err err = {.arena = arena};
        struct ac_summaries summaries;
        struct ac_reason reason;
        request.limit = limit;
        found = 0;
        double before = cpu_ms();
        outcome = ac_search(fleet.version, &request, arena, &budget, count, &found, &summaries,
                            &reason, &err);
        double after = cpu_ms();
        best = after - before < best ? after - before : best;
        used = steps - budget.left;
        arena_destroy(arena);
    }
    printf("{\"hosts\": %u, \"devices\": %u, \"in_use\": %d, \"better\": %u, \"groups\": %u, "
           "\"policy\": \"%s\", \"traits\": \"%s\", \"cpu_ms\": %.3f, \"steps\": %ld, "
           "\"found\": %lu, \"ended\": %s}\n",
           shape->hosts, shape->devices, shape->one_used, shape->better, groups,
           isolate ? "isolate" : "none", TRAITS[traits], best, (long)used, found,
           outcome == AC_DONE ? "true" : "false");
    fflush(stdout);
    devices_destroy(&fleet);
}

int main(int argc, char **argv)
{
    static const unsigned DEVICES[] = {8, 16, 64};
    int64_t steps = argc > 1 ? atol(argv[1]) : INT64_MAX / 2;
    for (unsigned d = 0; d < 3; d++)
        for (unsigned better = 0; better <= 700; better += 700)
            for (unsigned used = 0; used < 2; used++)
                for (unsigned isolate = 0; isolate < 2; isolate++)
                    for (unsigned traits = DEVICES_ALIKE; traits <= DEVICES_TRAIT_MOD; traits++) {
                        struct devices_shape shape = {1000,      DEVICES[d],     1,
                                                      used == 1, DEVICES[d] + 1, better};
                        measure(&shape, DEVICES[d] + 1, isolate == 1, (enum devices_traits)traits,
                                better == 0 ? -1 : 1, steps);
                    }
    return 0;
}
