/* What other programs write, with the triggers that note it. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "await.h"
#include "notes.h"
#include "store/log.h"
#include "store/mariadb/foreign/coexist.h"
#include "store/mariadb/foreign/foreign_log.h"
#include "store/mariadb/foreign/foreign_sql.h"
#include "store/mariadb/foreign/foreign_triggers.h"
#include "store/mariadb/session/session_state.h"

#define UUID_A "aaaaaaaa-0000-4000-8000-00000000000a"
#define UUID_B "bbbbbbbb-0000-4000-8000-00000000000b"

struct beside {
    struct arena *arena;
    const char *url;
    struct mariadb_session *berth, *program, *other;
    char *view;
};

static struct beside *begin(void **state)
{
    struct beside *b = calloc(1, sizeof(*b));
    assert_non_null(b);
    notes_make_tables();
    b->arena = arena_create();
    b->url = url_of_server(b->arena);
    b->berth = open_session();
    b->program = open_session();
    b->other = open_session();
    *state = b;
    return b;
}

static int setup(void **state)
{
    begin(state);
    return 0;
}

static void enable(struct beside *b)
{
    struct err err = {.arena = b->arena};
    if (!mariadb_coexist_enable(slice_of(b->url), &err))
        fail_msg("%.*s", SLICE_ARG(err.message));
}

static int setup_enabled(void **state)
{
    enable(begin(state));
    return 0;
}

static int teardown(void **state)
{
    struct beside *b = *state;
    mariadb_session_destroy(b->berth);
    mariadb_session_destroy(b->program);
    mariadb_session_destroy(b->other);
    free(b->view);
    arena_destroy(b->arena);
    free(b);
    return 0;
}

static struct coexist_status status_of(struct beside *b)
{
    struct err err = {.arena = b->arena};
    struct coexist_status status;
    if (!mariadb_coexist_read_status(slice_of(b->url), &status, &err))
        fail_msg("%.*s", SLICE_ARG(err.message));
    return status;
}

static void expect_notes(struct beside *b, const char *notes)
{
    bool is_any = notes[0] != '\0';
    assert_int_equal(notes_are_new(b->berth, b->view), is_any);
    assert_string_equal(notes_after(b->arena, b->berth, &b->view), notes);
    assert_false(notes_are_new(b->berth, b->view));
}

/* ---- what is noted ---- */

static void test_each_table(void **state)
{
    static const struct {
        const char *sql, *notes;
    } cases[] = {
        {"INSERT INTO traits VALUES (3, 'A')", "trait 3 "},
        {"UPDATE traits SET name = 'B'", "trait 3 "},
        {"DELETE FROM traits", "trait 3 "},
        {"INSERT INTO resource_classes VALUES (4, 'A')", "class 4 "},
        {"INSERT INTO placement_aggregates VALUES (5, 'A')", "aggregate 5 "},
        {"INSERT INTO projects VALUES (6, 'A')", "project 6 "},
        {"INSERT INTO users VALUES (7, 'A')", "user 7 "},
        {"INSERT INTO consumer_types VALUES (8, 'A')", "consumer type 8 "},
        {"INSERT INTO resource_providers (id) VALUES (1), (2)", "provider 1 , provider 2 "},
        {"UPDATE resource_providers SET id = 9 WHERE id = 2", "provider 2 , provider 9 "},
        {"INSERT INTO inventories (resource_provider_id) VALUES (1)", "provider 1 "},
        {"UPDATE inventories SET resource_provider_id = 9", "provider 1 , provider 9 "},
        {"DELETE FROM inventories", "provider 9 "},
        {"INSERT INTO resource_provider_traits VALUES (3, 1)", "provider 1 "},
        {"INSERT INTO resource_provider_aggregates VALUES (1, 5)", "provider 1 "},
        {"INSERT INTO consumers VALUES (2, '" UUID_A "')", "consumer 2 " UUID_A},
        {"INSERT INTO allocations (consumer_id) VALUES ('" UUID_A "'), ('" UUID_A "')",
         "consumer 2 " UUID_A},
        {"UPDATE allocations SET consumer_id = '" UUID_B "'",
         "consumer 0 " UUID_B ", consumer 2 " UUID_A},
        {"DELETE FROM allocations", "consumer 0 " UUID_B},
        {"REPLACE INTO users VALUES (7, 'B')", "user 7 "},
        {"INSERT INTO users VALUES (7, 'B') ON DUPLICATE KEY UPDATE name = 'C'", "user 7 "},
        {"START TRANSACTION; DELETE FROM users; ROLLBACK", ""},
        {"SET @berth_writer = 1; DELETE FROM users", ""},
    };
    struct beside *b = *state;
    expect_notes(b, "");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        run(b->program, cases[i].sql);
        expect_notes(b, cases[i].notes);
    }
}

/* The program finds everything as without the triggers. */
static void test_program(void **state)
{
    struct beside *b = *state;
    run(b->program, "INSERT INTO traits (name) VALUES ('A'), ('B'), ('C')");
    run(b->program, "INSERT INTO users (name) VALUES ('A')");
    assert_string_equal(value_of(b->arena, b->program, "SELECT LAST_INSERT_ID()"), "1");
    run(b->program, "DROP TABLE berth_foreign");
    run(b->program, "INSERT INTO users (name) VALUES ('B')");
    assert_string_equal(value_of(b->arena, b->program, "SELECT COUNT(*) FROM users"), "2");
}

/* Beyond a number of rows, a statement notes once that anything may have changed; the next one
 * begins anew. */
static void test_many_rows(void **state)
{
    struct beside *b = *state;
    run(b->program, "CREATE TEMPORARY TABLE ten (i INT); INSERT INTO ten VALUES"
                    " (0), (1), (2), (3), (4), (5), (6), (7), (8), (9);"
                    "INSERT INTO users (name) SELECT 'x' FROM (SELECT 1 FROM ten a, (SELECT 1 FROM"
                    " information_schema.COLLATIONS LIMIT 40) b, (SELECT 1 FROM"
                    " information_schema.COLLATIONS LIMIT 15) c) all_of_them");
    assert_string_equal(value_of(b->arena, b->other, "SELECT COUNT(*) FROM users"), "6000");
    assert_string_equal(value_of(b->arena, b->other, "SELECT COUNT(*) FROM berth_foreign"), "4001");
    expect_notes(b, "everything");
    assert_true(strlen(b->view) < 20);
    run(b->program, "UPDATE users SET name = 'y' WHERE id IN (5000, 5001)");
    expect_notes(b, "user 5000 , user 5001 ");
    run(b->program, "UPDATE users SET name = 'z' WHERE id <= 4000");
    assert_string_equal(value_of(b->arena, b->other, "SELECT COUNT(*) FROM berth_foreign"), "8003");
    /* Statements that pass for one are not counted together. */
    run(b->program, "SET timestamp = 1000000000; UPDATE users SET name = '1' WHERE id <= 3000;"
                    "UPDATE users SET name = '2' WHERE id <= 3000; SET timestamp = DEFAULT");
    assert_string_equal(value_of(b->arena, b->other, "SELECT COUNT(*) FROM berth_foreign"),
                        "14003");
}

/* ---- nobody waits ---- */

static void *update_all(void *cls)
{
    struct mariadb_session *session = cls;
    run(session, "UPDATE resource_providers SET generation = 7 WHERE id IN (1, 2, 3)");
    return NULL;
}

static bool is_value(struct beside *b, struct mariadb_session *session, const char *sql,
                     const char *value)
{
    return strcmp(value_of(b->arena, session, sql), value) == 0;
}

/* A statement that has noted rows, and waits for a row, keeps nobody from noting. */
static void test_waits_for_nobody(void **state)
{
    struct beside *b = *state;
    struct mariadb_session *admin = open_admin();
    pthread_t thread;
    run(b->program, "INSERT INTO resource_providers (id) VALUES (1), (2), (3), (4);"
                    "SET innodb_lock_wait_timeout = 1; START TRANSACTION;"
                    "UPDATE resource_providers SET generation = 1 WHERE id = 3");
    assert_int_equal(pthread_create(&thread, NULL, update_all, b->other), 0);
    AWAIT(is_value(b, admin,
                   "SELECT VARIABLE_VALUE FROM /*M! information_schema.GLOBAL_STATUS */"
                   " /*!80000 performance_schema.global_status */ WHERE"
                   " VARIABLE_NAME = 'INNODB_ROW_LOCK_CURRENT_WAITS'",
                   "1"));
    run(b->berth, "SET innodb_lock_wait_timeout = 1;"
                  "INSERT INTO users (name) VALUES ('a')");
    run(b->program, "UPDATE resource_providers SET generation = 2 WHERE id = 4");
    /* What is committed is moved, and what is open is not waited for. */
    assert_int_equal(notes_moved(b->berth), 5);
    run(b->program, "COMMIT");
    pthread_join(thread, NULL);
    assert_int_equal(notes_moved(b->berth), 5);
    assert_string_equal(value_of(b->arena, b->berth, "SELECT COUNT(*) FROM berth_foreign"), "0");
    mariadb_session_destroy(admin);
}

/* ---- views ---- */

/* Ids are given out before transactions are committed. */
static void test_late_commit(void **state)
{
    struct beside *b = *state;
    run(b->program, "START TRANSACTION; INSERT INTO traits VALUES (1, 'A')");
    run(b->other, "INSERT INTO traits VALUES (2, 'B')");
    expect_notes(b, "trait 2 ");
    assert_int_equal(notes_moved(b->berth), 1);
    expect_notes(b, "");
    run(b->other, "INSERT INTO traits VALUES (3, 'C'), (4, 'D'), (5, 'E'), (6, 'F'), (7, 'G')");
    expect_notes(b, "trait 3 , trait 4 , trait 5 , trait 6 , trait 7 ");
    run(b->program, "INSERT INTO traits VALUES (8, 'H'); COMMIT");
    expect_notes(b, "trait 1 , trait 8 ");
    run(b->other, "INSERT INTO traits VALUES (9, 'I')");
    expect_notes(b, "trait 9 ");
    assert_int_equal(status_of(b).waiting, 8);
}

/* ---- the log ---- */

static void expect_newest(struct beside *b, const char *number, const char *entries)
{
    assert_string_equal(
        value_of(b->arena, b->berth,
                 "SELECT CONCAT(COUNT(*), '/', MAX(number)) FROM berth_log WHERE LENGTH(mark) = 16"
                 " AND LENGTH(digest) = 16"),
        number);
    assert_string_equal(value_of(b->arena, b->berth,
                                 "SELECT HEX(entries) FROM berth_log ORDER BY number DESC LIMIT 1"),
                        entries);
}

static const char *entries_of(struct beside *b, const struct foreign_notes *notes)
{
    static const char hex[] = "0123456789ABCDEF";
    struct buf blob = {0};
    for (size_t i = 0; i < notes->entries.count; i++)
        log_append_entry(&blob, &notes->entries.data[i]);
    char *text = arena_zalloc(b->arena, blob.len * 2 + 1);
    for (size_t i = 0; i < blob.len; i++) {
        text[2 * i] = hex[(unsigned char)blob.data[i] >> 4];
        text[2 * i + 1] = hex[(unsigned char)blob.data[i] & 15];
    }
    buf_free(&blob);
    return text;
}

static void test_moved(void **state)
{
    struct beside *b = *state;
    struct foreign_notes expected = {0};
    run(b->program, "INSERT INTO allocations (consumer_id) VALUES ('" UUID_A "'), ('" UUID_A "');"
                    "INSERT INTO consumers VALUES (2, '" UUID_A "');"
                    "INSERT INTO resource_providers (id) VALUES (5);"
                    "UPDATE resource_providers SET generation = 1");
    foreign_notes_add(&expected, SLICE_LIT("consumer"), 2, SLICE_LIT(UUID_A));
    foreign_notes_add(&expected, SLICE_LIT("provider"), 5, SLICE_LIT(""));
    assert_int_equal(notes_moved(b->berth), 5);
    expect_newest(b, "2/2", entries_of(b, &expected)); /* the first is that of enable */
    foreign_notes_free(&expected);
    assert_int_equal(notes_moved(b->berth), 0);
    run(b->program, "INSERT INTO berth_foreign (entity, entity_id, consumer_uuid) SELECT 'user',"
                    " 1, '' FROM (SELECT 1 FROM information_schema.COLLATIONS LIMIT 200) x,"
                    " (SELECT 1 FROM information_schema.COLLATIONS LIMIT 101) y");
    assert_int_equal(notes_moved(b->berth), 20200);
    assert_string_equal(value_of(b->arena, b->berth, "SELECT MAX(number) FROM berth_log"), "5");
    run(b->program, "INSERT INTO berth_foreign (entity, entity_id, consumer_uuid) VALUES"
                    " ('everything', 0, '')");
    assert_int_equal(notes_moved(b->berth), 1);
    expect_newest(
        b, "6/6",
        value_of(b->arena, b->berth, "SELECT HEX(entries) FROM berth_log WHERE number=1"));
}

/* Notes of consumers that have no row by now name nothing, and do not stay. */
static void test_moved_without_entries(void **state)
{
    struct beside *b = *state;
    run(b->program, "INSERT INTO allocations (consumer_id) VALUES ('" UUID_A "')");
    assert_int_equal(notes_moved(b->berth), 1);
    expect_newest(b, "2/2", "");
    assert_string_equal(value_of(b->arena, b->berth, "SELECT COUNT(*) FROM berth_foreign"), "0");
}

/* Rows that another program has written to the log are not continued. */
static void test_foreign_log(void **state)
{
    struct beside *b = *state;
    uint64_t moved = 0;
    run(b->program, "INSERT INTO users (name) VALUES ('a');"
                    "INSERT INTO berth_log VALUES (7, 'x', 'y', UTC_TIMESTAMP(6), '')");
    struct err err = {.arena = b->arena};
    assert_int_equal(mariadb_foreign_log_move(b->berth, &moved, soon(), &err), SERVER_FAILED);
    assert_non_null(strstr(err.message.data, "cannot be continued"));
    run(b->berth, "ROLLBACK; DELETE FROM berth_log; DELETE FROM berth_locks");
    err = (struct err){.arena = b->arena};
    assert_int_equal(mariadb_foreign_log_move(b->berth, &moved, soon(), &err), SERVER_FAILED);
    assert_non_null(strstr(err.message.data, "berth_locks lacks the row 'batches'"));
    assert_int_equal(moved, 0);
}

/* ---- enable, disable, status ---- */

static bool coexists(struct beside *b)
{
    struct attempt attempt = begin_attempt();
    struct buf sql = {0};
    struct mariadb_rows rows[MARIADB_FOREIGN_LOOK_RESULTS] = {0};
    mariadb_foreign_look(&sql);
    const struct mariadb_text text = {.sql = buf_slice(&sql)};
    expect_outcome(&attempt, b->berth,
                   mariadb_session_execute(b->berth, &text, rows, MARIADB_FOREIGN_LOOK_RESULTS,
                                           NULL, soon(), &attempt.err),
                   SERVER_OK, NULL);
    bool found = mariadb_foreign_coexists(&rows[MARIADB_FOREIGN_LOOK]);
    free(b->view);
    b->view = mariadb_foreign_view(&rows[MARIADB_FOREIGN_LOOK_IDS]);
    mariadb_rows_free(&rows[MARIADB_FOREIGN_LOOK]);
    mariadb_rows_free(&rows[MARIADB_FOREIGN_LOOK_IDS]);
    buf_free(&sql);
    return found;
}

static void expect_status(struct beside *b, int64_t triggers, int64_t waiting)
{
    const struct coexist_status status = status_of(b);
    assert_int_equal(status.all, MARIADB_FOREIGN_TRIGGERS);
    assert_int_equal(status.triggers, triggers);
    assert_int_equal(status.waiting, waiting);
    assert_int_equal(coexists(b), triggers == status.all);
}

static const char *rows_of_log(struct beside *b)
{
    return value_of(b->arena, b->berth, "SELECT COUNT(*) FROM berth_log");
}

static void disable(struct beside *b)
{
    struct err err = {.arena = b->arena};
    if (!mariadb_coexist_disable(slice_of(b->url), &err))
        fail_msg("%.*s", SLICE_ARG(err.message));
}

static void test_switch(void **state)
{
    struct beside *b = *state;
    expect_status(b, 0, 0);
    disable(b);
    assert_string_equal(rows_of_log(b), "0");
    enable(b);
    expect_status(b, 36, 0);
    assert_string_equal(rows_of_log(b), "1");
    run(b->program, "DROP TRIGGER berth_foreign_update_users");
    run(b->program, "INSERT INTO users (name) VALUES ('a')");
    expect_status(b, 35, 1);
    enable(b);
    expect_status(b, 36, 1);
    expect_notes(b, "");
    run(b->program, "UPDATE users SET name = 'b'");
    expect_notes(b, "user 1 ");
    disable(b);
    expect_status(b, 0, 0);
    assert_string_equal(rows_of_log(b), "3");
    run(b->program, "UPDATE users SET name = 'c'");
    expect_status(b, 0, 0);
    run(b->program, "DROP TABLE berth_log");
    disable(b);
}

/* A program that was killed leaves what the status tells, and what another one completes. */
static void test_killed(void **state)
{
    struct beside *b = *state;
    static const char COUNT[] = "SELECT " MARIADB_FOREIGN_TRIGGERS_SEEN " >= 5";
    for (int which = 0; which < 2; which++) {
        /* The table, used meanwhile, keeps the program from its triggers, and from those after. */
        run(b->other, "BEGIN; SELECT COUNT(*) FROM placement_aggregates");
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            struct err err = {.arena = arena_create()};
            bool ok = which == 0 ? mariadb_coexist_enable(slice_of(b->url), &err)
                                 : mariadb_coexist_disable(slice_of(b->url), &err);
            _exit(ok ? 0 : 1);
        }
        for (bool is_there = which == 1; !is_there || which == 1;) {
            is_there = strcmp(value_of(b->arena, b->other, COUNT), "1") == 0;
            if (which == 1 && status_of(b).triggers < 36)
                break;
            if (which == 0 && is_there)
                break;
        }
        int status;
        kill(child, SIGKILL);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status));
        run(b->other, "COMMIT");
        assert_in_range(status_of(b).triggers, 1, 35);
        assert_false(coexists(b));
        enable(b);
        expect_status(b, 36, 0);
    }
    /* All triggers are there, but nobody was told. */
    run(b->other, "DELETE FROM berth_locks WHERE name = 'coexist'");
    expect_status(b, 35, 0);
    enable(b);
    expect_status(b, 36, 0);
}

struct waiting {
    struct beside *b;
    bool ok;
    struct err err;
};

static void *enable_waiting(void *cls)
{
    struct waiting *waiting = cls;
    waiting->ok = mariadb_coexist_enable(slice_of(waiting->b->url), &waiting->err);
    return NULL;
}

/* It waits for a table that is in use, but not so that everybody waits behind it. */
static void test_table_in_use(void **state)
{
    struct beside *b = *state;
    struct mariadb_session *admin = open_admin();
    struct waiting waiting = {.b = b, .err = {.arena = arena_create()}};
    pthread_t thread;
    run(b->program, "START TRANSACTION; SELECT COUNT(*) FROM traits");
    assert_int_equal(pthread_create(&thread, NULL, enable_waiting, &waiting), 0);
    for (int i = 0; i < 2; i++) {
        AWAIT(is_value(b, admin,
                       "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE STATE ="
                       " 'Waiting for table metadata lock'",
                       "1"));
        run(b->other, "SET lock_wait_timeout = 10; SELECT COUNT(*) FROM traits");
    }
    run(b->program, "COMMIT");
    pthread_join(thread, NULL);
    if (!waiting.ok)
        fail_msg("%.*s", SLICE_ARG(waiting.err.message));
    expect_status(b, 36, 0);
    arena_destroy(waiting.err.arena);
    mariadb_session_destroy(admin);
}

static void expect_refused(struct beside *b, bool enables, const char *text)
{
    struct err err = {.arena = b->arena};
    assert_false(enables ? mariadb_coexist_enable(slice_of(b->url), &err)
                         : mariadb_coexist_disable(slice_of(b->url), &err));
    if (strstr(err.message.data, text) == NULL)
        fail_msg("%s", err.message.data);
    assert_null(strchr(err.message.data, '\n'));
    assert_null(strstr(err.message.data, "berth-password"));
}

static void test_refused(void **state)
{
    struct beside *b = *state;
    struct mariadb_session *admin = open_admin();
    run(admin, "SET GLOBAL log_bin_trust_function_creators = 0");
    expect_refused(b, true, "SET GLOBAL log_bin_trust_function_creators = 1");
    expect_status(b, 0, 0);
    disable(b);
    run(admin, "SET GLOBAL log_bin_trust_function_creators = 1");
    enable(b);
    const char *user = value_of(b->arena, b->berth,
                                "SELECT CONCAT('''', REPLACE(CURRENT_USER(), '@', '''@'''), '''')");
    run(admin, arena_printf(b->arena, "REVOKE TRIGGER ON placement.* FROM %s", user).data);
    static const char TOLD[] = "SELECT COUNT(*) FROM berth_locks WHERE name = 'coexist'";
    run(admin, "DROP TRIGGER placement.berth_foreign_update_users");
    assert_string_equal(value_of(b->arena, b->other, TOLD), "1");
    expect_refused(b, true, "grant TRIGGER on it");
    assert_string_equal(value_of(b->arena, b->other, TOLD), "0");
    run(b->other, "INSERT INTO berth_locks VALUES ('coexist')");
    expect_refused(b, false, "grant TRIGGER on it");
    assert_string_equal(value_of(b->arena, b->other, TOLD), "0");
    assert_false(coexists(b));
    run(admin, arena_printf(b->arena, "GRANT TRIGGER ON placement.* TO %s", user).data);
    enable(b);
    run(b->other, "DROP TABLE berth_foreign");
    expect_refused(b, true, "lacks berth's tables: run \"placement-manage db sync\"");
    run(b->other, "DROP TABLE traits");
    expect_refused(b, true, "lacks the Placement service's tables");
    mariadb_session_destroy(admin);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_each_table, setup_enabled, teardown),
        cmocka_unit_test_setup_teardown(test_program, setup_enabled, teardown),
        cmocka_unit_test_setup_teardown(test_many_rows, setup_enabled, teardown),
        cmocka_unit_test_setup_teardown(test_waits_for_nobody, setup_enabled, teardown),
        cmocka_unit_test_setup_teardown(test_late_commit, setup_enabled, teardown),
        cmocka_unit_test_setup_teardown(test_moved, setup_enabled, teardown),
        cmocka_unit_test_setup_teardown(test_moved_without_entries, setup_enabled, teardown),
        cmocka_unit_test_setup_teardown(test_foreign_log, setup_enabled, teardown),
        cmocka_unit_test_setup_teardown(test_switch, setup, teardown),
        cmocka_unit_test_setup_teardown(test_killed, setup, teardown),
        cmocka_unit_test_setup_teardown(test_table_in_use, setup, teardown),
        cmocka_unit_test_setup_teardown(test_refused, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
