/* A simulation of the write path: the real pipeline, planners and replica over a database in
 * memory, clients, foreign writers, several instances and every fault of store.h, all drawn from
 * one seed.
 *
 *     sim [--seed N] [--seeds N] [--steps N]
 *
 * The same seed prints the same digest. A failing seed says how to repeat it. */
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "cloud.h"
#include "instance.h"
#include "lives.h"
#include "log/log.h"
#include "log/settings.h"

enum { INSTANCES_MAX = 2, STEPS = 250, SEEDS_TO_CHECK_BY = 150 };

static struct {
    uint64_t seed;
    int step;
    int steps;
    int64_t now_us;
    bool steps_back; /* the wall clock does, now and then */
    struct rng time;
} run;

static void print_seed(void)
{
    fprintf(stderr,
            "sim: failed with seed %" PRIu64 ", step %d; again: sim --seed %" PRIu64
            " --steps %d\n",
            run.seed, run.step, run.seed, run.steps);
}

void sim_fail(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "sim: ");
    vfprintf(stderr, format, args);
    fprintf(stderr, "\n");
    va_end(args);
    print_seed();
    exit(1);
}

static void on_abort(int signal_number)
{
    (void)signal_number;
    print_seed();
}

/* Time is the seed's, too: the linker puts this in the place of clock_wall_us. */
int64_t __wrap_clock_wall_us(void);
int64_t __wrap_clock_wall_us(void)
{
    run.now_us += rng_below(&run.time, 1000);
    if (run.steps_back && rng_permille(&run.time, 5))
        run.now_us -= 1000000;
    return run.now_us;
}

/* And so is the key of the hashes. */
ssize_t __wrap_getrandom(void *buf, size_t len, unsigned flags);
ssize_t __wrap_getrandom(void *buf, size_t len, unsigned flags)
{
    (void)flags;
    memset(buf, 7, len);
    return (ssize_t)len;
}

/* Each seed has its own weather: some faults often, others never. */
static struct memory_faults draw_faults(struct rng *rng)
{
    static const int often[] = {0, 0, 10, 60, 200};
    struct memory_faults faults = {
        .permille[MEMORY_BEGIN_READ_FAILS] = often[rng_below(rng, 5)],
        .permille[MEMORY_READ_FAILS] = often[rng_below(rng, 5)],
        .permille[MEMORY_APPLY_FAILS] = often[rng_below(rng, 4)],
        .permille[MEMORY_COMMIT_FAILS] = often[rng_below(rng, 5)],
        .permille[MEMORY_COMMIT_UNKNOWN] = often[rng_below(rng, 5)],
        .permille[MEMORY_COMMIT_RESOLVED] = often[rng_below(rng, 5)],
        .permille[MEMORY_DIES] = often[rng_below(rng, 4)],
        .permille[MEMORY_FOREIGN_WRITE] = often[rng_below(rng, 5)],
        .permille[MEMORY_LOG_TRIMMED] = often[rng_below(rng, 5)],
        .permille[MEMORY_MERGE_GIVEN_UP] = often[rng_below(rng, 5)],
        .permille[MEMORY_IDS_REUSED] = rng_below(rng, 2) == 0 ? MEMORY_ALWAYS : 0,
        .permille[MEMORY_LOCK_HELD] = often[rng_below(rng, 5)],
    };
    faults.permille[MEMORY_BEGIN_WRITE_FAILS] = faults.permille[MEMORY_BEGIN_READ_FAILS];
    return faults;
}

static void step(struct instance *instance, struct rng *rng)
{
    static struct oracle view;
    int draw = rng_below(rng, 100);
    if (draw < 45) {
        oracle_read(&view, &instance->database->tables);
        for (int left = 1 + rng_below(rng, 5); left > 0; left--)
            instance_ask(instance, &view);
    } else if (draw < 78) {
        instance_run(instance);
    } else if (draw < 85) {
        instance_conduct(instance);
        instance_run(instance);
    } else if (draw < 87) {
        run.now_us += rng_below(rng, 40) == 0 ? 100000000 : 1500000;
    } else if (draw < 97) {
        instance_read(instance);
    } else if (draw < 98) {
        instance_kill(instance);
        instance_start(instance);
    } else if (rng_permille(rng, 2 * instance->database->faults.permille[MEMORY_FOREIGN_WRITE])) {
        cloud_foreign_write(NULL, instance->database);
    }
}

static uint64_t digest_of(const struct memory_database *database, uint64_t digest)
{
    digest = rng_mix(digest ^ database->commit);
    for (int t = 0; t < TABLE_COUNT; t++)
        for (uint32_t i = 0; i < database->tables.rows[t].count; i++) {
            const struct row *row = &database->tables.rows[t].row[i];
            digest = rng_mix(digest ^ row->birth) + rng_mix(row->revision) +
                     (uint64_t)(row->image.created_at_us ^ row->image.updated_at_us);
        }
    return digest;
}

static void check_commit(void *cls, const struct tables *before, const struct tables *after)
{
    (void)cls;
    sim_check_capacity(before, after);
}

static uint64_t run_seed(uint64_t seed, struct tally *tally)
{
    static struct memory_database database;
    static struct instance instances[INSTANCES_MAX];
    struct rng rng = {rng_mix(seed + 1)};
    run.seed = seed;
    run.step = 0;
    run.now_us = 1000000000;
    run.time = (struct rng){rng_mix(seed + 2)};
    run.steps_back = rng_below(&rng, 4) == 0;
    memset(&database, 0, sizeof(database));
    memory_database_init(&database);
    database.on_commit = check_commit;
    database.on_broken = sim_constraint_broken;
    database.foreign_write = cloud_foreign_write;
    memset(instances, 0, sizeof(instances));
    lives_forget();
    database.rng = &rng;
    database.faults = draw_faults(&rng);
    cloud_fill(&database);
    tally->digest = seed;
    int count = 1 + rng_below(&rng, INSTANCES_MAX);
    for (int i = 0; i < count; i++) {
        instances[i] = (struct instance){
            .database = &database, .rng = &rng, .tally = tally, .host = rng_below(&rng, 2)};
        instance_start(&instances[i]);
    }
    for (; run.step < run.steps; run.step++) {
        step(&instances[rng_below(&rng, count)], &rng);
        if (count > 1 && rng_below(&rng, 8) == 0)
            for (int i = 0; i < count; i++)
                instance_check(&instances[i]);
    }
    database.quiet = true;
    for (int i = 0; i < count; i++) {
        instance_run(&instances[i]);
        instance_catch_up(&instances[i]);
    }
    for (int i = 0; i < count; i++)
        instance_kill(&instances[i]);
    uint64_t digest = digest_of(&database, tally->digest);
    memory_database_free(&database);
    return digest;
}

/* A simulation in which nothing happens proves nothing. */
static bool has_asked_enough(const struct tally *tally, bool is_checked)
{
    uint64_t asked = 0;
    uint64_t accepted = 0;
    bool every = true;
    for (int op = 0; op < OP_COUNT; op++) {
        asked += tally->asked[op];
        accepted += tally->accepted[op];
        bool enough = tally->accepted[op] * 20 >= tally->asked[op] && tally->accepted[op] > 0;
        if (!enough && is_checked)
            fprintf(stderr, "sim: operation %d: %" PRIu64 " of %" PRIu64 " accepted\n", op,
                    tally->accepted[op], tally->asked[op]);
        every &= enough;
    }
    printf("%" PRIu64 " requests, %" PRIu64 " accepted, %" PRIu64 " failed, %" PRIu64
           " unanswered; %" PRIu64 " batches, %" PRIu64 " commits, %" PRIu64 " follows, %" PRIu64
           " reloads, %" PRIu64 " unknown, %" PRIu64 " deaths; %" PRIu64 " of conductors\n",
           asked, accepted, tally->failed, tally->unanswered, tally->batches, tally->commits,
           tally->follows, tally->reloads, tally->unknowns, tally->deaths, tally->conducted);
    return !is_checked ||
           (every && accepted * 10 >= (asked - tally->failed - tally->unanswered) * 4 &&
            tally->follows > 100 && tally->unknowns > 40 && tally->deaths > 40 &&
            tally->conducted > 400);
}

static uint64_t number(const char *text)
{
    char *end;
    uint64_t value = text == NULL ? 0 : strtoull(text, &end, 10);
    if (text == NULL || *text == '\0' || *end != '\0') {
        fprintf(stderr, "usage: sim [--seed N] [--seeds N] [--steps N]\n");
        exit(2);
    }
    return value;
}

int main(int argc, char **argv)
{
    uint64_t first = 1;
    uint64_t seeds = 1;
    run.steps = STEPS;
    for (int i = 1; i < argc; i += 2) {
        uint64_t value = number(i + 1 < argc ? argv[i + 1] : NULL);
        struct slice option = slice_of(argv[i]);
        if (slice_equal(option, SLICE_LIT("--seed")))
            first = value;
        else if (slice_equal(option, SLICE_LIT("--seeds")))
            seeds = value;
        else if (slice_equal(option, SLICE_LIT("--steps")))
            run.steps = (int)value;
        else
            number(NULL);
    }
    signal(SIGABRT, on_abort);
    log_start(open("/dev/null", O_WRONLY), false); /* every outage is told */
    static struct tally tally;
    uint64_t digest = 0;
    for (uint64_t seed = first; seed < first + seeds; seed++)
        digest = rng_mix(digest + run_seed(seed, &tally));
    bool enough = has_asked_enough(&tally, seeds >= SEEDS_TO_CHECK_BY);
    printf("digest %016" PRIx64 "\n", digest);
    if (enough)
        return 0;
    fprintf(stderr, "sim: too little happened to prove anything\n");
    return 1;
}
