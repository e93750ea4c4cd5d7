/* Large bodies: the service is asked first, and their memory is counted. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "await.h"
#include "base/memory_budget.h"
#include "fake_clock.h"
#include "harness.h"
#include "http/http_internal.h"

enum { KIB = 1024 };

static struct harness harness;
static struct memory_budget *budget;

static void start(uint64_t memory_bytes)
{
    struct http_limits limits = harness_limits;
    budget = memory_budget_create(memory_bytes);
    limits.bodies = budget;
    harness_start(&harness, &limits);
}

static void stop(void)
{
    harness_stop(&harness);
    assert_int_equal(memory_budget_used(budget), 0);
    memory_budget_destroy(budget);
}

static void send_head(int fd, const char *method, const char *target, const char *lines)
{
    char text[512];
    snprintf(text, sizeof(text), "%s %s HTTP/1.1\r\nHost: x\r\n%s\r\n", method, target, lines);
    client_send(fd, text);
}

/* The last byte is another than those before. */
static void send_body(int fd, size_t len)
{
    char *data = malloc(len);
    memset(data, 'a', len);
    data[len - 1] = 'z';
    client_send_bytes(fd, data, len);
    free(data);
}

static void send_chunks(int fd, size_t len, size_t each)
{
    char line[32];
    while (len > 0) {
        size_t now = len < each ? len : each;
        snprintf(line, sizeof(line), "%zx\r\n", now);
        client_send(fd, line);
        send_body(fd, now);
        client_send(fd, "\r\n");
        len -= now;
    }
    client_send(fd, "0\r\n\r\n");
}

static void assert_next(int fd, int status, const char *text)
{
    struct reply reply = client_read(fd);
    assert_reply(reply, status, text);
}

/* The same of a chunked request on a connection of its own, which ends behind the answer. */
static void assert_chunked(const char *method, const char *target, size_t len, size_t each,
                           int status, const char *text)
{
    int fd = client_connect(&harness);
    send_head(fd, method, target, "Transfer-Encoding: chunked\r\n");
    send_chunks(fd, len, each);
    assert_next(fd, status, text);
    close(fd);
}

static void small_ones_are_just_read(void **state)
{
    (void)state;
    start(64 * KIB);
    int fd = client_connect(&harness);
    send_head(fd, "POST", "/count?skip", "Content-Length: 16384\r\n");
    send_body(fd, 16 * KIB);
    assert_next(fd, 200, "16384 of 16384 bytes, z");
    assert_chunked("POST", "/count?skip", 16 * KIB, 1000, 200, "16384 of 16384 bytes, z");
    assert_int_equal(atomic_load(&harness.asked), 0);
    close(fd);
    stop();
}

static void wanted_and_skipped(void **state)
{
    (void)state;
    start(2048 * KIB);
    int fd = client_connect(&harness);
    for (unsigned i = 0; i < 3; i++) {
        send_head(fd, "POST", "/count", "Content-Length: 16385\r\n");
        send_body(fd, 16 * KIB + 1);
        assert_next(fd, 200, "16385 of 16385 bytes, z");
        assert_chunked("PUT", "/count", 700000, 7777, 200, "700000 of 700000 bytes, z");
        send_head(fd, "PATCH", "/count?skip", "Content-Length: 700000\r\n");
        send_body(fd, 700000);
        assert_next(fd, 200, "0 of 700000 bytes, -");
        assert_chunked("PUT", "/count?skip", 700000, 7777, 200, "0 of 700000 bytes, -");
    }
    assert_int_equal(atomic_load(&harness.asked), 12);
    close(fd);
    stop();
}

/* While the service considers it nothing is read, and nothing is lost. */
static void held_before_the_body(void **state)
{
    (void)state;
    static const char *const FRAMINGS[] = {"Content-Length: 300000\r\n",
                                           "Transfer-Encoding: chunked\r\n"};
    start(2048 * KIB);
    for (unsigned i = 0; i < 8; i++) {
        int fd = client_connect(&harness);
        bool chunked = i % 2 == 1;
        bool twice = i / 2 % 2 == 1;
        send_head(fd, "POST", twice ? "/count?twice" : "/count?held", FRAMINGS[i % 2]);
        if (i >= 4 && !twice) { /* the answer comes before the body does */
            if (chunked)
                client_send(fd, "5000\r\n");
            send_body(fd, 20 * KIB);
            harness_wait_held(&harness, 1);
            unsigned resumed = atomic_load(&harness.resumed);
            harness_resume(&harness);
            AWAIT(atomic_load(&harness.resumed) > resumed);
            if (chunked)
                client_send(fd, "\r\n");
            if (chunked)
                send_chunks(fd, 300000 - 20 * KIB, 9999);
            else
                send_body(fd, 300000 - 20 * KIB);
        } else {
            if (chunked)
                send_chunks(fd, 300000, 9999);
            else
                send_body(fd, 300000);
            if (!twice) {
                harness_wait_held(&harness, 1);
                harness_resume(&harness);
            }
        }
        assert_next(fd, 200, "300000 of 300000 bytes, z");
        if (!chunked) {
            client_send(fd, "GET /next HTTP/1.1\r\nHost: x\r\n\r\n");
            assert_next(fd, 200, "GET /next ");
        }
        close(fd);
    }
    stop();
}

/* Refused after a wait, before it was sent. */
static void expectations_that_wait(void **state)
{
    (void)state;
    start(64 * KIB);
    for (unsigned i = 0; i < 2; i++) {
        int fd = client_connect(&harness);
        send_head(fd, "POST", i == 0 ? "/count?held" : "/count?twice",
                  "Content-Length: 50000\r\nExpect: 100-continue\r\n");
        if (i == 0) {
            harness_wait_held(&harness, 1);
            harness_resume(&harness);
        }
        assert_next(fd, 413, "fault");
        assert_true(client_is_closed(fd));
        close(fd);
    }
    stop();
}

static void expectations(void **state)
{
    (void)state;
    static const char *const METHODS[] = {"POST", "PUT", "PATCH"};
    start(4096 * KIB); /* what was answered may be given back a little later */
    for (unsigned i = 0; i < 3; i++) {
        int fd = client_connect(&harness);
        send_head(fd, METHODS[i], "/count?skip",
                  "Content-Length: 700000\r\nExpect: 100-continue\r\n");
        struct reply reply = client_read(fd);
        assert_true(reply_has(&reply, "Connection: close"));
        assert_reply(reply, 200, "0 of 700000 bytes, -");
        assert_true(client_is_closed(fd));
        close(fd);
        fd = client_connect(&harness);
        send_head(fd, METHODS[i], "/count", "Content-Length: 700000\r\nExpect: 100-continue\r\n");
        assert_next(fd, 100, "");
        send_body(fd, 700000);
        assert_next(fd, 200, "700000 of 700000 bytes, z");
        close(fd);
    }
    stop();
}

/* Half of what there is, and no more; what has been refused is read, and its connection stays. */
static void memory_is_counted(void **state)
{
    (void)state;
    start(1024 * KIB);
    int first = client_connect(&harness);
    int second = client_connect(&harness);
    send_head(first, "POST", "/hold", "Content-Length: 500000\r\n");
    send_body(first, 500000);
    harness_wait_held(&harness, 1);
    assert_int_equal(memory_budget_used(budget), 500000);
    for (unsigned i = 0; i < 3; i++) {
        send_head(second, "POST", "/count", "Content-Length: 100000\r\n");
        send_body(second, 100000);
        assert_next(second, 503, "fault");
        assert_chunked("POST", "/count", 100000, 1000, 503, "fault");
    }
    send_head(second, "POST", "/count", "Content-Length: 600000\r\n");
    send_body(second, 600000);
    struct reply reply = client_read(second);
    assert_true(reply_has(&reply, "Connection: close"));
    assert_reply(reply, 413,
                 "fault"); /* it would not be taken by a server without guests, either */
    close(second);
    harness_resume(&harness);
    reply = client_read(first);
    assert_int_equal(reply.status, 200);
    assert_int_equal(reply.body.len, strlen("POST /hold ") + 500000);
    reply_free(&reply);
    send_head(first, "POST", "/count", "Content-Length: 100000\r\n");
    send_body(first, 100000);
    assert_next(first, 200, "100000 of 100000 bytes, z");
    close(first);
    stop();
}

/* Chunks for which there is no more memory are read, and the answer is sent at their end. */
static void memory_ends_between_chunks(void **state)
{
    (void)state;
    start(512 * KIB);
    int first = client_connect(&harness);
    send_head(first, "POST", "/hold", "Content-Length: 150000\r\n");
    send_body(first, 150000);
    harness_wait_held(&harness, 1);
    assert_chunked("POST", "/count", 60000, 1000, 200, "60000 of 60000 bytes, z");
    assert_chunked("POST", "/count", 100000, 1000, 503, "fault");
    AWAIT(memory_budget_used(budget) == 150000); /* it is given back after the answer */
    harness_resume(&harness);
    struct reply reply = client_read(first);
    assert_int_equal(reply.status, 200);
    reply_free(&reply);
    close(first);
    stop();
}

/* Clients that leave at any moment, also while the service considers their bodies, and a stop. */
static void leavers(void **state)
{
    (void)state;
    start(2048 * KIB);
    static const char *const TARGETS[] = {"/count", "/count?skip", "/count?held", "/count?twice"};
    for (unsigned i = 0; i < 16; i++) {
        int fd = client_connect(&harness);
        send_head(fd, "POST", TARGETS[i % 4],
                  i / 4 % 2 == 0 ? "Content-Length: 300000\r\n" : "Transfer-Encoding: chunked\r\n");
        if (i / 4 % 2 == 1)
            client_send(fd, "493e0\r\n");
        if (i >= 8 || i / 4 % 2 == 1 || i % 4 == 0)
            send_body(fd, 100000);
        if (i % 4 == 2)
            harness_wait_held(&harness, 1);
        struct linger reset = {.l_onoff = 1};
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
        close(fd);
        if (i % 4 == 2)
            harness_resume(&harness);
    }
    /* a client that sends nothing more does not keep a stop waiting */
    int fd = client_connect(&harness);
    send_head(fd, "POST", "/count?held", "Content-Length: 300000\r\n");
    harness_wait_held(&harness, 1);
    harness_resume(&harness);
    uint64_t begun = now_ms();
    stop();
    assert_true(now_ms() - begun < AWAIT_SECONDS * 1000);
    close(fd);
}

static _Atomic bool has_stopped;

static void *stop_in_background(void *cls)
{
    (void)cls;
    stop();
    atomic_store(&has_stopped, true);
    return NULL;
}

/* Who considers a body has the exchange, so the server stays; after the cut nobody is asked. */
static void a_stop_waits_for_who_considers(void **state)
{
    (void)state;
    static const char *const LINES[] = {"Content-Length: 300000\r\n",
                                        "Transfer-Encoding: chunked\r\n"};
    for (unsigned i = 0; i < 2; i++) {
        start(2048 * KIB);
        struct http_server *server = harness.server;
        int late = client_connect(&harness);
        int fd = client_connect(&harness);
        send_head(fd, "POST", "/count?held", LINES[i]);
        if (i == 1)
            send_chunks(fd, 100000, 50000);
        harness_wait_held(&harness, 1);
        assert_int_equal(atomic_load(&server->asking), 1);
        http_server_cut(server);
        assert_int_equal(atomic_load(&server->asking), 1);
        send_head(late, "POST", "/count", "Content-Length: 300000\r\n");
        assert_true(client_is_closed(late));
        assert_int_equal(atomic_load(&harness.asked), 1);
        assert_int_equal(atomic_load(&server->asking), 1);

        struct http_exchange *held = harness.held[0];
        harness.held_count = 0; /* so that the harness does not resume it */
        pthread_t stopper;
        atomic_store(&has_stopped, false);
        assert_int_equal(pthread_create(&stopper, NULL, stop_in_background, NULL), 0);
        AWAIT(atomic_load(&server->stopping));
        for (unsigned s = 0; s < 3; s++)
            fake_clock_advance_ms(1000); /* longer than what it grants */
        assert_false(atomic_load(&has_stopped));
        assert_int_equal(atomic_load(&server->asking), 1);
        http_resume(held);
        pthread_join(stopper, NULL);
        close(late);
        close(fd);
    }
}

/* What keeps coming gets more time: 10 KB a second. */
static void chunks_that_keep_coming(void **state)
{
    (void)state;
    struct http_limits limits = harness_limits;
    limits.body_deadline_ms = 400;
    harness_start(&harness, &limits);
    fake_clock_stop();
    int fd = client_connect(&harness);
    send_head(fd, "POST", "/count", "Transfer-Encoding: chunked\r\n");
    for (unsigned i = 0; i < 10; i++) {
        client_send(fd, "c350\r\n");
        send_body(fd, 50000);
        client_send(fd, "\r\n");
        harness_wait_read(&harness);
        fake_clock_advance_ms(200);
    }
    client_send(fd, "0\r\n\r\n");
    assert_next(fd, 200, "500000 of 500000 bytes, z");
    close(fd);
    fake_clock_run();
    harness_stop(&harness);
}

/* Behind a proxy all projects have one address: what their requests compute is theirs alone, and
 * their bodies are both's. */
static void arenas_are_the_projects(void **state)
{
    (void)state;
    struct memory_budget *fresh = memory_budget_create(1024 * KIB);
    struct exchange requests[3] = {0};
    for (uint64_t i = 0; i < 3; i++) {
        struct http_exchange *http = &requests[i].http;
        http->share = (struct memory_share){
            .budget = fresh, .owner = 99, .address = i == 2 ? 98 : 99, .held = &http->held_bytes};
        http->arena_share = memory_another(&http->share);
        http_set_owner(http, i == 1 ? 6 : 5);
    }
    struct memory_share *arena = &requests[0].http.arena_share;
    assert_int_equal(memory_take(arena, 500 * KIB), MEMORY_GRANTED);
    /* another project at this address, and the same one at another */
    assert_int_equal(memory_take(&requests[1].http.arena_share, 200 * KIB), MEMORY_GRANTED);
    assert_int_equal(memory_take(&requests[2].http.arena_share, 10 * KIB), MEMORY_TAKEN);
    memory_give_back(&requests[1].http.arena_share);
    memory_give_back(arena);

    struct memory_share *body = &requests[0].http.share;
    assert_int_equal(memory_take(body, 500 * KIB), MEMORY_GRANTED);
    assert_int_equal(memory_take(&requests[1].http.share, 20 * KIB), MEMORY_TAKEN);
    assert_int_equal(memory_take(&requests[2].http.share, 20 * KIB), MEMORY_TAKEN);
    http_set_owner(&requests[0].http, 7); /* too late: its books have been written */
    assert_int_equal(body->owner, 5);
    memory_give_back(body);
    memory_budget_destroy(fresh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stop_waits_for_who_considers),
        cmocka_unit_test(chunks_that_keep_coming),
        cmocka_unit_test(arenas_are_the_projects),
        cmocka_unit_test(small_ones_are_just_read),
        cmocka_unit_test(wanted_and_skipped),
        cmocka_unit_test(held_before_the_body),
        cmocka_unit_test(expectations),
        cmocka_unit_test(expectations_that_wait),
        cmocka_unit_test(memory_is_counted),
        cmocka_unit_test(memory_ends_between_chunks),
        cmocka_unit_test(leavers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
