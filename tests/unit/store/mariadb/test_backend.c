/* Sessions that a proxy continues on another connection, or whose server accepts no writes: their
 * answers are not taken. On a server of its own, or on two nodes of a Galera cluster. */
#include "store/mariadb/session/backend.h"

#include <stdlib.h>

#include "sessions.h"
#include "store/mariadb/exchange/exchanges.h"
#include "store/mariadb/session/exchange.h"
#include "store/mariadb/session/session_state.h"

#define MOVED "a proxy has continued the connection on another one"

static struct mariadb_session *session;
static struct arena *arena;

static bool is_of_cluster(void)
{
    return mariadb_session_server(session)->is_galera;
}

static int set_up(void **state)
{
    (void)state;
    arena = arena_create();
    session = open_served("utf8mb3");
    run(session, "INSERT INTO berth_log VALUES (1, x'11111111111111111111111111111111',"
                 " x'00000000000000000000000000000000', UTC_TIMESTAMP(6), '')");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    mariadb_session_destroy(session);
    arena_destroy(arena);
    return 0;
}

/* The same database, on the second node if there is one. */
static struct mariadb_session *open_other(void)
{
    struct attempt attempt = begin_attempt();
    const char *second = getenv("BERTH_TEST_MARIADB_2");
    struct mariadb_session *other = make_session(second == NULL ? url_of_server(arena) : second,
                                                 (struct server_session_options){.wake_fd = -1});
    expect_outcome(&attempt, other, server_session_connect(&other->base, soon(), &attempt.err),
                   SERVER_OK, NULL);
    return other;
}

static void swap_connections(struct mariadb_session *a, struct mariadb_session *b)
{
    MYSQL *conn = a->conn;
    a->conn = b->conn;
    b->conn = conn;
}

enum way { ASKED, IN_STEPS, SNAPSHOT, SNAPSHOT_ASKED, LOCKED, WAYS };

static enum server_outcome ask_in_steps(const struct question *question,
                                        struct question_answer *answer, struct err *err)
{
    if (!mariadb_question_send(&session->base, question, err))
        return SERVER_FAILED;
    enum server_outcome outcome = SERVER_WOKEN;
    while (outcome == SERVER_WOKEN && soon() > 0)
        outcome = mariadb_question_receive(&session->base, question, answer, err);
    return outcome;
}

static enum server_outcome begin_snapshot(struct question_answer *answer, struct err *err)
{
    const struct snapshot_question question = {.since = {.from = 1, .most = 1}};
    struct snapshot_answer found = {0};
    enum server_outcome outcome =
        mariadb_snapshot_begin(&session->base, &question, &found, soon(), err);
    answer->newest = found.newest;
    found.newest = (struct log_newest){0};
    snapshot_answer_free(&found);
    return outcome;
}

/* The log's only row, with the lock. */
static enum server_outcome take_lock(struct question_answer *answer, struct err *err)
{
    const struct log_range since = {.from = 1, .most = 1};
    struct locked_news news = {0};
    enum server_outcome outcome = mariadb_lock_send(&session->base, &since, err);
    if (outcome == SERVER_OK)
        outcome = mariadb_lock_drive(&session->base, &news, soon(), soon(), err);
    answer->newest.seen = news.since.count == 0 ? 0 : news.since.at[0].number;
    if (news.is_there)
        answer->newest.rows = news.since;
    else
        locked_news_free(&news);
    return outcome;
}

static enum server_outcome ask(enum way way, const struct question *question,
                               struct question_answer *answer, struct err *err)
{
    switch (way) {
    case ASKED:
        return mariadb_question_ask(&session->base, question, answer, soon(), err);
    case IN_STEPS:
        return ask_in_steps(question, answer, err);
    case SNAPSHOT:
        return begin_snapshot(answer, err);
    case SNAPSHOT_ASKED:
        return mariadb_snapshot_ask(&session->base, NULL, false, answer, soon(), err);
    default:
        return take_lock(answer, err);
    }
}

/* The number of the newest row must be 1, or the session is closed, with that message. Even so it
 * is known that there was such a row somewhere. */
static void expect_answer(enum way way, bool coexists, const char *message)
{
    const struct question question = {.coexists = coexists};
    struct question_answer answer = {0};
    struct attempt attempt = begin_attempt();
    enum server_outcome outcome = ask(way, &question, &answer, &attempt.err);
    const char *line = message == NULL ? NULL : arena_printf(arena, "read: %s", message).data;
    expect_outcome(&attempt, session, outcome, message == NULL ? SERVER_OK : SERVER_LOST, line);
    assert_int_equal(mariadb_session_is_open(session), message == NULL);
    assert_int_equal(answer.newest.rows.count, message == NULL);
    assert_int_equal(answer.newest.seen, 1);
    if (message == NULL)
        assert_int_equal(answer.newest.rows.at[0].number, 1);
    log_rows_free(&answer.newest.rows);
    if (message == NULL)
        run(session, "ROLLBACK");
}

static void connect_again(void)
{
    struct attempt attempt = begin_attempt();
    expect_outcome(&attempt, session, server_session_connect(&session->base, soon(), &attempt.err),
                   SERVER_OK, NULL);
}

static void test_own_connection(void **state)
{
    (void)state;
    assert_true(mariadb_session_server(session)->backend_id > 0);
    for (enum way way = ASKED; way < WAYS; way++)
        for (int i = 0; i < 2; i++)
            expect_answer(way, i > 0, NULL);
}

static void test_other_connection(void **state)
{
    (void)state;
    for (enum way way = ASKED; way < WAYS; way++)
        for (int i = 0; i < 2; i++) {
            struct mariadb_session *other = open_other();
            swap_connections(session, other);
            expect_answer(way, i > 0, MOVED);
            mariadb_session_destroy(other);
            connect_again();
            expect_answer(way, i > 0, NULL);
        }
}

/* As a proxy does that repeats what a session has set. */
static void sign_again(void)
{
    struct buf sql = {0};
    mariadb_backend_sign(session, &sql);
    run(session, arena_printf(arena, "%.*s", (int)sql.len - 1, sql.data).data);
    buf_free(&sql);
}

/* A number that both connections have, as servers count from 1 on; and a name that both have, as
 * after a restart. */
static void test_each_sign_alone(void **state)
{
    (void)state;
    struct mariadb_server *server = &session->server;
    server->backend_id++;
    expect_answer(ASKED, false, MOVED);
    connect_again();
    strcpy(is_of_cluster() ? server->node : server->host, "elsewhere");
    expect_answer(ASKED, false, MOVED);
    connect_again();
    strcpy(is_of_cluster() ? server->host : server->node, "elsewhere");
    expect_answer(ASKED, false, NULL);
    if (is_of_cluster()) {
        static const char *const settings[] = {"SET SESSION wsrep_sync_wait = 0",
                                               "SET SESSION wsrep_dirty_reads = ON"};
        for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
            run(session, settings[i]);
            sign_again();
            expect_answer(ASKED, false, MOVED);
            connect_again();
            expect_answer(ASKED, false, NULL);
        }
    }
    run(session, "SET @berth_session = NULL");
    expect_answer(ASKED, false, MOVED);
    connect_again();
    sign_again();
    expect_answer(ASKED, false, NULL);
}

/* With this setting no read would wait for what the cluster has committed. */
static void test_dirty_reads(void **state)
{
    (void)state;
    if (!is_of_cluster())
        skip();
    struct mariadb_session *admin = open_admin();
    run(admin, "SET GLOBAL wsrep_dirty_reads = ON");
    connect_again();
    const char *value = value_of(arena, session, "SELECT @@wsrep_dirty_reads");
    run(admin, "SET GLOBAL wsrep_dirty_reads = OFF");
    mariadb_session_destroy(admin);
    assert_string_equal(value, "0");
    expect_answer(ASKED, false, NULL);
}

/* The newest row must be that one, with its entries unless memory has it; 0: the log is empty. */
static void expect_newest(const struct question *question, int64_t number, bool is_known)
{
    for (enum way way = ASKED; way <= IN_STEPS; way++) {
        struct question_answer answer = {0};
        struct attempt attempt = begin_attempt();
        expect_outcome(&attempt, session, ask(way, question, &answer, &attempt.err), SERVER_OK,
                       NULL);
        const struct log_rows *rows = &answer.newest.rows;
        assert_true(answer.newest.is_primary);
        assert_int_equal(answer.newest.is_known, is_known);
        assert_int_equal(rows->count, number > 0);
        if (number > 0) {
            assert_int_equal(rows->at[0].number, number);
            assert_int_equal(rows->at[0].entries.data == NULL, is_known);
        }
        log_rows_free(&answer.newest.rows);
    }
}

/* The mark of the newest row is asked for first, and the row if memory has another one. */
static void test_known_row(void **state)
{
    (void)state;
    for (int coexists = 0; coexists < 2; coexists++) {
        struct question question = {.coexists = coexists != 0, .known = {.number = 1}};
        memset(question.known.mark, 0x11, LOG_MARK_LEN);
        expect_newest(&question, 1, true);
        question.known.mark[LOG_MARK_LEN - 1] = 0x22;
        expect_newest(&question, 1, false);
        question.known = (struct log_state){0};
        expect_newest(&question, 1, false);
        run(session, "DELETE FROM berth_log");
        expect_newest(&question, 0, false);
        question.known.number = 1;
        expect_newest(&question, 0, false);
        run(session, "INSERT INTO berth_log VALUES (1, x'11111111111111111111111111111111',"
                     " x'00000000000000000000000000000000', UTC_TIMESTAMP(6), '')");
    }
}

/* A server that does not say who it is is believed. */
static void test_without_numbers(void **state)
{
    (void)state;
    session->server.backend_id = 0;
    strcpy(session->server.node, "elsewhere");
    for (enum way way = ASKED; way < WAYS; way++)
        expect_answer(way, true, NULL);
}

/* What is asked for instead of @@read_only; NULL: that itself. */
static const char *read_only;
/* Before a text that contains this, the connection ends, or the log loses its rows; NULL: before
 * none. */
static const char *lost_text;
static const char *gone_text;

static bool has_text(const struct mariadb_text *text, const char *part)
{
    return part != NULL && memmem(text->sql.data, text->sql.len, part, strlen(part)) != NULL;
}

enum server_outcome __real_mariadb_session_execute(struct mariadb_session *asked,
                                                   const struct mariadb_text *text,
                                                   struct mariadb_rows *rows, size_t rows_n,
                                                   size_t *results, uint64_t deadline_us,
                                                   struct err *err);
enum server_outcome __wrap_mariadb_session_execute(struct mariadb_session *asked,
                                                   const struct mariadb_text *text,
                                                   struct mariadb_rows *rows, size_t rows_n,
                                                   size_t *results, uint64_t deadline_us,
                                                   struct err *err);
enum server_outcome __wrap_mariadb_session_execute(struct mariadb_session *asked,
                                                   const struct mariadb_text *text,
                                                   struct mariadb_rows *rows, size_t rows_n,
                                                   size_t *results, uint64_t deadline_us,
                                                   struct err *err)
{
    static const struct slice name = SLICE_LIT("@@read_only");
    if (has_text(text, lost_text))
        return mariadb_exchange_lose(asked, text->what, err);
    if (has_text(text, gone_text)) {
        gone_text = NULL;
        run(asked, "DELETE FROM berth_log");
    }
    struct mariadb_text changed = *text;
    const char *at =
        read_only == NULL ? NULL : memmem(text->sql.data, text->sql.len, name.data, name.len);
    if (at != NULL) {
        struct slice before = {text->sql.data, (size_t)(at - text->sql.data)};
        changed.sql = arena_printf(arena, "%.*s%s%.*s", SLICE_ARG(before), read_only,
                                   SLICE_ARG(slice_skip(text->sql, before.len + name.len)));
    }
    return __real_mariadb_session_execute(asked, &changed, rows, rows_n, results, deadline_us, err);
}

static bool is_primary(void)
{
    struct question question = {.known = {.number = 1}};
    struct question_answer answer = {0};
    struct attempt attempt = begin_attempt();
    memset(question.known.mark, 0x11, LOG_MARK_LEN);
    enum server_outcome outcome =
        mariadb_question_ask(&session->base, &question, &answer, soon(), &attempt.err);
    expect_outcome(&attempt, session, outcome, SERVER_OK, NULL);
    log_rows_free(&answer.newest.rows);
    return answer.newest.is_primary;
}

static bool is_ready(void)
{
    struct err err = {.arena = arena};
    return session->base.dialect->make_ready(&session->base, soon(), &err) == SERVER_OK;
}

/* A number before MariaDB 12, and a name since then. */
static void test_values_of_read_only(void **state)
{
    static const struct {
        const char *value;
        bool is_primary;
    } values[] = {{"0", true},     {"1", false},         {"'OFF'", true},
                  {"'ON'", false}, {"'NO_LOCK'", false}, {"'NO_LOCK_NO_ADMIN'", false},
                  {"NULL", false}, {"''", false}};
    (void)state;
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        read_only = values[i].value;
        assert_int_equal(is_primary(), values[i].is_primary);
        assert_int_equal(is_ready(), values[i].is_primary);
    }
    read_only = NULL;
    assert_true(is_primary() && is_ready());
}

/* The server has told that there is a newer row, though not yet which one. */
static void test_half_an_answer(void **state)
{
    (void)state;
    const struct question question = {.known = {.number = 7}};
    struct question_answer answer = {0};
    struct attempt attempt = begin_attempt();
    lost_text = "l.entries";
    assert_int_equal(mariadb_question_ask(&session->base, &question, &answer, soon(), &attempt.err),
                     SERVER_LOST);
    lost_text = NULL;
    assert_int_equal(answer.newest.seen, 1);
    assert_int_equal(answer.newest.rows.count, 0);
    arena_destroy(attempt.arena);
    connect_again();
    expect_answer(ASKED, false, NULL);
}

/* The row is gone before it is asked for. */
static void test_gone_between(void **state)
{
    (void)state;
    const struct question question = {0};
    struct question_answer answer = {0};
    struct attempt attempt = begin_attempt();
    gone_text = "l.entries";
    expect_outcome(&attempt, session,
                   mariadb_question_ask(&session->base, &question, &answer, soon(), &attempt.err),
                   SERVER_OK, NULL);
    assert_null(gone_text);
    assert_int_equal(answer.newest.rows.count, 0);
    assert_int_equal(answer.newest.seen, 1);
    log_rows_free(&answer.newest.rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_own_connection, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_other_connection, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_each_sign_alone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_dirty_reads, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_known_row, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_half_an_answer, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_gone_between, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_without_numbers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_values_of_read_only, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
