/* The patterns of the API's schemas: edge cases of what each accepts. */
#include "api/schema/patterns.h"

#include "unit.h"

static bool takes(const struct schema_pattern *pattern, struct slice text)
{
    return pattern->matches(text);
}

#define TAKES(pattern, text)   assert_true(takes(&(pattern), SLICE_LIT(text)))
#define REFUSES(pattern, text) assert_false(takes(&(pattern), SLICE_LIT(text)))

static void names(void **state)
{
    (void)state;
    TAKES(PATTERN_CLASS, "VCPU");
    TAKES(PATTERN_CLASS, "_");
    TAKES(PATTERN_CLASS, "0");
    REFUSES(PATTERN_CLASS, "");
    REFUSES(PATTERN_CLASS, "vcpu");
    REFUSES(PATTERN_CLASS, "V-CPU");
    REFUSES(PATTERN_CLASS, "V CPU");
    REFUSES(PATTERN_CLASS, "VCPU\n"); /* where Python's $ also matches */
    REFUSES(PATTERN_CLASS, "VCPU\0");
    REFUSES(PATTERN_CLASS, "\xc3\x84");
    TAKES(PATTERN_CUSTOM, "CUSTOM_A");
    TAKES(PATTERN_CUSTOM, "CUSTOM__");
    REFUSES(PATTERN_CUSTOM, "CUSTOM_");
    REFUSES(PATTERN_CUSTOM, "CUSTOM");
    REFUSES(PATTERN_CUSTOM, "ACUSTOM_A");
    REFUSES(PATTERN_CUSTOM, "CUSTOM_a");
    TAKES(PATTERN_CONSUMER_TYPE_GET, "INSTANCE");
    TAKES(PATTERN_CONSUMER_TYPE_GET, "unknown");
    TAKES(PATTERN_CONSUMER_TYPE_GET, "all");
    TAKES(PATTERN_CONSUMER_TYPE_GET, "all of them"); /* ^all has no end */
    REFUSES(PATTERN_CONSUMER_TYPE_GET, "unknown ");
    REFUSES(PATTERN_CONSUMER_TYPE_GET, "al");
    REFUSES(PATTERN_CONSUMER_TYPE_GET, "");
}

static void uuids_and_numbers(void **state)
{
    (void)state;
    TAKES(PATTERN_UUID_CHARACTERS, "5c0f4a1e-7d51-4a8e-9a51-6d1f0a4be101");
    TAKES(PATTERN_UUID_CHARACTERS, "5C0F4A1E-7D51-4A8E-9A51-6D1F0A4BE101");
    TAKES(PATTERN_UUID_CHARACTERS, "------------------------------------");
    REFUSES(PATTERN_UUID_CHARACTERS, "5c0f4a1e-7d51-4a8e-9a51-6d1f0a4be10");
    REFUSES(PATTERN_UUID_CHARACTERS, "5c0f4a1e-7d51-4a8e-9a51-6d1f0a4be1011");
    REFUSES(PATTERN_UUID_CHARACTERS, "5c0f4a1e-7d51-4a8e-9a51-6d1f0a4be10g");
    REFUSES(PATTERN_UUID_CHARACTERS, "");
    TAKES(PATTERN_LIMIT, "1");
    TAKES(PATTERN_LIMIT, "90");
    TAKES(PATTERN_LIMIT, "99999999999999999999999");
    REFUSES(PATTERN_LIMIT, "0");
    REFUSES(PATTERN_LIMIT, "01");
    REFUSES(PATTERN_LIMIT, "-1");
    REFUSES(PATTERN_LIMIT, "1 ");
    REFUSES(PATTERN_LIMIT, "");
}

static void groups(void **state)
{
    (void)state;
    TAKES(PATTERN_GROUP_SUFFIX, "a");
    TAKES(PATTERN_GROUP_SUFFIX, "!a!"); /* matches anywhere */
    REFUSES(PATTERN_GROUP_SUFFIX, "!");
    REFUSES(PATTERN_GROUP_SUFFIX, "");
    TAKES(PATTERN_RESOURCES_1_25, "resources");
    TAKES(PATTERN_RESOURCES_1_25, "resources1");
    TAKES(PATTERN_RESOURCES_1_25, "resources10");
    REFUSES(PATTERN_RESOURCES_1_25, "resources0");
    REFUSES(PATTERN_RESOURCES_1_25, "resources01");
    REFUSES(PATTERN_RESOURCES_1_25, "resources_A");
    REFUSES(PATTERN_RESOURCES_1_25, "resource");
    TAKES(PATTERN_RESOURCES_1_33, "resources");
    TAKES(PATTERN_RESOURCES_1_33, "resources0");
    TAKES(PATTERN_RESOURCES_1_33, "resources_-aZ9");
    REFUSES(PATTERN_RESOURCES_1_33, "resources.");
    REFUSES(PATTERN_RESOURCES_1_33, "resources A");
#define SIXTEEN "aaaaaaaaaaaaaaaa"
    TAKES(PATTERN_RESOURCES_1_33, "resources" SIXTEEN SIXTEEN SIXTEEN SIXTEEN);
    REFUSES(PATTERN_RESOURCES_1_33, "resources" SIXTEEN SIXTEEN SIXTEEN SIXTEEN "a");
    TAKES(PATTERN_REQUIRED_1_25, "required2");
    TAKES(PATTERN_REQUIRED_1_33, "required_N");
    REFUSES(PATTERN_REQUIRED_1_33, "resources_N");
    TAKES(PATTERN_MEMBER_OF_1_25, "member_of3");
    TAKES(PATTERN_MEMBER_OF_1_33, "member_of_N");
    REFUSES(PATTERN_MEMBER_OF_1_25, "member_of_3");
    TAKES(PATTERN_IN_TREE_1_25, "in_tree4");
    TAKES(PATTERN_IN_TREE_1_33, "in_treeN");
    REFUSES(PATTERN_IN_TREE_1_25, "in_treeN");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names),
        cmocka_unit_test(uuids_and_numbers),
        cmocka_unit_test(groups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
