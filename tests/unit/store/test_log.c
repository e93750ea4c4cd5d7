/* Blobs of the log that no berthd writes: each is refused, and none is read beyond its end. */
#include "store/log.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

static void expect(const void *blob, size_t len, bool is_good, size_t count)
{
    struct log_entries entries = {0};
    char *exact = malloc(len + 1); /* so that a sanitizer sees a read beyond the end */
    memcpy(exact, blob, len);
    exact = realloc(exact, len == 0 ? 1 : len);
    assert_int_equal(log_parse((struct slice){exact, len}, &entries), is_good);
    if (is_good)
        assert_int_equal(entries.count, count);
    free(exact);
    log_entries_free(&entries);
}

static void malformed(void **state)
{
    (void)state;
    expect("", 0, true, 0);
    expect("\1", 1, true, 0);
    expect("\2", 1, true, 0);
    expect("\3", 1, false, 0);
    expect("\1\0\7", 3, true, 1);
    expect("\1\0", 2, false, 0);
    expect("\1\0\x80", 3, false, 0);
    expect("\1\0\x80\x80\x80\x80\x80\x80\x80\x80\x80\1", 12, true, 1);
    expect("\1\0\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\1", 13, false, 0);
    expect("\1\x7f\7", 3, false, 0);
    const char consumer[] = {1, LOG_CONSUMER, 5, 3, 'a', 'b', 'c'};
    for (size_t len = 2; len <= sizeof(consumer); len++)
        expect(consumer, len, len == sizeof(consumer), 1);
    const char long_uuid[40] = {1, LOG_CONSUMER, 5, 37};
    expect(long_uuid, sizeof(long_uuid), false, 0);
}

/* All blobs of a follow together. */
static void too_many(void **state)
{
    (void)state;
    struct log_entries entries = {0};
    static char blob[1 + 2 * 100000];
    blob[0] = 1;
    for (size_t i = 1; i < sizeof(blob); i += 2) {
        blob[i] = LOG_CLASS_INSERTED;
        blob[i + 1] = 9;
    }
    for (size_t i = 0; i < LOG_ENTRIES_MAX / 100000; i++)
        assert_true(log_parse((struct slice){blob, sizeof(blob)}, &entries));
    assert_int_equal(entries.count, LOG_ENTRIES_MAX);
    assert_true(log_parse((struct slice){blob, 1}, &entries));
    assert_false(log_parse((struct slice){blob, 3}, &entries));
    log_entries_free(&entries);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(malformed),
        cmocka_unit_test(too_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
