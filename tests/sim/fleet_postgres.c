/* The fleet on PostgreSQL: see fleet.h. One thread. */
#include <stdio.h>

#include "fake_postgres/statements.h"
#include "fleet.h"
#include "store/postgres/report/facts.h"
#include "store/postgres/schema/migrate.h"

/* ---- what the linker replaces ---- */

bool __wrap_pg_migrate_at_start(struct pg_session *session, bool sync, uint64_t deadline_us,
                                struct err *err);
bool __wrap_pg_migrate_at_start(struct pg_session *session, bool sync, uint64_t deadline_us,
                                struct err *err)
{
    (void)session;
    (void)sync;
    (void)deadline_us;
    (void)err;
    return true;
}

bool __wrap_pg_facts_read(struct pg_session *session, struct store_server *facts,
                          uint64_t deadline_us, struct err *err);
bool __wrap_pg_facts_read(struct pg_session *session, struct store_server *facts,
                          uint64_t deadline_us, struct err *err)
{
    (void)session;
    (void)facts;
    (void)deadline_us;
    (void)err;
    return true;
}

/* ---- the database ---- */

/* Sometimes a cluster. */
static int draw_nodes(void)
{
    return rng_below(&fleet.rng, 3) == 0 ? 2 + rng_below(&fleet.rng, 2) : 1;
}

static void begin(void)
{
}

static void write_url(int node, char *url, size_t room)
{
    snprintf(url, room, "postgresql://berth@/placement?host=/node%d", node);
}

static bool strike(enum fleet_fault fault)
{
    (void)fault;
    return false;
}

static int64_t next_id(enum table table)
{
    return ++server.states.sequences[table];
}

static void set_clock(struct process *process)
{
    process->wall_us += (rng_below(&fleet.rng, 7200) - 3600) * INT64_C(1000000);
}

static size_t list_events(struct fleet_event *events)
{
    (void)events;
    return 0;
}

const struct fleet_database fleet_database = {
    .program = "sim_fleet",
    .usage = "sim_fleet [--trace]",
    .fault_count = FLEET_OF_GALERA,
    .draw_nodes = draw_nodes,
    .begin = begin,
    .set_clock = set_clock,
    .draw_load = begin,
    .instances_least = 1,
    .unknown_least = 1,
    .write_url = write_url,
    .go_back = fake_server_go_back,
    .strike = strike,
    .next_id = next_id,
    .end_faults = begin,
    .list_events = list_events,
    .forget = statements_forget,
};
