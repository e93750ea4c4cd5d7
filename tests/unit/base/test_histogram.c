/* Counters and histograms: the bucket of each value, and that nothing is lost while others read. */
#include "base/histogram.h"

#include <pthread.h>
#include <stdbool.h>

#include "unit.h"

enum { ADDITIONS = 200000 };

static const struct histogram_shape SHAPE = {.count = 3, .bounds = {10, 20, 50}};

static void buckets(void **state)
{
    (void)state;
    assert_int_equal(histogram_bucket(&SHAPE, 0), 0);
    assert_int_equal(histogram_bucket(&SHAPE, 10), 0);
    assert_int_equal(histogram_bucket(&SHAPE, 11), 1);
    assert_int_equal(histogram_bucket(&SHAPE, 20), 1);
    assert_int_equal(histogram_bucket(&SHAPE, 50), 2);
    assert_int_equal(histogram_bucket(&SHAPE, 51), 3);
    assert_int_equal(histogram_bucket(&SHAPE, UINT64_MAX), 3);
}

static void totals_add_up(void **state)
{
    (void)state;
    struct histogram first = {0};
    struct histogram second = {0};
    struct histogram_total total = {0};
    histogram_add(&first, &SHAPE, 7);
    histogram_add(&first, &SHAPE, 12);
    histogram_add(&second, &SHAPE, 13);
    histogram_add(&second, &SHAPE, 1000);
    assert_int_equal(histogram_count(&total), 0);
    histogram_read(&first, &total);
    histogram_read(&second, &total);
    assert_int_equal(total.buckets[0], 1);
    assert_int_equal(total.buckets[1], 2);
    assert_int_equal(total.buckets[2], 0);
    assert_int_equal(total.buckets[3], 1);
    assert_int_equal(total.sum, 7 + 12 + 13 + 1000);
    assert_int_equal(histogram_count(&total), 4);
}

static void states(void **state)
{
    (void)state;
    struct counter counter = {0};
    counter_add(&counter, 5);
    counter_set(&counter, 2);
    counter_add(&counter, 1);
    assert_int_equal(counter_read(&counter), 3);
}

static void *fill(void *cls)
{
    struct histogram *histogram = cls;
    for (uint64_t i = 0; i < ADDITIONS; i++)
        histogram_add(histogram, &SHAPE, i % 60);
    return NULL;
}

/* The values that a reader sees never decrease, and in the end nothing is missing. */
static void read_while_written(void **state)
{
    (void)state;
    static struct histogram histogram;
    pthread_t writer;
    assert_int_equal(pthread_create(&writer, NULL, fill, &histogram), 0);
    uint64_t seen = 0;
    for (unsigned i = 0; i < 1000; i++) {
        struct histogram_total total = {0};
        histogram_read(&histogram, &total);
        assert_true(histogram_count(&total) >= seen);
        seen = histogram_count(&total);
    }
    pthread_join(writer, NULL);
    struct histogram_total total = {0};
    histogram_read(&histogram, &total);
    assert_int_equal(histogram_count(&total), ADDITIONS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buckets),
        cmocka_unit_test(totals_add_up),
        cmocka_unit_test(states),
        cmocka_unit_test(read_while_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
