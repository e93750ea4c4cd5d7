/* What becomes of a batch that another node's transaction rolls back between two statements of its
 * text: the node executes the rest of the text all the same. Where it is to do that, either a
 * statement is put that sleeps while the other node commits, or simply a ROLLBACK: what the node
 * answers after its own depends on the moment. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "store/fixture.h"
#include "store/mariadb/exchange/write_sql.h"
#include "store/mariadb/log/write_texts.h"
#include "store/mariadb/session/session.h"

/* The next text has the statement in these places, and in the last two a deadlock. The last one is
 * the text that checks a batch again. ELSEWHERE: that text goes to another connection, on a node
 * that does not have the batch yet. */
enum place {
    NOWHERE,
    AFTER_CHANGE = 1,
    BEFORE_COMMIT = 2,
    AFTER_COMMIT = 4,
    BEFORE_CHECK = 8,
    ELSEWHERE = 16
};
static _Atomic int places;
static const char *statement;

/* DO ignores that it was interrupted, as a statement does that has just ended. */
static const char SLEEP[] = "DO SLEEP(20);";
static const char ROLL_BACK[] = "ROLLBACK;";
static const char DEADLOCK[] = "SIGNAL SQLSTATE '40001' SET MYSQL_ERRNO=1213;";

static bool is_place(enum place where)
{
    return (atomic_fetch_and(&places, ~(int)where) & (int)where) != 0;
}

unsigned __real_mariadb_write_append(const struct bundle *chunk, const struct change *changes,
                                     const struct mariadb_indexes *indexes, struct buf *sql);
unsigned __wrap_mariadb_write_append(const struct bundle *chunk, const struct change *changes,
                                     const struct mariadb_indexes *indexes, struct buf *sql);
unsigned __wrap_mariadb_write_append(const struct bundle *chunk, const struct change *changes,
                                     const struct mariadb_indexes *indexes, struct buf *sql)
{
    unsigned results = __real_mariadb_write_append(chunk, changes, indexes, sql);
    if (!is_place(AFTER_CHANGE))
        return results;
    buf_append_slice(sql, slice_of(statement));
    return results + 1;
}

size_t __real_mariadb_write_texts_commit(bool is_cluster, const struct log_row *row,
                                         size_t statements, struct buf *sql);
size_t __wrap_mariadb_write_texts_commit(bool is_cluster, const struct log_row *row,
                                         size_t statements, struct buf *sql);
size_t __wrap_mariadb_write_texts_commit(bool is_cluster, const struct log_row *row,
                                         size_t statements, struct buf *sql)
{
    static const char commit[] = "COMMIT;";
    struct buf end = {0};
    size_t position = __real_mariadb_write_texts_commit(is_cluster, row, statements, &end);
    buf_append_char(&end, '\0');
    const char *at = strstr(end.data, commit);
    assert_non_null(at);
    buf_append(sql, end.data, (size_t)(at - end.data));
    if (is_place(BEFORE_COMMIT)) {
        buf_append_slice(sql, slice_of(statement));
        position++;
    }
    buf_append_lit(sql, commit);
    if (is_place(AFTER_COMMIT))
        buf_append_slice(sql, slice_of(DEADLOCK));
    buf_append_slice(sql, slice_of(at + sizeof(commit) - 1));
    buf_free(&end);
    return position;
}

static struct slice without_rows(struct slice text, struct arena *arena)
{
    static const struct slice rows = SLICE_LIT("FROM berth_log WHERE ");
    const char *at = memmem(text.data, text.len, rows.data, rows.len);
    assert_non_null(at);
    struct slice before = {text.data, (size_t)(at - text.data) + rows.len};
    return arena_printf(arena, "SET @berth_session=NULL;%.*sFALSE AND %.*s", SLICE_ARG(before),
                        SLICE_ARG(slice_skip(text, before.len)));
}

enum server_outcome __real_mariadb_session_execute(struct mariadb_session *session,
                                                   const struct mariadb_text *text,
                                                   struct mariadb_rows *rows, size_t rows_n,
                                                   size_t *results, uint64_t deadline_us,
                                                   struct err *err);
enum server_outcome __wrap_mariadb_session_execute(struct mariadb_session *session,
                                                   const struct mariadb_text *text,
                                                   struct mariadb_rows *rows, size_t rows_n,
                                                   size_t *results, uint64_t deadline_us,
                                                   struct err *err);
enum server_outcome __wrap_mariadb_session_execute(struct mariadb_session *session,
                                                   const struct mariadb_text *text,
                                                   struct mariadb_rows *rows, size_t rows_n,
                                                   size_t *results, uint64_t deadline_us,
                                                   struct err *err)
{
    struct mariadb_text changed = *text;
    if (text->commit == 1 && is_place(BEFORE_CHECK))
        changed.sql = arena_printf(err->arena, "%s%.*s", DEADLOCK, SLICE_ARG(text->sql));
    if (text->commit == 1 && is_place(ELSEWHERE))
        changed.sql = without_rows(text->sql, err->arena);
    return __real_mariadb_session_execute(session, &changed, rows, rows_n, results, deadline_us,
                                          err);
}

/* Another instance, on another node. */
struct other {
    struct fixture fixture;
    struct store *store;
    struct change_list list; /* that it commits while the first one sleeps */
    pthread_t thread;
};

static void begin_other(const struct fixture *fixture, struct other *other)
{
    const char *socket = strchr(getenv("BERTH_TEST_MARIADB_2_SOCKET"), '?');
    const char *end = strchr(fixture->url, '?');
    other->fixture = *fixture;
    other->fixture.arena = arena_create();
    other->fixture.err = (struct err){.arena = other->fixture.arena};
    snprintf(other->fixture.url, sizeof(other->fixture.url), "%.*s%s", (int)(end - fixture->url),
             fixture->url, socket);
    other->store = fixture_try(&other->fixture, other->fixture.url, true, false);
    if (other->store == NULL)
        fail_msg("%.*s", SLICE_ARG(other->fixture.err.message));
    other->list = changes_of(&other->fixture);
}

static void end_other(struct other *other)
{
    store_close(other->store);
    arena_destroy(other->fixture.arena);
}

static void await_sleep(const struct fixture *fixture)
{
    fixture_shell(
        fixture,
        "for i in $(seq 600); do mariadb -uroot -S \"${BERTH_TEST_MARIADB_ADMIN#*unix_socket=}\" "
        "-N -e \"SELECT state FROM information_schema.processlist\" | grep -q 'User sleep' && "
        "exit; sleep 0.02; done; exit 1");
}

static void *commit_other(void *cls)
{
    struct other *other = cls;
    await_sleep(&other->fixture);
    commit_changes(&other->fixture, other->store, &other->list);
    return NULL;
}

static void expect_rows(const struct fixture *fixture, const char *table, int count)
{
    struct slice name = slice_of(strrchr(fixture->url, '@') + 2);
    name = slice_cut(&name, '?');
    fixture_shell(
        fixture, arena_printf(fixture->arena,
                              "test $(mariadb -uroot -S \"${BERTH_TEST_MARIADB_ADMIN#*unix_socket=}"
                              "\" -N -e 'SELECT COUNT(*) FROM %.*s.%s') = %d%c",
                              SLICE_ARG(name), table, count, 0)
                     .data);
}

/* The batch is refused as one that came too late, and nothing of it is there. */
static void expect_taken(struct fixture *fixture, struct store *store,
                         const struct change_list *list)
{
    struct store_stamp stamp;
    bool by_another;
    assert_int_equal(take_news_and_commit(fixture, store, list, &stamp, &by_another), STORE_TAKEN);
    assert_int_equal(places, NOWHERE);
    fixture->err = (struct err){.arena = fixture->arena};
    expect_rows(fixture, "consumers", 1);
    expect_rows(fixture, "allocations", 1);
    expect_rows(fixture, "resource_provider_traits", 0);
}

/* Rolled back there, first with a ROLLBACK, then by another node; the third time, it is written. */
static void expect_undone(struct fixture *fixture, struct store *store,
                          const struct change_list *list, enum place where)
{
    struct store_stamp stamp;
    struct other other;
    bool by_another;
    statement = ROLL_BACK;
    places = (int)where;
    expect_taken(fixture, store, list);
    expect_rows(fixture, "berth_log", 1);
    begin_other(fixture, &other);
    add_catalog(&other.list, CHANGE_TRAIT_INSERT, 5000, "CUSTOM_OTHER");
    statement = SLEEP;
    places = (int)where;
    pthread_create(&other.thread, NULL, commit_other, &other);
    expect_taken(fixture, store, list);
    pthread_join(other.thread, NULL);
    expect_rows(fixture, "berth_log", 2);
    assert_int_equal(take_news_and_commit(fixture, store, list, &stamp, &by_another), STORE_OK);
    expect_rows(fixture, "berth_log", 3);
    end_other(&other);
}

static void claim_undone(void **state, enum place where)
{
    struct fixture *fixture = *state;
    struct store *store = open_seeded(fixture, NULL);
    struct change_list claim = changes_of(fixture);
    add_consumer(&claim, CHANGE_CONSUMER_INSERT, 2, UUID_D, 0);
    add_allocation(&claim, 2001, 2, UUID_D, 2, 0, 4);
    add_generation(&claim, 2, 0, 1);
    expect_undone(fixture, store, &claim, where);
    expect_rows(fixture, "consumers", 2);
    expect_rows(fixture, "allocations", 2);
    store_close(store);
}

/* Without the check before COMMIT, what follows the change would be committed without it. */
static void test_rest_is_not_committed(void **state)
{
    claim_undone(state, AFTER_CHANGE);
}

/* Without the check after COMMIT, the empty transaction would count as the batch. */
static void test_nothing_is_committed(void **state)
{
    claim_undone(state, BEFORE_COMMIT);
}

/* After COMMIT, a deadlock may be that of the batch or not: the row tells. */
static void test_deadlock_after_commit(void **state)
{
    struct fixture *fixture = *state;
    struct store_stamp stamp;
    bool by_another;
    struct store *store = open_seeded(fixture, NULL);
    struct change_list list = changes_of(fixture);
    add_catalog(&list, CHANGE_TRAIT_INSERT, 6000, "CUSTOM_MINE");
    statement = ROLL_BACK;
    places = BEFORE_COMMIT | AFTER_COMMIT;
    expect_taken(fixture, store, &list);
    expect_rows(fixture, "berth_log", 1);
    places = AFTER_COMMIT;
    assert_int_equal(take_news_and_commit(fixture, store, &list, &stamp, &by_another), STORE_OK);
    expect_rows(fixture, "berth_log", 2);
    store_close(store);
}

/* The same of what is asked to find that out: nothing follows from it. */
static void test_deadlock_of_the_check(void **state)
{
    struct fixture *fixture = *state;
    struct store_stamp stamp;
    bool by_another;
    struct store *store = open_seeded(fixture, NULL);
    struct change_list list = changes_of(fixture);
    add_catalog(&list, CHANGE_TRAIT_INSERT, 6000, "CUSTOM_MINE");
    statement = ROLL_BACK;
    places = BEFORE_COMMIT | AFTER_COMMIT | BEFORE_CHECK;
    expect_taken(fixture, store, &list); /* a row of its own has taken the number */
    places = AFTER_COMMIT | BEFORE_CHECK;
    assert_int_equal(take_news_and_commit(fixture, store, &list, &stamp, &by_another), STORE_OK);
    assert_int_equal(places, NOWHERE);
    expect_rows(fixture, "berth_log", 3);
    store_close(store);
}

/* That the row is not on another node does not mean that it has not been committed. */
static void test_check_elsewhere(void **state)
{
    struct fixture *fixture = *state;
    struct store_stamp stamp;
    bool by_another;
    struct store *store = open_seeded(fixture, NULL);
    struct change_list list = changes_of(fixture);
    add_catalog(&list, CHANGE_TRAIT_INSERT, 6000, "CUSTOM_MINE");
    places = AFTER_COMMIT | ELSEWHERE;
    assert_int_equal(take_news_and_commit(fixture, store, &list, &stamp, &by_another), STORE_OK);
    assert_int_equal(places, NOWHERE);
    expect_rows(fixture, "berth_log", 2);
    store_close(store);
}

/* What is refused only because the change before it is gone is not the request's fault. */
static void test_rest_is_refused(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_seeded(fixture, NULL);
    struct change_list list = changes_of(fixture);
    add_catalog(&list, CHANGE_TRAIT_INSERT, 6000, "CUSTOM_MINE");
    add_link(&list, CHANGE_PROVIDER_TRAIT_INSERT, 2, 6000);
    expect_undone(fixture, store, &list, AFTER_CHANGE);
    expect_rows(fixture, "resource_provider_traits", 1);
    store_close(store);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_rest_is_not_committed), TEST(test_nothing_is_committed),
        TEST(test_rest_is_refused),       TEST(test_deadlock_after_commit),
        TEST(test_deadlock_of_the_check), TEST(test_check_elsewhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
