/* The noauth2 token and the headers that change what it says. */
#include "auth/noauth.h"

#include "unit.h"

static struct identity identify(const struct noauth_headers *headers)
{
    struct identity identity;
    assert_true(noauth_identify(headers, &identity));
    return identity;
}

static void assert_text(struct slice text, const char *wanted)
{
    assert_true(slice_equal(text, slice_of(wanted)));
}

static void no_token(void **state)
{
    (void)state;
    struct identity identity;
    struct noauth_headers headers = {.roles = SLICE_LIT("admin")};
    assert_false(noauth_identify(&headers, &identity));
}

static void empty_token_is_nobody(void **state)
{
    (void)state;
    struct noauth_headers headers = {.token = SLICE_LIT("")};
    struct identity identity = identify(&headers);
    assert_int_equal(identity.role_count, 0);
    assert_int_equal(identity.user_id.len, 0);
}

static void user_and_project(void **state)
{
    (void)state;
    struct noauth_headers headers = {.token = SLICE_LIT("admin")};
    struct identity identity = identify(&headers);
    assert_text(identity.user_id, "admin");
    assert_text(identity.project_id, "admin");
    assert_true(identity_has_role(&identity, SLICE_LIT("admin")));

    headers.token = SLICE_LIT("someone:a project");
    identity = identify(&headers);
    assert_text(identity.user_id, "someone");
    assert_text(identity.project_id, "a project");
    assert_int_equal(identity.role_count, 0);

    headers.project_id = SLICE_LIT("another");
    assert_text(identify(&headers).project_id, "another");
}

/* X-Roles replaces what the name admin gives, also when it is empty. */
static void roles(void **state)
{
    (void)state;
    struct noauth_headers headers = {.token = SLICE_LIT("admin"), .roles = SLICE_LIT("")};
    assert_int_equal(identify(&headers).role_count, 0);

    headers.roles = SLICE_LIT(" Reader , service,,");
    struct identity identity = identify(&headers);
    assert_int_equal(identity.role_count, 2);
    assert_true(identity_has_role(&identity, SLICE_LIT("reader")));
    assert_true(identity_has_role(&identity, SLICE_LIT("SERVICE")));
    assert_false(identity_has_role(&identity, SLICE_LIT("admin")));
    assert_false(identity_has_role(&identity, SLICE_LIT("read")));
}

static void more_roles_than_room(void **state)
{
    (void)state;
    char many[4 * IDENTITY_ROLES_MAX];
    memset(many, ',', sizeof(many));
    for (size_t i = 0; i < sizeof(many); i += 2)
        many[i] = 'r';
    struct noauth_headers headers = {.token = SLICE_LIT("x"), .roles = {many, sizeof(many)}};
    assert_int_equal(identify(&headers).role_count, IDENTITY_ROLES_MAX);
}

static void system_scope(void **state)
{
    (void)state;
    struct noauth_headers headers = {.token = SLICE_LIT("admin"), .system_scope = SLICE_LIT("all")};
    struct identity identity = identify(&headers);
    assert_text(identity.system_scope, "all");
    assert_null(identity.project_id.data);

    headers.system_scope = SLICE_LIT("");
    identity = identify(&headers);
    assert_int_equal(identity.system_scope.len, 0);
    assert_text(identity.project_id, "admin");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_token),
        cmocka_unit_test(empty_token_is_nobody),
        cmocka_unit_test(user_and_project),
        cmocka_unit_test(roles),
        cmocka_unit_test(more_roles_than_room),
        cmocka_unit_test(system_scope),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
