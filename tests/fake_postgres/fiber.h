/* Coroutines: functions with a stack of their own, of which one runs at a time, on the thread of
 * the simulation. */
#ifndef BERTH_FAKE_POSTGRES_FIBER_H
#define BERTH_FAKE_POSTGRES_FIBER_H

#include <stdbool.h>

struct fiber;

/* It begins to run at its first resume. */
struct fiber *fiber_create(void (*run)(void *cls), void *cls);

/* Runs it until it yields or ends. Not from a fiber. */
void fiber_resume(struct fiber *fiber);

/* Only from a fiber: the caller of fiber_resume() goes on. */
void fiber_yield(void);

/* The one that runs; NULL: none does. */
struct fiber *fiber_running(void);

bool fiber_has_ended(const struct fiber *fiber);

/* It has ended, or has never run. */
void fiber_destroy(struct fiber *fiber);

#endif
