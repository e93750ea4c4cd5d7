/* The moments at which a stop could lose a request: each is forced by the calls that the server
 * makes then (--wrap). */
#include <pthread.h>
#include <unistd.h>

#include "harness.h"
#include "http/http_internal.h"

static const char REQUEST[] = "GET /x HTTP/1.1\r\nHost: x\r\n\r\n";

static struct harness harness;

/* What the wrapped calls look at, and what they saw. */
static struct http_server *_Atomic watched;
static _Atomic unsigned looks;
static _Atomic unsigned misses;

int __real_pthread_mutex_lock(pthread_mutex_t *lock);
int __wrap_pthread_mutex_lock(pthread_mutex_t *lock);

/* Called by a worker with an open connection: anyone may read the server's load before the worker
 * gets the lock. */
static void look_at_count(struct http_server *server)
{
    uint64_t waiting =
        atomic_load(&server->connections_handed) - atomic_load(&server->connections_taken);
    atomic_fetch_add(&looks, 1);
    if (waiting + atomic_load(&server->connection_count) == 0)
        atomic_fetch_add(&misses, 1);
}

static bool is_worker(const struct http_server *server)
{
    for (unsigned i = 0; i < atomic_load(&server->pools_taken); i++)
        if (pthread_equal(server->pools[i].thread, pthread_self()))
            return true;
    return false;
}

int __wrap_pthread_mutex_lock(pthread_mutex_t *lock)
{
    struct http_server *server = atomic_load(&watched);
    if (server != NULL && lock == &server->lock && is_worker(server))
        look_at_count(server);
    return __real_pthread_mutex_lock(lock);
}

static int start(void **state)
{
    (void)state;
    harness_start(&harness, &harness_limits);
    atomic_store(&looks, 0);
    atomic_store(&misses, 0);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    atomic_store(&watched, NULL);
    harness_stop(&harness);
    return 0;
}

static void assert_asked(int fd, const char *request, bool closes)
{
    client_send(fd, request);
    struct reply reply = client_read(fd);
    assert_int_equal(reply.status, 200);
    assert_int_equal(reply_has(&reply, "\r\nConnection: close\r\n"), closes);
    reply_free(&reply);
}

/* A connection that is being taken in by a worker is always counted, so that a stop waits for it.
 */
static void one_that_is_taken_in_is_counted(void **state)
{
    (void)state;
    enum { EACH_WORKER_TWICE = 8 };
    for (unsigned i = 0; i < EACH_WORKER_TWICE; i++) {
        int fd = client_connect(&harness);
        assert_asked(fd, REQUEST, false); /* the workers are known after their first connection */
        close(fd);
        harness_wait_connections(&harness, 0);
        atomic_store(&watched, harness.server);
    }
    assert_true(atomic_load(&looks) > 0);
    assert_int_equal(atomic_load(&misses), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(one_that_is_taken_in_is_counted, start, stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
