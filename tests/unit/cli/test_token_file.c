/* Keystone's body of a token, and texts that are not one. */
#include "cli/token_file.h"
#include "unit.h"

static struct identity identity_of(struct arena *arena, const char *text)
{
    struct identity identity;
    struct err err = {.arena = arena};
    if (!token_text_read("f", slice_of(text), arena, &identity, &err))
        fail_msg("%.*s", SLICE_ARG(err.message));
    return identity;
}

static void tokens(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct identity project = identity_of(
        arena, "{\"token\": {\"user\": {\"id\": \"u\", \"domain\": {\"id\": \"d\"}, \"name\": "
               "\"\\ud83d\\ude00\"}, \"project\": {\"id\": \"p\", \"domain\": {\"id\": \"e\"}}, "
               "\"roles\": [{\"name\": \"admin\"}, {\"name\": \"reader\", \"id\": \"1\"}]}}");
    assert_true(slice_equal(project.user_id, SLICE_LIT("u")));
    assert_true(slice_equal(project.user_domain_id, SLICE_LIT("d")));
    assert_true(slice_equal(project.project_id, SLICE_LIT("p")));
    assert_true(slice_equal(project.project_domain_id, SLICE_LIT("e")));
    assert_int_equal(project.roles.count, 2);
    assert_true(slice_equal(project.roles.names[1], SLICE_LIT("reader")));
    assert_null(project.domain_id.data);
    assert_null(project.system_scope.data);
    assert_false(project.outside_admin_project);
    struct identity domain =
        identity_of(arena, "{\"token\": {\"user\": {\"id\": \"u\"}, \"domain\": {\"id\": \"d\"}}}");
    assert_true(slice_equal(domain.domain_id, SLICE_LIT("d")));
    assert_null(domain.project_id.data);
    assert_int_equal(domain.roles.count, 0);
    struct identity of_system =
        identity_of(arena, "{\"token\": {\"user\": {\"id\": \"u\"}, \"system\": {\"all\": true}, "
                           "\"is_admin_project\": false}}");
    assert_true(slice_equal(of_system.system_scope, SLICE_LIT("all")));
    assert_true(of_system.outside_admin_project);
    arena_destroy(arena);
}

static void no_tokens(void **state)
{
    (void)state;
    static const char *const ROWS[][2] = {
        {"", "f:1: not valid JSON: '[' or '{' expected near end of file"},
        {"{\n\"token\": }", "f:2: not valid JSON: unexpected token near '}'"},
        {"[]", "f: has no token: the body of Keystone's answer to GET /v3/auth/tokens is expected"},
        {"{\"token\": \"t\"}", "f: has no token: the body of Keystone's answer to GET "
                               "/v3/auth/tokens is expected"},
        {"{\"token\": {\"user\": \"u\"}}", "f: the token has no user with an id"},
        {"{\"token\": {\"user\": {\"id\": \"u\"}, \"roles\": \"r\"}}",
         "f: the token's roles are not a list"},
        {"{\"token\": {\"user\": {\"id\": \"u\"}, \"roles\": [\"r\"]}}",
         "f: a role of the token has no name"},
    };
    for (size_t i = 0; i < sizeof(ROWS) / sizeof(ROWS[0]); i++) {
        struct arena *arena = arena_create();
        struct err err = {.arena = arena};
        struct identity identity;
        assert_false(token_text_read("f", slice_of(ROWS[i][0]), arena, &identity, &err));
        assert_string_equal(arena_copy(arena, err.message).data, ROWS[i][1]);
        arena_destroy(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tokens),
        cmocka_unit_test(no_tokens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
