/* Clients that are slow, idle or too many. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "await.h"
#include "fake_clock.h"
#include "harness.h"
#include "http/http_internal.h"

static struct harness harness;

static void start(struct http_limits limits)
{
    harness_start(&harness, &limits);
    fake_clock_stop();
}

static void stop(void)
{
    fake_clock_run();
    harness_stop(&harness);
}

/* Sends `text` a byte every 50 ms of the stopped clock until the server closes, which it has to do
 * after so long. */
static void drip(int fd, const char *text, unsigned least_ms, unsigned most_ms)
{
    unsigned passed_ms = 0;
    for (size_t i = 0; passed_ms < most_ms; i = (i + 1) % strlen(text)) {
        client_send_bytes(fd, text + i, 1);
        fake_clock_advance_ms(50);
        passed_ms += 50;
        /* when the time is over, the worker needs a moment, too */
        if (client_closed_within(fd, passed_ms < least_ms ? 1 : 100))
            break;
    }
    assert_true(passed_ms >= least_ms);
    assert_true(client_is_closed(fd));
}

static void ask_on(int fd)
{
    client_send(fd, "GET /x HTTP/1.1\r\nHost: x\r\n\r\n");
    struct reply reply = client_read(fd);
    assert_reply(reply, 200, "GET /x ");
}

static void slow_headers(void **state)
{
    (void)state;
    struct http_limits limits = harness_limits;
    limits.header_deadline_ms = 1000;
    start(limits);
    /* before the request line is whole, on a new connection */
    int fd = client_connect(&harness);
    harness_wait_connections(&harness, 1);
    drip(fd, "abcdefghij", 900, 1500);
    close(fd);
    harness_wait_connections(&harness, 0);
    /* the same on one that has been served, and that the watcher has seen idle */
    fd = client_connect(&harness);
    ask_on(fd);
    harness_wait_requests(&harness, 0);
    fake_clock_advance_ms(125);
    fake_clock_advance_ms(125);
    drip(fd, "abcdefghij", 900, 1500);
    close(fd);
    stop();
    assert_int_equal(atomic_load(&harness.requests), 1);
}

static void slow_headers_behind_the_line(void **state)
{
    (void)state;
    struct http_limits limits = harness_limits;
    limits.header_deadline_ms = 1000;
    start(limits);
    int idle = client_connect(&harness);
    int served = client_connect(&harness);
    ask_on(served);
    int fd = client_connect(&harness);
    client_send(fd, "GET / HTTP/1.1\r\n");
    harness_wait_connections(&harness, 3);
    harness_wait_requests(&harness, 1);
    drip(fd, "a: b\r\n", 900, 1500);
    close(fd);
    /* idling is no slowness */
    ask_on(idle);
    ask_on(served);
    fake_clock_advance_ms(1100);
    ask_on(served);
    close(idle);
    close(served);
    stop();
}

/* All of the deadline is theirs, behind the line, too. */
static void patient_headers(void **state)
{
    (void)state;
    struct http_limits limits = harness_limits;
    const unsigned deadlines_ms[] = {0, 30000};
    for (unsigned i = 0; i < 2; i++) {
        limits.header_deadline_ms = deadlines_ms[i];
        start(limits);
        int fd = client_connect(&harness);
        client_send(fd, "GET /x HTTP/1.1\r\nHost: x\r\n");
        harness_wait_requests(&harness, 1);
        fake_clock_advance_ms(2900);
        fake_clock_advance_ms(2900);
        client_send(fd, "\r\n");
        struct reply reply = client_read(fd);
        assert_reply(reply, 200, "GET /x ");
        close(fd);
        stop();
    }
}

static void slow_bodies(void **state)
{
    (void)state;
    struct http_limits limits = harness_limits;
    limits.body_deadline_ms = 1000;
    start(limits);
    int fd = client_connect(&harness);
    client_send(fd, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n");
    harness_wait_requests(&harness, 1);
    drip(fd, "x", 1000, 1700);
    close(fd);
    harness_wait_connections(&harness, 0);
    fd = client_connect(&harness);
    client_send(fd, "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
    harness_wait_requests(&harness, 1);
    drip(fd, "1\r\nx\r\n", 900, 1600);
    close(fd);
    stop();
    assert_int_equal(atomic_load(&harness.requests), 0);

    /* what is too large has the time of what is allowed */
    limits.max_body_bytes = 1000;
    start(limits);
    fd = client_connect(&harness);
    client_send(fd, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n");
    harness_wait_requests(&harness, 1);
    drip(fd, "x", 1000, 1700);
    close(fd);
    stop();
}

/* Parts of a second count. */
static void short_deadlines(void **state)
{
    (void)state;
    struct http_limits limits = harness_limits;
    limits.header_deadline_ms = 300;
    limits.body_deadline_ms = 400;
    start(limits);
    int fd = client_connect(&harness);
    harness_wait_connections(&harness, 1);
    drip(fd, "abcdefghij", 250, 700);
    close(fd);
    harness_wait_connections(&harness, 0);
    fd = client_connect(&harness);
    client_send(fd, "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
    harness_wait_requests(&harness, 1);
    drip(fd, "1\r\nx\r\n", 350, 800);
    close(fd);
    stop();
}

/* So short that the watcher's least interval counts. */
static void shortest_deadline(void **state)
{
    (void)state;
    struct http_limits limits = harness_limits;
    limits.header_deadline_ms = 100;
    limits.body_deadline_ms = 0;
    start(limits);
    int fd = client_connect(&harness);
    client_send(fd, "GET /x HTTP/1.1\r\n");
    harness_wait_requests(&harness, 1);
    fake_clock_advance_ms(90);
    assert_false(client_closed_within(fd, 0));
    unsigned looks = 0; /* the watcher may begin to wait at any moment of the test's clock */
    while (!client_closed_within(fd, 10) && looks++ < 1000)
        fake_clock_advance_ms(20);
    assert_in_range(looks, 1, 999);
    close(fd);
    stop();
}

static void no_deadlines(void **state)
{
    (void)state;
    struct http_limits limits = harness_limits;
    limits.header_deadline_ms = 0;
    limits.body_deadline_ms = 0;
    start(limits);
    int fd = client_connect(&harness);
    client_send(fd, "GE");
    harness_wait_connections(&harness, 1);
    for (unsigned i = 0; i < 5; i++)
        fake_clock_advance_ms(700); /* longer than from one look of the watcher to the next */
    client_send(fd, "T /x HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n");
    harness_wait_requests(&harness, 1);
    for (unsigned i = 0; i < 5; i++)
        fake_clock_advance_ms(700);
    client_send(fd, "ab");
    struct reply reply = client_read(fd);
    assert_reply(reply, 200, "GET /x ab");
    close(fd);
    fd = client_connect(&harness); /* an answer in pieces that is not read for a while */
    client_send(fd, "GET /pieces/200 HTTP/1.0\r\nHost: x\r\n\r\n");
    harness_wait_requests(&harness, 1);
    for (unsigned i = 0; i < 5; i++)
        fake_clock_advance_ms(60000);
    size_t got = 0;
    char piece[4096];
    for (ssize_t len; (len = recv(fd, piece, sizeof(piece), 0)) > 0;)
        got += (size_t)len;
    assert_in_range(got, 200 * HARNESS_PIECE_BYTES, 201 * HARNESS_PIECE_BYTES);
    close(fd);
    stop();
}

static void wait_for_large(uint64_t bytes)
{
    AWAIT(http_server_load(harness.server).large_bytes == bytes);
}

/* Clients that do not read hold no more than the limit together. */
static void large_answers(void **state)
{
    (void)state;
    struct http_limits limits = harness_limits;
    limits.large_answers_bytes = 33 << 20; /* two of 8 MiB for each client */
    start(limits);
    int fds[3];
    for (int i = 0; i < 3; i++) {
        fds[i] = client_connect(&harness);
        client_send(fds[i], "GET /larger HTTP/1.1\r\nHost: x\r\n\r\n");
        if (i < 2)
            wait_for_large((uint64_t)(i + 1) * 8 << 20);
    }
    struct reply reply = client_read(fds[2]);
    assert_int_equal(reply.status, 503);
    reply_free(&reply);
    reply = client_read(fds[0]);
    assert_int_equal(reply.status, 200);
    reply_free(&reply);
    wait_for_large(8 << 20);
    client_send(fds[2], "GET /larger HTTP/1.1\r\nHost: x\r\n\r\n"); /* room again */
    reply = client_read(fds[2]);
    assert_int_equal(reply.status, 200);
    reply_free(&reply);
    close(fds[1]); /* gone without reading */
    close(fds[0]);
    close(fds[2]);
    stop();
}

/* Who holds much leaves room for others. */
static void shares_of_large_answers(void **state)
{
    (void)state;
    struct http_limits limits = harness_limits;
    limits.large_answers_bytes = 33 << 20;
    start(limits);
    int fds[4];
    for (unsigned i = 0; i < 4; i++) {
        fds[i] = client_connect_from(&harness, i < 3 ? 2 : 3);
        client_send(fds[i], "GET /larger HTTP/1.1\r\nHost: x\r\n\r\n");
        if (i < 2)
            wait_for_large((uint64_t)(i + 1) * 8 << 20);
    }
    struct reply reply = client_read(fds[2]);
    assert_int_equal(reply.status, 503);
    reply_free(&reply);
    reply = client_read(fds[3]);
    assert_int_equal(reply.status, 200);
    assert_int_equal(reply.body.len, 8 << 20);
    reply_free(&reply);
    for (unsigned i = 0; i < 4; i++)
        close(fds[i]);
    stop();
}

/* What has to be answered is answered, whatever others hold; and it counts. */
static void answers_that_are_owed(void **state)
{
    (void)state;
    struct http_limits limits = harness_limits;
    limits.large_answers_bytes = 1 << 20;
    start(limits);
    int owed = client_connect(&harness);
    client_send(owed, "GET /owed HTTP/1.1\r\nHost: x\r\n\r\n");
    wait_for_large(8 << 20);
    struct reply reply = client_read(owed);
    assert_int_equal(reply.status, 200);
    reply_free(&reply);
    close(owed);
    stop();
}

static void idle_timeout(void **state)
{
    (void)state;
    struct http_limits limits = harness_limits;
    limits.idle_timeout_s = 1;
    start(limits);
    int pending = client_connect(&harness);
    client_send(pending, "GET /hold HTTP/1.1\r\nHost: x\r\n\r\n");
    harness_wait_held(&harness, 1);
    int silent = client_connect(&harness); /* idle later than the other one waits */
    assert_true(client_is_closed(silent));
    harness_resume(&harness);
    struct reply reply = client_read(pending);
    assert_reply(reply, 200, "GET /hold ");
    close(silent);
    close(pending);
    stop();
}

static void longest_idle_goes_first(void **state)
{
    (void)state;
    struct http_limits limits = harness_limits;
    limits.connections_max = 3;
    start(limits);
    int held = client_connect(&harness);
    client_send(held, "GET /hold HTTP/1.1\r\nHost: x\r\n\r\n");
    harness_wait_held(&harness, 1);
    int first = client_connect(&harness);
    int second = client_connect(&harness);
    ask_on(second);
    harness_wait_requests(&harness, 1); /* an answer ends after the client has it */
    fake_clock_advance_ms(1);
    ask_on(first);
    harness_wait_requests(&harness, 1);
    fake_clock_advance_ms(1);
    int third = client_connect(&harness);
    ask_on(third);
    assert_true(client_is_closed(second));
    ask_on(first);

    /* nobody idle: the newcomer is turned away */
    client_send(first, "GET /hold HTTP/1.1\r\nHost: x\r\n\r\n");
    client_send(third, "GET /hold HTTP/1.1\r\nHost: x\r\n\r\n");
    harness_wait_held(&harness, 3);
    int fourth = client_connect(&harness);
    assert_true(client_is_closed(fourth));
    int *const waiting[] = {&held, &first, &third};
    for (unsigned i = 0; i < 3; i++)
        harness_resume(&harness);
    for (unsigned i = 0; i < 3; i++) {
        struct reply reply = client_read(*waiting[i]);
        assert_reply(reply, 200, "GET /hold ");
        close(*waiting[i]);
    }
    close(second);
    close(fourth);
    stop();
}

static void many_more_than_allowed(void **state)
{
    (void)state;
    enum { CONNECTIONS = 200, ALLOWED = 20 };
    struct http_limits limits = harness_limits;
    limits.connections_max = ALLOWED;
    start(limits);
    int fds[CONNECTIONS];
    for (unsigned i = 0; i < CONNECTIONS; i++) {
        fds[i] = client_connect(&harness);
        ask_on(fds[i]);
    }
    unsigned open = 0;
    for (unsigned i = 0; i < CONNECTIONS; i++) {
        char c;
        open += recv(fds[i], &c, 1, MSG_DONTWAIT) < 0;
    }
    assert_in_range(open, ALLOWED, ALLOWED + 2);
    ask_on(fds[CONNECTIONS - 1]);
    for (unsigned i = 0; i < CONNECTIONS; i++)
        close(fds[i]);
    stop();
}

static void per_address(void **state)
{
    (void)state;
    struct http_limits limits = harness_limits;
    limits.connections_per_address = 2;
    start(limits);
    int first = client_connect(&harness);
    int second = client_connect(&harness);
    ask_on(first);
    ask_on(second);
    int third = client_connect(&harness);
    assert_true(client_is_closed(third));
    close(second);
    harness_wait_connections(&harness, 1);
    int fourth = client_connect(&harness);
    ask_on(fourth);
    close(first);
    close(third);
    close(fourth);
    stop();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slow_headers),
        cmocka_unit_test(slow_headers_behind_the_line),
        cmocka_unit_test(patient_headers),
        cmocka_unit_test(slow_bodies),
        cmocka_unit_test(short_deadlines),
        cmocka_unit_test(shortest_deadline),
        cmocka_unit_test(no_deadlines),
        cmocka_unit_test(large_answers),
        cmocka_unit_test(shares_of_large_answers),
        cmocka_unit_test(answers_that_are_owed),
        cmocka_unit_test(idle_timeout),
        cmocka_unit_test(longest_idle_goes_first),
        cmocka_unit_test(many_more_than_allowed),
        cmocka_unit_test(per_address),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
