/* Connecting, and waiting, with a deadline: silent hosts, several hosts, refusals. */
#include "fixture.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "await.h"
#include "base/clock.h"
#include "store/postgres/session/resolve.h"
#include "store/postgres/session/session_state.h"

static struct arena *arena;
static struct pg_session *session;

/* The name slow.test is answered when the test allows it, as localhost. */
static _Atomic bool may_answer;
static _Atomic int answered;

int __real_getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
                       struct addrinfo **found);
int __wrap_getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
                       struct addrinfo **found);

int __wrap_getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
                       struct addrinfo **found)
{
    if (strcmp(node, "slow.test") != 0)
        return __real_getaddrinfo(node, service, hints, found);
    while (!atomic_load(&may_answer))
        await_pause();
    int error = __real_getaddrinfo("localhost", service, hints, found);
    atomic_fetch_add(&answered, 1);
    return error;
}

static int set_up(void **state)
{
    (void)state;
    arena = arena_create();
    session = NULL;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    pg_session_destroy(session);
    arena_destroy(arena);
    return 0;
}

/* A socket on a port of its own: one that listens accepts connections and never answers. */
static int open_port(bool listens, int *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, len), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &len), 0);
    if (listens)
        assert_int_equal(listen(fd, 16), 0);
    *port = ntohs(address.sin_port);
    return fd;
}

static int port_of_server(void)
{
    struct slice rest = slice_of(url_of_server(arena));
    (void)slice_cut(&rest, '@');
    (void)slice_cut(&rest, ':');
    return atoi(rest.data);
}

/* Connects to the URL, and compares the outcome and the message after "cannot be reached: ". */
static void expect_connect(const char *url, unsigned ms, enum server_outcome expected,
                           const char *message)
{
    struct attempt attempt = begin_attempt();
    pg_session_destroy(session);
    session = make_session(url, (struct server_session_options){.wake_fd = -1});
    enum server_outcome outcome = pg_session_connect(session, in_ms(ms), &attempt.err);
    assert_int_equal(pg_session_is_open(session), expected == SERVER_OK);
    struct slice whole = {0};
    if (message != NULL)
        whole = arena_printf(arena, "reached: %s", message);
    expect_outcome(&attempt, session, outcome, expected, whole.data);
}

static void test_silent_host(void **state)
{
    (void)state;
    int port;
    int fd = open_port(true, &port);
    const char *message = arena_printf(arena, "127.0.0.1 port %d does not answer", port).data;
    uint64_t began_us = clock_monotonic_us();
    expect_connect(url_with(arena, "127.0.0.1", port, ""), 200, SERVER_TIMEOUT, message);
    uint64_t took_us = clock_monotonic_us() - began_us;
    assert_true(took_us >= 200000 && took_us < 5000000);
    /* connect_timeout is shorter than the deadline */
    expect_connect(url_with(arena, "127.0.0.1", port, "?connect_timeout=1"), 60000, SERVER_TIMEOUT,
                   message);
    assert_true(clock_monotonic_us() - began_us < 10000000);
    close(fd);
}

static void test_refused_port(void **state)
{
    (void)state;
    int port;
    int fd = open_port(false, &port);
    struct slice message = arena_printf(
        arena, "connection to server at \"127.0.0.1\", port %d failed: Connection refused", port);
    expect_connect(url_with(arena, "127.0.0.1", port, ""), 10000, SERVER_RETRY, message.data);
    message = arena_printf(arena,
                           "connection to server on socket \"/nowhere/.s.PGSQL.%d\" failed: "
                           "No such file or directory",
                           port);
    expect_connect(arena_printf(arena, "postgresql://u:p@/d?host=/nowhere&port=%d", port).data,
                   10000, SERVER_RETRY, message.data);
    close(fd);
}

static void test_several_hosts(void **state)
{
    (void)state;
    int silent, closed;
    int silent_fd = open_port(true, &silent);
    int closed_fd = open_port(false, &closed);
    struct slice rest = slice_of(url_of_server(arena));
    struct slice user = slice_cut(&rest, '@');
    (void)slice_cut(&rest, '/');
    const char *format = "%.*s@/%.*s?host=127.0.0.1:%d&host=127.0.0.1:%d&host=localhost:%d%s";
    struct slice url = arena_printf(arena, format, SLICE_ARG(user), SLICE_ARG(rest), closed, silent,
                                    port_of_server(), "");
    expect_connect(url.data, 3000, SERVER_OK, NULL);
    url = arena_printf(arena, "%.*s@/%.*s?host=127.0.0.1:%d&host=127.0.0.1:%d&host=127.0.0.1:%d%s",
                       SLICE_ARG(user), SLICE_ARG(rest), closed, silent, port_of_server(),
                       "&target_session_attrs=standby");
    struct attempt attempt = begin_attempt();
    pg_session_destroy(session);
    session = make_session(url.data, (struct server_session_options){.wake_fd = -1});
    assert_int_equal(pg_session_connect(session, in_ms(1000), &attempt.err), SERVER_RETRY);
    assert_non_null(strstr(attempt.err.message.data, "Connection refused; "));
    assert_non_null(strstr(attempt.err.message.data, "does not answer; "));
    assert_non_null(strstr(attempt.err.message.data, "not in hot standby mode"));
    arena_destroy(attempt.arena);
    /* no host is preferred to one that is not */
    url = arena_printf(arena, "%.*s@/%.*s?host=127.0.0.1:%d&host=127.0.0.1:%d%s", SLICE_ARG(user),
                       SLICE_ARG(rest), closed, port_of_server(),
                       "&target_session_attrs=prefer-standby");
    expect_connect(url.data, 3000, SERVER_OK, NULL);
    close(silent_fd);
    close(closed_fd);
}

static void test_lists_that_do_not_fit(void **state)
{
    (void)state;
    expect_connect("postgresql:///d?host=a,b,c&port=1,2", 1000, SERVER_FAILED,
                   "there are not as many ports as hosts");
    expect_connect("postgresql:///d?host=a,b&hostaddr=127.0.0.1", 1000, SERVER_FAILED,
                   "there are not as many ports as hosts");
    struct slice hosts = SLICE_LIT("a");
    for (int i = 0; i < 32; i++)
        hosts = arena_printf(arena, "%.*s,a", SLICE_ARG(hosts));
    expect_connect(arena_printf(arena, "postgresql:///d?host=%.*s", SLICE_ARG(hosts)).data, 1000,
                   SERVER_FAILED, "there are too many hosts");
}

static void test_names(void **state)
{
    (void)state;
    expect_connect(url_with(arena, "localhost", port_of_server(), ""), 10000, SERVER_OK, NULL);
    struct attempt attempt = begin_attempt();
    pg_session_destroy(session);
    session = make_session(url_with(arena, "no-such-host.invalid", 5432, ""),
                           (struct server_session_options){.wake_fd = -1});
    enum server_outcome outcome = pg_session_connect(session, in_ms(20000), &attempt.err);
    /* later, if the name server of this machine does not answer */
    assert_true(outcome == SERVER_RETRY || outcome == SERVER_TIMEOUT);
    assert_non_null(strstr(attempt.err.message.data,
                           "cannot be reached: the name no-such-host.invalid cannot be resolved"));
    arena_destroy(attempt.arena);
    static const char *const names[] = {"localhost", "db1", "db.example.org", "1.2.3.4.5", "a_b"};
    static const char *const others[] = {
        "127.0.0.1", "::1", "/run/postgresql", "@abstract", "fe80::1%1", "2001:db8::", ""};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        assert_true(pg_resolve_is_name(names[i]));
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        assert_false(pg_resolve_is_name(others[i]));
}

/* A readable descriptor ends the wait for a name server long before its deadline. */
static void expect_stop(void)
{
    const char *addresses[4];
    const char *reason;
    size_t count;
    int stop_fd = eventfd(1, EFD_CLOEXEC);
    assert_true(stop_fd >= 0);
    uint64_t deadline_us = in_ms(60000);
    assert_int_equal(
        pg_resolve("slow.test", deadline_us, NULL, stop_fd, arena, 4, addresses, &count, &reason),
        PG_RESOLVE_LATE);
    assert_true(clock_monotonic_us() < deadline_us - 30000000);
    close(stop_fd);
}

static void test_name_server_that_does_not_answer(void **state)
{
    (void)state;
    const char *addresses[4];
    const char *reason;
    size_t count;
    atomic_store(&may_answer, false);
    atomic_store(&answered, 0);
    assert_int_equal(
        pg_resolve("slow.test", in_ms(20), NULL, -1, arena, 4, addresses, &count, &reason),
        PG_RESOLVE_LATE);
    expect_stop();
    expect_connect("postgresql://u:p@slow.test/d", 50, SERVER_TIMEOUT,
                   "the name slow.test cannot be resolved in time");
    /* the host after it still gets its share */
    struct slice rest = slice_of(url_of_server(arena));
    struct slice user = slice_cut(&rest, '@');
    (void)slice_cut(&rest, '/');
    struct slice url = arena_printf(arena, "%.*s@/%.*s?host=slow.test&host=127.0.0.1:%d",
                                    SLICE_ARG(user), SLICE_ARG(rest), port_of_server());
    expect_connect(url.data, 4000, SERVER_OK, NULL);
    assert_int_equal(atomic_load(&answered), 0);
    atomic_store(&may_answer, true);
    AWAIT(atomic_load(&answered) == 4);
    assert_int_equal(
        pg_resolve("slow.test", soon(), NULL, -1, arena, 4, addresses, &count, &reason),
        PG_RESOLVED);
    assert_true(count > 0);
    assert_true(strcmp(addresses[0], "127.0.0.1") == 0 || strcmp(addresses[0], "::1") == 0);
}

static void test_refusals(void **state)
{
    (void)state;
    struct slice port = arena_printf(arena, "%d", port_of_server());
    struct slice wrong = arena_printf(
        arena, "postgresql://berth:berth-password2@127.0.0.1:%.*s/placement", SLICE_ARG(port));
    expect_connect(wrong.data, 10000, SERVER_FAILED,
                   "password authentication failed for user \"berth\"");
    assert_string_equal(pg_session_failure(session)->sqlstate, "28P01");
    wrong = arena_printf(arena, "postgresql://berth:berth-password@127.0.0.1:%.*s/missing",
                         SLICE_ARG(port));
    expect_connect(wrong.data, 10000, SERVER_FAILED, "database \"missing\" does not exist");
    assert_string_equal(pg_session_failure(session)->sqlstate, "3D000");
    expect_connect(url_with(arena, "127.0.0.1", port_of_server(), "?sslmode=sometimes"), 10000,
                   SERVER_FAILED, "invalid sslmode value: \"sometimes\"");
    expect_connect(url_with(arena, "127.0.0.1", port_of_server(), "?sslmode=require"), 10000,
                   SERVER_RETRY,
                   arena_printf(arena,
                                "connection to server at \"127.0.0.1\", port %.*s failed: server "
                                "does not support SSL, but SSL was required",
                                SLICE_ARG(port))
                       .data);
}

static void test_options_of_the_url(void **state)
{
    (void)state;
    expect_connect(url_with(arena, "127.0.0.1", port_of_server(),
                            "?application_name=placement&client_encoding=latin1"
                            "&options=-c%20search_path%3Dpg_catalog&keepalives_idle=77"),
                   10000, SERVER_OK, NULL);
    assert_string_equal(value_of(arena, session, "SHOW application_name"), "placement");
    assert_string_equal(value_of(arena, session, "SHOW client_encoding"), "UTF8");
    assert_string_equal(value_of(arena, session, "SHOW search_path"), "pg_catalog");
}

static int socket_option(int level, int option)
{
    int value = -1;
    socklen_t len = sizeof(value);
    assert_int_equal(getsockopt(PQsocket(session->conn), level, option, &value, &len), 0);
    return value;
}

/* A dead peer is noticed even while nothing waits for it. */
static void test_keepalives(void **state)
{
    (void)state;
    expect_connect(url_of_server(arena), 10000, SERVER_OK, NULL);
    assert_int_equal(socket_option(SOL_SOCKET, SO_KEEPALIVE), 1);
    assert_int_equal(socket_option(IPPROTO_TCP, TCP_KEEPIDLE), 5);
    assert_int_equal(socket_option(IPPROTO_TCP, TCP_KEEPINTVL), 5);
    assert_int_equal(socket_option(IPPROTO_TCP, TCP_KEEPCNT), 2);
    assert_int_equal(socket_option(IPPROTO_TCP, TCP_USER_TIMEOUT), 15000);
    expect_connect(url_with(arena, "127.0.0.1", port_of_server(),
                            "?keepalives_idle=77&keepalives_count=3&tcp_user_timeout=9000"),
                   10000, SERVER_OK, NULL);
    assert_int_equal(socket_option(IPPROTO_TCP, TCP_KEEPIDLE), 77);
    assert_int_equal(socket_option(IPPROTO_TCP, TCP_KEEPINTVL), 5);
    assert_int_equal(socket_option(IPPROTO_TCP, TCP_KEEPCNT), 3);
    assert_int_equal(socket_option(IPPROTO_TCP, TCP_USER_TIMEOUT), 9000);
}

static void test_deadline_of_a_statement(void **state)
{
    (void)state;
    session = open_session();
    struct attempt attempt = begin_attempt();
    uint64_t began_us = clock_monotonic_us();
    enum server_outcome outcome =
        pg_session_run(session, "SELECT pg_sleep(100)", "read", in_ms(150), &attempt.err);
    uint64_t took_us = clock_monotonic_us() - began_us;
    assert_true(took_us >= 150000 && took_us < 5000000);
    assert_false(pg_session_is_open(session));
    expect_outcome(&attempt, session, outcome, SERVER_TIMEOUT,
                   "read: the server has not answered in time");
    attempt = begin_attempt();
    expect_outcome(&attempt, session, pg_session_connect(session, soon(), &attempt.err), SERVER_OK,
                   NULL);
}

static void test_wake_up(void **state)
{
    (void)state;
    int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    struct server_session_options options = {.wake_fd = fd};
    struct pg_statement sleep = {.sql = "SELECT pg_sleep(0.1)"};
    session = make_session(url_of_server(arena), options);
    struct err err = {.arena = arena};
    assert_int_equal(eventfd_write(fd, 1), 0);
    /* connecting and single statements do not notice it */
    assert_int_equal(pg_session_connect(session, soon(), &err), SERVER_OK);
    assert_int_equal(pg_session_execute(session, &sleep, NULL, soon(), &err), SERVER_OK);
    assert_int_equal(pg_pipeline_begin(session, &err), SERVER_OK);
    assert_int_equal(pg_pipeline_queue(session, &sleep, &err), SERVER_OK);
    assert_int_equal(pg_pipeline_send(session, soon(), &err), SERVER_OK);
    assert_int_equal(pg_pipeline_next(session, NULL, soon(), &err), SERVER_WOKEN);
    assert_int_equal(pg_pipeline_next(session, NULL, soon(), &err), SERVER_WOKEN);
    eventfd_t value;
    assert_int_equal(eventfd_read(fd, &value), 0);
    assert_int_equal(pg_pipeline_next(session, NULL, soon(), &err), SERVER_OK);
    assert_int_equal(pg_pipeline_next(session, NULL, soon(), &err), SERVER_END);
    assert_int_equal(pg_pipeline_finish(session, soon(), &err), SERVER_OK);
    assert_false(err_is_set(&err));
    close(fd);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_silent_host),   TEST(test_refused_port),
        TEST(test_several_hosts), TEST(test_lists_that_do_not_fit),
        TEST(test_names),         TEST(test_name_server_that_does_not_answer),
        TEST(test_refusals),      TEST(test_options_of_the_url),
        TEST(test_keepalives),    TEST(test_deadline_of_a_statement),
        TEST(test_wake_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
