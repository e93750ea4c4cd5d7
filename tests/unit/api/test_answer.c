/* The headers of answers, and the parts of requests that are repeated in them. */
#include <stdlib.h>

#include "api/answer.h"
#include "api/api.h"
#include "api/fake_request.h"
#include "placement/api/headers.h"
#include "unit.h"

static const struct api API = {0};

static void good_answers(void **state)
{
    (void)state;
    struct fake_request fake;
    fake_request_open(&fake, &API);
    fake.request.minor = 15;
    fake.own.version_shown = fake.own.vary_shown = true;
    api_answer_json(&fake.request, 1790000000123456);
    answer_headers(&fake.request);
    assert_int_equal(fake.exchange.http.status, 200);
    fake_request_expect_header(&fake, "Content-Type", "application/json");
    fake_request_expect_header(&fake, "Cache-Control", "no-cache");
    fake_request_expect_header(&fake, "Last-Modified", "Mon, 21 Sep 2026 14:13:20 GMT");
    fake_request_expect_header(&fake, "openstack-api-version", "placement 1.15");
    fake_request_expect_header(&fake, "vary", "openstack-api-version");
    fake_request_expect_header(&fake, "x-openstack-request-id",
                               "req-00000000-0000-4000-8000-000000000000");
    fake_request_expect_header(&fake, "Location", NULL);
    fake_request_expect_header(&fake, "Allow", NULL);
    fake.exchange.http.response_header_count = 0;
    fake.request.minor = 14; /* not cacheable yet */
    api_answer_json(&fake.request, 1790000000123456);
    answer_headers(&fake.request);
    fake_request_expect_header(&fake, "Last-Modified", NULL);
    fake_request_expect_header(&fake, "Cache-Control", NULL);
    fake_request_expect_header(&fake, "openstack-api-version", "placement 1.14");
    fake_request_close(&fake);
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
    struct fake_request fake;
    fake_request_open(&fake, &API);
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        fake.exchange.http.response_header_count = 0;
        api_answer_json(&fake.request, CASES[i].us);
        answer_headers(&fake.request);
        fake_request_expect_header(&fake, "Last-Modified", CASES[i].date);
    }
    fake_request_close(&fake);
}

static void empty_answers(void **state)
{
    (void)state;
    struct fake_request fake;
    fake_request_open(&fake, &API);
    buf_append_lit(api_out(&fake.request), "left over");
    api_answer_empty(&fake.request, 204);
    fake.request.location = SLICE_LIT("/p/traits/X");
    fake.request.origin = (struct origin){.scheme = SLICE_LIT("https"), .host = SLICE_LIT("h")};
    answer_headers(&fake.request);
    assert_int_equal(fake.exchange.http.status, 204);
    assert_int_equal(fake.exchange.http.out.len, 0);
    fake_request_expect_header(&fake, "Content-Type", NULL);
    fake_request_expect_header(&fake, "Location", "https://h/p/traits/X");
    fake_request_expect_header(&fake, "openstack-api-version", NULL);
    fake_request_expect_header(&fake, "vary", NULL);
    fake_request_close(&fake);
}

/* An error shows nothing of the answer already begun. */
static void errors(void **state)
{
    (void)state;
    struct fake_request fake;
    fake_request_open(&fake, &API);
    api_answer_json(&fake.request, 5);
    fake.request.location = SLICE_LIT("/x");
    fake.request.allow = SLICE_LIT("GET, PUT");
    fake.own.version_shown = true;
    fake.request.status = 405;
    err_set(&fake.request.err, 405, NULL, "no");
    answer_headers(&fake.request);
    assert_int_equal(fake.exchange.http.status, 405);
    fake_request_expect_header(&fake, "Location", NULL);
    fake_request_expect_header(&fake, "Last-Modified", NULL);
    fake_request_expect_header(&fake, "Content-Type", NULL); /* set by fault.c */
    fake_request_expect_header(&fake, "Allow", "GET, PUT");
    fake_request_expect_header(&fake, "openstack-api-version", "placement 1.39");
    fake_request_expect_header(&fake, "vary", NULL);
    fake_request_close(&fake);
}

enum { LONG_BYTES = 1 << 20, MOST_BYTES = 16 * 1024 };

/* The body of a 400 with that message. The caller closes fake. */
static struct slice fault_body(struct fake_request *fake, const char *accept, struct slice message)
{
    fake_request_open(fake, &API);
    fake_request_header(fake, "Accept", slice_of(accept));
    err_set_text(&fake->request.err, 400, NULL, message);
    assert_int_equal(answer_give(&fake->request), HTTP_ANSWERED);
    return buf_slice(&fake->exchange.http.out);
}

static bool has(struct slice text, struct slice part)
{
    return memmem(text.data, text.len, part.data, part.len) != NULL;
}

/* Long texts that a client sent or named are not repeated in full. */
static void long_errors(void **state)
{
    (void)state;
    struct fake_request fake;
    char *text = malloc(LONG_BYTES);
    assert_non_null(text);
    text[0] = 'a'; /* both cuts would be inside characters */
    for (size_t i = 1; i < LONG_BYTES; i++)
        text[i] = i % 2 == 1 ? '\xc3' : '\xa9';
    memcpy(&text[LONG_BYTES - 3], "!!", 2);
    struct slice message = {text, LONG_BYTES - 1};
    struct slice body = fault_body(&fake, "text/plain", message);
    assert_in_range(body.len, MOST_BYTES, MOST_BYTES + 300);
    assert_true(has(body, SLICE_LIT("a\xc3\xa9")));
    assert_true(has(body, SLICE_LIT("\xc3\xa9...\xc3\xa9")));
    assert_true(has(body, SLICE_LIT("\xc3\xa9!!")));
    fake_request_close(&fake);
    body = fault_body(&fake, "application/json", message);
    assert_in_range(body.len, MOST_BYTES, 3 * MOST_BYTES + 300);
    assert_true(has(body, SLICE_LIT("\\u00e9...\\u00e9")));
    fake_request_close(&fake);
    memset(text, '\xa9', LONG_BYTES); /* not a valid character */
    body = fault_body(&fake, "text/plain", (struct slice){text, LONG_BYTES});
    assert_in_range(body.len, 1, 300);
    fake_request_close(&fake);
    free(text);
}

static void errors_that_fit(void **state)
{
    (void)state;
    char text[MOST_BYTES];
    memset(text, 'a', sizeof(text));
    struct fake_request fake;
    struct slice body = fault_body(&fake, "application/json", (struct slice){text, sizeof(text)});
    assert_true(has(body, (struct slice){text, sizeof(text)}));
    assert_false(has(body, SLICE_LIT("...")));
    fake_request_close(&fake);
}

static void repeated_parts(void **state)
{
    (void)state;
    struct fake_request fake;
    fake_request_open(&fake, &API);
    assert_true(slice_equal(placement_content_type(&fake.request), SLICE_LIT("None")));
    assert_true(slice_equal(placement_accept(&fake.request), SLICE_LIT("application/json")));
    fake_request_header(&fake, "content-TYPE", SLICE_LIT("text/plain; charset=utf-8"));
    fake_request_header(&fake, "Accept", SLICE_LIT("*/*"));
    assert_true(slice_equal(placement_content_type(&fake.request), SLICE_LIT("text/plain")));
    assert_true(slice_equal(placement_accept(&fake.request), SLICE_LIT("application/json")));
    fake.headers[0].value =
        SLICE_LIT("text/plain ;x"); /* the blank counts, as in the Python service */
    assert_true(slice_equal(placement_content_type(&fake.request), SLICE_LIT("text/plain ")));
    fake.headers[0].value = SLICE_LIT(";x");
    fake.headers[1].value = SLICE_LIT("text/*");
    assert_true(slice_equal(placement_content_type(&fake.request), SLICE_LIT("None")));
    assert_true(slice_equal(placement_accept(&fake.request), SLICE_LIT("text/*")));
    fake_request_close(&fake);
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
