/* How projects compare, and that the tables of fields fit their enums. */
#include "model/valet.h"
#include "unit.h"

static void forms_of_one_uuid(void **state)
{
    (void)state;
    struct slice plain = SLICE_LIT("b7d0e9b175294b649464caa3411adb3f");
    struct slice dashed = SLICE_LIT("b7d0e9b1-7529-4b64-9464-caa3411adb3f");
    struct slice upper = SLICE_LIT("B7D0E9B1-7529-4B64-9464-CAA3411ADB3F");
    assert_true(project_equal(plain, dashed));
    assert_true(project_equal(dashed, plain));
    assert_true(project_equal(plain, upper));
    assert_true(project_equal(plain, plain));
    assert_int_equal(project_hash(plain), project_hash(dashed));
    assert_int_equal(project_hash(plain), project_hash(upper));
}

static void others_differ(void **state)
{
    (void)state;
    struct slice plain = SLICE_LIT("b7d0e9b175294b649464caa3411adb3f");
    assert_false(project_equal(plain, SLICE_LIT("b7d0e9b175294b649464caa3411adb3e")));
    /* one hyphen misplaced, one digit too few, one character that is not a digit */
    assert_false(project_equal(plain, SLICE_LIT("b7d0e9b-17529-4b64-9464-caa3411adb3f")));
    assert_false(project_equal(plain, SLICE_LIT("b7d0e9b175294b649464caa3411adb3")));
    assert_false(project_equal(plain, SLICE_LIT("b7d0e9b175294b649464caa3411adb3g")));
    assert_false(project_equal(plain, SLICE_LIT("b7d0e9b1-7529-4b64-9464-caa3411a-b3f")));
    /* a digit in place of a hyphen */
    assert_false(project_equal(plain, SLICE_LIT("b7d0e9b10752904b64094640caa3411adb3f")));
}

static void what_is_no_uuid_is_bytes(void **state)
{
    (void)state;
    assert_true(project_equal(SLICE_LIT("admin"), SLICE_LIT("admin")));
    assert_false(project_equal(SLICE_LIT("admin"), SLICE_LIT("Admin")));
    assert_false(project_equal(SLICE_LIT("admin"), SLICE_LIT("admi")));
    assert_int_equal(project_hash(SLICE_LIT("admin")), project_hash(SLICE_LIT("admin")));
    assert_int_not_equal(project_hash(SLICE_LIT("admin")), project_hash(SLICE_LIT("Admin")));
}

static void as_placement_keeps_it(void **state)
{
    (void)state;
    static const char *const forms[] = {"b7d0e9b175294b649464caa3411adb3f",
                                        "B7D0E9B1-7529-4B64-9464-CAA3411ADB3F"};
    char dashed[VALET_ID_DASHED_LEN];
    for (unsigned i = 0; i < 2; i++) {
        assert_true(valet_id_dashed(slice_of(forms[i]), dashed));
        assert_memory_equal(dashed, "b7d0e9b1-7529-4b64-9464-caa3411adb3f", sizeof(dashed));
    }
    assert_false(valet_id_dashed(SLICE_LIT("server-1"), dashed));
    assert_false(valet_id_dashed(SLICE_LIT("b7d0e9b175294b649464caa3411adb3"), dashed));
}

static void every_field_has_a_name(void **state)
{
    (void)state;
    for (int table = 0; table < VALET_TABLE_COUNT; table++) {
        const struct record_shape *shape = &VALET_SHAPES[table];
        assert_in_range(shape->stored, 1, RECORD_FIELDS_MAX);
        assert_int_equal(shape->stored, shape->count);
        for (unsigned i = 0; i < shape->count; i++) {
            assert_non_null(shape->fields[i].name);
            for (unsigned j = 0; j < i; j++)
                assert_string_not_equal(shape->fields[i].name, shape->fields[j].name);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forms_of_one_uuid),        cmocka_unit_test(others_differ),
        cmocka_unit_test(what_is_no_uuid_is_bytes), cmocka_unit_test(as_placement_keeps_it),
        cmocka_unit_test(every_field_has_a_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
