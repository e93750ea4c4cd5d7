/* An aborted answer leaves nothing behind, since its query may wait for its next attempt among a
 * thousand others. */
#include "keystone/http.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "unit.h"

enum { BODY_BYTES = 500000 };

struct broken_server {
    int fd;
    int port;
    pthread_t thread;
};

static void send_all(int fd, const char *data, size_t len)
{
    while (len > 0) {
        ssize_t sent = send(fd, data, len, MSG_NOSIGNAL);
        if (sent <= 0)
            return;
        data += sent;
        len -= (size_t)sent;
    }
}

/* Promises one byte more than it sends. */
static void *serve_one(void *cls)
{
    struct broken_server *server = cls;
    char request[4096];
    char head[128];
    char *body = calloc(1, BODY_BYTES);
    int client = accept(server->fd, NULL, NULL);
    assert_true(client >= 0 && body != NULL);
    assert_true(recv(client, request, sizeof(request), 0) > 0);
    snprintf(head, sizeof(head), "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", BODY_BYTES + 1);
    send_all(client, head, strlen(head));
    send_all(client, body, BODY_BYTES);
    close(client);
    free(body);
    return NULL;
}

static void server_start(struct broken_server *server)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(at);
    server->fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_true(server->fd >= 0);
    assert_int_equal(bind(server->fd, (struct sockaddr *)&at, sizeof(at)), 0);
    assert_int_equal(listen(server->fd, 1), 0);
    assert_int_equal(getsockname(server->fd, (struct sockaddr *)&at, &len), 0);
    server->port = ntohs(at.sin_port);
    assert_int_equal(pthread_create(&server->thread, NULL, serve_one, server), 0);
}

static bool is_done;

static void note_done(struct keystone_call *call)
{
    (void)call;
    is_done = true;
}

static void broken_off(void **state)
{
    (void)state;
    const struct keystone_settings settings = {.attempt_timeout_ms = 10000};
    struct broken_server server;
    struct err err = {0};
    char url[64];
    server_start(&server);
    snprintf(url, sizeof(url), "http://127.0.0.1:%d/", server.port);
    struct keystone_http *http = keystone_http_create(&settings, &err);
    assert_non_null(http);
    struct keystone_call call = {.url = url, .timeout_ms = 10000, .done = note_done};
    keystone_http_start(http, &call);
    while (!is_done)
        keystone_http_run(http, 100);
    assert_int_equal(call.status, 0);
    assert_true(call.is_unreachable);
    assert_int_equal(call.body.len, 0);
    assert_int_equal(call.body.cap, 0);
    keystone_call_clear(&call);
    keystone_http_destroy(http);
    pthread_join(server.thread, NULL);
    close(server.fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(broken_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
