/* Texts and lists become trees: each row is a rule and its printed form, which is that of
 * oslo.policy. */
#include "policy/language.h"

#include <stdlib.h>

#include "policy_of.h"

static struct slice printed_of(const char *rule, struct buf *out, unsigned *notes)
{
    const struct policy_options options = {0};
    struct buf text = {0};
    buf_printf(&text, "r: %s\n", rule);
    buf_append_char(&text, '\0');
    struct policy *policy = policy_of(&options, text.data);
    out->len = 0;
    policy_node_print(out, policy_find(&policy->sets[POLICY_OF_PLACEMENT], SLICE_LIT("r"))->root);
    *notes = policy->notes.count;
    policy_release(policy);
    buf_free(&text);
    return buf_slice(out);
}

static void check_rows(const char *const rows[][2], size_t count, bool noted)
{
    struct buf out = {0};
    for (size_t i = 0; i < count; i++) {
        unsigned notes;
        struct slice printed = printed_of(rows[i][0], &out, &notes);
        if (!slice_equal(printed, slice_of(rows[i][1])) || (notes > 0) != noted)
            fail_msg("%s is %.*s with %u notes, not %s", rows[i][0], SLICE_ARG(printed), notes,
                     rows[i][1]);
    }
    buf_free(&out);
}

#define CHECK_ROWS(rows, noted) check_rows((rows), sizeof(rows) / sizeof((rows)[0]), (noted))

static void rules(void **state)
{
    (void)state;
    static const char *const ROWS[][2] = {
        {"''", "@"},
        {"[]", "@"},
        {"'@'", "@"},
        {"'!'", "!"},
        {"role:admin", "role:admin"},
        {"(role:admin)", "role:admin"},
        {"((role:a) )", "role:a"},
        {"role:a or role:b or role:c", "(role:a or role:b or role:c)"},
        {"role:a or role:b and role:c", "(role:a or (role:b and role:c))"},
        {"role:a and role:b or role:c", "((role:a and role:b) or role:c)"},
        {"(role:a or role:b) and role:c", "((role:a or role:b) and role:c)"},
        {"not role:a and role:b", "(not role:a and role:b)"},
        {"not (role:a and role:b)", "not (role:a and role:b)"},
        {"not not role:a", "not not role:a"},
        {"role:a AND Not role:b oR !", "((role:a and not role:b) or !)"},
        {"project_id:%(project_id)s", "project_id:%(project_id)s"},
        {"(project_id:%(project_id)s)", "project_id:%(project_id)s"},
        {"'''Member'':%(role.name)s'", "'Member':%(role.name)s"},
        {"\"role:a\\tor\\nrole:b\\u00a0and\\u3000role:c\"", "(role:a or (role:b and role:c))"},
        {"[[role:a, role:b], [role:c]]", "((role:a and role:b) or role:c)"},
        {"[role:a, [role:b]]", "(role:a or role:b)"},
        {"[[], '', ~, [role:a]]", "role:a"},
    };
    CHECK_ROWS(ROWS, false);
}

static void wrong_rules(void **state)
{
    (void)state;
    static const char *const ROWS[][2] = {
        {"", "@"},
        {"' '", "!"},
        {"admin", "!"},
        {"role:a role:b", "!"},
        {"role:a and", "!"},
        {"or role:a", "!"},
        {"(role:a", "!"},
        {"role:a)", "!"},
        {"()", "!"},
        {"role:a or 'role:b'", "!"},
        {"[[]]", "!"},
        {"[[5, role:a]]", "(! and role:a)"},
        {"and", "and"},
        {"'\"role:a\"'", "\"role:a\""},
        {"http://server/%(user_id)s", "http://server/%(user_id)s"},
        {"is_admin:True", "is_admin:True"},
        {"user_id.x:y", "user_id.x:y"},
        {"user_id:%d", "user_id:%d"},
        {"role:50%", "role:50%"},
        {"class:x", "class:x"},
        {"rule:nothing", "rule:nothing"},
        {"rule:r", "rule:r"},
    };
    CHECK_ROWS(ROWS, true);
}

static char *repeated(const char *before, const char *part, unsigned count, const char *after)
{
    struct buf text = {0};
    buf_printf(&text, "r: \"%s", before);
    for (unsigned i = 0; i < count; i++)
        buf_printf(&text, "%s", part);
    buf_printf(&text, "%s\"", after);
    buf_append_char(&text, '\0');
    check(text.data != NULL);
    return text.data;
}

static void check_limit(const char *before, const char *part, unsigned count, const char *after,
                        const char *words)
{
    struct arena *arena = arena_create();
    struct err err = {.arena = arena};
    const struct policy_options options = {0};
    char *text = repeated(before, part, count, after);
    struct policy *policy = policy_try(&options, text, &err);
    assert_int_equal(policy == NULL, words != NULL);
    if (policy != NULL)
        policy_release(policy);
    else
        assert_non_null(strstr(arena_copy(arena, err.message).data, words));
    free(text);
    arena_destroy(arena);
}

static void limits(void **state)
{
    (void)state;
    check_limit("role:a", " or role:a", 2047, "", NULL);
    check_limit("role:a", " or role:a", 2048, "", "words");
    check_limit("", "not ", POLICY_NESTING_MAX - 1, "role:a", NULL);
    check_limit("", "not ", POLICY_NESTING_MAX, "role:a", "deep");
    check_limit("", "( ", POLICY_NESTING_MAX, "role:a", "deep");
    check_limit("role:", "a", POLICY_RULE_BYTES_MAX - 5, "", NULL);
    check_limit("role:", "a", POLICY_RULE_BYTES_MAX - 4, "", "bytes");
}

/* With aliases a list of any size is cheap to write. */
static void list_limit(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct buf text = {0};
    buf_printf(&text, "r: [&a [role:a");
    for (unsigned i = 0; i < 70; i++)
        buf_printf(&text, ",role:a");
    buf_append_char(&text, ']');
    for (unsigned i = 0; i < 70; i++)
        buf_printf(&text, ",*a");
    buf_append(&text, "]", 2);
    assert_string_equal(refusal_of(arena, text.data),
                        "file:1: rule r: a rule of more than 4096 checks");
    buf_free(&text);
    arena_destroy(arena);
}

static void long_list(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct buf text = {0};
    buf_printf(&text, "r: [role:a");
    for (unsigned i = 0; i < POLICY_CHECKS_MAX; i++)
        buf_printf(&text, ",role:a");
    buf_append(&text, "]", 2);
    assert_string_equal(refusal_of(arena, text.data),
                        "file:1: rule r: a rule of more than 4096 checks");
    buf_free(&text);
    arena_destroy(arena);
}

static void no_rules(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    assert_string_equal(refusal_of(arena, "a: role:x\nr: yes"),
                        "file:2: rule r: must be text (in quotes) or a list");
    assert_string_equal(refusal_of(arena, "r: {a: b}"),
                        "file:1: rule r: must be text (in quotes) or a list, not a mapping");
    assert_string_equal(refusal_of(arena, "r: [role:a, 5]"),
                        "file:1: rule r: its list has an element that is neither text nor a list");
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules),      cmocka_unit_test(wrong_rules), cmocka_unit_test(limits),
        cmocka_unit_test(list_limit), cmocka_unit_test(long_list),   cmocka_unit_test(no_rules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
