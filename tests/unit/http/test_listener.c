/* Where a server listens, and what it says when it cannot. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/arena.h"
#include "harness.h"

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

static const struct http_service service = {
    .on_request = answer_peer, .on_resume = answer_peer, .on_finished = finished};

static struct http_server *try_start(struct arena *arena, const char *host, uint16_t port,
                                     struct err *err)
{
    *err = (struct err){.arena = arena};
    const struct http_address address = {.host = host, .port = port};
    return http_server_start(&address, &harness_limits, &service, err);
}

static void assert_peer(const struct http_server *server, const struct sockaddr *address,
                        socklen_t len, const char *peer)
{
    int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_not_equal(http_server_port(server), 0);
    assert_int_equal(connect(fd, address, len), 0);
    client_send(fd, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    struct reply reply = client_read(fd);
    assert_reply(reply, 200, peer);
    close(fd);
}

static void addresses(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct err err;
    const char *const four[] = {"127.0.0.1", "0.0.0.0", "::"};
    for (size_t i = 0; i < sizeof(four) / sizeof(four[0]); i++) {
        struct http_server *server = try_start(arena, four[i], 0, &err);
        if (server == NULL && four[i][0] == ':')
            continue; /* a machine without IPv6 */
        assert_non_null(server);
        struct sockaddr_in address = {.sin_family = AF_INET,
                                      .sin_port = htons(http_server_port(server)),
                                      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        assert_peer(server, (struct sockaddr *)&address, sizeof(address), "127.0.0.1");
        http_server_stop(server, 0);
    }
    struct http_server *server = try_start(arena, "::1", 0, &err);
    if (server != NULL) {
        struct sockaddr_in6 address = {.sin6_family = AF_INET6,
                                       .sin6_port = htons(http_server_port(server)),
                                       .sin6_addr = IN6ADDR_LOOPBACK_INIT};
        assert_peer(server, (struct sockaddr *)&address, sizeof(address), "::1");
        http_server_stop(server, 0);
    }
    server = try_start(arena, "localhost", 0, &err);
    assert_non_null(server);
    http_server_stop(server, 0);
    arena_destroy(arena);
}

static void taken(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct err err;
    struct http_server *server = try_start(arena, "127.0.0.1", 0, &err);
    uint16_t port = http_server_port(server);
    char wanted[96];
    snprintf(wanted, sizeof(wanted), "cannot listen on 127.0.0.1:%u: Address already in use", port);
    assert_null(try_start(arena, "127.0.0.1", port, &err));
    assert_string_equal(err.message.data, wanted);
    http_server_stop(server, 0);
    server = try_start(arena, "127.0.0.1", port, &err);
    assert_non_null(server);
    http_server_stop(server, 0);
    arena_destroy(arena);
}

static void unknown(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct err err;
    const char *const hosts[] = {"no.such.host.invalid", "256.1.1.1", "[::1]", "2001:db8::1"};
    for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++) {
        assert_null(try_start(arena, hosts[i], 0, &err));
        assert_true(slice_starts_with(err.message, SLICE_LIT("cannot listen on ")));
    }
    assert_true(slice_starts_with(err.message, SLICE_LIT("cannot listen on [2001:db8::1]:0: ")));
    arena_destroy(arena);
}

/* Sockets that the service manager gave. */
static void given(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct err err = {.arena = arena};
    int stream = socket(AF_UNIX, SOCK_STREAM, 0);
    int packets = socket(AF_UNIX, SOCK_SEQPACKET, 0);
    const struct sockaddr_un any = {.sun_family = AF_UNIX}; /* bound to a name by the kernel */
    assert_int_equal(bind(stream, (const struct sockaddr *)&any, sizeof(any.sun_family)), 0);
    assert_int_equal(bind(packets, (const struct sockaddr *)&any, sizeof(any.sun_family)), 0);

    struct http_address address = {.is_given = true, .fd = stream};
    assert_null(http_server_start(&address, &harness_limits, &service, &err));
    assert_true(slice_starts_with(err.message, SLICE_LIT("descriptor ")));
    assert_int_equal(listen(stream, 8) + listen(packets, 8), 0);
    err = (struct err){.arena = arena};
    address.fd = packets;
    assert_null(http_server_start(&address, &harness_limits, &service, &err));
    assert_non_null(strstr(err.message.data, " is not a listening stream socket"));

    err = (struct err){.arena = arena};
    address.fd = stream;
    struct http_server *server = http_server_start(&address, &harness_limits, &service, &err);
    assert_non_null(server);
    assert_true(strncmp(http_server_url(server), "unix:@", 6) == 0);
    assert_int_equal(fcntl(stream, F_GETFD), FD_CLOEXEC);
    assert_true((fcntl(stream, F_GETFL) & O_NONBLOCK) != 0);
    http_server_stop(server, 0);
    close(packets);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses),
        cmocka_unit_test(taken),
        cmocka_unit_test(unknown),
        cmocka_unit_test(given),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
