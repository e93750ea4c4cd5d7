/* The load generator: keeps N connections busy with prepared HTTP/1.1 requests and prints one line
 * of JSON about the answers.
 *
 * It shares two cores with the server that it measures, so it must be cheap: one thread with one
 * edge-triggered epoll; requests are complete byte strings prepared beforehand, in which only the
 * fresh consumer uuids are replaced; bodies of answers are discarded inside the kernel (MSG_TRUNC).
 *
 * Each connection has at most one request in flight (closed loop). All connections together take
 * requests from the file in order, and start again at its end. The file is a sequence of "REQ
 * <length>\n" and that many bytes. Every UUID_MARK in a request is replaced by a new random uuid
 * each time that the request is sent.
 *
 * Single-threaded. */
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "load_requests.h"

#define HEAD_MAX 16384

struct conn {
    int fd;
    bool busy;
    bool reused; /* this socket has already received an answer */
    const char *out;
    size_t out_length, out_sent;
    char *patched; /* holds a request whose uuids were replaced */
    uint64_t started_ns;
    char head[HEAD_MAX];
    size_t head_length;
    bool head_done, until_eof, close_after;
    uint64_t body_left; /* of the body or, with chunks, of the chunk and its line end */
    enum { PLAIN, CHUNK_SIZE, CHUNK_EXTENSION, CHUNK_DATA, CHUNK_LAST } chunk;
    int status;
};

struct load {
    struct sockaddr_in address;
    int connections;
    double seconds, grace;
    uint64_t count;
    bool close_each;

    struct requests requests;

    int epoll;
    struct conn *conns;
    uint64_t issued, done, bytes, reconnects, failed;
    uint64_t statuses[600];
    uint32_t *latencies; /* in tenths of a microsecond */
    size_t latency_room;
    uint64_t start_ns, end_ns, last_ns;
};

static char scratch[1 << 20];

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

static void conn_open(struct load *load, struct conn *c)
{
    c->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (c->fd < 0)
        die("socket: %s", strerror(errno));
    int one = 1;
    setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (connect(c->fd, (struct sockaddr *)&load->address, sizeof load->address) != 0 &&
        errno != EINPROGRESS)
        die("connect: %s", strerror(errno));
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLET, .data.ptr = c};
    if (epoll_ctl(load->epoll, EPOLL_CTL_ADD, c->fd, &event) != 0)
        die("epoll_ctl: %s", strerror(errno));
    c->reused = false;
}

static void conn_reset_answer(struct conn *c)
{
    c->head_length = 0;
    c->head_done = c->until_eof = c->close_after = false;
    c->body_left = 0;
    c->chunk = PLAIN;
}

static void conn_send(struct conn *c)
{
    while (c->busy && c->out_sent < c->out_length) {
        ssize_t n = send(c->fd, c->out + c->out_sent, c->out_length - c->out_sent, MSG_NOSIGNAL);
        if (n < 0)
            return; /* not connected yet, full, or broken: reading tells which */
        c->out_sent += (size_t)n;
    }
}

static void conn_issue(struct load *load, struct conn *c)
{
    c->busy = false;
    if (load->issued == load->count || (load->issued > 0 && now_ns() >= load->end_ns))
        return;
    c->out = requests_next(&load->requests, c->patched, &c->out_length);
    c->out_sent = 0;
    c->busy = true;
    conn_reset_answer(c);
    load->issued++;
    c->started_ns = now_ns();
    if (c->fd < 0)
        conn_open(load, c);
    conn_send(c);
}

static void conn_close(struct conn *c)
{
    close(c->fd);
    c->fd = -1;
}

static void conn_done(struct load *load, struct conn *c)
{
    load->last_ns = now_ns();
    uint64_t tenths = (load->last_ns - c->started_ns) / 100;
    if (load->done == load->latency_room) {
        load->latency_room = load->latency_room == 0 ? 65536 : 2 * load->latency_room;
        load->latencies = realloc(load->latencies, load->latency_room * sizeof(uint32_t));
        if (load->latencies == NULL)
            die("out of memory");
    }
    load->latencies[load->done++] = tenths > UINT32_MAX ? UINT32_MAX : (uint32_t)tenths;
    load->statuses[c->status]++;
    c->reused = true;
    if (load->close_each || c->close_after || c->until_eof)
        conn_close(c);
    conn_issue(load, c);
}

/* The connection closed before the answer was complete. */
static void conn_broken(struct load *load, struct conn *c)
{
    conn_close(c);
    if (!c->busy)
        return;
    if (c->reused && c->head_length == 0) {
        /* the server closed an idle connection: send the same request again */
        load->reconnects++;
        c->out_sent = 0;
        conn_open(load, c);
        return;
    }
    load->failed++;
    if (load->failed > 1000 && load->failed > load->done)
        die("the server closes connections without answering");
    conn_issue(load, c);
}

static void head_parse(struct conn *c, size_t head_end)
{
    bool sized = false;
    c->status = c->head_length > 12 ? atoi(c->head + 9) : 0;
    if (strncmp(c->head, "HTTP/1.", 7) != 0 || c->status < 100 || c->status > 599)
        die("not an HTTP answer: %.20s", c->head);
    for (char *line = c->head; line < c->head + head_end;) {
        char *end = memmem(line, (size_t)(c->head + head_end - line), "\r\n", 2);
        if (end == NULL)
            break;
        if (strncasecmp(line, "content-length:", 15) == 0) {
            c->body_left = strtoull(line + 15, NULL, 10);
            sized = true;
        } else if (strncasecmp(line, "connection: close", 17) == 0) {
            c->close_after = true;
        } else if (strncasecmp(line, "transfer-encoding:", 18) == 0) {
            c->chunk = CHUNK_SIZE;
        }
        line = end + 2;
    }
    c->until_eof = !sized && c->chunk == PLAIN && c->status != 204 && c->status != 304;
    c->head_done = true;
}

static unsigned hex_value(char digit)
{
    return digit <= '9' ? (unsigned)(digit - '0') : (unsigned)((digit | 0x20) - 'a' + 10);
}

/* One character of the line that begins a chunk. */
static void chunk_line(struct conn *c, char character)
{
    if (c->chunk == CHUNK_SIZE && isxdigit((unsigned char)character))
        c->body_left = c->body_left * 16 + hex_value(character);
    else
        c->chunk = CHUNK_EXTENSION;
    if (character != '\n')
        return;
    c->chunk = c->body_left > 0 ? CHUNK_DATA : CHUNK_LAST;
    c->body_left += 2; /* the line end after it; there are no trailers */
}

static void chunk_take(struct conn *c, const char *data, size_t length)
{
    while (length > 0 && !(c->chunk == CHUNK_LAST && c->body_left == 0)) {
        size_t taken = 1;
        if (c->chunk < CHUNK_DATA) {
            chunk_line(c, *data);
        } else {
            taken = c->body_left < length ? (size_t)c->body_left : length;
            c->body_left -= taken;
            if (c->body_left == 0 && c->chunk == CHUNK_DATA)
                c->chunk = CHUNK_SIZE;
        }
        data += taken;
        length -= taken;
    }
}

static bool answer_is_whole(const struct conn *c)
{
    return c->head_done && !c->until_eof && c->body_left == 0 &&
           (c->chunk == PLAIN || c->chunk == CHUNK_LAST);
}

/* Received bytes of the body: discarded inside a chunk, whose content is not examined. */
static void body_take(struct load *load, struct conn *c, const char *data, size_t length)
{
    load->bytes += length;
    if (c->until_eof)
        return;
    if (c->chunk == PLAIN)
        c->body_left -= length < c->body_left ? length : c->body_left;
    else
        chunk_take(c, data, length);
}

static ssize_t conn_read_body(struct conn *c)
{
    if (c->chunk == PLAIN || c->chunk >= CHUNK_DATA) {
        size_t want =
            c->until_eof || c->body_left > sizeof scratch ? sizeof scratch : (size_t)c->body_left;
        return recv(c->fd, scratch, want, MSG_TRUNC);
    }
    enum { CHUNK_LINE = 24 };
    return recv(c->fd, scratch, CHUNK_LINE, 0);
}

static void conn_read_head(struct load *load, struct conn *c, ssize_t n)
{
    size_t from = c->head_length < 3 ? 0 : c->head_length - 3;
    c->head_length += (size_t)n;
    c->head[c->head_length] = '\0';
    char *end = memmem(c->head + from, c->head_length - from, "\r\n\r\n", 4);
    if (end == NULL) {
        if (c->head_length == HEAD_MAX - 1)
            die("the answer's head is too long");
        return;
    }
    size_t head_end = (size_t)(end - c->head) + 4;
    head_parse(c, head_end);
    body_take(load, c, c->head + head_end, c->head_length - head_end);
}

static void conn_read(struct load *load, struct conn *c)
{
    while (c->fd >= 0 && (c->busy || c->reused)) {
        ssize_t n;
        if (!c->busy) { /* idle: only a close can arrive */
            n = recv(c->fd, scratch, 1, 0);
        } else if (!c->head_done) {
            n = recv(c->fd, c->head + c->head_length, HEAD_MAX - 1 - c->head_length, 0);
        } else {
            n = conn_read_body(c);
        }
        if (n < 0 && (errno == EAGAIN || errno == EINTR || errno == ENOTCONN))
            return;
        if (n <= 0) {
            if (n == 0 && c->busy && c->head_done && c->until_eof)
                conn_done(load, c);
            else
                conn_broken(load, c);
            return;
        }
        if (!c->busy)
            continue;
        if (!c->head_done) {
            conn_read_head(load, c, n);
        } else {
            body_take(load, c, scratch, (size_t)n);
        }
        if (answer_is_whole(c)) {
            conn_done(load, c);
            return; /* the answer to the next request causes an edge of its own */
        }
    }
}

static bool any_busy(const struct load *load)
{
    for (int i = 0; i < load->connections; i++)
        if (load->conns[i].busy)
            return true;
    return false;
}

static void load_run(struct load *load)
{
    load->epoll = epoll_create1(EPOLL_CLOEXEC);
    load->conns = must_alloc((size_t)load->connections, sizeof *load->conns);
    load->start_ns = load->last_ns = now_ns();
    load->end_ns = load->start_ns + (uint64_t)(load->seconds * 1e9);
    uint64_t give_up_ns = load->end_ns + (uint64_t)(load->grace * 1e9);
    for (int i = 0; i < load->connections; i++) {
        load->conns[i].fd = -1;
        load->conns[i].patched = must_alloc(load->requests.longest + 1, 1);
        conn_issue(load, &load->conns[i]);
    }
    struct epoll_event events[256];
    for (;;) {
        uint64_t now = now_ns();
        bool draining = now >= load->end_ns || load->issued == load->count;
        if (now >= give_up_ns || (draining && !any_busy(load)))
            break;
        uint64_t until = draining ? give_up_ns : load->end_ns;
        int n = epoll_wait(load->epoll, events, 256, (int)((until - now) / 1000000 + 1));
        for (int i = 0; i < n; i++) {
            struct conn *c = events[i].data.ptr;
            conn_send(c);
            conn_read(load, c);
        }
    }
}

static int by_size(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static double percentile_us(const struct load *load, double part)
{
    if (load->done == 0)
        return 0;
    size_t i = (size_t)(part * (double)load->done);
    return load->latencies[i < load->done ? i : load->done - 1] / 10.0;
}

static void load_print(struct load *load)
{
    double seconds = (double)(load->last_ns - load->start_ns) / 1e9;
    uint64_t unanswered = 0;
    for (int i = 0; i < load->connections; i++)
        unanswered += load->conns[i].busy;
    qsort(load->latencies, load->done, sizeof(uint32_t), by_size);
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    double cpu = (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
                 (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1e6;
    printf("{\"connections\": %d, \"requests\": %llu, \"seconds\": %.3f, \"rps\": %.2f, "
           "\"p50_us\": %.1f, \"p99_us\": %.1f, \"max_us\": %.1f, \"bytes\": %llu, "
           "\"load_cpu_s\": %.2f, \"reconnects\": %llu, \"failed\": %llu, \"unanswered\": %llu, "
           "\"status\": {",
           load->connections, (unsigned long long)load->done, seconds,
           seconds > 0 ? (double)load->done / seconds : 0.0, percentile_us(load, 0.50),
           percentile_us(load, 0.99), percentile_us(load, 1.0), (unsigned long long)load->bytes,
           cpu, (unsigned long long)load->reconnects, (unsigned long long)load->failed,
           (unsigned long long)unanswered);
    const char *comma = "";
    for (int s = 0; s < 600; s++) {
        if (load->statuses[s] == 0)
            continue;
        printf("%s\"%d\": %llu", comma, s, (unsigned long long)load->statuses[s]);
        comma = ", ";
    }
    puts("}}");
}

int main(int argc, char **argv)
{
    struct load load = {.connections = 16, .seconds = 5, .grace = 30, .count = UINT64_MAX};
    long port = 0;
    int option;
    while ((option = getopt(argc, argv, "p:c:d:n:g:C")) != -1) {
        switch (option) {
        case 'p':
            port = strtol(optarg, NULL, 10);
            break;
        case 'c':
            load.connections = (int)strtol(optarg, NULL, 10);
            break;
        case 'd':
            load.seconds = strtod(optarg, NULL);
            break;
        case 'n':
            load.count = strtoull(optarg, NULL, 10);
            break;
        case 'g':
            load.grace = strtod(optarg, NULL);
            break;
        case 'C':
            load.close_each = true;
            break;
        default:
            port = 0;
        }
    }
    if (port < 1 || port > 65535 || load.connections < 1 || optind != argc - 1) {
        fputs(
            "usage: load -p PORT [-c CONNECTIONS] [-d SECONDS] [-n COUNT] [-g SECONDS] [-C] FILE\n"
            "  -d  issue requests for that long; -n at most so many\n"
            "  -g  then wait at most so long for the answers that are missing\n"
            "  -C  a new connection for each request\n",
            stderr);
        return 2;
    }
    load.address.sin_family = AF_INET;
    load.address.sin_port = htons((uint16_t)port);
    load.address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    requests_read(&load.requests, argv[optind]);
    load_run(&load);
    load_print(&load);
    return load.done > 0 ? 0 : 1;
}
