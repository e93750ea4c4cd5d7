/* The keys that the server's DETAILs name, as PostgreSQL 15 writes them in several languages. */
#include "store/postgres/exchange/detail.h"

#include "unit.h"

enum { ROOM = 1000 };

static const struct {
    const char *detail;
    const char *columns; /* NULL: it names none */
    const char *values;
} cases[] = {
    {"Key (uuid)=(0e8b) already exists.", "uuid", "0e8b"},
    {"Key (consumer_type_id)=(99) is not present in table \"consumer_types\".", "consumer_type_id",
     "99"},
    {"Schl\xc3\xbcssel \xc2\xbb(name)=(a)\xc2\xab existiert bereits.", "name", "a"},
    {"La cl\xc3\xa9 \xc2\xab (name)=(a) \xc2\xbb existe d\xc3\xa9j\xc3\xa0.", "name", "a"},
    {"\xe3\x82\xad\xe3\x83\xbc (name)=(a) \xe3\x81\xaf\xe3\x81\x99\xe3\x81\xa7\xe3\x81\xab", "name",
     "a"},
    {"Key (name)=(a (b)) already exists.", "name", "a (b)"},
    {"Key (name)=()) already exists.", "name", ")"},
    {"Key (name)=()=() already exists.", "name", ")=("},
    {"Key (name)=() already exists.", "name", ""},
    {"Key (a, b)=(1, x, y) already exists.", "a, b", "1, x, y"},
    {"Failing row contains (1, null, 2).", NULL, NULL},
    {"Key (name)=(a", NULL, NULL},
    {"Key (name)=", NULL, NULL},
    {")=(", NULL, NULL},
    {"no key", NULL, NULL},
    {"", NULL, NULL},
};

static void test_keys(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct bundle_key key;
        bool is_named = pg_detail_key(slice_of(cases[i].detail), ROOM, &key);
        assert_int_equal(is_named, cases[i].columns != NULL);
        if (!is_named)
            continue;
        assert_true(slice_equal(key.columns, slice_of(cases[i].columns)));
        assert_true(slice_equal(key.values, slice_of(cases[i].values)));
    }
}

/* The end of one that was cut is not the end of the values. */
static void test_cut(void **state)
{
    (void)state;
    struct bundle_key key;
    const struct slice detail = SLICE_LIT("Key (name)=(a (b) and");
    assert_true(pg_detail_key(detail, detail.len + 1, &key));
    assert_false(pg_detail_key(detail, detail.len, &key));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
