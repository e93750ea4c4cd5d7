/* Which rules of the table see a request's claims: those of other products, in the table's order.
 */
#include "engine/rules.h"

#include "engine/claim.h"
#include "unit.h"

static char calls[16];

static void note(char call)
{
    size_t len = strlen(calls);
    assert_true(len + 1 < sizeof(calls));
    calls[len] = call;
}

static const struct claim *amend(void *context, const struct claim *claims, size_t *count,
                                 const struct plan *plan)
{
    (void)plan;
    note(*(const char *)context);
    (*count)++;
    return claims + 1;
}

static bool guard(void *context, const struct claim_set *set)
{
    (void)set;
    note(*(const char *)context);
    return *(const char *)context != 'c';
}

static const struct rule RULES[] = {
    {.name = "a", .amend = amend, .guard = guard},
    {.name = "b", .amend = amend, .guard = guard},
    {.name = "c", .amend = amend, .guard = guard},
};

static const char NAMES[] = "abc";

static struct rules table(void)
{
    struct rules rules = {.count = 3};
    for (size_t i = 0; i < rules.count; i++) {
        rules.rows[i].rule = &RULES[i];
        rules.rows[i].context = (void *)(uintptr_t)&NAMES[i];
    }
    return rules;
}

static void amended_by(const struct rule *author, const char *wanted)
{
    const struct rules rules = table();
    const struct plan plan = {.rules = &rules, .author = author};
    static const struct claim claims[4];
    size_t count = 1;
    memset(calls, 0, sizeof(calls));
    assert_ptr_equal(rules_amend(claims, &count, &plan), claims + strlen(wanted));
    assert_int_equal(count, 1 + strlen(wanted));
    assert_string_equal(calls, wanted);
}

static void a_product_does_not_amend_its_own_claims(void **state)
{
    (void)state;
    amended_by(NULL, "abc");
    amended_by(&RULES[0], "bc");
    amended_by(&RULES[1], "ac");
    amended_by(&RULES[2], "ab");
}

static void guarded_by(const struct rule *author, const char *wanted, bool is_good)
{
    const struct rules rules = table();
    const struct plan plan = {.rules = &rules, .author = author};
    const struct claim_set set = {.plan = &plan};
    memset(calls, 0, sizeof(calls));
    assert_int_equal(rules_guard(&set, &plan), is_good);
    assert_string_equal(calls, wanted);
}

static void a_product_does_not_guard_against_itself(void **state)
{
    (void)state;
    guarded_by(NULL, "abc", false);
    guarded_by(&RULES[1], "ac", false);
    guarded_by(&RULES[2], "ab", true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_product_does_not_amend_its_own_claims),
        cmocka_unit_test(a_product_does_not_guard_against_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
