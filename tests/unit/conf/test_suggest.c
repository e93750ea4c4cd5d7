/* Suggestions for unknown names. */
#include "conf/suggest.h"

#include "unit.h"

static void expect(const char *section, const char *name, const char *wanted_section,
                   const char *wanted)
{
    const struct option *found = suggest_option(slice_of(section), slice_of(name));
    assert_non_null(found);
    assert_string_equal(found->section, wanted_section);
    assert_string_equal(found->name, wanted);
}

static void expect_none(const char *section, const char *name)
{
    assert_null(suggest_option(slice_of(section), slice_of(name)));
}

static void slips(void **state)
{
    (void)state;
    expect("placement_database", "conection", "placement_database", "connection");
    expect("placement_database", "connectoin", "placement_database", "connection");
    expect("placement_database", "connections", "placement_database", "connection");
    expect("placement_database", "konnection", "placement_database", "connection");
    expect("Placement_Database", "Connection", "placement_database", "connection");
    expect("DEFAULT", "Debug", "DEFAULT", "debug");
    expect("berth", "max-connections", "berth", "max_connections");
    expect("berth", "max_conections_per_adress", "berth", "max_connections_per_address");
    expect("DEFAULT", "log_fiel", "DEFAULT", "log_file");
    expect("DEFAULT", "logfiel", "DEFAULT", "log_file"); /* its old name is as near */
}

static void sections(void **state)
{
    (void)state;
    expect("placement_databse", "connection", "placement_database", "connection");
    expect("placment", "randomize_allocation_candidates", "placement",
           "randomize_allocation_candidates");
    expect("DEFAULT", "allowed_origin", "cors", "allowed_origin");
    expect("database", "connection", "placement_database", "connection");
}

static void nothing_like_it(void **state)
{
    (void)state;
    expect_none("cache", "backend");
    expect_none("oslo_concurrency", "lock_path");
    expect_none("foo", "cache"); /* a short word of another section */
    expect_none("DEFAULT", "x");
    expect_none("DEFAULT", "");
    expect_none("", "");
    expect_none("DEFAULT",
                "a_name_that_is_longer_than_any_name_in_the_table_can_be_and_so_is_none");
}

static void names_of_tables(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int other;
    } rows[] = {{"config", 1}, {"policy", 2}, {"audit", 3}, {NULL, 4}, {"behind", 5}};
    const size_t n = sizeof(rows) / sizeof(rows[0]);
    assert_string_equal(suggest_name("confg", rows, sizeof(rows[0]), n), "config");
    assert_string_equal(suggest_name("polciy", rows, sizeof(rows[0]), n), "policy");
    assert_string_equal(suggest_name("AUDIT", rows, sizeof(rows[0]), SIZE_MAX), "audit");
    assert_null(suggest_name("audit", rows, sizeof(rows[0]), 2));
    assert_null(suggest_name("behind", rows, sizeof(rows[0]), n));
    assert_null(suggest_name("", rows, sizeof(rows[0]), n));
    assert_null(suggest_name("other", rows, sizeof(rows[0]), n));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slips),
        cmocka_unit_test(sections),
        cmocka_unit_test(nothing_like_it),
        cmocka_unit_test(names_of_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
