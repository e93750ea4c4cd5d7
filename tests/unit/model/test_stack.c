/* Servers that require the same from a host. */
#include "model/stack.h"
#include "unit.h"

static const struct stack_amount AMOUNTS[] = {{{"VCPU", sizeof("VCPU") - 1}, 2},
                                              {{"MEMORY_MB", sizeof("MEMORY_MB") - 1}, 512}};
static const struct stack_amount SAME[] = {{{"VCPU", sizeof("VCPU") - 1}, 2},
                                           {{"MEMORY_MB", sizeof("MEMORY_MB") - 1}, 512}};
static const struct stack_amount MORE[] = {{{"VCPU", sizeof("VCPU") - 1}, 3},
                                           {{"MEMORY_MB", sizeof("MEMORY_MB") - 1}, 512}};
static const struct stack_amount OTHER[] = {{{"VCPU", sizeof("VCPU") - 1}, 2},
                                            {{"DISK_GB", sizeof("DISK_GB") - 1}, 512}};
static const struct slice TRAITS[] = {{"A", sizeof("A") - 1}, {"B", sizeof("B") - 1}};
static const struct slice SWAPPED[] = {{"B", sizeof("B") - 1}, {"A", sizeof("A") - 1}};

static struct stack_server server(const struct stack_amount *amounts, uint32_t count)
{
    return (struct stack_server){.amounts = amounts, .amount_count = count};
}

static void amounts(void **state)
{
    (void)state;
    const struct stack_server a = server(AMOUNTS, 2);
    const struct {
        struct stack_server b;
        bool same;
    } cases[] = {
        {server(AMOUNTS, 2), true}, {server(SAME, 2), true},   {server(AMOUNTS, 1), false},
        {server(MORE, 2), false},   {server(OTHER, 2), false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(stack_server_requests_same(&a, &cases[i].b), cases[i].same);
        assert_int_equal(stack_server_requests_same(&cases[i].b, &a), cases[i].same);
    }
}

static void traits(void **state)
{
    (void)state;
    struct stack_server a = server(AMOUNTS, 2);
    struct stack_server b = server(SAME, 2);
    a.required = (struct stack_names){TRAITS, 2};
    assert_false(stack_server_requests_same(&a, &b));
    b.required = (struct stack_names){TRAITS, 1};
    assert_false(stack_server_requests_same(&a, &b));
    b.required = (struct stack_names){SWAPPED, 2};
    assert_false(stack_server_requests_same(&a, &b));
    b.required = (struct stack_names){TRAITS, 2};
    assert_true(stack_server_requests_same(&a, &b));
    b.forbidden = (struct stack_names){TRAITS, 1};
    assert_false(stack_server_requests_same(&a, &b));
    assert_true(stack_names_has(&b.required, SLICE_LIT("B")));
    assert_false(stack_names_has(&b.forbidden, SLICE_LIT("B")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(amounts),
        cmocka_unit_test(traits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
