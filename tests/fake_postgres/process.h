/* The processes of the simulation, their threads as coroutines, and their clocks.
 *
 * The linker replaces what would wait or read a clock (see meson.build): a thread is a task, a wait
 * returns to the simulation, and time passes only there. World time is that of the simulation; each
 * process has clocks of its own. */
#ifndef BERTH_FAKE_POSTGRES_PROCESS_H
#define BERTH_FAKE_POSTGRES_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/check.h"

enum { PROCESS_TASKS = 10 };

struct task;

struct process {
    int number;
    int node;          /* of the database, that it connects to */
    bool is_ending;    /* killed: no connection works, and its clocks run until it gives up */
    uint64_t ahead_us; /* the monotonic clock, in front of world time */
    int64_t wall_us;   /* the wall clock, likewise; may be negative */
    uint64_t stopped_until_us;         /* in world time */
    struct task *tasks[PROCESS_TASKS]; /* NULL: none */
};

/* Prints a line with the world time to stderr, if process_traces is set. */
extern bool process_traces;
void process_trace(const char *format, ...) BERTH_PRINTF(1, 2);

/* World time; it begins anew with each seed. */
uint64_t process_now_us(void);
void process_pass_us(uint64_t us);
void process_begin_world(uint64_t seed);

/* The process on whose behalf the simulation calls functions of berth. */
void process_enter(struct process *process);
/* That process, or that of the running task; NULL: none. */
struct process *process_current(void);

/* Starts its first task. */
void process_start(struct process *process, void (*run)(void *cls), void *cls);

/* Whether one of its tasks can go on; runs one of those. */
bool process_can_run(const struct process *process);
void process_run(struct process *process, uint64_t draw);

/* The earliest world time at which a task's wait ends by itself; UINT64_MAX: never. */
uint64_t process_next_us(const struct process *process);

/* From a task: lets the simulation go on, until the next run. */
void process_pause(void);
/* The same until something is to be done, which the function finds out, or until the time has
 * passed (UINT64_MAX: for ever). */
void process_idle(bool (*has_work)(void *cls), void *cls, uint64_t us);
/* The same, where work may come by itself at a world time that the function finds out. */
void process_idle_until(bool (*has_work)(void *cls), uint64_t (*next_us)(void *cls), void *cls,
                        uint64_t us);

/* From now on, whatever is called must not wait, or may again. */
void process_forbid_waits(bool forbidden);

/* Frees tasks that have ended; false: some have not. */
bool process_reap(struct process *process);

#endif
