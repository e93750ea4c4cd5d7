/* Descriptors that a library takes out of its epoll set and puts back. */
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/event_set.h"
#include "unit.h"

enum { EVENTS_MOST = 4, FAR_FD = 300 };

static struct {
    int epoll;
    int fd;
    int other;
    char connection, other_connection;
} bench;

static int change(int operation, int fd, void *told, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.ptr = told};
    return event_set_change(bench.epoll, operation, fd, &event);
}

static void add(int fd, void *told)
{
    assert_int_equal(change(EPOLL_CTL_ADD, fd, told, EPOLLIN | EPOLLET), 0);
}

static void take_out(int fd)
{
    assert_int_equal(event_set_change(bench.epoll, EPOLL_CTL_DEL, fd, NULL), 0);
}

/* What the library sees, in any order: a bit for each of the two. */
static unsigned told(void)
{
    struct epoll_event events[EVENTS_MOST];
    int count = event_set_told(events, epoll_pwait(bench.epoll, events, EVENTS_MOST, 0, NULL));
    unsigned found = 0;
    for (int i = 0; i < count; i++) {
        assert_true(events[i].data.ptr == &bench.connection ||
                    events[i].data.ptr == &bench.other_connection);
        found |= events[i].data.ptr == &bench.connection ? 1 : 2;
    }
    return found;
}

static void signal_fd(int fd)
{
    assert_int_equal(eventfd_write(fd, 1), 0);
}

static int make_fd(void)
{
    int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    assert_true(fd >= 0);
    return fd;
}

static int set_up(void **state)
{
    (void)state;
    bench.epoll = epoll_create1(EPOLL_CLOEXEC);
    bench.fd = make_fd();
    bench.other = make_fd();
    add(bench.fd, &bench.connection);
    add(bench.other, &bench.other_connection);
    assert_int_equal(told(), 0);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    event_set_end();
    close(bench.fd);
    close(bench.other);
    close(bench.epoll);
    return 0;
}

static void test_events_are_told_as_asked_for(void **state)
{
    (void)state;
    signal_fd(bench.fd);
    assert_int_equal(told(), 1);
    assert_int_equal(told(), 0); /* an edge */
    signal_fd(bench.fd);
    signal_fd(bench.other);
    assert_int_equal(told(), 3);
}

static void test_nothing_is_told_of_what_is_out(void **state)
{
    (void)state;
    take_out(bench.fd);
    signal_fd(bench.fd);
    signal_fd(bench.other);
    assert_int_equal(told(), 2);
    signal_fd(bench.fd);
    assert_int_equal(told(), 0);
}

/* As the kernel tells at once what a descriptor that is added is ready for. */
static void test_what_was_missed_is_told_when_it_is_back(void **state)
{
    (void)state;
    take_out(bench.fd);
    signal_fd(bench.fd);
    assert_int_equal(told(), 0);
    add(bench.fd, &bench.connection);
    assert_int_equal(told(), 1);
    assert_int_equal(told(), 0);
    take_out(bench.fd); /* and that is not told again, once it was read */
    eventfd_t ignored;
    assert_int_equal(eventfd_read(bench.fd, &ignored), 0);
    add(bench.fd, &bench.connection);
    assert_int_equal(told(), 0);
}

/* Nobody has waited in between. */
static void test_what_came_just_before_is_told(void **state)
{
    (void)state;
    take_out(bench.fd);
    signal_fd(bench.fd);
    add(bench.fd, &bench.connection);
    assert_int_equal(told(), 1);
}

static void test_back_with_another_pointer_or_other_events(void **state)
{
    (void)state;
    take_out(bench.fd);
    assert_int_equal(change(EPOLL_CTL_ADD, bench.fd, &bench.other_connection, EPOLLIN | EPOLLET),
                     0);
    signal_fd(bench.fd);
    assert_int_equal(told(), 2);
    take_out(bench.fd);
    assert_int_equal(change(EPOLL_CTL_ADD, bench.fd, &bench.connection, EPOLLOUT | EPOLLET), 0);
    assert_int_equal(told(), 1); /* it can be written, and was not waited for before */
}

/* A connection that was closed while it was suspended: neither its number nor its pointer says that
 * the next one is another. */
static void test_number_and_pointer_of_one_that_was_closed(void **state)
{
    (void)state;
    int number = bench.fd;
    take_out(bench.fd);
    event_set_forget(bench.fd);
    close(bench.fd);
    bench.fd = make_fd();
    assert_int_equal(bench.fd, number);
    signal_fd(bench.fd);
    assert_int_equal(told(), 0);
    add(bench.fd, &bench.connection);
    assert_int_equal(told(), 1);
}

/* A copy of the descriptor keeps what it leads to in the kernel's set. */
static void test_forgotten_ones_leave_the_kernel(void **state)
{
    (void)state;
    int copy = dup(bench.fd);
    take_out(bench.fd);
    event_set_forget(bench.fd);
    signal_fd(copy);
    struct epoll_event event;
    assert_int_equal(epoll_pwait(bench.epoll, &event, 1, 0, NULL), 0);
    close(copy);
    event_set_forget(bench.other); /* which the library still has to remove, as it does */
    take_out(bench.other);
    signal_fd(bench.other);
    assert_int_equal(epoll_pwait(bench.epoll, &event, 1, 0, NULL), 0);
}

static void test_levels_are_left_to_the_kernel(void **state)
{
    (void)state;
    int fd = make_fd();
    signal_fd(fd);
    assert_int_equal(change(EPOLL_CTL_ADD, fd, &bench.connection, EPOLLIN), 0);
    assert_int_equal(told(), 1);
    assert_int_equal(told(), 1);
    take_out(fd);
    assert_int_equal(told(), 0);
    assert_int_equal(change(EPOLL_CTL_MOD, fd, &bench.connection, EPOLLIN), -1);
    close(fd);
}

static void test_failures_are_the_kernels(void **state)
{
    (void)state;
    assert_int_equal(change(EPOLL_CTL_ADD, bench.fd, &bench.connection, EPOLLIN | EPOLLET), -1);
    assert_int_equal(change(EPOLL_CTL_ADD, -1, &bench.connection, EPOLLIN | EPOLLET), -1);
    assert_int_equal(change(EPOLL_CTL_DEL, FAR_FD, NULL, 0), -1);
    signal_fd(bench.fd); /* which has not changed */
    assert_int_equal(told(), 1);
}

static void test_large_numbers(void **state)
{
    (void)state;
    assert_int_equal(dup2(bench.fd, FAR_FD), FAR_FD);
    add(FAR_FD, &bench.other_connection);
    signal_fd(bench.fd);
    assert_int_equal(told(), 3);
    take_out(bench.fd);
    signal_fd(bench.fd);
    assert_int_equal(told(), 2);
    event_set_forget(FAR_FD);
    close(FAR_FD);
}

static void *use_another_set(void *number)
{
    int fd = make_fd();
    add(fd, &bench.other_connection);
    take_out(fd);
    add(fd, &bench.other_connection);
    *(int *)number = fd; /* closed by another thread: what this one has is freed nevertheless */
    return NULL;
}

static void test_each_thread_has_its_own(void **state)
{
    (void)state;
    pthread_t thread;
    int fd = -1;
    take_out(bench.fd);
    assert_int_equal(pthread_create(&thread, NULL, use_another_set, &fd), 0);
    pthread_join(thread, NULL);
    event_set_forget(fd);
    close(fd);
    signal_fd(bench.fd);
    signal_fd(bench.other);
    assert_int_equal(told(), 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_events_are_told_as_asked_for),
        TEST(test_nothing_is_told_of_what_is_out),
        TEST(test_what_was_missed_is_told_when_it_is_back),
        TEST(test_what_came_just_before_is_told),
        TEST(test_back_with_another_pointer_or_other_events),
        TEST(test_number_and_pointer_of_one_that_was_closed),
        TEST(test_forgotten_ones_leave_the_kernel),
        TEST(test_levels_are_left_to_the_kernel),
        TEST(test_failures_are_the_kernels),
        TEST(test_large_numbers),
        TEST(test_each_thread_has_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
