/* Consumers that have allocations and no row get one before memory has what was read. */
#include "peer.h"

#include <stdio.h>

/* ---- memory: what open_seeded() has ---- */

static struct known_entity find_seeded(void *cls, enum entity entity, int64_t id)
{
    (void)cls;
    return (struct known_entity){.is_known = entity != ENTITY_PROVIDER || id <= 2};
}

static void pass_seeded(void *cls, int64_t provider, consumer_take *take, void *take_cls)
{
    (void)cls;
    if (provider == 1)
        take(take_cls, 1, SLICE_LIT(UUID_C));
}

/* ---- reads ---- */

static void complete(struct fixture *fixture)
{
    fixture->completes_consumers = true;
    fixture->owner = (struct repair_owner){SLICE_LIT("nobody"), SLICE_LIT("none")};
}

static struct store *in_a_hurry(struct store *store)
{
    server_store_of(store)->quiet_us = 10000;
    return store;
}

static bool contains(const struct buf *text, const char *part)
{
    return text->len > 0 && memmem(text->data, text->len, part, strlen(part)) != NULL;
}

/* The result of one load; everything that it has sent is in `out`. */
static enum store_result load_once(struct fixture *fixture, struct store *store, struct buf *out)
{
    struct store_stamp stamp;
    fixture->err = (struct err){.arena = fixture->arena};
    assert_int_equal(store_begin_read(store, &fixture->err), STORE_NEWS_RELOAD);
    enum store_result result = store_load(store, dump_change, out, &fixture->err);
    assert_int_equal(store_end_read(store, &stamp), result == STORE_OK);
    return result;
}

static enum store_result follow_once(struct fixture *fixture, struct store *store, struct buf *out)
{
    const struct memory_view memory = {find_seeded, pass_seeded, NULL};
    struct store_stamp stamp;
    fixture->err = (struct err){.arena = fixture->arena};
    assert_int_equal(store_begin_read(store, &fixture->err), STORE_NEWS_FOLLOW);
    enum store_result result = store_follow(store, &memory, dump_change, out, &fixture->err);
    assert_true(store_end_read(store, &stamp)); /* memory has the log's newest row in any case */
    return result;
}

/* The read is taken again, and then has the consumer, its owner and that allocation. */
static void expect_created(struct fixture *fixture, struct store *store,
                           enum store_result read(struct fixture *fixture, struct store *store,
                                                  struct buf *out),
                           const char *uuid)
{
    struct buf ignored = {0};
    struct buf out = {0};
    char wanted[400];
    assert_int_equal(read(fixture, store, &ignored), STORE_TAKEN);
    assert_int_equal(read(fixture, store, &out), STORE_OK);
    snprintf(wanted, sizeof(wanted),
             "SELECT c.id FROM consumers c JOIN projects p ON p.id = c.project_id"
             " JOIN users u ON u.id = c.user_id WHERE c.uuid = '%s' AND c.generation = 0"
             " AND p.external_id = 'nobody' AND u.external_id = 'none'",
             uuid);
    int64_t id = peer_execute(fixture, wanted);
    assert_true(id > 1);
    snprintf(wanted, sizeof(wanted), "consumer(%d %s ", (int)id, uuid);
    assert_true(contains(&out, wanted));
    snprintf(wanted, sizeof(wanted), " %d %s 1 0 3)", (int)id, uuid);
    assert_true(contains(&out, wanted));
    buf_free(&ignored);
    buf_free(&out);
}

/* The Python service has deleted the consumer, and not its allocation. */
static void abandon(struct fixture *fixture)
{
    (void)peer_execute(fixture, "DELETE FROM consumers WHERE uuid = '" UUID_C "'");
}

/* ---- cases ---- */

static void test_load(void **state)
{
    struct fixture *fixture = *state;
    complete(fixture);
    struct store *one = in_a_hurry(open_seeded(fixture, NULL));
    struct store *two = in_a_hurry(fixture_open(fixture));
    abandon(fixture);
    expect_created(fixture, two, load_once, UUID_C);
    struct store *three = in_a_hurry(fixture_open(fixture)); /* nothing is missing for it */
    struct buf out = {0};
    assert_int_equal(load_once(fixture, three, &out), STORE_OK);
    assert_true(contains(&out, UUID_C));
    assert_int_equal(peer_execute(fixture, "SELECT COUNT(*) FROM projects"
                                           " WHERE external_id = 'nobody'"),
                     1);
    buf_free(&out);
    store_close(one);
    store_close(two);
    store_close(three);
}

/* A tool that only reads: they are left out, and counted. */
static void test_no_owner(void **state)
{
    struct fixture *fixture = *state;
    struct store *one = in_a_hurry(open_seeded(fixture, NULL));
    struct store *two = in_a_hurry(fixture_open(fixture));
    struct buf out = {0};
    abandon(fixture);
    assert_int_equal(load_once(fixture, two, &out), STORE_OK);
    assert_false(contains(&out, UUID_C));
    assert_int_equal(store_figures(two).skipped_rows, 1);
    assert_int_equal(peer_execute(fixture, "SELECT COUNT(*) FROM consumers"), 0);
    buf_free(&out);
    store_close(one);
    store_close(two);
}

/* Nothing is sent as long as the row is missing: memory keeps what it has. */
static void test_follow_consumer(void **state)
{
    struct fixture *fixture = *state;
    complete(fixture);
    struct store *store = in_a_hurry(open_seeded(fixture, NULL));
    struct buf out = {0};
    expect_news(fixture, store, STORE_NEWS_NONE);
    abandon(fixture);
    assert_true(store_suspect(store, ENTITY_CONSUMER, 1, SLICE_LIT(UUID_C)));
    assert_int_equal(follow_once(fixture, store, &out), STORE_TAKEN);
    assert_int_equal(out.len, 0);
    assert_int_equal(follow_once(fixture, store, &out), STORE_OK);
    assert_true(contains(&out, "consumer_reset(1 " UUID_C ")"));
    assert_true(contains(&out, " " UUID_C " 1 0 3)"));
    assert_int_equal(peer_execute(fixture, "SELECT COUNT(*) FROM consumers"), 1);
    buf_free(&out);
    store_close(store);
}

/* Of a claim that is only known by the provider's generation. */
static void test_follow_provider(void **state)
{
    struct fixture *fixture = *state;
    complete(fixture);
    struct store *store = in_a_hurry(open_seeded(fixture, NULL));
    expect_news(fixture, store, STORE_NEWS_NONE);
    (void)peer_execute(fixture, "INSERT INTO allocations (resource_provider_id, consumer_id,"
                                " resource_class_id, used) VALUES (1, '" UUID_D "', 0, 3)");
    assert_true(store_suspect(store, ENTITY_PROVIDER, 1, (struct slice){0}));
    expect_created(fixture, store, follow_once, UUID_D);
    store_close(store);
}

/* Deleted and created again, with another id, which no note names. */
static void test_follow_namesake(void **state)
{
    struct fixture *fixture = *state;
    complete(fixture);
    struct store *store = in_a_hurry(open_seeded(fixture, NULL));
    struct buf out = {0};
    expect_news(fixture, store, STORE_NEWS_NONE);
    (void)peer_execute(fixture, "UPDATE consumers SET id = 77 WHERE uuid = '" UUID_C "'");
    assert_true(store_suspect(store, ENTITY_CONSUMER, 1, SLICE_LIT(UUID_C)));
    assert_int_equal(follow_once(fixture, store, &out), STORE_OK);
    assert_true(contains(&out, "consumer_reset(1 " UUID_C ")"));
    assert_true(contains(&out, "consumer(77 " UUID_C " "));
    assert_true(contains(&out, "allocation(1 77 " UUID_C " 1 0 3)"));
    buf_free(&out);
    store_close(store);
}

/* Nor is a consumer reset whose id is by now that of another: its uuid counts. */
static void test_follow_id_reused(void **state)
{
    struct fixture *fixture = *state;
    complete(fixture);
    struct store *store = in_a_hurry(open_seeded(fixture, NULL));
    struct buf out = {0};
    expect_news(fixture, store, STORE_NEWS_NONE);
    abandon(fixture);
    (void)peer_execute(fixture, "INSERT INTO consumers (id, uuid, project_id, user_id, generation)"
                                " VALUES (1, '" UUID_D "', 1, 1, 0)");
    peer_set_last_id(fixture, STORE_CONSUMERS, 1);
    assert_true(store_suspect(store, ENTITY_CONSUMER, 1, SLICE_LIT(UUID_C)));
    assert_int_equal(follow_once(fixture, store, &out), STORE_TAKEN);
    assert_int_equal(out.len, 0);
    assert_int_equal(follow_once(fixture, store, &out), STORE_OK);
    assert_true(contains(&out, "consumer(1 " UUID_D " "));
    assert_true(contains(&out, " " UUID_C " 1 0 3)"));
    assert_int_equal(peer_execute(fixture, "SELECT COUNT(*) FROM consumers"), 2);
    buf_free(&out);
    store_close(store);
}

/* It holds two resources, as most do. */
static void test_two_allocations(void **state)
{
    struct fixture *fixture = *state;
    complete(fixture);
    struct store *store = in_a_hurry(open_seeded(fixture, NULL));
    struct store *two = in_a_hurry(fixture_open(fixture));
    struct buf out = {0};
    expect_news(fixture, store, STORE_NEWS_NONE);
    (void)peer_execute(fixture, "INSERT INTO allocations (resource_provider_id, consumer_id,"
                                " resource_class_id, used) VALUES (1, '" UUID_D "', 0, 3),"
                                " (2, '" UUID_D "', 0, 5)");
    expect_created(fixture, two, load_once, UUID_D);
    assert_int_equal(peer_execute(fixture, "SELECT COUNT(*) FROM consumers"), 2);
    assert_true(store_suspect(store, ENTITY_PROVIDER, 2, (struct slice){0}));
    assert_int_equal(follow_once(fixture, store, &out), STORE_OK);
    assert_true(contains(&out, " " UUID_D " 1 0 3)"));
    assert_true(contains(&out, " " UUID_D " 2 0 5)"));
    buf_free(&out);
    store_close(store);
    store_close(two);
}

/* A follow of a tool leaves them out as well. */
static void test_follow_no_owner(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = in_a_hurry(open_seeded(fixture, NULL));
    struct buf out = {0};
    expect_news(fixture, store, STORE_NEWS_NONE);
    abandon(fixture);
    assert_true(store_suspect(store, ENTITY_CONSUMER, 1, SLICE_LIT(UUID_C)));
    assert_int_equal(follow_once(fixture, store, &out), STORE_OK);
    assert_true(contains(&out, "consumer_reset(1 " UUID_C ")"));
    assert_false(contains(&out, "allocation("));
    assert_int_equal(peer_execute(fixture, "SELECT COUNT(*) FROM consumers"), 0);
    buf_free(&out);
    store_close(store);
}

/* No client can name it: it gets no row, and does not keep others from being read. */
static void test_not_a_uuid(void **state)
{
    struct fixture *fixture = *state;
    complete(fixture);
    struct store *store = in_a_hurry(open_seeded(fixture, NULL));
    struct store *two = in_a_hurry(fixture_open(fixture));
    struct buf out = {0};
    expect_news(fixture, store, STORE_NEWS_NONE);
    (void)peer_execute(fixture, "INSERT INTO allocations (resource_provider_id, consumer_id,"
                                " resource_class_id, used) VALUES (1, 'a\"b', 0, 3)");
    assert_int_equal(load_once(fixture, two, &out), STORE_OK);
    assert_int_equal(store_figures(two).skipped_rows, 1);
    assert_true(store_suspect(store, ENTITY_PROVIDER, 1, (struct slice){0}));
    assert_int_equal(follow_once(fixture, store, &out), STORE_OK);
    assert_int_equal(peer_execute(fixture, "SELECT COUNT(*) FROM consumers"), 1);
    buf_free(&out);
    store_close(store);
    store_close(two);
}

/* ---- statements that fail ---- */

static const struct server_dialect *whole; /* of the stores whose statements are to fail */
static struct server_dialect broken;       /* a copy of it, in which a test replaces functions */
static int lost_answers;

static void break_store(struct store *store)
{
    struct server_session *session = server_store_of(store)->follower;
    whole = session->dialect;
    broken = *whole;
    session->dialect = &broken;
}

static void mend_store(struct store *store)
{
    server_store_of(store)->follower->dialect = whole;
}

static enum server_outcome fail_to_find(struct server_session *session, const struct slice *uuids,
                                        size_t count, consumer_take *take, void *cls,
                                        uint64_t timeout_us, struct err *err)
{
    (void)session;
    (void)uuids;
    (void)count;
    (void)take;
    (void)cls;
    (void)timeout_us;
    (void)!err_set(err, 503, NULL, "the connection was lost");
    return SERVER_LOST;
}

/* They are created, and the answer to COMMIT is lost. */
static enum server_outcome create_and_lose(struct server_session *session,
                                           const struct repair_owner *owner,
                                           const struct slice *uuids, size_t count,
                                           uint64_t *created, uint64_t deadline_us, struct err *err)
{
    enum server_outcome outcome =
        whole->consumers_create(session, owner, uuids, count, created, deadline_us, err);
    if (outcome != SERVER_OK || lost_answers == 0)
        return outcome;
    lost_answers--;
    server_session_close(session);
    (void)!err_set(err, 503, NULL, "the connection was lost");
    return SERVER_LOST;
}

/* Memory must not have what was read without an answer to the question who is missing. */
static void test_question_fails(void **state)
{
    struct fixture *fixture = *state;
    complete(fixture);
    struct store *store = in_a_hurry(open_seeded(fixture, NULL));
    struct store *two = in_a_hurry(fixture_open(fixture));
    struct buf out = {0};
    expect_news(fixture, store, STORE_NEWS_NONE);
    abandon(fixture);
    break_store(store);
    break_store(two);
    broken.consumers_find = fail_to_find;
    assert_true(store_suspect(store, ENTITY_CONSUMER, 1, SLICE_LIT(UUID_C)));
    assert_int_equal(load_once(fixture, two, &out), STORE_FAILED);
    out.len = 0;
    assert_int_equal(follow_once(fixture, store, &out), STORE_FAILED);
    assert_int_equal(out.len, 0);
    mend_store(store);
    mend_store(two);
    expect_created(fixture, two, load_once, UUID_C);
    assert_int_equal(follow_once(fixture, store, &out), STORE_OK);
    assert_true(contains(&out, " " UUID_C " 1 0 3)"));
    buf_free(&out);
    store_close(store);
    store_close(two);
}

/* Nothing is created twice. */
static void test_answer_lost(void **state)
{
    struct fixture *fixture = *state;
    complete(fixture);
    struct store *one = in_a_hurry(open_seeded(fixture, NULL));
    struct store *two = in_a_hurry(fixture_open(fixture));
    abandon(fixture);
    break_store(two);
    lost_answers = 1;
    broken.consumers_create = create_and_lose;
    expect_created(fixture, two, load_once, UUID_C);
    assert_int_equal(lost_answers, 0);
    assert_int_equal(peer_execute(fixture, "SELECT COUNT(*) FROM consumers"), 1);
    mend_store(two);
    store_close(one);
    store_close(two);
}

/* What a read has followed is lost when it then finds that everything must be read, and a consumer
 * without a row in it. */
static void test_follow_and_load(void **state)
{
    struct fixture *fixture = *state;
    const struct memory_view memory = {find_seeded, pass_seeded, NULL};
    complete(fixture);
    struct store *store = in_a_hurry(open_seeded(fixture, NULL));
    struct store_stamp stamp;
    struct buf out = {0};
    expect_news(fixture, store, STORE_NEWS_NONE);
    assert_true(store_suspect(store, ENTITY_TRAIT, 1, (struct slice){0}));
    abandon(fixture);
    assert_int_equal(store_begin_read(store, &fixture->err), STORE_NEWS_FOLLOW);
    assert_int_equal(store_follow(store, &memory, dump_change, &out, &fixture->err), STORE_OK);
    assert_int_equal(store_load(store, dump_change, &out, &fixture->err), STORE_TAKEN);
    assert_false(store_end_read(store, &stamp));
    out.len = 0;
    assert_int_equal(load_once(fixture, store, &out), STORE_OK);
    assert_true(contains(&out, " " UUID_C " 1 0 3)"));
    buf_free(&out);
    store_close(store);
}

/* Others have created one of the rows: the database may be being restored, and nothing is created
 * before all that is missing has been so for a while. */
static void test_others_write(void **state)
{
    struct fixture *fixture = *state;
    complete(fixture);
    struct store *one = in_a_hurry(open_seeded(fixture, NULL));
    struct store *two = in_a_hurry(fixture_open(fixture));
    struct buf out = {0};
    abandon(fixture);
    (void)peer_execute(fixture, "INSERT INTO allocations (resource_provider_id, consumer_id,"
                                " resource_class_id, used) VALUES (1, '" UUID_D "', 0, 3)");
    assert_int_equal(load_once(fixture, two, &out), STORE_TAKEN);
    (void)peer_execute(fixture, "INSERT INTO consumers (uuid, project_id, user_id, generation)"
                                " VALUES ('" UUID_C "', 1, 1, 5)");
    assert_int_equal(load_once(fixture, two, &out), STORE_TAKEN);
    assert_int_equal(peer_execute(fixture, "SELECT COUNT(*) FROM consumers"), 1);
    assert_int_equal(load_once(fixture, two, &out), STORE_OK);
    assert_int_equal(peer_execute(fixture, "SELECT COUNT(*) FROM consumers"), 2);
    buf_free(&out);
    store_close(one);
    store_close(two);
}

/* Names that the database cannot hold. */
static void test_owner(void **state)
{
    struct fixture *fixture = *state;
    char name[301] = {0};
    memset(name, 'x', sizeof(name) - 1);
    complete(fixture);
    fixture->owner.project = slice_of(name);
    struct store *one = in_a_hurry(open_seeded(fixture, NULL));
    struct store *two = in_a_hurry(fixture_open(fixture));
    struct buf out = {0};
    abandon(fixture);
    assert_int_equal(load_once(fixture, two, &out), STORE_TAKEN);
    assert_int_equal(load_once(fixture, two, &out), STORE_OK);
    assert_int_equal(peer_execute(fixture,
                                  "SELECT COUNT(*) FROM consumers c JOIN projects p"
                                  " ON p.id = c.project_id JOIN users u ON u.id = c.user_id"
                                  " WHERE p.external_id = '00000000-0000-0000-0000-000000000000'"
                                  " AND u.external_id = 'none'"),
                     1);
    buf_free(&out);
    store_close(one);
    store_close(two);
}

enum { MANY = 2 * ROW_READER_UUIDS_MOST + 1 }; /* more than are asked for at a time */

static void abandon_many(struct fixture *fixture)
{
    const struct slice insert = arena_printf(
        fixture->arena,
        "INSERT INTO allocations (resource_provider_id, consumer_id, resource_class_id, used)"
        " SELECT 2, CONCAT('many-', seq), 0, 1 FROM %s%c",
        peer_sql("generate_series(1, 1001) AS seq", peer_numbers(fixture, 1, MANY)), '\0');
    (void)peer_execute(fixture, insert.data);
}

static int answers;

/* The first answer names some, and there is no second one. */
static enum server_outcome find_some(struct server_session *session, const struct slice *uuids,
                                     size_t count, consumer_take *take, void *cls,
                                     uint64_t timeout_us, struct err *err)
{
    return answers-- > 0 ? whole->consumers_find(session, uuids, count, take, cls, timeout_us, err)
                         : fail_to_find(session, uuids, count, take, cls, timeout_us, err);
}

/* Then the read has failed, and found none: nothing is created of what it was told. */
static void test_second_question_fails(void **state)
{
    struct fixture *fixture = *state;
    complete(fixture);
    struct store *store = in_a_hurry(open_seeded(fixture, NULL));
    struct store *two = in_a_hurry(fixture_open(fixture));
    struct buf out = {0};
    abandon_many(fixture);
    break_store(two);
    answers = 1;
    broken.consumers_find = find_some;
    assert_int_equal(load_once(fixture, two, &out), STORE_FAILED);
    mend_store(two);
    out.len = 0;
    assert_int_equal(load_once(fixture, two, &out), STORE_TAKEN);
    assert_int_equal(peer_execute(fixture, "SELECT COUNT(*) FROM consumers"), 1);
    buf_free(&out);
    store_close(store);
    store_close(two);
}

static void test_many(void **state)
{
    struct fixture *fixture = *state;
    complete(fixture);
    struct store *store = in_a_hurry(open_seeded(fixture, NULL));
    struct store *two = in_a_hurry(fixture_open(fixture));
    abandon_many(fixture);
    struct buf out = {0};
    assert_int_equal(load_once(fixture, two, &out), STORE_TAKEN);
    out.len = 0;
    assert_int_equal(load_once(fixture, two, &out), STORE_OK);
    assert_true(contains(&out, " many-1001 2 0 1)"));
    assert_int_equal(
        peer_execute(fixture, "SELECT COUNT(*) FROM consumers WHERE uuid LIKE 'many-%'"), MANY);
    buf_free(&out);
    store_close(store);
    store_close(two);
}

/* The next id is that of another consumer: a table that was copied from another database. */
static void test_sequence_behind(void **state)
{
    struct fixture *fixture = *state;
    complete(fixture);
    struct store *one = in_a_hurry(open_seeded(fixture, NULL));
    struct store *two = in_a_hurry(fixture_open(fixture));
    abandon(fixture);
    const struct slice insert =
        arena_printf(fixture->arena,
                     "INSERT INTO consumers (id, uuid, project_id, user_id, generation)"
                     " SELECT 2000 + seq, CONCAT('another-', seq), 1, 1, 0 FROM %s%c",
                     peer_sql("generate_series(1, 9) AS seq", peer_numbers(fixture, 1, 9)), '\0');
    (void)peer_execute(fixture, insert.data);
    peer_set_last_id(fixture, STORE_CONSUMERS, 2000);
    expect_created(fixture, two, load_once, UUID_C);
    store_close(one);
    store_close(two);
}

/* Memory does not get what was read until the rows are there. */
static void test_cannot_create(void **state)
{
    struct fixture *fixture = *state;
    complete(fixture);
    fixture->busy_timeout_ms = 1000;
    struct store *one = in_a_hurry(open_seeded(fixture, NULL));
    struct store *two = in_a_hurry(fixture_open(fixture));
    struct buf out = {0};
    abandon(fixture);
    assert_int_equal(load_once(fixture, two, &out), STORE_TAKEN);
    struct server_session *holder = peer_connect(fixture);
    peer_run(fixture, holder, "BEGIN");
    peer_run(fixture, holder,
             peer_sql("LOCK TABLE projects IN SHARE MODE",
                      "INSERT INTO projects (external_id) VALUES ('nobody')"));
    fixture->err = (struct err){.arena = fixture->arena};
    assert_int_equal(store_begin_read(two, &fixture->err), STORE_NEWS_FAILED);
    assert_int_equal(fixture->err.status, 503);
    assert_true(slice_starts_with(fixture->err.message,
                                  SLICE_LIT("the rows that consumers of allocations lack cannot be "
                                            "created: ")));
    peer_run(fixture, holder, "ROLLBACK");
    enum store_result result = STORE_TAKEN; /* a server may still have created it */
    for (int i = 0; result == STORE_TAKEN && i < 2; i++) {
        out.len = 0;
        result = load_once(fixture, two, &out);
    }
    assert_int_equal(result, STORE_OK);
    assert_true(contains(&out, " " UUID_C " 1 0 3)"));
    server_session_destroy(holder);
    buf_free(&out);
    store_close(one);
    store_close(two);
}

/* Another instance creates the same row while this one wants to. */
static void test_both(void **state)
{
    struct fixture *fixture = *state;
    complete(fixture);
    struct store *one = in_a_hurry(open_seeded(fixture, NULL));
    struct store *two = in_a_hurry(fixture_open(fixture));
    struct buf out = {0};
    abandon(fixture);
    assert_int_equal(load_once(fixture, two, &out), STORE_TAKEN);
    (void)peer_execute(fixture, "INSERT INTO consumers (uuid, project_id, user_id, generation)"
                                " VALUES ('" UUID_C "', 1, 1, 5)");
    out.len = 0;
    assert_int_equal(load_once(fixture, two, &out), STORE_OK);
    assert_true(contains(&out, " " UUID_C " 1 1 type=0 gen=5)"));
    assert_int_equal(peer_execute(fixture, "SELECT COUNT(*) FROM consumers"), 1);
    buf_free(&out);
    store_close(one);
    store_close(two);
}

/* MariaDB takes both uuids for the same, and the row is there. */
static void test_spelt_otherwise(void **state)
{
    struct fixture *fixture = *state;
    if (!fixture_is_mariadb())
        return;
    complete(fixture);
    struct store *one = in_a_hurry(open_seeded(fixture, NULL));
    struct store *two = in_a_hurry(fixture_open(fixture));
    struct buf out = {0};
    (void)peer_execute(fixture, "UPDATE consumers SET uuid = UPPER(uuid)");
    assert_int_equal(load_once(fixture, two, &out), STORE_OK);
    assert_false(contains(&out, UUID_C));
    assert_int_equal(peer_execute(fixture, "SELECT COUNT(*) FROM consumers"), 1);
    buf_free(&out);
    store_close(one);
    store_close(two);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_load, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_no_owner, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_follow_consumer, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_follow_provider, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_follow_namesake, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_follow_and_load, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_others_write, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_owner, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_follow_id_reused, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_follow_no_owner, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_two_allocations, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_not_a_uuid, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_question_fails, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_answer_lost, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_second_question_fails, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_many, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_sequence_behind, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_cannot_create, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_both, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_spelt_otherwise, fixture_setup, fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
