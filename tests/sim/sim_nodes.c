/* The race for ten bare metal nodes: a hundred allocations at one API, a hundred claims at the
 * other, while operators put nodes in and out of maintenance, and the processes that serve them die
 * at any point, also between the two commits of an allocation (bare metal spec, C9), and are
 * followed by others.
 *
 *     sim_nodes [--seed N] [--seeds N]
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
#include "lives.h"
#include "log/log.h"
#include "log/settings.h"
#include "metal_berth.h"

enum {
    BERTHS_MAX = 3,
    STEPS_MAX = 1500,
    REST_ROUNDS_MAX = 400,
    SECOND_US = 1000000,
    SEEDS_TO_CHECK_BY = 40
};

static struct {
    uint64_t seed;
    int step;
    int64_t now_us;
    struct rng time;
    struct metal_berth berth[BERTHS_MAX];
    int count;
    int created, claimed; /* so far */
} race;

static struct round round_now;

static void print_seed(void)
{
    fprintf(stderr,
            "sim_nodes: failed with seed %" PRIu64 ", step %d; again: sim_nodes --seed %" PRIu64
            "\n",
            race.seed, race.step, race.seed);
}

void sim_fail(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "sim_nodes: ");
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

int64_t __wrap_clock_wall_us(void);
int64_t __wrap_clock_wall_us(void)
{
    race.now_us += rng_below(&race.time, 200);
    return race.now_us;
}

ssize_t __wrap_getrandom(void *buf, size_t len, unsigned flags);
ssize_t __wrap_getrandom(void *buf, size_t len, unsigned flags)
{
    (void)flags;
    memset(buf, 7, len);
    return (ssize_t)len;
}

static bool half(struct rng *rng)
{
    return rng_below(rng, 2) == 0;
}

static void draw_weather(struct rng *rng)
{
    struct weather *weather = &round_now.weather;
    *weather =
        (struct weather){.kills = rng_below(rng, 5) > 0, .foreign_writes = rng_below(rng, 4) == 0};
    if (rng_below(rng, 5) == 0)
        return; /* nothing but requests: exactly as many as nodes succeed */
    weather->flips = rng_below(rng, 4) > 0;
    weather->claims = rng_below(rng, 4) > 0;
    weather->releases = half(rng);
    weather->deploys = rng_below(rng, 3) == 0;
    weather->powers = half(rng);
    weather->candidates = half(rng);
}

static void draw_faults(struct rng *rng)
{
    static const int often[] = {0, 0, 10, 40, 150};
    round_now.database.faults = (struct memory_faults){
        .permille[MEMORY_BEGIN_READ_FAILS] = often[rng_below(rng, 5)],
        .permille[MEMORY_READ_FAILS] = often[rng_below(rng, 4)],
        .permille[MEMORY_APPLY_FAILS] = often[rng_below(rng, 4)],
        .permille[MEMORY_COMMIT_FAILS] = often[rng_below(rng, 5)],
        .permille[MEMORY_COMMIT_UNKNOWN] = often[rng_below(rng, 4)],
        .permille[MEMORY_COMMIT_RESOLVED] = often[rng_below(rng, 4)],
        .permille[MEMORY_DIES] = round_now.weather.kills ? often[rng_below(rng, 4)] : 0,
        .permille[MEMORY_LOG_TRIMMED] = often[rng_below(rng, 5)],
        .permille[MEMORY_MERGE_GIVEN_UP] = often[rng_below(rng, 5)],
        .permille[MEMORY_IDS_REUSED] = half(rng) ? MEMORY_ALWAYS : 0,
        .permille[MEMORY_LOCK_HELD] = often[rng_below(rng, 5)],
    };
    round_now.database.faults.permille[MEMORY_BEGIN_WRITE_FAILS] =
        round_now.database.faults.permille[MEMORY_BEGIN_READ_FAILS];
}

/* Nobody's rows are touched; all who look have to load. */
static void foreign(void)
{
    static struct tables tables;
    struct memory_database *database = &round_now.database;
    const struct rows *traits = &database->tables.rows[TABLE_TRAITS];
    if (traits->count >= 40)
        return;
    char name[24];
    snprintf(name, sizeof(name), "CUSTOM_STRANGE_%u", traits->count);
    tables_copy(&tables, &database->tables);
    sim_execute(&tables, &(struct change){.kind = CHANGE_TRAIT_INSERT,
                                          .catalog = {traits->count + 1, slice_of(name)}});
    memory_database_commit_foreign(database, &tables);
}

static struct metal_berth *some_berth(struct rng *rng)
{
    int at = rng_below(rng, race.count);
    for (int i = 0; i < race.count; i++)
        if (race.berth[(at + i) % race.count].is_up)
            return &race.berth[(at + i) % race.count];
    metal_berth_start(&race.berth[at]);
    return &race.berth[at];
}

/* What an operator or a client who has got something does. False: nobody does such things. */
static bool draw_other(struct rng *rng, struct metal_asked *asked)
{
    const struct weather *weather = &round_now.weather;
    asked->node = rng_below(rng, RACE_NODES);
    asked->is_on = rng_below(rng, 5) < 2;
    switch (rng_below(rng, 6)) {
    case 0:
    case 1:
        asked->what = ASK_MAINTENANCE;
        return weather->flips;
    case 2:
        asked->what = ASK_POWER;
        return weather->powers && rng_below(rng, 3) == 0;
    case 3:
        asked->what = half(rng) ? ASK_DEPLOY : ASK_UNDEPLOY;
        return weather->deploys;
    case 4:
        asked->what = ASK_RELEASE;
        asked->number = rng_below(rng, RACE_CREATES);
        return weather->releases && round_now.allocation[asked->number].is_made;
    default:
        asked->what = ASK_LET_GO;
        asked->number = rng_below(rng, RACE_CLAIMS);
        return weather->releases && round_now.consumer[asked->number].is_made;
    }
}

/* The next new request, or an old one once more whose answer nobody knows. */
static bool draw_request(struct rng *rng, struct metal_asked *asked)
{
    bool claims = round_now.weather.claims && half(rng);
    *asked = (struct metal_asked){.what = claims ? ASK_CLAIM : ASK_CREATE};
    int *next = claims ? &race.claimed : &race.created;
    int end = claims ? RACE_CLAIMS : RACE_CREATES;
    asked->node = rng_below(rng, RACE_NODES);
    if (*next < end && rng_below(rng, 8) > 0) {
        asked->number = (*next)++;
        return true;
    }
    asked->number = rng_below(rng, end);
    const struct fate *fate =
        claims ? &round_now.consumer[asked->number] : &round_now.allocation[asked->number];
    return fate->was_sent && !fate->is_made && !fate->may_be_gone;
}

static void ask_some(struct rng *rng)
{
    struct metal_asked asked;
    for (int left = 1 + rng_below(rng, 6); left > 0; left--)
        if (rng_below(rng, 3) > 0 ? draw_request(rng, &asked) : draw_other(rng, &asked))
            metal_berth_ask(some_berth(rng), &asked);
}

/* A process ends in the middle of whatever it does; another one may come at once, or much later. */
static void kill_one(struct rng *rng)
{
    struct metal_berth *berth = &race.berth[rng_below(rng, race.count)];
    if (!round_now.weather.kills)
        return;
    if (!berth->is_up) {
        metal_berth_start(berth);
        return;
    }
    metal_berth_kill(berth);
    if (half(rng))
        metal_berth_start(berth);
}

static void make_step(struct rng *rng)
{
    int draw = rng_below(rng, 100);
    struct metal_berth *berth = some_berth(rng);
    if (draw < 30) {
        ask_some(rng);
    } else if (draw < 60) {
        metal_berth_run(berth);
    } else if (draw < 75) {
        metal_berth_turn(berth);
        if (half(rng))
            metal_berth_run(berth);
    } else if (draw < 85) {
        metal_berth_follow(berth);
    } else if (draw < 95) {
        race.now_us += rng_below(rng, SECOND_US);
    } else if (draw < 96) {
        race.now_us += rng_below(rng, 4) == 0 ? 70LL * SECOND_US : 0;
    } else if (draw < 98) {
        kill_one(rng);
    } else if (round_now.weather.foreign_writes) {
        foreign();
    }
}

static void make_nodes(void)
{
    for (int i = 0; i < RACE_NODES; i++)
        metal_berth_ask(&race.berth[0], &(struct metal_asked){.what = ASK_NODE, .number = i});
    while (metal_berth_run(&race.berth[0]))
        ;
    round_now.database.quiet = false;
}

/* No faults any more, one process at least, and time enough for a takeover. */
static void come_to_rest(void)
{
    int idle = 0;
    round_now.database.quiet = true;
    (void)some_berth(&round_now.rng);
    for (int i = 0; idle < 60; i++) {
        bool did_something = false;
        if (i > REST_ROUNDS_MAX)
            sim_fail("there is always something to do");
        for (int b = 0; b < race.count; b++) {
            if (!race.berth[b].is_up)
                continue;
            metal_berth_follow(&race.berth[b]);
            metal_berth_run(&race.berth[b]);
            did_something |= metal_berth_turn(&race.berth[b]) > 0;
            metal_berth_run(&race.berth[b]);
        }
        idle = did_something ? 0 : idle + 1;
        race.now_us += 3LL * SECOND_US;
    }
}

static bool is_all_asked(void)
{
    return race.created == RACE_CREATES &&
           (race.claimed == RACE_CLAIMS || !round_now.weather.claims);
}

static uint64_t digest_of(uint64_t digest)
{
    const struct tables *tables = &round_now.database.tables;
    for (int t = 0; t < TABLE_COUNT; t++)
        for (uint32_t i = 0; i < tables->rows[t].count; i++)
            digest =
                rng_mix(digest ^ tables->rows[t].row[i].birth) + tables->rows[t].row[i].revision;
    return digest;
}

static void on_commit(void *cls, const struct tables *before, const struct tables *after)
{
    (void)cls;
    sim_check_capacity(before, after);
    check_commit(before, after);
}

static uint64_t run_seed(uint64_t seed, struct race_tally *tally)
{
    memset(&round_now, 0, sizeof(round_now));
    memory_database_init(&round_now.database);
    round_now.database.on_broken = sim_constraint_broken;
    lives_forget();
    struct rng *rng = &round_now.rng;
    *rng = (struct rng){rng_mix(seed + 11)};
    round_now.tally = tally;
    race.seed = seed;
    race.step = race.created = race.claimed = 0;
    race.now_us = 1000000000;
    race.time = (struct rng){rng_mix(seed + 12)};
    draw_weather(rng);
    draw_faults(rng);
    round_now.database.rng = rng;
    round_now.database.quiet = true;
    round_now.database.on_commit = on_commit;
    race.count = 1 + rng_below(rng, BERTHS_MAX);
    for (int i = 0; i < race.count; i++) {
        race.berth[i] = (struct metal_berth){.round = &round_now, .host = rng_below(rng, 2)};
        metal_berth_start(&race.berth[i]);
    }
    make_nodes();
    tally->digest = seed;
    for (; race.step < STEPS_MAX && (!is_all_asked() || race.step < STEPS_MAX / 2); race.step++)
        make_step(rng);
    come_to_rest();
    check_end(&round_now);
    for (int i = 0; i < race.count; i++)
        if (race.berth[i].is_up)
            metal_berth_kill(&race.berth[i]);
    tally->rounds++;
    uint64_t digest = digest_of(tally->digest);
    memory_database_free(&round_now.database);
    return digest;
}

/* A race in which nothing happens proves nothing. */
static bool has_run_enough(const struct race_tally *tally, bool is_checked)
{
    printf("%" PRIu64 " rounds: %" PRIu64 " of %" PRIu64 " creates and %" PRIu64 " of %" PRIu64
           " claims accepted; in the end %" PRIu64 " active, %" PRIu64 " in error, %" PRIu64
           " claimed; %" PRIu64 " flips, %" PRIu64 " failed, %" PRIu64 " unanswered, %" PRIu64
           " commits, %" PRIu64 " of conductors, %" PRIu64 " kills, %" PRIu64
           " between the two commits, %" PRIu64 " rounds exact\n",
           tally->rounds, tally->accepted[ASK_CREATE], tally->asked[ASK_CREATE],
           tally->accepted[ASK_CLAIM], tally->asked[ASK_CLAIM], tally->active, tally->refused,
           tally->claimed, tally->accepted[ASK_MAINTENANCE], tally->failed, tally->unanswered,
           tally->commits, tally->conducted, tally->kills, tally->kills_between, tally->exact);
    bool every = true;
    for (int what = 0; what < ASK_COUNT; what++)
        every &= tally->accepted[what] > 0;
    return !is_checked ||
           (every && tally->active > 2 * tally->rounds && tally->claimed > tally->rounds &&
            tally->refused > 20 * tally->rounds && tally->exact > tally->rounds / 20 &&
            tally->kills > 5 * tally->rounds && tally->kills_between > tally->rounds);
}

static uint64_t number(const char *text)
{
    char *end;
    uint64_t value = text == NULL ? 0 : strtoull(text, &end, 10);
    if (text == NULL || *text == '\0' || *end != '\0') {
        fprintf(stderr, "usage: sim_nodes [--seed N] [--seeds N]\n");
        exit(2);
    }
    return value;
}

int main(int argc, char **argv)
{
    uint64_t first = 1;
    uint64_t seeds = 1;
    for (int i = 1; i < argc; i += 2) {
        uint64_t value = number(i + 1 < argc ? argv[i + 1] : NULL);
        struct slice option = slice_of(argv[i]);
        if (slice_equal(option, SLICE_LIT("--seed")))
            first = value;
        else if (slice_equal(option, SLICE_LIT("--seeds")))
            seeds = value;
        else
            number(NULL);
    }
    signal(SIGABRT, on_abort);
    log_start(open("/dev/null", O_WRONLY), false);
    static struct race_tally tally;
    uint64_t digest = 0;
    for (uint64_t seed = first; seed < first + seeds; seed++)
        digest = rng_mix(digest + run_seed(seed, &tally));
    bool enough = has_run_enough(&tally, seeds >= SEEDS_TO_CHECK_BY);
    printf("digest %016" PRIx64 "\n", digest);
    if (enough)
        return 0;
    fprintf(stderr, "sim_nodes: too little happened to prove anything\n");
    return 1;
}
