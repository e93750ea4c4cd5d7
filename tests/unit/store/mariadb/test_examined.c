/* How many rows the server looks at for what is asked again and again: it finds them by indexes,
 * however many rows the tables have. */
#include <malloc.h>

#include "store/server/peer.h"

#include "base/arena.h"

enum { ROWS = 4000, FEW = 40, FIRST_ID = 100000 };

#define STATUS                                                                                     \
    " /*M! information_schema.SESSION_STATUS */ /*!80000 performance_schema.session_status */"

/* Rows with the ids FIRST_ID + 1 to FIRST_ID + ROWS, and as many batches. */
static const char *const FILL[] = {
    "INSERT INTO projects (id, external_id) SELECT seq, CONCAT('p', seq) FROM",
    "INSERT INTO users (id, external_id) SELECT seq, CONCAT('u', seq) FROM",
    "INSERT INTO traits (id, name) SELECT seq, CONCAT('CUSTOM_', seq) FROM",
    "INSERT INTO resource_classes (id, name) SELECT seq, CONCAT('CUSTOM_', seq) FROM",
    "INSERT INTO placement_aggregates (id, uuid) SELECT seq, CONCAT('a', seq) FROM",
    "INSERT INTO resource_providers (id, uuid, name, generation, root_provider_id)"
    " SELECT seq, CONCAT('r', seq), CONCAT('name', seq), 0, seq FROM",
    "INSERT INTO inventories (resource_provider_id, resource_class_id, total, reserved, min_unit,"
    " max_unit, step_size, allocation_ratio) SELECT seq, 0, 8, 0, 1, 8, 1, 1 FROM",
    "INSERT INTO resource_provider_traits (resource_provider_id, trait_id) SELECT seq, seq FROM",
    "INSERT INTO resource_provider_aggregates (resource_provider_id, aggregate_id)"
    " SELECT seq, seq FROM",
    "INSERT INTO consumers (id, uuid, project_id, user_id, consumer_type_id, generation)"
    " SELECT seq, CONCAT('c', seq), 1, 1, 1, 1 FROM",
    "INSERT INTO allocations (id, consumer_id, resource_provider_id, resource_class_id, used)"
    " SELECT seq, CONCAT('c', seq), seq, 0, 1 FROM",
};

static struct store *open_filled(struct fixture *fixture)
{
    struct store *store = open_seeded(fixture, NULL);
    for (size_t i = 0; i < sizeof(FILL) / sizeof(FILL[0]); i++)
        (void)peer_execute(fixture, arena_printf(fixture->arena, "%s %s", FILL[i],
                                                 peer_numbers(fixture, FIRST_ID + 1, ROWS))
                                        .data);
    return store;
}

/* The rows that the session has looked at since the last call. */
static int64_t looked_at(struct fixture *fixture, struct server_session *session)
{
    static const char READ[] = "SELECT CAST(SUM(VARIABLE_VALUE) AS SIGNED) FROM" STATUS
                               " WHERE VARIABLE_NAME LIKE 'Handler_read%'";
    int64_t rows = peer_number(fixture, session, READ);
    peer_run(fixture, session, "FLUSH STATUS");
    return rows;
}

static void expect_few(struct fixture *fixture, struct server_session *session, const char *what,
                       int64_t most)
{
    int64_t rows = looked_at(fixture, session);
    if (rows > most)
        fail_msg("%s: the server has looked at %lld rows", what, (long long)rows);
}

/* The temporary tables with files that the session has made since the last call of looked_at(). */
static int64_t files_made(struct fixture *fixture, struct server_session *session)
{
    return peer_number(fixture, session,
                       "SELECT CAST(VARIABLE_VALUE AS SIGNED) FROM" STATUS
                       " WHERE VARIABLE_NAME = 'Created_tmp_disk_tables'");
}

/* ---- what the writer asks ---- */

static void claim(struct fixture *fixture, struct store *store, int64_t id)
{
    struct change_list list = changes_of(fixture);
    const char *uuid = arena_printf(fixture->arena, "c%lld", (long long)id).data;
    add_generation(&list, id, 0, 1);
    add_consumer(&list, CHANGE_CONSUMER_UPDATE, id, uuid, 2);
    add_allocations_of(&list, id, uuid);
    add_allocation(&list, id + 2 * (int64_t)ROWS, id, uuid, id, 0, 2);
    commit_changes(fixture, store, &list);
}

static void test_batches(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_filled(fixture);
    struct server_session *writer = server_store_of(store)->writer;
    struct server_session *follower = server_store_of(store)->follower;
    for (int64_t i = 1; i <= 3; i++) {
        expect_news(fixture, store, STORE_NEWS_NONE);
        (void)looked_at(fixture, writer);
        (void)looked_at(fixture, follower);
        claim(fixture, store, FIRST_ID + 7 * i);
        expect_few(fixture, writer, "a claim", FEW);
        expect_few(fixture, follower, "its news", FEW);
    }
    store_close(store);
}

static void test_ids(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_filled(fixture);
    struct server_session *session = peer_connect(fixture);
    int64_t at[32];
    (void)looked_at(fixture, session);
    for (int table = 0; table < STORE_TABLE_COUNT; table++) {
        struct id_range ids = {.most = INT32_MAX, .room = 32, .at = at};
        const struct server_dialect *dialect = session->dialect;
        assert_int_equal(dialect->ids_reserve(session, (enum store_table)table, &ids, peer_soon(),
                                              &fixture->err),
                         SERVER_OK);
        expect_few(fixture, session, "ids", FEW);
        assert_int_equal(
            dialect->ids_mend(session, (enum store_table)table, 500000, peer_soon(), &fixture->err),
            SERVER_OK);
        expect_few(fixture, session, "ids that are mended", FEW);
    }
    server_session_destroy(session);
    store_close(store);
}

static void test_namesakes(void **state)
{
    static const struct {
        enum entity entity;
        struct slice texts[2];
        size_t count;
    } sought[] = {
        {ENTITY_CLASS, {SLICE_LIT("CUSTOM_100007")}, 1},
        {ENTITY_TRAIT, {SLICE_LIT("CUSTOM_100007")}, 1},
        {ENTITY_AGGREGATE, {SLICE_LIT("a100007")}, 1},
        {ENTITY_PROJECT, {SLICE_LIT("p100007")}, 1},
        {ENTITY_USER, {SLICE_LIT("U100007")}, 1},
        {ENTITY_USER, {SLICE_LIT("u\\100007")}, 0},
        {ENTITY_USER,
         {SLICE_LIT("\xc3\xbc"
                    "100007")},
         1}, /* equal in the collation */
        {ENTITY_CONSUMER, {SLICE_LIT("c100007")}, 1},
        {ENTITY_PROVIDER, {SLICE_LIT("name100007"), SLICE_LIT("r100008")}, 2},
    };
    struct fixture *fixture = *state;
    struct store *store = open_filled(fixture);
    struct server_session *session = peer_connect(fixture);
    (void)looked_at(fixture, session);
    for (size_t i = 0; i < sizeof(sought) / sizeof(sought[0]); i++) {
        struct namesakes found;
        assert_int_equal(session->dialect->namesakes(session, sought[i].entity, sought[i].texts,
                                                     fixture->arena, &found, peer_soon(),
                                                     &fixture->err),
                         SERVER_OK);
        expect_few(fixture, session, sought[i].texts[0].data, FEW);
        assert_int_equal(found.count, sought[i].count);
        for (size_t row = 0; row < found.count; row++) {
            assert_int_equal(found.at[row].field, row);
            const struct slice text = found.at[row].text;
            assert_true(text.len >= 7);
            assert_memory_equal(text.data + text.len - 6, "10000", 5);
        }
    }
    server_session_destroy(session);
    store_close(store);
}

/* ---- what all ask ---- */

/* As many batches, which say nothing. */
static void fill_log(struct fixture *fixture)
{
    (void)peer_execute(fixture, arena_printf(fixture->arena,
                                             "INSERT INTO berth_log SELECT seq, x'00', x'00',"
                                             " UTC_TIMESTAMP(6) - INTERVAL 2 HOUR, '' FROM %s",
                                             peer_numbers(fixture, FIRST_ID + 1, ROWS))
                                    .data);
}

static void test_log(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_seeded(fixture, NULL);
    struct server_session *session = peer_connect(fixture);
    const struct server_dialect *dialect = session->dialect;
    const struct question question = {.known = {.number = 0}};
    struct question_answer answer = {0};
    struct log_rows found;
    struct log_oldest oldest;
    uint64_t deleted;
    store_close(store);
    fill_log(fixture);
    (void)looked_at(fixture, session);
    assert_int_equal(dialect->question_ask(session, &question, &answer, peer_soon(), &fixture->err),
                     SERVER_OK);
    assert_int_equal(answer.newest.rows.count, 1);
    assert_int_equal(answer.newest.rows.at[0].number, FIRST_ID + ROWS);
    log_rows_free(&answer.newest.rows);
    assert_int_equal(files_made(fixture, session), 0);
    expect_few(fixture, session, "the newest state", FEW);
    assert_int_equal(dialect->log_first(session, FIRST_ID + 7, &found, 60000000, &fixture->err),
                     SERVER_OK);
    log_rows_free(&found);
    expect_few(fixture, session, "a row of the log", FEW);
    assert_int_equal(
        dialect->log_oldest(session, 0, 100, INT64_MAX / 2, &oldest, peer_soon(), &fixture->err),
        SERVER_OK);
    expect_few(fixture, session, "the oldest rows of the log", 2 * 100 + FEW);
    assert_int_equal(
        dialect->log_delete(session, 0, FIRST_ID + 100, &deleted, peer_soon(), &fixture->err),
        SERVER_OK);
    expect_few(fixture, session, "rows of the log that are deleted", 2 * 100 + FEW);
    server_session_destroy(session);
}

static void ignore(void *cls, size_t at, struct cell *cells)
{
    (void)at;
    (void)cells;
    ++*(unsigned *)cls;
}

static void test_rows(void **state)
{
    static const int64_t ids[] = {FIRST_ID + 7, FIRST_ID + 9};
    struct fixture *fixture = *state;
    struct store *store = open_filled(fixture);
    struct server_session *session = server_store_of(store)->follower;
    (void)looked_at(fixture, session);
    for (unsigned table = 0; table < ROWS_TABLE_COUNT; table++) {
        const struct row_set set = {.table = (enum rows_table)table, .ids = ids, .count = 2};
        unsigned count = 0;
        assert_int_equal(
            session->dialect->rows_find(session, &set, 1, ignore, &count, 60000000, &fixture->err),
            SERVER_OK);
        expect_few(fixture, session, "rows", FEW);
        if (table < ROWS_RECORDS && table != ROWS_CONSUMER_TYPES)
            assert_int_equal(count, 2);
    }
    store_close(store);
}

static void note_id(void *cls, size_t at, struct cell *cells)
{
    int64_t *sum = cls;
    (void)at;
    *sum += cells[0].integer;
}

/* ---- looks ---- */

struct looked {
    struct store_sums sums[ENTITY_CONSUMER + 1];
    enum entity differs; /* memory has other sums of it */
    size_t ids, rows, ends;
};

static void ignore_recent(void *cls, const struct change *change)
{
    (void)cls;
    (void)change;
}

static bool take_sums(void *cls, enum entity entity, const struct store_sums *sums)
{
    struct looked *looked = cls;
    looked->sums[entity] = *sums;
    return entity != looked->differs;
}

static bool take_ids(void *cls, enum entity entity, const int64_t *ids, size_t count)
{
    struct looked *looked = cls;
    assert_int_equal(entity, looked->differs);
    assert_int_equal(ids[count - 1], FIRST_ID + ROWS);
    looked->ids += count;
    return true;
}

static void take_row(void *cls, const struct change *change)
{
    struct looked *looked = cls;
    assert_int_equal(change->kind, CHANGE_CONSUMER_INSERT);
    looked->rows++;
}

static void take_end(void *cls, enum entity entity)
{
    struct looked *looked = cls;
    assert_int_equal(entity, looked->differs);
    looked->ends++;
}

static bool is_never_full(void *cls)
{
    (void)cls;
    return false;
}

static struct looked look(struct fixture *fixture, struct store_observer *observer)
{
    struct looked looked = {.differs = ENTITY_CONSUMER};
    const struct store_examiner examiner = {.recent = ignore_recent,
                                            .has_sums = take_sums,
                                            .ids = take_ids,
                                            .row = take_row,
                                            .rows_end = take_end,
                                            .is_full = is_never_full,
                                            .cls = &looked};
    struct store_stamp stamp;
    assert_true(store_observer_begin(observer, &stamp, &fixture->err));
    assert_true(store_observer_examine(observer, &examiner, &fixture->err));
    store_observer_end(observer);
    return looked;
}

static void expect_sums(struct fixture *fixture, const struct store_sums *sums, const char *table,
                        const char *generation)
{
    struct arena *arena = fixture->arena;
    assert_true(sums->has_sums);
    assert_int_equal(
        sums->rows,
        peer_execute(fixture, arena_printf(arena, "SELECT COUNT(*) FROM %s", table).data));
    assert_int_equal(
        sums->ids,
        peer_execute(fixture,
                     arena_printf(arena, "SELECT CAST(SUM(id) AS SIGNED) FROM %s", table).data));
    assert_int_equal(
        sums->generations,
        peer_execute(
            fixture,
            arena_printf(arena, "SELECT CAST(SUM(%s) AS SIGNED) FROM %s", generation, table).data));
}

/* Another program whose clock is years behind: only the sums tell of what it has written. */
static void test_sums(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_filled(fixture);
    struct store_observer *observer = store_observe(store, &fixture->err);
    const struct looked before = look(fixture, observer);
    (void)peer_execute(fixture, "UPDATE consumers SET generation = generation + 3,"
                                " updated_at = '2001-01-01' WHERE uuid = 'c100007'");
    const struct looked after = look(fixture, observer);
    assert_int_equal(after.sums[ENTITY_CONSUMER].generations,
                     before.sums[ENTITY_CONSUMER].generations + 3);
    assert_int_equal(after.sums[ENTITY_CONSUMER].ids, before.sums[ENTITY_CONSUMER].ids);
    expect_sums(fixture, &after.sums[ENTITY_CONSUMER], "consumers", "generation");
    expect_sums(fixture, &after.sums[ENTITY_PROVIDER], "resource_providers", "generation");
    expect_sums(fixture, &after.sums[ENTITY_TRAIT], "traits", "0");
    assert_int_equal(after.ids, after.sums[ENTITY_CONSUMER].rows);
    assert_int_equal(after.rows, after.ids);
    assert_int_equal(after.ends, 1);
    store_observer_free(observer);
    store_close(store);
}

/* Times of rows are those of statements: a transaction may be committed seconds later. */
static void test_committed_late(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_seeded(fixture, NULL);
    struct server_session *session = peer_connect(fixture);
    struct examined_table table = {.table = ROWS_PROVIDERS};
    struct examination examination = {.tables = &table, .count = 1};
    int64_t ids = 0;
    (void)peer_execute(fixture,
                       "UPDATE resource_providers SET"
                       " created_at = UTC_TIMESTAMP() - INTERVAL 60 SECOND,"
                       " updated_at = UTC_TIMESTAMP() - INTERVAL IF(id = 1, 60, 5) SECOND");
    examination.since = peer_execute(fixture, "SELECT UNIX_TIMESTAMP()");
    assert_int_equal(session->dialect->rows_examine(session, &examination, note_id, &ids, 60000000,
                                                    &fixture->err),
                     SERVER_OK);
    assert_int_equal(ids, 2);
    server_session_destroy(session);
    store_close(store);
}

/* ---- a program changes very many rows ---- */

enum { MANY = 100000, MEMORY_BYTES_MOST = 1 << 20 };

struct many {
    size_t count, providers;
    size_t before, most; /* bytes of memory in use */
};

static void measure(void *cls, size_t at, struct cell *cells)
{
    struct many *many = cls;
    (void)cells;
    many->providers += at == 1;
    if (many->count++ % 1000 != 0)
        return;
    size_t now = mallinfo2().uordblks + mallinfo2().hblkhd;
    if (now > many->most)
        many->most = now;
}

/* However many there are, memory holds few of them at a time. */
static void test_very_many_rows(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_seeded(fixture, NULL);
    struct server_session *session = peer_connect(fixture);
    struct examined_table tables[] = {{.table = ROWS_CONSUMERS, .is_counted = true},
                                      {.table = ROWS_PROVIDERS, .is_counted = true},
                                      {.table = ROWS_CONSUMERS}};
    struct examination examination = {.tables = tables, .count = 3};
    examination.since = peer_execute(fixture, "SELECT UNIX_TIMESTAMP()");
    int64_t consumers = peer_execute(fixture, "SELECT COUNT(*) FROM consumers");
    int64_t providers = peer_execute(fixture, "SELECT COUNT(*) FROM resource_providers");
    (void)peer_execute(
        fixture, arena_printf(fixture->arena,
                              "INSERT INTO consumers (id, uuid, project_id, user_id, generation,"
                              " created_at) SELECT seq, CONCAT('c', seq), 1, 1, 1, UTC_TIMESTAMP()"
                              " FROM %s",
                              peer_numbers(fixture, FIRST_ID + 1, MANY))
                     .data);
    (void)peer_execute(fixture, "UPDATE resource_providers SET updated_at = UTC_TIMESTAMP()");
    struct many many = {.before = mallinfo2().uordblks + mallinfo2().hblkhd};
    assert_int_equal(session->dialect->rows_examine(session, &examination, measure, &many, 60000000,
                                                    &fixture->err),
                     SERVER_OK);
    assert_in_range(many.count, 2 * MANY, 2 * (MANY + consumers) + providers);
    assert_int_equal(many.providers, providers);
    assert_int_equal(session->dialect->rows_stream(session, ROWS_CONSUMERS, measure, &many,
                                                   60000000, &fixture->err),
                     SERVER_OK);
    assert_in_range(many.count, 3 * MANY, 3 * (MANY + consumers) + providers);
    assert_int_equal(tables[0].rows, consumers + MANY);
    assert_int_equal(tables[1].rows, providers);
    /* sanitizers' allocators tell nothing */
    assert_in_range(many.most, many.before > 0, many.before + MEMORY_BYTES_MOST);
    assert_in_range(examination.horizon, examination.since, examination.since + 600);
    server_session_destroy(session);
    store_close(store);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_batches), TEST(test_ids),  TEST(test_namesakes),      TEST(test_log),
        TEST(test_rows),    TEST(test_sums), TEST(test_committed_late), TEST(test_very_many_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
