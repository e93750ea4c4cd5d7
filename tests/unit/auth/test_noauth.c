/* noauth2's token and headers (placement spec, noauth2): each row is a request and its identity. */
#include "auth/noauth.h"
#include "unit.h"

#define NONE                                                                                       \
    {                                                                                              \
        0                                                                                          \
    }

static const struct {
    struct slice token, roles_header, project_header, scope_header;
    struct slice user, project, scope;
    const char *roles; /* separated by commas */
} CASES[] = {
    {SLICE_LIT("admin"), NONE, NONE, NONE, SLICE_LIT("admin"), SLICE_LIT("admin"), NONE, "admin"},
    {SLICE_LIT("admin:p"), NONE, NONE, NONE, SLICE_LIT("admin"), SLICE_LIT("p"), NONE, "admin"},
    {SLICE_LIT("me"), NONE, NONE, NONE, SLICE_LIT("me"), SLICE_LIT("me"), NONE, ""},
    {SLICE_LIT("me:"), NONE, NONE, NONE, SLICE_LIT("me"), SLICE_LIT("me"), NONE, ""},
    {SLICE_LIT("me:p:q"), NONE, NONE, NONE, SLICE_LIT("me"), SLICE_LIT("p:q"), NONE, ""},
    {SLICE_LIT(":p"), NONE, NONE, NONE, SLICE_LIT(""), SLICE_LIT("p"), NONE, ""},
    {SLICE_LIT(""), NONE, NONE, NONE, SLICE_LIT(""), SLICE_LIT(""), NONE, ""},
    {SLICE_LIT("Admin"), NONE, NONE, NONE, SLICE_LIT("Admin"), SLICE_LIT("Admin"), NONE, ""},
    {SLICE_LIT("admin"), SLICE_LIT(""), NONE, NONE, SLICE_LIT("admin"), SLICE_LIT("admin"), NONE,
     ""},
    {SLICE_LIT("me"), SLICE_LIT(" a , b,,c "), NONE, NONE, SLICE_LIT("me"), SLICE_LIT("me"), NONE,
     "a,b,c"},
    {SLICE_LIT("me"), SLICE_LIT(",, ,"), NONE, NONE, SLICE_LIT("me"), SLICE_LIT("me"), NONE, ""},
    {SLICE_LIT("me:p"), NONE, SLICE_LIT("other"), NONE, SLICE_LIT("me"), SLICE_LIT("other"), NONE,
     ""},
    {SLICE_LIT("admin"), NONE, NONE, SLICE_LIT("all"), SLICE_LIT("admin"), NONE, SLICE_LIT("all"),
     "admin"},
    {SLICE_LIT("admin:p"), NONE, SLICE_LIT("x"), SLICE_LIT("all"), SLICE_LIT("admin"),
     SLICE_LIT("x"), SLICE_LIT("all"), "admin"},
    {SLICE_LIT("admin:p"), NONE, NONE, SLICE_LIT(""), SLICE_LIT("admin"), SLICE_LIT("p"), NONE,
     "admin"},
};

static void headers(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        struct noauth_headers given = {CASES[i].token, CASES[i].roles_header,
                                       CASES[i].project_header, CASES[i].scope_header};
        struct identity identity;
        memset(&identity, 0xff, sizeof(identity));
        assert_true(noauth_identify(&given, arena, &identity));
        assert_true(slice_equal(identity.user_id, CASES[i].user));
        assert_true(slice_equal(identity.project_id, CASES[i].project));
        assert_int_equal(identity.project_id.data == NULL, CASES[i].project.data == NULL);
        assert_true(slice_equal(identity.system_scope, CASES[i].scope));
        assert_int_equal(identity.domain_id.len, 0);
        char roles[64] = "";
        for (unsigned r = 0; r < identity.roles.count; r++) {
            strcat(roles, r == 0 ? "" : ",");
            strncat(roles, identity.roles.names[r].data, identity.roles.names[r].len);
        }
        assert_string_equal(roles, CASES[i].roles);
    }
    arena_destroy(arena);
}

static void no_token(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct noauth_headers given = {.roles = SLICE_LIT("admin")};
    struct identity identity;
    assert_false(noauth_identify(&given, arena, &identity));
    assert_int_equal(identity.roles.count, 0);
    arena_destroy(arena);
}

static void many_roles(void **state)
{
    (void)state;
    enum { MANY = 100 };
    struct arena *arena = arena_create();
    char text[3 * MANY];
    for (unsigned i = 0; i < MANY; i++)
        memcpy(text + 3 * i, "ab,", 3);
    struct noauth_headers given = {.token = SLICE_LIT("x"), .roles = {text, sizeof(text)}};
    struct identity identity;
    assert_true(noauth_identify(&given, arena, &identity));
    assert_int_equal(identity.roles.count, MANY);
    assert_true(slice_equal(identity.roles.names[MANY - 1], SLICE_LIT("ab")));
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(headers),
        cmocka_unit_test(no_token),
        cmocka_unit_test(many_roles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
