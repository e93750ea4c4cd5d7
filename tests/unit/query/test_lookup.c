/* Names to slot sets: known names give the catalog's own sets, unknown ones are reported or left
 * out. */
#include <stdlib.h>

#include "cloud.h"
#include "query/lookup.h"
#include "unit.h"

static void traits(void **state)
{
    (void)state;
    srandom(1);
    struct cloud cloud = cloud_create(5, 0, 0);
    struct slice texts[] = {SLICE_LIT("T2"), SLICE_LIT("T1"), SLICE_LIT("t1"), SLICE_LIT("X\0Y")};
    struct ac_names names = {texts, 2};
    const struct slotset **sets;
    assert_true(lookup_traits(cloud.version, cloud.arena, &names, &sets));
    for (unsigned i = 0; i < 2; i++)
        assert_ptr_equal(sets[i],
                         &catalog_at(&cloud.version->traits,
                                     catalog_find(&cloud.version->traits, texts[i])->number)
                              ->slots);
    names.count = 4;
    assert_false(lookup_traits(cloud.version, cloud.arena, &names, &sets));
    assert_true(slice_equal(lookup_missing_traits(cloud.version, cloud.arena, &names, false),
                            SLICE_LIT("No such trait(s): t1, X\0Y.")));
    assert_true(slice_equal(lookup_missing_traits(cloud.version, cloud.arena, &names, true),
                            SLICE_LIT("No such trait(s): t1.")));
    names.count = 0;
    assert_true(lookup_traits(cloud.version, cloud.arena, &names, &sets));
    cloud_destroy(&cloud);
}

static void aggregates(void **state)
{
    (void)state;
    srandom(1);
    struct cloud cloud = cloud_create(5, 0, 0);
    struct slice texts[] = {SLICE_LIT("A9"), SLICE_LIT("A3"), SLICE_LIT("A1")};
    struct ac_names names[] = {{texts, 3}, {texts, 1}};
    struct ac_group group = {
        .member_of = names, .member_of_count = 2, .forbidden_aggregates = {texts, 2}};
    struct fit_filter filter = {0};
    lookup_group_aggregates(cloud.version, cloud.arena, &group, &filter);
    assert_int_equal(filter.any_count, 2);
    assert_int_equal(filter.any[0].count, 2);
    assert_int_equal(filter.any[1].count, 0); /* nothing is a member: not the same as no filter */
    assert_int_equal(filter.none_count, 1);
    assert_ptr_equal(filter.none[0], filter.any[0].sets[0]);
    cloud_destroy(&cloud);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(traits),
        cmocka_unit_test(aggregates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
