/* The ids of consumers by their uuids: each is found, and nothing else. */
#include "store/server/consumer_ids.h"
#include "unit.h"

#include <stdio.h>

enum { MANY = 5000 };

static struct slice uuid_of(char text[static 48], int64_t id)
{
    int len = snprintf(text, 48, "00000000-0000-4000-8000-%012lld", (long long)id);
    return (struct slice){text, (size_t)len};
}

static void finds_each(void **state)
{
    (void)state;
    struct consumer_ids ids = {0};
    char text[48];
    assert_int_equal(consumer_ids_find(&ids, SLICE_LIT("x")), 0);
    for (int64_t id = 1; id <= MANY; id++)
        consumer_ids_add(&ids, uuid_of(text, id), id * 7);
    consumer_ids_add(&ids, SLICE_LIT(""), -1);
    for (int64_t id = 1; id <= MANY; id++)
        assert_int_equal(consumer_ids_find(&ids, uuid_of(text, id)), id * 7);
    assert_int_equal(consumer_ids_find(&ids, SLICE_LIT("")), -1);
    assert_int_equal(consumer_ids_find(&ids, uuid_of(text, MANY + 1)), 0);
    assert_int_equal(consumer_ids_find(&ids, (struct slice){uuid_of(text, 1).data, 35}), 0);
    consumer_ids_free(&ids);
    assert_int_equal(consumer_ids_find(&ids, uuid_of(text, 1)), 0);
    consumer_ids_free(&ids);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(finds_each)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
