/* The member of instance_info that an allocation sets. */
#include "baremetal/write/instance_info.h"
#include "base/arena.h"
#include "unit.h"

static void expect(const char *info, const char *traits, const char *want)
{
    struct arena *arena = arena_create();
    struct slice text = instance_info_with_traits(slice_of(info), slice_of(traits), arena);
    assert_string_equal(arena_copy(arena, text).data, want);
    arena_destroy(arena);
}

static void traits(void **state)
{
    (void)state;
    expect("{}", "", "{\"traits\":[]}");
    expect("{\"a\":1}", "CUSTOM_A CUSTOM_B", "{\"a\":1,\"traits\":[\"CUSTOM_A\",\"CUSTOM_B\"]}");
    expect("{\"traits\":[\"CUSTOM_C\"],\"a\":1}", "CUSTOM_A",
           "{\"traits\":[\"CUSTOM_A\"],\"a\":1}");
    expect("{\"a\":\"\\u0000\"}", "", "{\"a\":\"\\u0000\",\"traits\":[]}");
}

/* What only another program can have written is replaced. */
static void not_an_object(void **state)
{
    (void)state;
    expect("", "CUSTOM_A", "{\"traits\":[\"CUSTOM_A\"]}");
    expect("[1]", "CUSTOM_A", "{\"traits\":[\"CUSTOM_A\"]}");
    expect("{\"a\":", "", "{\"traits\":[]}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(traits),
        cmocka_unit_test(not_an_object),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
