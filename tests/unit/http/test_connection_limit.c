/* Who is closed when there are as many connections as there may be. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "await.h"
#include "fake_clock.h"
#include "harness.h"
#include "http/http_internal.h"

static struct harness harness;

static bool is_served(int fd)
{
    client_send(fd, "GET /x HTTP/1.1\r\nHost: x\r\n\r\n");
    struct reply reply = client_read(fd);
    bool served = reply.status == 200;
    reply_free(&reply);
    return served;
}

static bool is_open(int fd)
{
    char c;
    return recv(fd, &c, 1, MSG_DONTWAIT) < 0;
}

/* Three addresses hold everything with requests that are not whole; a fourth still gets in, again
 * and again, and each time the oldest of the fullest goes. */
static void unfinished_requests_make_room(void **state)
{
    (void)state;
    enum { EACH = 4, ATTACKERS = 3 * EACH };
    struct http_limits limits = harness_limits;
    limits.connections_max = ATTACKERS;
    harness_start(&harness, &limits);
    int slow[ATTACKERS];
    for (unsigned i = 0; i < ATTACKERS; i++) {
        slow[i] = client_connect_from(&harness, 2 + i / EACH);
        client_send(slow[i], i % 2 == 0
                                 ? "GET / HTTP/1.1\r\nA: "
                                 : "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabc");
        harness_wait_requests(&harness, i + 1);
        fake_clock_advance_ms(20);
    }
    int innocent[3];
    for (unsigned i = 0; i < 3; i++) {
        innocent[i] = client_connect(&harness);
        assert_true(is_served(innocent[i]));
        fake_clock_advance_ms(20);
    }
    for (unsigned i = 0; i < 3; i++)
        assert_true(is_open(innocent[i]));
    /* one of each address: of equals the one that waits for longest is first */
    for (unsigned i = 0; i < ATTACKERS; i++)
        assert_int_equal(is_open(slow[i]), i % EACH != 0);
    for (unsigned i = 0; i < ATTACKERS; i++)
        close(slow[i]);
    for (unsigned i = 0; i < 3; i++)
        close(innocent[i]);
    harness_stop(&harness);
}

/* A proxy holds most, with requests that the service has, and with idle connections: those that
 * wait for a slow client of its own go, none that is being served. */
static void proxies_keep_what_is_served(void **state)
{
    (void)state;
    struct http_limits limits = harness_limits;
    limits.connections_max = 7;
    harness_start(&harness, &limits);
    int proxy[5];
    for (unsigned i = 0; i < 5; i++) {
        proxy[i] = client_connect_from(&harness, 9);
        client_send(proxy[i],
                    i < 4 ? "GET /hold HTTP/1.1\r\nHost: x\r\n\r\n" : "GET / HTTP/1.1\r\n");
    }
    harness_wait_held(&harness, 4);
    int slow[2];
    for (unsigned i = 0; i < 2; i++) {
        slow[i] = client_connect_from(&harness, 8);
        client_send(slow[i], "GET / HTTP/1.1\r\n");
        harness_wait_connections(&harness, 6 + i);
        harness_wait_read(&harness);
        fake_clock_advance_ms(20);
    }
    int first = client_connect(&harness);
    assert_true(is_served(first));
    assert_true(client_is_closed(slow[0])); /* two wait there, at the proxy one */
    assert_true(is_open(proxy[4]));
    for (unsigned i = 0; i < 4; i++)
        harness_resume(&harness);
    for (unsigned i = 0; i < 4; i++) {
        struct reply reply = client_read(proxy[i]);
        assert_reply(reply, 200, "GET /hold ");
    }
    for (unsigned i = 0; i < 5; i++)
        close(proxy[i]);
    for (unsigned i = 0; i < 2; i++)
        close(slow[i]);
    close(first);
    harness_stop(&harness);
}

/* A body that is to be read when Keystone has answered. */
static void who_waits_for_the_service_is_kept(void **state)
{
    (void)state;
    struct http_limits limits = harness_limits;
    limits.connections_max = 1;
    harness_start(&harness, &limits);
    int asking = client_connect(&harness);
    client_send(asking, "POST /x?held HTTP/1.1\r\nHost: x\r\nContent-Length: 20000\r\n\r\n");
    harness_wait_held(&harness, 1);
    int refused = client_connect(&harness);
    assert_true(client_is_closed(refused));
    close(refused);
    assert_true(is_open(asking));
    harness_resume(&harness);
    int fd = -1; /* now it is waited for again */
    for (unsigned i = 0; i < 100 && !client_closed_within(asking, 20); i++) {
        if (fd >= 0)
            close(fd);
        fd = client_connect(&harness);
    }
    assert_true(client_is_closed(asking));
    close(asking);
    close(fd);
    harness_stop(&harness);
}

static uint64_t key_of(const char *text)
{
    struct sockaddr_in6 in6 = {.sin6_family = AF_INET6};
    struct sockaddr_in in = {.sin_family = AF_INET};
    if (inet_pton(AF_INET6, text, &in6.sin6_addr) == 1)
        return peer_key((const struct sockaddr *)&in6);
    assert_int_equal(inet_pton(AF_INET, text, &in.sin_addr), 1);
    return peer_key((const struct sockaddr *)&in);
}

static void networks_are_one_client(void **state)
{
    (void)state;
    assert_true(key_of("2001:db8::1") == key_of("2001:db8::ffff:1"));
    assert_true(key_of("2001:db8::1") != key_of("2001:db8:0:1::1"));
    assert_true(key_of("192.0.2.1") == key_of("::ffff:192.0.2.1"));
    assert_true(key_of("192.0.2.1") != key_of("192.0.2.2"));
    assert_true(peer_key(NULL) != key_of("192.0.2.1"));
}

/* Half a request and then the end, in one segment: no wait for a deadline. */
static void half_requests_of_the_gone_end(void **state)
{
    (void)state;
    static const char *const HALVES[] = {
        "GE", "GET / HTTP/1.1\r\nHost: x\r\nA: b",
        "POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\nabc",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nabc"};
    harness_start(&harness, &harness_limits);
    int fds[4];
    for (unsigned i = 0; i < 4; i++) {
        int on = 1;
        fds[i] = client_connect(&harness);
        AWAIT(http_server_load(harness.server).accepted == i + 1);
        fake_clock_advance_ms(600); /* the watcher has seen it idle */
        setsockopt(fds[i], IPPROTO_TCP, TCP_CORK, &on, sizeof(on));
        client_send(fds[i], HALVES[i]);
        shutdown(fds[i], SHUT_WR);
    }
    for (unsigned i = 0; i < 4; i++) {
        fake_clock_advance_ms(1000);
        fake_clock_advance_ms(1000);
        assert_true(client_is_closed(fds[i]));
        close(fds[i]);
    }
    /* who has sent all is answered */
    int whole = client_connect(&harness);
    client_send(whole, "GET /hold HTTP/1.1\r\nHost: x\r\n\r\n");
    shutdown(whole, SHUT_WR);
    harness_wait_held(&harness, 1);
    for (unsigned i = 0; i < 3; i++)
        fake_clock_advance_ms(500);
    harness_resume(&harness);
    struct reply reply = client_read(whole);
    assert_reply(reply, 200, "GET /hold ");
    close(whole);
    harness_stop(&harness);
}

/* At once, and not when the watcher comes by: clients that do nothing else would have thousands of
 * connections. */
static void bodies_that_are_cut_short(void **state)
{
    (void)state;
    struct http_limits limits = harness_limits;
    harness_start(&harness, &limits);
    fake_clock_stop(); /* the watcher does not come by */
    for (unsigned i = 0; i < 10; i++) {
        int on = 1; /* the end comes together with the last bytes */
        int fd = client_connect(&harness);
        setsockopt(fd, IPPROTO_TCP, TCP_CORK, &on, sizeof(on));
        client_send(fd, "POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{");
        shutdown(fd, SHUT_WR);
        assert_true(client_is_closed(fd));
        close(fd);
    }
    fake_clock_run();
    harness_stop(&harness);
}

/* Workers that close hundreds of connections at once serve nobody meanwhile. */
static void the_late_go_one_after_another(void **state)
{
    (void)state;
    enum { LATE = 320 };
    struct pollfd fds[LATE];
    struct http_limits limits = harness_limits;
    limits.header_deadline_ms = 300;
    limits.connections_max = limits.connections_per_address = 2 * LATE;
    harness_start(&harness, &limits);
    for (unsigned i = 0; i < LATE; i++) {
        fds[i] = (struct pollfd){.fd = client_connect(&harness), .events = POLLIN};
        client_send(fds[i].fd, "GET /x HTTP/1.1\r\nHost:");
    }
    uint64_t first = 0;
    for (unsigned left = LATE; left > 0;) {
        assert_true(poll(fds, LATE, 20000) > 0);
        if (first == 0)
            first = now_ms();
        for (unsigned i = 0; i < LATE; i++) {
            if (fds[i].fd < 0 || fds[i].revents == 0)
                continue;
            close(fds[i].fd);
            fds[i].fd = -1;
            left--;
        }
    }
    assert_in_range(now_ms() - first, 60, 20000); /* ten times 32 */
    harness_stop(&harness);
}

/* Descriptors are the process's: a listener that takes all of them leaves the reserved ones, and
 * one that has few is given room by the one that has many. */
static void descriptors_are_shared(void **state)
{
    (void)state;
    struct rlimit before;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    struct rlimit low = {.rlim_cur = 160, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
    struct http_process *process = http_process_create(1 << 30, 256);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    unsigned most = process->connections_max[false];
    assert_in_range(most, 8, 160 - 64);
    assert_in_range(process->connections_max[true], 8, 160 - 64 - most);

    struct http_limits limits = harness_limits;
    limits.process = process;
    static struct harness other;
    static struct harness reserved;
    harness_start(&harness, &limits);
    harness_start(&other, &limits);
    limits.is_reserved = true;
    harness_start(&reserved, &limits);
    int *fds = calloc(2 * most, sizeof(*fds));
    for (unsigned i = 0; i < 2 * most; i++) {
        fds[i] = client_connect(&harness);
        client_send(fds[i], "GET / HTTP/1.1\r\n");
        AWAIT(http_server_load(harness.server).accepted == i + 1);
    }
    AWAIT(http_server_load(harness.server).connections <= most + 2);
    assert_in_range(http_server_load(harness.server).connections, 1, most + 2);
    int late = client_connect(&other);
    assert_true(is_served(late));
    assert_true(is_open(late));
    int watching = client_connect(&reserved);
    assert_true(is_served(watching));
    close(late);
    close(watching);
    for (unsigned i = 0; i < 2 * most; i++)
        close(fds[i]);
    free(fds);
    harness_stop(&harness);
    harness_stop(&other);
    harness_stop(&reserved);
    http_process_destroy(process);
}

static unsigned count_open(void)
{
    unsigned count = 0;
    for (int fd = 0; fd < 4096; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

/* What a server's own workers take is left to no connection, however many there are. */
static void workers_take_descriptors(void **state)
{
    (void)state;
    enum { LIMIT = 512, WORKERS = 64, NEEDED = 48 };
    struct rlimit before;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    struct rlimit low = {.rlim_cur = LIMIT, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
    struct http_process *process = http_process_create(1 << 30, 256);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    unsigned at_first = process->connections_max[false];
    struct http_limits limits = harness_limits;
    limits.process = process;
    limits.worker_threads = WORKERS;
    static struct harness other;
    harness_start(&harness, &limits);
    harness_start(&other, &limits);
    uint64_t most = count_open() + process->connections_max[false] + process->connections_max[true];
    harness_stop(&harness);
    harness_stop(&other);
    assert_in_range(most, LIMIT / 4, LIMIT - NEEDED);
    assert_int_equal(process->connections_max[false], at_first);
    http_process_destroy(process);
}

/* All connections that the process may have are being served: another one is closed, whichever
 * listener it comes to. */
static void no_room_in_the_process(void **state)
{
    (void)state;
    enum { HELD = 2 };
    static struct harness other;
    struct http_process *process = http_process_create(1 << 30, 256);
    struct http_limits limits = harness_limits;
    limits.process = process;
    harness_start(&harness, &limits);
    harness_start(&other, &limits);
    atomic_store(&process->connections_max[false], HELD);
    int served[HELD];
    for (unsigned i = 0; i < HELD; i++) {
        served[i] = client_connect(&harness);
        client_send(served[i], "GET /hold HTTP/1.1\r\nHost: x\r\n\r\n");
        harness_wait_held(&harness, i + 1);
    }
    for (unsigned i = 0; i < 2; i++) {
        int refused = client_connect(i == 0 ? &harness : &other);
        assert_true(client_closed_within(refused, 5000));
        close(refused);
        harness_wait_connections(&harness, HELD);
        harness_wait_connections(&other, 0);
    }
    for (unsigned i = 0; i < HELD; i++) {
        harness_resume(&harness);
        struct reply reply = client_read(served[i]);
        assert_reply(reply, 200, "GET /hold ");
        close(served[i]);
    }
    harness_stop(&harness);
    harness_stop(&other);
    http_process_destroy(process);
}

/* Of many connections that have been idle for long, several are closed at a time. */
static void the_stale_go_together(void **state)
{
    (void)state;
    enum { STALE = 20, AT_ONCE = 16 };
    struct http_process *process = http_process_create(1 << 30, 256);
    struct http_limits limits = harness_limits;
    limits.process = process;
    limits.connections_max = 4096;
    harness_start(&harness, &limits);
    atomic_store(&process->connections_max[false], STALE);
    int stale[STALE];
    for (unsigned i = 0; i < STALE; i++) {
        stale[i] = client_connect(&harness);
        assert_true(is_served(stale[i]));
        fake_clock_advance_ms(20);
    }
    fake_clock_advance_ms(2000);
    int fd = client_connect(&harness);
    assert_true(is_served(fd));
    for (unsigned i = 0; i < AT_ONCE; i++)
        assert_true(client_closed_within(stale[i], 5000)); /* the oldest */
    for (unsigned i = AT_ONCE; i < STALE; i++)
        assert_true(is_open(stale[i]));
    for (unsigned i = 0; i < STALE; i++)
        close(stale[i]);
    close(fd);
    harness_stop(&harness);
    http_process_destroy(process);
}

/* Addresses with the same hash are counted apart. */
static void addresses_of_one_bucket(void **state)
{
    (void)state;
    static const unsigned HOSTS[] = {0x000101, 0x010001}; /* 127.0.1.1, 127.1.0.1 */
    struct http_limits limits = harness_limits;
    limits.connections_per_address = 1;
    harness_start(&harness, &limits);
    int fds[2];
    for (unsigned i = 0; i < 2; i++) {
        fds[i] = client_connect_from(&harness, HOSTS[i]);
        assert_true(is_served(fds[i]));
    }
    for (unsigned i = 0; i < 2; i++) {
        int more = client_connect_from(&harness, HOSTS[i]);
        assert_true(client_closed_within(more, 5000));
        close(more);
        assert_true(is_served(fds[i]));
    }
    close(fds[0]);
    harness_wait_connections(&harness, 1);
    fds[0] = client_connect_from(&harness, HOSTS[0]);
    for (unsigned i = 0; i < 2; i++) {
        assert_true(is_served(fds[i]));
        close(fds[i]);
    }
    harness_stop(&harness);
}

/* Who has not read an answer for some seconds makes room, and not before. */
static void unread_answers_make_room(void **state)
{
    (void)state;
    struct http_limits limits = harness_limits;
    limits.connections_max = 1;
    harness_start(&harness, &limits);
    fake_clock_stop();
    int reader = client_connect(&harness);
    client_send(reader, "GET /larger HTTP/1.1\r\nHost: x\r\n\r\n");
    AWAIT(http_server_load(harness.server).large_bytes > 0);
    int fd = client_connect(&harness);
    assert_true(client_closed_within(fd, 5000));
    close(fd);
    fake_clock_advance_ms(6000);
    fd = client_connect(&harness);
    assert_true(is_served(fd));
    close(fd);
    close(reader);
    fake_clock_run();
    harness_stop(&harness);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unfinished_requests_make_room),
        cmocka_unit_test(proxies_keep_what_is_served),
        cmocka_unit_test(who_waits_for_the_service_is_kept),
        cmocka_unit_test(networks_are_one_client),
        cmocka_unit_test(half_requests_of_the_gone_end),
        cmocka_unit_test(descriptors_are_shared),
        cmocka_unit_test(workers_take_descriptors),
        cmocka_unit_test(bodies_that_are_cut_short),
        cmocka_unit_test(the_late_go_one_after_another),
        cmocka_unit_test(no_room_in_the_process),
        cmocka_unit_test(the_stale_go_together),
        cmocka_unit_test(addresses_of_one_bucket),
        cmocka_unit_test(unread_answers_make_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
