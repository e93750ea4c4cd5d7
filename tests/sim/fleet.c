/* Runs seeds of the fleet: see fleet.h. One thread. */
#include "fleet.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "log/log.h"
#include "log/settings.h"
#include "shrink.h"
#include "sim.h"

struct fleet fleet;

enum { STEPS = 3000, STEPS_TO_REST = 200000, READS_MOST = 50, CUSTOM_CLASS = 10000 };
enum { IN_A_ROW = 4 }; /* about so many statements of a text are executed before anything else is */

/* The pause after a look for what other programs have written is fifty times as long as the look. A
 * connection may swallow one for five seconds; one that fails is made again after five more. */
enum { PAUSE_US = 1800000000, CONNECTED_AGAIN_US = 15000000, NOTICED_US = 13000000 };

/* ---- failures ---- */

/* Of the seed that runs. */
static struct seed_options options_of_seed(void)
{
    return (struct seed_options){.usage = fleet_database.usage,
                                 .fault_names = FLEET_FAULT_NAMES,
                                 .fault_count = fleet_database.fault_count,
                                 .first = fleet.seed,
                                 .steps = fleet.steps,
                                 .without = fleet.without};
}

static void print_seed(void)
{
    if (fleet.failed_at != NULL)
        *fleet.failed_at = fleet.step;
    const struct seed_options options = options_of_seed();
    const char *program = fleet_database.program;
    fprintf(stderr, "%s: seed %" PRIu64 " failed at step %d; again: %s", program, fleet.seed,
            fleet.step, program);
    seed_options_print(&options);
}

void sim_fail(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "%s: ", fleet_database.program);
    vfprintf(stderr, format, args);
    fprintf(stderr, "\n");
    va_end(args);
    print_seed();
    _exit(1);
}

static void on_abort(int signal_number)
{
    (void)signal_number;
    print_seed();
}

/* The linker replaces getrandom, which draws the key of the hashes, with this. */
ssize_t __wrap_getrandom(void *buf, size_t len, unsigned flags);
ssize_t __wrap_getrandom(void *buf, size_t len, unsigned flags)
{
    (void)flags;
    memset(buf, 7, len);
    return (ssize_t)len;
}

void fleet_digest(uint64_t value)
{
    fleet.digest = rng_mix(fleet.digest * 31 + value);
}

/* ---- one seed ---- */

static void fill_provider(struct tables *tables, int p)
{
    int64_t parent = p % 4 == 0 ? 0 : p - p % 4 + 1;
    sim_execute(tables, &(struct change){.kind = CHANGE_PROVIDER_INSERT,
                                         .created_at_us = 1,
                                         .provider = {p + 1, parent, parent == 0 ? p + 1 : parent,
                                                      0, universe_provider(p), universe_name(p)}});
    for (int c = 0; c < STANDARD_CLASSES; c++)
        sim_execute(tables, &(struct change){.kind = CHANGE_INVENTORY_INSERT,
                                             .created_at_us = 1,
                                             .inventory = {p + 1, c, 12 + p, 0, 1, 8, 1, 1.5}});
}

/* So that claims insert none: the log contains the changes of those that do not. */
static void fill_owners(struct tables *tables)
{
    for (int o = 0; o < OWNERS; o++) {
        const struct change owners[] = {
            {.kind = CHANGE_PROJECT_INSERT, .catalog = {o + 1, universe_project(o)}},
            {.kind = CHANGE_USER_INSERT, .catalog = {o + 1, universe_user(o)}},
            {.kind = CHANGE_CONSUMER_TYPE_INSERT, .catalog = {o + 1, universe_type(o)}},
        };
        for (size_t i = 0; i < sizeof(owners) / sizeof(owners[0]); i++)
            sim_execute(tables, &owners[i]);
    }
}

/* Some rows for clients to begin with. */
static void fill(void)
{
    struct state *draft = states_draft(&server.states);
    struct tables *tables = &draft->tables;
    for (int c = 0; c < CLASSES; c++)
        sim_execute(tables,
                    &(struct change){.kind = CHANGE_CLASS_INSERT,
                                     .catalog = {c < STANDARD_CLASSES ? c : CUSTOM_CLASS + c,
                                                 universe_class(c)}});
    for (int t = 0; t < STANDARD_TRAITS; t++)
        sim_execute(tables, &(struct change){.kind = CHANGE_TRAIT_INSERT,
                                             .catalog = {t + 1, universe_trait(t)}});
    for (int p = 0; p < PROVIDERS / 2; p++)
        fill_provider(tables, p);
    if (fleet.in_turns)
        fill_owners(tables);
    for (int t = 0; t < ROWS_RECORDS; t++)
        server.states.sequences[t] = tables_highest_id(tables, (enum table)t);
    server.states.clock = tables->clock;
    states_append(&server.states, draft, (struct written){0});
    for (int n = 0; n < SERVER_NODES; n++)
        server.applied[n] = server.states.newest;
}

static int draw(const int (*choices)[4])
{
    return (*choices)[rng_below(&fleet.rng, 4)];
}

static void begin_seed(uint64_t seed)
{
    fleet.seed = seed;
    fleet.digest = seed;
    fleet.step = 0;
    fleet.is_quiet = fleet.has_foreign = false;
    fleet.foreign_clock_us = 0;
    fleet.foreign_lost = (struct foreign_highest){0};
    memset(fleet.remembered, 0, sizeof(fleet.remembered));
    fleet.asked = NULL;
    fleet.batches = NULL;
    fleet.lost = NULL;
    fleet.favourite = fleet.turn = 0;
    fleet.rng = (struct rng){rng_mix(seed + 4)};
    process_begin_world(seed);
    fake_server_begin(&fleet.rng, fleet_database.draw_nodes());
    server.hooks.on_commit = check_commit;
    server.hooks.on_told = check_told;
    fleet.in_turns = rng_below(&fleet.rng, 4) == 0;
    fill();
    faults_draw();
    fleet_database.begin();
    fleet.has_metal = rng_below(&fleet.rng, 3) == 0;
    fleet.at_workers = draw(&(const int[4]){0, 2, 6, 8});
    fleet.reads = draw(&(const int[4]){1, 10, 40, 60});
    fleet.loyalty = draw(&(const int[4]){2, 5, 20, 60});
    fleet_database.draw_load();
    int least = fleet.in_turns ? 2 : fleet_database.instances_least;
    fleet.count = least + rng_below(&fleet.rng, FLEET_INSTANCES + 1 - least);
    for (int i = 0; i < fleet.count; i++) {
        fleet.instances[i] = (struct instance){.process.number = i};
        instance_start(&fleet.instances[i]);
    }
}

static void end_seed(void)
{
    for (int i = 0; i < fleet.count; i++)
        instance_kill(&fleet.instances[i]);
    while (fleet.asked != NULL) {
        struct asked *gone = fleet.asked;
        fleet.asked = gone->next;
        free(gone);
    }
    while (fleet.batches != NULL) {
        struct named_batch *gone = fleet.batches;
        fleet.batches = gone->next;
        free(gone);
    }
    epochs_forget();
    fake_server_end();
}

/* ---- steps ---- */

static bool run_instance(void)
{
    int first = rng_below(&fleet.rng, fleet.count);
    for (int i = 0; i < fleet.count; i++) {
        struct instance *instance = &fleet.instances[(first + i) % fleet.count];
        if (!process_can_run(&instance->process))
            continue;
        process_run(&instance->process, rng_next(&fleet.rng));
        check_version(instance);
        return true;
    }
    return false;
}

static bool run_session(void)
{
    if (server.session_count == 0)
        return false;
    int first = rng_below(&fleet.rng, server.session_count);
    for (int i = 0; i < server.session_count; i++) {
        struct session *session = &server.sessions[(first + i) % server.session_count];
        if (!fake_server_session_can_run(session))
            continue;
        do
            fake_server_session_run(session);
        while (session->maria.is_in_text && session->transaction.key_count == 0 &&
               rng_below(&fleet.rng, IN_A_ROW) > 0 && fake_server_session_can_run(session));
        return true;
    }
    return false;
}

static bool apply_commit(void)
{
    int first = rng_below(&fleet.rng, server.node_count);
    for (int i = 0; i < server.node_count; i++)
        if (fake_server_apply((first + i) % server.node_count))
            return true;
    return false;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Until something can go on. False: nothing waits for a time. */
static bool pass_idle_time(void)
{
    uint64_t next_us = UINT64_MAX;
    for (int i = 0; i < fleet.count; i++)
        next_us = earlier(next_us, process_next_us(&fleet.instances[i].process));
    for (int s = 0; s < server.session_count; s++)
        next_us = earlier(next_us, fake_server_session_next_us(&server.sessions[s]));
    if (next_us == UINT64_MAX)
        return false;
    if (next_us > process_now_us())
        process_pass_us(next_us - process_now_us());
    return true;
}

/* For a while, most clients are those of one instance: others learn of nothing then. */
static struct instance *some_instance(void)
{
    if (rng_below(&fleet.rng, fleet.loyalty) == 0)
        fleet.favourite = rng_below(&fleet.rng, fleet.count);
    bool is_any = rng_below(&fleet.rng, 8) == 0;
    return &fleet.instances[is_any ? rng_below(&fleet.rng, fleet.count) : fleet.favourite];
}

static void ask_some(void)
{
    struct instance *instance = some_instance();
    if (!instance->is_up)
        return;
    bool is_read = rng_below(&fleet.rng, 100) < fleet.reads;
    /* workers send batches of one request, while no other one waits */
    int most = fleet.at_workers == 8 ? 1 : 3;
    for (int left = 1 + rng_below(&fleet.rng, most); left > 0; left--)
        instance_ask(instance, is_read);
}

/* Whatever can go on, drawn by chance. False: nothing can. */
static bool go_on(void)
{
    if (server.node_count > 1 && rng_below(&fleet.rng, 4 * fleet.lag) == 0 && apply_commit())
        return true;
    if (rng_below(&fleet.rng, 2) == 0)
        return run_instance() || run_session() || apply_commit();
    return run_session() || run_instance() || apply_commit();
}

static void make_step(void)
{
    int draw = rng_below(&fleet.rng, 100);
    process_pass_us((uint64_t)rng_below(&fleet.rng, 300));
    if (fleet_database.watch != NULL)
        fleet_database.watch();
    if (fleet.in_turns && draw >= 50 && turns_is_answered())
        turns_ask();
    else if (!fleet.in_turns && draw < 8)
        ask_some();
    else if (!fleet.in_turns && draw < 10)
        process_pass_us((uint64_t)1 << rng_below(&fleet.rng, draw == 8 ? 16 : 23));
    else if (draw >= 10 && draw < 13)
        faults_strike();
    else if (!go_on() && rng_below(&fleet.rng, 2) == 0)
        (void)pass_idle_time();
}

/* ---- the end ---- */

/* Sessions without a client may still commit what it has sent. */
static bool is_at_rest(void)
{
    for (int i = 0; i < fleet.count; i++)
        if (!instance_is_idle(&fleet.instances[i]))
            return false;
    for (int s = 0; s < server.session_count; s++)
        if (server.sessions[s].is_used && server.sessions[s].conn == NULL)
            return false;
    return true;
}

/* Without faults, every request is answered. */
static void come_to_rest(void)
{
    int steps = 0;
    while (!is_at_rest()) {
        if (++steps > STEPS_TO_REST)
            sim_fail("requests are not answered, although nothing goes wrong any more");
        process_pass_us((uint64_t)rng_below(&fleet.rng, 300));
        if (!go_on() && !pass_idle_time())
            sim_fail("requests are not answered, and nothing is waited for");
    }
}

/* So that an epoch that is due is begun, or one that is not. */
static void write_once_more(struct instance *instance)
{
    enum { WRITES_MOST = 4 };
    for (int writes = 0; writes < WRITES_MOST; writes++) {
        instance_ask(instance, false);
        const struct asked *asked = fleet.asked;
        come_to_rest();
        if (asked->answer == ANSWER_OK && asked->changes)
            return;
    }
}

static void read_newest(struct instance *instance)
{
    for (int reads = 0; reads < READS_MOST; reads++) {
        instance_ask(instance, true);
        const struct asked *asked = fleet.asked;
        come_to_rest();
        if (asked->answer == ANSWER_OK)
            return;
    }
    sim_fail("reads fail, although nothing goes wrong any more");
}

static void run_for(uint64_t us)
{
    uint64_t until_us = process_now_us() + us;
    while (process_now_us() < until_us) {
        process_pass_us((uint64_t)rng_below(&fleet.rng, 300));
        if (!go_on() && !pass_idle_time())
            process_pass_us(until_us - process_now_us());
    }
}

/* When connections work again, another program writes once more: every instance notices that within
 * the promised time. */
static void end_foreign(void)
{
    if (fleet.permille[FLEET_FOREIGN] == 0)
        return;
    run_for(CONNECTED_AGAIN_US);
    while (go_on())
        process_pass_us((uint64_t)rng_below(&fleet.rng, 300)); /* no look is under way then */
    process_pass_us(PAUSE_US);
    run_for(NOTICED_US);
    foreign_write();
    run_for(NOTICED_US);
}

static void run_seed(uint64_t seed)
{
    begin_seed(seed);
    for (; fleet.step < fleet.steps; fleet.step++)
        make_step();
    faults_end();
    for (int i = 0; i < fleet.count; i++)
        instance_end_scrubs(&fleet.instances[i]);
    come_to_rest();
    for (int i = 0; i < fleet.count; i++)
        write_once_more(&fleet.instances[i]);
    end_foreign();
    for (int i = 0; i < fleet.count; i++)
        read_newest(&fleet.instances[i]);
    check_end();
    end_seed();
}

/* Outages are logged, but nowhere. */
static void open_log(void)
{
    log_start(open("/dev/null", O_WRONLY), false);
}

static void run_shrunk(const struct seed_options *options, int *failed_at)
{
    open_log();
    fleet.without = options->without;
    fleet.steps = options->steps;
    fleet.failed_at = failed_at;
    run_seed(options->first);
}

/* ---- the program ---- */

/* The minima are so low that any so many seeds reach them. */
enum { SEEDS_TO_CHECK_BY = 200 };

/* Prints them. False: so little has happened that it proves nothing. */
static bool report_events(const struct fleet_event *events, size_t count, uint64_t seeds)
{
    bool enough = true;
    for (size_t i = 0; i < count; i++) {
        printf("%10" PRIu64 " %s\n", events[i].count, events[i].name);
        enough &= events[i].count * 100 >= events[i].least * seeds;
    }
    return enough || fleet.without != 0 || seeds < SEEDS_TO_CHECK_BY;
}

static bool report(uint64_t seeds)
{
    const struct fleet_tally *tally = &fleet.tally;
    const struct fleet_event events[] = {
        {"writes", tally->writes, 5000},
        {"accepted", tally->accepted, 2000},
        {"refused", tally->refused, 1000},
        {"accepted by the Bare Metal API", tally->metal, 70},
        {"with an unknown outcome", tally->unknown, fleet_database.unknown_least},
        {"without an answer", tally->unanswered, 50},
        {"reads", tally->reads, 2000},
        {"answered", tally->answered_reads, 1500},
        {"failed", tally->failed_reads, 50},
        {"batches committed", tally->commits, 500},
        {"without their client", tally->late_commits, 1},
        {"numbers taken after an unknown commit", tally->taken_numbers, 5},
        {"batches lost when the database went back", tally->lost_batches, 10},
        {"of them acknowledged", tally->lost_acknowledged, 5},
        {"times an instance noticed that", tally->gone_backs, 20},
        {"losses named", tally->named_losses, 20},
        {"times a new process noticed it of an earlier one", tally->gone_before_restart, 1},
        {"epochs begun", tally->epochs, 5},
        {"batches planned again", tally->taken, 50},
        {"follows", tally->follows, 100},
        {"batches committed by workers", tally->direct, 8},
        {"begun by workers, and left to the writer", tally->taken_over, 10},
        {"queries of workers answered", tally->own_answers, 200},
        {"and not answered", tally->vain_questions, 3},
        {"reloads", tally->reloads, 50},
        {"transactions of another program", tally->foreign_writes, 50},
        {"consumers without a row left by it", tally->abandoned, 5},
        {"that got one", tally->completed, 5},
        {"looks for writes of other programs", tally->looks, 100},
        {"scrubs", tally->scrubs, 12},
    };
    bool enough = report_events(events, sizeof(events) / sizeof(events[0]), seeds);
    struct fleet_event others[FLEET_EVENTS_MOST];
    enough &= report_events(others, fleet_database.list_events(others), seeds);
    fleet.tally.faults[FLEET_SLOW_COMMIT] = server.slow_commits;
    fleet.tally.faults[FLEET_SLOW_ANSWER] = server.slow_answers;
    for (unsigned f = 0; f < fleet_database.fault_count; f++)
        printf("%10" PRIu64 " times %s\n", tally->faults[f], FLEET_FAULT_NAMES[f]);
    return enough;
}

static struct seed_options read_options(int argc, char **argv)
{
    struct seed_options options = options_of_seed();
    options.first = options.seeds = 1;
    options.steps = STEPS;
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--trace") == 0)
            process_traces = true;
        else if (!seed_options_take(&options, argc, argv, &i))
            seed_options_usage(&options);
    return options;
}

int main(int argc, char **argv)
{
    struct seed_options options = read_options(argc, argv);
    fleet.steps = options.steps;
    fleet.without = options.without;
    signal(SIGABRT, on_abort);
    if (options.shrinks)
        return shrink_seed(&options, run_shrunk) ? 1 : 0;
    open_log();
    uint64_t digest = 0;
    for (uint64_t seed = options.first; seed < options.first + options.seeds; seed++) {
        run_seed(seed);
        digest = rng_mix(digest + fleet.digest);
    }
    bool enough = report(options.seeds);
    printf("digest %016" PRIx64 "\n", digest);
    fleet_database.forget();
    if (enough)
        return 0;
    fprintf(stderr, "%s: too little happened to prove anything\n", fleet_database.program);
    return 1;
}
