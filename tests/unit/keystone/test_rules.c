/* Checks of known tokens: expiry, service tokens, access rules, delayed decisions. All are in the
 * cache, so Keystone is not queried. */
#include "keystone/keystone.h"

#include <stdio.h>

#include "base/clock.h"
#include "keystone/internal.h"
#include "unit.h"

static struct arena *arena;
static struct keystone_settings settings;
static struct keystone *keystone;
static struct keystone_request request;

static int setup(void **state)
{
    (void)state;
    static const char *const ROLES[] = {"service", "Nova"};
    arena = arena_create();
    settings = (struct keystone_settings){
        .auth_url = "http://127.0.0.1:1",
        .login_body = "{}",
        .interface = "internal",
        .attempt_timeout_ms = 1000,
        .cache_s = 300,
        .service_roles = {ROLES, 2},
        .terms = {.service_types = {SLICE_LIT("placement"), SLICE_LIT("baremetal")},
                  .bind = TOKEN_BIND_PERMISSIVE},
    };
    struct err err = {.arena = arena};
    keystone = keystone_start(&settings, &keystone_default_limits, &err);
    return keystone == NULL;
}

static int teardown(void **state)
{
    (void)state;
    keystone_request_close(&request);
    keystone_stop(keystone);
    arena_destroy(arena);
    return 0;
}

/* Adds a token to the cache: of user u-NAME, with these additional members. */
static void know(const char *name, bool expired, const char *members)
{
    char expires[CLOCK_ISO_BYTES];
    clock_format_iso(clock_wall_us() + (expired ? -1 : 3600) * 1000000LL, expires);
    struct slice body =
        arena_printf(arena, "{\"token\": {\"user\": {\"id\": \"u-%s\"}, \"expires_at\": \"%s\"%s}}",
                     name, expires, members);
    const char *why = NULL;
    struct token *token = token_read(body, &settings.terms, &why);
    assert_non_null(token);
    struct token_key key = token_cache_key(keystone->cache, slice_of(name));
    token_cache_put(keystone->cache, &key, token, UINT64_MAX);
    token_unref(token);
}

static enum keystone_verdict check_request(const char *user, const char *service,
                                           const char *method, const char *path)
{
    keystone_request_close(&request);
    request = (struct keystone_request){
        .user_token = user == NULL ? (struct slice){0} : slice_of(user),
        .service_token = service == NULL ? (struct slice){0} : slice_of(service),
        .method = slice_of(method),
        .mount = SLICE_LIT("/placement"),
        .path = slice_of(path),
        .arena = arena,
    };
    return keystone_check(keystone, &request);
}

static enum keystone_verdict check_tokens(const char *user, const char *service)
{
    return check_request(user, service, "GET", "/traits");
}

static void expect_refused(const char *user, const char *service, const char *why)
{
    assert_int_equal(check_tokens(user, service), KEYSTONE_REFUSED);
    assert_string_equal(request.why, why);
}

static void expect_text(struct slice got, const char *wanted)
{
    assert_non_null(got.data);
    assert_int_equal(got.len, strlen(wanted));
    assert_memory_equal(got.data, wanted, got.len);
}

static const char SERVICE[] = ", \"roles\": [{\"name\": \"member\"}, {\"name\": \"service\"}]";

static void identities(void **state)
{
    (void)state;
    know("a", false,
         ", \"project\": {\"id\": \"p\", \"domain\": {\"id\": \"pd\"}}, \"roles\": [{\"name\": "
         "\"Admin\"}], \"is_admin_project\": false");
    know("s", false, SERVICE);
    know("system", false, ", \"system\": {\"all\": true}");
    know("domain", false, ", \"domain\": {\"id\": \"d\"}");
    assert_int_equal(check_tokens("a", "s"), KEYSTONE_ACCEPTED);
    const struct identity *who = &request.identity;
    expect_text(who->user_id, "u-a");
    expect_text(who->project_id, "p");
    expect_text(who->project_domain_id, "pd");
    assert_null(who->user_domain_id.data);
    assert_null(who->domain_id.data);
    assert_null(who->system_scope.data);
    assert_true(identity_has_role(who, SLICE_LIT("admin")));
    assert_true(who->outside_admin_project);
    expect_text(who->service.user_id, "u-s");
    assert_int_equal(who->service.roles.count, 2);
    assert_int_equal(check_tokens("system", NULL), KEYSTONE_ACCEPTED);
    expect_text(request.identity.system_scope, "all");
    assert_false(request.identity.outside_admin_project);
    assert_null(request.identity.service.user_id.data);
    assert_int_equal(check_tokens("domain", NULL), KEYSTONE_ACCEPTED);
    expect_text(request.identity.domain_id, "d");
    /* the scope is the user's, whatever the service's is (keystonemiddleware confuses them) */
    assert_int_equal(check_tokens("a", "system"), KEYSTONE_ACCEPTED);
    assert_null(request.identity.system_scope.data);
    assert_int_equal(check_tokens("system", "s"), KEYSTONE_ACCEPTED);
    expect_text(request.identity.system_scope, "all");
}

static void expired(void **state)
{
    (void)state;
    know("old", true, "");
    know("s", false, SERVICE);
    know("nova", false, ", \"roles\": [{\"name\": \"Nova\"}]");
    know("upper", false, ", \"roles\": [{\"name\": \"SERVICE\"}]");
    know("olds", true, SERVICE);
    know("good", false, "");
    expect_refused("old", NULL, "it has expired");
    assert_int_equal(check_tokens("old", "s"), KEYSTONE_ACCEPTED);
    assert_int_equal(check_tokens("old", "nova"), KEYSTONE_ACCEPTED);
    expect_refused("old", "upper", "it has expired"); /* these roles are case-sensitive */
    expect_refused("old", "good", "it has expired");
    expect_refused("old", "olds", "it has expired");
    expect_refused("good", "olds", "it has expired");
}

static void required_roles(void **state)
{
    (void)state;
    settings.service_roles_required = true;
    know("s", false, SERVICE);
    know("good", false, "");
    assert_int_equal(check_tokens("good", NULL), KEYSTONE_ACCEPTED);
    assert_int_equal(check_tokens("good", "s"), KEYSTONE_ACCEPTED);
    expect_refused("good", "good", "the service token has none of service_token_roles");
}

static void no_tokens(void **state)
{
    (void)state;
    know("good", false, "");
    char longest[KEYSTONE_TOKEN_BYTES_MAX + 2];
    memset(longest, 'a', sizeof(longest));
    longest[sizeof(longest) - 1] = '\0';
    expect_refused(NULL, NULL, "there is no token");
    expect_refused("", NULL, "there is no token");
    expect_refused(NULL, "good", "there is no token");
    expect_refused(longest, NULL, "it cannot be a token");
    expect_refused("a b", NULL, "it cannot be a token");
    expect_refused("a\tb", NULL, "it cannot be a token");
    expect_refused("a\x01", NULL, "it cannot be a token");
    expect_refused("a\x7f", NULL, "it cannot be a token");
    expect_refused("\xc3\xa4", NULL, "it cannot be a token");
    expect_refused("good", "a b", "the service token cannot be one");
    assert_int_equal(check_tokens("good", ""), KEYSTONE_ACCEPTED);
}

static void delayed_decisions(void **state)
{
    (void)state;
    settings.delay_auth_decision = true;
    know("good", false, "");
    know("olds", true, SERVICE);
    assert_true(keystone_delays(keystone));
    expect_refused(NULL, NULL, "there is no token");
    assert_int_equal(check_tokens("good", "a b"), KEYSTONE_ACCEPTED);
    assert_null(request.identity.service.user_id.data);
    assert_int_equal(check_tokens("good", "olds"), KEYSTONE_ACCEPTED);
    assert_null(request.identity.service.user_id.data);
}

#define CREDENTIAL(rules, catalog)                                                                 \
    ", \"application_credential\": {\"access_rules\": [" rules "]}, \"catalog\": [" catalog "]"
#define RULE "{\"service\": \"placement\", \"method\": \"GET\", \"path\": \"/placement/t*\"}"

static void access_rules(void **state)
{
    (void)state;
    know("app", false, CREDENTIAL(RULE, "{\"type\": \"placement\"}"));
    know("strange", false, CREDENTIAL(RULE, "{\"type\": \"compute\"}"));
    know("none", false, CREDENTIAL("", "{\"type\": \"placement\"}"));
    know("s", false, SERVICE);
    know("good", false, "");
    assert_int_equal(check_tokens("app", NULL), KEYSTONE_ACCEPTED);
    assert_int_equal(check_request("app", NULL, "PUT", "/traits"), KEYSTONE_REFUSED);
    assert_string_equal(request.why, "its access rules do not allow this");
    assert_int_equal(check_request("app", NULL, "GET", "/resource_classes"), KEYSTONE_REFUSED);
    assert_int_equal(check_request("app", NULL, "GET", "/t/"), KEYSTONE_REFUSED);
    assert_int_equal(check_request("app", NULL, "GET", "/t t"), KEYSTONE_ACCEPTED);
    expect_refused("strange", NULL,
                   "it has access rules, and its catalog has no service of our service_type");
    expect_refused("strange", "s",
                   "it has access rules, and its catalog has no service of our service_type");
    expect_refused("none", NULL, "its access rules do not allow this");
    settings.delay_auth_decision = true;
    expect_refused("none", "a b", "its access rules do not allow this");
}

/* A service may send any request, but a second token alone does not make a caller a service: not
 * even where service tokens need no role. */
static void lifted_access_rules(void **state)
{
    (void)state;
    know("none", false, CREDENTIAL("", "{\"type\": \"placement\"}"));
    know("none-s", false,
         CREDENTIAL("", "{\"type\": \"placement\"}") ", \"roles\": [{\"name\": \"service\"}]");
    know("s", false, SERVICE);
    know("good", false, "");
    const char *why = "its access rules do not allow this";
    assert_int_equal(check_tokens("none", "s"), KEYSTONE_ACCEPTED);
    expect_refused("none", "good", why);
    expect_refused("none", "none", why);
    expect_refused("none-s", "none-s", why);
    expect_refused("none", "none-s", why);
    assert_int_equal(check_tokens("good", "none-s"), KEYSTONE_ACCEPTED);
}

static enum keystone_verdict check_metal(enum token_service service, const char *path)
{
    keystone_request_close(&request);
    request = (struct keystone_request){
        .service_of_ours = service,
        .user_token = SLICE_LIT("app"),
        .method = SLICE_LIT("GET"),
        .path = slice_of(path),
        .arena = arena,
    };
    return keystone_check(keystone, &request);
}

/* A rule permits the API of the service that it names, not the other one, whatever its path. */
static void rules_of_two_apis(void **state)
{
    (void)state;
    know("app", false,
         CREDENTIAL("{\"service\": \"placement\", \"method\": \"GET\", \"path\": \"/traits\"}, "
                    "{\"service\": \"baremetal\", \"method\": \"GET\", \"path\": \"/v1/**\"}",
                    "{\"type\": \"placement\"}, {\"type\": \"baremetal\"}"));
    assert_int_equal(check_metal(TOKEN_SERVICE_PLACEMENT, "/traits"), KEYSTONE_ACCEPTED);
    assert_int_equal(check_metal(TOKEN_SERVICE_BAREMETAL, "/v1/nodes"), KEYSTONE_ACCEPTED);
    assert_int_equal(check_metal(TOKEN_SERVICE_BAREMETAL, "/traits"), KEYSTONE_REFUSED);
    assert_string_equal(request.why, "its access rules do not allow this");
    assert_int_equal(check_metal(TOKEN_SERVICE_PLACEMENT, "/v1/nodes"), KEYSTONE_REFUSED);
    know("app", false,
         CREDENTIAL("{\"service\": \"baremetal\", \"method\": \"GET\", \"path\": \"/**\"}",
                    "{\"type\": \"placement\"}"));
    assert_int_equal(check_metal(TOKEN_SERVICE_BAREMETAL, "/v1/nodes"), KEYSTONE_REFUSED);
    assert_string_equal(request.why,
                        "it has access rules, and its catalog has no service of our service_type");
    settings.terms.service_types[TOKEN_SERVICE_BAREMETAL] = (struct slice){0};
    assert_int_equal(check_metal(TOKEN_SERVICE_BAREMETAL, "/v1/nodes"), KEYSTONE_REFUSED);
    assert_string_equal(request.why,
                        "it has access rules, and [baremetal] service_type is not set");
}

static void no_service_type(void **state)
{
    (void)state;
    settings.terms.service_types[TOKEN_SERVICE_PLACEMENT] = (struct slice){0};
    know("app", false, CREDENTIAL(RULE, "{\"type\": \"placement\"}"));
    know("s", false, SERVICE);
    const char *why = "it has access rules, and [keystone_authtoken] service_type is not set";
    expect_refused("app", NULL, why);
    expect_refused("app", "s", why);
}

static void bound(void **state)
{
    (void)state;
    know("krb", false, ", \"bind\": {\"kerberos\": \"u\"}");
    know("good", false, "");
    expect_refused("krb", NULL, "it is bound to another authentication method");
    expect_refused("good", "krb", "it is bound to another authentication method");
}

#define RULES_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        RULES_TEST(identities),        RULES_TEST(expired),
        RULES_TEST(required_roles),    RULES_TEST(no_tokens),
        RULES_TEST(access_rules),      RULES_TEST(lifted_access_rules),
        RULES_TEST(rules_of_two_apis), RULES_TEST(no_service_type),
        RULES_TEST(delayed_decisions), RULES_TEST(bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
