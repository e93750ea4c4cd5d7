/* What other programs write beside stores, with the triggers that note it. */
#include "peer.h"

#include "base/arena.h"
#include "store/coexist.h"

#define RAISE_ONE "UPDATE resource_providers SET generation = generation + 1 WHERE id = 1"
#define RAISE_TWO "UPDATE resource_providers SET generation = generation + 1 WHERE id = 2"

#define INSERT_PROJECT "INSERT INTO projects (external_id) VALUES (UUID())"

static void enable(struct fixture *fixture)
{
    if (!coexist_enable(slice_of(fixture->url), &fixture->err))
        fail_msg("%.*s", SLICE_ARG(fixture->err.message));
}

static struct coexist_status status_of(struct fixture *fixture)
{
    struct coexist_status status;
    assert_true(coexist_read_status(slice_of(fixture->url), &status, &fixture->err));
    return status;
}

/* Takes the news, which must be these, and contain the text; returns the stamp. */
static struct store_stamp take(struct fixture *fixture, struct store *store, enum store_news news,
                               const char *text)
{
    struct store_stamp stamp;
    struct buf out = {0};
    assert_int_equal(read_into(fixture, store, &out), news);
    assert_true(store_end_read(store, &stamp));
    buf_append_char(&out, '\0');
    if (text != NULL && strstr(out.data, text) == NULL)
        fail_msg("no %s in: %s", text, out.data);
    buf_free(&out);
    return stamp;
}

/* Two stores that know of the triggers, and have the newest state. */
static void open_both(struct fixture *fixture, struct store **stores)
{
    stores[0] = open_seeded(fixture, NULL);
    enable(fixture);
    take(fixture, stores[0], STORE_NEWS_RELOAD, NULL);
    stores[1] = fixture_open_elsewhere(fixture);
    take(fixture, stores[1], STORE_NEWS_RELOAD, NULL);
}

/* From now on, only move() moves them. */
static void keep_notes_of(struct store *base)
{
    struct server_store *store = server_store_of(base);
    housekeeping_stop(store->housekeeping);
    store->housekeeping = NULL;
}

static void keep_notes(struct store *const *stores)
{
    for (int i = 0; i < 2; i++)
        keep_notes_of(stores[i]);
}

static void close_both(struct store **stores)
{
    store_close(stores[0]);
    store_close(stores[1]);
}

static uint64_t move(struct fixture *fixture, struct store *base)
{
    uint64_t moved = 0;
    struct server_store *store = server_store_of(base);
    assert_true(server_ensure_session(store, store->writer, &fixture->err));
    assert_int_equal(store->writer->dialect->notes_move(store->writer, &moved,
                                                        server_deadline(store), &fixture->err),
                     SERVER_OK);
    return moved;
}

static void test_each_read_sees_it(void **state)
{
    struct fixture *fixture = *state;
    struct store *stores[2];
    open_both(fixture, stores);
    keep_notes(stores);
    for (int i = 0; i < 2; i++) {
        struct store_stamp before = take(fixture, stores[i], STORE_NEWS_NONE, NULL);
        assert_true(is_newest(stores[i], &before));
    }
    (void)peer_execute(fixture, RAISE_ONE);
    for (int i = 0; i < 2; i++) {
        struct store_stamp before = log_state_stamp(&server_store_of(stores[i])->followed,
                                                    server_store_of(stores[i])->foreign.taken);
        assert_false(is_newest(stores[i], &before));
        struct store_stamp after =
            take(fixture, stores[i], STORE_NEWS_FOLLOW, "provider_update(1 " UUID_A);
        assert_true(store_follows_foreign(stores[i]));
        assert_true(is_newest(stores[i], &after));
        /* An answer from before the read must not pass for the state with it, nor the reverse. */
        assert_false(store_covers(stores[i], &before, &after));
        assert_true(store_covers(stores[i], &after, &before));
        take(fixture, stores[i], STORE_NEWS_NONE, NULL);
        assert_false(store_follows_foreign(stores[i]));
    }
    close_both(stores);
}

/* The order in which transactions begin is not that in which they are committed. */
static void test_late_commit(void **state)
{
    struct fixture *fixture = *state;
    struct store *stores[2];
    open_both(fixture, stores);
    keep_notes(stores);
    struct server_session *late = peer_connect(fixture);
    peer_run(fixture, late, "BEGIN");
    peer_run(fixture, late, RAISE_ONE);
    (void)peer_execute(fixture, RAISE_TWO);
    struct store_stamp stamp = take(fixture, stores[0], STORE_NEWS_FOLLOW, "provider_update(2 ");
    assert_true(is_newest(stores[0], &stamp));
    assert_int_equal(move(fixture, stores[1]), 1);
    stamp = take(fixture, stores[0], STORE_NEWS_FOLLOW, NULL);
    (void)peer_execute(fixture, RAISE_TWO);
    stamp = take(fixture, stores[0], STORE_NEWS_FOLLOW, "provider_update(2 ");
    peer_run(fixture, late, "COMMIT");
    server_session_destroy(late);
    assert_false(is_newest(stores[0], &stamp));
    stamp = take(fixture, stores[0], STORE_NEWS_FOLLOW, "provider_update(1 ");
    assert_true(is_newest(stores[0], &stamp));
    close_both(stores);
}

/* Whoever has not read them follows the row of the log. */
static void test_moved(void **state)
{
    struct fixture *fixture = *state;
    struct store *stores[2];
    open_both(fixture, stores);
    keep_notes(stores);
    (void)peer_execute(fixture, "DELETE FROM allocations WHERE consumer_id = '" UUID_C "'");
    take(fixture, stores[0], STORE_NEWS_FOLLOW, "consumer_reset(1");
    assert_int_equal(status_of(fixture).waiting, 1);
    assert_int_equal(move(fixture, stores[0]), 1);
    assert_int_equal(status_of(fixture).waiting, 0);
    assert_int_equal(move(fixture, stores[0]), 0);
    take(fixture, stores[1], STORE_NEWS_FOLLOW, "consumer_reset(1");
    take(fixture, stores[0], STORE_NEWS_FOLLOW, NULL);
    if (!fixture_is_mariadb()) { /* TRUNCATE has no trigger there */
        (void)peer_execute(fixture, "TRUNCATE allocations");
        take(fixture, stores[0], STORE_NEWS_RELOAD, NULL);
        assert_int_equal(move(fixture, stores[0]), 1);
        take(fixture, stores[1], STORE_NEWS_RELOAD, NULL);
    }
    close_both(stores);
}

/* What is not waited for is written all the same. */
static void test_commits(void **state)
{
    struct fixture *fixture = *state;
    struct store *stores[2];
    open_both(fixture, stores);
    struct change_list list = changes_of(fixture);
    add_generation(&list, 1, 0, 1);
    struct store_stamp stamp = commit_changes(fixture, stores[0], &list);
    assert_int_equal(status_of(fixture).waiting, 0); /* its own writes are not noted */
    assert_true(is_newest(stores[0], &stamp));
    keep_notes(stores);
    (void)peer_execute(fixture, RAISE_TWO);
    list = changes_of(fixture);
    add_generation(&list, 1, 1, 2);
    stamp = commit_changes(fixture, stores[1], &list);
    assert_true(is_newest(stores[1], &stamp));
    take(fixture, stores[0], STORE_NEWS_FOLLOW, "provider_update(2 ");
    close_both(stores);
}

static bool observes(struct fixture *fixture, struct store_observer *observer,
                     const struct store_stamp *stamp)
{
    struct store_stamp observed;
    assert_true(store_observer_begin(observer, &observed, &fixture->err));
    store_observer_end(observer);
    return memcmp(&observed, stamp, sizeof(observed)) == 0;
}

/* A snapshot with notes that memory has not is not of a state of memory. */
static void test_observed(void **state)
{
    struct fixture *fixture = *state;
    struct store *stores[2];
    open_both(fixture, stores);
    keep_notes(stores);
    struct store_observer *observer = store_observe(stores[1], &fixture->err);
    assert_non_null(observer);
    struct store_stamp stamp = take(fixture, stores[1], STORE_NEWS_NONE, NULL);
    assert_true(observes(fixture, observer, &stamp));
    (void)peer_execute(fixture, RAISE_ONE);
    assert_false(observes(fixture, observer, &stamp));
    stamp = take(fixture, stores[1], STORE_NEWS_FOLLOW, "provider_update(1 ");
    assert_true(observes(fixture, observer, &stamp));
    assert_int_equal(move(fixture, stores[0]), 1);
    assert_false(observes(fixture, observer, &stamp));
    stamp = take(fixture, stores[1], STORE_NEWS_FOLLOW, NULL);
    assert_true(observes(fixture, observer, &stamp));
    store_observer_free(observer);
    close_both(stores);
}

/* Transactions of a server that was started again, or of another one, may have the same numbers. */
static void test_another_server(void **state)
{
    struct fixture *fixture = *state;
    struct store *stores[2];
    open_both(fixture, stores);
    keep_notes(stores);
    (void)peer_execute(fixture, RAISE_ONE);
    struct store_stamp stamp = take(fixture, stores[0], STORE_NEWS_FOLLOW, NULL);
    assert_true(is_newest(stores[0], &stamp));
    struct foreign_view elsewhere = {0};
    foreign_view_copy(&elsewhere, &server_store_of(stores[0])->foreign);
    elsewhere.server.started--;
    server_head_note_view(server_store_of(stores[0])->head, &elsewhere);
    foreign_view_copy(&server_store_of(stores[0])->foreign, &elsewhere);
    foreign_view_free(&elsewhere);
    assert_false(is_newest(stores[0], &stamp));
    stamp = take(fixture, stores[0], STORE_NEWS_RELOAD, NULL);
    assert_true(is_newest(stores[0], &stamp));
    close_both(stores);
}

/* No instance has been there for long: the table stays small, and nothing fails. For MariaDB, see
 * mariadb/test_coexist.c. */
static void test_full_table(void **state)
{
    struct fixture *fixture = *state;
    struct store *stores[2];
    if (fixture_is_mariadb())
        skip();
    open_both(fixture, stores);
    keep_notes(stores);
    (void)peer_execute(fixture, "ALTER TABLE berth_foreign SET (fillfactor = 10)");
    (void)peer_execute(fixture, "INSERT INTO berth_foreign SELECT 1, 'filler', i, ''"
                                " FROM generate_series(1, 130000) i");
    (void)peer_execute(fixture, RAISE_ONE);
    assert_int_equal(status_of(fixture).waiting, 130000);
    assert_int_equal(move(fixture, stores[0]), 130000);
    take(fixture, stores[1], STORE_NEWS_RELOAD, NULL);
    (void)peer_execute(fixture, "TRUNCATE berth_foreign"); /* VACUUM waits for other sessions */
    (void)peer_execute(fixture, RAISE_ONE);
    take(fixture, stores[1], STORE_NEWS_FOLLOW, "provider_update(1 ");
    close_both(stores);
}

/* Runs a script with $file, in which the server has the triggers of the table. */
static void change_triggers(struct fixture *fixture, const char *table, const char *script)
{
    struct slice rest = slice_of(strrchr(fixture->url, '@') + 2);
    const struct slice database = slice_cut(&rest, '?');
    fixture_shell(fixture, arena_printf(fixture->arena,
                                        "file=\"$(mariadb -uroot -S "
                                        "\"${BERTH_TEST_MARIADB_SOCKET##*unix_socket=}\" -Ne "
                                        "'SELECT @@datadir')/%.*s/%s.TRG\" && %s%c",
                                        SLICE_ARG(database), table, script, '\0')
                               .data);
}

enum file { FILE_MENDED, FILE_WRONG };

/* The server has opened the table, and could not read its triggers, which it does not try again. */
static void break_table(struct fixture *fixture, const char *table, const char *write,
                        enum file file)
{
    struct arena *arena = fixture->arena;
    struct server_session *session = peer_connect(fixture);
    peer_run(fixture, session, write);
    change_triggers(fixture, table,
                    "cat \"$file\" >kept && sed 's/BEGIN /BEGAN /' kept >\"$file\"");
    peer_run(fixture, session, arena_printf(arena, "FLUSH LOCAL TABLES %s%c", table, '\0').data);
    peer_run(fixture, session, arena_printf(arena, "SELECT 1 FROM %s LIMIT 1%c", table, '\0').data);
    if (file == FILE_MENDED)
        change_triggers(fixture, table, "cat kept >\"$file\"");
    assert_false(peer_try(fixture, session, write));
    assert_false(peer_try(fixture, session, write));
    server_session_destroy(session);
}

static struct store *open_enabled(struct fixture *fixture)
{
    struct store *store = open_seeded(fixture, NULL);
    enable(fixture);
    take(fixture, store, STORE_NEWS_RELOAD, NULL);
    keep_notes_of(store);
    return store;
}

static enum store_result try(struct fixture *fixture, struct store *store,
                             const struct change_list *list)
{
    struct store_stamp stamp;
    bool foreign;
    fixture->err = (struct err){.arena = fixture->arena};
    return take_news_and_commit(fixture, store, list, &stamp, &foreign);
}

/* As after a trigger was created on another table of a cluster: the store lets the server open the
 * table again, without which no program could write to it. */
static void test_broken_tables(void **state)
{
    struct fixture *fixture = *state;
    if (!fixture_is_mariadb())
        skip();
    struct store *store = open_enabled(fixture);
    break_table(fixture, "projects", INSERT_PROJECT, FILE_MENDED);
    assert_true(store_next_id(store, STORE_PROJECTS) < ID_NONE);
    assert_false(store_lacks_id(store, &fixture->err));
    (void)peer_execute(fixture, INSERT_PROJECT);
    server_session_close(server_store_of(store)->writer);
    break_table(fixture, "resource_providers", RAISE_TWO, FILE_MENDED);
    struct change_list list = changes_of(fixture);
    add_generation(&list, 1, 0, 1);
    assert_int_equal(try(fixture, store, &list), STORE_TAKEN);
    assert_int_equal(
        peer_execute(fixture, "SELECT generation FROM resource_providers WHERE id = 1"), 0);
    assert_int_equal(try(fixture, store, &list), STORE_OK);
    (void)peer_execute(fixture, RAISE_TWO);
    store_close(store);
}

/* Then opening the table again does not help, and the answer says what is wrong. */
static void test_wrong_trigger(void **state)
{
    enum { ATTEMPTS_MOST = 4 };
    struct fixture *fixture = *state;
    if (!fixture_is_mariadb())
        skip();
    struct store *store = open_enabled(fixture);
    struct change_list list = changes_of(fixture);
    add_generation(&list, 1, 0, 1);
    break_table(fixture, "resource_providers", RAISE_TWO, FILE_WRONG);
    enum store_result result = STORE_TAKEN;
    for (int i = 0; result == STORE_TAKEN && i < ATTEMPTS_MOST; i++)
        result = try(fixture, store, &list);
    assert_int_equal(result, STORE_FAILED);
    assert_non_null(strstr(arena_copy(fixture->arena, fixture->err.message).data,
                           "berth_foreign_insert_resource_providers' has an error in its body"));
    store_close(store);
}

/* Only what is missing is created, and nothing is left. */
static void test_switch(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_seeded(fixture, NULL);
    assert_int_equal(status_of(fixture).triggers, 0);
    enable(fixture);
    const struct coexist_status all = status_of(fixture);
    assert_int_equal(all.triggers, all.all);
    (void)peer_execute(fixture, peer_sql("DROP TRIGGER berth_foreign_update ON consumers",
                                         "DROP TRIGGER berth_foreign_update_consumers"));
    (void)peer_execute(fixture, peer_sql("ALTER TABLE traits DISABLE TRIGGER berth_foreign_delete",
                                         "DROP TRIGGER berth_foreign_delete_traits"));
    assert_int_equal(status_of(fixture).triggers, all.all - 2);
    enable(fixture);
    assert_int_equal(status_of(fixture).triggers, all.all);
    take(fixture, store, STORE_NEWS_RELOAD, NULL);
    (void)peer_execute(fixture, RAISE_ONE);
    assert_true(coexist_disable(slice_of(fixture->url), &fixture->err));
    assert_int_equal(status_of(fixture).triggers, 0);
    assert_int_equal(status_of(fixture).waiting, 0);
    take(fixture, store, STORE_NEWS_RELOAD, NULL);
    struct store_stamp stamp = take(fixture, store, STORE_NEWS_NONE, NULL);
    (void)peer_execute(fixture, RAISE_ONE);
    assert_int_equal(status_of(fixture).waiting, 0);
    assert_true(is_newest(store, &stamp)); /* as before: nobody notes it */
    store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_each_read_sees_it, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_late_commit, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_moved, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_commits, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_observed, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_another_server, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_full_table, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_broken_tables, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_wrong_trigger, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_switch, fixture_setup, fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
