/* Requests as they arrive at the service, answers as they leave, framing, bodies. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

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

static void small_get(void **state)
{
    (void)state;
    struct reply reply = client_ask(&harness, "GET /a?b=c HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_true(reply_has(&reply, "\r\nContent-Type: text/plain\r\n"));
    assert_true(reply_has(&reply, "\r\nContent-Length: 11\r\n"));
    assert_false(reply_has(&reply, "\r\nConnection: close"));
    assert_reply(reply, 200, "GET /a?b=c ");
}

static void bodies(void **state)
{
    (void)state;
    struct reply reply =
        client_ask(&harness, "POST /p HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello");
    assert_reply(reply, 200, "POST /p hello");
    reply = client_ask(&harness, "PUT /p HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
                                 "3\r\nabc\r\n4;x=y\r\ndefg\r\n0\r\n\r\n");
    assert_reply(reply, 200, "PUT /p abcdefg");
    reply = client_ask(&harness, "DELETE /d HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n");
    assert_false(reply_has(&reply, "\r\nConnection: close"));
    assert_reply(reply, 200, "DELETE /d ");
    reply = client_ask(&harness, "GET /g HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi");
    assert_reply(reply, 200, "GET /g hi");
}

static void body_at_the_limit(void **state)
{
    (void)state;
    size_t len = harness_limits.max_body_bytes;
    char *body = malloc(len + 1);
    memset(body, 'b', len);
    body[len] = '\0';
    int fd = client_connect(&harness);
    client_send(fd, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1048576\r\n\r\n");
    client_send_bytes(fd, body, len);
    struct reply reply = client_read(fd);
    assert_int_equal(reply.status, 200);
    assert_int_equal(reply.body.len, 7 + len);
    assert_memory_equal(reply.body.data + 7, body, len);
    reply_free(&reply);
    close(fd);
    free(body);
}

static void body_too_large(void **state)
{
    (void)state;
    /* the refusal comes at once, also to a client that asks first or has much to send */
    int fd = client_connect(&harness);
    client_send(fd, "PATCH / HTTP/1.1\r\nHost: x\r\nContent-Length: 1048577\r\n"
                    "Expect: 100-continue\r\n\r\n");
    struct reply reply = client_read(fd);
    assert_true(reply_has(&reply, "\r\nConnection: close\r\n"));
    assert_reply(reply, 413, "fault");
    assert_true(client_is_closed(fd));
    close(fd);
    fd = client_connect(&harness);
    client_send(fd, "PATCH / HTTP/1.1\r\nHost: x\r\nContent-Length: 17825793\r\n\r\n");
    reply = client_read(fd);
    assert_true(reply_has(&reply, "\r\nConnection: close\r\n"));
    assert_reply(reply, 413, "fault");
    assert_true(client_is_closed(fd));
    close(fd);

    fd = client_connect(&harness);
    client_send(fd, "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n100001\r\n");
    char *body = calloc(1, 0x100001);
    client_send_bytes(fd, body, 0x100001);
    client_send(fd, "\r\n0\r\n\r\n");
    reply = client_read(fd);
    assert_reply(reply, 413, "fault");
    assert_true(client_is_closed(fd));
    close(fd);

    /* a chunk without end is not read without end */
    fd = client_connect(&harness);
    client_send(fd, "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nfffffff\r\n");
    for (unsigned i = 0; i < 20; i++)
        client_send_bytes(fd, body, 0x100000);
    assert_true(client_is_closed(fd));
    close(fd);
    free(body);
}

/* Who writes everything before he reads, as servers in front do, still gets the answer: there is
 * nothing unread whose loss would reset the connection. */
static void large_body_is_read(void **state)
{
    (void)state;
    size_t len = harness_limits.max_body_bytes + 16 * 1024 * 1024;
    char *body = malloc(len);
    memset(body, 'b', len);
    for (unsigned i = 0; i < 5; i++) {
        int fd = client_connect(&harness);
        client_send(fd, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 17825792\r\n\r\n");
        client_send_bytes(fd, body, len);
        struct reply reply = client_read(fd);
        assert_true(reply_has(&reply, "\r\nConnection: close\r\n"));
        assert_reply(reply, 413, "fault");
        assert_true(client_is_closed(fd));
        close(fd);
        fd = client_connect(&harness);
        client_send(fd, "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
                        "1100000\r\n");
        client_send_bytes(fd, body, len);
        client_send(fd, "\r\n0\r\n\r\n");
        reply = client_read(fd);
        assert_reply(reply, 413, "fault");
        close(fd);
    }
    free(body);
}

static void framing(void **state)
{
    (void)state;
    const char *const heads[] = {
        "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 0\r\n",
        "Content-Length: 5\r\nContent-Length: 5\r\n",
        "Transfer-Encoding: gzip, chunked\r\n",
        "Content-Length : 5\r\n",
        " Content-Length: 5\r\n",
    };
    for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
        char request[256];
        snprintf(request, sizeof(request), "POST / HTTP/1.1\r\nHost: x\r\n%s\r\n0\r\n\r\n",
                 heads[i]);
        if (heads[i][0] == ' ')
            snprintf(request, sizeof(request), "POST / HTTP/1.1\r\n%s\r\n0\r\n\r\n", heads[i]);
        int fd = client_connect(&harness);
        client_send(fd, request);
        struct reply reply = client_read(fd);
        assert_true(reply_has(&reply, "\r\nConnection: close\r\n"));
        assert_reply(reply, 400, "fault");
        assert_true(client_is_closed(fd));
        close(fd);
    }
}

static void answers_without_body(void **state)
{
    (void)state;
    struct reply reply = client_ask(&harness, "PUT /empty HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_false(reply_has(&reply, "\r\nContent-"));
    assert_reply(reply, 204, "");
    reply = client_ask(&harness, "PUT /created HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_true(reply_has(&reply, "\r\nContent-Length: 0\r\n"));
    assert_true(reply_has(&reply, "\r\nLocation: /x\r\n"));
    assert_false(reply_has(&reply, "\r\nContent-Type"));
    assert_false(reply_has(&reply, "\r\nVary"));
    assert_reply(reply, 201, "");
    reply = client_ask(&harness, "GET /large HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_int_equal(reply.body.len, 1024 * 1024);
    reply_free(&reply);
}

/* The buffers of large answers are kept for others, as long as they are not too large. */
static void buffers_of_large_answers(void **state)
{
    (void)state;
    const _Atomic uint64_t *kept = &harness.server->process->kept_bytes;
    struct reply reply = client_ask(&harness, "GET /large HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_int_equal(reply.body.len, 1024 * 1024);
    reply_free(&reply);
    harness_wait_connections(&harness, 0);
    size_t before = atomic_load(kept);
    assert_in_range(before, 1024 * 1024, 64 * 1024 * 1024);
    reply = client_ask(&harness, "GET /largest HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_int_equal(reply.body.len, 65 * 1024 * 1024);
    reply_free(&reply);
    harness_wait_connections(&harness, 0);
    assert_in_range(atomic_load(kept), 0, before);
}

static void any_method(void **state)
{
    (void)state;
    const char *const methods[] = {"OPTIONS", "PATCH", "TRACE", "PROPFIND", "X-Y!z", "get"};
    for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
        char request[128];
        char wanted[128];
        snprintf(request, sizeof(request), "%s /m HTTP/1.1\r\nHost: x\r\n\r\n", methods[i]);
        snprintf(wanted, sizeof(wanted), "%s /m ", methods[i]);
        struct reply reply = client_ask(&harness, request);
        assert_reply(reply, 200, wanted);
    }
    int fd = client_connect(&harness);
    client_send(fd, "HEAD /m HTTP/1.1\r\nHost: x\r\n\r\nGET /n HTTP/1.1\r\nHost: x\r\n\r\n");
    char bytes[4096];
    size_t len = 0;
    while (memmem(bytes, len, "GET /n ", 7) == NULL) {
        ssize_t got = read(fd, bytes + len, sizeof(bytes) - len);
        assert_true(got > 0);
        len += (size_t)got;
    }
    assert_null(memmem(bytes, len, "HEAD /m", 7));
    close(fd);
}

static void raw_target(void **state)
{
    (void)state;
    struct reply reply =
        client_ask(&harness, "GET /a%2Fb;c=%zz\xff+d?x=%20&y;&&=%00 HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_reply(reply, 200, "GET /a%2Fb;c=%zz\xff+d?x=%20&y;&&=%00 ");
    reply = client_ask(&harness, "GET http://h/a HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_reply(reply, 200, "GET http://h/a ");
}

static void header_lookups(void **state)
{
    (void)state;
    struct reply reply = client_ask(
        &harness,
        "GET /header/x-tHing HTTP/1.1\r\nX-Thing: one\r\nHost: x\r\nX-THING:  two \r\n\r\n");
    assert_reply(reply, 200, "[two]");
    reply = client_ask(&harness, "GET /header/x-thing HTTP/1.1\r\nX-Thing:\r\n\r\n");
    assert_reply(reply, 200, "[]");
    reply = client_ask(&harness, "GET /header/thing HTTP/1.1\r\nX-Thing: 1\r\n\r\n");
    assert_reply(reply, 200, "none");
}

static void pipelined(void **state)
{
    (void)state;
    enum { REQUESTS = 200 };
    int fd = client_connect(&harness);
    struct buf all = {0};
    for (unsigned i = 0; i < REQUESTS; i++)
        buf_printf(&all, "POST /%u HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\n%03u", i, i);
    client_send_bytes(fd, all.data, all.len);
    for (unsigned i = 0; i < REQUESTS; i++) {
        char wanted[64];
        snprintf(wanted, sizeof(wanted), "POST /%u %03u", i, i);
        struct reply reply = client_read(fd);
        assert_reply(reply, 200, wanted);
    }
    buf_free(&all);
    close(fd);
}

static void many_connections(void **state)
{
    (void)state;
    enum { CONNECTIONS = 256, ROUNDS = 8 };
    static int fds[CONNECTIONS];
    for (unsigned i = 0; i < CONNECTIONS; i++)
        fds[i] = client_connect(&harness);
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (unsigned i = 0; i < CONNECTIONS; i++)
            client_send(fds[i], i % 2 == 0 ? "GET /hop HTTP/1.1\r\nHost: x\r\n\r\n"
                                           : "GET /q HTTP/1.1\r\nHost: x\r\n\r\n");
        for (unsigned i = 0; i < CONNECTIONS; i++) {
            struct reply reply = client_read(fds[i]);
            assert_reply(reply, 200, i % 2 == 0 ? "GET /hop " : "GET /q ");
        }
    }
    for (unsigned i = 0; i < CONNECTIONS; i++)
        close(fds[i]);
}

static unsigned long worker_of(int fd)
{
    client_send(fd, "GET /worker HTTP/1.1\r\nHost: x\r\n\r\n");
    struct reply reply = client_read(fd);
    assert_int_equal(reply.status, 200);
    unsigned long worker = strtoul(reply.body.data, NULL, 10);
    reply_free(&reply);
    return worker;
}

/* A connection to that worker. The library chooses by the descriptor's number on its side, so
 * another open file changes the choice. */
static int connect_to_worker(unsigned long worker)
{
    int between[64];
    unsigned count = 0;
    int fd = client_connect(&harness);
    while (worker_of(fd) != worker) {
        assert_true(count < 64);
        unsigned open = http_server_load(harness.server).connections;
        close(fd);
        between[count++] = dup(STDERR_FILENO);
        harness_wait_connections(&harness, open - 1);
        fd = client_connect(&harness);
    }
    while (count > 0)
        close(between[--count]);
    return fd;
}

/* 0.9.75 of the library loses a resume when exactly 128 sockets are ready at once. */
static void any_number_ready_at_once(void **state)
{
    (void)state;
    enum { CONNECTIONS = 130, FEWEST = 125 };
    static int fds[CONNECTIONS];
    fds[0] = client_connect(&harness);
    unsigned long worker = worker_of(fds[0]);
    for (unsigned i = 1; i < CONNECTIONS; i++)
        fds[i] = connect_to_worker(worker);
    for (unsigned count = FEWEST; count <= CONNECTIONS; count++) {
        /* closed afterwards, or the library would have something left to do and not wait */
        int busy = connect_to_worker(worker);
        client_send(busy, "GET /busy HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
        harness_wait_busy(&harness);
        for (unsigned i = 0; i < count; i++)
            client_send(fds[i], "GET /q HTTP/1.1\r\nHost: x\r\n\r\n");
        harness_release(&harness);
        for (unsigned i = 0; i < count; i++) {
            struct reply reply = client_read(fds[i]);
            assert_reply(reply, 200, "GET /q ");
        }
        close(busy);
    }
    for (unsigned i = 0; i < CONNECTIONS; i++)
        close(fds[i]);
}

static void malformed(void **state)
{
    (void)state;
    const char *const requests[] = {
        "\r\n\r\n\r\n",
        "GET\r\n\r\n",
        "GET /\r\n\r\n",
        "GET  HTTP/1.1\r\n\r\n",
        " / HTTP/1.1\r\n\r\n",
        "GET / HTTP/9.9\r\n\r\n",
        "GET / HTTP/1.1\r\nno colon\r\n\r\n",
        "GET / HTTP/1.1\r\n: x\r\n\r\n",
        "POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        "POST / HTTP/1.1\r\nContent-Length: 99999999999999999999999\r\n\r\n",
        "POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffffff\r\n",
        "\x16\x03\x01\x02\x01\x01\xfc\x03\x03",
        "GET / HTTP/1.1\nHost: x\n\n"};
    for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
        int fd = client_connect(&harness);
        client_send(fd, requests[i]);
        client_closed_within(fd, 20);
        close(fd);
    }
    struct reply reply = client_ask(&harness, "GET /alive HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_reply(reply, 200, "GET /alive ");
}

static void far_too_much(void **state)
{
    (void)state;
    /* a line, a header, headers, pairs: more than a connection's memory takes */
    const char *const heads[] = {"GET /", "GET / HTTP/1.1\r\nX: ", "GET / HTTP/1.1\r\n", "GET /?"};
    const char *const more[] = {"aaaaaaaaaaaaaaaa", "aaaaaaaaaaaaaaaa", "A: 1\r\n", "a=b&"};
    for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
        struct buf request = {0};
        buf_append_slice(&request, slice_of(heads[i]));
        while (request.len < 512 * 1024)
            buf_append_slice(&request, slice_of(more[i]));
        int fd = client_connect(&harness);
        client_send_bytes(fd, request.data, request.len);
        client_send(fd, " HTTP/1.1\r\n\r\n");
        client_closed_within(fd, 50);
        close(fd);
        buf_free(&request);
    }
    struct reply reply = client_ask(&harness, "GET /alive HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_reply(reply, 200, "GET /alive ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_get),
        cmocka_unit_test(bodies),
        cmocka_unit_test(body_at_the_limit),
        cmocka_unit_test(body_too_large),
        cmocka_unit_test(large_body_is_read),
        cmocka_unit_test(framing),
        cmocka_unit_test(answers_without_body),
        cmocka_unit_test(buffers_of_large_answers),
        cmocka_unit_test(any_method),
        cmocka_unit_test(raw_target),
        cmocka_unit_test(header_lookups),
        cmocka_unit_test(pipelined),
        cmocka_unit_test(many_connections),
        cmocka_unit_test(any_number_ready_at_once),
        cmocka_unit_test(malformed),
        cmocka_unit_test(far_too_much),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
