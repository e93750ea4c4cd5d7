/* The cost of planning: run by hand, on a quiet machine.
 *
 *     build/tests/unit/solve/bench_solve_stack [HOSTS RACKS PER_CENT SERVERS ROUNDS]
 *
 * Prints the microseconds of CPU of one solve(): the mean of all rounds, and the least. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "large.h"
#include "unit.h"

static double now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static void run(struct large large, unsigned rounds)
{
    struct cloud *cloud = large_cloud(&large);
    struct arena *arena = arena_create();
    double sum = 0;
    double least = 1e18;
    for (unsigned i = 0; i < rounds; i++) {
        struct plan *plan = large_plan(&large, arena);
        double before = now_us();
        plan_solve(plan, cloud->version);
        double took = now_us() - before;
        sum += took;
        least = took < least ? took : least;
        if (i + 1 == rounds)
            printf("%5u hosts %2u racks %3u %% full %3u servers: mean %8.0f us, least %8.0f us, "
                   "%lld steps, %lld of a budget, %s\n",
                   large.hosts, large.racks, large.per_cent, large.servers, sum / rounds, least,
                   (long long)plan->outcome.steps, (long long)(INT64_MAX / 2 - plan->budget.left),
                   plan->result == SOLVE_FOUND ? "found" : plan->outcome.reason.data);
        arena_reset(arena);
    }
    arena_destroy(arena);
    cloud_destroy(cloud);
}

int main(int argc, char **argv)
{
    if (argc == 6) {
        struct large large = {.hosts = (unsigned)atoi(argv[1]),
                              .racks = (unsigned)atoi(argv[2]),
                              .per_cent = (unsigned)atoi(argv[3]),
                              .servers = (unsigned)atoi(argv[4]),
                              .exclusive = 4,
                              .empty_hosts = 20};
        run(large, (unsigned)atoi(argv[5]));
        return 0;
    }
    static const unsigned HOSTS[] = {1000, 10000};
    for (unsigned i = 0; i < 2; i++) {
        run((struct large){HOSTS[i], 40, 80, 20, 4, 20, 1}, 20);
        run((struct large){HOSTS[i], 40, 99, 20, 4, 20, 1}, 20);
        run((struct large){HOSTS[i], 8, 80, 20, 4, 20, 1}, 20);
        run((struct large){HOSTS[i], 40, 100, 20, 0, 0, 1}, 20);
        run((struct large){HOSTS[i], 40, 80, 20, 20, 12, 1}, 20);
    }
    return 0;
}
