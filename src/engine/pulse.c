/* See pulse.h. At most one request is on its way; while it is, no other is sent. The thread waits
 * for nothing but time. */
#include "engine/pulse.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/wait.h"

enum { TICK_US = 100000, ASK_EVERY_US = 1000000 };

struct pulse {
    struct currency *currency;
    struct arena *arena;             /* of the request's error */
    struct pipeline_request request; /* while it is on its way, only the currency uses it */
    pthread_t thread;
    pthread_mutex_t lock; /* guards the rest */
    pthread_cond_t wake;
    bool is_on_its_way;
    bool is_ending;
};

static void came_back(struct pipeline_request *request)
{
    struct pulse *pulse = request->submitter;
    pthread_mutex_lock(&pulse->lock);
    pulse->is_on_its_way = false;
    pthread_mutex_unlock(&pulse->lock);
}

/* Waits for the next tick; false: the thread ends. *may_ask: no request is on its way. */
static bool await_tick(struct pulse *pulse, bool *may_ask)
{
    uint64_t until_us = clock_monotonic_us() + TICK_US;
    pthread_mutex_lock(&pulse->lock);
    while (!pulse->is_ending && wait_until(&pulse->wake, &pulse->lock, until_us))
        continue;
    bool goes_on = !pulse->is_ending;
    *may_ask = !pulse->is_on_its_way;
    pthread_mutex_unlock(&pulse->lock);
    return goes_on;
}

static void pulse_ask(struct pulse *pulse)
{
    pthread_mutex_lock(&pulse->lock);
    pulse->is_on_its_way = true;
    pthread_mutex_unlock(&pulse->lock);
    arena_reset(pulse->arena);
    pulse->request = (struct pipeline_request){
        .done = came_back, .submitter = pulse, .is_upkeep = true, .err = {.arena = pulse->arena}};
    currency_submit(pulse->currency, &pulse->request);
}

static void *run_pulse(void *cls)
{
    struct pulse *pulse = cls;
    uint64_t asked_us = 0;
    bool may_ask;
    pthread_setname_np(pthread_self(), "pulse");
    while (await_tick(pulse, &may_ask)) {
        uint64_t now_us = clock_monotonic_us();
        currency_tick(pulse->currency);
        if (!may_ask || now_us - asked_us < ASK_EVERY_US)
            continue;
        asked_us = now_us;
        pulse_ask(pulse);
    }
    return NULL;
}

void pulse_destroy(struct pulse *pulse)
{
    if (pulse == NULL)
        return;
    check(!pulse->is_on_its_way);
    pthread_cond_destroy(&pulse->wake);
    pthread_mutex_destroy(&pulse->lock);
    arena_destroy(pulse->arena);
    free(pulse);
}

struct pulse *pulse_start(struct currency *currency)
{
    struct pulse *pulse = calloc(1, sizeof(*pulse));
    check(pulse != NULL);
    pulse->currency = currency;
    pulse->arena = arena_create();
    pthread_mutex_init(&pulse->lock, NULL);
    wait_init(&pulse->wake);
    if (pthread_create(&pulse->thread, NULL, run_pulse, pulse) == 0)
        return pulse;
    pulse_destroy(pulse);
    return NULL;
}

void pulse_stop(struct pulse *pulse)
{
    if (pulse == NULL)
        return;
    pthread_mutex_lock(&pulse->lock);
    pulse->is_ending = true;
    pthread_mutex_unlock(&pulse->lock);
    pthread_cond_signal(&pulse->wake);
    pthread_join(pulse->thread, NULL);
}
