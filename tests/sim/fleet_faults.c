/* What goes wrong. Each seed has its own set: some faults strike often, others never. One thread.
 */
#include "fleet.h"

enum { SECOND_US = 1000000, BACK_MOST = 4, FOREIGN_MOST = 4 };

/* Rows of the log are kept for longer than an instance is stopped. */
enum { PRUNED_AFTER_US = 100 * SECOND_US };

/* Longer than a batch waits for a row. */
enum { HELD_MOST_US = 20 * SECOND_US };

const char *const FLEET_FAULT_NAMES[FLEET_FAULT_COUNT] = {
    [FLEET_CUT] = "cut",
    [FLEET_SWALLOW] = "swallow",
    [FLEET_KILL] = "kill",
    [FLEET_STOP] = "stop",
    [FLEET_STALL] = "stall",
    [FLEET_SLOW_COMMIT] = "slow-commit",
    [FLEET_SLOW_ANSWER] = "slow-answer",
    [FLEET_RESTART] = "restart",
    [FLEET_GO_BACK] = "go-back",
    [FLEET_CLOCK] = "clock",
    [FLEET_PRUNE] = "prune",
    [FLEET_FOREIGN] = "foreign",
    [FLEET_LOCK] = "lock",
    [FLEET_LEAVE] = "leave",
    [FLEET_LOSE] = "lose",
    [FLEET_PROXY] = "proxy",
    [FLEET_TEAR] = "tear",
};

static struct instance *some_instance(void)
{
    return &fleet.instances[rng_below(&fleet.rng, fleet.count)];
}

/* NULL: none was found. */
static struct session *some_session(void)
{
    if (server.session_count == 0)
        return NULL;
    int first = rng_below(&fleet.rng, server.session_count);
    for (int i = 0; i < server.session_count; i++) {
        struct session *session = &server.sessions[(first + i) % server.session_count];
        if (session->is_used && session->conn != NULL)
            return session;
    }
    return NULL;
}

/* Mostly short, sometimes longer than any time limit. */
static uint64_t some_time_us(void)
{
    int bits = rng_below(&fleet.rng, 4) == 0 ? 25 : 20;
    return (uint64_t)1 << rng_below(&fleet.rng, bits);
}

static void restart_node(int node)
{
    fake_server_terminate_all(node);
    server.is_down[node] = rng_below(&fleet.rng, 3) == 0;
}

static void jump(struct process *process)
{
    if (rng_below(&fleet.rng, 2) == 0)
        process->ahead_us += some_time_us();
    else
        fleet_database.set_clock(process);
}

static void go_back(void)
{
    uint64_t before = server.states.newest;
    uint64_t by = 1 + (uint64_t)rng_below(&fleet.rng, BACK_MOST);
    if (fleet_database.go_back(by))
        check_gone(before, by);
}

static void lock_row(void)
{
    const struct rows *providers = &states_newest(&server.states)->tables.rows[TABLE_PROVIDERS];
    if (providers->count == 0)
        return;
    const struct row *row = &providers->row[rng_below(&fleet.rng, (int)providers->count)];
    fake_server_hold(rng_below(&fleet.rng, server.node_count), row->image.provider.id,
                     process_now_us() + (uint64_t)rng_below(&fleet.rng, HELD_MOST_US));
}

static void strike_session(enum fleet_fault fault, struct session *session)
{
    if (session == NULL)
        return;
    if (fault == FLEET_CUT)
        fake_server_cut(session);
    else if (fault == FLEET_SWALLOW)
        fake_server_swallow(session);
    else
        session->slow_until_us = process_now_us() + some_time_us();
}

static void strike(enum fleet_fault fault)
{
    fleet.tally.faults[fault]++;
    process_trace("fault: %s", FLEET_FAULT_NAMES[fault]);
    if (fleet_database.strike(fault))
        return;
    switch (fault) {
    case FLEET_CUT:
    case FLEET_SWALLOW:
    case FLEET_STALL:
        strike_session(fault, some_session());
        return;
    case FLEET_KILL: {
        struct instance *instance = some_instance();
        instance_kill(instance);
        instance_start(instance);
        return;
    }
    case FLEET_STOP:
        some_instance()->process.stopped_until_us = process_now_us() + some_time_us();
        return;
    case FLEET_RESTART:
        restart_node(rng_below(&fleet.rng, server.node_count));
        return;
    case FLEET_GO_BACK:
        go_back();
        return;
    case FLEET_CLOCK:
        jump(&some_instance()->process);
        return;
    case FLEET_PRUNE:
        fake_server_prune((unsigned)rng_below(&fleet.rng, 8), process_now_us() - PRUNED_AFTER_US);
        return;
    case FLEET_FOREIGN:
        for (int left = 1 + rng_below(&fleet.rng, FOREIGN_MOST); left > 0; left--)
            foreign_write();
        return;
    case FLEET_LOCK:
        lock_row();
        return;
    case FLEET_SLOW_COMMIT:
    case FLEET_SLOW_ANSWER:
    case FLEET_LEAVE:
    case FLEET_LOSE:
    case FLEET_PROXY:
    case FLEET_TEAR:
    case FLEET_FAULT_COUNT:
        return;
    }
}

void faults_go_back(void)
{
    if ((fleet.without & 1u << FLEET_GO_BACK) == 0)
        strike(FLEET_GO_BACK);
}

void faults_strike(void)
{
    for (int node = 0; node < server.node_count; node++)
        server.is_down[node] &= rng_below(&fleet.rng, 20) > 0;
    for (unsigned f = 0; f < fleet_database.fault_count; f++)
        if (f != FLEET_SLOW_COMMIT && f != FLEET_SLOW_ANSWER && f != FLEET_TEAR &&
            rng_permille(&fleet.rng, fleet.permille[f]))
            strike((enum fleet_fault)f);
}

static int draw_permille(enum fleet_fault fault)
{
    static const int levels[] = {0, 0, 5, 30, 150};
    int drawn = rng_below(&fleet.rng, 5);
    /* most of the times that the database goes back, no instance has had what is lost */
    int level = fault == FLEET_GO_BACK && drawn == 1 ? 60 : levels[drawn];
    bool is_rare = fault == FLEET_KILL || fault == FLEET_RESTART;
    return is_rare ? level / 3 : level;
}

void faults_draw(void)
{
    for (unsigned f = 0; f < fleet_database.fault_count; f++) {
        fleet.permille[f] = draw_permille((enum fleet_fault)f);
        if ((fleet.without & 1u << f) != 0)
            fleet.permille[f] = 0;
    }
    if (fleet.in_turns && rng_below(&fleet.rng, 2) == 0)
        memset(fleet.permille, 0, sizeof(fleet.permille)); /* see fleet_turns.c */
    server.slow_commit = fleet.permille[FLEET_SLOW_COMMIT] * 2;
    server.slow_answer = fleet.permille[FLEET_SLOW_ANSWER] * 2;
    fleet.lag = 1 + rng_below(&fleet.rng, 4);
}

void faults_end(void)
{
    fleet.is_quiet = true;
    server.slow_commit = server.slow_answer = 0;
    server.holds_until_us = 0;
    fleet_database.end_faults();
    for (int node = 0; node < server.node_count; node++)
        server.is_down[node] = false;
    for (int i = 0; i < fleet.count; i++)
        fleet.instances[i].process.stopped_until_us = 0;
}
