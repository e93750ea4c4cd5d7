/* What a URL and its option file make together: above all, how much of TLS is verified. */
#include "store/mariadb/session/login.h"
#include "store/mariadb/session/url.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static struct arena *arena;
static char path[] = "/tmp/berth-login-XXXXXX";

static int set_up(void **state)
{
    (void)state;
    arena = arena_create();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_destroy(arena);
    return 0;
}

static struct mariadb_url parse(const char *query)
{
    struct err err = {.arena = arena};
    struct mariadb_url url;
    struct slice text = arena_printf(arena, "mysql+pymysql://u:p@h/d%s", query);
    if (strncmp(query, "mysql", 5) == 0)
        text = slice_of(query);
    if (!mariadb_url_parse(text, SLICE_LIT(""), arena, &url, &err))
        fail_msg("%s", err.message.data);
    return url;
}

static struct mariadb_login login_of(const char *query)
{
    struct mariadb_url url = parse(query);
    struct mariadb_login login;
    struct slice reason = {0};
    if (!mariadb_login_read(&url, arena, &login, &reason))
        fail_msg("%s: %s", query, reason.data);
    return login;
}

static void test_verification(void **state)
{
    (void)state;
    static const struct {
        const char *query;
        enum mariadb_tls tls;
    } cases[] = {
        {"", MARIADB_TLS_OFF},
        {"?ssl_disabled=true", MARIADB_TLS_OFF},
        {"?ssl_disabled=false", MARIADB_TLS_OFF},
        {"?ssl_disabled=true&ssl_ca=/ca", MARIADB_TLS_OFF},
        {"?ssl_disabled=false&ssl_ca=/ca", MARIADB_TLS_HOST},
        {"?ssl_ca=/ca", MARIADB_TLS_HOST},
        {"?ssl_capath=/ca", MARIADB_TLS_HOST},
        {"?ssl_ca=/ca&ssl_cert=/c&ssl_key=/k", MARIADB_TLS_HOST},
        {"?ssl_ca=/ca&ssl_check_hostname=false", MARIADB_TLS_CHAIN},
        {"?ssl_ca=/ca&ssl_verify_identity=false", MARIADB_TLS_CHAIN},
        {"?ssl_ca=/ca&ssl_verify_cert=true", MARIADB_TLS_CHAIN},
        {"?ssl_ca=/ca&ssl_verify_cert=true&ssl_verify_identity=true", MARIADB_TLS_HOST},
        {"?ssl_ca=/ca&ssl_verify_cert=true&ssl_check_hostname=true", MARIADB_TLS_HOST},
        {"?ssl_ca=/ca&ssl_verify_cert=false", MARIADB_TLS_ENCRYPTED},
        {"?ssl_cert=/c&ssl_key=/k", MARIADB_TLS_ENCRYPTED},
        {"?ssl_cipher=x", MARIADB_TLS_ENCRYPTED},
        {"?ssl_check_hostname=false", MARIADB_TLS_ENCRYPTED},
        {"?ssl_verify_cert=false", MARIADB_TLS_ENCRYPTED},
        {"?ssl_verify_identity=false", MARIADB_TLS_ENCRYPTED},
        {"?ssl_ca=/ca&unix_socket=/s", MARIADB_TLS_CHAIN},
        {"mysql://h/d?ssl_mode=DISABLED&ssl_ca=/ca", MARIADB_TLS_OFF},
        {"mysql://h/d?ssl_mode=REQUIRED&ssl_ca=/ca", MARIADB_TLS_ENCRYPTED},
        {"mysql://h/d?ssl_mode=PREFERRED", MARIADB_TLS_OFF},
        {"mysql://h/d?ssl_mode=PREFERRED&ssl_ca=/ca", MARIADB_TLS_CHAIN},
        {"mysql://h/d?ssl_mode=VERIFY_CA&ssl_ca=/ca", MARIADB_TLS_CHAIN},
        {"mysql://h/d?ssl_mode=VERIFY_IDENTITY&ssl_ca=/ca", MARIADB_TLS_HOST},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct mariadb_login login = login_of(cases[i].query);
        if (login.tls != cases[i].tls)
            print_error("%s\n", cases[i].query);
        assert_int_equal(login.tls, cases[i].tls);
        bool has_ca = login.ssl_ca != NULL || login.ssl_capath != NULL;
        assert_int_equal(has_ca, login.tls >= MARIADB_TLS_CHAIN);
    }
    assert_string_equal(login_of("?ssl_cert=/c&ssl_key=/k").ssl_cert, "/c");
    assert_null(login_of("?ssl_cert=/c&ssl_disabled=1").ssl_cert);
}

/* Without a CA, the certificate is verified by those of the system, if it has any. */
static void test_ca_of_the_system(void **state)
{
    (void)state;
    static const char *const queries[] = {"?ssl_verify_cert=true", "?ssl_verify_identity=true",
                                          "?ssl_check_hostname=true"};
    for (size_t i = 0; i < 3; i++) {
        struct mariadb_url url = parse(queries[i]);
        struct mariadb_login login;
        struct slice reason = {0};
        if (mariadb_login_read(&url, arena, &login, &reason)) {
            assert_int_equal(login.tls, i == 0 ? MARIADB_TLS_CHAIN : MARIADB_TLS_HOST);
            assert_int_equal(access(login.ssl_ca, R_OK), 0);
        } else {
            assert_non_null(strstr(reason.data, "write ssl_ca=FILE"));
        }
    }
}

static void write_file(const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void test_option_file(void **state)
{
    (void)state;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    const char *query = arena_printf(arena, "?read_default_file=%s", path).data;
    write_file("[client]\nssl=1\nssl-ca=/ca\nssl-cert=/c\nssl-key=/k\nuser=x\nhost=y\nport=3307");
    struct mariadb_login login = login_of(query);
    assert_int_equal(login.tls, MARIADB_TLS_HOST);
    assert_string_equal(login.ssl_ca, "/ca");
    assert_string_equal(login.ssl_cert, "/c");
    assert_string_equal(login.user, "u");
    assert_string_equal(login.host, "h");
    assert_int_equal(login.port, 3307);
    /* what the URL does not have */
    query = arena_printf(arena, "mysql://?read_default_file=%s", path).data;
    login = login_of(query);
    assert_string_equal(login.user, "x");
    assert_string_equal(login.host, "y");
    write_file("[client]\nsocket=/s\nhost=y\ndatabase=e\n[g]\nssl=0\n");
    login = login_of(query);
    assert_string_equal(login.unix_socket, "/s");
    assert_null(login.host);
    assert_string_equal(login.database, "e");
    query = arena_printf(arena, "?read_default_file=%s&read_default_group=g", path).data;
    assert_int_equal(login_of(query).tls, MARIADB_TLS_OFF);
    assert_int_equal(login_of(query).port, 3306);
    static const char *const wrong[] = {"[g]\nport=x\n", "[g]\nport=-1\n", "[g]\nport=70000\n"};
    for (size_t i = 0; i < 3; i++) {
        write_file(wrong[i]);
        struct mariadb_url url = parse(query);
        struct slice reason = {0};
        assert_false(mariadb_login_read(&url, arena, &login, &reason));
        assert_string_equal(reason.data,
                            "the port of the option file is not a number from 1 to 65535");
    }
    write_file("[client]\nhost=a,b\n");
    struct mariadb_url url = parse(arena_printf(arena, "mysql://?read_default_file=%s", path).data);
    struct slice reason = {0};
    assert_false(mariadb_login_read(&url, arena, &login, &reason));
    unlink(path);
    assert_false(mariadb_login_read(&url, arena, &login, &reason));
}

static void test_files(void **state)
{
    (void)state;
    struct slice reason = {0};
    struct mariadb_login login = login_of("?ssl_ca=/dev/null&ssl_cert=/dev/null&ssl_key=/dev/null");
    assert_true(mariadb_login_check_files(&login, arena, &reason));
    login = login_of("?ssl_ca=/dev/null&ssl_cert=/nowhere&ssl_key=/dev/null");
    assert_false(mariadb_login_check_files(&login, arena, &reason));
    assert_string_equal(reason.data,
                        "the ssl_cert /nowhere cannot be read: No such file or directory");
    login = login_of("?ssl_ca=/nowhere&ssl_disabled=1");
    assert_true(mariadb_login_check_files(&login, arena, &reason));
}

static void test_defaults(void **state)
{
    (void)state;
    struct mariadb_login login = login_of("mysql://");
    assert_string_equal(login.host, "localhost");
    assert_int_equal(login.port, 3306);
    assert_null(login.user);
    login = login_of("mysql://h/d?unix_socket=/s");
    assert_null(login.host);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_verification), TEST(test_ca_of_the_system), TEST(test_option_file),
        TEST(test_files),        TEST(test_defaults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
