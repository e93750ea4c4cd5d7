/* Only the decisive parts are explained. */
#include "cli/policy_explain.h"

#include <stdio.h>

#include "policy/policy_of.h"

static const struct slice ROLES[] = {SLICE_LIT("reader"), SLICE_LIT("member")};
static const struct identity CALLER = {
    .user_id = SLICE_LIT("u"), .project_id = SLICE_LIT("p"), .roles = {ROLES, 2}};

static struct buf explained(const char *file)
{
    const struct policy_options options = {.default_rule = SLICE_LIT("default")};
    const struct policy_attribute about = {SLICE_LIT("project_id"), SLICE_LIT("p")};
    const struct policy_target target = {&about, 1};
    const struct policy_input input = {&CALLER, &target};
    struct policy *policy = policy_of(&options, file);
    struct buf out = {0};
    policy_explain(&out, policy_find(&policy->sets[POLICY_OF_PLACEMENT], SLICE_LIT("r")), &input);
    buf_append_char(&out, '\0');
    policy_release(policy);
    return out;
}

static void check_text(const char *rule, const char *text)
{
    char file[512];
    snprintf(file, sizeof(file), "r: %s\na: role:member\nc: rule:c\n", rule);
    struct buf out = explained(file);
    assert_string_equal(out.data, text);
    buf_free(&out);
}

static void texts(void **state)
{
    (void)state;
    check_text("'@'", "  passed   @\n");
    check_text("role:x", "  failed   role:x  (wanted: \"x\"; there: \"reader\", \"member\")\n");
    check_text("role:x or role:reader",
               "  passed   one of\n"
               "    passed   role:reader  (wanted: \"reader\"; there: \"reader\", \"member\")\n");
    check_text("role:reader and project_id:%(project_id)s",
               "  passed   all of\n"
               "    passed   role:reader  (wanted: \"reader\"; there: \"reader\", \"member\")\n"
               "    passed   project_id:%(project_id)s  (wanted: \"p\"; there: \"p\")\n");
    check_text("role:reader and user_id:x and role:y",
               "  failed   all of\n"
               "    failed   user_id:x  (wanted: \"x\"; there: \"u\")\n");
    check_text("not rule:a",
               "  failed   not\n"
               "    passed   rule:a  (file:2)\n"
               "      passed   role:member  (wanted: \"member\"; there: \"reader\", \"member\")\n");
    check_text("user_id:%(x)s", "  failed   user_id:%(x)s  (the target has no x)\n");
    check_text("user_id:%d", "  refused  user_id:%d  (it cannot be filled in)\n");
    check_text("service_roles:x", "  failed   service_roles:x  (wanted: \"x\"; there: none)\n");
    check_text("is_admin:True", "  failed   is_admin:True  (the token has no such credential)\n");
    check_text("\"'a':%(project_id)s\"",
               "  failed   'a':%(project_id)s  (wanted: \"p\"; there: \"a\")\n");
    check_text("rule:nothing", "  failed   rule:nothing  (not defined)\n");
    check_text("rule:c", "  refused  rule:c  (file:3)\n    refused  rule:c  (file:3)\n      which "
                         "is being evaluated already: the rules form a circle\n");
}

static void stand_ins(void **state)
{
    (void)state;
    struct buf out = explained("r: rule:nothing\ndefault: '!'\n");
    assert_string_equal(out.data, "  failed   rule:nothing  (not defined: default is used "
                                  "instead)\n    failed   !\n");
    buf_free(&out);
    out = explained("r: rule:service_api\n'rule:admin_api': '@'\n");
    assert_string_equal(out.data, "  passed   rule:service_api  (file:2, by its old name)\n"
                                  "    passed   @\n");
    buf_free(&out);
}

/* Rules that refer to each other twice would be explained a thousand million times. */
static void bombs_end(void **state)
{
    (void)state;
    struct buf file = {0};
    buf_printf(&file, "r: rule:a0\na12: '!'\n");
    for (unsigned i = 0; i < 12; i++)
        buf_printf(&file, "a%u: rule:a%u or rule:a%u\n", i, i + 1, i + 1);
    buf_append_char(&file, '\0');
    struct buf out = explained(file.data);
    assert_non_null(strstr(out.data, "and so on\n"));
    assert_in_range(out.len, 32 * 1024, 2 * 1024 * 1024);
    buf_free(&out);
    buf_free(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts),
        cmocka_unit_test(stand_ins),
        cmocka_unit_test(bombs_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
