/* Members and non-members claim hosts of exclusivity groups while placements are made, moved and
 * bound, operators dedicate hosts and rebuild racks and trees, and a foreign writer that follows no
 * rule writes to the database. Two berths on one database. */
#include <inttypes.h>
#include <stdio.h>

#include "valet/write/valet_rule.h"
#include "valet_round.h"

enum { WEIGHTS = 111, BERTHS = 2, SEED_STEPS = 250 };

struct valet_sent {
    struct sent sent; /* first */
    struct valet_action action;
};

static struct {
    int foreign_writes; /* thousandths of steps; of this seed */
    bool is_alone;      /* the batch has one request */
    uint64_t held;      /* refused because a group holds the host */
    uint64_t foreign;   /* writes */
} run;

/* ---- requests ---- */

static void draw_claim(struct valet_action *action, int consumer, struct rng *rng)
{
    struct valet_action_claim *claim = &action->claim[action->claim_count++];
    *claim =
        (struct valet_action_claim){.consumer = consumer, .project = rng_below(rng, V_PROJECTS)};
    if (consumer >= 0 && rng_below(rng, 4) > 0)
        claim->project = consumer % V_PROJECTS;
    int at = rng_below(rng, V_HOSTS + V_CHILDREN);
    for (int left = rng_below(rng, 10) == 0 ? 0 : 1 + rng_below(rng, 2); left > 0; left--) {
        claim->provider[claim->count] = at;
        claim->amount[claim->count++] = 1 + rng_below(rng, 5);
        at = (at + 1 + rng_below(rng, 3)) % (V_HOSTS + V_CHILDREN);
    }
    if (claim->count == 2 && claim->provider[0] == claim->provider[1])
        claim->count = 1;
}

/* What a server holds goes to another consumer, and the server moves elsewhere. */
static void draw_claims(struct valet_action *action, struct rng *rng)
{
    int first = rng_below(rng, V_SERVERS);
    int count = action->what == V_PUT ? 1 : 1 + rng_below(rng, V_CLAIMS);
    for (int i = 0; i < count; i++)
        draw_claim(action, (first + i) % V_SERVERS, rng);
    if (rng_below(rng, 12) == 0)
        action->claim[0].consumer = -1 - rng_below(rng, V_PLACEMENTS);
}

static void draw(struct valet_action *action, struct rng *rng)
{
    static const int weight[V_COUNT] = {
        [V_PUT] = 14,         [V_POST] = 8,   [V_RESHAPE] = 4,     [V_RELEASE] = 26,
        [V_RELEASE_HOLD] = 4, [V_PLACE] = 5,  [V_PLACE_HOST] = 10, [V_PLACE_RACK] = 14,
        [V_UNPLACE] = 5,      [V_BIND] = 4,   [V_AGGREGATES] = 4,  [V_MARK] = 2,
        [V_MEMBER] = 2,       [V_PARENT] = 6, [V_SHARE] = 3,
    };
    int left = rng_below(rng, WEIGHTS);
    *action = (struct valet_action){
        .host = rng_below(rng, V_HOSTS),
        .rack = rng_below(rng, V_RACKS),
        .group = rng_below(rng, V_GROUPS),
        .project = rng_below(rng, V_PROJECTS),
        .server = rng_below(rng, V_SERVERS),
        .placement = rng_below(rng, V_PLACEMENTS),
        .amount = 1 + rng_below(rng, 5),
    };
    while (left >= weight[action->what])
        left -= weight[action->what++];
    action->drops_others = rng_below(rng, 8) == 0;
    if ((action->what == V_PLACE_HOST || action->what == V_PLACE_RACK) && rng_below(rng, 4) > 0) {
        action->placement = rng_below(rng, 2) * V_PROJECTS + rng_below(rng, V_GROUPS);
        action->group =
            action->placement % V_PROJECTS; /* whose first member is the plan's project */
    }
    action->parent = rng_below(rng, 3) == 0 ? rng_below(rng, V_HOSTS) : -1;
    if (action->what <= V_RESHAPE)
        draw_claims(action, rng);
    int rack = action->host == V_HOSTS - 1 ? -1 : action->host < 3 ? 0 : 1;
    for (int a = 0; a < V_RACKS + V_GROUPS; a++)
        action->wanted[a] = rng_below(rng, 6) == 0 ? rng_below(rng, 2) == 0 : a == rack;
}

static bool plan_sent(struct sent *sent, const struct plan *plan, struct err *err)
{
    const struct valet_action *action = &((struct valet_sent *)sent)->action;
    bool accepted = valet_plan_action(action, plan, err);
    if (action->what >= V_PLACE && action->what <= V_PLACE_RACK)
        valet_check_placed(accepted ? action : NULL);
    return accepted;
}

static void answered(struct sent *sent, int status)
{
    struct slice message = sent->request.err.message;
    run.held += status == 409 && slice_starts_with(message, SLICE_LIT("Resource provider 'name"));
}

static void send_action(struct berth *berth, const struct valet_action *action)
{
    struct valet_sent *valet = berth_ask(berth, sizeof(*valet), (int)action->what);
    struct pipeline_request *request = &valet->sent.request;
    valet->action = *action;
    if (action->what >= V_PLACE && action->what <= V_BIND)
        request->author = &valet_rule;
    if ((action->what >= V_PLACE && action->what <= V_PLACE_RACK) || action->what == V_BIND)
        valet->action.commit =
            valet_commit_of(action, replica_newest(berth->replica), request->err.arena);
    berth_submit(&valet->sent);
}

/* ---- the world ---- */

static void check_commit(struct sim *sim, const struct tables *before, const struct tables *after)
{
    (void)sim;
    if (run.is_alone)
        valet_check_one(before, after);
    else
        valet_check(before, after);
}

static void set_up(struct sim *sim)
{
    valet_fill(&sim->database);
    run.is_alone = false;
    sim_draw_faults(sim, 0);
    sim->berth_count = BERTHS;
    for (int b = 0; b < BERTHS; b++)
        berth_start(&sim->berth[b]);
    /* only between batches: otherwise no check could know which process made the change */
    run.foreign_writes = sim->world->fault_levels[rng_below(&sim->rng, SIM_LEVELS)];
}

static bool step(struct sim *sim)
{
    struct rng *rng = &sim->rng;
    if (rng_permille(rng, run.foreign_writes)) {
        valet_non_member(&sim->database);
        run.foreign++;
    }
    struct berth *berth = &sim->berth[rng_below(rng, BERTHS)];
    struct valet_action action;
    draw(&action, rng);
    /* alone, so that what was held before and after a commit was held throughout */
    run.is_alone = action.what >= V_AGGREGATES || rng_below(rng, 2) == 0;
    send_action(berth, &action);
    for (int left = run.is_alone ? 0 : 1 + rng_below(rng, 2); left > 0; left--) {
        do
            draw(&action, rng);
        while (action.what >= V_AGGREGATES);
        send_action(berth, &action);
    }
    valet_check_placed(NULL);
    berth_run(berth);
    if (!berth->is_up) {
        berth_start(berth);
        berth_check(berth);
    }
    return true;
}

static bool report(const struct sim *sim)
{
    bool enough = run.held > 5 * sim->seeds && run.foreign > sim->seeds &&
                  sim->tally.deaths > sim->seeds / 10;
    printf("%" PRIu64 " refused because a group holds the host, %" PRIu64 " foreign writes\n",
           run.held, run.foreign);
    for (int what = 0; what < V_NEWS; what++)
        enough &= sim->tally.accepted[what] > sim->seeds;
    return enough;
}

static const char *const kinds[V_COUNT] = {
    [V_PUT] = "put allocations",
    [V_POST] = "post allocations",
    [V_RESHAPE] = "reshape",
    [V_RELEASE] = "release a server",
    [V_RELEASE_HOLD] = "release a hold",
    [V_PLACE] = "place",
    [V_PLACE_HOST] = "place on an exclusive host",
    [V_PLACE_RACK] = "place in an exclusive rack",
    [V_UNPLACE] = "delete a placement",
    [V_BIND] = "bind a placement",
    [V_AGGREGATES] = "set a host's aggregates",
    [V_MARK] = "mark a rack",
    [V_MEMBER] = "change a member",
    [V_PARENT] = "change a parent",
    [V_SHARE] = "share a host",
    [V_NEWS] = "wait for news",
};

const struct world world_valet = {
    .name = "valet",
    .kinds = kinds,
    .kind_count = V_COUNT,
    .news_kind = V_NEWS,
    .steps = SEED_STEPS,
    .salt = 21,
    .clock_least_us = 1,
    .clock_spread_us = 1,
    .audit_every = 16,
    .fault_levels = {0, 0, 10, 40, 120},
    .faults = {{MEMORY_BEGIN_READ_FAILS, 4},
               {MEMORY_READ_FAILS, 4},
               {MEMORY_APPLY_FAILS, 4},
               {MEMORY_COMMIT_FAILS, 4},
               {MEMORY_COMMIT_UNKNOWN, 4},
               {MEMORY_COMMIT_RESOLVED, 4},
               {MEMORY_DIES, 4},
               {MEMORY_LOG_TRIMMED, 4},
               {MEMORY_MERGE_GIVEN_UP, 4},
               {MEMORY_IDS_REUSED, 2},
               {MEMORY_COMMIT_PENDING, 5}},
    .seeds_to_check_by = 40,
    .set_up = set_up,
    .step = step,
    .plan = plan_sent,
    .answered = answered,
    .check_commit = check_commit,
    .report = report,
};
