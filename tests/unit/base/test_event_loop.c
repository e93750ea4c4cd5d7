/* Watchers beside the events of the loop's own connections. */
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/event_loop.h"
#include "unit.h"

enum { EVENTS_MOST = 4 };

struct watch {
    struct event_watcher watcher; /* first */
    int fd;
    unsigned idled;
    unsigned read;
    bool wants_idle_again;
};

static struct {
    int epoll;
    int connection;
    struct watch one;
    struct watch two;
} bench;

static uint64_t idled_us; /* when the last one was */

static void idle(struct event_watcher *watcher)
{
    struct watch *watch = (struct watch *)watcher;
    watch->idled++;
    idled_us = clock_monotonic_us();
    if (watch->wants_idle_again)
        event_loop_when_idle(watcher, 0);
    watch->wants_idle_again = false;
}

static void readable(struct event_watcher *watcher)
{
    struct watch *watch = (struct watch *)watcher;
    watch->read++;
}

static int turn(int timeout_ms)
{
    struct epoll_event events[EVENTS_MOST];
    int count = event_loop_wait(bench.epoll, events, EVENTS_MOST, timeout_ms);
    for (int i = 0; i < count; i++)
        assert_ptr_equal(events[i].data.ptr, &bench.connection);
    return count;
}

static void signal_fd(int fd)
{
    assert_int_equal(eventfd_write(fd, 1), 0);
}

static void drain(int fd)
{
    eventfd_t ignored;
    assert_int_equal(eventfd_read(fd, &ignored), 0);
}

static int set_up(void **state)
{
    (void)state;
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = &bench.connection};
    bench.epoll = epoll_create1(EPOLL_CLOEXEC);
    bench.connection = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    bench.one =
        (struct watch){{idle, readable}, eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), 0, 0, false};
    bench.two =
        (struct watch){{idle, readable}, eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), 0, 0, false};
    assert_int_equal(epoll_ctl(bench.epoll, EPOLL_CTL_ADD, bench.connection, &event), 0);
    event_loop_begin();
    assert_int_equal(turn(0), 0);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    event_loop_end();
    close(bench.one.fd);
    close(bench.two.fd);
    close(bench.connection);
    close(bench.epoll);
    return 0;
}

static void test_watched_until_it_is_closed(void **state)
{
    (void)state;
    assert_true(event_loop_watch(&bench.one.watcher, bench.one.fd));
    assert_true(event_loop_watch(&bench.one.watcher, bench.one.fd));
    signal_fd(bench.one.fd);
    assert_int_equal(turn(-1), 0);
    assert_int_equal(bench.one.read, 1);
    assert_int_equal(turn(-1), 0); /* it still is readable */
    assert_int_equal(bench.one.read, 2);
    drain(bench.one.fd);
    assert_int_equal(turn(0), 0);
    assert_int_equal(bench.one.read, 2);
    close(bench.one.fd);
    assert_false(event_loop_watch(&bench.one.watcher, bench.one.fd));
    bench.one.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); /* the same number */
    signal_fd(bench.one.fd);
    assert_int_equal(turn(0), 0);
    assert_int_equal(bench.one.read, 2);
    assert_true(event_loop_watch(&bench.one.watcher, bench.one.fd));
    assert_int_equal(turn(0), 0);
    assert_int_equal(bench.one.read, 3);
}

static void test_waits_for_one_set(void **state)
{
    (void)state;
    assert_true(event_loop_waits_for(bench.epoll));
    assert_false(event_loop_waits_for(bench.connection));
    event_loop_end();
    assert_false(event_loop_waits_for(bench.epoll));
    assert_false(event_loop_waits_for(0));
}

static void test_watched_once(void **state)
{
    (void)state;
    assert_true(event_loop_watch_once(&bench.one.watcher, bench.one.fd));
    signal_fd(bench.one.fd);
    assert_int_equal(turn(-1), 0);
    assert_int_equal(turn(0), 0);
    assert_int_equal(bench.one.read, 1);
    assert_true(event_loop_watch_once(&bench.one.watcher, bench.one.fd));
    assert_int_equal(turn(-1), 0);
    assert_int_equal(bench.one.read, 2);
}

static void test_connections_are_left_to_the_loop(void **state)
{
    (void)state;
    assert_true(event_loop_watch(&bench.one.watcher, bench.one.fd));
    assert_true(event_loop_watch(&bench.two.watcher, bench.two.fd));
    signal_fd(bench.connection);
    signal_fd(bench.one.fd);
    signal_fd(bench.two.fd);
    assert_int_equal(turn(-1), 1);
    assert_int_equal(bench.one.read + bench.two.read, 2);
}

/* The library gets its own events, wherever among the others they are. */
static void test_events_on_both_sides(void **state)
{
    (void)state;
    struct epoll_event events[EVENTS_MOST];
    int others[2];
    signal_fd(bench.connection);
    for (int i = 0; i < 2; i++) {
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = &others[i]};
        others[i] = eventfd(1, EFD_CLOEXEC);
        if (i == 1) {
            assert_true(event_loop_watch(&bench.one.watcher, bench.one.fd));
            signal_fd(bench.one.fd);
        }
        assert_int_equal(epoll_ctl(bench.epoll, EPOLL_CTL_ADD, others[i], &event), 0);
    }
    assert_int_equal(event_loop_wait(bench.epoll, events, EVENTS_MOST, -1), 3);
    assert_ptr_equal(events[0].data.ptr, &bench.connection);
    assert_ptr_equal(events[1].data.ptr, &others[0]);
    assert_ptr_equal(events[2].data.ptr, &others[1]);
    assert_int_equal(bench.one.read, 1);
    close(others[0]);
    close(others[1]);
}

/* Without a wait, and without the connections. */
static void test_only_what_is_the_watchers(void **state)
{
    (void)state;
    assert_true(event_loop_watch(&bench.one.watcher, bench.one.fd));
    signal_fd(bench.connection);
    event_loop_when_idle(&bench.two.watcher, 0);
    event_loop_run_own();
    assert_int_equal(bench.two.idled, 1);
    assert_int_equal(bench.one.read, 0);
    signal_fd(bench.one.fd);
    event_loop_run_own();
    assert_int_equal(bench.one.read, 1);
    assert_int_equal(bench.two.idled, 1);
    drain(bench.one.fd);
    event_loop_run_own();
    assert_int_equal(bench.one.read, 1);
    assert_int_equal(turn(0), 1);
}

static void test_idle_once_before_the_thread_sleeps(void **state)
{
    (void)state;
    event_loop_when_idle(&bench.one.watcher, 0);
    event_loop_when_idle(&bench.one.watcher, 0);
    event_loop_when_idle(&bench.two.watcher, 0);
    assert_int_equal(turn(1), 0);
    assert_int_equal(bench.one.idled, 1);
    assert_int_equal(bench.two.idled, 1);
    assert_int_equal(turn(1), 0);
    assert_int_equal(bench.one.idled, 1);
}

/* What `idle` begins may be there at once, as when it makes a connection ready. */
static void test_idle_again_from_within(void **state)
{
    (void)state;
    bench.one.wants_idle_again = true;
    event_loop_when_idle(&bench.one.watcher, 0);
    assert_int_equal(turn(-1), 0); /* it does not sleep yet */
    assert_int_equal(turn(1), 0);
    assert_int_equal(bench.one.idled, 2);
}

static void test_busy_loop_is_not_idle_for_some_time(void **state)
{
    (void)state;
    unsigned turns = 0;
    signal_fd(bench.connection);
    event_loop_when_idle(&bench.one.watcher, 0);
    for (; bench.one.idled == 0; turns++)
        assert_int_equal(turn(-1), 1);
    assert_true(turns > 1);
    drain(bench.connection);
}

/* The library does not want to wait: it has more to do. */
static void test_library_that_does_not_wait_is_busy(void **state)
{
    (void)state;
    unsigned turns = 0;
    event_loop_when_idle(&bench.one.watcher, 0);
    for (; bench.one.idled == 0; turns++)
        assert_int_equal(turn(0), 0);
    assert_true(turns > 1);
}

/* With no event, the thread is idle once that time is over. */
static void test_gathers_for_some_time(void **state)
{
    enum { GATHER_US = 150 };
    (void)state;
    uint64_t begun_us = clock_monotonic_us();
    event_loop_when_idle(&bench.one.watcher, GATHER_US);
    assert_int_equal(turn(1), 0);
    assert_int_equal(bench.one.idled, 1);
    assert_true(idled_us - begun_us >= GATHER_US);
}

/* The event ends the wait, and nothing is idle. */
static void test_gathers_an_event(void **state)
{
    (void)state;
    signal_fd(bench.connection);
    event_loop_when_idle(&bench.one.watcher, 150);
    assert_int_equal(turn(1), 1);
    assert_int_equal(bench.one.idled, 0);
    drain(bench.connection);
    assert_int_equal(turn(1), 0);
    assert_int_equal(bench.one.idled, 1);
}

/* One that does not gather is not kept waiting by one that does, whichever comes first. */
static void test_gathers_no_longer_than_the_least(void **state)
{
    enum { LONG_US = 1000000 };
    (void)state;
    for (int i = 0; i < 2; i++) {
        uint64_t begun_us = clock_monotonic_us();
        event_loop_when_idle(&bench.one.watcher, i == 0 ? LONG_US : 0);
        event_loop_when_idle(&bench.two.watcher, i == 0 ? 0 : LONG_US);
        assert_int_equal(turn(1), 0);
        assert_true(clock_monotonic_us() - begun_us < LONG_US / 2);
    }
    assert_int_equal(bench.one.idled, 2);
    assert_int_equal(bench.two.idled, 2);
}

static void *number_of_thread(void *number)
{
    assert_int_equal(event_loop_number(), 0);
    event_loop_begin();
    *(uint64_t *)number = event_loop_number();
    event_loop_begin();
    assert_int_equal(event_loop_number(), *(uint64_t *)number);
    event_loop_end();
    assert_int_equal(event_loop_number(), 0);
    return NULL;
}

static void test_numbers_are_unique(void **state)
{
    (void)state;
    pthread_t thread;
    uint64_t numbers[2] = {0};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pthread_create(&thread, NULL, number_of_thread, &numbers[i]), 0);
        pthread_join(thread, NULL);
    }
    assert_true(numbers[0] != 0 && numbers[1] != 0 && event_loop_number() != 0);
    assert_true(numbers[0] != numbers[1] && numbers[0] != event_loop_number());
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_watched_until_it_is_closed),
        TEST(test_waits_for_one_set),
        TEST(test_watched_once),
        TEST(test_connections_are_left_to_the_loop),
        TEST(test_events_on_both_sides),
        TEST(test_only_what_is_the_watchers),
        TEST(test_idle_once_before_the_thread_sleeps),
        TEST(test_idle_again_from_within),
        TEST(test_busy_loop_is_not_idle_for_some_time),
        TEST(test_gathers_for_some_time),
        TEST(test_gathers_an_event),
        TEST(test_gathers_no_longer_than_the_least),
        TEST(test_library_that_does_not_wait_is_busy),
        TEST(test_numbers_are_unique),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
