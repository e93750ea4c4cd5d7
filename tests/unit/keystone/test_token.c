/* Reads Keystone's description of a token. */
#include "keystone/token.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/clock.h"
#include "unit.h"

static const struct token_terms TERMS = {{SLICE_LIT("placement"), SLICE_LIT("baremetal")},
                                         TOKEN_BIND_PERMISSIVE};
static const char *why;

/* A token of user u with these additional members. */
static struct token *read_with(const char *members, const struct token_terms *terms)
{
    struct buf body = {0};
    buf_printf(&body,
               "{\"token\": {\"user\": {\"id\": \"u\"}, \"expires_at\": "
               "\"2026-11-21T18:14:47.000000Z\"%s}}",
               members);
    why = NULL;
    struct token *token = token_read(buf_slice(&body), terms, &why);
    buf_free(&body);
    return token;
}

static struct token *read_text(const char *body)
{
    why = NULL;
    return token_read(slice_of(body), &TERMS, &why);
}

static void expect_text(struct slice got, const char *wanted)
{
    if (wanted == NULL) {
        assert_null(got.data);
        return;
    }
    assert_non_null(got.data);
    assert_int_equal(got.len, strlen(wanted));
    assert_memory_equal(got.data, wanted, got.len);
}

static void whole_token(void **state)
{
    (void)state;
    struct token *token = read_text(
        "{\"token\": {\"methods\": [\"password\"], \"user\": {\"domain\": {\"id\": \"ud\", "
        "\"name\": "
        "\"D\"}, \"id\": \"u-1\", \"name\": \"n\"}, \"project\": {\"domain\": {\"id\": \"pd\"}, "
        "\"id\": \"p-1\"}, \"roles\": [{\"id\": \"1\", \"name\": \"admin\"}, {\"name\": "
        "\"R\\u00f6le\"}, {\"name\": \"\"}], \"expires_at\": \"2026-11-21T18:14:47.250000Z\", "
        "\"is_domain\": false, \"is_admin_project\": false}}");
    assert_non_null(token);
    expect_text(token->party.user_id, "u-1");
    expect_text(token->party.user_domain_id, "ud");
    expect_text(token->party.project_id, "p-1");
    expect_text(token->party.project_domain_id, "pd");
    expect_text(token->domain_id, NULL);
    expect_text(token->names.user, "n");
    expect_text(token->names.user_domain, "D");
    expect_text(token->names.project, NULL);
    expect_text(token->names.domain, NULL);
    assert_int_equal(token->party.roles.count, 3);
    expect_text(token->party.roles.names[0], "admin");
    expect_text(token->party.roles.names[1], "R\xc3\xb6le");
    expect_text(token->party.roles.names[2], "");
    assert_false(token->is_system || token->is_bound || token->is_restricted ||
                 token->is_admin_project || token->has_catalog);
    int64_t expires_us;
    assert_true(clock_parse_iso(SLICE_LIT("2026-11-21 18:14:47.25"), &expires_us));
    assert_int_equal(token->expires_us, expires_us);
    assert_false(token_is_expired(token, expires_us - 1));
    assert_true(token_is_expired(token, expires_us));
    token_unref(token);
}

static void scopes(void **state)
{
    (void)state;
    struct token *token = read_with(", \"system\": {\"all\": true}", &TERMS);
    assert_true(token->is_system && token->is_admin_project);
    expect_text(token->party.project_id, NULL);
    expect_text(token->party.user_domain_id, NULL);
    assert_int_equal(token->party.roles.count, 0);
    token_unref(token);
    token = read_with(", \"system\": {\"all\": false}", &TERMS);
    assert_false(token->is_system);
    token_unref(token);
    token = read_with(", \"domain\": {\"id\": \"d-1\"}", &TERMS);
    expect_text(token->domain_id, "d-1");
    token_unref(token);
}

static void many_roles(void **state)
{
    (void)state;
    struct buf roles = {0};
    buf_append_lit(&roles, ", \"roles\": [{\"name\": \"0\"}");
    for (int i = 1; i < 20000; i++)
        buf_printf(&roles, ", {\"name\": \"%d\"}", i);
    buf_append_lit(&roles, "]");
    buf_append_char(&roles, '\0');
    struct token *token = read_with(roles.data, &TERMS);
    assert_int_equal(token->party.roles.count, 20000);
    expect_text(token->party.roles.names[19999], "19999");
    assert_in_range(token->bytes, 20000 * sizeof(struct slice), 20000 * 32);
    buf_free(&roles);
    token_unref(token);
}

static void access_rules(void **state)
{
    (void)state;
    static const char RULES[] =
        ", \"application_credential\": {\"id\": \"a\", \"access_rules\": ["
        "{\"service\": \"placement\", \"method\": \"GET\", \"path\": \"/traits\"}, "
        "{\"service\": \"compute\", \"method\": \"GET\", \"path\": \"/servers\"}, "
        "{\"service\": \"placement\", \"method\": \"GET\"}, 7, "
        "{\"service\": \"baremetal\", \"method\": \"GET\", \"path\": \"/v1/nodes\"}, "
        "{\"service\": 7, \"method\": \"GET\", \"path\": \"/v1/nodes\"}, "
        "{\"service\": \"placement\", \"method\": \"POST\", \"path\": \"/**\"}]}, "
        "\"catalog\": [{\"type\": \"compute\"}, {\"type\": \"placement\"}]";
    struct token *token = read_with(RULES, &TERMS);
    assert_true(token->is_restricted && token->has_catalog);
    assert_int_equal(token->services, 1U << TOKEN_SERVICE_PLACEMENT);
    assert_int_equal(token->rule_count, 3);
    expect_text(token->rules[0].path, "/traits");
    assert_int_equal(token->rules[0].services, 1U << TOKEN_SERVICE_PLACEMENT);
    expect_text(token->rules[1].path, "/v1/nodes");
    assert_int_equal(token->rules[1].services, 1U << TOKEN_SERVICE_BAREMETAL);
    expect_text(token->rules[2].method, "POST");
    token_unref(token);
    const struct token_terms alike = {{SLICE_LIT("placement"), SLICE_LIT("placement")},
                                      TOKEN_BIND_PERMISSIVE};
    token = read_with(RULES, &alike);
    assert_int_equal(token->services, 3);
    assert_int_equal(token->rule_count, 2);
    assert_int_equal(token->rules[1].services, 3);
    token_unref(token);
    const struct token_terms other = {{SLICE_LIT("volume")}, TOKEN_BIND_PERMISSIVE};
    token = read_with(RULES, &other);
    assert_true(token->is_restricted && token->has_catalog);
    assert_int_equal(token->services, 0);
    assert_int_equal(token->rule_count, 0);
    token_unref(token);
    token = read_with(RULES, &(struct token_terms){0});
    assert_true(token->is_restricted);
    assert_int_equal(token->services, 0);
    assert_int_equal(token->rule_count, 0);
    token_unref(token);
    static const struct {
        const char *credential;
        bool restricted;
    } KINDS[] = {
        {", \"application_credential\": {\"id\": \"a\"}", false},
        {", \"application_credential\": {\"access_rules\": null}", false},
        {", \"application_credential\": {\"access_rules\": []}", true},
        {", \"application_credential\": {\"access_rules\": {}}", true},
        {", \"application_credential\": {\"access_rules\": \"all\"}", true},
    };
    for (size_t i = 0; i < sizeof(KINDS) / sizeof(KINDS[0]); i++) {
        token = read_with(KINDS[i].credential, &TERMS);
        assert_int_equal(token->is_restricted, KINDS[i].restricted);
        assert_int_equal(token->rule_count, 0);
        token_unref(token);
    }
}

static void binds(void **state)
{
    (void)state;
    static const char *const BINDS[] = {"", ", \"bind\": {}", ", \"bind\": {\"kerberos\": \"u\"}",
                                        ", \"bind\": {\"x509\": \"u\"}"};
    /* as keystonemiddleware answers: disabled, permissive, strict, required */
    static const bool BOUND[][4] = {
        {false, false, false, true},
        {false, false, false, true},
        {false, true, true, true},
        {false, false, true, true},
    };
    for (size_t i = 0; i < 4; i++)
        for (unsigned mode = 0; mode < 4; mode++) {
            const struct token_terms terms = {.bind = (enum token_bind)mode};
            struct token *token = read_with(BINDS[i], &terms);
            assert_int_equal(token->is_bound, BOUND[i][mode]);
            token_unref(token);
        }
}

static void expect_none(const char *body, const char *reason)
{
    assert_null(read_text(body));
    assert_string_equal(why, reason);
}

static void no_tokens(void **state)
{
    (void)state;
    expect_none("", "it is not valid JSON");
    expect_none("<html>", "it is not valid JSON");
    expect_none("{\"token\": {\"user\": {\"id\": \"u\"}, \"expires_at\": \"2026-",
                "it is not valid JSON");
    expect_none("[1]", "it has no token");
    expect_none("{}", "it has no token");
    expect_none("{\"token\": []}", "it has no token");
    expect_none("{\"token\": null}", "it has no token");
    expect_none("{\"token\": {}}", "its token has no user");
    expect_none("{\"token\": {\"user\": \"u\"}}", "its token has no user");
    expect_none("{\"token\": {\"user\": {\"id\": 1}}}", "its token has no user");
    expect_none("{\"token\": {\"user\": {\"id\": \"u\"}}}", "its token has no expiry time");
    expect_none("{\"token\": {\"user\": {\"id\": \"u\"}, \"expires_at\": \"soon\"}}",
                "its token has no expiry time");
    expect_none("{\"token\": {\"user\": {\"id\": \"u\"}, \"expires_at\": 5}}",
                "its token has no expiry time");
    static const struct {
        const char *members;
        const char *reason;
    } WRONG[] = {
        {", \"roles\": {}", "its token's roles are not a list"},
        {", \"roles\": [7]", "a role of its token has no name"},
        {", \"roles\": [{\"name\": null}]", "a role of its token has no name"},
        {", \"project\": {}", "its token's project has no id"},
        {", \"project\": \"p\"", "its token's project has no id"},
        {", \"domain\": {\"id\": 1}", "its token's domain has no id"},
    };
    for (size_t i = 0; i < sizeof(WRONG) / sizeof(WRONG[0]); i++) {
        assert_null(read_with(WRONG[i].members, &TERMS));
        assert_string_equal(why, WRONG[i].reason);
    }
}

static void huge(void **state)
{
    (void)state;
    char *text = malloc(TOKEN_ANSWER_BYTES_MAX + 1);
    memset(text, ' ', TOKEN_ANSWER_BYTES_MAX + 1);
    why = NULL;
    assert_null(token_read((struct slice){text, TOKEN_ANSWER_BYTES_MAX + 1}, &TERMS, &why));
    assert_string_equal(why, "it is too large");
    memset(text, '[', TOKEN_ANSWER_BYTES_MAX);
    assert_null(token_read((struct slice){text, TOKEN_ANSWER_BYTES_MAX}, &TERMS, &why));
    assert_string_equal(why, "it is not valid JSON");
    free(text);
}

static void references(void **state)
{
    (void)state;
    struct token *token = read_with("", &TERMS);
    assert_ptr_equal(token_ref(token), token);
    token_unref(token);
    expect_text(token->party.user_id, "u");
    token_unref(token);
    token_unref(NULL);
}

static void times(void **state)
{
    (void)state;
    int64_t at_us, wanted_us;
    assert_true(clock_parse_iso(SLICE_LIT("2026-11-21 18:14:47"), &wanted_us));
    static const char *const SAME[] = {"2026-11-21T18:14:47.000000Z", "2026-11-21T18:14:47Z",
                                       "2026-11-21T18:14:47",         "2026-11-21T20:14:47+02:00",
                                       "2026-11-21T12:44:47.0-05:30", "2026-11-21 18:14:47+00:00"};
    for (size_t i = 0; i < sizeof(SAME) / sizeof(SAME[0]); i++) {
        assert_true(token_parse_time(slice_of(SAME[i]), &at_us));
        assert_int_equal(at_us, wanted_us);
    }
    static const char *const NONE[] = {"",
                                       "Z",
                                       "+02:00",
                                       "2026-11-21",
                                       "2026-11-21T18:14:47+0200",
                                       "2026-11-21T18:14:47+a2:00",
                                       "2026-13-21T18:14:47Z",
                                       "2026-11-21T18:14:47ZZ",
                                       "18:14:47",
                                       "never"};
    for (size_t i = 0; i < sizeof(NONE) / sizeof(NONE[0]); i++)
        assert_false(token_parse_time(slice_of(NONE[i]), &at_us));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_token),  cmocka_unit_test(scopes),     cmocka_unit_test(many_roles),
        cmocka_unit_test(access_rules), cmocka_unit_test(binds),      cmocka_unit_test(no_tokens),
        cmocka_unit_test(huge),         cmocka_unit_test(references), cmocka_unit_test(times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
