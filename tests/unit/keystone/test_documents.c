/* Version documents and answers to logins. */
#include "keystone/documents.h"

#include "unit.h"

static struct arena *arena;

static int setup(void **state)
{
    (void)state;
    arena = arena_create();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_destroy(arena);
    return 0;
}

static void expect_v3(const char *body, const char *url)
{
    struct slice found = keystone_document_find_v3(arena, "http://k:5000", slice_of(body));
    if (url == NULL) {
        assert_null(found.data);
        return;
    }
    assert_non_null(found.data);
    assert_string_equal(found.data, url);
}

#define VERSION(id, status, href)                                                                  \
    "{\"id\": \"" id "\", \"status\": \"" status "\", \"links\": [{\"rel\": \"collection\", "      \
    "\"href\": \"http://k:5000/no\"}, {\"rel\": \"self\", \"href\": \"" href "\"}]}"

static void finds_v3(void **state)
{
    (void)state;
    const char *v3 = "http://k:5000/v3/";
    expect_v3("{\"versions\": {\"values\": [" VERSION("v3.14", "stable", "http://k:5000/v3/") "]}}",
              v3);
    expect_v3("{\"versions\": [" VERSION("v3.14", "CURRENT", "http://k:5000/v3/") "]}", v3);
    expect_v3("{\"version\": " VERSION("v3", "supported", "/v3/") "}", v3);
    expect_v3("{\"versions\": [" VERSION("v2.0", "deprecated",
                                         "/v2.0/") ", " VERSION("v3.2", "deprecated", "/v3/") "]}",
              v3);
    /* the newest that may be used */
    expect_v3("{\"versions\": [" VERSION("v3.9", "stable", "/old/") ", " VERSION(
                  "v3.10", "stable", "/v3/") ", " VERSION("v3.11", "experimental",
                                                          "/x/") ", " VERSION("v4", "stable",
                                                                              "/v4/") "]}",
              v3);
}

static void finds_none(void **state)
{
    (void)state;
    expect_v3("", NULL);
    expect_v3("<html></html>", NULL);
    expect_v3("[]", NULL);
    expect_v3("{}", NULL);
    expect_v3("{\"versions\": 3}", NULL);
    expect_v3("{\"versions\": [3, null, {}]}", NULL);
    expect_v3("{\"version\": " VERSION("v2.0", "stable", "/v2.0/") "}", NULL);
    expect_v3("{\"version\": " VERSION("v3.x", "stable", "/v3/") "}", NULL);
    expect_v3("{\"version\": " VERSION("v30", "stable", "/v30/") "}", NULL);
    expect_v3("{\"version\": " VERSION("v3", "unheard of", "/v3/") "}", NULL);
    expect_v3("{\"version\": {\"id\": \"v3\", \"status\": \"stable\"}}", NULL);
    expect_v3(
        "{\"version\": {\"id\": \"v3\", \"status\": \"stable\", \"links\": [{\"rel\": \"self\"}]}}",
        NULL);
}

static const char LOGIN[] =
    "{\"token\": {\"issued_at\": \"2026-11-21T17:14:47.000000Z\", \"expires_at\": "
    "\"2026-11-21T18:14:47.000000Z\", \"catalog\": ["
    "{\"type\": \"compute\", \"endpoints\": [{\"interface\": \"internal\", \"region\": \"One\", "
    "\"url\": \"http://nova\"}]}, {\"type\": \"identity\", \"endpoints\": ["
    "{\"interface\": \"public\", \"region_id\": \"One\", \"url\": \"http://public/v3\"}, "
    "{\"interface\": \"internal\", \"region_id\": \"One\", \"url\": \"\"}, "
    "{\"interface\": \"internal\", \"region_id\": \"One\", \"region\": \"Two\", "
    "\"url\": \"http://one/v3\"}, "
    "{\"interface\": \"internal\", \"region\": \"Two\", \"url\": \"http://two/v3\"}]}]}}";

static void expect_endpoint(const char *interface, const char *region, const char *url)
{
    const struct keystone_endpoint_wish wish = {interface, region};
    struct keystone_login login;
    const char *why;
    assert_true(keystone_document_read_login(arena, slice_of(LOGIN), &wish, &login, &why));
    assert_int_equal(login.life_us, 3600LL * 1000000);
    if (url == NULL)
        assert_null(login.endpoint.data);
    else
        assert_string_equal(login.endpoint.data, url);
}

static void endpoints(void **state)
{
    (void)state;
    expect_endpoint("internal", NULL, "http://one/v3");
    expect_endpoint("internal", "One", "http://one/v3");
    expect_endpoint("internal", "Two", "http://two/v3");
    expect_endpoint("public", NULL, "http://public/v3");
    expect_endpoint("public", "Two", NULL);
    expect_endpoint("admin", NULL, NULL);
}

static void logins(void **state)
{
    (void)state;
    const struct keystone_endpoint_wish wish = {"internal", NULL};
    static const struct {
        const char *body;
        const char *why;
    } NONE[] = {
        {"", "it is not valid JSON"},
        {"{", "it is not valid JSON"},
        {"[]", "it has no token"},
        {"{\"token\": \"x\"}", "it has no token"},
        {"{\"token\": {}}", "its token has no expiry time"},
        {"{\"token\": {\"expires_at\": \"x\"}}", "its token has no expiry time"},
    };
    struct keystone_login login;
    const char *why;
    for (size_t i = 0; i < sizeof(NONE) / sizeof(NONE[0]); i++) {
        assert_false(
            keystone_document_read_login(arena, slice_of(NONE[i].body), &wish, &login, &why));
        assert_string_equal(why, NONE[i].why);
    }
    /* without a time of issue the lifetime counts from now; without a catalog there is no endpoint
     */
    static const char BARE[] = "{\"token\": {\"expires_at\": \"2000-01-01T00:00:00Z\"}}";
    assert_true(keystone_document_read_login(arena, slice_of(BARE), &wish, &login, &why));
    assert_true(login.life_us < 0);
    assert_null(login.endpoint.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(finds_v3, setup, teardown),
        cmocka_unit_test_setup_teardown(finds_none, setup, teardown),
        cmocka_unit_test_setup_teardown(endpoints, setup, teardown),
        cmocka_unit_test_setup_teardown(logins, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
