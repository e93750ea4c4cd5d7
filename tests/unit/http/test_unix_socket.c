/* Listening at a path: its mode, what may be replaced there, what is left behind; sockets that were
 * given. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <linux/vm_sockets.h>

#include "await.h"
#include "base/arena.h"
#include "harness.h"
#include "wakeups.h"

static char directory[] = "/tmp/berth-unix-XXXXXX";
static struct sockaddr_un address = {.sun_family = AF_UNIX};
static struct arena *arena;
static struct harness harness;

static enum http_step answer_peer(struct http_exchange *exchange, void *cls)
{
    (void)cls;
    exchange->status = 200;
    buf_append_slice(&exchange->out, exchange->peer);
    return HTTP_ANSWERED;
}

static void finished(struct http_exchange *exchange, void *cls)
{
    (void)exchange;
    (void)cls;
}

static const struct http_service peers = {
    .on_request = answer_peer, .on_resume = answer_peer, .on_finished = finished};

static int set_up(void **state)
{
    (void)state;
    arena = arena_create();
    assert_non_null(mkdtemp(directory));
    snprintf(address.sun_path, sizeof(address.sun_path), "%s/api.sock", directory);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_destroy(arena);
    return rmdir(directory);
}

static struct http_address at_path(unsigned mode)
{
    return (struct http_address){.path = address.sun_path, .mode = mode};
}

static struct http_server *serve_peers(const struct http_address *where, struct err *err)
{
    *err = (struct err){.arena = arena};
    return http_server_start(where, &harness_limits, &peers, err);
}

static int path_connect(void)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    return fd;
}

static bool path_is_there(void)
{
    return access(address.sun_path, F_OK) == 0;
}

static void serves(void **state)
{
    (void)state;
    struct err err;
    const unsigned modes[] = {0600, 0666, 0660};
    for (unsigned i = 0; i < 3; i++) {
        struct http_address where = at_path(modes[i]);
        struct http_server *server = serve_peers(&where, &err);
        assert_non_null(server);
        assert_string_equal(http_server_url(server) + strlen("unix:"), address.sun_path);
        assert_int_equal(http_server_port(server), 0);
        struct stat status;
        assert_int_equal(stat(address.sun_path, &status), 0);
        assert_int_equal(status.st_mode & 07777, modes[i]);
        int fd = path_connect();
        for (unsigned round = 0; round < 3; round++) {
            client_send(fd, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
            struct reply reply = client_read(fd);
            assert_reply(reply, 200, "-");
        }
        close(fd);
        http_server_stop(server, 100);
        assert_false(path_is_there());
    }
}

/* The library counts connections by address, which a path is not, whatever its length. */
/* A service that does not decide about large bodies reads them. */
static void large_body(void **state)
{
    (void)state;
    enum { BODY_BYTES = 100000 };
    struct err err;
    struct http_address where = at_path(0600);
    struct http_server *server = serve_peers(&where, &err);
    char *body = calloc(1, BODY_BYTES);
    int fd = path_connect();
    client_send(fd, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n");
    client_send_bytes(fd, body, BODY_BYTES);
    struct reply reply = client_read(fd);
    assert_reply(reply, 200, "-");
    client_send(fd, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    reply = client_read(fd);
    assert_reply(reply, 200, "-");
    close(fd);
    free(body);
    http_server_stop(server, 0);
}

static void no_limit_per_address(void **state)
{
    (void)state;
    struct http_limits limits = harness_limits;
    limits.connections_per_address = 2;
    struct http_address where = at_path(0600);
    harness_start_at(&harness, &where, &limits);
    int fds[8];
    for (unsigned i = 0; i < 8; i++) {
        struct sockaddr_un own = {.sun_family = AF_UNIX};
        fds[i] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        /* as long as an IPv4 address: an abstract name */
        snprintf(own.sun_path + 1, sizeof(own.sun_path) - 1, "berth-%u-%05d", i, getpid() % 100000);
        assert_int_equal(bind(fds[i], (struct sockaddr *)&own, sizeof(struct sockaddr_in)), 0);
        assert_int_equal(connect(fds[i], (struct sockaddr *)&address, sizeof(address)), 0);
    }
    for (unsigned i = 0; i < 8; i++) {
        client_send(fds[i], "GET /x HTTP/1.1\r\nHost: x\r\n\r\n");
        struct reply reply = client_read(fds[i]);
        assert_reply(reply, 200, "GET /x ");
        close(fds[i]);
    }
    harness_stop(&harness);
}

/* There is no count of bytes to see a request begin by: the two limits together bound it. */
static void drips(void **state)
{
    (void)state;
    struct http_limits limits = harness_limits;
    limits.header_deadline_ms = 200;
    limits.idle_timeout_s = 1;
    struct http_address where = at_path(0600);
    harness_start_at(&harness, &where, &limits);
    int fd = path_connect();
    uint64_t start = now_ms();
    while (now_ms() - start < AWAIT_SECONDS * 1000) {
        client_send(fd, "G");
        if (client_closed_within(fd, 50))
            break;
    }
    assert_in_range(now_ms() - start, 1000, AWAIT_SECONDS * 1000 - 1);
    close(fd);
    harness_stop(&harness);
}

static void replaced_or_not(void **state)
{
    (void)state;
    struct err err;
    struct http_address where = at_path(0600);
    struct http_server *server = serve_peers(&where, &err);
    assert_null(serve_peers(&where, &err));
    assert_non_null(strstr(err.message.data, ": in use by another process"));
    int fd = path_connect(); /* the refused one has done no harm */
    close(fd);
    http_server_stop(server, 0);

    /* left behind */
    int stale = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(stale, (struct sockaddr *)&address, sizeof(address)), 0);
    close(stale);
    assert_true(path_is_there());
    server = serve_peers(&where, &err);
    assert_non_null(server);
    http_server_stop(server, 0);
    assert_false(path_is_there());

    /* in use, and nobody accepts */
    int other = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(other, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(listen(other, 0), 0);
    fd = path_connect();
    assert_null(serve_peers(&where, &err));
    assert_non_null(strstr(err.message.data, ": in use by another process"));
    close(fd);
    close(other);
    unlink(address.sun_path);

    /* a socket of another kind */
    other = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(other, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_null(serve_peers(&where, &err));
    assert_non_null(strstr(err.message.data, ": Protocol wrong type for socket"));
    assert_true(path_is_there());
    close(other);
    unlink(address.sun_path);

    /* no socket */
    close(open(address.sun_path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    assert_null(serve_peers(&where, &err));
    assert_non_null(strstr(err.message.data, ": there is a file that is not a socket"));
    assert_true(path_is_there());
    unlink(address.sun_path);
}

/* Somebody has put another socket in the place of ours. */
static void leaves_what_is_not_its_own(void **state)
{
    (void)state;
    struct err err;
    struct http_address where = at_path(0600);
    struct http_server *server = serve_peers(&where, &err);
    unlink(address.sun_path);
    int other = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(other, (struct sockaddr *)&address, sizeof(address)), 0);
    http_server_stop(server, 0);
    assert_true(path_is_there());
    close(other);
    unlink(address.sun_path);
}

static void impossible(void **state)
{
    (void)state;
    struct err err;
    char long_path[200];
    memset(long_path, 'x', sizeof(long_path));
    long_path[0] = '/';
    long_path[sizeof(long_path) - 1] = '\0';
    assert_null(serve_peers(&(struct http_address){.path = long_path, .mode = 0600}, &err));
    assert_non_null(strstr(err.message.data, ": the path is too long"));
    assert_null(serve_peers(&(struct http_address){.path = "/no/such/x", .mode = 0600}, &err));
    assert_non_null(strstr(err.message.data, "cannot listen on unix:/no/such/x: No such file"));
}

/* A socket that somebody else opened: served, and not removed; what waits in it is left. */
static void given(void **state)
{
    (void)state;
    struct err err;
    int held = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(held, (struct sockaddr *)&address, sizeof(address)), 0);
    struct http_address where = {.is_given = true, .fd = dup(held)};
    assert_null(serve_peers(&where, &err)); /* it does not listen */
    assert_non_null(strstr(err.message.data, "is not a listening stream socket"));
    assert_int_equal(listen(held, 16), 0);
    struct http_server *server = serve_peers(&where, &err);
    assert_non_null(server);
    assert_string_equal(http_server_url(server) + strlen("unix:"), address.sun_path);
    int fd = path_connect();
    client_send(fd, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    struct reply reply = client_read(fd);
    assert_reply(reply, 200, "-");
    close(fd);
    http_server_drain(server, 0);
    fd = path_connect(); /* waits for the next one */
    client_send(fd, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    http_server_stop(server, 0);
    assert_true(path_is_there());
    where.fd = dup(held);
    server = serve_peers(&where, &err);
    assert_non_null(server);
    reply = client_read(fd);
    assert_reply(reply, 200, "-");
    close(fd);
    http_server_stop(server, 0);
    close(held);
    unlink(address.sun_path);
}

/* An abstract name is shown with an @. */
static void given_abstract(void **state)
{
    (void)state;
    struct err err;
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    int len = snprintf(name.sun_path + 1, sizeof(name.sun_path) - 1, "berth-test-%d", getpid());
    socklen_t bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)len);
    int held = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(held, (struct sockaddr *)&name, bytes), 0);
    assert_int_equal(listen(held, 16), 0);
    struct http_server *server =
        serve_peers(&(struct http_address){.is_given = true, .fd = dup(held)}, &err);
    assert_non_null(server);
    assert_string_equal(http_server_url(server),
                        arena_printf(arena, "unix:@%s", name.sun_path + 1).data);
    http_server_stop(server, 0);
    close(held);
}

static void given_tcp(void **state)
{
    (void)state;
    struct err err;
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(in);
    int held = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(held, (struct sockaddr *)&in, sizeof(in)), 0);
    assert_int_equal(listen(held, 16), 0);
    assert_int_equal(getsockname(held, (struct sockaddr *)&in, &len), 0);
    struct http_server *server =
        serve_peers(&(struct http_address){.is_given = true, .fd = dup(held)}, &err);
    assert_non_null(server);
    char wanted[64];
    snprintf(wanted, sizeof(wanted), "http://127.0.0.1:%u", ntohs(in.sin_port));
    assert_string_equal(http_server_url(server), wanted);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&in, sizeof(in)), 0);
    client_send(fd, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    struct reply reply = client_read(fd);
    assert_reply(reply, 200, "127.0.0.1");
    close(fd);
    http_server_stop(server, 0);
    close(held);
}

/* Who holds the socket, too, may end it for all: that keeps no processor busy. */
static void given_and_ended(void **state)
{
    (void)state;
    struct err err;
    const int families[] = {AF_UNIX, AF_INET};
    for (unsigned i = 0; i < 2; i++) {
        struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        int held = socket(families[i], SOCK_STREAM | SOCK_CLOEXEC, 0);
        assert_int_equal(families[i] == AF_UNIX
                             ? bind(held, (struct sockaddr *)&address, sizeof(address))
                             : bind(held, (struct sockaddr *)&in, sizeof(in)),
                         0);
        assert_int_equal(listen(held, 16), 0);
        struct http_server *server =
            serve_peers(&(struct http_address){.is_given = true, .fd = dup(held)}, &err);
        assert_non_null(server);
        assert_int_equal(shutdown(held, SHUT_RDWR), 0);
        assert_true(wakeups_become_rare());
        http_server_stop(server, 0);
        close(held);
    }
    unlink(address.sun_path);
}

/* Streams there are of other families, too, whose addresses mean nothing here. */
static void given_of_another_family(void **state)
{
    (void)state;
    struct err err;
    struct sockaddr_vm vm = {
        .svm_family = AF_VSOCK, .svm_cid = VMADDR_CID_ANY, .svm_port = VMADDR_PORT_ANY};
    int held = socket(AF_VSOCK, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (held < 0 || bind(held, (struct sockaddr *)&vm, sizeof(vm)) != 0)
        skip(); /* a machine without */
    assert_int_equal(listen(held, 16), 0);
    assert_null(serve_peers(&(struct http_address){.is_given = true, .fd = held}, &err));
    assert_non_null(strstr(err.message.data, "has an unsupported address family"));
    close(held);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(serves),
        cmocka_unit_test(large_body),
        cmocka_unit_test(no_limit_per_address),
        cmocka_unit_test(drips),
        cmocka_unit_test(replaced_or_not),
        cmocka_unit_test(leaves_what_is_not_its_own),
        cmocka_unit_test(impossible),
        cmocka_unit_test(given),
        cmocka_unit_test(given_abstract),
        cmocka_unit_test(given_tcp),
        cmocka_unit_test(given_and_ended),
        cmocka_unit_test(given_of_another_family),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
