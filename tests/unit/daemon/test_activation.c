/* Sockets passed by the service manager: their purpose and their addresses. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/activation.h"
#include "unit.h"

static struct activation_socket bound(const char *host, uint16_t *port)
{
    struct activation_socket given = {.name = "x"};
    struct sockaddr_in in = {.sin_family = AF_INET};
    struct sockaddr_in6 in6 = {.sin6_family = AF_INET6};
    socklen_t len = sizeof(in6);
    if (inet_pton(AF_INET, host, &in.sin_addr) == 1) {
        given.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        assert_int_equal(bind(given.fd, (struct sockaddr *)&in, sizeof(in)), 0);
    } else {
        assert_int_equal(inet_pton(AF_INET6, host, &in6.sin6_addr), 1);
        given.fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
        assert_int_equal(bind(given.fd, (struct sockaddr *)&in6, sizeof(in6)), 0);
    }
    assert_int_equal(getsockname(given.fd, (struct sockaddr *)&in6, &len), 0);
    *port = ntohs(in6.sin6_port); /* at the same offset in both */
    return given;
}

static bool is_at(const struct activation_socket *given, const char *host, uint16_t port)
{
    return activation_is_at(given, &(struct conf_listen){.host = host, .port = port});
}

static void at_hosts(void **state)
{
    (void)state;
    uint16_t port;
    struct activation_socket given = bound("127.0.0.1", &port);
    assert_true(is_at(&given, "127.0.0.1", port));
    assert_true(is_at(&given, "localhost", port));
    assert_false(is_at(&given, "127.0.0.2", port));
    assert_false(is_at(&given, "::1", port));
    assert_false(is_at(&given, "127.0.0.1", (uint16_t)(port + 1)));
    assert_false(is_at(&given, "api.example.org", port));
    close(given.fd);
    given = bound("0.0.0.0", &port);
    assert_true(is_at(&given, "127.0.0.1", port));
    assert_true(is_at(&given, "0.0.0.0", port));
    assert_false(is_at(&given, "::1", port));
    assert_true(is_at(&given, "::", port)); /* which cannot be opened in addition */
    assert_false(is_at(&given, "127.0.0.1", (uint16_t)(port + 1)));
    close(given.fd);
    given = bound("::1", &port);
    assert_true(is_at(&given, "::1", port));
    assert_false(is_at(&given, "127.0.0.1", port));
    close(given.fd);
    given = bound("::", &port);
    assert_true(is_at(&given, "::1", port));
    assert_true(is_at(&given, "127.0.0.1", port));
    close(given.fd);
    /* BindIPv6Only=ipv6-only: another process may have the port for IPv4 */
    struct sockaddr_in6 any = {.sin6_family = AF_INET6};
    const int only = 1;
    given.fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(setsockopt(given.fd, IPPROTO_IPV6, IPV6_V6ONLY, &only, sizeof(only)), 0);
    assert_int_equal(bind(given.fd, (struct sockaddr *)&any, sizeof(any)), 0);
    socklen_t len = sizeof(any);
    assert_int_equal(getsockname(given.fd, (struct sockaddr *)&any, &len), 0);
    port = ntohs(any.sin6_port);
    assert_true(is_at(&given, "::", port));
    assert_true(is_at(&given, "::1", port));
    assert_false(is_at(&given, "127.0.0.1", port));
    assert_false(is_at(&given, "0.0.0.0", port));
    assert_false(is_at(&given, "localhost", port));
    close(given.fd);
}

static void at_paths(void **state)
{
    (void)state;
    char directory[] = "/tmp/berth-given-XXXXXX";
    assert_non_null(mkdtemp(directory));
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof(address.sun_path), "%s/s", directory);
    struct activation_socket given = {.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    assert_int_equal(bind(given.fd, (struct sockaddr *)&address, sizeof(address)), 0);
    struct conf_listen wanted = {.path = address.sun_path};
    assert_true(activation_is_at(&given, &wanted));
    assert_false(is_at(&given, "127.0.0.1", 1));
    wanted.path = "/elsewhere";
    assert_false(activation_is_at(&given, &wanted));
    close(given.fd);
    assert_false(activation_is_at(&given, &wanted)); /* not a socket */
    unlink(address.sun_path);
    assert_int_equal(rmdir(directory), 0);
}

static void names(void **state)
{
    (void)state;
    const struct {
        const char *name;
        bool admin;
        bool https;
        bool baremetal;
        bool valet;
    } cases[] = {
        {"admin", true, false, false, false},
        {"https", false, true, false, false},
        {"placement", false, false, false, false},
        {"placement-https", false, true, false, false},
        {"baremetal", false, false, true, false},
        {"baremetal-https", false, true, true, false},
        {"valet", false, false, false, true},
        {"valet-https", false, true, false, true},
        {"berthd.socket", false, false, false, false},
        {"unknown", false, false, false, false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct activation_socket given = {.name = cases[i].name};
        assert_int_equal(activation_is_admin(&given), cases[i].admin);
        assert_int_equal(activation_is_https(&given), cases[i].https);
        assert_int_equal(activation_is_baremetal(&given), cases[i].baremetal);
        assert_int_equal(activation_is_valet(&given), cases[i].valet);
    }
}

static void environment(void **state)
{
    (void)state;
    struct activation activation;
    struct err err = {.arena = arena_create()};
    char pid[16];
    snprintf(pid, sizeof(pid), "%d", (int)getpid());
    unsetenv("LISTEN_FDS");
    assert_true(activation_read(&activation, err.arena, &err));
    assert_int_equal(activation.count, 0);

    setenv("LISTEN_PID", "1", 1); /* another process's */
    setenv("LISTEN_FDS", "1", 1);
    assert_true(activation_read(&activation, err.arena, &err));
    assert_int_equal(activation.count, 0);

    setenv("LISTEN_PID", pid, 1);
    setenv("LISTEN_FDS", "nonsense", 1);
    assert_false(activation_read(&activation, err.arena, &err));
    assert_true(slice_equal(
        err.message, SLICE_LIT("LISTEN_FDS, LISTEN_PID or LISTEN_FDNAMES: Invalid argument")));

    uint16_t port;
    struct activation_socket given = bound("127.0.0.1", &port);
    int saved = dup(3); /* cmocka's or closed */
    assert_true(given.fd == 3 || dup2(given.fd, 3) == 3);
    setenv("LISTEN_PID", pid, 1);
    setenv("LISTEN_FDS", "1", 1);
    setenv("LISTEN_FDNAMES", "admin", 1);
    assert_true(activation_read(&activation, err.arena, &err));
    assert_int_equal(activation.count, 1);
    assert_int_equal(activation.sockets[0].fd, 3);
    assert_true(activation_is_admin(&activation.sockets[0]));
    assert_true(is_at(&activation.sockets[0], "127.0.0.1", port));
    assert_null(getenv("LISTEN_FDS"));
    if (given.fd != 3)
        close(given.fd);
    close(3);
    if (saved >= 0) {
        dup2(saved, 3);
        close(saved);
    }
    arena_destroy(err.arena);
}

/* Each socket gets its own descriptor and name; more than can be served are refused. In a child,
 * which may overwrite its descriptors. */
static void several_sockets(void **state)
{
    (void)state;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct activation activation;
        struct err err = {.arena = arena_create()};
        char text[16];
        for (int fd = 3; fd <= 3 + ACTIVATION_SOCKETS_MAX; fd++)
            dup2(0, fd);
        snprintf(text, sizeof(text), "%d", (int)getpid());
        setenv("LISTEN_PID", text, 1);
        setenv("LISTEN_FDS", "2", 1);
        setenv("LISTEN_FDNAMES", "admin:valet", 1);
        bool ok = activation_read(&activation, err.arena, &err) && activation.count == 2 &&
                  activation.sockets[0].fd == 3 && activation.sockets[1].fd == 4 &&
                  activation_is_admin(&activation.sockets[0]) &&
                  activation_is_valet(&activation.sockets[1]);
        setenv("LISTEN_PID", text, 1);
        snprintf(text, sizeof(text), "%d", ACTIVATION_SOCKETS_MAX + 1);
        setenv("LISTEN_FDS", text, 1);
        unsetenv("LISTEN_FDNAMES");
        ok = ok && !activation_read(&activation, err.arena, &err) &&
             slice_starts_with(err.message, SLICE_LIT("LISTEN_FDS"));
        arena_destroy(err.arena);
        _exit(ok ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* In a child, whose descriptors from 3 on are sockets. */
static void read_many(unsigned count, bool ok, const char *message)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child > 0) {
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
        return;
    }
    struct activation activation;
    struct err err = {.arena = arena_create()};
    char text[16];
    int fd = fcntl(socket(AF_INET, SOCK_STREAM, 0), F_DUPFD, 100);
    for (int i = 0; i < (int)count; i++)
        if (dup2(fd, 3 + i) < 0)
            _exit(2);
    snprintf(text, sizeof(text), "%d", (int)getpid());
    setenv("LISTEN_PID", text, 1);
    snprintf(text, sizeof(text), "%u", count);
    setenv("LISTEN_FDS", text, 1);
    unsetenv("LISTEN_FDNAMES");
    bool good = activation_read(&activation, err.arena, &err) == ok &&
                (!ok || activation.count == count) &&
                (ok || slice_equal(err.message, slice_of(message)));
    _exit(good ? 0 : 1);
}

static void as_many_as_are_served(void **state)
{
    (void)state;
    read_many(ACTIVATION_SOCKETS_MAX, true, NULL);
    read_many(ACTIVATION_SOCKETS_MAX + 1, false,
              "LISTEN_FDS: 17 sockets were given, at most 16 can be served");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(at_hosts),
        cmocka_unit_test(at_paths),
        cmocka_unit_test(names),
        cmocka_unit_test(environment),
        cmocka_unit_test(as_many_as_are_served),
        cmocka_unit_test(several_sockets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
