/* See process.h. A task waits for one thing at a time: a connection, a time, a condition, the end
 * of another task, or work. One thread. */
#include "process.h"

#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fiber.h"
#include "libpq.h"
#include "memory_store/rng.h"
#include "store/server/io.h"

enum wait {
    WAIT_NOTHING,
    WAIT_CONNECTION,
    WAIT_TIME,
    WAIT_CONDITION,
    WAIT_TASK,
    WAIT_WORK,
};

struct task {
    struct fiber *fiber;
    struct process *process;
    void (*run)(void *cls);
    void *(*start)(void *cls); /* of a thread */
    void *cls;
    enum wait wait;
    uint64_t until_us; /* in world time; UINT64_MAX: for ever */
    int socket;
    short events;
    int wake_fd;
    const void *condition;
    bool is_signalled;
    const struct task *other;
    bool (*has_work)(void *cls);
    uint64_t (*next_us)(void *cls); /* NULL: work does not come by itself */
    void *work;
    uint64_t polled_at; /* world.runs, when its descriptor was last polled; 0: it was not */
    bool was_readable;
};

enum { ENDING_STEP_US = 200000, BEGIN_US = 1000000000 };

static struct {
    uint64_t now_us;
    uint64_t entropy;
    uint64_t runs; /* grows with all that may make a descriptor readable */
    struct process *entered;
    struct task *running;
    bool forbids_waits;
} world;

/* Other threads, such as the log's, are real. */
static _Thread_local bool is_simulation;

/* NULL: none runs on this thread. */
static struct task *running(void)
{
    return is_simulation ? world.running : NULL;
}

bool process_traces;

void process_trace(const char *format, ...)
{
    va_list args;
    if (!process_traces)
        return;
    fprintf(stderr, "%10.3f ms ", (double)(world.now_us - BEGIN_US) / 1000);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
}

uint64_t process_now_us(void)
{
    return world.now_us;
}

void process_pass_us(uint64_t us)
{
    world.now_us += us;
}

void process_begin_world(uint64_t seed)
{
    world.now_us = BEGIN_US;
    world.entropy = rng_mix(seed);
    world.entered = NULL;
    is_simulation = true;
}

void process_enter(struct process *process)
{
    world.entered = process;
    world.runs++;
}

struct process *process_current(void)
{
    if (!is_simulation)
        return NULL;
    return world.running != NULL ? world.running->process : world.entered;
}

/* ---- tasks ---- */

static void run_task(void *cls)
{
    struct task *task = cls;
    if (task->start != NULL)
        task->start(task->cls);
    else
        task->run(task->cls);
}

static struct task *add_task(struct process *process)
{
    struct task *task = calloc(1, sizeof(*task));
    check(task != NULL);
    *task = (struct task){.process = process, .until_us = UINT64_MAX, .wake_fd = -1};
    task->fiber = fiber_create(run_task, task);
    for (int i = 0; i < PROCESS_TASKS; i++)
        if (process->tasks[i] == NULL) {
            process->tasks[i] = task;
            return task;
        }
    check(false);
    return NULL;
}

static void free_task(struct task *task)
{
    fiber_destroy(task->fiber);
    free(task);
}

void process_start(struct process *process, void (*run)(void *cls), void *cls)
{
    struct task *task = add_task(process);
    task->run = run;
    task->cls = cls;
}

static bool is_readable(int fd)
{
    struct pollfd polled = {.fd = fd, .events = POLLIN};
    return fd >= 0 && poll(&polled, 1, 0) > 0;
}

/* A connection of the fake server, or a descriptor of the system. */
static bool is_ready(const struct task *task)
{
    return libpq_has(task->socket) ? libpq_is_ready(task->socket, task->events)
                                   : is_readable(task->socket);
}

/* Only what runs in the simulation makes it readable. */
static bool is_woken(struct task *task)
{
    if (task->wake_fd < 0)
        return false;
    if (task->polled_at != world.runs) {
        task->was_readable = is_readable(task->wake_fd);
        task->polled_at = world.runs;
    }
    return task->was_readable;
}

static bool can_run(struct task *task)
{
    if (fiber_has_ended(task->fiber))
        return false;
    if (world.now_us >= task->until_us || task->process->is_ending)
        return task->wait != WAIT_TASK || fiber_has_ended(task->other->fiber);
    switch (task->wait) {
    case WAIT_NOTHING:
        return true;
    case WAIT_CONNECTION:
        return is_ready(task) || is_woken(task);
    case WAIT_TIME:
        return false;
    case WAIT_CONDITION:
        return task->is_signalled;
    case WAIT_TASK:
        return fiber_has_ended(task->other->fiber);
    case WAIT_WORK:
        return task->has_work(task->work);
    }
    return false;
}

bool process_can_run(const struct process *process)
{
    if (world.now_us < process->stopped_until_us)
        return false;
    for (int i = 0; i < PROCESS_TASKS; i++)
        if (process->tasks[i] != NULL && can_run(process->tasks[i]))
            return true;
    return false;
}

void process_run(struct process *process, uint64_t draw)
{
    for (uint64_t i = 0; i < PROCESS_TASKS; i++) {
        struct task *task = process->tasks[(draw + i) % PROCESS_TASKS];
        if (task == NULL || !can_run(task))
            continue;
        world.running = task;
        world.runs++;
        fiber_resume(task->fiber);
        world.running = NULL;
        return;
    }
}

uint64_t process_next_us(const struct process *process)
{
    uint64_t next_us = UINT64_MAX;
    for (int i = 0; i < PROCESS_TASKS; i++) {
        struct task *task = process->tasks[i];
        if (task == NULL || fiber_has_ended(task->fiber))
            continue;
        uint64_t at_us = can_run(task) ? world.now_us : task->until_us;
        uint64_t answers_us =
            task->wait == WAIT_CONNECTION ? libpq_next_us(task->socket) : UINT64_MAX;
        if (task->wait == WAIT_WORK && task->next_us != NULL)
            answers_us = task->next_us(task->work);
        if (answers_us < at_us)
            at_us = answers_us;
        if (at_us < process->stopped_until_us)
            at_us = process->stopped_until_us;
        if (at_us < next_us)
            next_us = at_us;
    }
    return next_us;
}

static void wait(enum wait kind, uint64_t until_us)
{
    struct task *task = world.running;
    check(!world.forbids_waits);
    task->wait = kind;
    task->until_us = until_us;
    fiber_yield();
    task->wait = WAIT_NOTHING;
    task->until_us = UINT64_MAX;
}

void process_pause(void)
{
    wait(WAIT_NOTHING, UINT64_MAX);
}

void process_idle_until(bool (*has_work)(void *cls), uint64_t (*next_us)(void *cls), void *cls,
                        uint64_t us)
{
    world.running->has_work = has_work;
    world.running->next_us = next_us;
    world.running->work = cls;
    wait(WAIT_WORK, us == UINT64_MAX ? us : world.now_us + us);
}

void process_idle(bool (*has_work)(void *cls), void *cls, uint64_t us)
{
    process_idle_until(has_work, NULL, cls, us);
}

void process_forbid_waits(bool forbidden)
{
    world.forbids_waits = forbidden;
}

bool process_reap(struct process *process)
{
    bool all = true;
    for (int i = 0; i < PROCESS_TASKS; i++)
        all &= process->tasks[i] == NULL || fiber_has_ended(process->tasks[i]->fiber);
    for (int i = 0; i < PROCESS_TASKS && all; i++)
        if (process->tasks[i] != NULL) {
            free_task(process->tasks[i]);
            process->tasks[i] = NULL;
        }
    return all;
}

/* ---- what the linker replaces ---- */

static uint64_t world_time(const struct process *process, uint64_t us)
{
    return us > process->ahead_us ? us - process->ahead_us : 0;
}

uint64_t __real_clock_monotonic_us(void);
uint64_t __wrap_clock_monotonic_us(void);
uint64_t __wrap_clock_monotonic_us(void)
{
    struct process *process = process_current();
    if (!is_simulation)
        return __real_clock_monotonic_us();
    if (process == NULL)
        return world.now_us;
    if (process->is_ending)
        process->ahead_us += ENDING_STEP_US;
    return world.now_us + process->ahead_us;
}

int64_t __real_clock_wall_us(void);
int64_t __wrap_clock_wall_us(void);
int64_t __wrap_clock_wall_us(void)
{
    const struct process *process = process_current();
    if (!is_simulation)
        return __real_clock_wall_us();
    int64_t wall_us = 1700000000000000 + (int64_t)world.now_us;
    return process == NULL ? wall_us : wall_us + process->wall_us;
}

void __real_wait_sleep_us(uint64_t us);
void __wrap_wait_sleep_us(uint64_t us);
void __wrap_wait_sleep_us(uint64_t us)
{
    if (running() == NULL) {
        __real_wait_sleep_us(us);
        return;
    }
    wait(WAIT_TIME, world.now_us + us);
}

enum server_io __wrap_server_io_poll(int socket, short events, int wake_fd, uint64_t deadline_us);
enum server_io __wrap_server_io_poll(int socket, short events, int wake_fd, uint64_t deadline_us)
{
    struct task *task = world.running;
    if (world.forbids_waits) {
        const struct process *process = process_current();
        check(world_time(process, deadline_us) <= world.now_us);
        return libpq_is_ready(socket, events) && !process->is_ending ? SERVER_IO_READY
                                                                     : SERVER_IO_TIMEOUT;
    }
    task->socket = socket;
    task->events = events;
    task->wake_fd = wake_fd;
    task->polled_at = 0;
    wait(WAIT_CONNECTION, world_time(task->process, deadline_us));
    if (is_ready(task) && !task->process->is_ending)
        return SERVER_IO_READY;
    return is_readable(wake_fd) ? SERVER_IO_WOKEN : SERVER_IO_TIMEOUT;
}

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*start)(void *), void *cls);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*start)(void *), void *cls);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*start)(void *), void *cls)
{
    struct process *process = process_current();
    if (process == NULL)
        return __real_pthread_create(thread, attributes, start, cls);
    struct task *task = add_task(process);
    task->start = start;
    task->cls = cls;
    *thread = (pthread_t)task;
    return 0;
}

int __real_pthread_join(pthread_t thread, void **result);
int __wrap_pthread_join(pthread_t thread, void **result);
int __wrap_pthread_join(pthread_t thread, void **result)
{
    if (running() == NULL)
        return __real_pthread_join(thread, result);
    struct process *process = world.running->process;
    world.running->other = (const struct task *)thread;
    wait(WAIT_TASK, UINT64_MAX);
    for (int i = 0; i < PROCESS_TASKS; i++)
        if (process->tasks[i] == world.running->other) {
            free_task(process->tasks[i]);
            process->tasks[i] = NULL;
        }
    return 0;
}

/* The lock is free while the task waits; no task has a lock when it waits for anything else. */
static void wait_for_condition(const void *condition, pthread_mutex_t *lock, uint64_t until_us)
{
    struct task *task = world.running;
    task->condition = condition;
    task->is_signalled = false;
    pthread_mutex_unlock(lock);
    wait(WAIT_CONDITION, until_us);
    pthread_mutex_lock(lock);
    task->condition = NULL;
}

int __real_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *lock);
int __wrap_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *lock);
int __wrap_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *lock)
{
    if (running() == NULL)
        return __real_pthread_cond_wait(condition, lock);
    wait_for_condition(condition, lock, UINT64_MAX);
    return 0;
}

bool __real_wait_until(pthread_cond_t *condition, pthread_mutex_t *lock, uint64_t until_us);
bool __wrap_wait_until(pthread_cond_t *condition, pthread_mutex_t *lock, uint64_t until_us);
bool __wrap_wait_until(pthread_cond_t *condition, pthread_mutex_t *lock, uint64_t until_us)
{
    struct task *task = running();
    if (task == NULL)
        return __real_wait_until(condition, lock, until_us);
    wait_for_condition(condition, lock, world_time(task->process, until_us));
    return task->is_signalled;
}

int __real_pthread_cond_signal(pthread_cond_t *condition);
int __wrap_pthread_cond_signal(pthread_cond_t *condition);
int __wrap_pthread_cond_signal(pthread_cond_t *condition)
{
    struct process *process = process_current();
    for (int i = 0; process != NULL && i < PROCESS_TASKS; i++)
        if (process->tasks[i] != NULL && process->tasks[i]->condition == condition)
            process->tasks[i]->is_signalled = true;
    return __real_pthread_cond_signal(condition);
}

/* Each store names itself with random bytes. */
int __wrap_getentropy(void *bytes, size_t len);
int __wrap_getentropy(void *bytes, size_t len)
{
    world.entropy = rng_mix(world.entropy + 1);
    memset(bytes, 0, len);
    memcpy(bytes, &world.entropy, len < sizeof(world.entropy) ? len : sizeof(world.entropy));
    return 0;
}
