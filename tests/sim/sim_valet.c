/* Members and non-members claim hosts of exclusivity groups while placements are made, moved and
 * bound, operators dedicate hosts and rebuild racks and trees, and somebody writes into the
 * database who keeps no rule. Two berths on one database, and every fault of store.h, all drawn
 * from one seed.
 *
 *     sim_valet [--seed N] [--seeds N]
 *
 * The same seed prints the same digest. A failing seed says how to repeat it. */
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/arena.h"
#include "compare.h"
#include "log/log.h"
#include "log/settings.h"
#include "products/products.h"
#include "replica/audit.h"
#include "replica/replica.h"
#include "sim.h"
#include "universe.h"
#include "valet/write/valet_rule.h"
#include "valet_round.h"

enum { WEIGHTS = 111, BERTHS = 2, STEPS = 250, SEEDS_TO_CHECK_BY = 40 };

struct valet_berth {
    struct store *store;
    struct replica *replica;
    struct pipeline *pipeline;
    struct products products;
};

struct sent {
    struct pipeline_request request; /* first */
    struct valet_asked asked;
    struct valet_berth *berth;
};

static struct {
    uint64_t seed;
    int step;
    int64_t now_us;
    struct rng rng;
    struct memory_database database;
    struct valet_berth berth[BERTHS];
    void (*check_commit)(const struct tables *before, const struct tables *after);
    uint64_t asked[V_COUNT];
    uint64_t accepted[V_COUNT];
    uint64_t held; /* refused since a group holds the host */
    uint64_t failed, deaths, strange, digest;
} run;

void sim_fail(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "sim_valet: ");
    vfprintf(stderr, format, args);
    fprintf(stderr, "\nsim_valet: failed with seed %" PRIu64 ", step %d\n", run.seed, run.step);
    va_end(args);
    exit(1);
}

static void on_abort(int signal_number)
{
    (void)signal_number;
    fprintf(stderr, "sim_valet: failed with seed %" PRIu64 ", step %d\n", run.seed, run.step);
}

int64_t __wrap_clock_wall_us(void);
int64_t __wrap_clock_wall_us(void)
{
    return ++run.now_us;
}

ssize_t __wrap_getrandom(void *buf, size_t len, unsigned flags);
ssize_t __wrap_getrandom(void *buf, size_t len, unsigned flags)
{
    (void)flags;
    memset(buf, 7, len);
    return (ssize_t)len;
}

static int below(int n)
{
    return rng_below(&run.rng, n);
}

/* ---- berths ---- */

static void while_locked(void *cls)
{
    (void)cls;
}

static void berth_start(struct valet_berth *berth)
{
    struct arena *arena = arena_create();
    berth->store = memory_store_open(&run.database);
    berth->store->while_locked = while_locked;
    berth->replica = replica_create();
    do {
        struct err err = {.arena = arena};
        berth->pipeline = pipeline_create(berth->store, berth->replica,
                                          products_open(&berth->products, NULL), &err);
    } while (berth->pipeline == NULL);
    arena_destroy(arena);
    pipeline_plan_twice(berth->pipeline);
}

static void berth_kill(struct valet_berth *berth)
{
    pipeline_destroy(berth->pipeline);
    products_close(&berth->products);
    replica_destroy(berth->replica);
    store_close(berth->store);
}

static void check_version(const struct valet_berth *berth)
{
    const struct version *newest = replica_newest(berth->replica);
    const char *what =
        berth->store->seen.is_valid ? compare_version(newest, &berth->store->seen.tables) : NULL;
    if (what != NULL)
        sim_fail("the version differs in %s", what);
    if (below(16) > 0)
        return;
    struct buf why = {0};
    if (!audit_version(newest, &why))
        sim_fail("%.*s", SLICE_ARG(buf_slice(&why)));
    buf_free(&why);
}

/* ---- requests ---- */

static void draw_claim(struct valet_asked *asked, int consumer)
{
    struct valet_claim_asked *claim = &asked->claim[asked->claim_count++];
    *claim = (struct valet_claim_asked){.consumer = consumer, .project = below(V_PROJECTS)};
    if (consumer >= 0 && below(4) > 0)
        claim->project = consumer % V_PROJECTS;
    int at = below(V_HOSTS + V_CHILDREN);
    for (int left = below(10) == 0 ? 0 : 1 + below(2); left > 0; left--) {
        claim->provider[claim->count] = at;
        claim->amount[claim->count++] = 1 + below(5);
        at = (at + 1 + below(3)) % (V_HOSTS + V_CHILDREN);
    }
    if (claim->count == 2 && claim->provider[0] == claim->provider[1])
        claim->count = 1;
}

/* What a server has goes to another consumer, and the server somewhere else. */
static void draw_claims(struct valet_asked *asked)
{
    int first = below(V_SERVERS);
    int count = asked->what == V_PUT ? 1 : 1 + below(V_CLAIMS);
    for (int i = 0; i < count; i++)
        draw_claim(asked, (first + i) % V_SERVERS);
    if (below(12) == 0)
        asked->claim[0].consumer = -1 - below(V_PLACEMENTS);
}

static void draw(struct valet_asked *asked)
{
    static const int weight[V_COUNT] = {
        [V_PUT] = 14,         [V_POST] = 8,   [V_RESHAPE] = 4,     [V_RELEASE] = 26,
        [V_RELEASE_HOLD] = 4, [V_PLACE] = 5,  [V_PLACE_HOST] = 10, [V_PLACE_RACK] = 14,
        [V_UNPLACE] = 5,      [V_BIND] = 4,   [V_AGGREGATES] = 4,  [V_MARK] = 2,
        [V_MEMBER] = 2,       [V_PARENT] = 6, [V_SHARE] = 3,
    };
    int left = below(WEIGHTS);
    *asked = (struct valet_asked){
        .host = below(V_HOSTS),
        .rack = below(V_RACKS),
        .group = below(V_GROUPS),
        .project = below(V_PROJECTS),
        .server = below(V_SERVERS),
        .placement = below(V_PLACEMENTS),
        .amount = 1 + below(5),
    };
    while (left >= weight[asked->what])
        left -= weight[asked->what++];
    asked->drops_others = below(8) == 0;
    if ((asked->what == V_PLACE_HOST || asked->what == V_PLACE_RACK) && below(4) > 0) {
        asked->placement = below(2) * V_PROJECTS + below(V_GROUPS);
        asked->group = asked->placement % V_PROJECTS; /* whose first member is the plan's project */
    }
    asked->parent = below(3) == 0 ? below(V_HOSTS) : -1;
    if (asked->what <= V_RESHAPE)
        draw_claims(asked);
    int rack = asked->host == V_HOSTS - 1 ? -1 : asked->host < 3 ? 0 : 1;
    for (int a = 0; a < V_RACKS + V_GROUPS; a++)
        asked->wanted[a] = below(6) == 0 ? below(2) == 0 : a == rack;
}

static bool plan_sent(struct pipeline_request *request, const struct plan *plan)
{
    bool accepted = valet_plan_asked(&((struct sent *)request)->asked, plan, &request->err);
    const struct valet_asked *asked = &((struct sent *)request)->asked;
    if (asked->what >= V_PLACE && asked->what <= V_PLACE_RACK)
        valet_check_placed(accepted ? asked : NULL);
    return accepted;
}

static void answered(struct pipeline_request *request)
{
    struct sent *sent = (struct sent *)request;
    int status = request->err.status;
    if (!sent->berth->store->is_dead) {
        run.asked[sent->asked.what]++;
        run.accepted[sent->asked.what] += status == 0;
        run.failed += status == 503;
        run.held += status == 409 &&
                    slice_starts_with(request->err.message, SLICE_LIT("Resource provider 'name"));
        if (status != 0 && status != 503 && (status < 400 || status > 409))
            sim_fail("request %d is answered %d", (int)sent->asked.what, status);
    }
    run.digest = rng_mix(run.digest * 31 + (uint64_t)status + (uint64_t)sent->asked.what * 1000);
    arena_destroy(request->err.arena);
    free(sent);
}

static void ask(struct valet_berth *berth, const struct valet_asked *asked)
{
    struct sent *sent = calloc(1, sizeof(*sent));
    check(sent != NULL);
    *sent = (struct sent){
        .request = {.plan = plan_sent, .done = answered, .err = {.arena = arena_create()}},
        .asked = *asked,
        .berth = berth,
    };
    if (asked->what >= V_PLACE && asked->what <= V_BIND)
        sent->request.author = &valet_rule;
    if ((asked->what >= V_PLACE && asked->what <= V_PLACE_RACK) || asked->what == V_BIND)
        sent->asked.commit =
            valet_commit_of(asked, replica_newest(berth->replica), sent->request.err.arena);
    pipeline_submit(berth->pipeline, &sent->request);
}

static void make_step(void)
{
    struct valet_berth *berth = &run.berth[below(BERTHS)];
    struct valet_asked asked;
    draw(&asked);
    /* alone, so that what was held before a commit and after it was held meanwhile */
    bool is_alone = asked.what >= V_AGGREGATES || below(2) == 0;
    ask(berth, &asked);
    for (int left = is_alone ? 0 : 1 + below(2); left > 0; left--) {
        do
            draw(&asked);
        while (asked.what >= V_AGGREGATES);
        ask(berth, &asked);
    }
    valet_check_placed(NULL);
    run.check_commit = is_alone ? valet_check_one : valet_check;
    pipeline_run_once(berth->pipeline);
    if (berth->store->is_dead) {
        run.deaths++;
        berth_kill(berth);
        berth_start(berth);
    }
    check_version(berth);
}

static void on_commit(void *cls, const struct tables *before, const struct tables *after)
{
    (void)cls;
    sim_check_capacity(before, after);
    run.check_commit(before, after);
}

static void run_seed(uint64_t seed)
{
    static const int often[] = {0, 0, 10, 40, 120};
    memset(&run.database, 0, sizeof(run.database));
    memory_database_init(&run.database);
    run.database.on_broken = sim_constraint_broken;
    run.seed = seed;
    run.now_us = 1000000000;
    run.rng = (struct rng){rng_mix(seed + 21)};
    run.database.rng = &run.rng;
    run.check_commit = valet_check;
    run.database.on_commit = on_commit;
    valet_fill(&run.database);
    run.database.faults = (struct memory_faults){
        .permille[MEMORY_BEGIN_READ_FAILS] = often[below(4)],
        .permille[MEMORY_READ_FAILS] = often[below(4)],
        .permille[MEMORY_APPLY_FAILS] = often[below(4)],
        .permille[MEMORY_COMMIT_FAILS] = often[below(4)],
        .permille[MEMORY_COMMIT_UNKNOWN] = often[below(4)],
        .permille[MEMORY_COMMIT_RESOLVED] = often[below(4)],
        .permille[MEMORY_DIES] = often[below(4)],
        .permille[MEMORY_LOG_TRIMMED] = often[below(4)],
        .permille[MEMORY_MERGE_GIVEN_UP] = often[below(4)],
        .permille[MEMORY_IDS_REUSED] = below(2) == 0 ? MEMORY_ALWAYS : 0,
    };
    run.database.faults.permille[MEMORY_BEGIN_WRITE_FAILS] =
        run.database.faults.permille[MEMORY_BEGIN_READ_FAILS];
    for (int b = 0; b < BERTHS; b++)
        berth_start(&run.berth[b]);
    /* only between batches: the store's own foreign writer is of another cloud */
    int foreign_writes = often[below(5)];
    for (run.step = 0; run.step < STEPS; run.step++) {
        if (rng_permille(&run.rng, foreign_writes)) {
            valet_non_member(&run.database);
            run.strange++;
        }
        make_step();
    }
    for (int b = 0; b < BERTHS; b++)
        berth_kill(&run.berth[b]);
    memory_database_free(&run.database);
}

/* A simulation in which nothing happens proves nothing. */
static bool has_run_enough(uint64_t seeds)
{
    bool enough = true;
    for (int what = 0; what < V_COUNT; what++) {
        printf("%d: %" PRIu64 " of %" PRIu64 "\n", what, run.accepted[what], run.asked[what]);
        enough &= run.accepted[what] > seeds;
    }
    printf("%" PRIu64 " held, %" PRIu64 " failed, %" PRIu64 " deaths, %" PRIu64
           " strange writes\ndigest %016" PRIx64 "\n",
           run.held, run.failed, run.deaths, run.strange, run.digest);
    return seeds < SEEDS_TO_CHECK_BY ||
           (enough && run.held > 5 * seeds && run.strange > seeds && run.deaths > seeds / 10);
}

static uint64_t number(const char *text)
{
    char *end;
    uint64_t value = text == NULL ? 0 : strtoull(text, &end, 10);
    if (text == NULL || *text == '\0' || *end != '\0') {
        fprintf(stderr, "usage: sim_valet [--seed N] [--seeds N]\n");
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
    for (uint64_t seed = first; seed < first + seeds; seed++)
        run_seed(seed);
    if (has_run_enough(seeds))
        return 0;
    fprintf(stderr, "sim_valet: too little happened to prove anything\n");
    return 1;
}
