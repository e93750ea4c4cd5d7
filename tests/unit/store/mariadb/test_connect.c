/* Connecting, and waiting, with a deadline: silent and hostile servers, refusals, TLS, stops. */
#include "sessions.h"
#include "store/mariadb/session/session_state.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "await.h"
#include "base/clock.h"
#include "fake_server.h"
#include "store/server/io.h"

static struct arena *arena;
static struct mariadb_session *session;

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
    atomic_fetch_add(&answered, 1);
    return EAI_NONAME;
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
    mariadb_session_destroy(session);
    arena_destroy(arena);
    return 0;
}

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

static void make(const char *url)
{
    mariadb_session_destroy(session);
    session = make_session(url, (struct server_session_options){.wake_fd = -1});
}

/* Connects to the URL, and compares the outcome and the message after "cannot be ". */
static void expect_connect(const char *url, unsigned ms, enum server_outcome expected,
                           const char *message)
{
    struct attempt attempt = begin_attempt();
    make(url);
    enum server_outcome outcome = mariadb_session_connect(session, in_ms(ms), &attempt.err);
    assert_int_equal(mariadb_session_is_open(session), expected == SERVER_OK);
    expect_outcome(&attempt, session, outcome, expected, message);
}

static void test_silent_host(void **state)
{
    (void)state;
    int port;
    int fd = open_port(true, &port);
    const char *message =
        arena_printf(arena, "reached: 127.0.0.1 port %d does not answer", port).data;
    uint64_t began_us = clock_monotonic_us();
    expect_connect(url_with(arena, "127.0.0.1", port, ""), 200, SERVER_TIMEOUT, message);
    uint64_t took_us = clock_monotonic_us() - began_us;
    assert_true(took_us >= 200000 && took_us < 5000000);
    /* connect_timeout is shorter than the deadline */
    expect_connect(url_with(arena, "127.0.0.1", port, "?connect_timeout=1"), 60000, SERVER_TIMEOUT,
                   message);
    assert_true(clock_monotonic_us() - began_us < 10000000);
    /* and longer */
    expect_connect(url_with(arena, "127.0.0.1", port, "?connect_timeout=60"), 200, SERVER_TIMEOUT,
                   message);
    assert_true(clock_monotonic_us() - began_us < 20000000);
    close(fd);
}

/* The handshake is the part that libmariadb does not leave in the middle. */
static void test_silence_in_handshake(void **state)
{
    (void)state;
    struct fake_script script = {.packets = {fake_greeting_with_tls}, .count = 1};
    struct fake_server *server = fake_server_start(&script);
    int port = fake_server_port(server);
    const char *message =
        arena_printf(arena, "reached: 127.0.0.1 port %d does not answer", port).data;
    expect_connect(url_with(arena, "127.0.0.1", port, ""), 200, SERVER_TIMEOUT, message);
    expect_connect(url_with(arena, "127.0.0.1", port, "?ssl_check_hostname=false"), 200,
                   SERVER_TIMEOUT, message);
    fake_server_stop(server);
}

static void test_refused_port(void **state)
{
    (void)state;
    int port;
    int fd = open_port(false, &port);
    struct slice message = arena_printf(
        arena, "reached: 127.0.0.1 port %d: Can't connect to server on '127.0.0.1'", port);
    expect_connect(url_with(arena, "127.0.0.1", port, ""), 10000, SERVER_RETRY, message.data);
    expect_connect("mysql+pymysql://u:berth-password@/d?unix_socket=/nowhere", 10000, SERVER_RETRY,
                   "reached: the socket /nowhere: Can't connect to local server through socket "
                   "'/nowhere' (2)");
    close(fd);
}

/* As HAProxy without a server: it accepts, and closes. */
static void test_closed_at_once(void **state)
{
    (void)state;
    struct fake_script script = {.packets = {SLICE_LIT("")}, .count = 0};
    struct fake_server *server = fake_server_start(&script);
    struct attempt attempt = begin_attempt();
    make(url_with(arena, "127.0.0.1", fake_server_port(server), ""));
    fake_server_stop(server);
    assert_int_equal(mariadb_session_connect(session, soon(), &attempt.err), SERVER_RETRY);
    arena_destroy(attempt.arena);
}

static void test_names(void **state)
{
    (void)state;
    expect_connect(url_with(arena, "localhost", port_of_server(arena), ""), 10000, SERVER_OK, NULL);
    struct attempt attempt = begin_attempt();
    make(url_with(arena, "no-such-host.invalid", 3306, ""));
    enum server_outcome outcome = mariadb_session_connect(session, in_ms(20000), &attempt.err);
    /* later, if the name server of this machine does not answer */
    assert_true(outcome == SERVER_RETRY || outcome == SERVER_TIMEOUT);
    assert_non_null(strstr(attempt.err.message.data, "no-such-host.invalid"));
    arena_destroy(attempt.arena);
}

/* A readable descriptor ends the wait for a name server long before its deadline. */
static void test_stop(void **state)
{
    (void)state;
    int stop_fd = eventfd(1, EFD_CLOEXEC);
    assert_true(stop_fd >= 0);
    atomic_store(&may_answer, false);
    make("mysql+pymysql://u:berth-password@slow.test/d");
    server_session_set_stop(&session->base, stop_fd);
    uint64_t began_us = clock_monotonic_us();
    struct attempt attempt = begin_attempt();
    enum server_outcome outcome = mariadb_session_connect(session, in_ms(60000), &attempt.err);
    expect_outcome(&attempt, session, outcome, SERVER_TIMEOUT,
                   "reached: slow.test port 3306 does not answer");
    assert_true(clock_monotonic_us() - began_us < 30000000);
    expect_connect("mysql+pymysql://u:berth-password@slow.test/d", 50, SERVER_TIMEOUT,
                   "reached: slow.test port 3306 does not answer");
    assert_int_equal(atomic_load(&answered), 0);
    atomic_store(&may_answer, true);
    AWAIT(atomic_load(&answered) == 2);
    expect_connect("mysql+pymysql://u:berth-password@slow.test/d", 50000, SERVER_RETRY,
                   "reached: the name slow.test cannot be resolved: Name or service not known");
    close(stop_fd);
}

static bool count_run(void *cls)
{
    unsigned *runs = cls;
    return ++*runs < 3;
}

/* What the thread does meanwhile, and that it says when to stop. */
static void test_meanwhile(void **state)
{
    (void)state;
    unsigned runs = 0;
    int port;
    int fd = open_port(true, &port);
    struct server_meanwhile meanwhile = {.run = count_run, .cls = &runs};
    session = make_session(url_with(arena, "127.0.0.1", port, ""),
                           (struct server_session_options){.wake_fd = -1, .meanwhile = &meanwhile});
    struct attempt attempt = begin_attempt();
    enum server_outcome outcome = mariadb_session_connect(session, in_ms(60000), &attempt.err);
    expect_outcome(&attempt, session, outcome, SERVER_TIMEOUT, "reached: berthd is stopping");
    assert_int_equal(runs, 3);
    close(fd);
}

static void test_refusals(void **state)
{
    (void)state;
    int port = port_of_server(arena);
    struct attempt attempt = begin_attempt();
    struct slice url =
        arena_printf(arena, "mysql+pymysql://berth:berth-password2@127.0.0.1:%d/placement", port);
    make(url.data);
    assert_int_equal(mariadb_session_connect(session, soon(), &attempt.err), SERVER_FAILED);
    assert_int_equal(mariadb_session_failure(session)->code, 1045);
    assert_non_null(strstr(attempt.err.message.data, "reached: Access denied for user 'berth'@"));
    assert_null(strstr(attempt.err.message.data, "berth-password"));
    arena_destroy(attempt.arena);
    attempt = begin_attempt();
    url = arena_printf(arena, "mysql+pymysql://berth:berth-password@127.0.0.1:%d/missing", port);
    make(url.data);
    assert_int_equal(mariadb_session_connect(session, soon(), &attempt.err), SERVER_FAILED);
    assert_int_equal(mariadb_session_failure(session)->code, 1044);
    arena_destroy(attempt.arena);
    expect_connect(url_with(arena, "127.0.0.1", port, "?read_default_file=/nowhere"), 10000,
                   SERVER_FAILED,
                   "reached: the option file /nowhere cannot be read: No such file or directory");
    expect_connect(url_with(arena, "127.0.0.1", port, "?init_command=SELECT+*+FROM+missing"), 10000,
                   SERVER_FAILED, "reached: Table 'placement.missing' doesn't exist");
}

/* A server without TLS is not used, and not tried again: if its certificate is to be verified, with
 * its host, not even the user's name is sent. */
static void test_tls_is_demanded(void **state)
{
    (void)state;
    struct fake_script script = {.packets = {fake_greeting, fake_ok}, .count = 2};
    struct fake_server *server = fake_server_start(&script);
    int port = fake_server_port(server);
    expect_connect(url_with(arena, "127.0.0.1", port, "?ssl_ca=/dev/null"), 10000, SERVER_FAILED,
                   "reached: TLS/SSL error: SSL is required, but the server does not support it");
    assert_false(fake_server_has_read(server, SLICE_LIT("berth")));
    expect_connect(url_with(arena, "127.0.0.1", port, "?ssl_verify_cert=false"), 10000,
                   SERVER_FAILED, "reached: SSL is required, but the server does not support it");
    assert_false(fake_server_has_read(server, SLICE_LIT("SET NAMES")));
    fake_server_stop(server);
}

/* Whoever has taken the server's place may not ask for the password itself. */
static void test_password_in_clear_text(void **state)
{
    (void)state;
    struct fake_script script = {
        .packets = {fake_greeting, SLICE_LIT("\xfemysql_clear_password\0x\0"), fake_ok},
        .count = 3};
    struct fake_server *server = fake_server_start(&script);
    struct attempt attempt = begin_attempt();
    make(url_with(arena, "127.0.0.1", fake_server_port(server), ""));
    assert_int_equal(mariadb_session_connect(session, soon(), &attempt.err), SERVER_FAILED);
    assert_non_null(strstr(attempt.err.message.data, "restricted_auth"));
    assert_true(fake_server_has_read(server, SLICE_LIT("berth")));
    assert_false(fake_server_has_read(server, SLICE_LIT("berth-password")));
    arena_destroy(attempt.arena);
    fake_server_stop(server);
}

/* Nor for a file, in answer to any statement. */
static void test_local_file(void **state)
{
    (void)state;
    char path[] = "/tmp/berth-local-file-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "the-secret-of-the-file", 22), 22);
    struct slice request = arena_printf(arena, "\xfb%s", path);
    struct fake_script script = {.packets = {fake_greeting, fake_ok, request, fake_ok}, .count = 4};
    struct fake_server *server = fake_server_start(&script);
    struct attempt attempt = begin_attempt();
    make(url_with(arena, "127.0.0.1", fake_server_port(server), "?local_infile=1"));
    assert_int_not_equal(mariadb_session_connect(session, soon(), &attempt.err), SERVER_OK);
    AWAIT(fake_server_ended(server) == 1);
    assert_true(fake_server_has_read(server, SLICE_LIT("SET NAMES")));
    assert_false(fake_server_has_read(server, SLICE_LIT("the-secret-of-the-file")));
    fake_server_stop(server);
    arena_destroy(attempt.arena);
    close(fd);
    unlink(path);
}

static int socket_option(int level, int option)
{
    int value = -1;
    socklen_t len = sizeof(value);
    assert_int_equal(getsockopt(mariadb_session_socket(session), level, option, &value, &len), 0);
    return value;
}

/* A dead peer is noticed even while nothing waits for it. */
static void test_socket(void **state)
{
    (void)state;
    session = open_session();
    assert_int_equal(socket_option(SOL_SOCKET, SO_KEEPALIVE), 1);
    assert_int_equal(socket_option(IPPROTO_TCP, TCP_KEEPIDLE), 5);
    assert_int_equal(socket_option(IPPROTO_TCP, TCP_KEEPINTVL), 5);
    assert_int_equal(socket_option(IPPROTO_TCP, TCP_KEEPCNT), 2);
    assert_int_equal(socket_option(IPPROTO_TCP, TCP_USER_TIMEOUT), 15000);
    assert_int_equal(fcntl(mariadb_session_socket(session), F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
}

static void test_deadline_of_a_text(void **state)
{
    (void)state;
    session = open_session();
    struct attempt attempt = begin_attempt();
    uint64_t began_us = clock_monotonic_us();
    enum server_outcome outcome =
        mariadb_session_run(session, "DO SLEEP(100)", "read", in_ms(150), &attempt.err);
    uint64_t took_us = clock_monotonic_us() - began_us;
    assert_true(took_us >= 150000 && took_us < 5000000);
    assert_false(mariadb_session_is_open(session));
    expect_outcome(&attempt, session, outcome, SERVER_TIMEOUT,
                   "read: the server has not answered in time");
    attempt = begin_attempt();
    expect_outcome(&attempt, session, mariadb_session_connect(session, soon(), &attempt.err),
                   SERVER_OK, NULL);
}

/* A text that is larger than what the kernels keep for the server, while that is stopped. */
static void test_text_that_waits(void **state)
{
    (void)state;
    enum { BYTES = 14 * 1024 * 1024 };
    pid_t pid = (pid_t)atoi(getenv("BERTH_TEST_MARIADB_PID"));
    assert_true(pid > 1);
    char *sql = arena_alloc(arena, BYTES);
    memset(sql, 'x', BYTES);
    memcpy(sql, "SELECT LENGTH('", 15);
    memcpy(sql + BYTES - 2, "')", 2);
    struct mariadb_text text = {.sql = {sql, BYTES}};
    session = open_session();
    struct attempt attempt = begin_attempt();
    assert_int_equal(kill(pid, SIGSTOP), 0);
    enum server_outcome started = mariadb_text_start(session, &text, NULL, 0, &attempt.err);
    enum server_outcome received = mariadb_text_receive(session, &attempt.err);
    bool is_sent = mariadb_text_is_sent(session);
    assert_int_equal(kill(pid, SIGCONT), 0);
    assert_int_equal(started, SERVER_OK);
    assert_int_equal(received, SERVER_WOKEN);
    assert_false(is_sent);
    expect_outcome(&attempt, session, mariadb_text_drive(session, UINT64_MAX, soon(), &attempt.err),
                   SERVER_OK, NULL);
    assert_false(mariadb_text_is_sent(session));
    /* and its deadline passes in the middle of it */
    attempt = begin_attempt();
    assert_int_equal(kill(pid, SIGSTOP), 0);
    enum server_outcome outcome =
        mariadb_session_execute(session, &text, NULL, 0, NULL, in_ms(50), &attempt.err);
    assert_int_equal(kill(pid, SIGCONT), 0);
    expect_outcome(&attempt, session, outcome, SERVER_TIMEOUT,
                   "used: the server has not answered in time");
    assert_false(mariadb_session_is_open(session));
}

/* The kernel of a stopped server still accepts connections and bytes. */
static void test_stopped_server(void **state)
{
    (void)state;
    const char *pid_text = getenv("BERTH_TEST_MARIADB_PID");
    pid_t pid = pid_text == NULL ? 0 : (pid_t)atoi(pid_text);
    assert_true(pid > 1);
    session = open_session();
    struct mariadb_session *streaming = open_session();
    struct mariadb_text text = {.sql = SLICE_LIT("SELECT SLEEP(0.2)")};
    struct attempt attempt = begin_attempt();
    assert_int_equal(mariadb_stream_begin(streaming, &text, &attempt.err), SERVER_OK);
    assert_int_equal(kill(pid, SIGSTOP), 0);
    struct mariadb_rows row = {0};
    enum server_outcome stream = mariadb_stream_next(streaming, &row, in_ms(100), &attempt.err);
    uint64_t began_us = clock_monotonic_us();
    struct mariadb_text commit = {.sql = SLICE_LIT("BEGIN; COMMIT"), .commit = 2};
    struct attempt second = begin_attempt();
    enum server_outcome outcome =
        mariadb_session_execute(session, &commit, NULL, 0, NULL, in_ms(100), &second.err);
    enum server_commit state_of_commit = session->base.commit;
    struct attempt third = begin_attempt();
    enum server_outcome connected = mariadb_session_connect(session, in_ms(100), &third.err);
    uint64_t took_us = clock_monotonic_us() - began_us;
    assert_int_equal(kill(pid, SIGCONT), 0);
    assert_int_equal(stream, SERVER_TIMEOUT);
    assert_int_equal(outcome, SERVER_TIMEOUT);
    assert_int_equal(state_of_commit, SERVER_COMMIT_UNKNOWN);
    assert_int_equal(connected, SERVER_TIMEOUT);
    assert_true(took_us < 5000000);
    arena_destroy(attempt.arena);
    arena_destroy(second.arena);
    arena_destroy(third.arena);
    mariadb_rows_free(&row);
    mariadb_session_destroy(streaming);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_silent_host),
        TEST(test_silence_in_handshake),
        TEST(test_refused_port),
        TEST(test_closed_at_once),
        TEST(test_names),
        TEST(test_stop),
        TEST(test_meanwhile),
        TEST(test_refusals),
        TEST(test_tls_is_demanded),
        TEST(test_password_in_clear_text),
        TEST(test_local_file),
        TEST(test_socket),
        TEST(test_deadline_of_a_text),
        TEST(test_text_that_waits),
        TEST(test_stopped_server),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
