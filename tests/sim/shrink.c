/* Looks for a shorter run with which a seed still fails. Each attempt is a child process, because a
 * failure ends the process; the step at which it fails is in shared memory. Without a fault the run
 * may take another course: it only matters that it fails. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim.h"

static _Noreturn void run_child(struct sim *sim, uint64_t seed)
{
    dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
    sim_open_log();
    sim_run_seed(sim, seed);
    _exit(0);
}

/* Whether the seed fails with these faults and steps. If it does, only the steps up to the failure
 * are needed. */
static bool still_fails(struct sim *sim, uint64_t seed, unsigned without, int steps)
{
    int status;
    int known_steps = sim->steps;
    unsigned known = sim->without;
    sim->without = without;
    sim->steps = *sim->failed_at = steps;
    pid_t child = fork();
    check(child >= 0);
    if (child == 0)
        run_child(sim, seed);
    check(waitpid(child, &status, 0) == child);
    if (status != 0) {
        sim->steps = *sim->failed_at < steps ? *sim->failed_at + 1 : steps;
        return true;
    }
    sim->without = known;
    sim->steps = known_steps;
    return false;
}

bool sim_shrink(struct sim *sim, uint64_t seed)
{
    sim->seed = seed;
    sim->failed_at =
        mmap(NULL, sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    check(sim->failed_at != MAP_FAILED);
    if (!still_fails(sim, seed, sim->without, sim->steps)) {
        fprintf(stderr, "sim: seed %llu does not fail\n", (unsigned long long)seed);
        return false;
    }
    for (unsigned f = 0; f < MEMORY_FAULT_COUNT; f++)
        if ((sim->without & 1u << f) == 0)
            still_fails(sim, seed, sim->without | 1u << f, sim->steps);
    /* a failure of the check after the last step may need fewer steps */
    for (int less = sim->steps / 2; less > 0; less /= 2)
        while (sim->steps > less && still_fails(sim, seed, sim->without, sim->steps - less))
            ;
    fprintf(stderr, "sim: fails as well with: ");
    sim_print_command(sim);
    return true;
}
