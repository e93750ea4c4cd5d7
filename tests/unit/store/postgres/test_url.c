/* Database URLs of PostgreSQL: libpq's parameters, the target in messages, and refusals without
 * secrets. tests/databases/urls.py compares the parameters with SQLAlchemy's. */
#include "store/postgres/session/url.h"
#include "unit.h"

#include <stdio.h>

#include "base/buf.h"

/* The parameters as "name=value|name=value", in libpq's order; the message, if refused. */
static const char *parse(struct arena *arena, struct slice url, const char *parameters,
                         struct pg_url *parsed)
{
    struct err err = {.arena = arena};
    if (!pg_url_parse(url, slice_of(parameters), arena, parsed, &err)) {
        assert_int_equal(err.status, 503);
        assert_null(memchr(err.message.data, '\n', err.message.len));
        return err.message.data;
    }
    assert_false(err_is_set(&err));
    assert_null(parsed->keywords[parsed->count]);
    assert_null(parsed->values[parsed->count]);
    struct buf out = {0};
    for (size_t i = 0; i < parsed->count; i++) {
        assert_string_not_equal(parsed->values[i], "");
        buf_printf(&out, "%s%s=%s", i > 0 ? "|" : "", parsed->keywords[i], parsed->values[i]);
    }
    struct slice text = arena_copy(arena, buf_slice(&out));
    buf_free(&out);
    return text.data;
}

static void expect_with(const char *url, const char *parameters, const char *expected,
                        const char *target)
{
    struct arena *arena = arena_create();
    struct pg_url parsed = {0};
    const char *found = parse(arena, slice_of(url), parameters, &parsed);
    if (strcmp(found, expected) != 0)
        print_error("%s\n", url);
    assert_string_equal(found, expected);
    if (target != NULL)
        assert_string_equal(parsed.target.data, target);
    else
        assert_null(parsed.keywords);
    arena_destroy(arena);
}

static void expect(const char *url, const char *expected, const char *target)
{
    expect_with(url, "", expected, target);
}

static void expect_refusal(const char *url, const char *message)
{
    expect_with(url, "", message, NULL);
}

static void test_user_host_database(void **state)
{
    (void)state;
    expect("postgresql://", "", "postgresql:///");
    expect("postgresql:///placement", "dbname=placement", "postgresql:///placement");
    expect("postgresql://u:p@h:5432/db", "user=u|password=p|dbname=db|host=h|port=5432",
           "postgresql://u@h:5432/db");
    expect("postgresql+psycopg2://h", "host=h", "postgresql://h");
    expect("postgresql+psycopg2cffi://h", "host=h", "postgresql://h");
    expect("postgresql+psycopg://h/d", "dbname=d|host=h", "postgresql://h/d");
    expect("postgresql://u@h:0/a/b", "user=u|dbname=a/b|host=h", "postgresql://u@h/a/b");
    expect("postgresql://:p@h/", "password=p|host=h", "postgresql://h");
    expect("postgresql://u:@h/d%20e", "user=u|dbname=d%20e|host=h", "postgresql://u@h/d%20e");
    expect("postgresql://u@corp@h/d", "user=u@corp|dbname=d|host=h", "postgresql://u%40corp@h/d");
    expect("postgresql://h:5432?sslmode=require", "host=h|port=5432|sslmode=require",
           "postgresql://h:5432");
}

static void test_encoded_text(void **state)
{
    (void)state;
    expect("postgresql://a%40b%3a:p%40%2F%3F%25@h/d", "user=a@b:|password=p@/?%|dbname=d|host=h",
           "postgresql://a%40b%3A@h/d");
    expect("postgresql://u:p+q/r?s:t@h/d", "user=u|password=p+q/r?s:t|dbname=d|host=h",
           "postgresql://u@h/d");
    expect("postgresql://u:p%C3%A9\xc3\xa9@h/d",
           "user=u|password=p\xc3\xa9\xc3\xa9|dbname=d|host=h", "postgresql://u@h/d");
    /* as Python's unquote(): what is no percent-encoding stays */
    expect("postgresql://u%zz:p%4@h/d", "user=u%zz|password=p%4|dbname=d|host=h",
           "postgresql://u%zz@h/d");
    expect("postgresql://u:100%@h/d", "user=u|password=100%|dbname=d|host=h", "postgresql://u@h/d");
    expect("postgresql://a b@h/d\n", "user=a b|dbname=d\n|host=h", "postgresql://a%20b@h/d%0A");
}

static void test_ipv6(void **state)
{
    (void)state;
    expect("postgresql://[::1]:5432/d", "dbname=d|host=::1|port=5432", "postgresql://[::1]:5432/d");
    expect("postgresql://u:p@[2001:db8::7]/d", "user=u|password=p|dbname=d|host=2001:db8::7",
           "postgresql://u@[2001:db8::7]/d");
    expect("postgresql://[fe80::1%eth0]/d", "dbname=d|host=fe80::1%eth0",
           "postgresql://[fe80::1%eth0]/d");
}

static void test_sockets(void **state)
{
    (void)state;
    expect("postgresql://u:p@/d?host=/var/run/postgresql",
           "user=u|password=p|dbname=d|host=/var/run/postgresql",
           "postgresql://u@/d?host=/var/run/postgresql");
    expect("postgresql:///d?host=%2Frun%2Fpg&port=5433", "dbname=d|host=/run/pg|port=5433",
           "postgresql:///d?host=/run/pg&port=5433");
    expect("postgresql:///d?host=@abstract", "dbname=d|host=@abstract",
           "postgresql:///d?host=@abstract");
    expect("postgresql:///d?service=cloud", "service=cloud|dbname=d",
           "postgresql:///d?service=cloud");
    expect("postgresql:///d?hostaddr=10.0.0.1", "dbname=d|hostaddr=10.0.0.1",
           "postgresql:///d?hostaddr=10.0.0.1");
}

static void test_several_hosts(void **state)
{
    (void)state;
    expect("postgresql://u@/d?host=a:5432&host=b:5433", "user=u|dbname=d|host=a,b|port=5432,5433",
           "postgresql://u@a:5432,b:5433/d");
    expect("postgresql:///d?host=a&host=b:2&host=c", "dbname=d|host=a,b,c|port=,2,",
           "postgresql://a,b:2,c/d");
    expect("postgresql:///d?host=a,b&port=1,2&target_session_attrs=read-write",
           "dbname=d|host=a,b|port=1,2|target_session_attrs=read-write", "postgresql://a:1,b:2/d");
    expect("postgresql://a,b/d?port=5433", "dbname=d|host=a,b|port=5433",
           "postgresql://a:5433,b:5433/d");
    expect("postgresql:///d?host=::1,b&port=1,2", "dbname=d|host=::1,b|port=1,2",
           "postgresql://[::1]:1,b:2/d");
    expect("postgresql:///d?host=a:5433", "dbname=d|host=a|port=5433", "postgresql://a:5433/d");
    expect("postgresql://x:1/d?host=a:", "dbname=d|host=a|port=1", "postgresql://a:1/d");
    expect("postgresql:///d?host=a:5&port=6", "dbname=d|host=a:5|port=6", "postgresql://[a:5]:6/d");
    expect("postgresql:///d?host=::1", "dbname=d|host=::1", "postgresql://[::1]/d");
    expect("postgresql:///d?host=/run:5", "dbname=d|host=/run:5", "postgresql:///d?host=/run:5");
    expect_refusal("postgresql://h:1/d?host=a&host=b",
                   "the database connection has several hosts and a port: write host=A,B&port=1,2 "
                   "or host=A:1&host=B:2");
    expect_refusal("postgresql:///d?host=[::1]:5&host=b",
                   "a host of the database connection has more than one \":\": for IPv6 addresses, "
                   "write host=ADDRESS,ADDRESS&port=PORT,PORT");
}

static void test_parameters(void **state)
{
    (void)state;
    expect("postgresql://h/d?sslmode=verify-full&sslrootcert=/ca.pem&sslcert=%2Fc.pem&sslkey=/k",
           "dbname=d|host=h|sslmode=verify-full|sslcert=/c.pem|sslkey=/k|sslrootcert=/ca.pem",
           "postgresql://h/d");
    expect("postgresql://h/d?options=-c+statement_timeout%3D5s&connect_timeout=3&keepalives_idle=9",
           "connect_timeout=3|dbname=d|host=h|options=-c statement_timeout=5s|keepalives_idle=9",
           "postgresql://h/d");
    expect("postgresql://h/d?client_encoding=latin1&application_name=a+b",
           "dbname=d|host=h|client_encoding=latin1|application_name=a b", "postgresql://h/d");
    expect("postgresql://h/d?sslmode=&connect_timeout&&=&x", "dbname=d|host=h", "postgresql://h/d");
    expect("postgresql://u:p@h:1/d?user=v&password=q&host=i&port=2&database=e",
           "user=v|password=q|dbname=e|host=i|port=2", "postgresql://v@i:2/e");
    expect("postgresql:///?dbname=e", "dbname=e", "postgresql:///e");
    expect_refusal("postgresql://h/d?dbname=e",
                   "the parameter \"dbname\" of the database connection is given twice");
    expect_refusal("postgresql://h/d?sslmode=a&sslmode=a",
                   "the parameter \"sslmode\" of the database connection is given twice");
    expect_refusal("postgresql://h/d?plugin=x",
                   "the parameter \"plugin\" of the database connection is not one of libpq's");
    expect_refusal("postgresql://h/d?async_=1",
                   "the parameter \"async_\" of the database connection is not one of libpq's");
    expect_refusal("postgresql://h/d?%20sslmode=x",
                   "a parameter of the database connection is not one of libpq's");
}

static void test_connection_parameters(void **state)
{
    (void)state;
    expect_with("postgresql://h/d?connect_timeout=3", "sslmode=require&options=-c%20a%3Db",
                "connect_timeout=3|dbname=d|host=h|options=-c a=b|sslmode=require",
                "postgresql://h/d");
    expect_with("postgresql:///d?host=a", "&host=b:2&", "dbname=d|host=a,b|port=,2",
                "postgresql://a,b:2/d");
    expect_with("postgresql://h/d?sslmode=disable", "sslmode=require",
                "the parameter \"sslmode\" of the database connection is given twice", NULL);
}

static void test_refused(void **state)
{
    (void)state;
    const char *no_url =
        "the database connection is not a URL (postgresql://USER:PASSWORD@HOST:PORT/DATABASE)";
    expect_refusal("", no_url);
    expect_refusal("postgresql", no_url);
    expect_refusal("postgresql:/h/d", no_url);
    expect_refusal(" postgresql://h/d", no_url);
    expect_refusal("postgres://h/d",
                   "the database connection postgres:// is not supported, and not "
                   "by SQLAlchemy either: write postgresql://");
    expect_refusal("postgresql+asyncpg://h/d",
                   "the database connection postgresql+asyncpg:// is not supported, because its "
                   "driver's parameters are not those of libpq: write postgresql:// or "
                   "postgresql+psycopg2://");
    expect_refusal("mysql+pymysql://h/d",
                   "the database connection mysql+pymysql:// is not one of PostgreSQL");
    expect_refusal("PostgreSQL://h/d",
                   "the database connection PostgreSQL:// is not one of PostgreSQL");
    const char *bad_port = "the port of the database connection is not a number from 1 to 65535";
    expect_refusal("postgresql://h:x/d", bad_port);
    expect_refusal("postgresql://h:/d", bad_port);
    expect_refusal("postgresql://h:-5/d", bad_port);
    expect_refusal("postgresql://h:65536/d", bad_port);
    expect_refusal("postgresql://h:99999999999999999999/d", bad_port);
    expect_refusal("postgresql://[::1/d", bad_port);
    const char *dropped = "the database connection has unexpected text after its host or its "
                          "parameters";
    expect_refusal("postgresql://[::1]x/d", dropped);
    expect_refusal("postgresql://h/d?sslmode=require\nx", dropped);
    expect_refusal("postgresql://u%00:p@h/d",
                   "the user of the database connection contains U+0000");
    expect_refusal("postgresql://u:%00p@h/d",
                   "the password of the database connection contains U+0000");
    expect_refusal("postgresql://u:p%ff@h/d",
                   "the password of the database connection contains bytes that are not UTF-8");
    expect_refusal("postgresql://h/\xff",
                   "the dbname of the database connection contains bytes that are not UTF-8");
}

/* What SQLAlchemy takes for a host or a database would name a piece of the password. */
static void test_misplaced_secrets(void **state)
{
    (void)state;
    expect_refusal("postgresql://u:sec@ret@h/d",
                   "the password of the database connection contains \"@\": write %40");
    expect_refusal("postgresql://u:@ret@h/d",
                   "the password of the database connection contains \"@\": write %40");
    expect_refusal("postgresql://h:5432/d?password=sec@ret",
                   "a parameter of the database connection contains \"@\": write %40");
    expect_refusal("postgresql://[::1]/d?a=b@&password=secret",
                   "a parameter of the database connection contains \"@\": write %40");
    expect_refusal("postgresql://h/d?host=a:password=secret",
                   "the parameter \"host\" of the database connection contains \"=\"");
    expect("postgresql:///d?host=/a=b", "dbname=d|host=/a=b", "postgresql:///d?host=/a=b");
    expect_refusal("postgresql://h:5432?password=sec@ret",
                   "a parameter of the database connection contains \"@\": write %40");
    const char *more = "the database connection has \"@\" or \"password=\" in the name of its "
                       "database: write %2F for a \"/\" in a user or password, and \"?\" before "
                       "parameters";
    expect_refusal("postgresql://u/v:secret@h/d", more);
    expect_refusal("postgresql://u@sec/ret@h/d", more);
    expect_refusal("postgresql://h/d&password=secret", more);
    expect("postgresql://h/?dbname=a@b", "dbname=a@b|host=h", "postgresql://h/a@b");
    /* a password that only looks strange */
    expect("postgresql://u:/a?b=c@h/d", "user=u|password=/a?b=c|dbname=d|host=h",
           "postgresql://u@h/d");
    expect_refusal("postgresql://h/d?password=se&cret=x",
                   "a parameter of the database connection is not one of libpq's");
    expect_refusal("postgresql://u:secret/d",
                   "the port of the database connection is not a number from 1 to 65535");
}

static void test_value(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct pg_url parsed;
    parse(arena, SLICE_LIT("postgresql://h/d?connect_timeout=7"), "", &parsed);
    assert_string_equal(pg_url_value(&parsed, "connect_timeout"), "7");
    assert_string_equal(pg_url_value(&parsed, "host"), "h");
    assert_null(pg_url_value(&parsed, "user"));
    arena_destroy(arena);
}

static void test_matches(void **state)
{
    (void)state;
    assert_true(pg_url_matches(SLICE_LIT("postgresql://")));
    assert_true(pg_url_matches(SLICE_LIT("postgresql+asyncpg://h")));
    assert_true(pg_url_matches(SLICE_LIT("postgres://h")));
    assert_false(pg_url_matches(SLICE_LIT("postgresqlx://h")));
    assert_false(pg_url_matches(SLICE_LIT("sqlite:///x")));
    assert_false(pg_url_matches(SLICE_LIT("")));
}

static void test_nul_bytes(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct pg_url parsed = {0};
    assert_string_equal(parse(arena, SLICE_LIT("postgresql://h\0i/d"), "", &parsed),
                        "the host of the database connection contains U+0000");
    assert_string_equal(parse(arena, SLICE_LIT("postgresql://h/d\0e"), "", &parsed),
                        "the dbname of the database connection contains U+0000");
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_user_host_database),
        cmocka_unit_test(test_encoded_text),
        cmocka_unit_test(test_ipv6),
        cmocka_unit_test(test_sockets),
        cmocka_unit_test(test_several_hosts),
        cmocka_unit_test(test_parameters),
        cmocka_unit_test(test_connection_parameters),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_misplaced_secrets),
        cmocka_unit_test(test_value),
        cmocka_unit_test(test_matches),
        cmocka_unit_test(test_nul_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
