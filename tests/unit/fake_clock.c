/* The real clock, or the time at which it was stopped, plus what the test has added. The linker
 * sends all calls here (--wrap). A waiting thread looks at the clock every millisecond, and waits
 * on unless it has been signalled: signals are counted, because one that comes while a thread looks
 * does not wake it. */
#include "fake_clock.h"

#include <stdatomic.h>

#include "await.h"
#include "base/clock.h"
#include "base/wait.h"

enum { LOOK_US = 1000, THREADS_MAX = 64, CONDITIONS = 1024, PATIENCE_US = 1000000 };

static _Atomic uint64_t stopped_at_us; /* 0: it runs */
static _Atomic uint64_t added_us;
static _Atomic uint64_t sleeps;
static _Atomic unsigned signals[CONDITIONS]; /* by address; more than one may share a counter */
static _Thread_local bool rushes_now;

/* What each thread last waited for, until it waits again or ends; 0: nobody's. */
static _Atomic uint64_t until_of[THREADS_MAX];
static _Thread_local _Atomic uint64_t *own_until;
static pthread_key_t thread_key;
static pthread_once_t key_once = PTHREAD_ONCE_INIT;

uint64_t __real_clock_monotonic_us(void);
uint64_t __wrap_clock_monotonic_us(void);
uint64_t __real_clock_coarse_us(void);
uint64_t __wrap_clock_coarse_us(void);
bool __real_wait_until(pthread_cond_t *condition, pthread_mutex_t *lock, uint64_t until_us);
bool __wrap_wait_until(pthread_cond_t *condition, pthread_mutex_t *lock, uint64_t until_us);
int __real_pthread_cond_signal(pthread_cond_t *condition);
int __wrap_pthread_cond_signal(pthread_cond_t *condition);
int __real_pthread_cond_broadcast(pthread_cond_t *condition);
int __wrap_pthread_cond_broadcast(pthread_cond_t *condition);
void __real_wait_sleep_us(uint64_t us);
void __wrap_wait_sleep_us(uint64_t us);

static uint64_t moved(uint64_t real_us)
{
    uint64_t stopped_us = atomic_load(&stopped_at_us);
    return (stopped_us != 0 ? stopped_us : real_us) + atomic_load(&added_us);
}

uint64_t __wrap_clock_monotonic_us(void)
{
    return moved(__real_clock_monotonic_us());
}

uint64_t __wrap_clock_coarse_us(void)
{
    return moved(__real_clock_coarse_us());
}

void fake_clock_stop(void)
{
    atomic_store(&stopped_at_us, __real_clock_monotonic_us());
}

void fake_clock_run(void)
{
    atomic_store(&stopped_at_us, 0);
}

void fake_clock_add_us(uint64_t us)
{
    atomic_fetch_add(&added_us, us);
}

void fake_clock_rush(bool rushes)
{
    rushes_now = rushes;
}

uint64_t fake_clock_sleeps(void)
{
    return atomic_load(&sleeps);
}

bool fake_clock_is_awaited_in_ms(unsigned least_ms, unsigned most_ms)
{
    uint64_t now_us = __wrap_clock_monotonic_us();
    uint64_t least_us = now_us + least_ms * 1000ULL;
    uint64_t most_us = now_us + most_ms * 1000ULL;
    for (unsigned i = 0; i < THREADS_MAX; i++) {
        uint64_t until_us = atomic_load(&until_of[i]);
        if (until_us >= least_us && until_us <= most_us)
            return true;
    }
    return false;
}

static void on_thread_end(void *until)
{
    atomic_store((_Atomic uint64_t *)until, 0);
}

static void make_key(void)
{
    assert_int_equal(pthread_key_create(&thread_key, on_thread_end), 0);
}

static void note_wait(uint64_t until_us)
{
    if (own_until != NULL) {
        atomic_store(own_until, until_us);
        return;
    }
    for (unsigned i = 0; own_until == NULL; i++) {
        uint64_t nobodys = 0;
        assert_true(i < THREADS_MAX);
        if (atomic_compare_exchange_strong(&until_of[i], &nobodys, until_us))
            own_until = &until_of[i];
    }
    pthread_once(&key_once, make_key);
    assert_int_equal(pthread_setspecific(thread_key, (void *)own_until), 0);
}

static bool someone_is_late(void)
{
    uint64_t now_us = __wrap_clock_monotonic_us();
    for (unsigned i = 0; i < THREADS_MAX; i++) {
        uint64_t until_us = atomic_load(&until_of[i]);
        if (until_us != 0 && until_us <= now_us)
            return true;
    }
    return false;
}

void fake_clock_advance_ms(unsigned ms)
{
    fake_clock_add_us((uint64_t)ms * 1000);
    uint64_t end_us = __real_clock_monotonic_us() + PATIENCE_US;
    while (someone_is_late() && __real_clock_monotonic_us() < end_us)
        await_pause();
}

static _Atomic unsigned *signals_of(const pthread_cond_t *condition)
{
    return &signals[(uintptr_t)condition / sizeof(pthread_cond_t) % CONDITIONS];
}

int __wrap_pthread_cond_signal(pthread_cond_t *condition)
{
    atomic_fetch_add(signals_of(condition), 1);
    return __real_pthread_cond_signal(condition);
}

int __wrap_pthread_cond_broadcast(pthread_cond_t *condition)
{
    atomic_fetch_add(signals_of(condition), 1);
    return __real_pthread_cond_broadcast(condition);
}

bool __wrap_wait_until(pthread_cond_t *condition, pthread_mutex_t *lock, uint64_t until_us)
{
    const unsigned before = atomic_load(signals_of(condition));
    note_wait(until_us);
    uint64_t now_us;
    while ((now_us = __wrap_clock_monotonic_us()) < until_us) {
        uint64_t left_us = until_us - now_us < LOOK_US ? until_us - now_us : LOOK_US;
        (void)__real_wait_until(condition, lock, __real_clock_monotonic_us() + left_us);
        if (atomic_load(signals_of(condition)) != before)
            return true;
        if (rushes_now)
            fake_clock_add_us(until_us - now_us);
    }
    return false;
}

void __wrap_wait_sleep_us(uint64_t us)
{
    const uint64_t until_us = __wrap_clock_monotonic_us() + us;
    const uint64_t end_us = __real_clock_monotonic_us() + us;
    uint64_t real_us;
    atomic_fetch_add(&sleeps, 1);
    if (rushes_now) {
        fake_clock_add_us(us);
        return;
    }
    while ((real_us = __real_clock_monotonic_us()) < end_us &&
           __wrap_clock_monotonic_us() < until_us)
        __real_wait_sleep_us(end_us - real_us < LOOK_US ? end_us - real_us : LOOK_US);
}
