/* The world of Placement's clients, with some requests at the Bare Metal API and foreign writers
 * that follow no rules. Every decision is compared with the oracle's, every answer with the
 * database, and what a reader has pinned stays unchanged (the architecture's invariant 3). */
#include "baremetal/write/node_rule.h"
#include "clients.h"
#include "cloud.h"
#include "sim.h"

enum { BERTHS = 2, READERS = 2, SEED_STEPS = 250 };

struct reader {
    struct replica_reader *pin;
    const struct version *version; /* NULL: nothing pinned */
    struct tables tables;          /* what it must stay equal to */
};

/* The world's state for each berth. */
struct instance {
    struct reader reader[READERS];
    struct oracle expected; /* of this plan of the batch, after the decisions so far */
    uint64_t plan;          /* its number; 0: expected is not read */
    bool is_checked;        /* this batch's version is compared */
    bool is_ahead;          /* expected is that of the next batch, and below that of this one */
    struct oracle below;
    uint64_t plan_below; /* the number of this one's plan */
};

struct client_sent {
    struct sent sent; /* first */
    struct client_request input;
    bool is_expected; /* the oracle accepts it */
    bool is_again;    /* the plan runs for the second time */
    struct oracle before;
};

static struct instance instances[SIM_BERTHS_MAX];

static struct instance *instance_of(const struct berth *berth)
{
    return &instances[berth - berth->sim->berth];
}

/* ---- requests ---- */

/* Every plan runs twice (pipeline_plan_twice): the oracle decides on the same state both times. */
static void decide(struct client_sent *sent, struct oracle *expected)
{
    if (sent->is_again)
        *expected = sent->before;
    else
        sent->before = *expected;
    sent->is_again = !sent->is_again;
    sent->is_expected = oracle_decide(expected, &sent->input);
}

/* The next batch is planned on top of the pending one; perhaps not for the first time. */
static void plan_ahead(struct instance *instance, const struct store *store)
{
    uint64_t below = store->pending.plan;
    if (instance->is_ahead && instance->plan_below == below)
        instance->expected = instance->below;
    else if (instance->plan != below) /* it has no requests of clients */
        oracle_read(&instance->expected, &store->seen.tables);
    instance->below = instance->expected;
    instance->plan_below = below;
    instance->is_ahead = true;
}

static bool plan_sent(struct sent *sent, const struct plan *plan, struct err *err)
{
    struct client_sent *client = (struct client_sent *)sent;
    struct berth *berth = sent->berth;
    struct instance *instance = instance_of(berth);
    bool is_new = instance->plan != berth->store->plans;
    if (is_new && berth->store->pending.is_there) {
        plan_ahead(instance, berth->store);
    } else if (is_new) {
        instance->is_ahead = false;
        oracle_read(&instance->expected, &berth->store->seen.tables);
        berth_compare(berth, replica_newest(berth->replica), &berth->store->seen.tables,
                      "planning");
    }
    instance->plan = berth->store->plans;
    bool is_metal = client_is_at_metal(&client->input);
    if (!is_metal)
        decide(client, &instance->expected);
    bool accepted = client_plan(&client->input, plan, err);
    if (is_metal)
        client->is_expected = accepted;
    else if (!accepted && client->is_expected)
        sim_fail("operation %d is refused: %.*s", sent->kind, SLICE_ARG(err->message));
    return accepted;
}

/* The first answer of a batch: everything that it reports is in the database. */
static void check_published(struct berth *berth)
{
    struct instance *instance = instance_of(berth);
    if (instance->is_checked)
        return;
    instance->is_checked = true;
    const struct tables *seen = &berth->store->seen.tables;
    if (berth->store->outcome != MEMORY_OUTCOME_DONE)
        return;
    berth_compare(berth, replica_newest(berth->replica), seen, "answering");
    if (instance->plan == 0)
        return;
    struct oracle there;
    oracle_read(&there, seen);
    const char *what =
        oracle_differs(&there, instance->is_ahead ? &instance->below : &instance->expected);
    if (what != NULL)
        sim_fail("the database is not what the answers say: %s", what);
}

static void answered(struct sent *sent, int status)
{
    if (status == SIM_UNANSWERED || sent->kind == OP_WAIT)
        return;
    check_published(sent->berth);
    enum memory_outcome outcome = sent->berth->store->outcome;
    if (outcome == MEMORY_OUTCOME_NONE || outcome == MEMORY_OUTCOME_OPEN)
        sim_fail("an answer without a transaction");
    if (outcome != MEMORY_OUTCOME_DONE)
        return;
    if ((status != 0) == ((struct client_sent *)sent)->is_expected || status == 503)
        sim_fail("operation %d is answered %d, but was decided differently", sent->kind, status);
}

/* A client sends a request that it draws from what `view` shows. */
static void send_request(struct berth *berth, const struct oracle *view)
{
    struct client_request input;
    client_draw(&input, view, &berth->sim->rng);
    struct client_sent *client = berth_ask(berth, sizeof(*client), (int)input.op);
    client->input = input;
    client->sent.request.author = client_is_at_metal(&input) ? &node_rule : NULL;
    berth_submit(&client->sent);
}

/* A reader arrives while the batch waits for the lock. */
static void ask_for_news(struct berth *berth)
{
    if (rng_below(&berth->sim->rng, 2) != 0)
        berth_ask_news(berth);
}

/* The next batch is planned meanwhile. */
static void send_meanwhile(struct berth *berth)
{
    static struct oracle view;
    if (rng_below(&berth->sim->rng, 3) != 0)
        return;
    oracle_read(&view, &berth->sim->database.tables);
    send_request(berth, &view);
}

/* ---- berths ---- */

static void open_readers(struct berth *berth)
{
    struct instance *instance = instance_of(berth);
    for (int r = 0; r < READERS; r++) {
        instance->reader[r].pin = replica_reader_open(berth->replica);
        instance->reader[r].version = NULL;
    }
}

static void close_readers(struct berth *berth)
{
    struct instance *instance = instance_of(berth);
    for (int r = 0; r < READERS; r++) {
        if (instance->reader[r].version != NULL)
            replica_unpin(instance->reader[r].pin);
        replica_reader_close(instance->reader[r].pin);
    }
}

static void before_batch(struct berth *berth)
{
    struct instance *instance = instance_of(berth);
    if (!instance->is_ahead)
        instance->plan = 0;
    instance->is_ahead = false;
    instance->is_checked = false;
}

/* A reader pins the newest version, or releases one, which must be unchanged. */
static void read_or_release(struct berth *berth)
{
    struct reader *reader = &instance_of(berth)->reader[rng_below(&berth->sim->rng, READERS)];
    if (reader->version != NULL) {
        berth_compare(berth, reader->version, &reader->tables, "after a while");
        replica_unpin(reader->pin);
        reader->version = NULL;
    } else if (berth->store->seen.is_valid) {
        reader->version = replica_pin(reader->pin);
        tables_copy(&reader->tables, &berth->store->seen.tables);
    }
}

/* A process that dies in its batch is replaced by another at once. */
static void run(struct berth *berth)
{
    berth_run(berth);
    if (!berth->is_up)
        berth_start(berth);
}

/* ---- the world ---- */

static void foreign_write(struct sim *sim)
{
    cloud_foreign_write(&sim->database);
}

static void set_up(struct sim *sim)
{
    struct rng *rng = &sim->rng;
    sim->steps_back = rng_below(rng, 4) == 0;
    sim_draw_faults(sim, 0);
    cloud_fill(&sim->database);
    sim->berth_count = 1 + rng_below(rng, BERTHS);
    for (int b = 0; b < sim->berth_count; b++) {
        sim->berth[b].host = rng_below(rng, 2);
        berth_start(&sim->berth[b]);
    }
}

static void make_step(struct sim *sim, struct berth *berth)
{
    static struct oracle view;
    struct rng *rng = &sim->rng;
    int draw = rng_below(rng, 100);
    if (draw < 45) {
        oracle_read(&view, &sim->database.tables);
        for (int left = 1 + rng_below(rng, 5); left > 0; left--)
            send_request(berth, &view);
    } else if (draw < 78) {
        run(berth);
    } else if (draw < 85) {
        berth_conduct(berth);
        run(berth);
    } else if (draw < 87) {
        sim->now_us += rng_below(rng, 40) == 0 ? 100000000 : 1500000;
    } else if (draw < 97) {
        read_or_release(berth);
    } else if (draw < 98) {
        berth_kill(berth);
        berth_start(berth);
    } else if (rng_permille(rng, 2 * sim->database.faults.permille[MEMORY_FOREIGN_WRITE])) {
        foreign_write(sim);
    }
}

static bool step(struct sim *sim)
{
    make_step(sim, &sim->berth[rng_below(&sim->rng, sim->berth_count)]);
    if (sim->berth_count > 1 && rng_below(&sim->rng, 8) == 0)
        for (int b = 0; b < sim->berth_count; b++)
            berth_check(&sim->berth[b]);
    return true;
}

static bool report(const struct sim *sim)
{
    const struct sim_tally *tally = &sim->tally;
    uint64_t sent = 0;
    uint64_t accepted = 0;
    bool enough = tally->follows > 100 && tally->unknowns > 40 && tally->deaths > 40 &&
                  tally->conducted > 400;
    for (int op = 0; op < OP_COUNT; op++) {
        sent += tally->sent[op];
        accepted += tally->accepted[op];
        enough &= tally->accepted[op] * 20 >= tally->sent[op];
    }
    return enough && accepted * 10 >= (sent - tally->failed - tally->unanswered) * 4;
}

static const char *const kinds[OP_COUNT] = {
    [OP_ALLOCATIONS_PUT] = "put allocations",
    [OP_ALLOCATIONS_POST] = "post allocations",
    [OP_ALLOCATIONS_DELETE] = "delete allocations",
    [OP_RESHAPE] = "reshape",
    [OP_INVENTORY_CREATE] = "create an inventory",
    [OP_INVENTORY_UPDATE] = "update an inventory",
    [OP_INVENTORIES_SET] = "set inventories",
    [OP_INVENTORY_DELETE] = "delete an inventory",
    [OP_INVENTORIES_DELETE] = "delete inventories",
    [OP_TRAITS_SET] = "set traits",
    [OP_AGGREGATES_SET] = "set aggregates",
    [OP_PROVIDER_CREATE] = "create a provider",
    [OP_PROVIDER_UPDATE] = "update a provider",
    [OP_PROVIDER_DELETE] = "delete a provider",
    [OP_CLASS_CREATE] = "create a class",
    [OP_CLASS_ENSURE] = "ensure a class",
    [OP_CLASS_RENAME] = "rename a class",
    [OP_CLASS_DELETE] = "delete a class",
    [OP_TRAIT_PUT] = "put a trait",
    [OP_TRAIT_DELETE] = "delete a trait",
    [OP_NODE_CREATE] = "create a node",
    [OP_NODE_DELETE] = "delete a node",
    [OP_NODE_VERB] = "change a node's provision state",
    [OP_NODE_POWER] = "change a node's power state",
    [OP_NODE_MAINTENANCE] = "maintenance",
    [OP_NODE_CHANGE] = "change a node",
    [OP_NODE_ALLOCATE] = "allocate a node",
    [OP_NODE_RELEASE] = "release a node",
    [OP_WAIT] = "wait for news",
};

const struct world world_placement = {
    .name = "placement",
    .kinds = kinds,
    .kind_count = OP_COUNT,
    .news_kind = OP_WAIT,
    .steps = SEED_STEPS,
    .salt = 1,
    .clock_spread_us = 1000,
    .audit_every = 4,
    .has_metal = true,
    .fault_levels = {0, 0, 10, 60, 200},
    .faults = {{MEMORY_BEGIN_READ_FAILS, 5},
               {MEMORY_LOCK_HELD, 5},
               {MEMORY_READ_FAILS, 5},
               {MEMORY_APPLY_FAILS, 4},
               {MEMORY_COMMIT_FAILS, 5},
               {MEMORY_COMMIT_UNKNOWN, 5},
               {MEMORY_COMMIT_RESOLVED, 5},
               {MEMORY_DIES, 4},
               {MEMORY_FOREIGN_WRITE, 5},
               {MEMORY_LOG_TRIMMED, 5},
               {MEMORY_MERGE_GIVEN_UP, 5},
               {MEMORY_IDS_REUSED, 2},
               {MEMORY_COMMIT_PENDING, 5}},
    .seeds_to_check_by = 150,
    .set_up = set_up,
    .step = step,
    .plan = plan_sent,
    .answered = answered,
    .foreign_write = foreign_write,
    .started = open_readers,
    .ending = close_readers,
    .before_batch = before_batch,
    .while_locked = ask_for_news,
    .while_pending = send_meanwhile,
    .report = report,
};
