/* The headers of answers, and the parts of requests that are repeated in them. */
#include <stdlib.h>

#include "api/answer.h"
#include "api/api.h"
#include "api/asked.h"
#include "placement/api/headers.h"
#include "unit.h"

static const struct api API = {0};

static void good_answers(void **state)
{
    (void)state;
    struct asked asked;
    asked_open(&asked, &API);
    asked.request.minor = 15;
    asked.own.version_shown = asked.own.vary_shown = true;
    api_answer_json(&asked.request, 1790000000123456);
    answer_headers(&asked.request);
    assert_int_equal(asked.exchange.http.status, 200);
    asked_expect_header(&asked, "Content-Type", "application/json");
    asked_expect_header(&asked, "Cache-Control", "no-cache");
    asked_expect_header(&asked, "Last-Modified", "Mon, 21 Sep 2026 14:13:20 GMT");
    asked_expect_header(&asked, "openstack-api-version", "placement 1.15");
    asked_expect_header(&asked, "vary", "openstack-api-version");
    asked_expect_header(&asked, "x-openstack-request-id",
                        "req-00000000-0000-4000-8000-000000000000");
    asked_expect_header(&asked, "Location", NULL);
    asked_expect_header(&asked, "Allow", NULL);
    asked.exchange.http.response_header_count = 0;
    asked.request.minor = 14; /* not cacheable yet */
    api_answer_json(&asked.request, 1790000000123456);
    answer_headers(&asked.request);
    asked_expect_header(&asked, "Last-Modified", NULL);
    asked_expect_header(&asked, "Cache-Control", NULL);
    asked_expect_header(&asked, "openstack-api-version", "placement 1.14");
    asked_close(&asked);
}

static void seconds_are_not_mixed_up(void **state)
{
    (void)state;
    static const struct {
        int64_t us;
        const char *date;
    } CASES[] = {
        {-1, "Wed, 31 Dec 1969 23:59:59 GMT"}, /* a foreign row may have any time */
        {-1000001, "Wed, 31 Dec 1969 23:59:58 GMT"}, {1, "Thu, 01 Jan 1970 00:00:00 GMT"},
        {1000000, "Thu, 01 Jan 1970 00:00:01 GMT"},  {1999999, "Thu, 01 Jan 1970 00:00:01 GMT"},
        {2000000, "Thu, 01 Jan 1970 00:00:02 GMT"},  {1000000, "Thu, 01 Jan 1970 00:00:01 GMT"},
    };
    struct asked asked;
    asked_open(&asked, &API);
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        asked.exchange.http.response_header_count = 0;
        api_answer_json(&asked.request, CASES[i].us);
        answer_headers(&asked.request);
        asked_expect_header(&asked, "Last-Modified", CASES[i].date);
    }
    asked_close(&asked);
}

static void empty_answers(void **state)
{
    (void)state;
    struct asked asked;
    asked_open(&asked, &API);
    buf_append_lit(api_out(&asked.request), "left over");
    api_answer_empty(&asked.request, 204);
    asked.request.location = SLICE_LIT("/p/traits/X");
    asked.request.origin = (struct origin){.scheme = SLICE_LIT("https"), .host = SLICE_LIT("h")};
    answer_headers(&asked.request);
    assert_int_equal(asked.exchange.http.status, 204);
    assert_int_equal(asked.exchange.http.out.len, 0);
    asked_expect_header(&asked, "Content-Type", NULL);
    asked_expect_header(&asked, "Location", "https://h/p/traits/X");
    asked_expect_header(&asked, "openstack-api-version", NULL);
    asked_expect_header(&asked, "vary", NULL);
    asked_close(&asked);
}

/* An error shows nothing of the answer already begun. */
static void errors(void **state)
{
    (void)state;
    struct asked asked;
    asked_open(&asked, &API);
    api_answer_json(&asked.request, 5);
    asked.request.location = SLICE_LIT("/x");
    asked.request.allow = SLICE_LIT("GET, PUT");
    asked.own.version_shown = true;
    asked.request.status = 405;
    err_set(&asked.request.err, 405, NULL, "no");
    answer_headers(&asked.request);
    assert_int_equal(asked.exchange.http.status, 405);
    asked_expect_header(&asked, "Location", NULL);
    asked_expect_header(&asked, "Last-Modified", NULL);
    asked_expect_header(&asked, "Content-Type", NULL); /* set by fault.c */
    asked_expect_header(&asked, "Allow", "GET, PUT");
    asked_expect_header(&asked, "openstack-api-version", "placement 1.39");
    asked_expect_header(&asked, "vary", NULL);
    asked_close(&asked);
}

enum { LONG_BYTES = 1 << 20, MOST_BYTES = 16 * 1024 };

/* The body of a 400 with that message. The caller closes asked. */
static struct slice fault_body(struct asked *asked, const char *accept, struct slice message)
{
    asked_open(asked, &API);
    asked_header(asked, "Accept", slice_of(accept));
    err_set_text(&asked->request.err, 400, NULL, message);
    assert_int_equal(answer_give(&asked->request), HTTP_ANSWERED);
    return buf_slice(&asked->exchange.http.out);
}

static bool has(struct slice text, struct slice part)
{
    return memmem(text.data, text.len, part.data, part.len) != NULL;
}

/* Long texts that a client sent or named are not repeated in full. */
static void long_errors(void **state)
{
    (void)state;
    struct asked asked;
    char *text = malloc(LONG_BYTES);
    assert_non_null(text);
    text[0] = 'a'; /* both cuts would be inside characters */
    for (size_t i = 1; i < LONG_BYTES; i++)
        text[i] = i % 2 == 1 ? '\xc3' : '\xa9';
    memcpy(&text[LONG_BYTES - 3], "!!", 2);
    struct slice message = {text, LONG_BYTES - 1};
    struct slice body = fault_body(&asked, "text/plain", message);
    assert_in_range(body.len, MOST_BYTES, MOST_BYTES + 300);
    assert_true(has(body, SLICE_LIT("a\xc3\xa9")));
    assert_true(has(body, SLICE_LIT("\xc3\xa9...\xc3\xa9")));
    assert_true(has(body, SLICE_LIT("\xc3\xa9!!")));
    asked_close(&asked);
    body = fault_body(&asked, "application/json", message);
    assert_in_range(body.len, MOST_BYTES, 3 * MOST_BYTES + 300);
    assert_true(has(body, SLICE_LIT("\\u00e9...\\u00e9")));
    asked_close(&asked);
    memset(text, '\xa9', LONG_BYTES); /* not a valid character */
    body = fault_body(&asked, "text/plain", (struct slice){text, LONG_BYTES});
    assert_in_range(body.len, 1, 300);
    asked_close(&asked);
    free(text);
}

static void errors_that_fit(void **state)
{
    (void)state;
    char text[MOST_BYTES];
    memset(text, 'a', sizeof(text));
    struct asked asked;
    struct slice body = fault_body(&asked, "application/json", (struct slice){text, sizeof(text)});
    assert_true(has(body, (struct slice){text, sizeof(text)}));
    assert_false(has(body, SLICE_LIT("...")));
    asked_close(&asked);
}

static void repeated_parts(void **state)
{
    (void)state;
    struct asked asked;
    asked_open(&asked, &API);
    assert_true(slice_equal(placement_content_type(&asked.request), SLICE_LIT("None")));
    assert_true(slice_equal(placement_accept(&asked.request), SLICE_LIT("application/json")));
    asked_header(&asked, "content-TYPE", SLICE_LIT("text/plain; charset=utf-8"));
    asked_header(&asked, "Accept", SLICE_LIT("*/*"));
    assert_true(slice_equal(placement_content_type(&asked.request), SLICE_LIT("text/plain")));
    assert_true(slice_equal(placement_accept(&asked.request), SLICE_LIT("application/json")));
    asked.headers[0].value =
        SLICE_LIT("text/plain ;x"); /* the blank counts, as in the Python service */
    assert_true(slice_equal(placement_content_type(&asked.request), SLICE_LIT("text/plain ")));
    asked.headers[0].value = SLICE_LIT(";x");
    asked.headers[1].value = SLICE_LIT("text/*");
    assert_true(slice_equal(placement_content_type(&asked.request), SLICE_LIT("None")));
    assert_true(slice_equal(placement_accept(&asked.request), SLICE_LIT("text/*")));
    asked_close(&asked);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_answers),   cmocka_unit_test(seconds_are_not_mixed_up),
        cmocka_unit_test(empty_answers),  cmocka_unit_test(errors),
        cmocka_unit_test(long_errors),    cmocka_unit_test(errors_that_fit),
        cmocka_unit_test(repeated_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
