/* Roles are compared as a whole and without case. */
#include "auth/identity.h"
#include "unit.h"

static void roles(void **state)
{
    (void)state;
    const struct slice names[] = {SLICE_LIT("Admin"), SLICE_LIT("reader"),
                                  SLICE_LIT("service") /* beyond the count */};
    struct identity identity = {.roles = {names, 2}};
    assert_true(identity_has_role(&identity, SLICE_LIT("admin")));
    assert_true(identity_has_role(&identity, SLICE_LIT("READER")));
    assert_false(identity_has_role(&identity, SLICE_LIT("service")));
    assert_false(identity_has_role(&identity, SLICE_LIT("admi")));
    assert_false(identity_has_role(&identity, SLICE_LIT("admins")));
    assert_false(identity_has_role(&identity, SLICE_LIT("")));
    identity.roles.count = 0;
    assert_false(identity_has_role(&identity, SLICE_LIT("admin")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(roles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
