/* Metrics as text: numbers as Go writes them, labels with any content, and the differences between
 * the two formats. */
#include "api/admin/exposition.h"

#include <math.h>
#include <stdlib.h>

#include "unit.h"

static void expect_float(double value, const char *text)
{
    struct buf out = {0};
    exposition_write_float(&out, value);
    buf_append_char(&out, '\0');
    assert_string_equal(out.data, text);
    buf_free(&out);
}

/* strconv.FormatFloat(value, 'g', -1, 64), which openstack-exporter's library uses. */
static void floats(void **state)
{
    (void)state;
    expect_float(0, "0");
    expect_float(-0.0, "-0");
    expect_float(1, "1");
    expect_float(-17, "-17");
    expect_float(65536, "65536");
    expect_float(999999, "999999");
    expect_float(1000000, "1e+06");
    expect_float(1048576, "1.048576e+06");
    expect_float(-2147483648.0, "-2.147483648e+09");
    expect_float(2147483647, "2.147483647e+09");
    expect_float(9007199254740991.0, "9.007199254740991e+15");
    expect_float(1e21, "1e+21");
    expect_float(1e100, "1e+100");
    expect_float(1.5, "1.5");
    expect_float(0.1, "0.1");
    expect_float(1.2, "1.2");
    expect_float(16.000001, "16.000001");
    expect_float(0.0001, "0.0001");
    expect_float(0.00001, "1e-05");
    expect_float(0.00025, "0.00025");
    expect_float(123456.5, "123456.5");
    expect_float(1234567.5, "1.2345675e+06");
    expect_float(5e-324, "5e-324");
    expect_float(NAN, "NaN");
    expect_float(INFINITY, "+Inf");
    expect_float(-INFINITY, "-Inf");
}

/* For any bits, the text reads back as an equal number. */
static void floats_read_back(void **state)
{
    (void)state;
    srandom(7);
    for (unsigned i = 0; i < 20000; i++) {
        uint64_t bits = (uint64_t)random() << 42 ^ (uint64_t)random() << 21 ^ (uint64_t)random();
        double value;
        memcpy(&value, &bits, sizeof(value));
        if (!isfinite(value))
            continue;
        struct buf out = {0};
        exposition_write_float(&out, value);
        buf_append_char(&out, '\0');
        assert_true(strtod(out.data, NULL) == value);
        buf_free(&out);
    }
}

static void expect_text(struct slice text, const char *escaped)
{
    struct buf out = {0};
    exposition_write_text(&out, text);
    buf_append_char(&out, '\0');
    assert_string_equal(out.data, escaped);
    buf_free(&out);
}

static void texts(void **state)
{
    (void)state;
    expect_text(SLICE_LIT(""), "");
    expect_text(SLICE_LIT("host1"), "host1");
    expect_text(SLICE_LIT("a\"b\\c\nd"), "a\\\"b\\\\c\\nd");
    expect_text(SLICE_LIT("\"\"\\"), "\\\"\\\"\\\\");
    expect_text(SLICE_LIT("a{b=\"c\"} 1\n"), "a{b=\\\"c\\\"} 1\\n");
    expect_text(SLICE_LIT("r\xc3\xa4"
                          "ck \xe2\x82\xac"),
                "r\xc3\xa4"
                "ck \xe2\x82\xac");
    expect_text(SLICE_LIT("\xff"), "\xef\xbf\xbd");
    expect_text(SLICE_LIT("a\xc3"), "a\xef\xbf\xbd");
    expect_text(SLICE_LIT("\xed\xa0\x80z"), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdz");
}

static const struct histogram_shape SHAPE = {.count = 3, .bounds = {50, 1000000, 2500000}};

static void write_all(struct exposition *exposition)
{
    struct label labels[] = {{"route", SLICE_LIT("/{uuid}")}, {"method", SLICE_LIT("GET")}};
    struct histogram_total total = {.sum = 3000060, .buckets = {1, 0, 2, 4}};
    exposition_begin(exposition, METRIC_RESPONSE_BYTES);
    exposition_count(exposition, labels, 2, 18446744073709551615ULL >> 1);
    exposition_begin(exposition, METRIC_REQUEST_DURATION);
    exposition_histogram(exposition, labels, 2, &SHAPE, &total, 1e6);
    exposition_single(exposition, METRIC_STOPPING, 0);
    exposition_end(exposition);
}

static void expect_all(bool is_openmetrics, const char *expected)
{
    struct buf out = {0};
    struct exposition exposition = {.out = &out, .is_openmetrics = is_openmetrics};
    write_all(&exposition);
    buf_append_char(&out, '\0');
    assert_string_equal(out.data, expected);
    buf_free(&out);
}

#define DURATION "berth_http_request_duration_seconds"
#define LABELS   "route=\"/{uuid}\",method=\"GET\""

static void formats(void **state)
{
    (void)state;
    expect_all(false, "# HELP berth_http_response_bytes_total Bytes of response bodies.\n"
                      "# TYPE berth_http_response_bytes_total counter\n"
                      "berth_http_response_bytes_total{" LABELS "} 9223372036854775807\n"
                      "# HELP " DURATION " Time from the request line to the answer being ready.\n"
                      "# TYPE " DURATION " histogram\n" DURATION "_bucket{" LABELS
                      ",le=\"5e-05\"} 1\n" DURATION "_bucket{" LABELS ",le=\"1\"} 1\n" DURATION
                      "_bucket{" LABELS ",le=\"2.5\"} 3\n" DURATION "_bucket{" LABELS
                      ",le=\"+Inf\"} 7\n" DURATION "_sum{" LABELS "} 3.00006\n" DURATION
                      "_count{" LABELS "} 7\n"
                      "# HELP berth_stopping 1 while the process drains before it exits.\n"
                      "# TYPE berth_stopping gauge\nberth_stopping 0\n");
    expect_all(true, "# HELP berth_http_response_bytes Bytes of response bodies.\n"
                     "# TYPE berth_http_response_bytes counter\n"
                     "berth_http_response_bytes_total{" LABELS "} 9223372036854775807\n"
                     "# HELP " DURATION " Time from the request line to the answer being ready.\n"
                     "# TYPE " DURATION " histogram\n" DURATION "_bucket{" LABELS
                     ",le=\"5e-05\"} 1\n" DURATION "_bucket{" LABELS ",le=\"1.0\"} 1\n" DURATION
                     "_bucket{" LABELS ",le=\"2.5\"} 3\n" DURATION "_bucket{" LABELS
                     ",le=\"+Inf\"} 7\n" DURATION "_sum{" LABELS "} 3.00006\n" DURATION
                     "_count{" LABELS "} 7\n"
                     "# HELP berth_stopping 1 while the process drains before it exits.\n"
                     "# TYPE berth_stopping gauge\nberth_stopping 0\n# EOF\n");
}

/* Names as Prometheus requires them, each once, and texts that need no escaping. */
static void the_table(void **state)
{
    (void)state;
    for (unsigned i = 0; i < METRIC_COUNT; i++) {
        const struct metric *metric = &metric_table[i];
        assert_non_null(metric->name);
        size_t len = strspn(metric->name, "abcdefghijklmnopqrstuvwxyz0123456789_");
        assert_int_equal(len, strlen(metric->name));
        bool total = len > 6 && strcmp(metric->name + len - 6, "_total") == 0;
        assert_true(total == (metric->type == METRIC_COUNTER) ||
                    strcmp(metric->name, "openstack_placement_resource_total") == 0);
        assert_null(strpbrk(metric->help, "\\\n\""));
        assert_true(metric->help[0] != '\0');
        for (unsigned j = 0; j < i; j++)
            assert_string_not_equal(metric->name, metric_table[j].name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(floats),  cmocka_unit_test(floats_read_back), cmocka_unit_test(texts),
        cmocka_unit_test(formats), cmocka_unit_test(the_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
