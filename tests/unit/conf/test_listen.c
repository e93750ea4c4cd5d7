/* Addresses of listeners. */
#include "conf/listen.h"
#include "unit.h"

static void accepted(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct conf_listen listen;
    assert_true(listen_parse(SLICE_LIT("127.0.0.1:8778"), arena, &listen));
    assert_string_equal(listen.host, "127.0.0.1");
    assert_int_equal(listen.port, 8778);
    assert_true(listen_is_loopback(&listen));
    assert_true(listen_parse(SLICE_LIT("[::1]:0"), arena, &listen));
    assert_string_equal(listen.host, "::1");
    assert_int_equal(listen.port, 0);
    assert_true(listen_is_loopback(&listen));
    assert_true(listen_parse(SLICE_LIT("localhost:65535"), arena, &listen));
    assert_true(listen_is_loopback(&listen));
    assert_true(listen_parse(SLICE_LIT("[::]:1"), arena, &listen));
    assert_false(listen_is_loopback(&listen));
    assert_true(listen_parse(SLICE_LIT("0.0.0.0:1"), arena, &listen));
    assert_false(listen_is_loopback(&listen));
    assert_true(listen_parse(SLICE_LIT("api.example.org:1"), arena, &listen));
    assert_false(listen_is_loopback(&listen));
    arena_destroy(arena);
}

static void schemes(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct conf_listen listen;
    assert_true(listen_parse(SLICE_LIT("http://127.0.0.1:80"), arena, &listen));
    assert_string_equal(listen.host, "127.0.0.1");
    assert_false(listen.tls);
    assert_true(listen_parse(SLICE_LIT("HTTPS://[::1]:443"), arena, &listen));
    assert_string_equal(listen.host, "::1");
    assert_int_equal(listen.port, 443);
    assert_true(listen.tls && listen.path == NULL);
    assert_true(listen_parse(SLICE_LIT("unix:/run/berth/api.sock"), arena, &listen));
    assert_string_equal(listen.path, "/run/berth/api.sock");
    assert_false(listen.tls);
    assert_true(listen_is_loopback(&listen));
    arena_destroy(arena);
}

static void refused(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",         "8778",     ":8778",       "a:",       "a:65536",         "a:-1",
        "a:1x",     "::1:8778", "[::1]",       "[]:1",     "[a]:1",           "a b:1",
        "a:000001", "/x:1",     "[1.2.3.4]:1", "https://", "https://a:1/",    "ftp://a:1",
        "unix:",    "unix:/",   "unix:a",      "unix:/a/", "https://unix:/a",
    };
    struct arena *arena = arena_create();
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct conf_listen listen;
        if (listen_parse(slice_of(texts[i]), arena, &listen))
            fail_msg("accepted: %s", texts[i]);
    }
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepted),
        cmocka_unit_test(schemes),
        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
