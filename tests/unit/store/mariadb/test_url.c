/* Database URLs of MariaDB and MySQL: parameters, the target in messages, and refusals without
 * secrets. tests/databases/mariadb_urls.py compares the parameters with SQLAlchemy's and
 * PyMySQL's. */
#include "store/mariadb/session/url.h"
#include "unit.h"

#include <stdio.h>

#include "base/buf.h"

static void show(struct buf *out, const char *name, const char *value)
{
    if (value == NULL)
        return;
    assert_string_not_equal(value, "");
    buf_printf(out, "%s%s=%s", out->len > 0 ? "|" : "", name, value);
}

static void show_number(struct buf *out, const char *name, unsigned value)
{
    char text[16];
    snprintf(text, sizeof(text), "%u", value);
    show(out, name, value == 0 ? NULL : text);
}

/* The parameters as "name=value|name=value"; the message, if refused. */
static const char *parse(struct arena *arena, struct slice url, const char *parameters,
                         struct mariadb_url *parsed)
{
    struct err err = {.arena = arena};
    if (!mariadb_url_parse(url, slice_of(parameters), arena, parsed, &err)) {
        assert_int_equal(err.status, 503);
        assert_null(memchr(err.message.data, '\n', err.message.len));
        return err.message.data;
    }
    assert_false(err_is_set(&err));
    struct arena *other = arena_create();
    struct mariadb_url copied = mariadb_url_copy(parsed, other);
    struct buf out = {0};
    show(&out, "user", copied.user);
    show(&out, "password", copied.password);
    show(&out, "host", copied.host);
    show_number(&out, "port", copied.port);
    show(&out, "database", copied.database);
    show(&out, "unix_socket", copied.unix_socket);
    show(&out, "bind_address", copied.bind_address);
    show(&out, "option_file", copied.option_file);
    show(&out, "option_group", copied.option_group);
    show(&out, "program_name", copied.program_name);
    show(&out, "init_command", copied.init_command);
    show(&out, "ssl_ca", copied.ssl_ca);
    show(&out, "ssl_capath", copied.ssl_capath);
    show(&out, "ssl_cert", copied.ssl_cert);
    show(&out, "ssl_key", copied.ssl_key);
    show(&out, "ssl_cipher", copied.ssl_cipher);
    show(&out, "ssl_mode", copied.ssl_mode);
    show(&out, "ssl_disabled", copied.ssl_disabled);
    show(&out, "ssl_check_hostname", copied.ssl_check_hostname);
    show(&out, "ssl_verify_cert", copied.ssl_verify_cert);
    show(&out, "ssl_verify_identity", copied.ssl_verify_identity);
    show_number(&out, "connect_timeout", copied.connect_timeout_s);
    show(&out, "ignored", copied.ignored.len == 0 ? NULL : copied.ignored.data);
    assert_true(slice_equal(copied.target, parsed->target));
    struct slice text = arena_copy(arena, buf_slice(&out));
    buf_free(&out);
    arena_destroy(other);
    return text.data;
}

static void expect_with(const char *url, const char *parameters, const char *expected,
                        const char *target)
{
    struct arena *arena = arena_create();
    struct mariadb_url parsed = {0};
    const char *found = parse(arena, slice_of(url), parameters, &parsed);
    if (strcmp(found, expected) != 0)
        print_error("%s\n", url);
    assert_string_equal(found, expected);
    if (target != NULL)
        assert_string_equal(parsed.target.data, target);
    else
        assert_null(parsed.target.data);
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

/* What the deployment tools of OpenStack write. */
static void test_deployed(void **state)
{
    (void)state;
    expect("mysql+pymysql://placement:pw@10.0.0.10:3306/placement",
           "user=placement|password=pw|host=10.0.0.10|port=3306|database=placement",
           "mysql://placement@10.0.0.10:3306/placement");
    expect("mysql+pymysql://placement:pw@[fd00::10]:3306/placement?ssl_ca=/etc/ca.pem",
           "user=placement|password=pw|host=fd00::10|port=3306|database=placement|"
           "ssl_ca=/etc/ca.pem",
           "mysql://placement@[fd00::10]:3306/placement");
    expect("mysql+pymysql://p:pw@vip/placement?charset=utf8&ssl_verify_cert=true&ssl_ca=/ca",
           "user=p|password=pw|host=vip|database=placement|ssl_ca=/ca|ssl_verify_cert=1",
           "mysql://p@vip/placement");
    /* a name without a value is none, as in Python */
    expect("mysql+pymysql://p:pw@h:3306/d?charset=utf8&ssl_ca=/etc/mysql/certs/ca.crt"
           "&ssl_key=/etc/mysql/certs/tls.key&ssl_cert=/etc/mysql/certs/tls.crt&ssl_verify_cert",
           "user=p|password=pw|host=h|port=3306|database=d|ssl_ca=/etc/mysql/certs/ca.crt|"
           "ssl_cert=/etc/mysql/certs/tls.crt|ssl_key=/etc/mysql/certs/tls.key",
           "mysql://p@h:3306/d");
    expect("mysql+pymysql://p_3893:pw@openstack.openstack.svc/placement"
           "?read_default_file=/etc/my.cnf",
           "user=p_3893|password=pw|host=openstack.openstack.svc|database=placement|"
           "option_file=/etc/my.cnf",
           "mysql://p_3893@openstack.openstack.svc/placement?read_default_file=/etc/my.cnf");
    expect("mysql+pymysql://p:pw@vip/placement?read_default_file=/etc/my.cnf.d/tripleo.cnf"
           "&read_default_group=tripleo&plugin=collectd&collectd_program_name=placement_api"
           "&collectd_host=localhost",
           "user=p|password=pw|host=vip|database=placement|option_file=/etc/my.cnf.d/tripleo.cnf|"
           "option_group=tripleo|ignored=plugin",
           "mysql://p@vip/placement?read_default_file=/etc/my.cnf.d/tripleo.cnf"
           "&read_default_group=tripleo");
    expect("mysql+pymysql://u:p@/placement?unix_socket=/run/proxysql/mysql.sock&charset=utf8",
           "user=u|password=p|database=placement|unix_socket=/run/proxysql/mysql.sock",
           "mysql://u@/placement?unix_socket=/run/proxysql/mysql.sock");
}

static void test_parts(void **state)
{
    (void)state;
    expect("mysql://", "", "mysql:///");
    expect("mariadb:///d", "database=d", "mysql:///d");
    expect("mariadb+pymysql://h", "host=h", "mysql://h/");
    expect("mysql+mysqldb://h:0/d", "host=h|database=d", "mysql://h/d");
    expect("mysql+mysqlconnector://h/a/b", "host=h|database=a/b", "mysql://h/a/b");
    expect("mariadb+mariadbconnector://u@c@h/d%20e", "user=u@c|host=h|database=d%20e",
           "mysql://u%40c@h/d%20e");
    expect("mysql+pymysql://a%40b%3a:p%40%2F%3F%25+q@h/d",
           "user=a@b:|password=p@/?%+q|host=h|database=d", "mysql://a%40b%3A@h/d");
    expect("mysql+pymysql://u%zz:p%4@h/d", "user=u%zz|password=p%4|host=h|database=d",
           "mysql://u%zz@h/d");
    expect("mysql+pymysql://a b:@h/d\n", "user=a b|host=h|database=d\n", "mysql://a%20b@h/d%0A");
    expect("mysql+pymysql://u:p@h:1/d?user=v&password=q+r%2b&host=i&database=e",
           "user=v|password=q r+|host=i|port=1|database=e", "mysql://v@i:1/e");
    expect("mysql+pymysql://h/?db=e&passwd=x", "password=x|host=h|database=e", "mysql://h/e");
    expect_refusal("mysql+pymysql://h/d?db=e",
                   "the parameter \"db\" of the database connection is given twice");
    expect_refusal("mysql+pymysql://u:p@h/d?passwd=e",
                   "the parameter \"passwd\" of the database connection is given twice");
    expect_refusal("mysql+pymysql://h/d?port=3307",
                   "the parameter \"port\" of the database connection cannot be given as a "
                   "parameter: write the port after the host");
}

static void test_tls(void **state)
{
    (void)state;
    expect("mysql+pymysql://h/d?ssl_ca=/a&ssl_capath=/b&ssl_cert=/c&ssl_key=/k&ssl_cipher=x"
           "&ssl_check_hostname=False",
           "host=h|database=d|ssl_ca=/a|ssl_capath=/b|ssl_cert=/c|ssl_key=/k|ssl_cipher=x|"
           "ssl_check_hostname=0",
           "mysql://h/d");
    expect(
        "mysql+pymysql://h/d?ssl_disabled=false&ssl_verify_identity=yes&ssl_verify_cert=required",
        "host=h|database=d|ssl_disabled=0|ssl_verify_cert=1|ssl_verify_identity=1", "mysql://h/d");
    expect("mysql+mysqldb://h/d?ssl_mode=VERIFY_CA", "host=h|database=d|ssl_mode=VERIFY_CA",
           "mysql://h/d");
    expect_refusal("mysql+mysqldb://h/d?ssl_mode=verify",
                   "the parameter \"ssl_mode\" of the database connection is not one of DISABLED, "
                   "PREFERRED, REQUIRED, VERIFY_CA and VERIFY_IDENTITY");
    expect_refusal("mysql+pymysql://h/d?ssl_mode=VERIFY_CA",
                   "the parameter \"ssl_mode\" of the database connection is not one of its "
                   "driver's");
    expect_refusal("mysql+pymysql://h/d?ssl=true",
                   "the parameter \"ssl\" of the database connection has no value that a URL can "
                   "have: write ssl_ca=FILE");
    expect_refusal("mysql+pymysql://h/d?ssl_verify_cert=sometimes",
                   "the parameter \"ssl_verify_cert\" of the database connection is neither true "
                   "nor false");
    const char *contradiction =
        "the database connection verifies the host, but with ssl_verify_cert=false not the "
        "certificate: leave one of these parameters out";
    expect_refusal("mysql+pymysql://h/d?ssl_verify_cert=no&ssl_verify_identity=1", contradiction);
    expect_refusal("mysql+pymysql://h/d?ssl_check_hostname=on&ssl_verify_cert=0", contradiction);
}

static void test_other_parameters(void **state)
{
    (void)state;
    expect("mysql+pymysql://h/d?charset=latin1&use_unicode=1&autocommit=true&binary_prefix=1"
           "&local_infile=1&max_allowed_packet=1",
           "host=h|database=d", "mysql://h/d");
    expect("mysql+pymysql://h/d?sql_mode=ANSI&read_timeout=3&write_timeout=4&client_flag=2",
           "host=h|database=d|ignored=sql_mode, read_timeout, write_timeout, client_flag",
           "mysql://h/d");
    expect("mysql+pymysql://h/d?connect_timeout=7&program_name=x&init_command=SET+a%3D1"
           "&bind_address=10.0.0.1",
           "host=h|database=d|bind_address=10.0.0.1|program_name=x|init_command=SET a=1|"
           "connect_timeout=7",
           "mysql://h/d");
    expect("mysql+mysqlconnector://h/d?connection_timeout=7&use_pure=true",
           "host=h|database=d|connect_timeout=7", "mysql://h/d");
    expect_refusal("mysql+mysqlconnector://h/d?connect_timeout=7&connection_timeout=7",
                   "the parameter \"connection_timeout\" of the database connection is given "
                   "twice");
    static const char *const seconds[] = {"0", "-1", "x", "1.5", "31536001", "99999999999999999"};
    for (size_t i = 0; i < sizeof(seconds) / sizeof(seconds[0]); i++) {
        char url[100];
        snprintf(url, sizeof(url), "mysql+pymysql://h/d?connect_timeout=%s", seconds[i]);
        expect_refusal(url, "the parameter \"connect_timeout\" of the database connection is not a "
                            "number of seconds from 1 to 31536000");
    }
    expect_refusal("mysql+pymysql://h/d?compress=1",
                   "the parameter \"compress\" of the database connection is not supported");
    expect_refusal("mysql+pymysql://h/d?cursorclass=x",
                   "the parameter \"cursorclass\" of the database connection cannot be written in "
                   "a URL");
    expect_refusal("mysql+pymysql://h/d?use_pure=1",
                   "the parameter \"use_pure\" of the database connection is not one of its "
                   "driver's");
    expect_refusal("mysql+pymysql://h/d?sslmode=require",
                   "the parameter \"sslmode\" of the database connection is not one of its "
                   "driver's");
    expect_refusal("mysql+pymysql://h/d?ssl_ca=a&ssl_ca=a",
                   "the parameter \"ssl_ca\" of the database connection is given twice");
    expect_refusal("mysql+pymysql://h/d?collectd_host=x&plugin=other",
                   "the parameter \"collectd_host\" of the database connection is not one of its "
                   "driver's");
    expect_refusal("mysql+pymysql://h/d?%20ssl_ca=x",
                   "a parameter of the database connection is not one of its driver's");
}

static void test_connection_parameters(void **state)
{
    (void)state;
    expect_with("mysql+pymysql://h/d?connect_timeout=3", "ssl_ca=%2Fca&plugin=x",
                "host=h|database=d|ssl_ca=/ca|connect_timeout=3|ignored=plugin", "mysql://h/d");
    expect_with("mysql+pymysql://h/d?ssl_ca=x", "ssl_ca=y",
                "the parameter \"ssl_ca\" of the database connection is given twice", NULL);
    expect_with("mysql+pymysql://h/d?x_y=1", "&plugin=x&", "host=h|database=d|ignored=plugin",
                "mysql://h/d");
}

static void test_refused(void **state)
{
    (void)state;
    const char *no_url = "the database connection is not a URL "
                         "(mysql+pymysql://USER:PASSWORD@HOST:PORT/DATABASE)";
    expect_refusal("", no_url);
    expect_refusal("mysql", no_url);
    expect_refusal("mysql:/h/d", no_url);
    expect_refusal("mysql+asyncmy://h/d",
                   "the database connection mysql+asyncmy:// is not supported, because the "
                   "parameters of its driver are not known: write mysql+pymysql://");
    expect_refusal("mysql+://h/d",
                   "the database connection mysql+:// is not supported, because the "
                   "parameters of its driver are not known: write mysql+pymysql://");
    expect_refusal("postgresql://h/d",
                   "the database connection postgresql:// is not one of MariaDB or MySQL");
    const char *bad_port = "the port of the database connection is not a number from 1 to 65535";
    expect_refusal("mysql+pymysql://h:x/d", bad_port);
    expect_refusal("mysql+pymysql://h:/d", bad_port);
    expect_refusal("mysql+pymysql://h:65536/d", bad_port);
    expect_refusal("mysql+pymysql://h1:6446,h2:6446/d", bad_port);
    const char *bad_host =
        "the host of the database connection is not the name or address of one host";
    expect_refusal("mysql+pymysql://h1,h2/d", bad_host);
    expect_refusal("mysql+pymysql://h;x/d", bad_host);
    expect_refusal("mysql+pymysql:///d?host=a%20b", bad_host);
    expect_refusal("mysql+pymysql://u%00:p@h/d",
                   "the user of the database connection contains U+0000");
    expect_refusal("mysql+pymysql://u:p%ff@h/d",
                   "the password of the database connection contains bytes that are not UTF-8");
    expect_refusal("mysql+pymysql://h/d?ssl_ca=%00",
                   "the ssl_ca of the database connection contains U+0000");
    char url[200] = "mysql+pymysql:///d?unix_socket=/";
    memset(url + strlen(url), 'x', 107);
    expect_refusal(url, "the unix_socket of the database connection is too long");
}

/* What SQLAlchemy takes for a host or a database would name a piece of the password. */
static void test_misplaced_secrets(void **state)
{
    (void)state;
    expect_refusal("mysql+pymysql://u:sec@ret@h/d",
                   "the password of the database connection contains \"@\": write %40");
    expect_refusal("mysql+pymysql://u/v:secret@h/d",
                   "the database connection has \"@\" or \"password=\" in the name of its "
                   "database: write %2F for a \"/\" in a user or password, and \"?\" before "
                   "parameters");
    expect_refusal("mysql+pymysql://h/d?password=se&cret=x",
                   "a parameter of the database connection is not one of its driver's");
    expect_refusal("mysql+pymysql://h/d?passwd=se&cret=x",
                   "a parameter of the database connection is not one of its driver's");
    expect_refusal("mysql+pymysql://u:secret/d",
                   "the port of the database connection is not a number from 1 to 65535");
}

static void test_matches(void **state)
{
    (void)state;
    assert_true(mariadb_url_matches(SLICE_LIT("mysql://")));
    assert_true(mariadb_url_matches(SLICE_LIT("mysql+aiomysql://h")));
    assert_true(mariadb_url_matches(SLICE_LIT("mariadb+x://h")));
    assert_false(mariadb_url_matches(SLICE_LIT("mysqlx://h")));
    assert_false(mariadb_url_matches(SLICE_LIT("postgresql://h")));
    assert_false(mariadb_url_matches(SLICE_LIT("")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_deployed),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_tls),
        cmocka_unit_test(test_other_parameters),
        cmocka_unit_test(test_connection_parameters),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_misplaced_secrets),
        cmocka_unit_test(test_matches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
