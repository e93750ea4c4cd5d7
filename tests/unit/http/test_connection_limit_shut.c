/* Connections that have been shut down, or whose clients have gone, when room is needed. */
#include <sys/socket.h>
#include <unistd.h>

#include "harness.h"
#include "http/http_internal.h"

static struct harness harness;

/* Everything is with the service, for clients that have gone. */
static void the_gone_make_room(void **state)
{
    (void)state;
    struct http_limits limits = harness_limits;
    limits.connections_max = 3;
    harness_start(&harness, &limits);
    int held[3];
    for (unsigned i = 0; i < 3; i++) {
        held[i] = client_connect(&harness);
        client_send(held[i], "GET /hold HTTP/1.1\r\nHost: x\r\n\r\n");
    }
    harness_wait_held(&harness, 3);
    int refused = client_connect(&harness);
    assert_true(client_is_closed(refused));
    close(held[1]);
    int fd = client_connect(&harness);
    client_send(fd, "GET /x HTTP/1.1\r\nHost: x\r\n\r\n");
    {
        struct reply reply = client_read(fd);
        assert_reply(reply, 200, "GET /x ");
    }
    for (unsigned i = 0; i < 3; i++)
        harness_resume(&harness);
    for (unsigned i = 0; i < 3; i += 2) {
        struct reply reply = client_read(held[i]);
        assert_reply(reply, 200, "GET /hold ");
        close(held[i]);
    }
    close(refused);
    close(fd);
    harness_stop(&harness);
}

/* Those that were shut before still stand in the list, before who has gone since. */
static void each_of_the_gone_makes_room_once(void **state)
{
    (void)state;
    enum { FIRST = 4, AT_ONCE = 16, ALL = FIRST + AT_ONCE };
    static const char HOLD[] = "GET /hold HTTP/1.1\r\nHost: x\r\n\r\n";
    struct http_limits limits = harness_limits;
    limits.connections_max = ALL;
    harness_start(&harness, &limits);
    int fds[ALL];
    for (unsigned i = 0; i < ALL; i++) {
        fds[i] = client_connect(&harness);
        client_send(fds[i], HOLD);
        harness_wait_held(&harness, i + 1);
    }
    for (unsigned i = FIRST; i < ALL; i++)
        close(fds[i]);
    for (unsigned i = FIRST; i < ALL; i++) {
        fds[i] = client_connect(&harness);
        client_send(fds[i], HOLD);
        harness_wait_held(&harness, AT_ONCE + i + 1);
    }
    int refused = client_connect(&harness);
    assert_true(client_is_closed(refused));
    close(refused);
    for (unsigned i = 0; i < FIRST; i++)
        close(fds[i]);
    for (unsigned i = 0; i < FIRST; i++) {
        fds[i] = client_connect(&harness);
        client_send(fds[i], HOLD);
        harness_wait_held(&harness, ALL + AT_ONCE + i + 1);
    }
    for (unsigned i = 0; i < 2 * ALL; i++)
        harness_resume(&harness);
    for (unsigned i = 0; i < ALL; i++)
        close(fds[i]);
    harness_stop(&harness);
}

/* Until its worker has closed it, who was shut stands in the list with the oldest request; it
 * neither counts for its group nor goes in the place of another. */
static void the_shut_are_not_chosen_again(void **state)
{
    (void)state;
    enum { CROWD = 3, ALL = 5 };
    static struct http_server server;
    struct peer peers[2] = {{.key = 1}, {.key = 2}};
    struct connection connections[ALL] = {0};
    int others[ALL];
    server.limits.connections_max = ALL;
    for (unsigned i = 0; i < ALL; i++) {
        int pair[2];
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
        connections[i].fd = pair[0];
        others[i] = pair[1];
        connections[i].peer_group = &peers[i >= CROWD];
        atomic_init(&connections[i].receiving_us, i + 1);
        connections[i].next = i + 1 < ALL ? &connections[i + 1] : NULL;
    }
    server.connections = connections;
    static const unsigned ORDER[ALL] = {0, 1, 3, 2, 4};
    /* the oldest of the crowd, then by turns: of equals the one that waits for longest */
    for (unsigned i = 0; i < ALL; i++) {
        assert_false(connections[ORDER[i]].shut);
        assert_true(connection_limit_evict(&server));
        assert_true(connections[ORDER[i]].shut);
        assert_int_equal(server.shut_count, i + 1);
    }
    assert_false(connection_limit_evict(&server));
    for (unsigned i = 0; i < ALL; i++) {
        close(connections[i].fd);
        close(others[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_gone_make_room),
        cmocka_unit_test(each_of_the_gone_makes_room_once),
        cmocka_unit_test(the_shut_are_not_chosen_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
