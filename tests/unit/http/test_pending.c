/* Exchanges that wait: handover between threads, clients that go away, stopping meanwhile. */
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "await.h"
#include "fake_clock.h"
#include "harness.h"
#include "http/http_internal.h"

static struct harness harness;

static int start(void **state)
{
    (void)state;
    harness_start(&harness, &harness_limits);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    harness_stop(&harness);
    return 0;
}

static void resumed_by_another_thread(void **state)
{
    (void)state;
    int fd = client_connect(&harness);
    client_send(fd, "POST /hold HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nab"
                    "GET /behind HTTP/1.1\r\nHost: x\r\n\r\n");
    harness_wait_held(&harness, 1);
    assert_int_equal(atomic_load(&harness.requests), 1);
    harness_resume(&harness);
    struct reply reply = client_read(fd);
    assert_reply(reply, 200, "POST /hold ab");
    reply = client_read(fd);
    assert_reply(reply, 200, "GET /behind ");
    assert_int_equal(atomic_load(&harness.resumed), 1);
    close(fd);
}

static void load(void **state)
{
    (void)state;
    struct http_load before = http_server_load(harness.server);
    assert_int_equal(before.connections, 0);
    assert_int_equal(before.requests, 0);
    int idle = client_connect(&harness);
    int busy = client_connect(&harness);
    client_send(busy, "GET /hold HTTP/1.1\r\nHost: x\r\n\r\n");
    harness_wait_held(&harness, 1);
    harness_wait_connections(&harness, 2);
    assert_int_equal(http_server_load(harness.server).accepted, 2);
    assert_int_equal(http_server_load(harness.server).connections, 2);
    assert_int_equal(http_server_load(harness.server).requests, 1);
    harness_resume(&harness);
    struct reply reply = client_read(busy);
    assert_reply(reply, 200, "GET /hold ");
    close(idle);
    close(busy);
    harness_wait_connections(&harness, 0);
    assert_int_equal(http_server_load(harness.server).requests, 0);
}

static void resumed_before_return(void **state)
{
    (void)state;
    struct reply reply = client_ask(&harness, "GET /early HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_reply(reply, 200, "GET /early ");
    assert_int_equal(atomic_load(&harness.resumed), 3);
}

/* The race between http_resume() and the worker on its way to suspend, many times. */
static void resumed_at_once(void **state)
{
    (void)state;
    enum { CONNECTIONS = 8, ROUNDS = 300 };
    int fds[CONNECTIONS];
    for (unsigned i = 0; i < CONNECTIONS; i++)
        fds[i] = client_connect(&harness);
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (unsigned i = 0; i < CONNECTIONS; i++)
            client_send(fds[i], "GET /hop HTTP/1.1\r\nHost: x\r\n\r\n");
        for (unsigned i = 0; i < CONNECTIONS; i++) {
            struct reply reply = client_read(fds[i]);
            assert_reply(reply, 200, "GET /hop ");
        }
    }
    assert_int_equal(atomic_load(&harness.resumed), CONNECTIONS * ROUNDS);
    for (unsigned i = 0; i < CONNECTIONS; i++)
        close(fds[i]);
}

/* New connections get the numbers, and the library's memory, of those that have been suspended and
 * closed. */
static void numbers_are_used_again(void **state)
{
    (void)state;
    enum { CONNECTIONS = 4, ROUNDS = 50 };
    for (unsigned round = 0; round < ROUNDS; round++) {
        int fds[CONNECTIONS];
        for (unsigned i = 0; i < CONNECTIONS; i++) {
            fds[i] = client_connect(&harness);
            client_send(fds[i], "GET /hop HTTP/1.1\r\nHost: x\r\n\r\n");
        }
        for (unsigned i = 0; i < CONNECTIONS; i++) {
            struct reply reply = client_read(fds[i]);
            assert_reply(reply, 200, "GET /hop ");
            close(fds[i]);
        }
        harness_wait_connections(&harness, 0);
    }
}

static void client_gone(void **state)
{
    (void)state;
    int fd = client_connect(&harness);
    client_send(fd, "GET /hold HTTP/1.1\r\nHost: x\r\n\r\n");
    harness_wait_held(&harness, 1);
    assert_false(http_client_gone(harness.held[0]));
    client_send(fd, "GET /next HTTP/1.1\r\n");
    assert_false(http_client_gone(harness.held[0]));
    close(fd);
    AWAIT(http_client_gone(harness.held[0]));
    harness_resume(&harness);

    fd = client_connect(&harness);
    client_send(fd, "GET /hold HTTP/1.1\r\nHost: x\r\n\r\n");
    harness_wait_held(&harness, 1);
    struct linger reset = {.l_onoff = 1, .l_linger = 0};
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
    close(fd);
    AWAIT(http_client_gone(harness.held[0]));
    harness_resume(&harness);
}

static void broken_while_sending(void **state)
{
    (void)state;
    int fd = client_connect(&harness);
    int small = 4096;
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
    client_send(fd, "GET /large HTTP/1.1\r\nHost: x\r\n\r\n");
    char c;
    assert_int_equal(recv(fd, &c, 1, 0), 1);
    close(fd);
    fd = client_connect(&harness);
    client_send(fd, "POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc");
    AWAIT(http_server_load(harness.server).accepted == 2);
    close(fd);
    harness_wait_connections(&harness, 0);
    AWAIT(atomic_load(&harness.finished) == 1);
    assert_int_equal(atomic_load(&harness.requests), 1);
}

struct stopper {
    struct harness harness;
    pthread_t thread;
    unsigned grace_ms;
    _Atomic bool done;
};

static void *stopper_run(void *cls)
{
    struct stopper *stopper = cls;
    atomic_store(&stopper->harness.is_stopping, true);
    http_server_stop(stopper->harness.server, stopper->grace_ms);
    atomic_store(&stopper->done, true);
    return NULL;
}

static void stopper_finish(struct stopper *stopper)
{
    pthread_join(stopper->thread, NULL);
    pthread_mutex_lock(&stopper->harness.lock);
    stopper->harness.hop_stop = true;
    pthread_cond_signal(&stopper->harness.hop_wake);
    pthread_mutex_unlock(&stopper->harness.lock);
    pthread_join(stopper->harness.hopper, NULL);
    assert_int_equal(atomic_load(&stopper->harness.requests),
                     atomic_load(&stopper->harness.finished));
}

static void stop_lets_pending_end(void **state)
{
    (void)state;
    static struct stopper stopper = {.grace_ms = 5000};
    harness_start(&stopper.harness, &harness_limits);
    int idle = client_connect(&stopper.harness);
    int fd = client_connect(&stopper.harness);
    client_send(fd, "GET /hold HTTP/1.1\r\nHost: x\r\n\r\n");
    harness_wait_held(&stopper.harness, 1);
    assert_int_equal(pthread_create(&stopper.thread, NULL, stopper_run, &stopper), 0);
    AWAIT(atomic_load(&stopper.harness.server->stopping));
    assert_false(atomic_load(&stopper.done));
    harness_resume(&stopper.harness);
    struct reply reply = client_read(fd);
    assert_true(reply_has(&reply, "\r\nConnection: close\r\n"));
    assert_reply(reply, 200, "GET /hold ");
    stopper_finish(&stopper);
    assert_true(client_is_closed(idle));
    close(fd);
    close(idle);
}

static void stop_waits_for_the_holder(void **state)
{
    (void)state;
    static struct stopper stopper = {.grace_ms = 10};
    harness_start(&stopper.harness, &harness_limits);
    int half = client_connect(&stopper.harness);
    client_send(half, "POST /half HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabc");
    int fd = client_connect(&stopper.harness);
    client_send(fd, "GET /hold HTTP/1.1\r\nHost: x\r\n\r\n");
    harness_wait_held(&stopper.harness, 1);
    assert_int_equal(pthread_create(&stopper.thread, NULL, stopper_run, &stopper), 0);
    AWAIT(atomic_load(&stopper.harness.server->cutting));
    fake_clock_advance_ms(1000);
    assert_false(atomic_load(&stopper.done));
    harness_resume(&stopper.harness);
    stopper_finish(&stopper);
    assert_int_equal(atomic_load(&stopper.harness.requests), 1);
    close(half);
    close(fd);
}

/* Stopping under load: nothing is lost, nothing is used after it was freed. */
static void stop_under_load(void **state)
{
    (void)state;
    enum { CONNECTIONS = 16, ROUNDS = 5 };
    for (unsigned round = 0; round < ROUNDS; round++) {
        static struct stopper stopper;
        stopper = (struct stopper){.grace_ms = round % 2 == 0 ? 0 : 100};
        harness_start(&stopper.harness, &harness_limits);
        int fds[CONNECTIONS];
        for (unsigned i = 0; i < CONNECTIONS; i++) {
            fds[i] = client_connect(&stopper.harness);
            for (unsigned n = 0; n < 16; n++)
                client_send(fds[i], "GET /hop HTTP/1.1\r\nHost: x\r\n\r\n");
        }
        assert_int_equal(pthread_create(&stopper.thread, NULL, stopper_run, &stopper), 0);
        stopper_finish(&stopper);
        for (unsigned i = 0; i < CONNECTIONS; i++)
            close(fds[i]);
    }
}

#define WITH_SERVER(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_SERVER(resumed_by_another_thread),      WITH_SERVER(load),
        WITH_SERVER(resumed_before_return),          WITH_SERVER(resumed_at_once),
        WITH_SERVER(numbers_are_used_again),         WITH_SERVER(client_gone),
        WITH_SERVER(broken_while_sending),           cmocka_unit_test(stop_lets_pending_end),
        cmocka_unit_test(stop_waits_for_the_holder), cmocka_unit_test(stop_under_load),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
