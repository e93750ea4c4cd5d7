/* Requests that wait for queries to a scripted store: the test decides when and how each query is
 * answered, what is published, and when the writer takes the news. States are numbers. */
#include "unit.h"

#include <pthread.h>

#include "await.h"
#include "base/clock.h"
#include "currency_bench.h"
#include "fake_clock.h"

/* ---- tests ---- */

static void test_one_query_completes_all_that_share_it(void **state)
{
    (void)state;
    submit(0);
    submit(1);
    submit(2); /* two are in flight */
    submit(3);
    assert_int_equal(script.sent, 2);
    answer_state(0, 1);
    assert_requests("d---");
    assert_int_equal(script.sent, 3); /* for both that waited */
    answer_state(1, 1);
    answer_state(0, 1);
    assert_requests("dddd");
    assert_int_equal(script.sent, 3);
    assert_int_equal(bench.with_writer_count, 0);
}

/* An answer says nothing about what was committed after its query had been sent. */
static void test_late_answer_serves_only_its_own_requests(void **state)
{
    (void)state;
    submit(0);
    submit(1);
    submit(2);
    answer_state(1, 1); /* the second one comes first */
    assert_requests("-d-");
    answer_state(0, 1);
    assert_requests("dd-");
    answer_state(1, 1);
    assert_requests("ddd");
}

static void test_writer_takes_news(void **state)
{
    (void)state;
    submit(0);
    submit(1);
    answer_state(0, 2);
    assert_requests("--");
    assert_int_equal(bench.with_writer_count, 1);
    answer_state(1, 3); /* joins the next time */
    assert_int_equal(bench.with_writer_count, 1);
    publish(2);
    assert_requests("d-");
    writer_answers(0);
    assert_requests("d-");
    publish(3);
    assert_requests("dd");
    writer_answers(0);
    assert_int_equal(bench.with_writer_count, 0);
    assert_int_equal(figures().waited, 2);
}

/* The writer's read began after the request for it; its version may have no known stamp. */
static void test_writer_s_read_is_enough_without_a_stamp(void **state)
{
    (void)state;
    submit(0);
    answer_state(0, 2);
    submit(1);
    publish(0);
    answer_state(0, 2);
    assert_requests("--");
    writer_answers(0);
    assert_requests("d-");
    writer_answers(0);
    assert_requests("dd");
}

/* With the request for the state in its hands, the writer can see that it need not read. */
static void test_writer_knows_which_state_is_wanted(void **state)
{
    (void)state;
    submit(0);
    answer_state(0, 7);
    assert_int_equal(number_of(bench.with_writer[0]->head), 7);
    submit(1);
    answer_state(0, 9);
    assert_int_equal(number_of(bench.with_writer[0]->head), 7);
    writer_answers(0);
    assert_int_equal(number_of(bench.with_writer[0]->head), 9);
    writer_answers(0);
    assert_requests("dd");
}

static void test_own_commit_needs_no_read(void **state)
{
    (void)state;
    currency_commit_begins(bench.currency);
    submit(0);
    answer_state(0, 2);
    submit(1);
    answer_state(0, 2);
    assert_requests("--");
    assert_int_equal(bench.with_writer_count, 0);
    publish(2);
    assert_requests("dd");
    currency_commit_ended(bench.currency);
    assert_int_equal(bench.with_writer_count, 0);
}

static void test_failed_commit_leaves_the_news_to_the_writer(void **state)
{
    (void)state;
    currency_commit_begins(bench.currency);
    submit(0);
    answer_state(0, 2);
    assert_int_equal(bench.with_writer_count, 0);
    currency_commit_ended(bench.currency);
    assert_requests("-");
    writer_answers(0);
    assert_requests("d");
}

/* Which of two states is the later one is not known, so the writer reads the database. */
static void test_group_waits_for_both_of_two_states(void **state)
{
    (void)state;
    currency_commit_begins(bench.currency);
    submit(0);
    submit(1);
    answer_state(1, 5);
    answer_state(0, 4);
    publish(4);
    assert_requests("--");
    publish(5);
    assert_requests("--");
    currency_commit_ended(bench.currency);
    writer_answers(0);
    assert_requests("dd");
}

/* One of them is a state that memory has by now. */
static void test_group_waits_for_the_later_of_two_states(void **state)
{
    (void)state;
    currency_commit_begins(bench.currency);
    submit(0);
    submit(1);
    answer_state(1, 5);
    publish(4);
    answer_state(0, 4);
    assert_requests("d-");
    publish(5);
    assert_requests("dd");
    currency_commit_ended(bench.currency);
}

static void test_failures(void **state)
{
    (void)state;
    submit(0);
    submit(1);
    submit(2);
    answer_unknown(0);
    assert_requests("r--");
    assert_string_equal(bench.request[0].err.message.data, ANSWER_UNAVAILABLE);
    answer_state(1, 2);
    answer_state(0, 2);
    assert_requests("r--");
    writer_answers(503);
    assert_requests("rr-");
    assert_string_equal(bench.request[1].err.message.data, ANSWER_UNAVAILABLE);
    writer_answers(0);
    assert_requests("rrd");
    assert_int_equal(figures().queries, 3);
    assert_int_equal(figures().failed, 1);
    assert_int_equal(figures().requests, 3);
}

static void test_query_may_fail_at_once(void **state)
{
    (void)state;
    script.fails_at_once = true;
    submit(0);
    assert_requests("r");
    script.fails_at_once = false;
    submit(1);
    answer_state(0, 1);
    assert_requests("rd");
}

static void test_without_a_query(void **state)
{
    (void)state;
    publish(0);
    submit(0);
    assert_ptr_equal(bench.with_writer[0], &bench.request[0]);
    writer_answers(0);
    publish(1);
    script.currency = STORE_IS_OUTDATED;
    submit(1);
    assert_ptr_equal(bench.with_writer[0], &bench.request[1]);
    writer_answers(0);
    assert_requests("dd");
    assert_int_equal(script.sent, 0);
}

static void test_figures(void **state)
{
    (void)state;
    fake_clock_add_us(1000);
    uint64_t first_us = clock_monotonic_us();
    submit(0);
    fake_clock_add_us(60);
    uint64_t second_us = clock_monotonic_us();
    submit(1);
    fake_clock_add_us(20);
    answer_state(1, 1);
    assert_int_equal(currency_known_at_us(bench.currency), second_us);
    answer_state(0, 1);
    assert_int_equal(currency_known_at_us(bench.currency), second_us);
    assert_true(first_us < second_us);
    assert_int_equal(figures().query_us.sum, 20 + 80);
    assert_int_equal(figures().query_us.buckets[0], 1);
    assert_int_equal(figures().query_us.buckets[2], 1);
    assert_int_equal(figures().waited, 0);
}

/* ---- while the database is unavailable ---- */

enum { SECOND_US = 1000000, READS_MOST_S = 10 };

/* Memory is found to be current now. */
static void find_current(void)
{
    currency_set_reads_most(bench.currency, READS_MOST_S * SECOND_US);
    submit(0);
    answer_state(0, 1);
    assert_requests("d");
}

static void test_reads_continue_for_exactly_that_long(void **state)
{
    (void)state;
    find_current();
    script.fails_at_once = true;
    submit(1);
    assert_requests("dd");
    fake_clock_add_us(READS_MOST_S * SECOND_US);
    submit(2);
    assert_requests("ddd");
    fake_clock_add_us(1);
    submit(3);
    assert_requests("dddr");
    assert_int_equal(figures().continued, 2);
}

static void test_reads_do_not_continue_from_an_unknown_state(void **state)
{
    (void)state;
    currency_set_reads_most(bench.currency, UINT64_MAX);
    script.fails_at_once = true;
    submit(0);
    assert_requests("r");
    assert_int_equal(figures().continued, 0);
}

static void test_reads_are_strict_again_at_once(void **state)
{
    (void)state;
    find_current();
    submit(1);
    answer_unknown(0);
    assert_requests("dd");
    submit(2);
    submit(3);
    answer_state(0, 2);
    assert_requests("dd--"); /* the state is newer than memory */
    submit(4);
    currency_tick(bench.currency);
    assert_requests("dd---");
    publish(2);
    answer_state(1, 2);
    answer_state(0, 2);
    assert_requests("ddddd");
    assert_int_equal(figures().continued, 1);
    writer_answers(0);
}

/* A frozen server does not even fail. */
static void test_database_that_does_not_answer(void **state)
{
    (void)state;
    find_current();
    submit(1);
    fake_clock_add_us(SECOND_US - 1);
    submit(2);
    submit(3);
    currency_tick(bench.currency);
    assert_requests("d---");
    fake_clock_add_us(1);
    currency_tick(bench.currency);
    assert_requests("dddd");
    submit(4);
    assert_requests("ddddd"); /* the first query is still unanswered */
    fake_clock_add_us((READS_MOST_S - 1) * SECOND_US + 1);
    submit(5);
    assert_requests("dddddr");
    answer_unknown(0);
    answer_unknown(1);
    assert_int_equal(figures().continued, 4);
}

static void test_patience_is_half_of_a_short_time(void **state)
{
    (void)state;
    find_current();
    currency_set_reads_most(bench.currency, SECOND_US);
    submit(1);
    fake_clock_add_us(SECOND_US / 2 - 1);
    currency_tick(bench.currency);
    assert_requests("d-");
    fake_clock_add_us(1);
    currency_tick(bench.currency);
    assert_requests("dd");
    answer_state(0, 1);
}

/* Without the option, nobody is completed by a tick, however long it takes. */
static void test_tick_without_the_option(void **state)
{
    (void)state;
    submit(0);
    answer_state(0, 1);
    submit(1);
    fake_clock_add_us(5 * SECOND_US);
    currency_tick(bench.currency);
    assert_requests("d-");
    answer_unknown(0);
    assert_requests("dr");
}

/* The database fails while the writer reads the news; or only the news cannot be read. */
static void test_reads_continue_if_the_writer_fails(void **state)
{
    (void)state;
    find_current();
    submit(1);
    submit(2);
    answer_state(0, 2);
    answer_unknown(1);
    assert_requests("d-d");
    writer_answers(503);
    assert_requests("d-d");
    answer_unknown(0);
    assert_requests("ddd");
    submit(3);
    answer_state(0, 2);
    writer_answers(503);
    answer_state(0, 2);
    writer_answers(503);
    assert_requests("dddr");
}

/* While the writer reads the news for long, the database answers queries: nobody is completed. */
static void test_slow_news_are_no_outage(void **state)
{
    (void)state;
    find_current();
    submit(1);
    answer_state(0, 2);
    fake_clock_add_us(5 * SECOND_US);
    currency_tick(bench.currency);
    assert_requests("d-");
    submit(2);
    fake_clock_add_us(SECOND_US);
    currency_tick(bench.currency); /* now it does not answer any more */
    assert_requests("ddd");
    answer_unknown(0);
    writer_answers(503);
}

/* What a publication contains is known from the query on because of which it was awaited. */
static void test_age_of_what_was_followed(void **state)
{
    (void)state;
    fake_clock_add_us(1000);
    uint64_t sent_us = clock_monotonic_us();
    submit(0);
    fake_clock_add_us(50);
    answer_state(0, 2);
    submit(1);
    fake_clock_add_us(50);
    assert_int_equal(currency_known_at_us(bench.currency), 0);
    publish(2);
    assert_int_equal(currency_known_at_us(bench.currency), sent_us);
    answer_state(0, 3);
    writer_answers(0);
    assert_int_equal(currency_known_at_us(bench.currency), sent_us);
    writer_answers(0);
    assert_int_equal(currency_known_at_us(bench.currency), sent_us + 50);
    assert_requests("dd");
}

static void test_upkeep_is_not_counted(void **state)
{
    (void)state;
    find_current();
    bench.request[1] =
        (struct pipeline_request){.done = done, .is_upkeep = true, .err = {.arena = bench.arena}};
    currency_submit(bench.currency, &bench.request[1]);
    answer_unknown(0);
    assert_requests("dd");
    assert_int_equal(figures().continued, 0);
    assert_int_equal(figures().requests, 1);
}

static void *stop(void *cls)
{
    currency_stop(bench.currency);
    atomic_store((_Atomic bool *)cls, true);
    return NULL;
}

/* Requests are refused at once; the end waits for what is in flight. */
static void test_stop(void **state)
{
    (void)state;
    pthread_t thread;
    _Atomic bool has_stopped = false;
    for (unsigned i = 0; i < 4; i++)
        submit(i);
    answer_state(0, 2); /* the writer still runs, and completes these */
    script.sent = 0;
    assert_int_equal(pthread_create(&thread, NULL, stop, &has_stopped), 0);
    AWAIT(bench.done[3] == 1);
    assert_requests("-rrr");
    assert_string_equal(bench.request[3].err.message.data, ANSWER_STOPPING);
    answer_state(1, 1);
    assert_false(has_stopped);
    answer_state(0, 1);
    AWAIT(has_stopped);
    pthread_join(thread, NULL);
    assert_int_equal(script.sent, 0);
    writer_answers(0);
    submit(4);
    assert_requests("drrrr");
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_one_query_completes_all_that_share_it),
        TEST(test_late_answer_serves_only_its_own_requests),
        TEST(test_writer_takes_news),
        TEST(test_writer_s_read_is_enough_without_a_stamp),
        TEST(test_writer_knows_which_state_is_wanted),
        TEST(test_own_commit_needs_no_read),
        TEST(test_failed_commit_leaves_the_news_to_the_writer),
        TEST(test_group_waits_for_both_of_two_states),
        TEST(test_group_waits_for_the_later_of_two_states),
        TEST(test_failures),
        TEST(test_query_may_fail_at_once),
        TEST(test_without_a_query),
        TEST(test_figures),
        TEST(test_reads_continue_for_exactly_that_long),
        TEST(test_reads_do_not_continue_from_an_unknown_state),
        TEST(test_reads_are_strict_again_at_once),
        TEST(test_database_that_does_not_answer),
        TEST(test_patience_is_half_of_a_short_time),
        TEST(test_tick_without_the_option),
        TEST(test_reads_continue_if_the_writer_fails),
        TEST(test_slow_news_are_no_outage),
        TEST(test_age_of_what_was_followed),
        TEST(test_upkeep_is_not_counted),
        TEST(test_stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
