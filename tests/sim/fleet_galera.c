/* The fleet on MariaDB, which is a Galera cluster most often: see fleet.h and
 * fake_mariadb/maria.h. The real store for MariaDB runs, with its texts: the fake executes them, so
 * that a tear between two statements, or an answer that does not say what has become of a COMMIT,
 * meets the code that is to cope with it. Instances are behind a proxy, which decides to which node
 * a connection leads. One thread. */
#include <stdio.h>

#include "fake_mariadb/libmariadb.h"
#include "fake_mariadb/maria.h"
#include "fleet.h"
#include "store/mariadb/report/facts.h"
#include "store/mariadb/schema/migrate.h"

enum { LAG_MOST = 12 }; /* in some seeds, nodes are far behind */
enum { SPLIT_STEPS = 50, SPLIT_US = 20000000 };

/* To which node the proxy passes a connection. */
enum proxy {
    PROXY_NONE, /* each instance has a node of its own */
    PROXY_ONE,  /* all connections lead to one node, which changes */
    PROXY_ANY,
};

static struct {
    enum proxy proxy;
    int node;          /* PROXY_ONE */
    bool is_splitting; /* at the next COMMIT, all nodes leave */
    int split_steps;   /* until that lasts for long; 0: it does, or has not happened */
    uint64_t switches, moved, left, lost, splits;
} galera;

/* ---- what the linker replaces ---- */

bool __wrap_mariadb_migrate_at_start(struct mariadb_session *session, bool sync,
                                     uint64_t deadline_us, struct err *err);
bool __wrap_mariadb_migrate_at_start(struct mariadb_session *session, bool sync,
                                     uint64_t deadline_us, struct err *err)
{
    (void)session;
    (void)sync;
    (void)deadline_us;
    (void)err;
    return true;
}

bool __wrap_mariadb_facts_read(struct server_session *session, struct store_server *facts,
                               uint64_t deadline_us, struct err *err);
bool __wrap_mariadb_facts_read(struct server_session *session, struct store_server *facts,
                               uint64_t deadline_us, struct err *err)
{
    (void)session;
    (void)facts;
    (void)deadline_us;
    (void)err;
    return true;
}

/* ---- the proxy ---- */

/* Its checks find most often that a node is down or not ready. */
int libmariadb_node(const struct process *process)
{
    int node = galera.proxy == PROXY_NONE  ? process->number % server.node_count
               : galera.proxy == PROXY_ONE ? galera.node
                                           : rng_below(&fleet.rng, server.node_count);
    for (int i = 0; i < server.node_count && galera.proxy != PROXY_NONE; i++) {
        bool is_bad = server.is_down[node] || server.is_apart[node];
        if (!is_bad || rng_below(&fleet.rng, 4) == 0)
            break;
        node = (node + 1) % server.node_count;
    }
    return node;
}

/* A proxy that understands the protocol. */
static void move(struct session *session)
{
    int node = rng_below(&fleet.rng, server.node_count);
    if (session->is_used && node != session->node && !server.is_down[node])
        galera.moved += maria_move_session(session, node);
}

/* It chooses another node; connections to the old one go on, end, or are continued. */
static void switch_node(void)
{
    int before = galera.node;
    galera.node = rng_below(&fleet.rng, server.node_count);
    galera.switches += galera.node != before;
    int what = rng_below(&fleet.rng, 3);
    for (int s = 0; s < server.session_count && what > 0; s++)
        if (what == 1)
            move(&server.sessions[s]);
        else if (server.sessions[s].is_used && server.sessions[s].node != galera.node)
            fake_server_cut(&server.sessions[s]);
}

/* ---- the database ---- */

static int draw_nodes(void)
{
    return rng_below(&fleet.rng, 8) == 0 ? 1 : 2 + rng_below(&fleet.rng, 2);
}

static int64_t draw_clock_us(void)
{
    return (rng_below(&fleet.rng, 7200) - 3600) * INT64_C(1000000);
}

static void begin(void)
{
    static const enum proxy proxies[] = {PROXY_NONE, PROXY_NONE, PROXY_ONE, PROXY_ANY};
    maria_begin();
    maria.tears = fleet.permille[FLEET_TEAR] * 20;
    galera.proxy = proxies[rng_below(&fleet.rng, 4)];
    galera.node = rng_below(&fleet.rng, server.node_count);
    galera.is_splitting = false;
    galera.split_steps = 0;
    if (rng_below(&fleet.rng, 4) == 0)
        fleet.lag = LAG_MOST;
    if (rng_below(&fleet.rng, 2) == 0)
        fleet.foreign_clock_us = draw_clock_us();
}

/* In most seeds, all instances write at the same time. In some of the others, workers get all
 * requests, and can commit many of them themselves. */
static void draw_load(void)
{
    if (rng_below(&fleet.rng, 4) > 0) {
        fleet.loyalty = 1;
    } else if (rng_below(&fleet.rng, 2) == 0) {
        fleet.loyalty = 60;
        fleet.at_workers = 8;
    }
}

static void write_url(int node, char *url, size_t room)
{
    (void)node;
    snprintf(url, room, "mysql+pymysql://berth:secret@127.0.0.1/placement");
}

/* No component has a majority from within a COMMIT on. Its instance begins to find out what has
 * become of the batch, and often gives up before there is one again. */
static void split(void)
{
    if (galera.split_steps > 0 && --galera.split_steps == 0)
        process_pass_us((uint64_t)rng_below(&fleet.rng, SPLIT_US));
    if (!galera.is_splitting || !maria_is_committing())
        return;
    galera.is_splitting = false;
    galera.split_steps = SPLIT_STEPS;
    galera.splits++;
    for (int n = 0; n < server.node_count; n++)
        if (!server.is_apart[n])
            maria_leave(n);
}

static void leave_or_return(void)
{
    galera.is_splitting |= maria_is_galera() && rng_below(&fleet.rng, 8) == 0;
    int node = rng_below(&fleet.rng, server.node_count);
    if (server.is_apart[node]) {
        maria_return(node);
    } else if (maria_is_galera()) {
        galera.left++;
        maria_leave(node);
    }
}

static bool go_back(uint64_t by)
{
    foreign_note_loss();
    return maria_lose_cluster(by);
}

/* As if the node had lied that it had replicated it. */
static void lose(void)
{
    uint64_t before = server.states.newest;
    foreign_note_loss();
    if (!maria_is_galera() || !maria_lose_newest())
        return;
    galera.lost++;
    check_gone(before, 1);
}

static bool strike(enum fleet_fault fault)
{
    for (int n = 0; n < server.node_count; n++)
        if (server.is_apart[n] && rng_below(&fleet.rng, 20) == 0)
            maria_return(n);
    switch (fault) {
    case FLEET_LEAVE:
        leave_or_return();
        return true;
    case FLEET_LOSE:
        lose();
        return true;
    case FLEET_PROXY:
        switch_node();
        return true;
    default:
        return false;
    }
}

static void end_faults(void)
{
    maria.tears = 0;
    galera.is_splitting = false;
    galera.split_steps = 0;
    for (int n = 0; n < server.node_count; n++)
        if (server.is_apart[n])
            maria_return(n);
}

/* Looks compare the times of rows with the server's, but do not depend on it that they are right.
 */
static void set_clock(struct process *process)
{
    process->wall_us = draw_clock_us();
}

static size_t list_events(struct fleet_event *events)
{
    const struct fleet_event all[] = {
        {"transactions ended by another node's commit", maria.beaten, 20},
        {"and not told so", maria.torn, 1},
        {"texts that failed behind their COMMIT", maria.late, 5},
        {"commits refused by certification", maria.refused, 1},
        {"reads that waited for the cluster", maria.stale, 100},
        {"times a node left", galera.left, 50},
        {"times a node was replaced", maria.replaced, 15},
        {"times no component had a majority", galera.splits, 5},
        {"commits lost by the cluster", galera.lost, 3},
        {"times the proxy switched", galera.switches, 50},
        {"sessions that it has continued on another node", galera.moved, 30},
    };
    fleet.tally.faults[FLEET_TEAR] = maria.torn;
    memcpy(events, all, sizeof(all));
    return sizeof(all) / sizeof(all[0]);
}

const struct fleet_database fleet_database = {
    .program = "sim_galera",
    .usage = "sim_galera [--trace]",
    .fault_count = FLEET_FAULT_COUNT,
    .loses_silently = true,
    .draw_nodes = draw_nodes,
    .begin = begin,
    .set_clock = set_clock,
    .draw_load = draw_load,
    .instances_least = 2,
    .unknown_least = 8,
    .write_url = write_url,
    .go_back = go_back,
    .strike = strike,
    .watch = split,
    .next_id = maria_next_id,
    .end_faults = end_faults,
    .list_events = list_events,
    .forget = maria_end,
};
