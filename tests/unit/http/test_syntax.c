/* Requests whose lines two servers could read in different ways: 400, and nothing behind them is
 * read. */
#include <stdlib.h>
#include <unistd.h>

#include "await.h"
#include "harness.h"

#define INNER "GET /inner HTTP/1.1\r\nHost: x\r\n\r\n"

struct bytes {
    const char *data;
    size_t len;
};

#define BYTES(text)                                                                                \
    {                                                                                              \
        text, sizeof(text) - 1                                                                     \
    }

static const struct bytes REFUSED[] = {
    BYTES("GET /a HTTP/1.1\r\nX: a\rContent-Length: 33\r\n\r\n" INNER),
    BYTES("GET /a HTTP/1.1\r\nX: a\r\r\n\r\n" INNER),
    BYTES("GET /a HTTP/1.1\r\nX: \r\r\n\r\n" INNER),
    BYTES("GET /a HTTP/1.1\r\nX: \rb\r\n\r\n" INNER),
    BYTES("GET /a HTTP/1.1\r\nX\rY: a\r\n\r\n" INNER),
    BYTES("GET /a HTTP/1.1\r\n\rX: a\r\n\r\n" INNER),
    BYTES("GET /a\rb HTTP/1.1\r\nX: a\r\n\r\n" INNER),
    BYTES("GET\r/a HTTP/1.1 HTTP/1.1\r\nX: a\r\n\r\n" INNER),
    BYTES("GET /a\tb HTTP/1.1\r\nX: a\r\n\r\n" INNER),
    BYTES("GET /a b HTTP/1.1\r\nX: a\r\n\r\n" INNER),
    BYTES("GET  /a HTTP/1.1\r\nX: a\r\n\r\n" INNER),
    BYTES("GET /a HTTP/1.1\nX: a\r\n\r\n" INNER),
    BYTES("GET /a HTTP/1.1\r\nX: a\nY: b\r\n\r\n" INNER),
    BYTES("GET /a HTTP/1.1\r\nX: a\n\r\n" INNER),
    BYTES("GET /a HTTP/1.1\r\nX: a\r\n\n" INNER),
    BYTES("GET /a HTTP/1.1\n\n" INNER),
    BYTES("GET /a HTTP/1.1\r\nX: a\r\n b\r\nY: c\r\n\r\n" INNER),
    BYTES("GET /a HTTP/1.1\r\nX: a\r\n\tb\r\n\r\n" INNER),
    BYTES("GET /a HTTP/1.1\r\nX: a\0b\r\nY: c\r\n\r\n" INNER),
    BYTES("GET /a HTTP/1.1\r\nY: c\r\nX: a\0\r\n\r\n" INNER),
    BYTES("GET /a\0b HTTP/1.1\r\nX: a\r\n\r\n" INNER),
    BYTES("G\0T /a HTTP/1.1\r\nX: a\r\n\r\n" INNER),
    BYTES("G(T /a HTTP/1.1\r\nX: a\r\n\r\n" INNER),
    BYTES("GET /a HTTP/1.1\r\nX : a\r\n\r\n" INNER),
    BYTES("GET /a HTTP/1.1\r\n X: a\r\n\r\n" INNER),
    BYTES("GET /a HTTP/1.1\r\nX\x0b: a\r\n\r\n" INNER),
    BYTES("GET /a HTTP/1.1\r\n: a\r\n\r\n" INNER),
    BYTES("POST /a HTTP/1.1\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\n{}" INNER),
    BYTES("POST /a HTTP/1.1\r\nContent-Length: 2\r\nTransfer-Encoding: "
          "chunked\r\n\r\n0\r\n\r\n" INNER),
    BYTES("POST /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n"
          "0\r\n\r\n" INNER),
};

/* Answered, but whatever follows is not. */
static const struct bytes LAST[] = {
    BYTES("POST /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" INNER),
    BYTES("POST /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0;a=\"\n\r\n\r\n" INNER),
    BYTES("POST /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1;\nx\r\n0\r\n\r\n" INNER),
    BYTES("POST /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: a\rY: b\r\n\r\n" INNER),
    BYTES("POST /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\n" INNER),
};

static const struct bytes TAKEN[] = {
    BYTES("GET /a HTTP/1.1\r\n\r\n" INNER),
    BYTES("GET /a HTTP/1.1\r\nX:\r\nY:\t \t\r\nZ: a  \r\n\r\n" INNER),
    BYTES("GET /a HTTP/1.1\r\nX:a\r\nY: \xff\x01\t\x7f\r\n\r\n" INNER),
    BYTES("GET /a?b=c&d&e=%20 HTTP/1.1\r\nCookie: a=b; c=d\r\nX!#$%&'*+-.^_`|~09azAZ: "
          "a\r\n\r\n" INNER),
    BYTES("\r\nGET /a HTTP/1.1\r\nX: a\r\n\r\n" INNER),
    BYTES("POST /a HTTP/1.1\r\nContent-Length: 2\r\n\r\n\0\0" INNER),
};

static struct harness harness;

/* Sends it in two pieces, cut there; the first answer's status, and how many of the inner request
 * there are. */
static int ask(const struct bytes *request, size_t cut, unsigned *inner)
{
    uint64_t before = http_server_load(harness.server).accepted;
    int fd = client_connect(&harness);
    AWAIT(http_server_load(harness.server).accepted > before);
    client_send_bytes(fd, request->data, cut);
    if (cut > 0)
        harness_wait_read(&harness);
    client_send_bytes(fd, request->data + cut, request->len - cut);
    struct reply reply = client_read(fd);
    int status = reply.status;
    bool closes = status == 0 || reply_has(&reply, "\r\nConnection: close");
    reply_free(&reply);
    *inner = 0;
    reply = closes ? (struct reply){0} : client_read(fd);
    *inner = reply.status == 200;
    reply_free(&reply);
    if (closes)
        assert_true(client_is_closed(fd));
    close(fd);
    return status;
}

static void requests_in_doubt(void **state)
{
    (void)state;
    unsigned inner;
    harness_start(&harness, &harness_limits);
    for (size_t i = 0; i < sizeof(REFUSED) / sizeof(REFUSED[0]); i++) {
        for (size_t cut = 0; cut < REFUSED[i].len - sizeof(INNER); cut += 13) {
            unsigned before = atomic_load(&harness.requests);
            int status = ask(&REFUSED[i], cut, &inner);
            if ((status != 400 && status != 0) || inner != 0 ||
                atomic_load(&harness.requests) > before + 1)
                fail_msg("%s: %d, %u of the inner request", REFUSED[i].data, status, inner);
        }
    }
    harness_stop(&harness);
}

static void requests_in_chunks_are_the_last(void **state)
{
    (void)state;
    unsigned inner;
    harness_start(&harness, &harness_limits);
    for (size_t i = 0; i < sizeof(LAST) / sizeof(LAST[0]); i++) {
        unsigned before = atomic_load(&harness.requests);
        (void)ask(&LAST[i], 0, &inner);
        if (inner != 0 || atomic_load(&harness.requests) > before + 1)
            fail_msg("%s: the inner request was served", LAST[i].data);
    }
    harness_stop(&harness);
}

static void requests_without_doubt(void **state)
{
    (void)state;
    unsigned inner;
    harness_start(&harness, &harness_limits);
    for (size_t i = 0; i < sizeof(TAKEN) / sizeof(TAKEN[0]); i++) {
        for (size_t cut = 0; cut < TAKEN[i].len; cut += 7) {
            int status = ask(&TAKEN[i], cut, &inner);
            if (status != 200 || inner != 1)
                fail_msg("%s: %d, %u of the inner request", TAKEN[i].data, status, inner);
        }
    }
    harness_stop(&harness);
}

/* Headers that come in many pieces, and nearly fill the connection's memory. */
static void large_headers(void **state)
{
    (void)state;
    struct buf request = {0};
    harness_start(&harness, &harness_limits);
    for (unsigned lines = 1; lines < 200; lines += 37) {
        request.len = 0;
        buf_append_lit(&request, "GET /header/x-last HTTP/1.1\r\n");
        for (unsigned i = 0; i < lines; i++)
            buf_printf(&request, "X-%u: %0200u\r\n", i, i);
        buf_append_lit(&request, "X-Last: here\r\n\r\n");
        int fd = client_connect(&harness);
        for (size_t at = 0; at < request.len; at += 1111) {
            size_t len = request.len - at < 1111 ? request.len - at : 1111;
            client_send_bytes(fd, request.data + at, len);
            harness_wait_read(&harness);
        }
        struct reply reply = client_read(fd);
        assert_reply(reply, 200, "[here]");
        close(fd);
    }
    buf_free(&request);
    harness_stop(&harness);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_in_doubt),
        cmocka_unit_test(requests_in_chunks_are_the_last),
        cmocka_unit_test(requests_without_doubt),
        cmocka_unit_test(large_headers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
