/* URLs of Keystone, formed as in keystoneauth. */
#include "keystone/url.h"

#include "unit.h"

static void usable(void **state)
{
    (void)state;
    static const char *const GOOD[] = {"http://keystone", "https://keystone:5000/v3/",
                                       "HTTP://[::1]:35357/identity", "http://10.0.0.1/a/b"};
    static const char *const BAD[] = {"",
                                      "keystone:5000",
                                      "ftp://keystone/",
                                      "http://",
                                      "http:///v3",
                                      "http://a b/",
                                      "http://a/\n",
                                      "//keystone",
                                      "http://a:b/",
                                      "http://u:p@k/",
                                      "http://u@k/",
                                      "http://k\xc3\xa4/"};
    for (size_t i = 0; i < sizeof(GOOD) / sizeof(GOOD[0]); i++)
        if (!keystone_url_is_usable(GOOD[i]))
            fail_msg("%s", GOOD[i]);
    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++)
        if (keystone_url_is_usable(BAD[i]))
            fail_msg("%s", BAD[i]);
}

static void versions(void **state)
{
    (void)state;
    static const struct {
        const char *url;
        bool is_v3;
        bool begins;
        const char *without;
    } CASES[] = {
        {"http://k:5000", false, false, "http://k:5000"},
        {"http://k:5000/", false, false, "http://k:5000/"},
        {"http://k:5000/v3", true, true, "http://k:5000/"},
        {"http://k:5000/v3/", true, true, "http://k:5000/"},
        {"http://k:5000/v3.14", true, true, "http://k:5000/"},
        {"http://k/identity/v3", true, false, "http://k/identity/"},
        {"http://k/identity", false, false, "http://k/identity"},
        {"http://k:5000/v2.0", false, false, "http://k:5000/"},
        {"http://k/V3", false, true, "http://k/V3"},
        {"http://k/v33", false, true, "http://k/"},
        {"http://k/v", false, false, "http://k/v"},
        {"http://k/v.3", false, false, "http://k/v.3"},
        {"http://k/v3.", false, true, "http://k/v3."},
        {"http://k/v3x", false, true, "http://k/v3x"},
    };
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        struct slice without = keystone_url_without_version(slice_of(CASES[i].url));
        if (keystone_url_is_v3(slice_of(CASES[i].url)) != CASES[i].is_v3 ||
            keystone_url_begins_with_v3(CASES[i].url) != CASES[i].begins ||
            !slice_equal(without, slice_of(CASES[i].without)))
            fail_msg("%s", CASES[i].url);
    }
}

static void tokens(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    static const struct {
        const char *url;
        const char *tokens;
    } CASES[] = {
        {"http://k:5000", "http://k:5000/v3/auth/tokens"},
        {"http://k:5000///", "http://k:5000/v3/auth/tokens"},
        {"http://k:5000/v3", "http://k:5000/v3/auth/tokens"},
        {"http://k:5000/v3/", "http://k:5000/v3/auth/tokens"},
        {"http://k/identity", "http://k/identity/v3/auth/tokens"},
        {"http://k/identity/v3/", "http://k/identity/v3/auth/tokens"},
    };
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++)
        assert_string_equal(keystone_url_of_tokens(arena, slice_of(CASES[i].url)).data,
                            CASES[i].tokens);
    arena_destroy(arena);
}

/* As keystoneauth1.discover answers for the same documents, except for a slash at the end. */
static void links(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    static const struct {
        const char *document;
        const char *href;
        const char *url;
    } CASES[] = {
        {"http://k:5000", "http://k:5000/v3/", "http://k:5000/v3/"},
        {"http://k:5000/", "v3/", "http://k:5000/v3/"},
        {"http://k/identity", "v3", "http://k/identity/v3"},
        {"http://k/identity", "/identity/v3/", "http://k/identity/v3/"},
        /* scheme and host are the document's; if the host differs only the version counts */
        {"https://k/identity", "http://k/identity/v3/", "https://k/identity/v3/"},
        {"https://k/identity", "http://10.0.0.1:5000/v3/", "https://k/identity/v3/"},
        {"http://k:5000/v3", "http://other/x/v3/", "http://k:5000/v3/"},
        {"http://k:5000", "http://other/v3", "http://k:5000/v3"},
    };
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        struct slice url = keystone_url_of_link(arena, CASES[i].document, CASES[i].href);
        assert_non_null(url.data);
        assert_string_equal(url.data, CASES[i].url);
    }
    assert_null(keystone_url_of_link(arena, "http://k", "http://[bad").data);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(usable),
        cmocka_unit_test(versions),
        cmocka_unit_test(tokens),
        cmocka_unit_test(links),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
