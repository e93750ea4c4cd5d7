/* [keystone_authtoken]: what is read, and the line that reports what is missing. */
#include "keystone/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "conf/load.h"
#include "unit.h"

static char path[] = "/tmp/berth-test-settings-XXXXXX";
static struct arena *arena;
static struct conf *conf;
static struct err err;
static struct keystone_settings settings;

static int setup(void **state)
{
    (void)state;
    clearenv();
    snprintf(path, sizeof(path), "/tmp/berth-test-settings-XXXXXX");
    int fd = mkstemp(path);
    arena = arena_create();
    conf = NULL;
    err = (struct err){.arena = arena};
    return fd < 0 || close(fd) != 0;
}

static int teardown(void **state)
{
    (void)state;
    conf_destroy(conf);
    arena_destroy(arena);
    return unlink(path);
}

/* A file with these lines; PATH in the error is the file's name. */
static bool read_lines(const char *lines)
{
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fprintf(out, "[placement_database]\nconnection = sqlite:////x.db\n%s", lines);
    assert_int_equal(fclose(out), 0);
    struct conf_inputs inputs = {.sources = {{path, false}}, .sources_n = 1};
    err = (struct err){.arena = arena};
    conf_destroy(conf);
    conf = conf_load(&inputs, &err);
    return conf != NULL && keystone_settings_read(conf, arena, &settings, &err);
}

static void expect(const char *lines)
{
    if (!read_lines(lines))
        fail_msg("%.*s", SLICE_ARG(err.message));
}

static void expect_refused(const char *lines, const char *message)
{
    if (read_lines(lines))
        fail_msg("taken: %s", lines);
    const char *at = strstr(err.message.data, path);
    assert_non_null(at);
    assert_string_equal(arena_printf(arena, "%.*sPATH%s", (int)(at - err.message.data),
                                     err.message.data, at + strlen(path))
                            .data,
                        message);
}

#define SECTION  "[keystone_authtoken]\n"
#define USER     "auth_url = http://k:5000\nusername = u\npassword = s\nuser_domain_name = D\n"
#define PROJECT  "project_name = service\nproject_domain_id = default\n"
#define PASSWORD SECTION "auth_type = password\n" USER PROJECT

static void password(void **state)
{
    (void)state;
    expect(PASSWORD);
    assert_string_equal(settings.auth_url, "http://k:5000");
    assert_true(settings.discovers);
    assert_string_equal(
        settings.login_body,
        "{\"auth\": {\"identity\": {\"methods\": [\"password\"], \"password\": {\"user\": "
        "{\"name\": \"u\", \"domain\": {\"name\": \"D\"}, \"password\": \"s\"}}}, \"scope\": "
        "{\"project\": {\"name\": \"service\", \"domain\": {\"id\": \"default\"}}}}}");
    assert_null(settings.own_token);
    assert_string_equal(settings.www_authenticate.data, "Keystone uri=\"http://k:5000\"");
    assert_string_equal(settings.interface, "internal");
    assert_null(settings.region_name);
    assert_int_equal(settings.attempt_timeout_ms, 30000);
    assert_int_equal(settings.retries, 3);
    assert_int_equal(settings.cache_s, 300);
    assert_false(settings.delay_auth_decision || settings.insecure ||
                 settings.service_roles_required);
    assert_int_equal(settings.service_roles.n, 1);
    assert_string_equal(settings.service_roles.items[0], "service");
    assert_null(settings.terms.service_types[TOKEN_SERVICE_PLACEMENT].data);
    assert_string_equal(settings.terms.service_types[TOKEN_SERVICE_BAREMETAL].data, "baremetal");
    assert_int_equal(settings.terms.bind, TOKEN_BIND_PERMISSIVE);
}

static void by_ids_and_defaults(void **state)
{
    (void)state;
    expect(SECTION "auth_type = v3password\nauth_url = http://k/v3\nuser_id = u-1\n"
                   "password = \"\\\nproject_id = p-1\n");
    assert_false(settings.discovers);
    assert_string_equal(
        settings.login_body,
        "{\"auth\": {\"identity\": {\"methods\": [\"password\"], \"password\": {\"user\": "
        "{\"id\": \"u-1\", \"password\": \"\\\"\\\\\"}}}, \"scope\": {\"project\": {\"id\": "
        "\"p-1\"}}}}");
    expect(SECTION "auth_type = password\nauth_url = http://k\nuser_name = u\npassword = s\n"
                   "tenant_name = p\ndefault_domain_id = dd\nproject_domain_name = PD\n");
    assert_string_equal(
        settings.login_body,
        "{\"auth\": {\"identity\": {\"methods\": [\"password\"], \"password\": {\"user\": "
        "{\"name\": \"u\", \"domain\": {\"id\": \"dd\"}, \"password\": \"s\"}}}, \"scope\": "
        "{\"project\": {\"name\": \"p\", \"domain\": {\"id\": \"dd\"}}}}}");
}

static void scopes(void **state)
{
    (void)state;
    static const struct {
        const char *lines;
        const char *scope;
    } SCOPES[] = {
        {"", "}}}}"},
        {"domain_id = d\ndomain_name = D\n", ", \"scope\": {\"domain\": {\"id\": \"d\"}}}}"},
        {"domain_name = D\n", ", \"scope\": {\"domain\": {\"name\": \"D\"}}}}"},
        {"trust_id = t\n", ", \"scope\": {\"OS-TRUST:trust\": {\"id\": \"t\"}}}}"},
        {"system_scope = all\n", ", \"scope\": {\"system\": {\"all\": true}}}}"},
        {"system_scope =\nproject_id =\n", "}}}}"},
    };
    for (size_t i = 0; i < sizeof(SCOPES) / sizeof(SCOPES[0]); i++) {
        char lines[512];
        snprintf(lines, sizeof(lines), SECTION "auth_type = password\n" USER "%s", SCOPES[i].lines);
        expect(lines);
        const char *body = settings.login_body;
        assert_string_equal(body + strlen(body) - strlen(SCOPES[i].scope), SCOPES[i].scope);
    }
    expect_refused(PASSWORD "trust_id = t\n", "[keystone_authtoken] has more than one scope: set a "
                                              "project, a domain or trust_id in PATH");
    expect_refused(SECTION "auth_type = password\n" USER "system_scope = some\n",
                   "PATH:9: [keystone_authtoken] system_scope must be all");
}

static void other_plugins(void **state)
{
    (void)state;
    expect(SECTION "auth_type = v3applicationcredential\nauth_url = https://k/identity\n"
                   "application_credential_id = a\napplication_credential_secret = s\n");
    assert_string_equal(settings.login_body,
                        "{\"auth\": {\"identity\": {\"methods\": [\"application_credential\"], "
                        "\"application_credential\": {\"secret\": \"s\", \"id\": \"a\"}}}}");
    expect(SECTION "auth_type = v3applicationcredential\nauth_url = https://k/identity\n"
                   "application_credential_name = n\napplication_credential_secret = s\n"
                   "username = u\nuser_domain_id = d\n");
    assert_string_equal(
        settings.login_body,
        "{\"auth\": {\"identity\": {\"methods\": [\"application_credential\"], "
        "\"application_credential\": {\"secret\": \"s\", \"name\": \"n\", \"user\": "
        "{\"name\": \"u\", \"domain\": {\"id\": \"d\"}}}}}}");
    expect(SECTION "auth_type = v3token\nauth_url = http://k/v3\ntoken = t\nproject_id = p\n");
    assert_string_equal(settings.login_body,
                        "{\"auth\": {\"identity\": {\"methods\": [\"token\"], \"token\": {\"id\": "
                        "\"t\"}}, \"scope\": {\"project\": {\"id\": \"p\"}}}}");
    assert_string_equal(settings.own_token, "t");
    assert_false(settings.discovers);
    expect(SECTION "auth_type = token\nauth_url = http://k\ntoken = t\n");
    assert_true(settings.discovers);
    expect(SECTION "auth_type = admin_token\nurl = http://k/v3\ntoken = t\n");
    assert_null(settings.login_body);
    assert_string_equal(settings.own_token, "t");
    assert_string_equal(settings.auth_url, "http://k/v3");
    assert_string_equal(settings.www_authenticate.data, "Keystone uri=\"http://k/v3\"");
}

static void the_rest(void **state)
{
    (void)state;
    expect(PASSWORD
           "auth_uri = http://public\ninterface = adminURL\nregion_name = One\n"
           "http_connect_timeout = 7\nhttp_request_max_retries = -1\n"
           "delay_auth_decision = yes\ntoken_cache_time = -1\nenforce_token_bind = strict\n"
           "service_token_roles = a, b\nservice_token_roles_required = true\n"
           "service_type = placement\ninsecure = true\n");
    assert_string_equal(settings.www_authenticate.data, "Keystone uri=\"http://public\"");
    assert_string_equal(settings.interface, "admin");
    assert_string_equal(settings.region_name, "One");
    assert_int_equal(settings.attempt_timeout_ms, 7000);
    assert_int_equal(settings.retries, 0);
    assert_int_equal(settings.cache_s, 0);
    expect(PASSWORD "http_connect_timeout = -5\nhttp_request_max_retries = 99999999999\n"
                    "token_cache_time = 99999999999\n");
    assert_int_equal(settings.attempt_timeout_ms, 1000);
    assert_int_equal(settings.retries, 1000);
    assert_int_equal(settings.cache_s, 30 * 86400);
    expect(PASSWORD "http_connect_timeout = 86400\n"); /* a login that hangs delays every request */
    assert_int_equal(settings.attempt_timeout_ms, 60000);
    expect(PASSWORD "auth_uri = http://public\ninterface = adminURL\nregion_name = One\n"
                    "delay_auth_decision = yes\nenforce_token_bind = strict\n"
                    "service_token_roles = a, b\nservice_token_roles_required = true\n"
                    "service_type = placement\ninsecure = true\n");
    assert_int_equal(settings.service_roles.n, 2);
    assert_true(settings.delay_auth_decision && settings.service_roles_required &&
                settings.insecure);
    assert_string_equal(settings.terms.service_types[TOKEN_SERVICE_PLACEMENT].data, "placement");
    assert_int_equal(settings.terms.bind, TOKEN_BIND_STRICT);
    expect(PASSWORD "interface =\nenforce_token_bind = x509\nregion_name =\nservice_type =\n");
    assert_string_equal(settings.interface, "public");
    assert_null(settings.region_name);
    assert_null(settings.terms.service_types[TOKEN_SERVICE_PLACEMENT].data);
    assert_int_equal(settings.terms.bind, TOKEN_BIND_REQUIRED);
    expect(PASSWORD "enforce_token_bind = disabled\n");
    assert_int_equal(settings.terms.bind, TOKEN_BIND_DISABLED);
    expect(PASSWORD "service_type = p\n[baremetal]\nservice_type = b\n");
    assert_string_equal(settings.terms.service_types[TOKEN_SERVICE_PLACEMENT].data, "p");
    assert_string_equal(settings.terms.service_types[TOKEN_SERVICE_BAREMETAL].data, "b");
    expect(PASSWORD "[baremetal]\nservice_type =\n");
    assert_null(settings.terms.service_types[TOKEN_SERVICE_BAREMETAL].data);
}

static void missing(void **state)
{
    (void)state;
    expect_refused("", "[keystone_authtoken] auth_type is not set in PATH");
    expect_refused(SECTION "auth_type = password\n",
                   "[keystone_authtoken] auth_url is not set in PATH");
    expect_refused(SECTION "auth_type = password\nauth_url = http://k\n",
                   "[keystone_authtoken] has neither username nor user_id set in PATH");
    expect_refused(SECTION "auth_type = password\nauth_url = http://k\nuser_id = u\n",
                   "[keystone_authtoken] password is not set in PATH");
    expect_refused(SECTION "auth_type = password\nauth_url = http://k\nusername = u\n",
                   "[keystone_authtoken] username needs user_domain_id or user_domain_name or a "
                   "default domain, none is set in PATH");
    expect_refused(SECTION "auth_type = v3password\nauth_url = http://k\nusername = u\n"
                           "default_domain_id = d\n",
                   "[keystone_authtoken] username needs user_domain_id or user_domain_name, none "
                   "is set in PATH");
    expect_refused(SECTION "auth_type = password\n" USER "project_name = p\n",
                   "[keystone_authtoken] project_name needs project_domain_id or "
                   "project_domain_name or a default domain, none is set in PATH");
    expect_refused(SECTION "auth_type = v3applicationcredential\nauth_url = http://k\n",
                   "[keystone_authtoken] application_credential_secret is not set in PATH");
    expect_refused(SECTION "auth_type = v3applicationcredential\nauth_url = http://k\n"
                           "application_credential_secret = s\n",
                   "[keystone_authtoken] has neither application_credential_id nor "
                   "application_credential_name set in PATH");
    expect_refused(SECTION "auth_type = v3applicationcredential\nauth_url = http://k\n"
                           "application_credential_secret = s\napplication_credential_name = n\n",
                   "[keystone_authtoken] has neither username nor user_id set in PATH");
    expect_refused(SECTION "auth_type = v3token\nauth_url = http://k\n",
                   "[keystone_authtoken] token is not set in PATH");
    expect_refused(SECTION "auth_type = admin_token\n",
                   "[keystone_authtoken] endpoint is not set in PATH");
    expect_refused(SECTION "auth_type = admin_token\nendpoint = http://k/v3\n",
                   "[keystone_authtoken] token is not set in PATH");
}

static void senseless(void **state)
{
    (void)state;
    expect_refused(SECTION "auth_type = v2password\n",
                   "PATH:4: [keystone_authtoken] auth_type must be one of password, v3password, "
                   "v3applicationcredential, token, v3token, admin_token");
    expect_refused(SECTION "auth_type = password\nauth_url = keystone\n",
                   "PATH:5: [keystone_authtoken] auth_url is not an http or https URL with a host");
    expect_refused(PASSWORD "interface = sideways\n",
                   "PATH:11: [keystone_authtoken] interface must be internal, public or admin");
    expect_refused(PASSWORD "cafile = /none/ca.pem\n",
                   "PATH:11: [keystone_authtoken] cafile cannot be read");
    expect_refused(PASSWORD "keyfile = /none/key.pem\n",
                   "PATH:11: [keystone_authtoken] keyfile cannot be read");
    expect_refused(PASSWORD "www_authenticate_uri = http://a\"b\n",
                   "PATH:11: [keystone_authtoken] www_authenticate_uri has a character that is not "
                   "allowed in a header");
    expect_refused(PASSWORD "www_authenticate_uri = http://a\n  b\n",
                   "PATH:11: [keystone_authtoken] www_authenticate_uri has a character that is not "
                   "allowed in a header");
    expect_refused(
        PASSWORD "token_cache_time = soon\n",
        "PATH:11: [keystone_authtoken] token_cache_time must be a whole number, not 'soon'");
}

static void auth_section(void **state)
{
    (void)state;
    expect(SECTION "auth_section = Service_User\nregion_name = One\nauth_url = http://unused\n"
                   "[service_user]\nauth_plugin = password\n" USER
                   "project_name = ${service_user.username}-$password\nproject_domain_id = d\n"
                   "region_name = Unused\n");
    assert_string_equal(settings.auth_url, "http://k:5000");
    assert_string_equal(settings.region_name, "One");
    assert_non_null(strstr(settings.login_body, "{\"project\": {\"name\": \"u-s\""));
    assert_string_equal(conf->auth_section, "service_user");
    assert_int_equal(conf->unknown_n, 2);
    assert_int_equal(conf->unknown[0].line, 6);
    assert_true(slice_equal(conf->unknown[0].name, SLICE_LIT("auth_url")));
    assert_int_equal(conf->unknown[1].line, 15);
    assert_true(slice_equal(conf->unknown[1].name, SLICE_LIT("region_name")));
    assert_int_equal(conf->deprecated.n, 1);
    assert_non_null(strstr(conf->deprecated.items[0],
                           "[service_user] auth_plugin is now [service_user] auth_type"));
    setenv("OS_SERVICE_USER__AUTH_URL", "http://environment", 1);
    setenv("OS_KEYSTONE_AUTHTOKEN__USERNAME", "nobody", 1);
    expect(SECTION "auth_section = service_user\n[service_user]\nauth_type = password\n" USER);
    assert_string_equal(settings.auth_url, "http://environment");
    assert_non_null(strstr(settings.login_body, "\"name\": \"u\""));
    clearenv();
    expect_refused(SECTION "auth_section = service_user\nauth_type = password\n" USER,
                   "[service_user] auth_type is not set in PATH");
    expect_refused(SECTION "auth_section = service_user\n[service_user]\nauth_type = other\n",
                   "PATH:6: [service_user] auth_type must be one of password, v3password, "
                   "v3applicationcredential, token, v3token, admin_token");
    /* an empty name counts as not set; DEFAULT may be named, too */
    expect(PASSWORD "auth_section =\n");
    expect(SECTION "auth_section = DEFAULT\n[DEFAULT]\nauth_type = password\n" USER);
    assert_string_equal(settings.auth_url, "http://k:5000");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(password, setup, teardown),
        cmocka_unit_test_setup_teardown(by_ids_and_defaults, setup, teardown),
        cmocka_unit_test_setup_teardown(scopes, setup, teardown),
        cmocka_unit_test_setup_teardown(other_plugins, setup, teardown),
        cmocka_unit_test_setup_teardown(the_rest, setup, teardown),
        cmocka_unit_test_setup_teardown(missing, setup, teardown),
        cmocka_unit_test_setup_teardown(senseless, setup, teardown),
        cmocka_unit_test_setup_teardown(auth_section, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
