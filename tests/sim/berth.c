/* Drives one pipeline and checks it.
 *
 * Of the architecture's invariants it asserts: 1. the newest version equals what its store has last
 * sent, row by row, a version that is taken as current equals the database, and one that a read has
 * waited for equals a state of the database while the read waited; 2. answers come
 * outside of transactions, after the commit, with the version published, and a batch that failed is
 * refused whole. One thread. */
#include "berth.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/hash.h"
#include "compare.h"
#include "lives.h"
#include "replica/audit.h"
#include "sim.h"

void berth_compare(const struct berth *berth, const struct version *version,
                   const struct tables *tables, const char *when)
{
    const char *what = compare_version(version, tables);
    if (what != NULL)
        sim_fail("%s: the version differs in %s (commit %llu)", when, what,
                 (unsigned long long)berth->sim->database.commit);
}

static void audit(const struct berth *berth)
{
    struct buf why = {0};
    if (!audit_version(replica_newest(berth->replica), &why))
        sim_fail("%.*s", SLICE_ARG(buf_slice(&why)));
    buf_free(&why);
}

static void compare_newest(const struct berth *berth, const char *when)
{
    if (berth->store->seen.is_valid)
        berth_compare(berth, replica_newest(berth->replica), &berth->store->seen.tables, when);
}

/* memory_store.before_commit: what is being committed is not published before the commit ends. */
static void check_unpublished(void *cls)
{
    compare_newest(cls, "before the commit");
}

static void while_locked(void *cls)
{
    struct berth *berth = cls;
    if (berth->sim->world->while_locked != NULL)
        berth->sim->world->while_locked(berth);
}

/* One query moves on: it reaches the database, or its answer arrives, in any order. */
static void move_query(struct berth *berth)
{
    unsigned query = (unsigned)rng_below(&berth->sim->rng, MEMORY_QUERIES);
    if (rng_below(&berth->sim->rng, 2) == 0)
        memory_store_run_query(berth->store, query);
    else
        memory_store_answer(berth->store, query);
}

/* What other threads do: readers arrive, and answers to queries. Without faults, all arrive. */
static void meanwhile(void *cls)
{
    struct berth *berth = cls;
    struct sim *sim = berth->sim;
    if (berth->store->is_dead || !berth->is_up)
        return;
    if (sim->world->while_pending != NULL && berth->store->pending.is_there && !sim->database.quiet)
        sim->world->while_pending(berth);
    if (!sim->database.must_be_asked)
        return;
    if (sim->database.quiet)
        while (memory_store_answer(berth->store, 0) || memory_store_answer(berth->store, 1))
            ;
    else if (rng_below(&sim->rng, 3) > 0)
        move_query(berth);
    else if (rng_below(&sim->rng, 4) == 0)
        berth_ask_news(berth);
}

void berth_start(struct berth *berth)
{
    struct sim *sim = berth->sim;
    struct arena *arena = arena_create();
    berth->store = memory_store_open(&sim->database);
    berth->store->before_commit = check_unpublished;
    berth->store->while_locked = while_locked;
    berth->store->meanwhile = meanwhile;
    berth->store->cls = berth;
    berth->replica = replica_create();
    berth->is_in_pass = false;
    if (sim->world->has_metal)
        berth->metal = lives_metal(lives_begin(berth->host));
    const struct metal *metal = sim->world->has_metal ? &berth->metal : NULL;
    do {
        struct err err = {.arena = arena};
        berth->pipeline = pipeline_create(berth->store, berth->replica,
                                          products_open(&berth->products, metal), &err);
        if (berth->pipeline == NULL && err.status != 503)
            sim_fail("a start fails with %d", err.status);
    } while (berth->pipeline == NULL);
    arena_destroy(arena);
    pipeline_plan_twice(berth->pipeline);
    berth->conductor =
        metal == NULL ? NULL : conductor_create(berth->pipeline, berth->replica, metal);
    berth->is_up = true;
    if (sim->world->started != NULL)
        sim->world->started(berth);
    compare_newest(berth, "started");
}

/* ---- requests ---- */

static bool plan_sent(struct pipeline_request *request, const struct plan *plan)
{
    struct sent *sent = (struct sent *)request;
    if (replica_newest(sent->berth->replica) == plan->version)
        sim_fail("a published version is planned on");
    bool accepted = sent->berth->sim->world->plan(sent, plan, &request->err);
    if (!accepted && plan->changes->count > 0)
        sim_fail("request %d is refused and changes something", sent->kind);
    return accepted;
}

/* The version that a read would use is a state of the database after it was sent. Only the newest
 * states are known. */
static void check_strict(const struct sent *sent)
{
    struct sim *sim = sent->berth->sim;
    const struct version *version = replica_newest(sent->berth->replica);
    const char *what = NULL;
    uint64_t newest = sim->database.commit;
    for (uint64_t n = newest; n >= sent->since && n + SIM_HISTORY > newest; n--) {
        what = compare_version(version, &sim->history[n % SIM_HISTORY]);
        sim->tally.reads += what == NULL;
        if (what == NULL || n == 0)
            break;
    }
    if (what != NULL && sent->since + SIM_HISTORY > newest)
        sim_fail("a read gets a version that differs in %s from all states since commit %llu", what,
                 (unsigned long long)sent->since);
}

static void check_answer(const struct sent *sent, int status)
{
    const struct store *store = sent->berth->store;
    bool is_read = sent->request.plan == NULL;
    if ((store->is_reading || store->is_locked) &&
        !(is_read && sent->berth->sim->database.must_be_asked))
        sim_fail("an answer inside a read, or with the lock");
    if (is_read && status == 0)
        check_strict(sent);
    if (status != 0 && status != 503 && (status < 400 || status > 409))
        sim_fail("request %d is answered %d", sent->kind, status);
    if (sent->request.plan != NULL && status != 503 && store->outcome != MEMORY_OUTCOME_DONE)
        sim_fail("request %d of a batch that failed is answered %d", sent->kind, status);
}

static void sent_free(struct sent *sent)
{
    struct sent **at = &sent->berth->sent;
    while (*at != sent)
        at = &(*at)->next;
    *at = sent->next;
    arena_destroy(sent->request.err.arena);
    free(sent);
}

/* The client gets this answer, or none. */
static void finish(struct sent *sent, int status)
{
    struct sim *sim = sent->berth->sim;
    sim->tally.unanswered += status == SIM_UNANSWERED;
    sim->tally.failed += status == 503;
    sim->tally.accepted[sent->kind] += status == 0;
    if (sim->world->answered != NULL)
        sim->world->answered(sent, status);
    sim_digest(sim, (uint64_t)sent->kind * 1000 + (uint64_t)status);
    sim_digest(sim, hash_text(sent->request.err.message));
    sent_free(sent);
}

static void answered(struct pipeline_request *request)
{
    struct sent *sent = (struct sent *)request;
    int status = request->err.status;
    if (!sent->berth->store->is_dead)
        check_answer(sent, status);
    finish(sent, sent->berth->store->is_dead ? SIM_UNANSWERED : status);
}

void *berth_ask(struct berth *berth, size_t bytes, int kind)
{
    struct sent *sent = calloc(1, bytes);
    check(sent != NULL);
    *sent = (struct sent){
        .request = {.plan = kind == berth->sim->world->news_kind ? NULL : plan_sent,
                    .done = answered,
                    .err = {.arena = arena_create()}},
        .berth = berth,
        .next = berth->sent,
        .kind = kind,
    };
    berth->sent = sent;
    return sent;
}

void berth_submit(struct sent *sent)
{
    sent->berth->sim->tally.sent[sent->kind]++;
    sent->since = sent->berth->sim->database.commit;
    sent->is_meanwhile = sent->berth->store->pending.is_there;
    if (sent->request.plan == NULL)
        pipeline_await_current(sent->berth->pipeline, &sent->request);
    else
        pipeline_submit(sent->berth->pipeline, &sent->request);
}

void berth_ask_news(struct berth *berth)
{
    berth_submit(berth_ask(berth, sizeof(struct sent), berth->sim->world->news_kind));
}

/* ---- batches ---- */

void berth_check(struct berth *berth)
{
    const struct version *newest = replica_newest(berth->replica);
    compare_newest(berth, "between batches");
    if (pipeline_is_current(berth->pipeline, newest))
        berth_compare(berth, newest, &berth->sim->database.tables, "taken as current");
    if (rng_below(&berth->sim->rng, berth->sim->world->audit_every) == 0)
        audit(berth);
}

static struct conductor_time pass_time(void)
{
    int64_t now_us = clock_wall_us();
    return (struct conductor_time){now_us, (uint64_t)now_us};
}

unsigned berth_conduct(struct berth *berth)
{
    if (berth->is_in_pass)
        return 0;
    berth->is_in_pass = true;
    unsigned count = conductor_begin_pass(berth->conductor, pass_time());
    berth->sim->tally.conducted += count;
    return count;
}

/* Its requests are decided in one batch: there are no threads that could separate them. */
static void end_pass(struct berth *berth)
{
    if (berth->is_in_pass)
        conductor_end_pass(berth->conductor, pass_time());
    berth->is_in_pass = false;
}

/* Reads may wait for the answer to a query, and what has come during the batch for the next one. */
static bool has_unanswered(const struct berth *berth)
{
    for (const struct sent *sent = berth->sent; sent != NULL; sent = sent->next)
        if (!sent->is_meanwhile &&
            (sent->request.plan != NULL || !berth->sim->database.must_be_asked))
            return true;
    return false;
}

bool berth_run(struct berth *berth)
{
    struct sim *sim = berth->sim;
    if (sim->world->before_batch != NULL)
        sim->world->before_batch(berth);
    meanwhile(berth);
    bool ran = pipeline_run_once(berth->pipeline);
    /* a batch that was planned ahead comes first */
    if (ran && !berth->store->is_dead && has_unanswered(berth))
        pipeline_run_once(berth->pipeline);
    if (ran && has_unanswered(berth))
        sim_fail("a batch leaves requests without an answer");
    sim->tally.unknowns += ran && berth->store->outcome == MEMORY_OUTCOME_UNKNOWN;
    if (berth->store->is_dead) {
        berth_kill(berth);
        return true;
    }
    end_pass(berth);
    berth_check(berth);
    return ran;
}

void berth_catch_up(struct berth *berth)
{
    while (berth_run(berth))
        continue;
    berth_ask_news(berth);
    berth_run(berth);
    const struct version *newest = replica_newest(berth->replica);
    if (pipeline_currency(berth->pipeline, newest) == STORE_IS_OUTDATED || berth->sent != NULL)
        sim_fail("after waiting, memory is not as new as the database");
    berth_compare(berth, newest, &berth->sim->database.tables, "in the end");
    audit(berth);
}

static void add_figures(struct sim_tally *tally, const struct berth *berth)
{
    struct pipeline_figures figures = pipeline_figures(berth->pipeline);
    tally->batches += figures.batches;
    tally->commits += figures.commits;
    tally->taken += figures.taken;
    tally->follows += figures.follows;
    tally->reloads += figures.reloads;
    tally->queries += figures.currency.queries;
    tally->waited += figures.currency.waited;
    tally->deaths += berth->store->is_dead;
    tally->kills += !berth->store->is_dead;
}

void berth_kill(struct berth *berth)
{
    struct sim *sim = berth->sim;
    if (sim->world->ending != NULL)
        sim->world->ending(berth);
    while (berth->sent != NULL)
        finish(berth->sent, SIM_UNANSWERED);
    add_figures(&sim->tally, berth);
    if (berth->conductor != NULL)
        conductor_destroy(berth->conductor);
    pipeline_destroy(berth->pipeline);
    products_close(&berth->products);
    replica_destroy(berth->replica);
    store_close(berth->store);
    if (sim->world->has_metal)
        lives_end(berth->metal.instance);
    berth->is_up = false;
}
