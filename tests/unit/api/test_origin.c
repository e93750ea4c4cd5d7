/* The client's address and the URL it used, including proxies. */
#include "api/api.h"
#include "api/fake_request.h"
#include "api/origin.h"
#include "base/arena.h"
#include "unit.h"

struct sent {
    const char *name, *value;
};

static const struct api API = {0};

static void check_origin(const struct sent *sent, bool trust, const char *url, const char *address,
                         const char *prefix)
{
    struct fake_request fake;
    fake_request_open(&fake, &API);
    for (; sent->name != NULL; sent++)
        fake_request_header(&fake, sent->name, slice_of(sent->value));
    struct api_request *request = &fake.request;
    request->origin = origin_read(request, trust);
    struct slice absolute = origin_absolute(request, SLICE_LIT("/x"));
    assert_string_equal(arena_copy(fake.arena, absolute).data, url);
    assert_string_equal(arena_copy(fake.arena, request->origin.address).data, address);
    assert_string_equal(arena_copy(fake.arena, request->origin.prefix).data, prefix);
    fake_request_close(&fake);
}

#define SENT(...) ((const struct sent[]){__VA_ARGS__, {NULL, NULL}})
#define PEER      "192.0.2.1"

static void no_proxy(void **state)
{
    (void)state;
    check_origin(SENT({"Host", "api:8778"}), false, "http://api:8778/x", PEER, "");
    check_origin(SENT({"host", "api:80"}), false, "http://api/x", PEER, "");
    check_origin(SENT({"Host", "api:443"}), false, "http://api:443/x", PEER, "");
    check_origin(SENT({"Accept", "x"}), false, "/x", PEER, "");
    check_origin(SENT({"Host", ""}), false, "/x", PEER, "");
    check_origin(SENT({"Host", "a"}, {"Forwarded", "host=b;for=c;proto=https"},
                      {"X-Forwarded-Host", "d"}, {"X-Forwarded-Prefix", "/p"}),
                 false, "http://a/x", PEER, "");
}

static void forwarded(void **state)
{
    (void)state;
    check_origin(SENT({"Host", "a"}, {"Forwarded", "for=1.2.3.4;proto=https;host=pub:443"}), true,
                 "https://pub/x", "1.2.3.4", "");
    check_origin(SENT({"Host", "a"}, {"Forwarded", " For = 1.2.3.4 ; by=z;; PROTO=https, host=no"}),
                 true, "https://a/x", "1.2.3.4", "");
    check_origin(SENT({"Host", "a"}, {"Forwarded", "host=;proto"}), true, "http://a/x", PEER, "");
    check_origin(SENT({"Host", "a"}, {"Forwarded", "host=b"}, {"X-Forwarded-Host", "c"},
                      {"X-Forwarded-Prefix", "/p/"}),
                 true, "http://b/x", PEER, "/p");
}

static void x_forwarded(void **state)
{
    (void)state;
    check_origin(SENT({"Host", "a"}, {"X-Forwarded-Proto", "https"}, {"X-Forwarded-Host", "pub"},
                      {"X-Forwarded-For", "1.2.3.4"}),
                 true, "https://pub/x", "1.2.3.4", "");
    check_origin(SENT({"Host", "a"}, {"X-Forwarded-Port", "8443"}), true, "http://a:8443/x", PEER,
                 "");
    check_origin(SENT({"Host", "a:1"}, {"X-Forwarded-Port", "2"}), true, "http://a:1/x", PEER, "");
    check_origin(SENT({"Host", "[::1]"}, {"X-Forwarded-Port", "2"}), true, "http://[::1]:2/x", PEER,
                 "");
    check_origin(SENT({"Host", "[::1]:3"}, {"X-Forwarded-Port", "2"}), true, "http://[::1]:3/x",
                 PEER, "");
    check_origin(SENT({"Accept", "x"}, {"X-Forwarded-Port", "2"}), true, "/x", PEER, "");
    check_origin(SENT({"Host", "a"}, {"X-Forwarded-Proto", "https"}, {"X-Forwarded-Port", "443"}),
                 true, "https://a/x", PEER, "");
    check_origin(SENT({"Host", "a"}, {"X-Forwarded-Prefix", "///"}), true, "http://a/x", PEER, "");
}

/* Characters that are not allowed in a URL do not appear in Location. */
static void only_visible(void **state)
{
    (void)state;
    check_origin(SENT({"Host", "a b\tc\x7f\x01\xc3\xa4"}), false, "http://abc/x", PEER, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_proxy),
        cmocka_unit_test(forwarded),
        cmocka_unit_test(x_forwarded),
        cmocka_unit_test(only_visible),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
