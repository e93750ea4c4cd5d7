/* A server of the HTTP edge with a service made for tests, and a client that speaks raw bytes. */
#ifndef BERTH_TESTS_HTTP_HARNESS_H
#define BERTH_TESTS_HTTP_HARNESS_H

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

#include "base/buf.h"
#include "base/event_loop.h"
#include "http/http.h"
#include "unit.h"

enum { HELD_MAX = 64, HARNESS_PIECE_BYTES = 40000 };

/* An answer in pieces: "first", then so many of 'x'. */
struct harness_stream {
    unsigned left;
    bool breaks; /* at the last */
    bool is_later;
    bool is_empty; /* the last */
};

/* The service answers 200 with a text that says what it saw: "METHOD target body". Some paths do
 * more:
 *   /header/NAME   the value of that request header in brackets, or "none"
 *   /empty         204; /created: 201 without a body, and with an empty header
 *   /large         a body of 1 MiB; /largest: of 65 MiB
 *   /larger        one of 8 MiB if there is room, else 503; /owed: the same without asking
 *   /pieces/N      in pieces: "first" and N of HARNESS_PIECE_BYTES; /pieces/breaks/N: not whole
 *                  /pieces/later/N: another thread resumes it for each piece
 *                  /pieces/empty/N: the last one is empty
 *   /hold          pending until harness_resume(); then as any other
 *   /idle          pending until its worker has nothing else to do
 *   /early         pending, resumed before on_request returns, three times over
 *   /worker        the worker's name
 *   /busy          keeps its worker busy until harness_release()
 *   /hop           pending, resumed by another thread at once
 * Large bodies are asked for by the target's query: "?skip" is not wanted, "?held" is pending until
 * harness_resume(), "?twice" is resumed and pending again first, all others are wanted. The
 * answer of /count is "N of M bytes, C": how many it got, how many came, and the last one. Faults
 * are answered 413, 400 and 503. */
struct harness {
    struct http_server *server;
    uint16_t port;
    _Atomic unsigned requests;
    _Atomic unsigned finished;
    _Atomic bool is_stopping;
    _Atomic unsigned resumed;
    _Atomic unsigned asked; /* about large bodies */
    _Atomic unsigned busy;  /* workers */
    sem_t release;
    pthread_mutex_t lock;
    struct http_exchange *held[HELD_MAX];
    unsigned held_count;
    struct event_watcher idle; /* lets the exchange that was held last go on */
    struct http_exchange *hops[HELD_MAX * 8];
    unsigned hop_count;
    bool hop_stop;
    pthread_cond_t hop_wake;
    pthread_t hopper;
};

extern const struct http_limits harness_limits;

void harness_start(struct harness *harness, const struct http_limits *limits);
void harness_start_at(struct harness *harness, const struct http_address *address,
                      const struct http_limits *limits);
/* Stops the server and checks that every request was finished once. */
void harness_stop(struct harness *harness);
/* Waits until so many exchanges are held; so many connections are open; so many requests have begun
 * and not ended. */
void harness_wait_held(struct harness *harness, unsigned count);
void harness_wait_connections(struct harness *harness, unsigned count);
void harness_wait_requests(struct harness *harness, unsigned count);
/* Waits until the server has read all that clients have sent. */
void harness_wait_read(struct harness *harness);
/* Lets the exchange that was held first go on. */
void harness_resume(struct harness *harness);
/* Waits until a worker is busy; lets it go on. */
void harness_wait_busy(struct harness *harness);
void harness_release(struct harness *harness);

int client_connect(const struct harness *harness);
/* From 127.0.0.0 and so many addresses more. */
int client_connect_from(const struct harness *harness, unsigned host);
void client_send(int fd, const char *text);
void client_send_bytes(int fd, const char *data, size_t len);

struct reply {
    int status; /* 0: the connection was closed without an answer */
    char *headers;
    struct buf body;
};

/* Reads one answer; wants the bytes behind it to stay for the next call on the same fd. */
struct reply client_read(int fd);
struct reply client_ask(const struct harness *harness, const char *request);
bool reply_has(const struct reply *reply, const char *header_line);
void reply_free(struct reply *reply);
/* Whether the server closes within so many milliseconds; what it still sends is thrown away. Only
 * for connections that are to stay open: they would have to be closed by then. */
bool client_closed_within(int fd, int timeout_ms);
/* The same; waits as AWAIT does. */
bool client_is_closed(int fd);
uint64_t now_ms(void);

#define assert_reply(reply, wanted_status, wanted_body)                                            \
    do {                                                                                           \
        struct reply *got = &(reply);                                                              \
        assert_int_equal(got->status, wanted_status);                                              \
        buf_append_char(&got->body, '\0');                                                         \
        assert_string_equal(got->body.data, wanted_body);                                          \
        reply_free(got);                                                                           \
    } while (0)

#endif
