/* Answers in pieces, and in parts. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "await.h"
#include "fake_clock.h"
#include "harness.h"

static struct harness harness;

/* The most that the library has wanted to send in one call. */
static _Atomic size_t most_sent;

static void note_sent(size_t len)
{
    if (len > atomic_load(&most_sent))
        atomic_store(&most_sent, len);
}

ssize_t send(int fd, const void *data, size_t len, int flags)
{
    note_sent(len);
    return sendto(fd, data, len, flags, NULL, 0);
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    size_t len = 0;
    for (size_t i = 0; i < message->msg_iovlen; i++)
        len += message->msg_iov[i].iov_len;
    note_sent(len);
    return syscall(SYS_sendmsg, fd, message, flags);
}

/* The bytes of a chunked answer's body; false: it broke off. */
static bool read_chunks(int fd, size_t *bytes)
{
    static char piece[1 << 16];
    *bytes = 0;
    for (;;) {
        char line[16] = "";
        for (size_t len = 0; len < 2 || memcmp(line + len - 2, "\r\n", 2) != 0; len++)
            if (len + 1 >= sizeof(line) || recv(fd, line + len, 1, 0) != 1)
                return false;
        size_t left = strtoul(line, NULL, 16) + 2; /* CR LF behind it */
        *bytes += left - 2;
        bool is_last = left == 2;
        while (left > 0) {
            ssize_t got = recv(fd, piece, left < sizeof(piece) ? left : sizeof(piece), 0);
            if (got <= 0)
                return false;
            left -= (size_t)got;
        }
        if (is_last)
            return true;
    }
}

static void answers_in_pieces(void **state)
{
    (void)state;
    size_t bytes;
    harness_start(&harness, &harness_limits);
    int fd = client_connect(&harness);
    for (unsigned pieces = 1; pieces <= 2000; pieces = pieces * 3 + 1) {
        char text[100];
        const char *later = pieces % 2 == 0 ? "later/" : "";
        snprintf(text, sizeof(text), "GET /pieces/%s%u HTTP/1.1\r\nHost: x\r\n\r\n", later, pieces);
        client_send(fd, text);
        struct reply reply = client_read(fd);
        assert_int_equal(reply.status, 200);
        assert_true(reply_has(&reply, "\r\nTransfer-Encoding: chunked\r\n"));
        assert_false(reply_has(&reply, "\r\nContent-Length:"));
        reply_free(&reply);
        assert_true(read_chunks(fd, &bytes));
        assert_int_equal(bytes, 5 + pieces * (size_t)HARNESS_PIECE_BYTES);
    }
    /* the connection goes on */
    client_send(fd, "GET /x HTTP/1.1\r\nHost: x\r\n\r\n");
    struct reply reply = client_read(fd);
    assert_reply(reply, 200, "GET /x ");

    client_send(fd, "GET /pieces/breaks/9 HTTP/1.1\r\nHost: x\r\n\r\n");
    reply = client_read(fd);
    assert_int_equal(reply.status, 200);
    reply_free(&reply);
    assert_false(read_chunks(fd, &bytes));
    assert_true(client_is_closed(fd));
    close(fd);

    fd = client_connect(&harness); /* an empty piece at the end is none */
    client_send(fd, "GET /pieces/empty/3 HTTP/1.1\r\nHost: x\r\n\r\n");
    reply = client_read(fd);
    reply_free(&reply);
    assert_true(read_chunks(fd, &bytes));
    assert_int_equal(bytes, 5 + 2 * HARNESS_PIECE_BYTES);
    close(fd);

    const char *const targets[] = {"/pieces/9", "/pieces/later/9"};
    for (unsigned i = 0; i < 2; i++) { /* without chunks: until the end of the connection */
        char text[100];
        snprintf(text, sizeof(text), "GET %s HTTP/1.0\r\nHost: x\r\n\r\n", targets[i]);
        fd = client_connect(&harness);
        client_send(fd, text);
        size_t got = 0;
        char piece[4096];
        for (ssize_t len; (len = recv(fd, piece, sizeof(piece), 0)) > 0;)
            got += (size_t)len;
        assert_in_range(got, 5 + 9 * HARNESS_PIECE_BYTES, 5 + 9 * HARNESS_PIECE_BYTES + 500);
        close(fd);
    }
    harness_stop(&harness);
}

/* Who does not read is cut off when the time for what was sent is over, and who leaves at once. */
static void pieces_that_nobody_reads(void **state)
{
    (void)state;
    struct http_limits limits = harness_limits;
    limits.body_deadline_ms = 500;
    harness_start(&harness, &limits);
    fake_clock_stop();
    int fds[2];
    for (unsigned i = 0; i < 2; i++) {
        int small = 4096;
        fds[i] = client_connect(&harness);
        setsockopt(fds[i], SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
        client_send(fds[i], i == 0 ? "GET /pieces/100000 HTTP/1.1\r\nHost: x\r\n\r\n"
                                   : "GET /pieces/later/100000 HTTP/1.1\r\nHost: x\r\n\r\n");
    }
    harness_wait_requests(&harness, 2);
    fake_clock_advance_ms(300);
    assert_int_equal(atomic_load(&harness.finished), 0);
    fake_clock_run();
    close(fds[1]);
    AWAIT(atomic_load(&harness.finished) >= 1);
    fake_clock_advance_ms(60000);
    AWAIT(atomic_load(&harness.finished) == 2);
    close(fds[0]);
    harness_stop(&harness);
}

static void *read_all(void *cls)
{
    static char piece[1 << 16];
    while (recv(*(int *)cls, piece, sizeof(piece), 0) > 0)
        continue;
    return NULL;
}

/* A stop does not wait for them for ever, wherever their pieces are written. */
static void pieces_and_a_stop(void **state)
{
    (void)state;
    harness_start(&harness, &harness_limits);
    int fds[3];
    for (unsigned i = 0; i < 3; i++) {
        fds[i] = client_connect(&harness);
        client_send(fds[i], i == 0 ? "GET /pieces/100000 HTTP/1.1\r\nHost: x\r\n\r\n"
                                   : "GET /pieces/later/100000 HTTP/1.1\r\nHost: x\r\n\r\n");
    }
    pthread_t reader; /* so that a piece is under way when the stop comes */
    assert_int_equal(pthread_create(&reader, NULL, read_all, &fds[2]), 0);
    harness_wait_requests(&harness, 3);
    uint64_t begun = now_ms();
    harness_stop(&harness);
    assert_true(now_ms() - begun < AWAIT_SECONDS * 1000);
    pthread_join(reader, NULL);
    for (unsigned i = 0; i < 3; i++)
        close(fds[i]);
}

/* The worker serves others in between. */
static void whole_answers_go_out_in_parts(void **state)
{
    (void)state;
    harness_start(&harness, &harness_limits);
    atomic_store(&most_sent, 0);
    struct reply reply = client_ask(&harness, "GET /larger HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_int_equal(reply.status, 200);
    assert_int_equal(reply.body.len, 8 << 20);
    for (size_t i = 0; i < reply.body.len; i += 4093)
        assert_int_equal(reply.body.data[i], 'x');
    reply_free(&reply);
    assert_in_range(atomic_load(&most_sent), 256 * 1024, 1100 * 1024);
    harness_stop(&harness);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_in_pieces),
        cmocka_unit_test(pieces_that_nobody_reads),
        cmocka_unit_test(pieces_and_a_stop),
        cmocka_unit_test(whole_answers_go_out_in_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
