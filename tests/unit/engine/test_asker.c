/* A thread with an event loop asks the store by itself, for the requests that have gathered. */
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "currency_bench.h"
#include "fake_clock.h"
#include "unit.h"

enum { PATIENCE_MS = 1000, SHORT_PATIENCE_MS = 250 };

/* An event for the thread itself, as of a connection. */
static struct {
    int epoll;
    int connection;
    unsigned gathered; /* how often the thread has waited for more requests */
} loop;

int __real_epoll_pwait2(int fd, struct epoll_event *events, int most,
                        const struct timespec *timeout, const sigset_t *mask);
int __wrap_epoll_pwait2(int fd, struct epoll_event *events, int most,
                        const struct timespec *timeout, const sigset_t *mask);
int __wrap_epoll_pwait2(int fd, struct epoll_event *events, int most,
                        const struct timespec *timeout, const sigset_t *mask)
{
    loop.gathered++;
    return __real_epoll_pwait2(fd, events, most, timeout, mask);
}

/* One turn of the loop; returns whether the connection was ready. */
static bool turn(void)
{
    struct epoll_event events[4];
    return event_loop_wait(loop.epoll, events, 4, 1) == 1;
}

static void make_connection_ready(bool is_ready)
{
    eventfd_t ignored;
    assert_int_equal(
        is_ready ? eventfd_write(loop.connection, 1) : eventfd_read(loop.connection, &ignored), 0);
}

/* The answer to the asker's query arrives. */
static void asker_takes(enum store_asked result, unsigned number)
{
    script.asked_result = result;
    script.asked_state = number;
    assert_int_equal(eventfd_write(script.asker_fd, 1), 0);
    (void)turn();
}

static int set_up_loop(void **state)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = &loop};
    set_up(state);
    loop.gathered = 0;
    loop.epoll = epoll_create1(EPOLL_CLOEXEC);
    loop.connection = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    script.asker_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    script.has_asker = script.is_connected = true;
    assert_int_equal(epoll_ctl(loop.epoll, EPOLL_CTL_ADD, loop.connection, &event), 0);
    event_loop_begin();
    (void)turn();
    return 0;
}

static int tear_down_loop(void **state)
{
    tear_down(state);
    event_loop_end();
    close(loop.epoll);
    close(loop.connection);
    close(script.asker_fd);
    return 0;
}

static void test_requests_that_have_gathered_share_a_query(void **state)
{
    (void)state;
    submit(0);
    submit(1);
    assert_int_equal(script.asked, 0);
    (void)turn();
    assert_int_equal(script.asked, 1);
    submit(2); /* the query was sent before: its answer is not for this one */
    (void)turn();
    assert_int_equal(script.asked, 1);
    asker_takes(STORE_ASKED_ANSWERED, 1);
    assert_requests("dd-");
    (void)turn();
    assert_int_equal(script.asked, 2);
    asker_takes(STORE_ASKED_ANSWERED, 1);
    assert_requests("ddd");
    assert_int_equal(script.sent, 0);
    assert_int_equal(figures().queries, 2);
    assert_int_equal(figures().requests, 3);
}

/* A query that takes that long, for this many requests from the given one on. */
static void answer_all(unsigned from, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        submit(from + i);
    (void)turn();
    fake_clock_add_us(400);
    asker_takes(STORE_ASKED_ANSWERED, 1);
}

/* Those that were answered at once ask again at about the same time, and share the next query, too;
 * but one that is alone is not kept waiting. */
static void test_waits_for_those_that_it_has_answered(void **state)
{
    (void)state;
    answer_all(0, 2);
    assert_int_equal(loop.gathered, 0);
    submit(2);
    (void)turn();
    assert_int_equal(loop.gathered, 1);
    assert_int_equal(script.asked, 2); /* the other one did not come */
    asker_takes(STORE_ASKED_ANSWERED, 1);
    answer_all(3, 1);
    answer_all(4, 2);
    assert_int_equal(loop.gathered, 1);
    assert_requests("dddddd");
}

/* Both are there. */
static void test_waits_for_no_more_than_it_has_answered(void **state)
{
    (void)state;
    answer_all(0, 2);
    answer_all(2, 2);
    assert_int_equal(loop.gathered, 0);
    assert_int_equal(script.asked, 2);
}

/* Requests of many clients, none of which waits for its answer before the next one is sent. */
static void test_does_not_wait_in_vain_again_and_again(void **state)
{
    enum { ROUNDS = 17 };
    (void)state;
    answer_all(0, 2);
    for (unsigned i = 0; i < ROUNDS; i++) {
        submit(2 * i + 2);
        (void)turn();
        submit(2 * i + 3); /* while the query is on its way */
        fake_clock_add_us(400);
        asker_takes(STORE_ASKED_ANSWERED, 1);
        (void)turn();
        asker_takes(STORE_ASKED_ANSWERED, 1);
    }
    assert_int_equal(loop.gathered, 2);
}

static void test_other_connections_come_first_but_not_for_long(void **state)
{
    (void)state;
    submit(0);
    make_connection_ready(true);
    assert_true(turn());
    assert_int_equal(script.asked, 0);
    submit(1);
    fake_clock_add_us(201);
    (void)turn();
    assert_int_equal(script.asked, 1);
    make_connection_ready(false);
    asker_takes(STORE_ASKED_ANSWERED, 1);
    assert_requests("dd");
}

static void test_part_of_an_answer_decides_nothing(void **state)
{
    (void)state;
    submit(0);
    (void)turn();
    asker_takes(STORE_ASKED_PENDING, 0);
    assert_requests("-");
    asker_takes(STORE_ASKED_ANSWERED, 1);
    assert_requests("d");
}

static void test_news_are_taken_by_the_writer(void **state)
{
    (void)state;
    submit(0);
    (void)turn();
    asker_takes(STORE_ASKED_ANSWERED, 2);
    assert_requests("-");
    publish(2);
    writer_answers(0);
    assert_requests("d");
    assert_int_equal(figures().waited, 1);
}

static void test_store_asks_for_a_thread_that_is_not_connected(void **state)
{
    (void)state;
    script.is_connected = false;
    submit(0);
    (void)turn();
    assert_int_equal(script.sent, 1);
    submit(1); /* in the meantime */
    script.is_connected = true;
    (void)turn();
    assert_int_equal(script.asked, 1);
    answer_state(0, 1);
    assert_requests("d-");
    asker_takes(STORE_ASKED_ANSWERED, 1);
    assert_requests("dd");
}

static void test_store_asks_when_the_connection_is_lost(void **state)
{
    (void)state;
    submit(0);
    (void)turn();
    submit(1);
    asker_takes(STORE_ASKED_IN_VAIN, 0);
    assert_int_equal(script.sent, 1);
    assert_requests("--");
    answer_state(0, 1);
    assert_requests("dd");
    assert_int_equal(figures().failed, 0);
}

static void test_store_asks_when_no_answer_comes(void **state)
{
    (void)state;
    submit(0);
    (void)turn();
    submit(1);
    fake_clock_advance_ms(PATIENCE_MS - 1);
    currency_tick(bench.currency);
    assert_int_equal(script.sent, 0);
    fake_clock_advance_ms(1);
    currency_tick(bench.currency);
    assert_int_equal(script.sent, 1);
    answer_state(0, 1);
    assert_requests("dd");
    submit(2); /* the connection is given up */
    assert_int_equal(script.forgotten, 1);
    answer_state(0, 1);
    assert_requests("ddd");
    submit(3); /* and replaced */
    (void)turn();
    assert_int_equal(script.asked, 2);
    asker_takes(STORE_ASKED_ANSWERED, 1);
    assert_requests("dddd");
}

/* An answer that comes after all is taken, and the connection kept. */
static void test_late_answer_is_for_nobody(void **state)
{
    (void)state;
    submit(0);
    (void)turn();
    fake_clock_advance_ms(PATIENCE_MS);
    currency_tick(bench.currency);
    asker_takes(STORE_ASKED_ANSWERED, 1);
    assert_requests("-");
    answer_state(0, 1);
    assert_requests("d");
    submit(1);
    (void)turn();
    assert_int_equal(script.forgotten, 0);
    asker_takes(STORE_ASKED_ANSWERED, 1);
    assert_requests("dd");
}

/* Reads continue half of the configured time after the last answer at the latest, as without
 * askers. */
static void test_patience_is_a_part_of_the_time_that_reads_may_continue(void **state)
{
    (void)state;
    currency_set_reads_most(bench.currency, 4 * SHORT_PATIENCE_MS * 1000);
    submit(0);
    (void)turn();
    asker_takes(STORE_ASKED_ANSWERED, 1);
    submit(1);
    (void)turn();
    fake_clock_advance_ms(SHORT_PATIENCE_MS);
    currency_tick(bench.currency);
    assert_int_equal(script.sent, 1);
    assert_requests("d-");
    fake_clock_advance_ms(2 * SHORT_PATIENCE_MS);
    currency_tick(bench.currency);
    assert_requests("dd");
    assert_int_equal(figures().continued, 1);
    submit(2); /* the connection is given up, and the store asks once more */
    assert_int_equal(script.forgotten, 1);
    currency_tick(bench.currency);
    assert_requests("ddd");
    script.is_connected = false;
    submit(3); /* nobody waits any more */
    (void)turn();
    assert_requests("dddd");
    answer_unknown(1);
    answer_unknown(0);
}

static void test_stop_refuses_what_waits(void **state)
{
    (void)state;
    submit(0);
    (void)turn();
    submit(1);
    currency_stop(bench.currency);
    assert_requests("rr");
    asker_takes(STORE_ASKED_ANSWERED, 1);
    (void)turn();
    assert_int_equal(script.asked, 1);
    submit(2);
    assert_requests("rrr");
}

static void *submit_1(void *cls)
{
    submit(1);
    return cls;
}

/* The older of two states is the last to be taken: its publication does not complete what waits for
 * the other one. */
static void test_answers_out_of_order(void **state)
{
    (void)state;
    pthread_t other;
    currency_commit_begins(bench.currency); /* of state 2 */
    submit(0);
    (void)turn(); /* the database has state 2 */
    assert_int_equal(pthread_create(&other, NULL, submit_1, NULL), 0);
    pthread_join(other, NULL);
    answer_state(0, 3);
    asker_takes(STORE_ASKED_ANSWERED, 2);
    publish(2);
    assert_requests("--");
    currency_commit_ended(bench.currency);
    publish(3);
    writer_answers(0);
    assert_requests("dd");
}

static void test_query_that_is_not_sent_does_not_count(void **state)
{
    (void)state;
    script.is_connected = false;
    submit(0);
    (void)turn();
    answer_state(0, 1);
    assert_requests("d");
    assert_int_equal(figures().queries, 1);
}

/* The thread is kept busy by something else. */
static void test_store_asks_for_a_thread_that_does_not(void **state)
{
    (void)state;
    submit(0);
    fake_clock_advance_ms(PATIENCE_MS - 1);
    currency_tick(bench.currency);
    assert_int_equal(script.sent, 0);
    fake_clock_advance_ms(1);
    currency_tick(bench.currency);
    assert_int_equal(script.sent, 1);
    answer_state(0, 1);
    assert_requests("d");
    (void)turn();
    assert_int_equal(script.asked, 0);
}

static void test_answer_that_cannot_be_watched(void **state)
{
    (void)state;
    int fd = script.asker_fd;
    script.asker_fd = 1000000; /* there is no such descriptor */
    submit(0);
    (void)turn();
    assert_int_equal(script.asked, 1);
    assert_int_equal(script.forgotten, 1);
    script.asker_fd = fd;
    answer_state(0, 1);
    assert_requests("d");
}

static void test_thread_without_an_asker(void **state)
{
    (void)state;
    script.has_asker = false;
    submit(0);
    assert_int_equal(script.sent, 1);
    answer_state(0, 1);
    assert_requests("d");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up_loop, tear_down_loop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_requests_that_have_gathered_share_a_query),
        TEST(test_waits_for_those_that_it_has_answered),
        TEST(test_waits_for_no_more_than_it_has_answered),
        TEST(test_does_not_wait_in_vain_again_and_again),
        TEST(test_other_connections_come_first_but_not_for_long),
        TEST(test_part_of_an_answer_decides_nothing),
        TEST(test_news_are_taken_by_the_writer),
        TEST(test_store_asks_for_a_thread_that_is_not_connected),
        TEST(test_store_asks_when_the_connection_is_lost),
        TEST(test_store_asks_when_no_answer_comes),
        TEST(test_late_answer_is_for_nobody),
        TEST(test_patience_is_a_part_of_the_time_that_reads_may_continue),
        TEST(test_stop_refuses_what_waits),
        TEST(test_answers_out_of_order),
        TEST(test_query_that_is_not_sent_does_not_count),
        TEST(test_store_asks_for_a_thread_that_does_not),
        TEST(test_answer_that_cannot_be_watched),
        TEST(test_thread_without_an_asker),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
