/* See metal_berth.h. Whatever it answers comes after the commit, with the version published, and
 * the version is what its store was told. One thread. */
#include "metal_berth.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/clock.h"
#include "compare.h"
#include "lives.h"
#include "replica/audit.h"

struct metal_request {
    struct pipeline_request request; /* first */
    struct metal_asked asked;
    struct metal_berth *berth;
    struct metal_request *next;
};

static void request_free(struct metal_request *request)
{
    struct metal_request **at = &request->berth->sent;
    while (*at != request)
        at = &(*at)->next;
    *at = request->next;
    arena_destroy(request->request.err.arena);
    free(request);
}

static bool plan_request(struct pipeline_request *asked, const struct plan *plan)
{
    struct metal_request *request = (struct metal_request *)asked;
    bool accepted = metal_plan_asked(&request->asked, request->berth->round, plan, &asked->err);
    if (!accepted && plan->changes->count > 0)
        sim_fail("request %d is refused and changes something", (int)request->asked.what);
    return accepted;
}

static void answered(struct pipeline_request *asked)
{
    struct metal_request *request = (struct metal_request *)asked;
    const struct store *store = request->berth->store;
    int status = asked->err.status;
    if (store->is_open)
        sim_fail("an answer inside a transaction");
    if (asked->plan != NULL && status != 503 && store->outcome != MEMORY_OUTCOME_DONE)
        sim_fail("request %d of a batch that failed is answered %d", (int)request->asked.what,
                 status);
    round_note_answer(request->berth->round, &request->asked, store->is_dead ? -1 : status);
    request_free(request);
}

static void while_locked(void *cls)
{
    (void)cls;
}

void metal_berth_start(struct metal_berth *berth)
{
    struct arena *arena = arena_create();
    berth->metal = lives_metal(lives_begin(berth->host));
    berth->store = memory_store_open(&berth->round->database);
    berth->store->while_locked = while_locked;
    berth->replica = replica_create();
    do {
        struct err err = {.arena = arena};
        berth->pipeline = pipeline_create(berth->store, berth->replica,
                                          products_open(&berth->products, &berth->metal), &err);
    } while (berth->pipeline == NULL);
    arena_destroy(arena);
    pipeline_plan_twice(berth->pipeline);
    berth->conductor = conductor_create(berth->pipeline, berth->replica, &berth->metal);
    berth->is_turning = false;
    berth->is_up = true;
}

void metal_berth_kill(struct metal_berth *berth)
{
    struct race_tally *tally = berth->round->tally;
    int left = check_count_left(&berth->round->database.tables, berth->metal.instance);
    tally->kills++;
    tally->kills_between += left > 0;
    while (berth->sent != NULL) {
        round_note_answer(berth->round, &berth->sent->asked, -1);
        request_free(berth->sent);
    }
    tally->commits += pipeline_figures(berth->pipeline).commits;
    conductor_destroy(berth->conductor);
    pipeline_destroy(berth->pipeline);
    products_close(&berth->products);
    replica_destroy(berth->replica);
    store_close(berth->store);
    lives_end(berth->metal.instance);
    berth->is_up = false;
}

void metal_berth_ask(struct metal_berth *berth, const struct metal_asked *asked)
{
    struct metal_request *request = calloc(1, sizeof(*request));
    check(request != NULL);
    *request = (struct metal_request){
        .request = {.plan = asked->what == ASK_NEWS ? NULL : plan_request,
                    .done = answered,
                    .err = {.arena = arena_create()}},
        .asked = *asked,
        .berth = berth,
        .next = berth->sent,
    };
    berth->sent = request;
    round_note_sent(berth->round, asked);
    pipeline_submit(berth->pipeline, &request->request);
}

static void check_version(struct metal_berth *berth)
{
    const struct version *newest = replica_newest(berth->replica);
    const struct store *store = berth->store;
    const char *what = store->seen.is_valid ? compare_version(newest, &store->seen.tables) : NULL;
    if (what != NULL)
        sim_fail("the version differs in %s", what);
    if (rng_below(&berth->round->rng, 16) > 0)
        return;
    struct buf why = {0};
    if (!audit_version(newest, &why))
        sim_fail("%.*s", SLICE_ARG(buf_slice(&why)));
    buf_free(&why);
}

static void end_turn(struct metal_berth *berth)
{
    if (berth->is_turning)
        conductor_end_turn(berth->conductor, clock_wall_us());
    berth->is_turning = false;
}

bool metal_berth_run(struct metal_berth *berth)
{
    bool ran = pipeline_run_once(berth->pipeline);
    if (berth->store->is_dead) {
        metal_berth_kill(berth);
        return true;
    }
    end_turn(berth);
    check_version(berth);
    return ran;
}

unsigned metal_berth_turn(struct metal_berth *berth)
{
    if (berth->is_turning)
        return 0;
    berth->is_turning = true;
    unsigned count = conductor_begin_turn(berth->conductor, clock_wall_us());
    berth->round->tally->conducted += count;
    return count;
}

void metal_berth_follow(struct metal_berth *berth)
{
    const struct metal_asked news = {.what = ASK_NEWS};
    metal_berth_ask(berth, &news);
}
