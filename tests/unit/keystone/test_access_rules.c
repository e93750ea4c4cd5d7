/* Which paths the rules of application credentials match: measured with keystonemiddleware, except
 * for the characters that it treats as a regular expression. */
#include "keystone/access_rules.h"

#include <stdlib.h>

#include "base/clock.h"
#include "unit.h"

static bool matches(const char *pattern, const char *path)
{
    size_t steps = 1000 * 1000;
    return access_rules_path_matches(slice_of(path), slice_of(pattern), &steps);
}

static void as_keystonemiddleware(void **state)
{
    (void)state;
    static const struct {
        const char *pattern;
        const char *path;
        bool matches;
    } CASES[] = {
        {"/traits", "/traits", true},
        {"/traits", "/traits/", false},
        {"/trait*", "/traits", true},
        {"/*", "/traits", true},
        {"/*", "/traits/HW", false},
        {"/**", "/traits/HW", true},
        {"/**", "/traits", true},
        {"**", "/traits", true},
        {"/traits/*", "/traits/HW", true},
        {"/traits/*", "/traits/", false},
        {"/traits/**", "/traits/", true},
        {"/traits/**", "/traits", false},
        {"/t{x}s", "/traits", true},
        {"/{x}", "/traits", true},
        {"/{x/*y}", "/traits", true},
        {"/{x", "/x", true},
        {"/{traits", "/traits", true},
        {"/traits}", "/traits", true},
        {"***", "/traits", true},
        {"/tra***", "/traits", true},
        {"/tra***", "/tra", false},
        {"/tra****", "/traits", true},
        {"/tra****", "/tra", true},
        {"/TRAITS", "/traits", false},
        {"/traits/a%20b", "/traits/a%20b", true},
        {"/traits/a b", "/traits/a%20b", false},
        {"", "/traits", false},
        {"", "", true},
        {"*", "", false},
        {"**", "", true},
        {"/traits**", "/traits", true},
        {"/**/x", "/a/b/x", true},
        {"/**/x", "/x", false},
        {"/a/*/c", "/a/b/c", true},
        {"/a/*/c", "/a//c", false},
        {"/a/**/c/*", "/a/x/c/y/c/z", true},
        {"/a/**/c/*", "/a/x/c/y/d/z", false},
        /* every other character matches only itself */
        {"/tr.its", "/traits", false},
        {"/tr.its", "/tr.its", true},
        {"/traits$", "/traits", false},
        {"/traits|/x", "/traits", false},
        {"/tra(its", "/tra(its", true},
        {"/trai+ts", "/traiits", false},
    };
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++)
        if (matches(CASES[i].pattern, CASES[i].path) != CASES[i].matches)
            fail_msg("%s %s", CASES[i].pattern, CASES[i].path);
}

/* The simplest definition of a pattern's meaning, tried on short texts. */
static bool matches_plainly(const char *pattern, const char *path)
{
    if (*pattern == '\0')
        return *path == '\0';
    if (pattern[0] == '*' && pattern[1] == '*') {
        for (const char *rest = path;; rest++) {
            if (matches_plainly(pattern + 2, rest))
                return true;
            if (*rest == '\0')
                return false;
        }
    }
    if (pattern[0] == '*') {
        for (const char *rest = path; *rest != '\0' && *rest != '/'; rest++)
            if (matches_plainly(pattern + 1, rest + 1))
                return true;
        return false;
    }
    return *pattern == *path && matches_plainly(pattern + 1, path + 1);
}

static void number_to_text(unsigned number, const char *letters, size_t count, char out[8])
{
    size_t len = 0;
    for (; number > 0; number /= (unsigned)count + 1)
        if (number % (count + 1) > 0)
            out[len++] = letters[number % (count + 1) - 1];
    out[len] = '\0';
}

static void every_short_pattern(void **state)
{
    (void)state;
    char pattern[8], path[8];
    for (unsigned i = 0; i < 1024; i++) /* five letters of * / a, or none */
        for (unsigned j = 0; j < 243; j++) {
            number_to_text(i, "*/a", 3, pattern);
            number_to_text(j, "/a", 2, path);
            if (matches(pattern, path) != matches_plainly(pattern, path))
                fail_msg("%s %s", pattern, path);
        }
}

static void bounded_work(void **state)
{
    (void)state;
    char pattern[300], path[4096];
    for (size_t i = 0; i < sizeof(pattern) - 3; i += 3)
        memcpy(pattern + i, "**a", 3);
    pattern[297] = '\0';
    memset(path, 'a', sizeof(path));
    size_t steps = 10000;
    assert_false(
        access_rules_path_matches((struct slice){path, sizeof(path)}, slice_of(pattern), &steps));
    assert_int_equal(steps, 0);
    steps = 10 * 1000 * 1000;
    assert_true(
        access_rules_path_matches((struct slice){path, sizeof(path)}, slice_of(pattern), &steps));
    assert_int_equal(steps, 10 * 1000 * 1000 - 198 * (sizeof(path) + 1));
    /* once a pattern cannot match any more, it costs nothing more */
    steps = 10000;
    assert_false(access_rules_path_matches(SLICE_LIT("/x"), SLICE_LIT("/y/**/z/**"), &steps));
    assert_int_equal(steps, 10000 - 2 * 3);
}

static void rules_of_a_token(void **state)
{
    (void)state;
    const struct token_access_rule rules[] = {
        {1U << TOKEN_SERVICE_PLACEMENT, SLICE_LIT("GET"), SLICE_LIT("/traits/*")},
        {1U << TOKEN_SERVICE_PLACEMENT, SLICE_LIT("PUT"), SLICE_LIT("/allocations/**")},
        {1U << TOKEN_SERVICE_BAREMETAL, SLICE_LIT("GET"), SLICE_LIT("/v1/nodes")},
        {3, SLICE_LIT("GET"), SLICE_LIT("/both")},
    };
    static const struct {
        const char *method, *path;
        bool placement, baremetal;
    } CASES[] = {
        {"GET", "/traits/x", true, false},  {"PUT", "/traits/x", false, false},
        {"get", "/traits/x", false, false}, {"PUT", "/allocations/a/b", true, false},
        {"GET", "/v1/nodes", false, true},  {"GET", "/both", true, true},
    };
    const struct token token = {.rule_count = 4, .rules = rules};
    const struct token none = {.rule_count = 0};
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        struct slice method = slice_of(CASES[i].method);
        struct slice path = slice_of(CASES[i].path);
        assert_int_equal(access_rules_allow(&token, TOKEN_SERVICE_PLACEMENT, method, path),
                         CASES[i].placement);
        assert_int_equal(access_rules_allow(&token, TOKEN_SERVICE_BAREMETAL, method, path),
                         CASES[i].baremetal);
        assert_false(access_rules_allow(&none, TOKEN_SERVICE_PLACEMENT, method, path));
    }
}

static void encoded_paths(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    assert_string_equal(
        access_rules_encode_path(arena, SLICE_LIT("/placement"), SLICE_LIT("/traits/HW_1")).data,
        "/placement/traits/HW_1");
    assert_string_equal(access_rules_encode_path(arena, (struct slice){0},
                                                 SLICE_LIT("/a b/\xc3\xa4/%/~!$&'()*+,;=:@_.-?#\n"))
                            .data,
                        "/a%20b/%C3%A4/%25/~!$&'()*+,;=:@_.-%3F%23%0A");
    assert_int_equal(access_rules_encode_path(arena, (struct slice){0}, (struct slice){0}).len, 0);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_keystonemiddleware), cmocka_unit_test(every_short_pattern),
        cmocka_unit_test(bounded_work),          cmocka_unit_test(rules_of_a_token),
        cmocka_unit_test(encoded_paths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
