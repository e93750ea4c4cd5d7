/* berths with a conductor on one real file, each appearing as a process of its own in the file, and
 * a wall clock that can be set. */
#ifndef BERTH_TESTS_METAL_BENCH_H
#define BERTH_TESTS_METAL_BENCH_H

#include <sqlite3.h>
#include <stdio.h>

#include "await.h"
#include "baremetal/write/conductor.h"
#include "baremetal/write/plan_node_states.h"
#include "base/arena.h"
#include "fake_clock.h"
#include "model/node.h"
#include "model/node_allocation.h"
#include "products/products.h"
#include "replica/nodes.h"

struct metal_bench {
    char directory[64];
    char path[96];
    char url[112];
    struct arena *arena;
    sqlite3 *shell; /* a foreign connection */
};

struct berth {
    struct metal_bench *bench;
    struct products products;
    struct metal metal; /* to be set before berth_open */
    bool has_threads;
    struct store *store;
    struct replica *replica;
    struct pipeline *pipeline;
    struct conductor *conductor;
    struct replica_reader *reader;
};

enum { BENCH_DELAY_US = 2000000, BENCH_TAKEOVER_US = 60000000, BENCH_BUSY_MS = 50 };

void metal_bench_open(struct metal_bench *bench);
void metal_bench_close(struct metal_bench *bench);
void metal_bench_shell(struct metal_bench *bench, const char *sql);

/* Ends the log, which was started with that file and is closed; returns how many of its lines
 * contain the text. */
unsigned metal_bench_end_log(FILE *log, const char *text);

/* By how much the wall clock is ahead of the machine's. */
void metal_bench_set_clock(int64_t ahead_us);
void metal_bench_pass(int64_t us);
/* What passes of a conductor without a thread take for the time. */
struct conductor_time metal_bench_now(void);
/* From now until the end of the bench only metal_bench_pass advances the time, however slow the
 * machine is. */
void metal_bench_stop_clock(void);

/* Meanwhile a little time passes, also on a monotonic clock that stands still: the writer gives
 * other requests a moment to join its batch. */
#define METAL_BENCH_AWAIT(condition) AWAIT((fake_clock_add_us(100), (condition)))

/* A berth that can be changed before it is opened: transient states last BENCH_DELAY_US, the
 * instance is one that cannot be seen here. */
struct berth berth_new(struct metal_bench *bench, const char *instance);
/* Without threads: pipeline and conductor only run in berth_pass and berth_ask. */
void berth_open(struct berth *berth, bool has_threads);
void berth_close(struct berth *berth);

/* One pass; returns how many requests it submitted. First follows the file. */
unsigned berth_pass(struct berth *berth);
/* Passes until one has nothing to do. */
void berth_await_rest(struct berth *berth);
void berth_follow(struct berth *berth);

/* Requests that are decided when the call returns; the status, 0: accepted. */
int berth_create_node(struct berth *berth, const char *uuid, const char *state);
int berth_verb(struct berth *berth, const char *uuid, const char *verb);
int berth_power(struct berth *berth, const char *uuid, const char *verb);
int berth_allocate(struct berth *berth, const char *uuid);
int berth_release(struct berth *berth, const char *uuid);
/* The same through conductor_submit; only with threads. */
int berth_verb_waiting(struct berth *berth, const char *uuid, const char *verb);

/* A request of berth_verb_waiting in progress. */
struct verb_request;
struct verb_request *berth_begin_verb(struct berth *berth, const char *uuid, const char *verb);
bool verb_request_is_done(struct verb_request *asked);
int verb_request_end(struct verb_request *asked);

/* "null" if there is none. In the bench's arena. */
const char *berth_node_text(struct berth *berth, const char *uuid, enum node_field field);
const char *berth_allocation_text(struct berth *berth, const char *uuid,
                                  enum node_allocation_field field);

/* Asserts that it is in that state. */
void berth_assert_node(struct berth *berth, const char *uuid, const char *state);
void berth_assert_allocation(struct berth *berth, const char *uuid, const char *state);

#endif
