/* The stop, step by step: who is let in, who is answered, who is closed. */
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include "await.h"
#include "fake_clock.h"
#include "harness.h"

static const char REQUEST[] = "GET /x HTTP/1.1\r\nHost: x\r\n\r\n";

static struct harness harness;

static int start(void **state)
{
    (void)state;
    harness_start(&harness, &harness_limits);
    fake_clock_stop();
    return 0;
}

static int stop(void **state)
{
    (void)state;
    fake_clock_run();
    harness_stop(&harness);
    return 0;
}

static void wait_for_nobody(void)
{
    AWAIT(http_server_load(harness.server).connections == 0);
    harness_wait_requests(&harness, 0);
}

static void assert_asked(int fd, const char *connection)
{
    client_send(fd, REQUEST);
    struct reply reply = client_read(fd);
    assert_int_equal(reply.status, 200);
    assert_int_equal(reply_has(&reply, "\r\nConnection: close\r\n"), connection != NULL);
    reply_free(&reply);
}

/* An idle connection may ask once more, is answered, with `Connection: close`. */
static void idle_ones_may_ask_once_more(void **state)
{
    (void)state;
    int fd = client_connect(&harness);
    assert_asked(fd, NULL);
    harness_wait_requests(&harness, 0);
    http_server_drain(harness.server, 2000);
    fake_clock_advance_ms(1900);
    assert_asked(fd, "close");
    assert_true(client_is_closed(fd));
    wait_for_nobody();
    close(fd);
}

static void idle_ones_are_closed(void **state)
{
    (void)state;
    fake_clock_run(); /* the watcher tells times of idling apart by when they began */
    int asked = client_connect(&harness);
    assert_asked(asked, NULL);
    int silent = client_connect(&harness);
    harness_wait_connections(&harness, 2);
    harness_wait_requests(&harness, 0);
    fake_clock_advance_ms(2000); /* a new one would have that long */
    fake_clock_stop();
    http_server_drain(harness.server, 300);
    for (unsigned ms = 0; ms < 280; ms += 20)
        fake_clock_advance_ms(20);
    assert_false(client_closed_within(asked, 1) || client_closed_within(silent, 1));
    for (unsigned ms = 0; ms < 60; ms += 20)
        fake_clock_advance_ms(20);
    assert_true(client_is_closed(asked));
    assert_true(client_is_closed(silent));
    wait_for_nobody();
    close(asked);
    close(silent);
}

/* A request whose first bytes have come is no idling. */
static void begun_ones_are_waited_for(void **state)
{
    (void)state;
    int fd = client_connect(&harness);
    assert_asked(fd, NULL);
    /* the watcher tells the first byte from what came before by looking twice */
    harness_wait_requests(&harness, 0);
    fake_clock_advance_ms(600);
    fake_clock_advance_ms(600);
    http_server_drain(harness.server, 100);
    client_send(fd, "GET /x HTT");
    for (unsigned i = 0; i < 5; i++)
        fake_clock_advance_ms(100);
    assert_false(client_closed_within(fd, 1));
    client_send(fd, "P/1.1\r\nHost: x\r\n\r\n");
    struct reply reply = client_read(fd);
    assert_int_equal(reply.status, 200);
    assert_true(reply_has(&reply, "\r\nConnection: close\r\n"));
    reply_free(&reply);
    close(fd);
    wait_for_nobody();
}

static void pending_ones_are_waited_for(void **state)
{
    (void)state;
    int fd = client_connect(&harness);
    client_send(fd, "GET /hold HTTP/1.1\r\nHost: x\r\n\r\n");
    harness_wait_held(&harness, 1);
    http_server_drain(harness.server, 50);
    fake_clock_advance_ms(300);
    struct http_load load = http_server_load(harness.server);
    assert_int_equal(load.requests, 1);
    assert_int_equal(load.in_service, 1);
    assert_int_equal(load.connections, 1);
    assert_false(http_client_gone(harness.held[0]));
    http_server_cut(harness.server);
    assert_true(http_client_gone(harness.held[0]));
    harness_resume(&harness);
    struct reply reply = client_read(fd);
    assert_int_equal(reply.status, 200);
    assert_true(reply_has(&reply, "\r\nConnection: close\r\n"));
    reply_free(&reply);
    close(fd);
    wait_for_nobody();
}

/* Who got through before the stop is served, though nobody had taken him in yet. */
static void those_who_wait_are_let_in(void **state)
{
    (void)state;
    enum { WAITING = 200 };
    int fds[WAITING];
    for (unsigned i = 0; i < WAITING; i++) {
        fds[i] = client_connect(&harness);
        client_send(fds[i], REQUEST);
    }
    http_server_drain(harness.server, 1000);
    for (unsigned i = 0; i < WAITING; i++) {
        struct reply reply = client_read(fds[i]);
        assert_reply(reply, 200, "GET /x ");
        close(fds[i]);
    }
    wait_for_nobody();
}

static void nobody_else_is_let_in(void **state)
{
    (void)state;
    http_server_drain(harness.server, 0);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons(harness.port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    assert_int_not_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    close(fd);
    http_server_drain(harness.server, 0); /* twice is once */
}

static void a_busy_worker_is_seen(void **state)
{
    (void)state;
    assert_int_equal(http_server_load(harness.server).longest_us, 0);
    int fd = client_connect(&harness);
    client_send(fd, "GET /busy HTTP/1.1\r\nHost: x\r\n\r\n");
    harness_wait_busy(&harness);
    fake_clock_advance_ms(70);
    assert_int_equal(http_server_load(harness.server).longest_us, 70000);
    harness_release(&harness);
    struct reply reply = client_read(fd);
    assert_int_equal(reply.status, 200);
    reply_free(&reply);
    close(fd);
    assert_int_equal(http_server_load(harness.server).longest_us, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(idle_ones_may_ask_once_more, start, stop),
        cmocka_unit_test_setup_teardown(idle_ones_are_closed, start, stop),
        cmocka_unit_test_setup_teardown(begun_ones_are_waited_for, start, stop),
        cmocka_unit_test_setup_teardown(pending_ones_are_waited_for, start, stop),
        cmocka_unit_test_setup_teardown(those_who_wait_are_let_in, start, stop),
        cmocka_unit_test_setup_teardown(nobody_else_is_let_in, start, stop),
        cmocka_unit_test_setup_teardown(a_busy_worker_is_seen, start, stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
