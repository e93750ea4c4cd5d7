/* The calendar against the C library's, day by day, and the two forms of text. */
#include "base/clock.h"

#include <stdio.h>
#include <time.h>

#include "unit.h"

#define SECOND ((int64_t)1000000)

static void every_day_of_five_centuries(void **state)
{
    (void)state;
    for (time_t at = -2208988800 + 3723; at < 13569465600; at += 86400 + 61) {
        struct tm tm;
        char wanted[64];
        char got[CLOCK_RFC1123_BYTES];
        char iso[CLOCK_ISO_BYTES];
        int64_t back;
        gmtime_r(&at, &tm);
        strftime(wanted, sizeof(wanted), "%a, %d %b %Y %H:%M:%S GMT", &tm);
        clock_format_rfc1123(at * SECOND + 999999, got);
        assert_string_equal(got, wanted);
        clock_format_iso(at * SECOND + 7, iso);
        strftime(wanted, sizeof(wanted), "%Y-%m-%d %H:%M:%S.000007", &tm);
        assert_string_equal(iso, wanted);
        assert_true(clock_parse_iso(slice_of(iso), &back));
        assert_int_equal(back, at * SECOND + 7);
    }
}

static void before_1970(void **state)
{
    (void)state;
    char iso[CLOCK_ISO_BYTES];
    clock_format_iso(-1, iso);
    assert_string_equal(iso, "1969-12-31 23:59:59.999999");
}

static void expect_parsed(const char *text, int64_t wanted)
{
    int64_t got;
    assert_true(clock_parse_iso(slice_of(text), &got));
    assert_int_equal(got, wanted);
}

static void forms(void **state)
{
    (void)state;
    expect_parsed("1970-01-01 00:00:01", SECOND);
    expect_parsed("1970-01-02T00:00:00.5", 86400 * SECOND + 500000);
    expect_parsed("2024-02-29 00:00:00.000001", 1709164800 * SECOND + 1);
    static const char *const bad[] = {
        "",
        "1970-01-01",
        "1970-01-01 00:00",
        "1970-13-01 00:00:00",
        "1970-00-01 00:00:00",
        "2023-02-29 00:00:00",
        "1900-02-29 00:00:00",
        "1970-01-01 24:00:00",
        "1970-01-01 00:60:00",
        "1970-01-01 00:00:60",
        "1970-01-01 00:00:00.",
        "1970-01-01 00:00:00.1234567",
        "1970-01-01 00:00:00.12a",
        "1970-01-01 00:00:00Z",
        "1970-01-01x00:00:00",
        "197a-01-01 00:00:00",
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        int64_t got;
        if (clock_parse_iso(slice_of(bad[i]), &got))
            fail_msg("accepted: %s", bad[i]);
    }
}

static void the_clocks_run(void **state)
{
    (void)state;
    uint64_t before = clock_monotonic_us();
    int64_t wall = clock_wall_us();
    assert_true(wall / SECOND - (int64_t)time(NULL) <= 1);
    assert_true((int64_t)time(NULL) - wall / SECOND <= 1);
    assert_true(clock_monotonic_us() >= before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_day_of_five_centuries),
        cmocka_unit_test(before_1970),
        cmocka_unit_test(forms),
        cmocka_unit_test(the_clocks_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
