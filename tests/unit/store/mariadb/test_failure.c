/* What the errors of servers mean, and the names in their messages. */
#include "store/mariadb/session/failure.h"
#include "unit.h"

static void expect(unsigned code, enum server_outcome outcome, enum mariadb_kind kind)
{
    assert_int_equal(mariadb_failure_classify(code), outcome);
    assert_int_equal(mariadb_failure_kind(code), kind);
}

static void test_meanings(void **state)
{
    (void)state;
    expect(1062, SERVER_REFUSED, MARIADB_DUPLICATE);
    expect(1452, SERVER_REFUSED, MARIADB_REFERENCE);
    expect(1366, SERVER_REFUSED, MARIADB_CANNOT_HOLD);
    expect(3819, SERVER_REFUSED, MARIADB_CANNOT_HOLD);
    expect(4025, SERVER_REFUSED, MARIADB_CANNOT_HOLD);
    expect(1242, SERVER_REFUSED, MARIADB_NOT_FOUND);
    expect(1205, SERVER_RETRY, MARIADB_LOCKED);
    expect(1213, SERVER_RETRY, MARIADB_CONFLICT);
    expect(1020, SERVER_RETRY, MARIADB_CONFLICT);
    expect(1047, SERVER_RETRY, MARIADB_PASSES);
    expect(1290, SERVER_RETRY, MARIADB_READ_ONLY);
    expect(1146, SERVER_FAILED, MARIADB_OTHER);
    expect(1064, SERVER_FAILED, MARIADB_OTHER);
    static const unsigned lost[] = {1053, 1158, 1927, 2000, 2006, 2013, 2027, 2055,
                                    2999, 3169, 4031, 5000, 5013, 5999, 9000, 9001};
    for (size_t i = 0; i < sizeof(lost) / sizeof(lost[0]); i++)
        expect(lost[i], SERVER_LOST, MARIADB_PASSES);
    static const unsigned of_server[] = {1999, 3000, 4999, 6000, 8999};
    for (size_t i = 0; i < sizeof(of_server) / sizeof(of_server[0]); i++)
        expect(of_server[i], SERVER_FAILED, MARIADB_OTHER);
}

static void test_commits(void **state)
{
    (void)state;
    static const unsigned certain[] = {1213, 1205, 1020, 1290, 1836, 1062, 1452, 3101};
    static const unsigned open[] = {1180, 1047, 1317, 1969, 3024, 1026,
                                    1021, 1053, 1927, 2013, 1105, 9001};
    for (size_t i = 0; i < sizeof(certain) / sizeof(certain[0]); i++)
        assert_true(mariadb_failure_of_commit_is_certain(certain[i]));
    for (size_t i = 0; i < sizeof(open) / sizeof(open[0]); i++)
        assert_false(mariadb_failure_of_commit_is_certain(open[i]));
}

static void test_logins(void **state)
{
    (void)state;
    static const unsigned passing[] = {1040, 1203, 1129, 1047, 1053, 2002, 2003, 2005, 2013, 9001};
    static const unsigned final[] = {1044, 1045, 1049, 1130, 1698, 2059, 2061, 5010, 4151};
    for (size_t i = 0; i < sizeof(passing) / sizeof(passing[0]); i++)
        assert_true(mariadb_failure_of_login_passes(passing[i], ""));
    for (size_t i = 0; i < sizeof(final) / sizeof(final[0]); i++)
        assert_false(mariadb_failure_of_login_passes(final[i], ""));
    assert_true(mariadb_failure_of_login_passes(2026, "TLS/SSL error: Broken pipe"));
    assert_false(mariadb_failure_of_login_passes(2026, "TLS/SSL error: certificate verify failed"));
    assert_false(mariadb_failure_of_login_passes(
        2026, "TLS/SSL error: SSL is required, but the server does not support it"));
}

static struct mariadb_failure read_failure(unsigned code, const char *message)
{
    struct mariadb_failure failure;
    (void)mariadb_failure_read(&failure, code, "HY000", message);
    assert_int_equal(failure.code, code);
    assert_string_equal(failure.sqlstate, "HY000");
    assert_int_equal(strncmp(failure.message, message, MARIADB_MESSAGE_BYTES - 1), 0);
    return failure;
}

/* A syntax error of a trigger is not one of berth's texts. */
static void test_broken_table(void **state)
{
    static const char *const triggers[] = {
        "Trigger 'berth_foreign_update_consumers' has an error in its body: 'You have an error in"
        " your SQL syntax; check the manual' at line 1",
        "Unknown trigger has an error in its body: 'Query was empty'",
    };
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct mariadb_failure failure = read_failure(1064, triggers[i]);
        assert_true(failure.is_broken_table);
        assert_string_equal(failure.key, i == 0 ? "berth_foreign_update_consumers" : "");
        assert_int_equal(failure.kind, MARIADB_CONFLICT);
        assert_int_equal(mariadb_failure_read(&failure, 1064, "42000", triggers[i]), SERVER_RETRY);
    }
    struct mariadb_failure failure = read_failure(1064, "You have an error in your SQL syntax");
    assert_false(failure.is_broken_table);
    assert_int_equal(failure.kind, MARIADB_OTHER);
    assert_int_equal(mariadb_failure_read(&failure, 1064, "42000", "wrong"), SERVER_FAILED);
    assert_false(read_failure(1146, triggers[0]).is_broken_table);
}

static void test_keys(void **state)
{
    (void)state;
    struct mariadb_failure failure =
        read_failure(1062, "Duplicate entry 'it's for key 'x' for key 'uniq_name0rp'");
    assert_string_equal(failure.key, "uniq_name0rp");
    assert_string_equal(failure.table, "");
    failure = read_failure(1062, "Duplicate entry '1' for key 'resource_providers.PRIMARY'");
    assert_string_equal(failure.key, "PRIMARY");
    assert_string_equal(failure.table, "resource_providers");
    failure = read_failure(
        1452, "Cannot add or update a child row: a foreign key constraint fails (`d`.`child`, "
              "CONSTRAINT `child_parent` FOREIGN KEY (`parent`) REFERENCES `parent` (`id`))");
    assert_string_equal(failure.key, "child_parent");
    failure = read_failure(4025, "CONSTRAINT `least` failed for `d`.`t`");
    assert_string_equal(failure.key, "least");
    failure = read_failure(3819, "Check constraint 'least' is violated.");
    assert_string_equal(failure.key, "least");
}

static void test_columns(void **state)
{
    (void)state;
    struct mariadb_failure failure =
        read_failure(1406, "Data too long for column 'name' at row 12");
    assert_string_equal(failure.column, "name");
    assert_int_equal(failure.row, 12);
    failure =
        read_failure(1366, "Incorrect string value: '\\xF0 at row 3' for column `d`.`t`.`name` "
                           "at row 2");
    assert_string_equal(failure.column, "name");
    assert_int_equal(failure.row, 2);
    failure = read_failure(1048, "Column 'name' cannot be null");
    assert_string_equal(failure.column, "name");
    assert_int_equal(failure.row, 0);
}

/* Other messages give no names, and never fail. */
static void test_odd_messages(void **state)
{
    (void)state;
    static const char *const messages[] = {"",
                                           "'",
                                           "`",
                                           " at row ",
                                           "x at row 99999999999999999999999999",
                                           "for key '",
                                           "''",
                                           "CONSTRAINT `",
                                           "constraint '",
                                           "CONSTRAINT `x",
                                           "\xff'\xff"};
    static const unsigned codes[] = {1062, 1452, 4025, 3819, 1406, 1048, 1146};
    for (size_t i = 0; i < sizeof(messages) / sizeof(messages[0]); i++)
        for (size_t k = 0; k < sizeof(codes) / sizeof(codes[0]); k++)
            (void)read_failure(codes[k], messages[i]);
    char text[2000];
    memset(text, 'x', sizeof(text));
    text[0] = text[1998] = '\'';
    text[1999] = '\0';
    struct mariadb_failure failure = read_failure(1062, text);
    assert_int_equal(strlen(failure.key), MARIADB_NAME_BYTES - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_meanings),     cmocka_unit_test(test_commits),
        cmocka_unit_test(test_logins),       cmocka_unit_test(test_broken_table),
        cmocka_unit_test(test_keys),         cmocka_unit_test(test_columns),
        cmocka_unit_test(test_odd_messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
