/* HTTP/1.0 over a plain socket: libcurl, which keystone/ uses, would be a library in place of ten
 * lines. */
#include "cli/admin_page.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"

/* The next call on the socket waits until end_us at most. False: that is over. */
static bool limit_wait(int fd, uint64_t end_us)
{
    uint64_t now_us = clock_monotonic_us();
    errno = EAGAIN;
    if (now_us >= end_us)
        return false;
    const struct timeval wait = {.tv_sec = (time_t)((end_us - now_us) / 1000000),
                                 .tv_usec = (suseconds_t)((end_us - now_us) % 1000000)};
    return setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait)) == 0 &&
           setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait)) == 0;
}

static int connect_to(const struct sockaddr *address, socklen_t len, int family, uint64_t end_us)
{
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    if (limit_wait(fd, end_us) && connect(fd, address, len) == 0)
        return fd;
    int failure = errno == EINPROGRESS ? EAGAIN : errno; /* what connect() has at its limit */
    close(fd);
    errno = failure;
    return -1;
}

static int connect_path(const char *path, uint64_t end_us)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof(address.sun_path)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(address.sun_path, path, strlen(path) + 1);
    return connect_to((const struct sockaddr *)&address, sizeof(address), AF_UNIX, end_us);
}

static int connect_host(const struct conf_listen *address, uint64_t end_us)
{
    char port[8];
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
    struct addrinfo *found = NULL;
    snprintf(port, sizeof(port), "%u", address->port);
    if (getaddrinfo(address->host, port, &hints, &found) != 0) {
        errno = EADDRNOTAVAIL;
        return -1;
    }
    int fd = -1;
    for (const struct addrinfo *at = found; at != NULL && fd < 0; at = at->ai_next)
        fd = connect_to(at->ai_addr, at->ai_addrlen, at->ai_family, end_us);
    int failure = errno;
    freeaddrinfo(found);
    errno = failure;
    return fd;
}

static bool send_all(int fd, struct slice text, uint64_t end_us)
{
    while (text.len > 0) {
        if (!limit_wait(fd, end_us))
            return false;
        ssize_t sent = send(fd, text.data, text.len, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return false;
        text = slice_skip(text, (size_t)sent);
    }
    return true;
}

static bool receive_all(int fd, struct buf *answer, uint64_t end_us)
{
    char piece[4096];
    for (;;) {
        if (!limit_wait(fd, end_us))
            return false;
        ssize_t got = recv(fd, piece, sizeof(piece), 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got == 0;
        if (answer->len + (size_t)got > ADMIN_PAGE_BYTES_MAX) {
            errno = EFBIG;
            return false;
        }
        buf_append_slice(answer, (struct slice){piece, (size_t)got});
    }
}

/* Parses the status of "HTTP/1.1 200 OK…" and finds the body after the empty line; 0: this is not
 * HTTP. */
static int take_apart(struct slice answer, struct buf *body)
{
    int status = 0;
    const char *end = memmem(answer.data, answer.len, "\r\n\r\n", 4);
    char line[16] = "";
    memcpy(line, answer.data, answer.len < sizeof(line) - 1 ? answer.len : sizeof(line) - 1);
    if (end == NULL || sscanf(line, "HTTP/1.%*1[01] %3d", &status) != 1)
        return 0;
    buf_append_slice(body, slice_skip(answer, (size_t)(end - answer.data) + 4));
    return status;
}

static const char *reason(int error)
{
    return error == EAGAIN ? "no complete answer within 5 seconds" : strerror(error);
}

int admin_page_get(const struct conf_listen *address, const char *path, struct buf *body,
                   struct err *err)
{
    uint64_t end_us = clock_monotonic_us() + ADMIN_PAGE_WAIT_S * UINT64_C(1000000);
    int fd =
        address->path != NULL ? connect_path(address->path, end_us) : connect_host(address, end_us);
    if (fd < 0) {
        err_set(err, 503, NULL, "%s", reason(errno));
        return 0;
    }
    struct buf text = {0};
    struct buf answer = {0};
    buf_printf(&text, "GET %s HTTP/1.0\r\nHost: localhost\r\n\r\n", path);
    int status = 0;
    if (!send_all(fd, buf_slice(&text), end_us) || !receive_all(fd, &answer, end_us))
        err_set(err, 503, NULL, "%s", reason(errno));
    else if (answer.len == 0 || (status = take_apart(buf_slice(&answer), body)) == 0)
        err_set(err, 503, NULL, "the answer is not HTTP");
    close(fd);
    buf_free(&text);
    buf_free(&answer);
    return status;
}
