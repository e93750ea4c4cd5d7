/* The driver of the simulations of the write path:
 *
 *     sim --world placement|nodes|valet [--seed N] [--seeds N] [--steps N] [--faults NAME,…|none]
 *         [--shrink]
 *
 * It runs the real pipeline, planners, rules and replica over a database in memory. Clients,
 * operators, foreign writers, several berths, the ends of processes and every fault of
 * memory_database.h are drawn from the seed. The same seed prints the same digest. A failing seed
 * prints the command that repeats it; --shrink looks for a shorter one. */
#include "sim.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "lives.h"
#include "log/log.h"
#include "log/settings.h"
#include "shrink.h"

static struct sim sim;

static const struct world *const worlds[] = {&world_placement, &world_nodes, &world_valet};
enum { WORLDS = sizeof(worlds) / sizeof(worlds[0]) };

/* ---- failures ---- */

/* Of the seed that runs. */
static struct seed_options options_of(const struct sim *of)
{
    return (struct seed_options){.fault_names = MEMORY_FAULT_NAMES,
                                 .fault_count = MEMORY_FAULT_COUNT,
                                 .first = of->seed,
                                 .steps = of->steps,
                                 .without = of->without};
}

static void print_seed(void)
{
    if (sim.failed_at != NULL)
        *sim.failed_at = sim.step;
    const struct seed_options options = options_of(&sim);
    fprintf(stderr, "sim: world %s failed with seed %" PRIu64 ", step %d; again: sim --world %s",
            sim.world->name, sim.seed, sim.step, sim.world->name);
    seed_options_print(&options);
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

/* ---- time and random numbers ---- */

/* The linker replaces clock_wall_us with this. */
int64_t __wrap_clock_wall_us(void);
int64_t __wrap_clock_wall_us(void)
{
    const struct world *world = sim.world;
    sim.now_us += world->clock_least_us + rng_below(&sim.time, world->clock_spread_us);
    if (sim.steps_back && rng_permille(&sim.time, 5))
        sim.now_us -= 1000000;
    return sim.now_us;
}

/* And getrandom, which draws the key of the hashes, with this. */
ssize_t __wrap_getrandom(void *buf, size_t len, unsigned flags);
ssize_t __wrap_getrandom(void *buf, size_t len, unsigned flags)
{
    (void)flags;
    memset(buf, 7, len);
    return (ssize_t)len;
}

static int draw_level(struct sim *of, const struct fault_choice *choice)
{
    int draw = rng_below(&of->rng, choice->levels);
    if (choice->fault == MEMORY_IDS_REUSED)
        return draw == 0 ? MEMORY_ALWAYS : 0;
    if (choice->fault == MEMORY_COMMIT_PENDING)
        return draw * MEMORY_ALWAYS / (choice->levels - 1);
    return of->world->fault_levels[draw];
}

/* Each seed has its own set: some faults strike often, others never. */
void sim_draw_faults(struct sim *of, unsigned none)
{
    int *permille = of->database.faults.permille;
    const struct fault_choice *choice = of->world->faults;
    for (; choice->levels > 0; choice++)
        if ((none & 1u << choice->fault) == 0)
            permille[choice->fault] = draw_level(of, choice);
    permille[MEMORY_LOCK_FAILS] = permille[MEMORY_BEGIN_READ_FAILS];
    permille[MEMORY_COMMIT_BEGIN_FAILS] = permille[MEMORY_BEGIN_READ_FAILS];
    permille[MEMORY_QUERY_FAILS] = permille[MEMORY_BEGIN_READ_FAILS];
    of->database.must_be_asked = rng_below(&of->rng, 2) == 0;
    of->database.lock_order = (enum memory_lock_order)rng_below(&of->rng, MEMORY_LOCK_ORDERS);
    for (int f = 0; f < MEMORY_FAULT_COUNT; f++)
        if ((of->without & 1u << f) != 0)
            permille[f] = 0;
}

void sim_digest(struct sim *of, uint64_t value)
{
    of->digest = rng_mix(of->digest * 31 + value);
}

static void digest_tables(void)
{
    const struct tables *tables = &sim.database.tables;
    sim_digest(&sim, sim.database.commit);
    for (int t = 0; t < TABLE_COUNT; t++)
        for (uint32_t i = 0; i < tables->rows[t].count; i++) {
            const struct row *row = &tables->rows[t].row[i];
            sim_digest(&sim, row->birth + rng_mix(row->revision));
            sim_digest(&sim, (uint64_t)(row->image.created_at_us ^ row->image.updated_at_us));
        }
}

/* ---- one seed ---- */

static void on_commit(void *cls, const struct tables *before, const struct tables *after)
{
    (void)cls;
    sim_check_capacity(before, after);
    if (sim.world->check_commit != NULL)
        sim.world->check_commit(&sim, before, after);
}

static void on_state(void *cls, const struct memory_database *database)
{
    (void)cls;
    tables_copy(&sim.history[database->commit % SIM_HISTORY], &database->tables);
}

static void write_foreign(void *cls, struct memory_database *database)
{
    (void)cls;
    (void)database;
    sim.world->foreign_write(&sim);
}

void sim_commit_foreign(struct sim *of, const struct tables *tables)
{
    memory_database_commit_foreign(&of->database, tables);
}

static void begin_seed(uint64_t seed)
{
    const struct world *world = sim.world;
    sim.seed = seed;
    sim.digest = seed;
    sim.step = 0;
    sim.now_us = 1000000000;
    sim.steps_back = false;
    sim.rng = (struct rng){rng_mix(seed + world->salt)};
    sim.time = (struct rng){rng_mix(seed + world->salt + 1)};
    memset(&sim.database, 0, sizeof(sim.database));
    memory_database_init(&sim.database);
    sim.database.rng = &sim.rng;
    sim.database.checks_loads = true;
    sim.database.on_commit = on_commit;
    sim.database.on_state = on_state;
    sim.database.on_broken = sim_constraint_broken;
    sim.database.foreign_write = write_foreign;
    for (int b = 0; b < SIM_BERTHS_MAX; b++)
        sim.berth[b] = (struct berth){.sim = &sim};
    lives_forget();
}

static void run_seed(uint64_t seed)
{
    const struct world *world = sim.world;
    begin_seed(seed);
    world->set_up(&sim);
    while (sim.step < sim.steps && world->step(&sim))
        sim.step++;
    sim.database.quiet = true;
    if (world->check_at_end != NULL)
        world->check_at_end(&sim);
    for (int b = 0; b < sim.berth_count; b++)
        if (sim.berth[b].is_up)
            berth_catch_up(&sim.berth[b]);
    if (world->tear_down != NULL)
        world->tear_down(&sim);
    for (int b = 0; b < sim.berth_count; b++)
        if (sim.berth[b].is_up)
            berth_kill(&sim.berth[b]);
    digest_tables();
    memory_database_free(&sim.database);
}

/* Outages are logged, but nowhere. */
static void open_log(void)
{
    log_start(open("/dev/null", O_WRONLY), false);
}

static void run_shrunk(const struct seed_options *options, int *failed_at)
{
    open_log();
    sim.without = options->without;
    sim.steps = options->steps;
    sim.failed_at = failed_at;
    run_seed(options->first);
}

/* ---- the report ---- */

/* A simulation in which nothing happens proves nothing. */
static bool report(void)
{
    const struct sim_tally *tally = &sim.tally;
    bool is_checked = sim.seeds >= sim.world->seeds_to_check_by;
    bool every = true;
    for (int k = 0; k < sim.world->kind_count; k++) {
        printf("%s: %" PRIu64 " of %" PRIu64 "\n", sim.world->kinds[k], tally->accepted[k],
               tally->sent[k]);
        every &= tally->accepted[k] > 0;
    }
    printf("%" PRIu64 " failed, %" PRIu64 " unanswered; %" PRIu64 " batches, %" PRIu64
           " commits, %" PRIu64 " taken, %" PRIu64 " follows, %" PRIu64 " reloads, %" PRIu64
           " unknown, %" PRIu64 " deaths, %" PRIu64 " kills; %" PRIu64
           " requests of conductors; %" PRIu64 " queries, %" PRIu64 " waited, %" PRIu64 " reads\n",
           tally->failed, tally->unanswered, tally->batches, tally->commits, tally->taken,
           tally->follows, tally->reloads, tally->unknowns, tally->deaths, tally->kills,
           tally->conducted, tally->queries, tally->waited, tally->reads);
    bool enough = sim.world->report(&sim) && tally->taken > 0 && tally->queries > tally->waited &&
                  tally->waited > 0 && tally->reads > 0;
    return (enough && every) || !is_checked;
}

/* NULL: there is none. */
static const struct world *world_of(const char *name)
{
    for (int w = 0; w < WORLDS; w++)
        if (strcmp(worlds[w]->name, name) == 0)
            return worlds[w];
    return NULL;
}

static struct seed_options read_options(int argc, char **argv)
{
    struct seed_options options = options_of(&sim);
    options.usage = "sim --world placement|nodes|valet";
    options.first = options.seeds = 1;
    options.steps = -1;
    for (int i = 1; i < argc; i++) {
        if (seed_options_take(&options, argc, argv, &i))
            continue;
        if (strcmp(argv[i], "--world") != 0 || i + 1 == argc)
            seed_options_usage(&options);
        sim.world = world_of(argv[++i]);
    }
    if (sim.world == NULL)
        seed_options_usage(&options);
    if (options.steps < 0)
        options.steps = sim.world->steps;
    return options;
}

int main(int argc, char **argv)
{
    struct seed_options options = read_options(argc, argv);
    sim.seeds = options.seeds;
    sim.steps = options.steps;
    sim.without = options.without;
    signal(SIGABRT, on_abort);
    if (options.shrinks)
        return shrink_seed(&options, run_shrunk) ? 1 : 0;
    open_log();
    uint64_t digest = 0;
    for (uint64_t seed = options.first; seed < options.first + options.seeds; seed++) {
        run_seed(seed);
        digest = rng_mix(digest + sim.digest);
    }
    bool enough = report();
    printf("digest %016" PRIx64 "\n", digest);
    if (enough)
        return 0;
    fprintf(stderr, "sim: too little happened to prove anything\n");
    return 1;
}
