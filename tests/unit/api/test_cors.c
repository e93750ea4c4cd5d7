/* Cross-origin requests: permitted origins, answers to preflights, and headers of other answers. */
#include "api/api.h"
#include "api/cors.h"

#include "api/fake_request.h"
#include "baremetal/api/definition.h"
#include "unit.h"

static const struct slice ORIGINS[] = {SLICE_LIT("https://a.example"),
                                       SLICE_LIT("https://b.example")};
static const struct slice ANY[] = {SLICE_LIT("*")};
static const struct slice METHODS[] = {SLICE_LIT("GET"), SLICE_LIT("PUT")};
static const struct slice HEADERS[] = {SLICE_LIT("X-Auth-Token")};

static const struct api NO_CORS = {0};
static const struct api CORS = {.cors = {.allowed_origins = {ORIGINS, 2},
                                         .allow_methods = {METHODS, 2},
                                         .allow_headers = {HEADERS, 1},
                                         .expose_headers = SLICE_LIT("X-One,X-Two"),
                                         .allow_credentials = true,
                                         .max_age_s = 3600}};
static const struct api CORS_FOR_ALL = {
    .cors = {.allowed_origins = {ANY, 1}, .allow_methods = {METHODS, 2}}};

/* An OPTIONS request; NULL: without that header. */
static void ask(struct fake_request *fake, const struct api *api, const char *origin,
                const char *method, const char *headers)
{
    fake_request_open(fake, api);
    fake->exchange.http.method = SLICE_LIT("OPTIONS");
    if (origin != NULL)
        fake_request_header(fake, "Origin", slice_of(origin));
    if (method != NULL)
        fake_request_header(fake, "Access-Control-Request-Method", slice_of(method));
    if (headers != NULL)
        fake_request_header(fake, "Access-Control-Request-Headers", slice_of(headers));
}

static void good_preflight(void **state)
{
    (void)state;
    struct fake_request fake;
    ask(&fake, &CORS, "https://b.example", "PUT", "x-auth-token, ,content-type");
    assert_true(cors_answer_preflight(&fake.request));
    assert_true(fake.passage.is_preflight);
    assert_int_equal(fake.request.status, 200);
    assert_int_equal(fake.exchange.http.out.len, 0);
    fake_request_expect_header(&fake, "Access-Control-Allow-Origin", "https://b.example");
    fake_request_expect_header(&fake, "Access-Control-Allow-Credentials", "true");
    fake_request_expect_header(&fake, "Access-Control-Max-Age", "3600");
    fake_request_expect_header(&fake, "Access-Control-Allow-Methods", "PUT");
    fake_request_expect_header(&fake, "Access-Control-Allow-Headers", "x-auth-token,content-type");
    fake_request_expect_header(&fake, "vary", "Origin");
    fake_request_expect_header(&fake, "Access-Control-Expose-Headers", NULL);
    assert_false(cors_is_allowed(&fake.request)); /* the answer is complete */
    fake_request_close(&fake);
    ask(&fake, &CORS_FOR_ALL, "https://c.example", "GET", NULL);
    assert_true(cors_answer_preflight(&fake.request));
    fake_request_expect_header(&fake, "Access-Control-Allow-Origin", "*");
    fake_request_expect_header(&fake, "Access-Control-Allow-Credentials", NULL);
    fake_request_expect_header(&fake, "Access-Control-Max-Age", NULL);
    fake_request_expect_header(&fake, "Access-Control-Allow-Headers", NULL);
    fake_request_close(&fake);
}

/* They are 200, too, but permit nothing. */
static void bad_preflights(void **state)
{
    (void)state;
    static const struct {
        const char *origin;
        const char *method;
        const char *headers;
    } CASES[] = {
        {NULL, "GET", NULL},
        {"https://c.example", "GET", NULL},
        {"https://A.example", "GET", NULL}, /* compared case-sensitively */
        {"*", "GET", NULL},
        {"https://a.example", NULL, NULL},
        {"https://a.example", "DELETE", NULL},
        {"https://a.example", "get", NULL},
        {"https://a.example", "GET", "X-Auth-Token,X-Other"},
    };
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        struct fake_request fake;
        ask(&fake, &CORS, CASES[i].origin, CASES[i].method, CASES[i].headers);
        assert_true(cors_answer_preflight(&fake.request));
        assert_int_equal(fake.request.status, 200);
        assert_int_equal(fake.exchange.http.response_header_count, 0);
        fake_request_close(&fake);
    }
}

/* An API whose clients need headers of their own, whatever is configured. */
static void headers_of_an_api(void **state)
{
    (void)state;
    static const char VERSION[] = "x-openstack-ironic-api-version";
    struct fake_request fake;
    ask(&fake, &CORS_FOR_ALL, "https://c.example", "GET", VERSION);
    fake.request.definition = &baremetal_definition;
    assert_true(cors_answer_preflight(&fake.request));
    fake_request_expect_header(&fake, "Access-Control-Allow-Headers", VERSION);
    fake_request_close(&fake);
    ask(&fake, &CORS_FOR_ALL, "https://c.example", "GET", "x-auth-token,x-other");
    fake.request.definition = &baremetal_definition;
    assert_true(cors_answer_preflight(&fake.request));
    fake_request_expect_header(&fake, "Access-Control-Allow-Origin", NULL);
    fake_request_close(&fake);
    ask(&fake, &CORS, "https://a.example", NULL, NULL);
    fake.exchange.http.method = SLICE_LIT("GET");
    fake.request.definition = &baremetal_definition;
    cors_add_headers(&fake.request);
    fake_request_expect_header(
        &fake, "Access-Control-Expose-Headers",
        "X-One,X-Two,X-Auth-Token,X-OpenStack-Ironic-API-Version,"
        "X-OpenStack-Ironic-API-Minimum-Version,X-OpenStack-Ironic-API-Maximum-Version");
    fake_request_close(&fake);
}

static void not_preflights(void **state)
{
    (void)state;
    struct fake_request fake;
    ask(&fake, &NO_CORS, "https://a.example", "GET", NULL);
    assert_false(cors_answer_preflight(&fake.request));
    assert_false(cors_is_allowed(&fake.request));
    fake_request_close(&fake);
    ask(&fake, &CORS, "https://a.example", "GET", NULL);
    fake.exchange.http.method = SLICE_LIT("GET");
    assert_false(cors_answer_preflight(&fake.request));
    assert_true(cors_is_allowed(&fake.request));
    cors_add_headers(&fake.request);
    fake_request_expect_header(&fake, "Access-Control-Allow-Origin", "https://a.example");
    fake_request_expect_header(&fake, "Access-Control-Allow-Credentials", "true");
    fake_request_expect_header(&fake, "Access-Control-Expose-Headers", "X-One,X-Two");
    fake_request_expect_header(&fake, "Access-Control-Allow-Methods", NULL);
    fake_request_close(&fake);
    ask(&fake, &CORS, "https://c.example", NULL, NULL);
    fake.exchange.http.method = SLICE_LIT("GET");
    assert_false(cors_is_allowed(&fake.request));
    fake_request_close(&fake);
    ask(&fake, &CORS_FOR_ALL, NULL, NULL, NULL);
    fake.exchange.http.method = SLICE_LIT("GET");
    assert_false(cors_is_allowed(&fake.request)); /* no origin: not a browser */
    fake_request_close(&fake);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_preflight),
        cmocka_unit_test(bad_preflights),
        cmocka_unit_test(headers_of_an_api),
        cmocka_unit_test(not_preflights),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
