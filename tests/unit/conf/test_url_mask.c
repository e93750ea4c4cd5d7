/* Passwords in URLs of databases. */
#include "conf/url_mask.h"
#include "unit.h"

static void expect(const char *url, const char *want)
{
    struct buf out = {0};
    url_mask_write(slice_of(url), &out);
    buf_append_char(&out, '\0');
    assert_string_equal(out.data, want);
    buf_free(&out);
}

static void passwords(void **state)
{
    (void)state;
    expect("mysql+pymysql://placement:secret@db.example.org/placement",
           "mysql+pymysql://placement:****@db.example.org/placement");
    expect("postgresql://p:s@[::1]:5432/x?sslmode=require",
           "postgresql://p:****@[::1]:5432/x?sslmode=require");
    expect("mysql://p:a@b:c/d@e@db/x", "mysql://p:****@db/x");
    expect("mysql://p:a?b@db/x", "mysql://p:****@db/x");
    expect("mysql://:only@db/x", "mysql://:****@db/x");
    expect("mysql://p:@db/x", "mysql://p:****@db/x");
    expect("postgresql:///x?host=/run&password=s&user=p",
           "postgresql:///x?host=/run&password=****&user=p");
    expect("mysql://db/x?PASSWD=s", "mysql://db/x?PASSWD=****");
    expect("postgresql://h/x?sslkey=/k&sslpassword=s",
           "postgresql://h/x?sslkey=/k&sslpassword=****");
    expect("mysql://db/x?ssl_key_password=s", "mysql://db/x?ssl_key_password=****");
    expect("postgresql://h/x?p%61ssword=s&user=p", "postgresql://h/x?p%61ssword=****&user=p");
    /* an '@' there need not be escaped */
    expect("mysql://db/x?password=s@t", "mysql://db/x?password=****");
    expect("mysql://db/x?a=b&passwd=s@t:u@v&c=d", "mysql://db/x?a=b&passwd=****&c=d");
    expect("mysql://p:s@db/x?password=t@u", "mysql://p:****@db/x?password=****");
    expect("mysql://db/x?user=a@b", "mysql://db/x?user=a@b");
    /* port or password, nobody can tell */
    expect("mysql://db:3306/x?password=s@t", "mysql://db:****?password=****");
    expect("mysql://p:a?password=b@db/x", "mysql://p:****?password=****");
}

static void shown_as_they_are(void **state)
{
    (void)state;
    expect("sqlite:////var/lib/berth/berth.db", "sqlite:////var/lib/berth/berth.db");
    expect("sqlite:////srv/a:b@c.db", "sqlite:////srv/a:b@c.db");
    expect("sqlite://", "sqlite://");
    expect("mysql://db:3306/x?charset=utf8", "mysql://db:3306/x?charset=utf8");
    expect("mysql://placement@db/x", "mysql://placement@db/x");
    expect("mysql://db/x?", "mysql://db/x");
}

static void not_a_url(void **state)
{
    (void)state;
    expect("", "****");
    expect("secret", "****");
    expect(":/", "****");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(passwords),
        cmocka_unit_test(shown_as_they_are),
        cmocka_unit_test(not_a_url),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
