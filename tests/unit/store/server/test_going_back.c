/* A database that went back, and one that was copied to another cluster, on a real server. */
#include "peer.h"

#include <stdio.h>

static void delete_log_after(struct fixture *fixture, int64_t number)
{
    (void)peer_execute(
        fixture,
        arena_printf(fixture->arena, "DELETE FROM berth_log WHERE number > %lld", (long long)number)
            .data);
}

/* Batches until the log has that many rows. */
static void commit_until(struct fixture *fixture, struct store *store, int64_t number)
{
    while (server_store_of(store)->followed.number < number) {
        struct change_list list = changes_of(fixture);
        int64_t id = store_next_id(store, STORE_PROJECTS);
        add_catalog(&list, CHANGE_PROJECT_INSERT, id,
                    arena_printf(fixture->arena, "p%lld", (long long)id).data);
        commit_changes(fixture, store, &list);
    }
}

static void found(struct fixture *fixture, struct store *store, int64_t had, int64_t has)
{
    expect_news(fixture, store, STORE_NEWS_WENT_BACK);
    assert_int_equal(store_why_went_back(store).had, had);
    assert_int_equal(store_why_went_back(store).has, has);
}

/* Each time is told, also if memory had a state of the same number each time. */
static void test_twice(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_seeded(fixture, NULL);
    commit_until(fixture, store, 9);
    delete_log_after(fixture, 5);
    found(fixture, store, 9, 5);
    expect_news(fixture, store, STORE_NEWS_NONE);
    commit_until(fixture, store, 9);
    delete_log_after(fixture, 6);
    found(fixture, store, 9, 6);
    store_close(store);
}

/* The sequences went back as well: whatever was reserved, others may get again. */
static void test_ids_are_not_used(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_seeded(fixture, NULL);
    commit_until(fixture, store, 5);
    int64_t id = store_next_id(store, STORE_PROJECTS);
    peer_set_last_id(fixture, STORE_PROJECTS, 900);
    delete_log_after(fixture, 4);
    found(fixture, store, 5, 4);
    assert_true(store_next_id(store, STORE_PROJECTS) > id + 16); /* of the block's 32 ids */
    store_close(store);
}

static struct store *open_remembering(struct fixture *fixture)
{
    const struct store_options options = {.connection = slice_of(fixture->url),
                                          .busy_timeout_ms = fixture->busy_timeout_ms,
                                          .state_directory = slice_of(fixture->dir)};
    struct store *store = store_open(&options, &fixture->err);
    assert_non_null(store);
    return store;
}

/* With that many batches. */
static struct store *open_with_nine(struct fixture *fixture)
{
    store_close(open_seeded(fixture, NULL));
    struct store *store = open_remembering(fixture);
    expect_news(fixture, store, STORE_NEWS_RELOAD);
    commit_until(fixture, store, 9);
    return store;
}

/* What a process would find that began now. */
static int64_t remembered(struct fixture *fixture, struct store *store)
{
    struct acknowledged file;
    struct epochs_left left;
    fixture_shell(fixture, "rm -rf copy && mkdir copy && cp acknowledged-* copy/");
    int64_t number = acknowledged_open(&file, slice_of(fixture_file(fixture, "copy")),
                                       server_store_of(store)->address.target, &left)
                         .number;
    acknowledged_close(&file);
    return number;
}

/* The file has the state that is gone until what is gone has been named, which is done between two
 * reads: a process that is killed meanwhile finds out again. */
static void test_killed_meanwhile(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_with_nine(fixture);
    assert_int_equal(remembered(fixture, store), 9);
    delete_log_after(fixture, 5);
    found(fixture, store, 9, 5);
    assert_int_equal(remembered(fixture, store), 9);
    expect_news(fixture, store, STORE_NEWS_NONE);
    assert_int_equal(remembered(fixture, store), 5);
    commit_until(fixture, store, 9);
    delete_log_after(fixture, 6);
    found(fixture, store, 9, 6);
    commit_until(fixture, store, 7);
    assert_int_equal(remembered(fixture, store), 7);
    store_close(store);
}

/* What is gone has been named, and the process ends before it writes again: the next one begins the
 * epoch. */
static void test_ends_before_epoch(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_with_nine(fixture);
    delete_log_after(fixture, 5);
    found(fixture, store, 9, 5);
    expect_news(fixture, store, STORE_NEWS_NONE);
    store_close(store);
    store = open_remembering(fixture);
    expect_news(fixture, store, STORE_NEWS_RELOAD);
    commit_until(fixture, store, 6);
    assert_int_equal(epochs_newest(&server_store_of(store)->epochs).epoch, 1);
    assert_int_equal(epochs_newest(&server_store_of(store)->epochs).number, 6);
    store_close(store);
    store = open_remembering(fixture);
    expect_news(fixture, store, STORE_NEWS_RELOAD);
    commit_until(fixture, store, 7);
    assert_int_equal(epochs_newest(&server_store_of(store)->epochs).epoch, 1);
    store_close(store);
}

/* ---- what a state contains ---- */

static struct store_stamp stamp_at(struct fixture *fixture, struct store *store, int64_t number)
{
    commit_until(fixture, store, number);
    return log_state_stamp(&server_store_of(store)->followed,
                           server_store_of(store)->foreign.taken);
}

/* The same number in another history. */
static struct store_stamp other_stamp(const struct store_stamp *stamp)
{
    struct log_state state;
    memcpy(&state, stamp->bytes, sizeof(state));
    state.mark[0] ^= 1;
    return log_state_stamp(&state, 0);
}

/* A later state contains an earlier one only if memory has had both, in one history. */
static void test_covers(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_seeded(fixture, NULL);
    const struct store_stamp early = stamp_at(fixture, store, 5);
    const struct store_stamp late = stamp_at(fixture, store, 6);
    const struct store_stamp other_early = other_stamp(&early);
    const struct store_stamp other_late = other_stamp(&late);
    assert_true(store_covers(store, &early, &early));
    assert_true(store_covers(store, &late, &early));
    assert_false(store_covers(store, &early, &late));
    assert_false(store_covers(store, &late, &other_early));
    assert_false(store_covers(store, &other_late, &early));
    assert_false(store_covers(store, &late, &other_late));
    server_store_of(store)->has_state = false;
    expect_news(fixture, store, STORE_NEWS_RELOAD);
    assert_true(store_covers(store, &late, &late));
    assert_false(store_covers(store, &late, &early));
    store_close(store);
}

/* ---- a log that is not what instances write ---- */

static struct store *open_at_nine(struct fixture *fixture)
{
    struct store *store = open_seeded(fixture, NULL);
    struct store *other = fixture_open(fixture);
    commit_until(fixture, store, 5);
    expect_news(fixture, other, STORE_NEWS_RELOAD);
    commit_until(fixture, store, 9);
    store_close(store);
    return other;
}

static void test_unchanged(void **state)
{
    struct store *store = open_at_nine(*state);
    expect_news(*state, store, STORE_NEWS_FOLLOW);
    store_close(store);
}

/* What happened since the state that memory has is not known, so everything is compared. */
static void test_broken_chain(void **state)
{
#define NEWEST "(SELECT number FROM (SELECT max(number) AS number FROM berth_log) newest)"
#define ZEROS  "00000000000000000000000000000000"
    static const struct {
        const char *sql;
        const char *bytes; /* between the two; NULL: it has one part */
        const char *rest;
    } damages[] = {
        {"UPDATE berth_log SET digest = ", ZEROS, " WHERE number = " NEWEST " - 2"},
        {"UPDATE berth_log SET mark = ", ZEROS, " WHERE number = " NEWEST " - 2"},
        {"UPDATE berth_log SET entries = ", "0100", " WHERE number = " NEWEST " - 3"},
        {"UPDATE berth_log SET entries = ", "01ff", " WHERE number = " NEWEST},
        {"DELETE FROM berth_log WHERE number = " NEWEST " - 2", NULL, ""},
        {"DELETE FROM berth_log WHERE number <= " NEWEST " - 4", NULL, ""},
    };
#undef ZEROS
#undef NEWEST
    struct fixture *fixture = *state;
    struct store *store = open_seeded(fixture, NULL);
    struct store *other = fixture_open(fixture);
    expect_news(fixture, other, STORE_NEWS_RELOAD);
    for (size_t i = 0; i < sizeof(damages) / sizeof(damages[0]); i++) {
        commit_until(fixture, store, server_store_of(other)->followed.number + 4);
        const char *bytes = damages[i].bytes == NULL ? "" : peer_hex(fixture, damages[i].bytes);
        (void)peer_execute(
            fixture,
            arena_printf(fixture->arena, "%s%s%s", damages[i].sql, bytes, damages[i].rest).data);
        expect_news(fixture, other, STORE_NEWS_RELOAD);
    }
    store_close(store);
    store_close(other);
}

/* Empty batches of another instance, on top of a state. */
static void append_rows(struct fixture *fixture, struct store *store, int count)
{
    struct log_state state = server_store_of(store)->followed;
    const char *now = peer_sql("now()", "UTC_TIMESTAMP(6)");
    struct buf sql = {0};
    char before[2 * LOG_DIGEST_LEN + 1];
    for (int i = 0; i < count; i++) {
        const struct log_state last = state;
        const struct log_row row = {.number = last.number + 1,
                                    .mark = {"another instance", LOG_MARK_LEN},
                                    .before = {(const char *)last.digest, LOG_DIGEST_LEN},
                                    .entries = SLICE_LIT("")};
        for (size_t k = 0; k < LOG_DIGEST_LEN; k++)
            snprintf(before + 2 * k, 3, "%02x", last.digest[k]);
        buf_printf(&sql, "%s(%lld, 'another instance', %s, %s, '')",
                   i == 0 ? "INSERT INTO berth_log VALUES " : ", ", (long long)row.number,
                   peer_hex(fixture, before), now);
        assert_true(log_row_state(&row, &state));
    }
    buf_append_char(&sql, '\0');
    (void)peer_execute(fixture, sql.data);
    buf_free(&sql);
}

/* As many batches are followed as are read at once. If there are more, what is read does not lead
 * to the newest state. */
static void test_many_rows(void **state)
{
    struct store *store = open_seeded(*state, NULL);
    append_rows(*state, store, 10000);
    expect_news(*state, store, STORE_NEWS_FOLLOW);
    append_rows(*state, store, 10001);
    expect_news(*state, store, STORE_NEWS_RELOAD);
    store_close(store);
}

/* The row that memory has is another one by now. */
static void test_other_row(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_at_nine(fixture);
    (void)peer_execute(fixture, "UPDATE berth_log SET entries = '' WHERE number = 5");
    expect_news(fixture, store, STORE_NEWS_WENT_BACK);
    store_close(store);
}

/* As the server answers on a new connection. */
static enum log_found newest_of(struct fixture *fixture)
{
    struct server_session *session = peer_connect(fixture);
    const struct question question = {.known = {.number = 0}};
    struct question_answer answer = {0};
    struct log_state found;
    assert_int_equal(
        session->dialect->question_ask(session, &question, &answer, peer_soon(), &fixture->err),
        SERVER_OK);
    enum log_found what = log_newest_state(&answer.newest, NULL, &found);
    log_rows_free(&answer.newest.rows);
    server_session_destroy(session);
    return what;
}

/* What a standby has is not the newest state, whatever it is. */
static void test_newest(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_seeded(fixture, NULL);
    assert_int_equal(newest_of(fixture), LOG_FOUND_STATE);
    peer_set_standby(fixture, true);
    assert_int_equal(newest_of(fixture), LOG_FOUND_STANDBY);
    peer_set_standby(fixture, false);
    (void)peer_execute(fixture, "UPDATE berth_log SET mark = ''");
    assert_int_equal(newest_of(fixture), LOG_FOUND_FOREIGN);
    (void)peer_execute(fixture, "DELETE FROM berth_log");
    assert_int_equal(newest_of(fixture), LOG_FOUND_STATE);
    store_close(store);
}

/* ---- commits on top of a state that is gone ---- */

/* Commits without taking the news. */
static enum store_result commit_blindly(struct fixture *fixture, struct store *store,
                                        const char *name)
{
    struct change_list list = changes_of(fixture);
    struct store_stamp stamp;
    bool foreign;
    add_catalog(&list, CHANGE_PROJECT_INSERT, store_next_id(store, STORE_PROJECTS), name);
    fixture->err = (struct err){.arena = fixture->arena};
    return commit_list(store, &list, &stamp, &foreign, &fixture->err);
}

/* Another instance has written a row with the number of the one that is gone. */
static void test_other_row_before(void **state)
{
    struct fixture *fixture = *state;
    struct store *other = open_at_nine(fixture);
    struct store *store = fixture_open(fixture);
    expect_news(fixture, other, STORE_NEWS_FOLLOW);
    delete_log_after(fixture, 8);
    expect_news(fixture, store, STORE_NEWS_RELOAD);
    assert_int_equal(commit_blindly(fixture, other, "too soon"), STORE_TAKEN);
    commit_until(fixture, store, 9);
    assert_int_equal(commit_blindly(fixture, other, "too late"), STORE_TAKEN);
    found(fixture, other, 9, 9);
    assert_int_equal(commit_blindly(fixture, other, "in time"), STORE_OK);
    store_close(store);
    store_close(other);
}

/* Memory has read an empty log. Its first rows have been pruned since, so number 1 is free. */
static void test_first_row_is_pruned(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = fixture_open(fixture);
    expect_news(fixture, store, STORE_NEWS_RELOAD);
    store_close(open_seeded(fixture, NULL));
    (void)peer_execute(fixture, "UPDATE berth_log SET number = number + 10");
    assert_int_equal(commit_blindly(fixture, store, "p"), STORE_TAKEN);
    store_close(store);
}

/* Nor is one that was planned on memory that is known, or suspected, not to have all of it. */
static void test_wrong_memory(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_seeded(fixture, NULL);
    expect_news(fixture, store, STORE_NEWS_NONE);
    server_store_of(store)->has_state = false;
    assert_int_equal(commit_blindly(fixture, store, "p"), STORE_TAKEN);
    expect_news(fixture, store, STORE_NEWS_RELOAD);
    assert_true(store_suspect(store, ENTITY_PROVIDER, 2, (struct slice){0}));
    assert_int_equal(commit_blindly(fixture, store, "p"), STORE_TAKEN);
    expect_news(fixture, store, STORE_NEWS_FOLLOW);
    assert_int_equal(commit_blindly(fixture, store, "p"), STORE_OK);
    store_close(store);
}

/* ---- another cluster ---- */

static void ignore_change(void *cls, const struct change *change)
{
    (void)cls;
    (void)change;
}

static bool has_sums(void *cls, enum entity entity, const struct store_sums *sums)
{
    (void)cls;
    (void)entity;
    (void)sums;
    return true;
}

static void note_unknown(void *cls)
{
    *(bool *)cls = true;
}

static bool is_never_full(void *cls)
{
    (void)cls;
    return false;
}

/* Whether a look knows what others have written. */
static bool look_knows(struct fixture *fixture, struct store_observer *observer)
{
    bool is_unknown = false;
    const struct store_examiner examiner = {.recent = ignore_change,
                                            .has_sums = has_sums,
                                            .unknown = note_unknown,
                                            .is_full = is_never_full,
                                            .cls = &is_unknown};
    struct store_stamp stamp;
    assert_true(store_observer_begin(observer, &stamp, &fixture->err));
    assert_true(store_observer_examine(observer, &examiner, &fixture->err));
    store_observer_end(observer);
    return !is_unknown;
}

/* The tables are the same, and so is the log: but all transactions have lower numbers there than
 * those that have been looked at, so that nothing would ever seem to be new. */
static void test_lower_numbers(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_seeded(fixture, NULL);
    struct store_observer *observer = store_observe(store, &fixture->err);
    expect_news(fixture, store, STORE_NEWS_NONE);
    assert_true(look_knows(fixture, observer));
    server_store_of(store)->load.horizon += 1000000;
    server_store_of(store)->load.number++;
    assert_false(look_knows(fixture, observer));
    expect_news(fixture, store, STORE_NEWS_RELOAD);
    assert_true(look_knows(fixture, observer));
    expect_news(fixture, store, STORE_NEWS_NONE);
    store_observer_free(observer);
    store_close(store);
}

/* Whatever the numbers are. */
static void test_other_cluster(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_seeded(fixture, NULL);
    expect_news(fixture, store, STORE_NEWS_NONE);
    server_store_of(store)->examined_system++;
    expect_news(fixture, store, STORE_NEWS_RELOAD);
    expect_news(fixture, store, STORE_NEWS_NONE);
    struct store_observer *observer = store_observe(store, &fixture->err);
    server_store_of(store)->load.system++;
    assert_false(look_knows(fixture, observer));
    expect_news(fixture, store, STORE_NEWS_RELOAD);
    assert_true(look_knows(fixture, observer));
    store_observer_free(observer);
    store_close(store);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_twice),
        TEST(test_ids_are_not_used),
        TEST(test_killed_meanwhile),
        TEST(test_ends_before_epoch),
        TEST(test_covers),
        TEST(test_unchanged),
        TEST(test_broken_chain),
        TEST(test_many_rows),
        TEST(test_other_row),
        TEST(test_newest),
        TEST(test_other_row_before),
        TEST(test_first_row_is_pruned),
        TEST(test_wrong_memory),
        TEST(test_lower_numbers),
        TEST(test_other_cluster),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
