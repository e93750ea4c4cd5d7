/* A follower takes what other instances have claimed from the log alone: in the same round trip as
 * the lock, and without reading tables, unless another program may have written. */
#include "await.h"
#include "peer.h"

#include <stdio.h>

enum { RENAMED = 2, CLAIM = 60, CLAIMED = 5, ALTERED = 17 };

/* One instance claims, and then another program alters the row, without a generation. */
static void claim_and_alter(struct fixture *fixture, struct store *store)
{
    struct change_list list = changes_of(fixture);
    add_generation(&list, 1, 0, 1);
    add_consumer(&list, CHANGE_CONSUMER_INSERT, CLAIM, UUID_D, 1);
    add_allocation(&list, CLAIM, CLAIM, UUID_D, 1, 0, CLAIMED);
    commit_changes(fixture, store, &list);
    (void)peer_execute(fixture, arena_printf(fixture->arena,
                                             "UPDATE allocations SET used = %d WHERE id = %d",
                                             ALTERED, CLAIM)
                                    .data);
}

struct found {
    int64_t used;
    bool has_renamed; /* RENAMED was read */
    unsigned count;
};

static void note_used(void *cls, const struct change *change)
{
    struct found *found = cls;
    found->count++;
    found->has_renamed |= change->kind == CHANGE_PROVIDER_UPDATE && change->provider.id == RENAMED;
    if (change->kind == CHANGE_ALLOCATION_INSERT && change->allocation.id == CLAIM)
        found->used = change->allocation.used;
}

static struct known_entity find_nothing(void *cls, enum entity entity, int64_t id)
{
    (void)cls;
    (void)id;
    return (struct known_entity){.is_known = entity == ENTITY_PROVIDER, .generation = 0};
}

static void pass_no_holders(void *cls, int64_t provider, consumer_take *take, void *take_cls)
{
    (void)cls;
    (void)provider;
    (void)take;
    (void)take_cls;
}

static struct found follow(struct fixture *fixture, struct store *store)
{
    const struct memory_view memory = {find_nothing, pass_no_holders, NULL};
    struct found found = {0};
    assert_int_equal(store_follow(store, &memory, note_used, &found, &fixture->err), STORE_OK);
    return found;
}

/* `other` follows a claim of `one` from the log; what does not fit into memory, it then suspects.
 * The read stays open. */
static void follow_claim(struct fixture *fixture, struct store *one, struct store *other,
                         bool is_locked)
{
    expect_news(fixture, other, STORE_NEWS_RELOAD);
    claim_and_alter(fixture, one);
    if (is_locked)
        assert_int_equal(lock_store(other, &fixture->err), STORE_LOCKED);
    assert_int_equal(store_begin_read(other, &fixture->err), STORE_NEWS_FOLLOW);
    const struct found found = follow(fixture, other);
    assert_int_equal(found.used, CLAIMED);
    assert_int_equal(found.count, 3);
    assert_true(store_suspect(other, ENTITY_CONSUMER, CLAIM, slice_of(UUID_D)));
}

/* The same read then reads the tables. */
static void from_the_log(struct fixture *fixture, bool is_locked)
{
    struct store *one = open_seeded(fixture, NULL);
    struct store *other = fixture_open(fixture);
    struct store_stamp stamp;
    follow_claim(fixture, one, other, is_locked);
    const struct found found = follow(fixture, other);
    assert_int_equal(found.used, ALTERED);
    assert_true(store_end_read(other, &stamp));
    store_unlock(other);
    assert_true(is_newest(other, &stamp));
    store_close(one);
    store_close(other);
}

static void test_without_the_lock(void **state)
{
    from_the_log(*state, false);
}

static void test_under_the_lock(void **state)
{
    from_the_log(*state, true);
}

/* What was followed at first is not applied if the tables cannot be read: memory must read it
 * again. */
static void cannot_read(struct fixture *fixture, bool is_locked,
                        void (*spoil)(struct server_session *follower))
{
    struct store *one = open_seeded(fixture, NULL);
    struct store *other = fixture_open(fixture);
    const struct memory_view memory = {find_nothing, pass_no_holders, NULL};
    struct found found = {0};
    struct store_stamp stamp;
    follow_claim(fixture, one, other, is_locked);
    spoil(server_store_of(other)->follower);
    assert_int_equal(store_follow(other, &memory, note_used, &found, &fixture->err), STORE_FAILED);
    assert_int_equal(found.count, 0);
    assert_false(end_news(other, &stamp));
    assert_int_equal(store_begin_read(other, &fixture->err), STORE_NEWS_RELOAD);
    (void)store_end_read(other, &stamp);
    store_close(one);
    store_close(other);
}

static void test_connection_ends(void **state)
{
    cannot_read(*state, false, server_session_close);
}

static void move_to_other_cluster(struct server_session *follower)
{
    follower->id.system++;
}

/* The tables are those of a copy of the database, whose log has the same newest row as the log that
 * is locked: other programs may have written only there. */
static void test_copy_of_the_database(void **state)
{
    cannot_read(*state, true, move_to_other_cluster);
}

/* A suspected entity is read from the tables at once, with everything that the log names. */
static void test_suspected_before(void **state)
{
    struct fixture *fixture = *state;
    struct store *one = open_seeded(fixture, NULL);
    struct store *other = fixture_open(fixture);
    struct store_stamp stamp;
    expect_news(fixture, other, STORE_NEWS_RELOAD);
    claim_and_alter(fixture, one);
    assert_true(store_suspect(other, ENTITY_PROVIDER, 2, (struct slice){0}));
    assert_int_equal(lock_and_read(other, &fixture->err), STORE_NEWS_FOLLOW);
    assert_int_equal(follow(fixture, other).used, ALTERED);
    assert_true(end_news(other, &stamp));
    store_close(one);
    store_close(other);
}

/* What another program had written, and was read again, is named by the next batch, because other
 * instances may not know of it; and by no later one, which they follow from the log alone. */
static void test_named_once(void **state)
{
    struct fixture *fixture = *state;
    struct store *one = open_seeded(fixture, NULL);
    struct store *other = fixture_open(fixture);
    struct store_stamp stamp;
    expect_news(fixture, other, STORE_NEWS_RELOAD);
    (void)peer_execute(fixture, "UPDATE resource_providers SET name = 'renamed' WHERE id = 2");
    assert_true(store_suspect(one, ENTITY_PROVIDER, RENAMED, (struct slice){0}));
    expect_news(fixture, one, STORE_NEWS_FOLLOW);
    claim_and_alter(fixture, one);
    assert_int_equal(lock_and_read(other, &fixture->err), STORE_NEWS_FOLLOW);
    struct found found = follow(fixture, other);
    assert_true(found.has_renamed);
    assert_int_equal(found.used, ALTERED);
    assert_true(end_news(other, &stamp));
    struct change_list list = changes_of(fixture);
    add_generation(&list, 1, 1, 2);
    commit_changes(fixture, one, &list);
    assert_int_equal(lock_and_read(other, &fixture->err), STORE_NEWS_FOLLOW);
    found = follow(fixture, other);
    assert_false(found.has_renamed);
    assert_int_equal(found.count, 1);
    assert_true(end_news(other, &stamp));
    store_close(one);
    store_close(other);
}

static void await_project(struct fixture *fixture)
{
    AWAIT(peer_execute(fixture, "SELECT count(*) FROM projects WHERE id = 101") == 1);
}

/* What was read with the lock is old as soon as the batch has been sent: a read that does not wait
 * for it asks the server. */
static void test_rows_of_the_lock_are_used_once(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_seeded(fixture, NULL);
    struct store_stamp stamp;
    bool foreign;
    assert_true(store_suspect(store, ENTITY_PROVIDER, 2, (struct slice){0}));
    assert_int_equal(lock_and_read(store, &fixture->err), STORE_NEWS_FOLLOW);
    (void)follow(fixture, store); /* of the tables, not of those rows */
    assert_true(store_end_read(store, &stamp));
    assert_int_equal(peer_commit_project(fixture, store, 101, "one"), STORE_PENDING);
    await_project(fixture);
    assert_int_equal(store_begin_read(store, &fixture->err), STORE_NEWS_FOLLOW);
    (void)store_end_read(store, &stamp);
    struct err err = {.arena = fixture->arena};
    assert_int_equal(store_await(store, UINT64_MAX, &stamp, &foreign, &err), STORE_OK);
    store_close(store);
}

/* A read finds the row after the state that memory has, and time passes. */
static void see_next_row(struct fixture *fixture, struct store *store)
{
    struct store_stamp stamp;
    assert_int_equal(store_begin_read(store, &fixture->err), STORE_NEWS_FOLLOW);
    (void)store_end_read(store, &stamp);
    server_store_of(store)->seen.at_us -= 1000000;
}

/* The batch is seen to be committed, but its answer does not come: that is not awaited for as long
 * as the time limit is. */
static void test_answer_does_not_come(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_seeded(fixture, NULL);
    struct store *other = fixture_open(fixture);
    expect_news(fixture, other, STORE_NEWS_RELOAD);
    assert_int_equal(peer_commit_project(fixture, other, 102, "two"), STORE_PENDING);
    assert_int_equal(peer_await_last(fixture, other), STORE_OK);
    expect_news(fixture, store, STORE_NEWS_FOLLOW); /* this row is not the batch's */
    assert_int_equal(peer_commit_project(fixture, store, 101, "one"), STORE_PENDING);
    await_project(fixture);
    see_next_row(fixture, store);
    assert_int_equal(peer_await_decision(fixture, store), STORE_PENDING);
    assert_false(server_session_is_open(server_store_of(store)->writer));
    assert_int_equal(peer_await_last(fixture, store), STORE_OK);
    assert_int_equal(store_figures(store).unknown_done, 1);
    store_close(other);
    store_close(store);
}

/* The row is another instance's: the answer is still on its way. */
static void test_answer_will_come(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_seeded(fixture, NULL);
    struct store *holder = fixture_open(fixture);
    expect_news(fixture, store, STORE_NEWS_NONE);
    expect_news(fixture, holder, STORE_NEWS_RELOAD);
    assert_int_equal(lock_store(holder, &fixture->err), STORE_LOCKED);
    assert_int_equal(peer_commit_project(fixture, store, 101, "one"), STORE_PENDING);
    assert_int_equal(peer_commit_project(fixture, holder, 102, "two"), STORE_PENDING);
    assert_int_equal(peer_await_decision(fixture, holder), STORE_OK);
    see_next_row(fixture, store);
    assert_int_equal(peer_await_last(fixture, store), STORE_TAKEN);
    assert_int_equal(store_figures(store).unknown_undone, 0);
    store_close(holder);
    store_close(store);
}

/* An instance that had what a database lost says so in its next batch; one that had not learns of
 * it from there. */
static void test_epoch_of_others(void **state)
{
    struct fixture *fixture = *state;
    struct store *one = open_seeded(fixture, NULL);
    struct store *other = fixture_open(fixture);
    struct store_stamp stamp;
    expect_news(fixture, other, STORE_NEWS_RELOAD);
    assert_int_equal(store_figures(other).epoch, 0);
    claim_and_alter(fixture, one);
    (void)peer_execute(fixture, "INSERT INTO berth_epochs (epoch, number, began_at, reason)"
                                " SELECT 1, max(number), '2026-01-01', '' FROM berth_log");
    assert_int_equal(lock_and_read(other, &fixture->err), STORE_NEWS_FOLLOW);
    (void)follow(fixture, other);
    assert_true(end_news(other, &stamp));
    assert_int_equal(store_figures(other).epoch, 1);
    /* and one that it has begun itself stays known */
    server_store_of(other)->epochs.is_due = true;
    assert_int_equal(peer_commit_project(fixture, other, 101, "one"), STORE_PENDING);
    assert_int_equal(peer_await_decision(fixture, other), STORE_OK);
    assert_int_equal(store_figures(other).epoch, 2);
    expect_news(fixture, one, STORE_NEWS_FOLLOW);
    struct change_list list = changes_of(fixture);
    add_generation(&list, 1, 1, 2);
    commit_changes(fixture, one, &list);
    assert_int_equal(lock_and_read(other, &fixture->err), STORE_NEWS_FOLLOW);
    (void)follow(fixture, other);
    assert_true(end_news(other, &stamp));
    assert_int_equal(store_figures(other).epoch, 2);
    store_close(one);
    store_close(other);
}

/* The store is in the queue for the lock, behind those that are already there. */
static void queue_up(struct fixture *fixture, struct store *store, int waiting)
{
    assert_int_equal(store_lock(store, &fixture->err), STORE_LOCK_HELD);
    peer_await_queue(fixture, waiting);
}

/* While the lock is awaited, memory has followed what others have written, so that the rows that
 * come with the lock begin before its state. */
static void test_memory_is_newer_than_the_lock(void **state)
{
    struct fixture *fixture = *state;
    struct store *holder = open_seeded(fixture, NULL);
    struct store *next = fixture_open(fixture);
    struct store *last = fixture_open(fixture);
    struct store_stamp stamp;
    expect_news(fixture, next, STORE_NEWS_RELOAD);
    expect_news(fixture, last, STORE_NEWS_RELOAD);
    assert_int_equal(lock_store(holder, &fixture->err), STORE_LOCKED);
    queue_up(fixture, next, 1);
    queue_up(fixture, last, 2);
    assert_int_equal(peer_commit_project(fixture, holder, 101, "one"), STORE_PENDING);
    assert_int_equal(peer_await_decision(fixture, holder), STORE_OK);
    assert_int_equal(lock_into(fixture, next, NULL), STORE_NEWS_FOLLOW);
    assert_true(store_end_read(next, &stamp));
    assert_int_equal(read_into(fixture, last, NULL), STORE_NEWS_FOLLOW);
    assert_true(store_end_read(last, &stamp));
    assert_int_equal(peer_commit_project(fixture, next, 102, "two"), STORE_PENDING);
    assert_int_equal(peer_await_decision(fixture, next), STORE_OK);
    expect_news(fixture, last, STORE_NEWS_FOLLOW);
    store_close(holder);
    store_close(next);
    store_close(last);
}

static void note_name(void *cls, size_t at, struct cell *cells)
{
    bool *is_new = cls;
    uint8_t kinds[ROWS_CELLS_MAX];
    (void)at;
    for (unsigned i = 0; i < rows_cell_kinds(ROWS_PROVIDERS, kinds); i++)
        *is_new |= slice_equal(cells[i].text, SLICE_LIT("renamed"));
}

/* All statements of a read see the state in which it was begun. */
static void test_one_snapshot(void **state)
{
    static const int64_t id = 1;
    static const struct row_set set = {.table = ROWS_PROVIDERS, .ids = &id, .count = 1};
    struct fixture *fixture = *state;
    struct store *store = open_seeded(fixture, NULL);
    struct server_session *session = peer_connect(fixture);
    const struct snapshot_question question = {.since = {.from = 1, .most = 1}};
    struct snapshot_answer answer = {0};
    for (int i = 0; i < 2; i++) {
        bool is_new = false;
        if (i == 0)
            assert_int_equal(session->dialect->snapshot_begin(session, &question, &answer,
                                                              peer_soon(), &fixture->err),
                             SERVER_OK);
        else
            server_session_rollback(session, "read", peer_soon(), &fixture->err);
        (void)peer_execute(fixture, "UPDATE resource_providers SET name = 'renamed' WHERE id = 1");
        assert_int_equal(session->dialect->rows_find(session, &set, 1, note_name, &is_new, 60000000,
                                                     &fixture->err),
                         SERVER_OK);
        assert_int_equal(is_new, i > 0);
    }
    snapshot_answer_free(&answer);
    server_session_destroy(session);
    store_close(store);
}

static void ignore_change(void *cls, const struct change *change)
{
    (void)cls;
    (void)change;
}

/* A server that cannot show the snapshot of a table that was changed ends the read: it succeeds the
 * next time. PostgreSQL waits instead. */
static void test_schema_changes(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_seeded(fixture, NULL);
    static const struct memory_view memory = {find_nothing, pass_no_holders, NULL};
    struct store_stamp stamp;
    struct buf out = {0};
    if (!fixture_is_mariadb()) {
        store_close(store);
        skip();
    }
    assert_true(store_suspect(store, ENTITY_PROVIDER, 1, (struct slice){0}));
    assert_int_equal(store_begin_read(store, &fixture->err), STORE_NEWS_FOLLOW);
    (void)peer_execute(fixture, "ALTER TABLE resource_providers FORCE");
    assert_int_equal(store_follow(store, &memory, ignore_change, NULL, &fixture->err), STORE_TAKEN);
    assert_non_null(
        strstr(arena_copy(fixture->arena, fixture->err.message).data, "cannot be read"));
    (void)store_end_read(store, &stamp);
    fixture->err = (struct err){.arena = fixture->arena};
    assert_int_equal(read_into(fixture, store, &out), STORE_NEWS_FOLLOW);
    assert_true(store_end_read(store, &stamp));
    server_store_of(store)->has_state = false;
    assert_int_equal(store_begin_read(store, &fixture->err), STORE_NEWS_RELOAD);
    (void)peer_execute(fixture, "ALTER TABLE resource_providers FORCE");
    assert_int_equal(store_load(store, ignore_change, NULL, &fixture->err), STORE_TAKEN);
    assert_false(store_end_read(store, &stamp));
    fixture->err = (struct err){.arena = fixture->arena};
    assert_int_equal(read_into(fixture, store, &out), STORE_NEWS_RELOAD);
    assert_true(store_end_read(store, &stamp));
    buf_free(&out);
    store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_without_the_lock, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_under_the_lock, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_suspected_before, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_connection_ends, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_copy_of_the_database, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_named_once, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_epoch_of_others, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_answer_does_not_come, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_answer_will_come, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_memory_is_newer_than_the_lock, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_rows_of_the_lock_are_used_once, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_one_snapshot, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_schema_changes, fixture_setup, fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
