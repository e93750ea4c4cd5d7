/* See swallower.h. One thread forwards for all connections. */
#include "swallower.h"

#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "unit.h"

enum { PAIRS_MOST = 32, LOOK_MS = 5, CHUNK_BYTES = 1 << 16 };

struct pair {
    int client;
    int server;
};

struct swallower {
    int listener;
    int port;
    int server_port;
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

static void add_pair(struct swallower *swallower)
{
    struct sockaddr_in address = address_of(swallower->server_port);
    int client = accept(swallower->listener, NULL, NULL);
    int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(client >= 0 && server >= 0 && swallower->count < PAIRS_MOST);
    assert_int_equal(connect(server, (struct sockaddr *)&address, sizeof(address)), 0);
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

struct swallower *swallower_start(int server_port)
{
    struct swallower *swallower = calloc(1, sizeof(*swallower));
    struct sockaddr_in address = address_of(0);
    socklen_t len = sizeof(address);
    assert_non_null(swallower);
    swallower->server_port = server_port;
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
