/* Waits end at the given time, or when another thread signals. Only lower bounds of time are
 * checked, so that a slow machine passes. */
#include "base/wait.h"

#include "base/clock.h"
#include "unit.h"

enum { SHORT_US = 2000, LONG_US = 60 * 1000 * 1000 };

struct shared {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool is_set;
};

static void instants_pass(void **state)
{
    (void)state;
    struct shared shared = {.is_set = false};
    pthread_mutex_init(&shared.lock, NULL);
    wait_init(&shared.changed);
    pthread_mutex_lock(&shared.lock);
    uint64_t until_us = clock_monotonic_us() + SHORT_US;
    while (wait_until(&shared.changed, &shared.lock, until_us))
        continue;
    assert_true(clock_monotonic_us() >= until_us);
    assert_false(wait_until(&shared.changed, &shared.lock, until_us)); /* the time has passed */
    assert_false(wait_until(&shared.changed, &shared.lock, 0));
    pthread_mutex_unlock(&shared.lock);
    pthread_cond_destroy(&shared.changed);
    pthread_mutex_destroy(&shared.lock);
}

static void *set(void *cls)
{
    struct shared *shared = cls;
    pthread_mutex_lock(&shared->lock);
    shared->is_set = true;
    pthread_cond_signal(&shared->changed);
    pthread_mutex_unlock(&shared->lock);
    return NULL;
}

static void signals_end_waits(void **state)
{
    (void)state;
    struct shared shared = {.is_set = false};
    pthread_mutex_init(&shared.lock, NULL);
    wait_init(&shared.changed);
    pthread_t thread;
    pthread_mutex_lock(&shared.lock);
    uint64_t until_us = clock_monotonic_us() + LONG_US;
    assert_int_equal(pthread_create(&thread, NULL, set, &shared), 0);
    while (!shared.is_set)
        assert_true(wait_until(&shared.changed, &shared.lock, until_us));
    pthread_mutex_unlock(&shared.lock);
    pthread_join(thread, NULL);
    pthread_cond_destroy(&shared.changed);
    pthread_mutex_destroy(&shared.lock);
}

static void sleeps_last(void **state)
{
    (void)state;
    uint64_t before_us = clock_monotonic_us();
    wait_sleep_us(SHORT_US);
    assert_true(clock_monotonic_us() - before_us >= SHORT_US);
    wait_sleep_us(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(instants_pass),
        cmocka_unit_test(signals_end_waits),
        cmocka_unit_test(sleeps_last),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
