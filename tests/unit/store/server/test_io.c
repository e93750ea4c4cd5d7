/* What is done while a socket is waited for. */
#include "store/server/io.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "unit.h"

static int ends[2]; /* of a connection */

static int set_up(void **state)
{
    (void)state;
    return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends);
}

static int tear_down(void **state)
{
    (void)state;
    close(ends[0]);
    close(ends[1]);
    return 0;
}

/* Counts its calls, and ends the waits with the last one. */
struct calls {
    unsigned made;
    unsigned most;
};

static bool count(void *cls)
{
    struct calls *calls = cls;
    return ++calls->made < calls->most;
}

static uint64_t in_slices(unsigned slices)
{
    return clock_monotonic_us() + slices * (uint64_t)SERVER_IO_SLICE_US;
}

static void test_until_the_deadline(void **state)
{
    (void)state;
    struct calls calls = {.most = UINT32_MAX};
    struct server_meanwhile meanwhile = {.run = count, .cls = &calls};
    uint64_t deadline_us = in_slices(4);
    assert_int_equal(server_io_wait(&meanwhile, ends[0], POLLIN, -1, deadline_us),
                     SERVER_IO_TIMEOUT);
    assert_true(clock_monotonic_us() >= deadline_us);
    assert_in_range(calls.made, 1, 5); /* fewer on a busy machine */
    assert_int_equal(server_io_wait(&meanwhile, ends[0], POLLOUT, -1, in_slices(1000)),
                     SERVER_IO_READY);
    assert_int_equal(server_io_wait(NULL, ends[0], POLLIN, -1, in_slices(1)), SERVER_IO_TIMEOUT);
}

static void test_ends_silence(void **state)
{
    (void)state;
    struct calls calls = {.most = 3};
    struct server_meanwhile meanwhile = {.run = count, .cls = &calls};
    uint64_t deadline_us = in_slices(1000);
    assert_int_equal(server_io_wait(&meanwhile, ends[0], POLLIN, -1, deadline_us), SERVER_IO_OVER);
    assert_true(clock_monotonic_us() < deadline_us);
    assert_int_equal(calls.made, 3);
    /* nor does another wait begin */
    assert_int_equal(server_io_wait(&meanwhile, ends[0], POLLOUT, -1, deadline_us), SERVER_IO_OVER);
    assert_int_equal(calls.made, 3);
}

/* As while a large table is read. */
static void test_ends_plenty(void **state)
{
    (void)state;
    struct calls calls = {.most = 3};
    struct server_meanwhile meanwhile = {.run = count, .cls = &calls};
    uint64_t began_us = clock_monotonic_us();
    unsigned ready = 0;
    while (server_io_wait(&meanwhile, ends[0], POLLOUT, -1, in_slices(1000)) == SERVER_IO_READY)
        ready++;
    assert_int_equal(calls.made, 3);
    assert_true(ready >= 2);
    assert_true(clock_monotonic_us() - began_us >= 2 * SERVER_IO_SLICE_US);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_until_the_deadline, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_ends_silence, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_ends_plenty, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
