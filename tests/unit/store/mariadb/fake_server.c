/* One thread serves one client after another. The tests only need packets of fixed bytes: the
 * protocol's 3 bytes of length and a number are added here. */
#include "fake_server.h"

#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"
#include "unit.h"

/* Protocol 10, version, thread 7, scramble, capabilities, charset, status, plugin. */
#define GREETING(capabilities)                                                                     \
    SLICE_LIT("\x0a"                                                                               \
              "5.5.5-10.11.99-MariaDB\0"                                                           \
              "\x07\0\0\0"                                                                         \
              "abcdefgh\0" capabilities "\x2d\x02\0\x3f\x80\x15\0\0\0\0\0\0\0\0\0\0"               \
              "abcdefghijkl\0"                                                                     \
              "mysql_native_password\0")

const struct slice fake_greeting = GREETING("\xfe\xf7");
const struct slice fake_greeting_with_tls = GREETING("\xfe\xff");
const struct slice fake_ok = SLICE_LIT("\0\0\0\x02\0\0\0");

struct fake_server {
    const struct fake_script *script;
    int listener;
    int stop_fd; /* an eventfd */
    int port;
    pthread_t thread;
    pthread_mutex_t lock;
    struct buf read; /* what all clients have sent */
    _Atomic unsigned ended;
};

/* False: the client or the test has ended. */
static bool read_some(struct fake_server *server, int fd, unsigned char *number)
{
    char data[4096];
    struct pollfd polled[] = {{.fd = fd, .events = POLLIN},
                              {.fd = server->stop_fd, .events = POLLIN}};
    if (poll(polled, 2, 30000) <= 0 || polled[1].revents != 0)
        return false;
    ssize_t got = recv(fd, data, sizeof(data), 0);
    if (got <= 0)
        return false;
    *number = got > 3 ? (unsigned char)data[3] : 0;
    pthread_mutex_lock(&server->lock);
    buf_append(&server->read, data, (size_t)got);
    pthread_mutex_unlock(&server->lock);
    return true;
}

static void serve(struct fake_server *server, int fd)
{
    unsigned char number = 255;
    for (size_t i = 0; i < server->script->count; i++) {
        struct slice packet = server->script->packets[i];
        if (i > 0 && !read_some(server, fd, &number))
            return;
        unsigned char head[] = {(unsigned char)packet.len, (unsigned char)(packet.len >> 8), 0,
                                (unsigned char)(number + 1)};
        if (send(fd, head, sizeof(head), MSG_NOSIGNAL) < 0 ||
            send(fd, packet.data, packet.len, MSG_NOSIGNAL) < 0)
            return;
    }
    while (read_some(server, fd, &number)) {
    }
}

static void *run_server(void *cls)
{
    struct fake_server *server = cls;
    for (;;) {
        struct pollfd polled[] = {{.fd = server->listener, .events = POLLIN},
                                  {.fd = server->stop_fd, .events = POLLIN}};
        if (poll(polled, 2, -1) < 0 || polled[1].revents != 0)
            return NULL;
        int fd = accept(server->listener, NULL, NULL);
        if (fd < 0)
            continue;
        serve(server, fd);
        close(fd);
        atomic_fetch_add(&server->ended, 1);
    }
}

struct fake_server *fake_server_start(const struct fake_script *script)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(address);
    struct fake_server *server = calloc(1, sizeof(*server));
    assert_non_null(server);
    server->script = script;
    server->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(server->listener, (struct sockaddr *)&address, len), 0);
    assert_int_equal(getsockname(server->listener, (struct sockaddr *)&address, &len), 0);
    assert_int_equal(listen(server->listener, 16), 0);
    server->port = ntohs(address.sin_port);
    server->stop_fd = eventfd(0, EFD_CLOEXEC);
    assert_int_equal(pthread_mutex_init(&server->lock, NULL), 0);
    assert_int_equal(pthread_create(&server->thread, NULL, run_server, server), 0);
    return server;
}

void fake_server_stop(struct fake_server *server)
{
    assert_int_equal(eventfd_write(server->stop_fd, 1), 0);
    assert_int_equal(pthread_join(server->thread, NULL), 0);
    close(server->listener);
    close(server->stop_fd);
    pthread_mutex_destroy(&server->lock);
    buf_free(&server->read);
    free(server);
}

int fake_server_port(const struct fake_server *server)
{
    return server->port;
}

unsigned fake_server_ended(struct fake_server *server)
{
    return atomic_load(&server->ended);
}

bool fake_server_has_read(struct fake_server *server, struct slice bytes)
{
    pthread_mutex_lock(&server->lock);
    bool has = server->read.len > 0 &&
               memmem(server->read.data, server->read.len, bytes.data, bytes.len) != NULL;
    pthread_mutex_unlock(&server->lock);
    return has;
}
