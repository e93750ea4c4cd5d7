/* The embedded list has the order that the search in it requires. */
#include "baremetal/api/input/standard_traits.h"
#include "unit.h"

static void ordered(void **state)
{
    (void)state;
    assert_in_range(baremetal_trait_names_count, 300, 10000);
    for (int i = 0; i < baremetal_trait_names_count; i++) {
        struct slice name = slice_of(baremetal_trait_names[i]);
        assert_true(standard_traits_have(name));
        if (i > 0) {
            struct slice before = slice_of(baremetal_trait_names[i - 1]);
            assert_true(slice_compare(&before, &name) < 0);
        }
    }
}

static void others(void **state)
{
    (void)state;
    static const char *const OTHERS[] = {
        "", "A", "ZZZ", "CUSTOM_X", "hw_cpu_x86_vmx", "HW_CPU_X86_VM"};
    for (unsigned i = 0; i < sizeof(OTHERS) / sizeof(OTHERS[0]); i++)
        assert_false(standard_traits_have(slice_of(OTHERS[i])));
    assert_true(standard_traits_have(SLICE_LIT("HW_CPU_X86_VMX")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(ordered), cmocka_unit_test(others)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
