/* Texts that a database takes for one another: found by kind, field and text; their number is
 * limited. */
#include "store/server/alikes.h"

#include <stdio.h>

#include "base/arena.h"
#include "unit.h"

static struct alikes alikes;
static struct store_alike found;

static void note(enum change_kind insert, unsigned field, const char *text, int64_t id,
                 const char *other)
{
    const struct store_alike row = {id, slice_of(other)};
    alikes_note(&alikes, insert, field, slice_of(text), &row);
}

static bool find(enum change_kind insert, unsigned field, const char *text)
{
    return alikes_find(&alikes, insert, field, slice_of(text), &found);
}

static void expect(int64_t id, const char *text)
{
    assert_int_equal(found.id, id);
    assert_true(slice_equal(found.text, slice_of(text)));
}

static void test_keys(void **state)
{
    (void)state;
    assert_false(find(CHANGE_USER_INSERT, 0, "A"));
    note(CHANGE_USER_INSERT, 0, "A", 1, "a");
    note(CHANGE_PROVIDER_INSERT, 1, "A", 2, "\xc3\xa4");
    assert_true(find(CHANGE_USER_INSERT, 0, "A"));
    expect(1, "a");
    assert_true(find(CHANGE_PROVIDER_INSERT, 1, "A"));
    expect(2, "\xc3\xa4");
    assert_false(find(CHANGE_PROVIDER_INSERT, 0, "A"));
    assert_false(find(CHANGE_PROJECT_INSERT, 0, "A"));
    assert_false(find(CHANGE_USER_INSERT, 0, "a"));
    note(CHANGE_USER_INSERT, 0, "A", 3, "a "); /* another row has taken its place */
    assert_true(find(CHANGE_USER_INSERT, 0, "A"));
    expect(3, "a ");
    alikes_free(&alikes);
    assert_false(find(CHANGE_USER_INSERT, 0, "A"));
}

static void test_limit(void **state)
{
    (void)state;
    char text[16];
    for (int i = 0; i <= ALIKES_MOST; i++) {
        snprintf(text, sizeof(text), "%d", i);
        note(CHANGE_PROJECT_INSERT, 0, text, i, "other");
        assert_true(find(CHANGE_PROJECT_INSERT, 0, text));
        assert_int_equal(find(CHANGE_PROJECT_INSERT, 0, "0"), i < ALIKES_MOST);
    }
    for (int i = 0; i < 3 * ALIKES_MOST; i++) /* always the same: not more and more memory */
        note(CHANGE_PROJECT_INSERT, 0, "same", i, "other");
    assert_true(alikes.count <= ALIKES_MOST);
    assert_true(find(CHANGE_PROJECT_INSERT, 0, "same"));
    expect(3 * ALIKES_MOST - 1, "other");
    alikes_free(&alikes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
