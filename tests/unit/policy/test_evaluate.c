/* The result of rules for one caller: T passes, F fails, E refuses whatever is around it. */
#include "policy/evaluate.h"

#include <stdio.h>

#include "policy_of.h"

static const struct slice ROLES[] = {SLICE_LIT("Admin"), SLICE_LIT("reader")};
static const struct slice SERVICE_ROLES[] = {SLICE_LIT("service")};

static const struct identity CALLER = {
    .user_id = SLICE_LIT("u1"),
    .project_id = SLICE_LIT("p1"),
    .project_domain_id = SLICE_LIT("default"),
    .roles = {ROLES, 2},
    .service = {.user_id = SLICE_LIT("nova"), .roles = {SERVICE_ROLES, 1}},
};

static const struct policy_attribute ATTRIBUTES[] = {
    {SLICE_LIT("project_id"), SLICE_LIT("p1")},    {SLICE_LIT("user_id"), {0}},
    {SLICE_LIT("role.name"), SLICE_LIT("Member")}, {SLICE_LIT("user.enabled"), SLICE_LIT("True")},
    {SLICE_LIT("role"), SLICE_LIT("ADMIN")},       {SLICE_LIT("half"), SLICE_LIT("p")},
    {SLICE_LIT("a(b)"), SLICE_LIT("1")},
};

static char letter_of(const struct policy *policy, const struct identity *identity)
{
    const struct policy_target target = {ATTRIBUTES, sizeof(ATTRIBUTES) / sizeof(ATTRIBUTES[0])};
    const struct policy_input input = {identity, &target};
    static const char LETTERS[] = {[POLICY_FALSE] = 'F', [POLICY_TRUE] = 'T', [POLICY_FAULT] = 'E'};
    return LETTERS[policy_evaluate(
        policy_find(&policy->sets[POLICY_OF_PLACEMENT], SLICE_LIT("r"))->root, &input)];
}

static void check_letter(const char *file, const struct identity *identity, char letter)
{
    const struct policy_options options = {.default_rule = SLICE_LIT("default")};
    struct policy *policy = policy_of(&options, file);
    if (letter_of(policy, identity) != letter)
        fail_msg("%s: %c, not %c", file, letter_of(policy, identity), letter);
    policy_release(policy);
}

struct row {
    const char *rule;
    char letter;
};

static void check_rows(const struct row *rows, size_t count, const struct identity *identity)
{
    for (size_t i = 0; i < count; i++) {
        char file[256];
        snprintf(file, sizeof(file), "{\"r\": \"%s\"}", rows[i].rule);
        check_letter(file, identity, rows[i].letter);
    }
}

#define CHECK_ROWS(rows, identity) check_rows((rows), sizeof(rows) / sizeof((rows)[0]), (identity))

static void checks(void **state)
{
    (void)state;
    static const struct row ROWS[] = {
        {"@", 'T'},
        {"!", 'F'},
        {"", 'T'},
        {"role:admin", 'T'},
        {"role:READER", 'T'},
        {"role:service", 'F'},
        {"role:admi", 'F'},
        {"role:%(role)s", 'T'},
        {"role:%(missing)s", 'F'},
        {"roles:Admin", 'T'},
        {"roles:admin", 'F'},
        {"service_roles:service", 'T'},
        {"user_id:u1", 'T'},
        {"user_id:%(user_id)s", 'F'},
        {"user_domain_id:%(user_id)s", 'T'}, /* None is None */
        {"user_domain_id:None", 'T'},
        {"project_id:%(project_id)s", 'T'},
        {"project_id:%(half)s1", 'T'},
        {"project_id:p%(a(b))s", 'T'},
        {"project_id:%(half)s", 'F'},
        {"project_id:%%(half)s1", 'F'},
        {"project_domain_id:default", 'T'},
        {"domain_id:None", 'T'},
        {"system_scope:all", 'F'},
        {"system_scope:None", 'T'},
        {"system:None", 'F'},
        {"is_admin_project:True", 'T'},
        {"service_user_id:nova", 'T'},
        {"service_user_domain_id:None", 'T'},
        {"service_project_id:None", 'T'},
        {"service_project_domain_id:None", 'T'},
        {"is_admin:True", 'F'},
        {"'Member':%(role.name)s", 'T'},
        {"'Member':Member", 'T'},
        {"\\\"Member\\\":%(role.name)s", 'T'},
        {"True:%(user.enabled)s", 'T'},
        {"None:%(user_id)s", 'T'},
        {"007:7", 'E'},
        {"-7:-7", 'T'},
        {"+00:0", 'T'},
        {"1_000:1000", 'T'},
        {"a-b:x", 'F'},
        {"project.domain.id:x", 'F'},
        {"user_id.x:y", 'E'},
        {"user_id.x:%(missing)s", 'F'},
        {"roles.x:y", 'E'},
        {"roles.x@y:z", 'E'},
        {"not roles.x@y:z", 'E'},
        {"roles@x.y:z", 'F'},
        {"user_id.x-y:z", 'E'},
        {"system.x:y", 'F'},
        {"class:x", 'E'},
        {":x", 'E'},
        {"'open:x", 'E'},
        {"'a\\\\b':x", 'E'}, /* an escape */
        {"http:x", 'E'},
        {"user_id:%d", 'E'},
        {"user_id:%(missing)d", 'F'},
        {"role:%", 'E'},
        {"role:%(missing)s%", 'F'},
    };
    CHECK_ROWS(ROWS, &CALLER);
}

/* In the list syntax a whole sentence is one check, and the part before its colon is a Python
 * expression. */
static void sentences(void **state)
{
    (void)state;
    check_letter("{r: ['not role:x']}", &CALLER, 'F');
    check_letter("{r: ['not role:x', 'role:admin']}", &CALLER, 'T');
    check_letter("{r: ['not 00:x or role:admin']}", &CALLER, 'F');
    check_letter("{r: ['not \t not a.b+5:x']}", &CALLER, 'F');
    check_letter("{r: ['not:x']}", &CALLER, 'E');
    check_letter("{r: ['not not:x']}", &CALLER, 'E');
    check_letter("{r: ['not 007:x']}", &CALLER, 'E');
    check_letter("{r: ['5+not a:x']}", &CALLER, 'E');
    check_letter("{r: ['not a b:x']}", &CALLER, 'E');
    check_letter("{r: ['nota b:x']}", &CALLER, 'E');
}

static void operators(void **state)
{
    (void)state;
    static const struct row ROWS[] = {
        {"role:admin and role:reader", 'T'},
        {"role:admin and role:x", 'F'},
        {"role:x or role:admin", 'T'},
        {"role:x or role:y", 'F'},
        {"not role:x", 'T'},
        {"not role:admin", 'F'},
        {"role:x and role:x or role:admin", 'T'},
        {"role:admin or role:x and role:x", 'T'},
        {"(role:admin or role:x) and role:x", 'F'},
        {"not http:x", 'E'},
        {"role:admin or http:x", 'T'},
        {"role:x or http:x", 'E'},
        {"role:x and http:x", 'F'},
        {"http:x and role:x", 'E'},
    };
    CHECK_ROWS(ROWS, &CALLER);
}

static void of_the_system(void **state)
{
    (void)state;
    static const struct row ROWS[] = {
        {"system_scope:all", 'T'},
        {"system:all", 'T'},
        {"system.x:y", 'E'},
        {"project_id:None", 'T'},
        {"roles.x:y", 'F'}, /* a part of a role is requested */
        {"is_admin_project:True", 'F'},
        {"is_admin_project:False", 'T'},
    };
    const struct identity identity = {.system_scope = SLICE_LIT("all"),
                                      .outside_admin_project = true};
    CHECK_ROWS(ROWS, &identity);
}

static void references(void **state)
{
    (void)state;
    check_letter("{r: 'rule:a', a: 'rule:b', b: 'role:admin'}", &CALLER, 'T');
    check_letter("{r: 'rule:nothing'}", &CALLER, 'F');
    check_letter("{r: 'rule:nothing', default: 'role:admin'}", &CALLER, 'T');
    check_letter("{r: 'not rule:nothing', default: 'role:admin'}", &CALLER, 'F');
    check_letter("{r: 'not rule:admin_api'}", &CALLER, 'F');
}

/* A cycle is refused only where it is reached. */
static void circles(void **state)
{
    (void)state;
    check_letter("{r: 'rule:r'}", &CALLER, 'E');
    check_letter("{r: 'not rule:r'}", &CALLER, 'E');
    check_letter("{r: 'role:admin or rule:a', a: 'rule:r'}", &CALLER, 'T');
    check_letter("{r: 'role:x or rule:a', a: 'role:y or rule:r'}", &CALLER, 'E');
    check_letter("{r: 'role:x or rule:a', a: 'role:admin or rule:r'}", &CALLER, 'T');
    check_letter("{r: 'role:x and rule:r'}", &CALLER, 'F');
}

/* Thirty rules that refer to the next one twice: a thousand million checks. */
static void a_bomb(void **state)
{
    (void)state;
    struct buf file = {0};
    buf_printf(&file, "r: rule:a0\na30: '@'\n");
    for (unsigned i = 0; i < 30; i++)
        buf_printf(&file, "a%u: rule:a%u and rule:a%u\n", i, i + 1, i + 1);
    buf_append_char(&file, '\0');
    check_letter(file.data, &CALLER, 'E');
    buf_free(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(checks),        cmocka_unit_test(sentences),  cmocka_unit_test(operators),
        cmocka_unit_test(of_the_system), cmocka_unit_test(references), cmocka_unit_test(circles),
        cmocka_unit_test(a_bomb),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
