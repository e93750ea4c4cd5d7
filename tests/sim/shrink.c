/* See shrink.h. Each attempt is a child process, because a failure ends the process; the step at
 * which it fails is in shared memory. Without a fault the run may take another course: it only
 * matters that it fails. */
#include "shrink.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/check.h"

typedef void runs(const struct seed_options *options, int *failed_at);

static _Noreturn void run_child(const struct seed_options *options, runs *run, int *failed_at)
{
    dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
    run(options, failed_at);
    _exit(0);
}

/* Whether the seed fails with these faults and steps. If it does, only the steps up to the failure
 * are needed. */
static bool still_fails(struct seed_options *options, unsigned without, int steps, runs *run,
                        int *failed_at)
{
    const struct seed_options known = *options;
    int status;
    options->without = without;
    options->steps = *failed_at = steps;
    pid_t child = fork();
    check(child >= 0);
    if (child == 0)
        run_child(options, run, failed_at);
    check(waitpid(child, &status, 0) == child);
    if (status == 0) {
        *options = known;
        return false;
    }
    options->steps = *failed_at < steps ? *failed_at + 1 : steps;
    return true;
}

static void leave_out(struct seed_options *options, runs *run, int *failed_at)
{
    for (unsigned f = 0; f < options->fault_count; f++)
        if ((options->without & 1u << f) == 0)
            still_fails(options, options->without | 1u << f, options->steps, run, failed_at);
    /* a failure of the check after the last step may need fewer steps */
    for (int less = options->steps / 2; less > 0; less /= 2)
        while (options->steps > less &&
               still_fails(options, options->without, options->steps - less, run, failed_at))
            ;
}

bool shrink_seed(struct seed_options *options, runs *run)
{
    int *failed_at =
        mmap(NULL, sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    check(failed_at != MAP_FAILED);
    if (!still_fails(options, options->without, options->steps, run, failed_at)) {
        fprintf(stderr, "seed %" PRIu64 " does not fail\n", options->first);
        return false;
    }
    leave_out(options, run, failed_at);
    fprintf(stderr, "it fails as well with:");
    seed_options_print(options);
    return true;
}
