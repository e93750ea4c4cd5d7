/* Drives one pipeline and checks it.
 *
 * What is asserted, by the architecture's numbers: 1. the newest version equals what its store has
 * last told it, row by row, and a version that is taken as current equals the database; 2. answers
 * come outside of transactions, after the commit, with the version published; a batch that failed
 * is refused whole; 3. a pinned version stays as it is; 8. see the store. And every decision is the
 * oracle's. One thread. */
#include "instance.h"

#include "baremetal/write/node_rule.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/hash.h"
#include "compare.h"
#include "lives.h"
#include "replica/audit.h"

struct sent {
    struct pipeline_request request; /* first: the pipeline knows this one */
    struct client_request asked;
    struct instance *instance;
    struct sent *next;
    bool is_expected; /* the oracle accepts it */
    bool is_again;    /* the plan runs for the second time */
    struct oracle before;
};

static void digest(struct tally *tally, uint64_t value)
{
    tally->digest = rng_mix(tally->digest * 31 + value);
}

static void compare(const struct instance *instance, const struct version *version,
                    const struct tables *tables, const char *when)
{
    const char *what = compare_version(version, tables);
    if (what != NULL)
        sim_fail("%s: the version differs in %s (commit %llu)", when, what,
                 (unsigned long long)instance->database->commit);
}

static void audit(const struct version *version, const char *when)
{
    struct buf why = {0};
    if (!audit_version(version, &why))
        sim_fail("%s: %.*s", when, SLICE_ARG(buf_slice(&why)));
    buf_free(&why);
}

static void sent_free(struct sent *sent)
{
    struct sent **at = &sent->instance->sent;
    while (*at != sent)
        at = &(*at)->next;
    *at = sent->next;
    arena_destroy(sent->request.err.arena);
    free(sent);
}

/* Every plan runs twice (pipeline_plan_twice): the oracle decides on the same state both times. */
static void decide(struct sent *sent)
{
    struct oracle *expected = &sent->instance->expected;
    if (sent->is_again)
        *expected = sent->before;
    else
        sent->before = *expected;
    sent->is_again = !sent->is_again;
    sent->is_expected = oracle_decide(expected, &sent->asked);
}

static bool plan_sent(struct pipeline_request *request, const struct plan *plan)
{
    struct sent *sent = (struct sent *)request;
    struct instance *instance = sent->instance;
    if (!instance->is_planning)
        oracle_read(&instance->expected, &instance->store->tables);
    instance->is_planning = true;
    if (rng_below(instance->rng, 8) == 0)
        compare(instance, plan->version, &instance->store->tables, "planning");
    if (replica_newest(instance->replica) == plan->version)
        sim_fail("a published version is planned on");
    bool is_metal = client_is_at_metal(&sent->asked);
    if (!is_metal)
        decide(sent);
    bool accepted = client_plan(&sent->asked, plan, &request->err);
    if (is_metal)
        sent->is_expected = accepted;
    else if (!accepted && sent->is_expected)
        sim_fail("operation %d is refused: %.*s", (int)sent->asked.op,
                 SLICE_ARG(request->err.message));
    return accepted;
}

/* The first answer of a batch: everything that it tells of must be there. */
static void check_published(struct instance *instance)
{
    if (instance->is_checked)
        return;
    instance->is_checked = true;
    struct store *store = instance->store;
    if (store->outcome != MEMORY_OUTCOME_DONE)
        return;
    compare(instance, replica_newest(instance->replica), &store->seen.tables, "answering");
    if (!instance->is_planning)
        return;
    struct oracle there;
    oracle_read(&there, &store->seen.tables);
    const char *what = oracle_differs(&there, &instance->expected);
    if (what != NULL)
        sim_fail("the database is not what the answers say: %s", what);
}

static void check_answer_of(struct instance *instance, const struct sent *sent)
{
    const struct err *err = &sent->request.err;
    struct store *store = instance->store;
    struct tally *tally = instance->tally;
    if (store->is_open)
        sim_fail("an answer inside a transaction");
    if (sent->asked.op == OP_WAIT) { /* answered from a snapshot of its own, before the batch */
        if (err->status != 0 && err->status != 503)
            sim_fail("a wait is answered %d", err->status);
        if (err->status == 0 && store->seen.is_valid)
            compare(instance, replica_newest(instance->replica), &store->seen.tables,
                    "after a wait");
        tally->accepted[OP_WAIT] += err->status == 0;
        tally->failed += err->status == 503;
        return;
    }
    check_published(instance);
    if (store->outcome == MEMORY_OUTCOME_FAILED || store->outcome == MEMORY_OUTCOME_UNKNOWN) {
        if (err->status != 503)
            sim_fail("operation %d of a batch that failed is answered %d", (int)sent->asked.op,
                     err->status);
        tally->failed++;
        return;
    }
    if (store->outcome != MEMORY_OUTCOME_DONE)
        sim_fail("an answer without a transaction");
    if (err_is_set(err) == sent->is_expected)
        sim_fail("operation %d is answered %d, and was decided otherwise", (int)sent->asked.op,
                 err->status);
    if (err_is_set(err) && (err->status < 400 || err->status > 409))
        sim_fail("operation %d is refused with %d", (int)sent->asked.op, err->status);
    tally->accepted[sent->asked.op] += sent->is_expected;
    digest(tally, hash_text(err->message));
}

static void answered(struct pipeline_request *request)
{
    struct sent *sent = (struct sent *)request;
    struct instance *instance = sent->instance;
    instance->tally->asked[sent->asked.op]++;
    if (instance->store->is_dead)
        instance->tally->unanswered++;
    else
        check_answer_of(instance, sent);
    digest(instance->tally, (uint64_t)sent->asked.op * 1000 + (uint64_t)request->err.status);
    sent_free(sent);
}

static void check_unpublished(void *cls)
{
    struct instance *instance = cls;
    const struct store *store = instance->store;
    /* what was followed in this transaction is not published before it ends */
    if (!store->has_followed)
        compare(instance, replica_newest(instance->replica), &store->seen.tables,
                "before the commit");
    else if (store->before.is_valid)
        compare(instance, replica_newest(instance->replica), &store->before.tables,
                "before the commit");
}

static struct sent *ask(struct instance *instance)
{
    struct sent *sent = calloc(1, sizeof(*sent));
    check(sent != NULL);
    sent->instance = instance;
    sent->next = instance->sent;
    instance->sent = sent;
    sent->request = (struct pipeline_request){
        .plan = plan_sent, .done = answered, .err = {.arena = arena_create()}};
    return sent;
}

static void submit(struct instance *instance, struct sent *sent)
{
    if (sent->asked.op == OP_WAIT) {
        sent->request.plan = NULL;
        sent->is_expected = true;
    }
    sent->request.author = client_is_at_metal(&sent->asked) ? &node_rule : NULL;
    pipeline_submit(instance->pipeline, &sent->request);
}

/* A reader that comes while the batch waits for the lock. */
static void ask_for_news(void *cls)
{
    struct instance *instance = cls;
    if (rng_below(instance->rng, 2) == 0)
        return;
    struct sent *sent = ask(instance);
    sent->asked.op = OP_WAIT;
    submit(instance, sent);
}

void instance_start(struct instance *instance)
{
    struct arena *arena = arena_create();
    instance->store = memory_store_open(instance->database);
    instance->store->before_commit = check_unpublished;
    instance->store->while_locked = ask_for_news;
    instance->store->cls = instance;
    instance->replica = replica_create();
    instance->metal = lives_metal(lives_begin(instance->host));
    instance->is_turning = false;
    do {
        struct err err = {.arena = arena};
        instance->pipeline =
            pipeline_create(instance->store, instance->replica,
                            products_open(&instance->products, &instance->metal), &err);
        if (instance->pipeline == NULL && err.status != 503)
            sim_fail("a start that fails with %d", err.status);
    } while (instance->pipeline == NULL);
    arena_destroy(arena);
    pipeline_plan_twice(instance->pipeline);
    instance->conductor = conductor_create(instance->pipeline, instance->replica, &instance->metal);
    for (int r = 0; r < READERS; r++) {
        instance->reader[r].pin = replica_reader_open(instance->replica);
        instance->reader[r].version = NULL;
    }
    compare(instance, replica_newest(instance->replica), &instance->store->seen.tables, "started");
}

void instance_kill(struct instance *instance)
{
    while (instance->sent != NULL) {
        instance->tally->unanswered++;
        sent_free(instance->sent);
    }
    for (int r = 0; r < READERS; r++) {
        if (instance->reader[r].version != NULL)
            replica_unpin(instance->reader[r].pin);
        replica_reader_close(instance->reader[r].pin);
    }
    struct pipeline_figures figures = pipeline_figures(instance->pipeline);
    instance->tally->batches += figures.batches;
    instance->tally->commits += figures.commits;
    instance->tally->follows += figures.follows;
    instance->tally->reloads += figures.reloads;
    conductor_destroy(instance->conductor);
    lives_end(instance->metal.instance);
    pipeline_destroy(instance->pipeline);
    products_close(&instance->products);
    replica_destroy(instance->replica);
    store_close(instance->store);
}

void instance_ask(struct instance *instance, const struct oracle *view)
{
    struct sent *sent = ask(instance);
    client_draw(&sent->asked, view, instance->rng);
    submit(instance, sent);
}

void instance_check(struct instance *instance)
{
    const struct version *newest = replica_newest(instance->replica);
    if (instance->store->seen.is_valid)
        compare(instance, newest, &instance->store->seen.tables, "between batches");
    if (pipeline_is_current(instance->pipeline, newest))
        compare(instance, newest, &instance->database->tables, "taken as current");
    if (rng_below(instance->rng, 4) == 0)
        audit(newest, "between batches");
}

void instance_conduct(struct instance *instance)
{
    if (instance->is_turning)
        return;
    instance->is_turning = true;
    instance->tally->conducted += conductor_begin_turn(instance->conductor, clock_wall_us());
}

/* Its requests are decided in one batch: there are no threads that could part them. */
static void end_turn(struct instance *instance)
{
    if (!instance->is_turning)
        return;
    conductor_end_turn(instance->conductor, clock_wall_us());
    instance->is_turning = false;
}

void instance_run(struct instance *instance)
{
    instance->is_planning = false;
    instance->is_checked = false;
    bool ran = pipeline_run_once(instance->pipeline);
    if (ran && instance->sent != NULL)
        sim_fail("a batch leaves requests without an answer");
    instance->tally->unknowns += ran && instance->store->outcome == MEMORY_OUTCOME_UNKNOWN;
    if (!instance->store->is_dead) {
        end_turn(instance);
        instance_check(instance);
        return;
    }
    instance->tally->deaths++;
    instance_kill(instance);
    instance_start(instance);
}

void instance_read(struct instance *instance)
{
    struct reader *reader = &instance->reader[rng_below(instance->rng, READERS)];
    if (reader->version != NULL) {
        compare(instance, reader->version, &reader->tables, "after a while");
        replica_unpin(reader->pin);
        reader->version = NULL;
    } else if (instance->store->seen.is_valid) {
        reader->version = replica_pin(reader->pin);
        tables_copy(&reader->tables, &instance->store->seen.tables);
    }
}

void instance_catch_up(struct instance *instance)
{
    struct sent *sent = ask(instance);
    sent->asked.op = OP_WAIT;
    submit(instance, sent);
    instance_run(instance);
    const struct version *newest = replica_newest(instance->replica);
    if (!pipeline_is_current(instance->pipeline, newest))
        sim_fail("after waiting, memory is not as new as the database");
    compare(instance, newest, &instance->database->tables, "in the end");
    audit(newest, "in the end");
}
