/* The moments at which a stop could lose a request: each is forced by the calls that the server
 * makes then (--wrap). */
#include <pthread.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "await.h"
#include "fake_clock.h"
#include "harness.h"
#include "http/http_internal.h"

static const char REQUEST[] = "GET /x HTTP/1.1\r\nHost: x\r\n\r\n";

static struct harness harness;

/* What the wrapped calls look at, and what they saw. */
static struct http_server *_Atomic watched;
static _Atomic unsigned looks;
static _Atomic unsigned misses;
static _Atomic int late_client = -1;
static const char *late_request;
static _Atomic bool late_is_served; /* before the watcher continues */
static _Atomic unsigned watcher_looks;

int __real_pthread_mutex_lock(pthread_mutex_t *lock);
int __wrap_pthread_mutex_lock(pthread_mutex_t *lock);
int __real_ioctl(int fd, unsigned long request, ...);
int __wrap_ioctl(int fd, unsigned long request, ...);

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

/* The watcher asks whether anything has arrived. The late client sends just after that. */
int __wrap_ioctl(int fd, unsigned long request, ...)
{
    va_list arguments;
    va_start(arguments, request);
    int *bytes = va_arg(arguments, int *);
    va_end(arguments);
    int result = __real_ioctl(fd, request, bytes);
    struct http_server *server = atomic_load(&watched);
    if (server == NULL || !pthread_equal(pthread_self(), server->watcher))
        return result;
    atomic_fetch_add(&watcher_looks, 1);
    if (*bytes > 0)
        return result;
    int client = atomic_exchange(&late_client, -1);
    if (client < 0)
        return result;
    unsigned before = atomic_load(&harness.requests);
    client_send(client, late_request);
    while (atomic_load(&late_is_served) && atomic_load(&harness.requests) == before)
        await_pause();
    return result;
}

/* The library's own idle timeout, which runs on the real clock, must not end what a test waits
 * for. */
static int start(void **state)
{
    (void)state;
    struct http_limits limits = harness_limits;
    limits.idle_timeout_s = 3600;
    harness_start(&harness, &limits);
    fake_clock_stop();
    atomic_store(&looks, 0);
    atomic_store(&misses, 0);
    atomic_store(&late_is_served, false);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    atomic_store(&watched, NULL);
    fake_clock_run();
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

/* Puts the clock forward, and then on in small steps until the condition holds: the watcher may
 * have read the clock before, or not yet. */
#define ADVANCE_UNTIL(ms, condition)                                                               \
    do {                                                                                           \
        fake_clock_advance_ms(ms);                                                                 \
        AWAIT((fake_clock_advance_ms(1), condition));                                              \
    } while (0)

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

static void wait_for_nobody(void)
{
    ADVANCE_UNTIL(1, http_server_load(harness.server).connections == 0);
}

/* A client that has just connected is about to ask: it has two seconds, and not only as long as one
 * that is idle. */
static void a_new_client_has_two_seconds(void **state)
{
    (void)state;
    int fresh = client_connect(&harness);
    int silent = client_connect(&harness);
    harness_wait_connections(&harness, 2);
    http_server_drain(harness.server, 100);
    for (unsigned i = 0; i < 19; i++)
        fake_clock_advance_ms(100);
    assert_int_equal(http_server_load(harness.server).connections, 2);
    assert_asked(fresh, REQUEST, true);
    wait_for_nobody();
    assert_true(client_closed_within(silent, 5000));
    close(fresh);
    close(silent);
}

/* One that has been silent for longer has no more time than those that are idle. */
static void an_old_silent_client_has_not(void **state)
{
    (void)state;
    int silent = client_connect(&harness);
    harness_wait_connections(&harness, 1);
    fake_clock_advance_ms(2000);
    int fresh = client_connect(&harness);
    harness_wait_connections(&harness, 2);
    http_server_drain(harness.server, 100);
    ADVANCE_UNTIL(150, http_server_load(harness.server).connections == 1);
    assert_true(client_closed_within(silent, 5000));
    assert_asked(fresh, REQUEST, true);
    wait_for_nobody();
    close(fresh);
    close(silent);
}

static int connect_idle(unsigned others)
{
    int fd = client_connect(&harness);
    harness_wait_connections(&harness, others + 1);
    fake_clock_advance_ms(600); /* the time of its opening is not that of its request */
    assert_asked(fd, REQUEST, false);
    harness_wait_requests(&harness, others);
    return fd;
}

/* Sends the request in the very moment in which the stop decides to close the connection. */
static void stop_and_ask(int fd, const char *request)
{
    late_request = request;
    atomic_store(&late_client, fd);
    atomic_store(&watched, harness.server);
    http_server_drain(harness.server, 100);
    ADVANCE_UNTIL(150, atomic_load(&late_client) == -1);
}

static int ask_at_the_end(const char *request, unsigned others)
{
    int fd = connect_idle(others);
    stop_and_ask(fd, request);
    return fd;
}

/* Clients that do not read their answers: a worker that has nothing else to look after continues a
 * connection without reading from it first. */
enum { SLOW_CLIENTS = 4 };

static void connect_slow(int fds[static SLOW_CLIENTS])
{
    for (unsigned i = 0; i < SLOW_CLIENTS; i++) {
        fds[i] = client_connect(&harness);
        client_send(fds[i], "GET /owed HTTP/1.1\r\nHost: x\r\n\r\n");
    }
    harness_wait_requests(&harness, SLOW_CLIENTS);
    AWAIT(http_server_load(harness.server).in_service == 0);
}

static void assert_answered_at_the_end(void)
{
    int slow[SLOW_CLIENTS];
    connect_slow(slow);
    int fd = ask_at_the_end("POST /hold HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello",
                            SLOW_CLIENTS);
    harness_wait_held(&harness, 1);
    for (unsigned i = 0; i < 30; i++)
        fake_clock_advance_ms(100); /* however long it takes */
    assert_false(http_client_gone(harness.held[0]));
    harness_resume(&harness);
    struct reply reply = client_read(fd);
    assert_true(reply_has(&reply, "\r\nConnection: close\r\n"));
    assert_reply(reply, 200, "POST /hold hello");
    for (unsigned i = 0; i < SLOW_CLIENTS; i++)
        close(slow[i]);
    wait_for_nobody();
    close(fd);
}

static void a_request_at_the_last_moment_is_answered(void **state)
{
    (void)state;
    assert_answered_at_the_end();
}

/* The service has it before the connection is shut down. */
static void so_is_one_that_is_just_served(void **state)
{
    (void)state;
    atomic_store(&late_is_served, true);
    assert_answered_at_the_end();
}

/* Part of a request does not delay the stop. */
static void half_a_request_at_the_last_moment_is_given_up(void **state)
{
    (void)state;
    int fd = ask_at_the_end("GET /x HTT", 0);
    wait_for_nobody();
    assert_true(client_closed_within(fd, 5000));
    close(fd);
}

/* Each worker has at least one of these clients: it depends on the number of a connection's
 * descriptor. */
enum { BUSY_CLIENTS = 4, WORKERS = 2 };

static void make_all_busy(int fds[static BUSY_CLIENTS])
{
    int spare[BUSY_CLIENTS];
    /* read once: while a worker takes a connection, that may be counted twice */
    unsigned before = http_server_load(harness.server).connections;
    for (unsigned i = 0; i < BUSY_CLIENTS; i++) {
        fds[i] = client_connect(&harness);
        AWAIT(http_server_load(harness.server).connections == before + i + 1);
        client_send(fds[i], "GET /busy HTTP/1.1\r\nHost: x\r\n\r\n");
        spare[i] = i % 2 == 0 ? dup(fds[i]) : -1;
    }
    AWAIT(atomic_load(&harness.busy) == WORKERS);
    for (unsigned i = 0; i < BUSY_CLIENTS; i++)
        if (spare[i] >= 0)
            close(spare[i]);
}

static void release_workers(void)
{
    for (unsigned i = 0; i < BUSY_CLIENTS; i++)
        harness_release(&harness);
}

static void read_all(int fds[static BUSY_CLIENTS])
{
    for (unsigned i = 0; i < BUSY_CLIENTS; i++) {
        struct reply reply = client_read(fds[i]);
        assert_int_equal(reply.status, 200);
        reply_free(&reply);
        close(fds[i]);
    }
}

static void release_all(int fds[static BUSY_CLIENTS])
{
    release_workers();
    read_all(fds);
}

static bool any_is_unread(void)
{
    bool found = false;
    pthread_mutex_lock(&harness.server->lock); /* so that the watcher has shut it down, too */
    for (struct connection *at = harness.server->connections; at != NULL; at = at->next)
        found = found || atomic_load(&at->unread_since_us) != 0;
    pthread_mutex_unlock(&harness.server->lock);
    return found;
}

/* Like ask_at_the_end(), while all workers are busy: the stop has shut down the reading side before
 * the request is read. */
static int ask_busy_at_the_end(int busy[static BUSY_CLIENTS], const char *request)
{
    int fd = connect_idle(0);
    make_all_busy(busy);
    stop_and_ask(fd, request);
    AWAIT(any_is_unread());
    return fd;
}

/* It is noticed although the stop has shut down the reading side itself. */
static void its_client_may_leave(void **state)
{
    (void)state;
    int busy[BUSY_CLIENTS];
    int fd = ask_busy_at_the_end(
        busy, "POST /hold HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello");
    release_workers();
    harness_wait_held(&harness, 1);
    assert_false(http_client_gone(harness.held[0]));
    close(fd);
    AWAIT(http_client_gone(harness.held[0]));
    harness_resume(&harness);
    read_all(busy); /* its worker has waited for it */
    wait_for_nobody();
}

/* Its worker waits for it, and nobody else could go on with it. */
static void its_worker_may_be_needed_for_it(void **state)
{
    (void)state;
    int busy[BUSY_CLIENTS];
    int fd = ask_busy_at_the_end(busy, "GET /idle HTTP/1.1\r\nHost: x\r\n\r\n");
    release_all(busy);
    AWAIT(http_server_load(harness.server).requests == 0);
    wait_for_nobody();
    close(fd);
}

/* The worker sees the bytes and the end at once, and the library misses the end then. */
static void half_a_body_is_given_up_at_once(void **state)
{
    (void)state;
    int busy[BUSY_CLIENTS];
    int fd =
        ask_busy_at_the_end(busy, "POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\nhello");
    release_all(busy);
    AWAIT(http_server_load(harness.server).connections == 0);
    assert_true(client_closed_within(fd, 5000));
    close(fd);
}

/* The length of a chunked body is not known: the watcher gives the connection up. */
static void so_is_half_a_chunked_body_after_two_seconds(void **state)
{
    (void)state;
    int busy[BUSY_CLIENTS];
    int fd = ask_busy_at_the_end(
        busy, "POST /x HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel");
    release_all(busy);
    AWAIT(http_server_load(harness.server).connections == 1);
    for (unsigned ms = 0; ms < 2500 && http_server_load(harness.server).connections > 0; ms++) {
        fake_clock_advance_ms(1);
        await_pause();
    }
    AWAIT(http_server_load(harness.server).connections == 0);
    close(fd);
}

/* A request is answered however long its worker is busy with others. */
static void a_request_waits_for_its_worker(void **state)
{
    (void)state;
    enum { LOOKS = 200 };
    int busy[BUSY_CLIENTS];
    int fd = ask_busy_at_the_end(busy, REQUEST);
    unsigned before = atomic_load(&watcher_looks);
    AWAIT((fake_clock_advance_ms(100), atomic_load(&watcher_looks) > before + LOOKS));
    release_all(busy);
    struct reply reply = client_read(fd);
    assert_true(reply_has(&reply, "\r\nConnection: close\r\n"));
    assert_reply(reply, 200, "GET /x ");
    wait_for_nobody();
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(one_that_is_taken_in_is_counted, start, stop),
        cmocka_unit_test_setup_teardown(a_new_client_has_two_seconds, start, stop),
        cmocka_unit_test_setup_teardown(an_old_silent_client_has_not, start, stop),
        cmocka_unit_test_setup_teardown(a_request_at_the_last_moment_is_answered, start, stop),
        cmocka_unit_test_setup_teardown(so_is_one_that_is_just_served, start, stop),
        cmocka_unit_test_setup_teardown(half_a_request_at_the_last_moment_is_given_up, start, stop),
        cmocka_unit_test_setup_teardown(its_client_may_leave, start, stop),
        cmocka_unit_test_setup_teardown(its_worker_may_be_needed_for_it, start, stop),
        cmocka_unit_test_setup_teardown(half_a_body_is_given_up_at_once, start, stop),
        cmocka_unit_test_setup_teardown(so_is_half_a_chunked_body_after_two_seconds, start, stop),
        cmocka_unit_test_setup_teardown(a_request_waits_for_its_worker, start, stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
