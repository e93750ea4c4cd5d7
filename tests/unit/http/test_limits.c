/* Clients that are slow, idle or too many. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "harness.h"

static struct harness harness;

static void start(struct http_limits limits)
{
    harness_start(&harness, &limits);
}

/* Sends `text` a byte every 50 ms until the server closes; how long that took. */
static uint64_t drip(int fd, const char *text)
{
    uint64_t begun = now_ms();
    for (size_t i = 0; now_ms() - begun < 5000; i = (i + 1) % strlen(text)) {
        client_send_bytes(fd, text + i, 1);
        if (client_closed_within(fd, 50))
            break;
    }
    return now_ms() - begun;
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
    assert_in_range(drip(fd, "abcdefghij"), 900, 1500);
    close(fd);
    /* the same on one that has been served */
    fd = client_connect(&harness);
    ask_on(fd);
    nap_ms(250);
    assert_in_range(drip(fd, "abcdefghij"), 900, 1500);
    close(fd);
    harness_stop(&harness);
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
    assert_in_range(drip(fd, "a: b\r\n"), 900, 1500);
    close(fd);
    /* idling is no slowness */
    ask_on(idle);
    ask_on(served);
    nap_ms(100);
    ask_on(served);
    close(idle);
    close(served);
    harness_stop(&harness);
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
        nap_ms(5800);
        client_send(fd, "\r\n");
        struct reply reply = client_read(fd);
        assert_reply(reply, 200, "GET /x ");
        close(fd);
        harness_stop(&harness);
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
    assert_in_range(drip(fd, "x"), 1000, 1700);
    close(fd);
    fd = client_connect(&harness);
    client_send(fd, "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
    assert_in_range(drip(fd, "1\r\nx\r\n"), 900, 1600);
    close(fd);
    harness_stop(&harness);
    assert_int_equal(atomic_load(&harness.requests), 0);

    /* what is too large has the time of what is allowed */
    limits.max_body_bytes = 1000;
    start(limits);
    fd = client_connect(&harness);
    client_send(fd, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n");
    assert_in_range(drip(fd, "x"), 1000, 1700);
    close(fd);
    harness_stop(&harness);
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
    assert_in_range(drip(fd, "abcdefghij"), 250, 700);
    close(fd);
    fd = client_connect(&harness);
    client_send(fd, "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
    assert_in_range(drip(fd, "1\r\nx\r\n"), 350, 800);
    close(fd);
    harness_stop(&harness);
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
    nap_ms(700); /* longer than from one look of the watcher to the next */
    client_send(fd, "T /x HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n");
    nap_ms(700);
    client_send(fd, "ab");
    struct reply reply = client_read(fd);
    assert_reply(reply, 200, "GET /x ab");
    close(fd);
    harness_stop(&harness);
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
        nap_ms(200);
    }
    struct reply reply = client_read(fds[2]);
    assert_int_equal(reply.status, 503);
    reply_free(&reply);
    reply = client_read(fds[0]);
    assert_int_equal(reply.status, 200);
    reply_free(&reply);
    nap_ms(200);
    client_send(fds[2], "GET /larger HTTP/1.1\r\nHost: x\r\n\r\n"); /* room again */
    reply = client_read(fds[2]);
    assert_int_equal(reply.status, 200);
    reply_free(&reply);
    close(fds[1]); /* gone without reading */
    close(fds[0]);
    close(fds[2]);
    harness_stop(&harness);
}

/* Until so much is held, and a little longer. */
static void wait_for_large(uint64_t bytes)
{
    for (unsigned i = 0; i < 5000 && http_server_load(harness.server).large_bytes < bytes; i++)
        nap_ms(1);
    nap_ms(20);
    assert_int_equal(http_server_load(harness.server).large_bytes, bytes);
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
    harness_stop(&harness);
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
    harness_stop(&harness);
}

static void idle_timeout(void **state)
{
    (void)state;
    struct http_limits limits = harness_limits;
    limits.idle_timeout_s = 1;
    start(limits);
    int silent = client_connect(&harness);
    int pending = client_connect(&harness);
    client_send(pending, "GET /hold HTTP/1.1\r\nHost: x\r\n\r\n");
    harness_wait_held(&harness, 1);
    assert_true(client_closed_within(silent, 2500));
    nap_ms(500);
    harness_resume(&harness);
    struct reply reply = client_read(pending);
    assert_reply(reply, 200, "GET /hold ");
    close(silent);
    close(pending);
    harness_stop(&harness);
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
    nap_ms(100); /* the worker notes the end of an answer after the client has it */
    ask_on(first);
    nap_ms(100);
    int third = client_connect(&harness);
    ask_on(third);
    assert_true(client_closed_within(second, 1000));
    ask_on(first);

    /* nobody idle: the newcomer is turned away */
    client_send(first, "GET /hold HTTP/1.1\r\nHost: x\r\n\r\n");
    client_send(third, "GET /hold HTTP/1.1\r\nHost: x\r\n\r\n");
    harness_wait_held(&harness, 3);
    int fourth = client_connect(&harness);
    assert_true(client_closed_within(fourth, 1000));
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
    harness_stop(&harness);
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
    harness_stop(&harness);
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
    assert_true(client_closed_within(third, 1000));
    close(second);
    nap_ms(50);
    int fourth = client_connect(&harness);
    ask_on(fourth);
    close(first);
    close(third);
    close(fourth);
    harness_stop(&harness);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slow_headers),
        cmocka_unit_test(slow_headers_behind_the_line),
        cmocka_unit_test(patient_headers),
        cmocka_unit_test(slow_bodies),
        cmocka_unit_test(short_deadlines),
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
