/* Which of several values of an option counts, and references between options. */
#include <stdlib.h>

#include "loading.h"
#include "unit.h"

static void ranks(void **state)
{
    (void)state;
    const char *name = "incomplete_consumer_user_id";
    use_file("a.conf", BASE "[placement]\nincomplete_consumer_user_id = 1\n"
                            "incomplete_consumer_user_id = 2\n[berth]\nlisten = a:1\n");
    load_ok();
    assert_string_equal(conf->incomplete_consumer_user_id, "2");
    assert_string_equal(conf_value(conf, "placement", name)->where, "a.conf:5");
    use_file("b.conf", "[PLACEMENT]\nincomplete_consumer_user_id = 3\n[berth]\nlisten = b:1\n");
    load_ok();
    assert_string_equal(conf->incomplete_consumer_user_id, "3");
    assert_int_equal(conf->listen_count, 2);
    assert_string_equal(conf->listen[0].host, "a");
    setenv("OS_PLACEMENT__INCOMPLETE_CONSUMER_USER_ID", "4", 1);
    setenv("OS_BERTH__LISTEN", "c:1", 1);
    load_ok();
    assert_string_equal(conf->incomplete_consumer_user_id, "4");
    assert_int_equal(conf->listen_count, 1);
    assert_string_equal(conf->listen[0].host, "c");
    override("placement", name, "5");
    override("berth", "listen", "d:1");
    override("berth", "listen", "e:1");
    load_ok();
    assert_string_equal(conf->incomplete_consumer_user_id, "5");
    assert_int_equal(conf->listen_count, 2);
    assert_string_equal(conf->listen[1].host, "e");
    assert_string_equal(conf_value(conf, "placement", name)->where, "--switch");
}

static void deprecated_names(void **state)
{
    (void)state;
    use_file("a.conf", BASE "[DEFAULT]\nauth_strategy = noauth2\n");
    load_ok();
    assert_int_equal(conf->auth_strategy, CONF_AUTH_NOAUTH2);
    assert_int_equal(conf->deprecated.n, 1);
    assert_string_equal(conf->deprecated.items[0],
                        "a.conf:4: [DEFAULT] auth_strategy is now [api] auth_strategy");
    assert_int_equal(conf->unknown_n, 0);
    /* The current name wins within one file, the later file over both. */
    use_file("b.conf", "[api]\nauth_strategy=noauth2\n[DEFAULT]\nauth_strategy=keystone");
    load_ok();
    assert_int_equal(conf->auth_strategy, CONF_AUTH_NOAUTH2);
    use_file("c.conf", "[DEFAULT]\nauth_strategy=keystone");
    load_ok();
    assert_int_equal(conf->auth_strategy, CONF_AUTH_KEYSTONE);
}

/* Options of the service's own login are in the section that auth_section names. */
static void auth_section(void **state)
{
    (void)state;
    use_file("a.conf", BASE "[keystone_authtoken]\nauth_section = Other\nauth_url = here\n"
                            "region_name = One\n[other]\nauth_url = there\nuser_name = u\n"
                            "region_name = Two\npassword = ${other.username}/$auth_url\n");
    load_ok();
    assert_string_equal(conf->auth_section, "other");
    assert_string_equal(conf_value(conf, "keystone_authtoken", "auth_url")->text, "there");
    assert_string_equal(conf_value(conf, "keystone_authtoken", "region_name")->text, "One");
    assert_string_equal(conf_value(conf, "keystone_authtoken", "password")->text, "u/there");
    assert_string_equal(conf->deprecated.items[0],
                        "a.conf:9: [other] user_name is now [other] username");
    assert_int_equal(conf->unknown_n, 2);
    assert_int_equal(conf->unknown[0].line, 5);
    assert_int_equal(conf->unknown[1].line, 10);
    setenv("OS_OTHER__AUTH_URL", "elsewhere", 1);
    setenv("OS_KEYSTONE_AUTHTOKEN__PASSWORD", "unused", 1);
    use_file("b.conf", "[OTHER]\nproject_id = p\n");
    load_ok();
    assert_string_equal(conf_value(conf, "keystone_authtoken", "auth_url")->text, "elsewhere");
    assert_string_equal(conf_value(conf, "keystone_authtoken", "password")->text, "u/elsewhere");
    assert_string_equal(conf_value(conf, "keystone_authtoken", "project_id")->text, "p");
    setenv("OS_KEYSTONE_AUTHTOKEN__AUTH_SECTION", "", 1); /* an empty name counts as not set */
    load_ok();
    assert_string_equal(conf->auth_section, "keystone_authtoken");
    assert_string_equal(conf_value(conf, "keystone_authtoken", "auth_url")->text, "here");
    assert_string_equal(conf_value(conf, "keystone_authtoken", "password")->text, "unused");
}

static void bad_auth_section(void **state)
{
    (void)state;
    expect_refused(
        "[keystone_authtoken]\nauth_section = $nothing\n",
        "a.conf:4: [keystone_authtoken] auth_section refers to $nothing, which is not an "
        "option (write $$ for a dollar sign)");
}

static void empty_number_is_the_default(void **state)
{
    (void)state;
    use_file("a.conf", BASE "max_pool_size =\n[berth]\nmax_connections =\n");
    load_ok();
    assert_int_equal(conf->max_connections, 4096);
    assert_false(conf_value(conf, "placement_database", "max_pool_size")->is_set);
}

static void references(void **state)
{
    (void)state;
    use_file("a.conf", BASE "[placement]\nincomplete_consumer_user_id = "
                            "$incomplete_consumer_project_id-$debug-${cors.max_age}-$$x\n"
                            "incomplete_consumer_project_id = ${cors.allow_methods}$tempdir\n"
                            "[DEFAULT]\nlog_dir=$state_path/log\nstate_path=/s\n");
    load_ok();
    assert_string_equal(conf->incomplete_consumer_user_id,
                        "['GET', 'PUT', 'POST', 'DELETE', 'PATCH']-False-3600-$x");
    assert_string_equal(conf_value(conf, "DEFAULT", "log_dir")->text, "/s/log");
}

static void bad_references(void **state)
{
    (void)state;
    expect_refused("[DEFAULT]\ntempdir = $nothing\n",
                   "a.conf:4: [DEFAULT] tempdir refers to $nothing, which is not an option (write "
                   "$$ for a dollar sign)");
    expect_refused("[DEFAULT]\ntempdir = ${api.nothing}\n",
                   "a.conf:4: [DEFAULT] tempdir refers to $api.nothing, which is not an option "
                   "(write $$ for a dollar sign)");
    expect_refused("[DEFAULT]\ntempdir = $log_file\nlog_file = x$tempdir",
                   "a.conf:5: [DEFAULT] log_file refers to itself by $tempdir");
    expect_refused("[DEFAULT]\ntempdir = $tempdir",
                   "a.conf:4: [DEFAULT] tempdir refers to itself by $tempdir");
    expect_refused("[DEFAULT]\ntempdir = ${cors.max_age}\n[cors]\nmax_age = x",
                   "a.conf:6: [cors] max_age must be a whole number, not 'x'");
}

/* A section is written in lower case in references, and an old name is resolved. */
static void names_in_references(void **state)
{
    (void)state;
    use_file("a.conf", BASE "[DEFAULT]\ntempdir = ${cors.max_age}${DEFAULT.debug}\n"
                            "log-config = c\nlog_dir = $log_config\n");
    load_ok();
    assert_string_equal(conf_value(conf, "DEFAULT", "tempdir")->text, "3600False");
    assert_string_equal(conf_value(conf, "DEFAULT", "log_dir")->text, "c");
    expect_refused("[DEFAULT]\ntempdir = ${CORS.max_age}\n",
                   "a.conf:4: [DEFAULT] tempdir refers to $CORS.max_age, which is not an option "
                   "(write $$ for a dollar sign)");
}

/* Each doubles the previous one ten times; eight of them would be 10^8 bytes. */
static void growing_references(void **state)
{
    (void)state;
    static const char *const names[] = {"tempdir", "pybasedir",       "state_path",     "log_file",
                                        "log_dir", "log_date_format", "instance_format"};
    struct buf text = {0};
    buf_append_slice(&text, slice_of(BASE "[DEFAULT]\nlog_config_append = 0123456789\n"));
    const char *last = "log_config_append";
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        buf_printf(&text, "%s = ", names[i]);
        for (int j = 0; j < 10; j++)
            buf_printf(&text, "${%s}", last);
        buf_append_char(&text, '\n');
        last = names[i];
    }
    buf_append_char(&text, '\0');
    use_file("a.conf", text.data);
    buf_free(&text);
    expect_error("a.conf:8: [DEFAULT] log_file is longer than 65536 bytes");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LOADING_TEST(ranks),
        LOADING_TEST(deprecated_names),
        LOADING_TEST(auth_section),
        LOADING_TEST(bad_auth_section),
        LOADING_TEST(empty_number_is_the_default),
        LOADING_TEST(references),
        LOADING_TEST(bad_references),
        LOADING_TEST(names_in_references),
        LOADING_TEST(growing_references),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
