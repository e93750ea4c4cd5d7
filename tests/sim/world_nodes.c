/* The race for ten bare metal nodes: a hundred allocations at one API, a hundred claims at the
 * other. Meanwhile operators put nodes into and out of maintenance, and the processes die at any
 * point, also between the two commits of an allocation (bare metal spec, C9), and are replaced by
 * others. */
#include <inttypes.h>
#include <stdio.h>

#include "metal_round.h"

enum { BERTHS = 3, SEED_STEPS = 1500, REST_ROUNDS_MAX = 400, SECOND_US = 1000000 };

struct metal_sent {
    struct sent sent; /* first */
    struct metal_action action;
};

static struct round race;
static struct race_tally race_tally;
static int created, claimed; /* so far */

static bool half(struct rng *rng)
{
    return rng_below(rng, 2) == 0;
}

/* ---- requests ---- */

static bool plan_sent(struct sent *sent, const struct plan *plan, struct err *err)
{
    return metal_plan_action(&((struct metal_sent *)sent)->action, &race, plan, err);
}

static void answered(struct sent *sent, int status)
{
    if (sent->kind != ACTION_NEWS)
        round_note_answer(&race, &((struct metal_sent *)sent)->action, status);
}

static void send_action(struct berth *berth, const struct metal_action *action)
{
    struct metal_sent *metal = berth_ask(berth, sizeof(*metal), (int)action->what);
    metal->action = *action;
    round_note_sent(&race, action);
    berth_submit(&metal->sent);
}

static struct berth *some_berth(struct sim *sim)
{
    int at = rng_below(&sim->rng, sim->berth_count);
    for (int i = 0; i < sim->berth_count; i++)
        if (sim->berth[(at + i) % sim->berth_count].is_up)
            return &sim->berth[(at + i) % sim->berth_count];
    berth_start(&sim->berth[at]);
    return &sim->berth[at];
}

/* An action by an operator, or by a client that owns something. False: there is none. */
static bool draw_other(struct rng *rng, struct metal_action *action)
{
    const struct weather *weather = &race.weather;
    action->node = rng_below(rng, RACE_NODES);
    action->is_on = rng_below(rng, 5) < 2;
    switch (rng_below(rng, 6)) {
    case 0:
    case 1:
        action->what = ACTION_MAINTENANCE;
        return weather->flips;
    case 2:
        action->what = ACTION_POWER;
        return weather->powers && rng_below(rng, 3) == 0;
    case 3:
        action->what = half(rng) ? ACTION_DEPLOY : ACTION_UNDEPLOY;
        return weather->deploys;
    case 4:
        action->what = ACTION_RELEASE;
        action->number = rng_below(rng, RACE_CREATES);
        return weather->releases && race.allocation[action->number].is_made;
    default:
        action->what = ACTION_LET_GO;
        action->number = rng_below(rng, RACE_CLAIMS);
        return weather->releases && race.consumer[action->number].is_made;
    }
}

/* The next new request, or an earlier one, repeated, that has not been accepted yet. */
static bool draw_request(struct rng *rng, struct metal_action *action)
{
    bool claims = race.weather.claims && half(rng);
    *action = (struct metal_action){.what = claims ? ACTION_CLAIM : ACTION_CREATE};
    int *next = claims ? &claimed : &created;
    int end = claims ? RACE_CLAIMS : RACE_CREATES;
    action->node = rng_below(rng, RACE_NODES);
    if (*next < end && rng_below(rng, 8) > 0) {
        action->number = (*next)++;
        return true;
    }
    action->number = rng_below(rng, end);
    const struct fate *fate =
        claims ? &race.consumer[action->number] : &race.allocation[action->number];
    return fate->was_sent && !fate->is_made && !fate->may_be_gone;
}

static void send_some(struct sim *sim)
{
    struct metal_action action;
    struct rng *rng = &sim->rng;
    for (int left = 1 + rng_below(rng, 6); left > 0; left--)
        if (rng_below(rng, 3) > 0 ? draw_request(rng, &action) : draw_other(rng, &action))
            send_action(some_berth(sim), &action);
}

/* ---- processes and foreign writers ---- */

static void ending(struct berth *berth)
{
    race_tally.ends++;
    race_tally.ends_between +=
        check_count_left(&berth->sim->database.tables, berth->metal.instance) > 0;
}

/* A process ends in the middle of its work; another one may start at once, or much later. */
static void kill_one(struct sim *sim)
{
    struct berth *berth = &sim->berth[rng_below(&sim->rng, sim->berth_count)];
    if (!race.weather.kills)
        return;
    if (!berth->is_up) {
        berth_start(berth);
        return;
    }
    berth_kill(berth);
    if (half(&sim->rng))
        berth_start(berth);
}

/* A foreign write to rows that no client uses: all berths have to merge or load. */
static void foreign_write(struct sim *sim)
{
    static struct tables tables;
    const struct rows *traits = &sim->database.tables.rows[TABLE_TRAITS];
    if (traits->count >= 40)
        return;
    char name[24];
    snprintf(name, sizeof(name), "CUSTOM_FOREIGN_%u", traits->count);
    tables_copy(&tables, &sim->database.tables);
    sim_execute(&tables, &(struct change){.kind = CHANGE_TRAIT_INSERT,
                                          .catalog = {traits->count + 1, slice_of(name)}});
    memory_database_commit_foreign(&sim->database, &tables);
}

/* ---- the world ---- */

static void draw_weather(struct rng *rng)
{
    struct weather *weather = &race.weather;
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

static void set_up(struct sim *sim)
{
    race = (struct round){.database = &sim->database, .tally = &race_tally};
    created = claimed = 0;
    sim->database.quiet = true;
    draw_weather(&sim->rng);
    sim_draw_faults(sim, race.weather.kills ? 0 : 1u << MEMORY_DIES);
    sim->berth_count = 1 + rng_below(&sim->rng, BERTHS);
    for (int b = 0; b < sim->berth_count; b++) {
        sim->berth[b].host = rng_below(&sim->rng, 2);
        berth_start(&sim->berth[b]);
    }
    for (int n = 0; n < RACE_NODES; n++)
        send_action(&sim->berth[0], &(struct metal_action){.what = ACTION_NODE, .number = n});
    while (berth_run(&sim->berth[0]))
        ;
    sim->database.quiet = false;
}

static bool is_all_sent(void)
{
    return created == RACE_CREATES && (claimed == RACE_CLAIMS || !race.weather.claims);
}

static bool step(struct sim *sim)
{
    if (sim->step >= sim->world->steps / 2 && is_all_sent())
        return false;
    struct rng *rng = &sim->rng;
    int draw = rng_below(rng, 100);
    struct berth *berth = some_berth(sim);
    if (draw < 30) {
        send_some(sim);
    } else if (draw < 60) {
        berth_run(berth);
    } else if (draw < 75) {
        berth_conduct(berth);
        if (half(rng))
            berth_run(berth);
    } else if (draw < 85) {
        berth_ask_news(berth);
    } else if (draw < 95) {
        sim->now_us += rng_below(rng, SECOND_US);
    } else if (draw < 96) {
        sim->now_us += rng_below(rng, 4) == 0 ? 70LL * SECOND_US : 0;
    } else if (draw < 98) {
        kill_one(sim);
    } else if (race.weather.foreign_writes) {
        foreign_write(sim);
    }
    return true;
}

static bool run_at_rest(struct berth *berth)
{
    berth_ask_news(berth);
    berth_run(berth);
    bool did_something = berth_conduct(berth) > 0;
    berth_run(berth);
    return did_something;
}

/* At least one process runs, and there is enough time for a takeover. */
static void come_to_rest(struct sim *sim)
{
    int idle = 0;
    (void)some_berth(sim);
    for (int i = 0; idle < 60; i++) {
        bool did_something = false;
        if (i > REST_ROUNDS_MAX)
            sim_fail("there is always something to do");
        for (int b = 0; b < sim->berth_count; b++)
            if (sim->berth[b].is_up)
                did_something |= run_at_rest(&sim->berth[b]);
        idle = did_something ? 0 : idle + 1;
        sim->now_us += 3LL * SECOND_US;
    }
    check_end(&race);
    race_tally.rounds++;
}

static bool report(const struct sim *sim)
{
    const struct race_tally *tally = &race_tally;
    printf("%" PRIu64 " rounds, %" PRIu64 " exact; in the end %" PRIu64 " active, %" PRIu64
           " in error, %" PRIu64 " claimed; %" PRIu64 " processes ended, %" PRIu64
           " between the two commits\n",
           tally->rounds, tally->exact, tally->active, tally->refused, tally->claimed, tally->ends,
           tally->ends_between);
    (void)sim;
    return tally->active > 2 * tally->rounds && tally->claimed > tally->rounds &&
           tally->refused > 20 * tally->rounds && tally->exact > tally->rounds / 20 &&
           tally->ends > 5 * tally->rounds && tally->ends_between > tally->rounds;
}

static const char *const kinds[ACTION_COUNT] = {
    [ACTION_NODE] = "create a node",
    [ACTION_CREATE] = "create an allocation",
    [ACTION_RELEASE] = "delete an allocation",
    [ACTION_CLAIM] = "claim a node",
    [ACTION_LET_GO] = "release a claimed node",
    [ACTION_MAINTENANCE] = "maintenance",
    [ACTION_POWER] = "change the power state",
    [ACTION_DEPLOY] = "deploy",
    [ACTION_UNDEPLOY] = "undeploy",
    [ACTION_NEWS] = "wait for news",
};

const struct world world_nodes = {
    .name = "nodes",
    .kinds = kinds,
    .kind_count = ACTION_COUNT,
    .news_kind = ACTION_NEWS,
    .steps = SEED_STEPS,
    .salt = 11,
    .clock_spread_us = 200,
    .audit_every = 16,
    .has_metal = true,
    .fault_levels = {0, 0, 10, 40, 150},
    .faults = {{MEMORY_BEGIN_READ_FAILS, 5},
               {MEMORY_LOCK_HELD, 5},
               {MEMORY_READ_FAILS, 4},
               {MEMORY_APPLY_FAILS, 4},
               {MEMORY_COMMIT_FAILS, 5},
               {MEMORY_COMMIT_UNKNOWN, 4},
               {MEMORY_COMMIT_RESOLVED, 4},
               {MEMORY_DIES, 4},
               {MEMORY_LOG_TRIMMED, 5},
               {MEMORY_MERGE_GIVEN_UP, 5},
               {MEMORY_IDS_REUSED, 2},
               {MEMORY_COMMIT_PENDING, 5}},
    .seeds_to_check_by = 40,
    .set_up = set_up,
    .step = step,
    .check_at_end = come_to_rest,
    .plan = plan_sent,
    .answered = answered,
    .check_commit = check_commit,
    .ending = ending,
    .report = report,
};
