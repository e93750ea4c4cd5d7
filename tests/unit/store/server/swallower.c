/* See swallower.h. One thread forwards for all connections. */
#include "swallower.h"

#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/check.h"
#include "unit.h"

enum { PAIRS_MOST = 32, LOOK_MS = 5, CHUNK_BYTES = 1 << 16 };

struct pair {
    int client;
    int server;
};

struct swallower {
    int listener;
    int port;
    struct sockaddr_in server;
    struct sockaddr_un server_socket; /* instead, if it has a path */
    pthread_t thread;
    struct pair pairs[PAIRS_MOST];
    size_t count;
    const char *_Atomic text;
    _Atomic bool must_cut, swallows, has_swallowed, is_ending;
};

static struct sockaddr_in address_of(int port)
{
    return (struct sockaddr_in){.sin_family = AF_INET,
                                .sin_port = htons((uint16_t)port),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static int connect_to_server(const struct swallower *swallower)
{
    bool is_path = swallower->server_socket.sun_path[0] != '\0';
    int server = socket(is_path ? AF_UNIX : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int failed = is_path ? connect(server, (const struct sockaddr *)&swallower->server_socket,
                                   sizeof(swallower->server_socket))
                         : connect(server, (const struct sockaddr *)&swallower->server,
                                   sizeof(swallower->server));
    assert_true(server >= 0 && failed == 0);
    return server;
}

static void add_pair(struct swallower *swallower)
{
    int client = accept(swallower->listener, NULL, NULL);
    int server = connect_to_server(swallower);
    assert_true(client >= 0 && swallower->count < PAIRS_MOST);
    swallower->pairs[swallower->count++] = (struct pair){client, server};
}

static void close_pair(struct swallower *swallower, size_t at)
{
    close(swallower->pairs[at].client);
    close(swallower->pairs[at].server);
    swallower->pairs[at] = swallower->pairs[--swallower->count];
}

static bool send_all(int fd, const char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t sent = send(fd, bytes, len, MSG_NOSIGNAL);
        if (sent <= 0)
            return false;
        bytes += sent;
        len -= (size_t)sent;
    }
    return true;
}

/* False: one side has ended. */
static bool forward(struct swallower *swallower, int from, int to, bool is_client)
{
    static char bytes[CHUNK_BYTES];
    const char *text = swallower->text;
    ssize_t len = recv(from, bytes, sizeof(bytes), MSG_DONTWAIT);
    if (len <= 0)
        return len < 0;
    if (is_client && text != NULL && memmem(bytes, (size_t)len, text, strlen(text)) != NULL)
        swallower->swallows = true;
    if (swallower->swallows)
        swallower->has_swallowed = true;
    return swallower->swallows || send_all(to, bytes, (size_t)len);
}

static void forward_all(struct swallower *swallower)
{
    for (size_t i = swallower->count; i-- > 0;) {
        const struct pair pair = swallower->pairs[i];
        if (swallower->must_cut || !forward(swallower, pair.client, pair.server, true) ||
            !forward(swallower, pair.server, pair.client, false))
            close_pair(swallower, i);
    }
    swallower->must_cut = false;
}

static void *run(void *cls)
{
    struct swallower *swallower = cls;
    while (!swallower->is_ending) {
        struct pollfd polled[1 + 2 * PAIRS_MOST] = {{.fd = swallower->listener, .events = POLLIN}};
        for (size_t i = 0; i < swallower->count; i++) {
            polled[1 + 2 * i] = (struct pollfd){.fd = swallower->pairs[i].client, .events = POLLIN};
            polled[2 + 2 * i] = (struct pollfd){.fd = swallower->pairs[i].server, .events = POLLIN};
        }
        (void)poll(polled, (nfds_t)(1 + 2 * swallower->count), LOOK_MS);
        forward_all(swallower);
        if (polled[0].revents != 0)
            add_pair(swallower);
    }
    return NULL;
}

struct swallower *swallower_start(int server_port, const char *socket_path)
{
    struct swallower *swallower = calloc(1, sizeof(*swallower));
    struct sockaddr_in address = address_of(0);
    socklen_t len = sizeof(address);
    assert_non_null(swallower);
    swallower->server = address_of(server_port);
    swallower->server_socket.sun_family = AF_UNIX;
    if (socket_path != NULL)
        check(snprintf(swallower->server_socket.sun_path, sizeof(swallower->server_socket.sun_path),
                       "%s", socket_path) < (int)sizeof(swallower->server_socket.sun_path));
    swallower->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(swallower->listener, (struct sockaddr *)&address, len), 0);
    assert_int_equal(getsockname(swallower->listener, (struct sockaddr *)&address, &len), 0);
    assert_int_equal(listen(swallower->listener, PAIRS_MOST), 0);
    swallower->port = ntohs(address.sin_port);
    assert_int_equal(pthread_create(&swallower->thread, NULL, run, swallower), 0);
    return swallower;
}

void swallower_stop(struct swallower *swallower)
{
    swallower->is_ending = true;
    pthread_join(swallower->thread, NULL);
    while (swallower->count > 0)
        close_pair(swallower, 0);
    close(swallower->listener);
    free(swallower);
}

int swallower_port(const struct swallower *swallower)
{
    return swallower->port;
}

void swallower_arm(struct swallower *swallower, const char *text)
{
    swallower->text = text;
}

void swallower_cut(struct swallower *swallower)
{
    swallower->swallows = true;
    swallower->must_cut = true;
}

bool swallower_has_swallowed(const struct swallower *swallower)
{
    return swallower->has_swallowed;
}
