/* A report on a server that was started with unsafe settings, which cannot be changed later. */
#include "store/mariadb/report/inspect.h"

#include <stdlib.h>

#include "sessions.h"
#include "store/mariadb/session/session_state.h"

static const char *const expected[] = {
    "binlog_format is STATEMENT: the server refuses all writes of read committed transactions, as "
    "berth's are",
    "innodb_doublewrite is OFF: a crash of the server's machine can damage tables",
    "max_allowed_packet is 1048576: changes with larger texts are refused",
    "sync_binlog is 0: a crash of the server's machine can lose changes that clients were told are "
    "done",
};

static int compare(const void *a, const void *b)
{
    const struct slice *left = a;
    const struct slice *right = b;
    return strcmp(left->data, right->data);
}

static void test_warnings(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct attempt attempt = begin_attempt();
    struct mariadb_session *session = open_served("utf8mb3");
    struct mariadb_session *admin = open_admin();
    struct store_report report;
    run(admin, "SET GLOBAL innodb_flush_log_at_trx_commit = 1");
    expect_outcome(&attempt, session,
                   mariadb_inspect(&session->base, NULL, arena, &report, soon(), &attempt.err),
                   SERVER_OK, NULL);
    assert_int_equal(report.warning_count, sizeof(expected) / sizeof(expected[0]));
    qsort(report.warnings, report.warning_count, sizeof(*report.warnings), compare);
    for (size_t i = 0; i < report.warning_count; i++)
        assert_string_equal(report.warnings[i].data, expected[i]);
    assert_string_equal(report_setting(&report.server, "sync_binlog"), "0");
    mariadb_session_destroy(admin);
    mariadb_session_destroy(session);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_warnings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
