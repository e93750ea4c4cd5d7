/* The limit of the socket: reads a request's head and writes N bytes, without an HTTP library.
 *
 * `GET /523000` is answered with a fixed head and 523000 bytes of one buffer. Two threads (or as
 * many as requested), each with an edge-triggered epoll and its own connections; the main thread
 * accepts connections and distributes them round-robin. Supports only requests without bodies, one
 * at a time. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#define BODY_MAX    (64 << 20)
#define THREADS_MAX 16
#define REQUEST_MAX 8192

struct conn {
    int fd;
    char request[REQUEST_MAX];
    size_t request_length;
    char head[160];
    size_t head_length, size, sent;
};

static char *body;

static void conn_send(struct conn *c)
{
    while (c->sent < c->head_length + c->size) {
        size_t from = c->sent < c->head_length ? 0 : c->sent - c->head_length;
        struct iovec parts[2] = {{c->head + c->sent, 0}, {body + from, c->size - from}};
        if (c->sent < c->head_length)
            parts[0].iov_len = c->head_length - c->sent;
        else
            parts[0].iov_base = c->head;
        struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
        ssize_t n = sendmsg(c->fd, &message, MSG_NOSIGNAL);
        if (n < 0)
            return;
        c->sent += (size_t)n;
    }
}

/* Returns 0 if the client has closed the connection. */
static int conn_read(struct conn *c)
{
    for (;;) {
        ssize_t n =
            recv(c->fd, c->request + c->request_length, REQUEST_MAX - 1 - c->request_length, 0);
        if (n < 0)
            return errno == EAGAIN || errno == EINTR;
        if (n == 0)
            return 0;
        c->request_length += (size_t)n;
        c->request[c->request_length] = '\0';
        if (strstr(c->request, "\r\n\r\n") == NULL) {
            if (c->request_length == REQUEST_MAX - 1)
                return 0;
            continue;
        }
        const char *path = strchr(c->request, '/');
        c->size = path == NULL ? 0 : strtoull(path + 1, NULL, 10);
        if (c->size > BODY_MAX)
            return 0;
        c->head_length = (size_t)snprintf(c->head, sizeof c->head,
                                          "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                                          "Content-Length: %zu\r\n\r\n",
                                          c->size);
        c->sent = 0;
        c->request_length = 0;
        conn_send(c);
        return 1;
    }
}

static void *serve(void *cls)
{
    int epoll = *(int *)cls;
    struct epoll_event events[64];
    for (;;) {
        int n = epoll_wait(epoll, events, 64, -1);
        for (int i = 0; i < n; i++) {
            struct conn *c = events[i].data.ptr;
            conn_send(c);
            if (!conn_read(c)) {
                close(c->fd);
                free(c);
            }
        }
    }
    return NULL;
}

int main(int argc, char **argv)
{
    size_t threads = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
    if (threads < 1 || threads > THREADS_MAX) {
        fputs("usage: limit_socket PORT THREADS\n", stderr);
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    body = malloc(BODY_MAX);
    if (body == NULL)
        return 1;
    memset(body, 'x', BODY_MAX);
    int listener = socket(AF_INET, SOCK_STREAM, 0), one = 1;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)strtoul(argv[1], NULL, 10)),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(listener, 1024) != 0) {
        perror("limit_socket");
        return 1;
    }
    int epolls[THREADS_MAX];
    for (size_t i = 0; i < threads; i++) {
        pthread_t thread;
        epolls[i] = epoll_create1(0);
        if (epolls[i] < 0 || pthread_create(&thread, NULL, serve, &epolls[i]) != 0)
            return 1;
    }
    puts("limit_socket: ready");
    fflush(stdout);
    for (size_t i = 0;; i++) {
        int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
        if (fd < 0)
            continue;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        struct conn *c = calloc(1, sizeof *c);
        if (c == NULL)
            return 1;
        c->fd = fd;
        struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLET, .data.ptr = c};
        epoll_ctl(epolls[i % threads], EPOLL_CTL_ADD, fd, &event);
    }
}
