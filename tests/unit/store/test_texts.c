/* Instants and log blobs: what is written is read back, and random bytes do no harm. */
#include "store/instant.h"
#include "store/log.h"
#include "unit.h"

#include <time.h>

static void expect_instant(const char *text, int64_t us)
{
    assert_int_equal(instant_parse(slice_of(text)), us);
}

static void test_instants(void **state)
{
    (void)state;
    expect_instant("1970-01-01 00:00:00.000001", 1);
    expect_instant("2026-09-21 14:13:20.123456", 1790000000123456);
    expect_instant("2026-09-21 14:13:20", 1790000000000000);
    expect_instant("2026-09-21T14:13:20.5", 1790000000500000);
    expect_instant("2024-02-29 23:59:59.999999", 1709251199999999);
    expect_instant("1969-12-31 23:59:59.000000", -1000000);
    static const char *const wrong[] = {
        "",
        "2026",
        "2026-09-21",
        "2026-09-21 14:13",
        "2026-13-21 14:13:20",
        "2026-00-21 14:13:20",
        "2026-09-32 14:13:20",
        "2026-09-21 24:13:20",
        "2026-09-21 14:60:20",
        "2026-09-21 14:13:61",
        "2026-09-21 14:13:20.",
        "2026-09-21 14:13:20.1234567",
        "2026-09-21 14:13:20.12x456",
        "2026-09-21 14:13:20+00:00",
        "2026/09/21 14:13:20",
        "+026-09-21 14:13:20",
        "xxxx-xx-xx xx:xx:xx.xxxxxx",
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        expect_instant(wrong[i], 0);
}

static void test_instants_read_back(void **state)
{
    (void)state;
    char text[INSTANT_LEN];
    for (int64_t us = -62167219200000000; us < 253402300800000000; us += 86399999777777) {
        instant_format(us, text);
        assert_int_equal(instant_parse((struct slice){text, INSTANT_LEN}), us);
        time_t seconds = (time_t)(us < 0 ? (us - 999999) / 1000000 : us / 1000000);
        struct tm tm;
        char expected[32];
        gmtime_r(&seconds, &tm);
        strftime(expected, sizeof(expected), "-%m-%d %H:%M:%S.", &tm);
        assert_memory_equal(text + 4, expected, 16);
    }
    instant_format(INT64_MIN, text);
    assert_memory_equal(text, "0000-01-01 00:00:00.000000", INSTANT_LEN);
    instant_format(INT64_MAX, text);
    assert_memory_equal(text, "9999-12-31 23:59:59.999999", INSTANT_LEN);
}

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525 + 1013904223;
    return *seed >> 8;
}

static void test_instant_noise(void **state)
{
    (void)state;
    uint32_t seed = 7;
    for (int round = 0; round < 200000; round++) {
        char text[] = "2026-09-21 14:13:20.123456";
        size_t len = next_random(&seed) % (sizeof(text) + 1);
        for (int hits = 0; hits < 3; hits++)
            text[next_random(&seed) % sizeof(text)] = (char)next_random(&seed);
        int64_t us = instant_parse((struct slice){text, len});
        assert_true(us >= -62200000000000000 && us < 253402400000000000);
    }
}

static void test_log(void **state)
{
    (void)state;
    struct buf blob = {0};
    struct change change = {.kind = CHANGE_PROVIDER_GENERATION};
    change.generation.provider_id = INT64_MAX;
    log_append(&blob, &change);
    change = (struct change){.kind = CHANGE_CONSUMER_INSERT};
    change.consumer.id = 300;
    change.consumer.uuid = SLICE_LIT("0123abcd-4567-89ab-cdef-0123456789ab");
    log_append(&blob, &change);
    change.consumer.uuid = SLICE_LIT("0123ABCD-4567-89ab-cdef-0123456789ab");
    log_append(&blob, &change);
    change.consumer.uuid = SLICE_LIT("x");
    log_append(&blob, &change);
    struct log_entries entries = {0};
    assert_true(log_parse(buf_slice(&blob), &entries));
    assert_int_equal(entries.count, 4);
    assert_int_equal(entries.data[0].kind, LOG_PROVIDER_GENERATION);
    assert_true(entries.data[0].id == INT64_MAX);
    assert_int_equal(entries.data[1].kind, LOG_CONSUMER);
    assert_int_equal(entries.data[1].id, 300);
    assert_memory_equal(entries.data[1].uuid, "0123abcd-4567-89ab-cdef-0123456789ab", 36);
    assert_memory_equal(entries.data[2].uuid, "0123ABCD-4567-89ab-cdef-0123456789ab", 36);
    assert_int_equal(entries.data[3].uuid_len, 1);

    /* Cut anywhere, it is refused, or ends between two entries. */
    for (size_t len = 2; len < blob.len; len++) {
        entries.count = 0;
        if (log_parse((struct slice){blob.data, len}, &entries))
            assert_true(entries.count < 4);
    }
    uint32_t seed = 3;
    for (int round = 0; round < 200000; round++) {
        char noise[64];
        size_t len = next_random(&seed) % sizeof(noise);
        memcpy(noise, blob.data, blob.len < len ? blob.len : len);
        for (size_t i = blob.len; i < len; i++)
            noise[i] = 0;
        for (int hits = 0; hits < 4 && len > 0; hits++)
            noise[next_random(&seed) % len] = (char)next_random(&seed);
        entries.count = 0;
        log_parse((struct slice){noise, len}, &entries);
        assert_true(entries.count <= len);
    }
    log_entries_free(&entries);
    buf_free(&blob);
}

/* Later kinds are read by number; an unknown kind refuses the whole row, so that its reader loads
 * everything instead of missing something. */
static void test_log_of_rows(void **state)
{
    (void)state;
    struct buf blob = {0};
    struct change change = {.kind = CHANGE_NODE_PUT, .row = {.id = 300}};
    log_append(&blob, &change);
    change = (struct change){.kind = CHANGE_NODE_ALLOCATION_DELETE, .row = {.id = 5}};
    log_append(&blob, &change);
    assert_int_equal(blob.len, 6);
    assert_memory_equal(blob.data, "\1\17\254\2\20\5", 6);
    struct log_entries entries = {0};
    assert_true(log_parse(buf_slice(&blob), &entries));
    assert_int_equal(entries.count, 2);
    assert_int_equal(entries.data[0].kind, LOG_NODE);
    assert_int_equal(entries.data[0].id, 300);
    assert_int_equal(entries.data[1].kind, LOG_NODE_ALLOCATION);
    assert_int_equal(entries.data[1].id, 5);
    blob.data[4] = LOG_KIND_COUNT;
    assert_false(log_parse(buf_slice(&blob), &entries));
    log_entries_free(&entries);
    buf_free(&blob);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_instants),      cmocka_unit_test(test_instants_read_back),
        cmocka_unit_test(test_instant_noise), cmocka_unit_test(test_log),
        cmocka_unit_test(test_log_of_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
