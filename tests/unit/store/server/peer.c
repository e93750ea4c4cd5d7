/* See peer.h. */
#include "peer.h"

#include <stdlib.h>

#include "await.h"
#include "base/arena.h"
#include "base/clock.h"
#include "peer_kinds.h"
#include "store/server/id_tables.h"

/* A build may lack one of them. */
static const struct peer_kind *kind_of_server(void)
{
#ifdef BERTH_POSTGRES
    if (!fixture_is_mariadb())
        return &peer_postgres;
#endif
#ifdef BERTH_MARIADB
    if (fixture_is_mariadb())
        return fixture_is_mysql() ? &peer_mysql : &peer_mariadb;
#endif
    fail_msg("run this with tests/databases/with_postgres.py or with_mariadb.py");
    return NULL;
}

const char *peer_sql(const char *postgres, const char *mariadb)
{
    return fixture_is_mariadb() ? mariadb : postgres;
}

const char *peer_hex(struct fixture *fixture, const char *digits)
{
    return fixture_is_mariadb() ? arena_printf(fixture->arena, "x'%s'", digits).data
                                : arena_printf(fixture->arena, "decode('%s', 'hex')", digits).data;
}

const char *peer_bytes(struct fixture *fixture, const char *text)
{
    struct buf digits = {0};
    for (const char *at = text; *at != '\0'; at++)
        buf_printf(&digits, "%02x", (unsigned char)*at);
    const char *literal = peer_hex(fixture, arena_copy(fixture->arena, buf_slice(&digits)).data);
    buf_free(&digits);
    return literal;
}

const char *peer_numbers(struct fixture *fixture, int64_t first, int64_t count)
{
    return arena_printf(
               fixture->arena,
               "(SELECT %lld + at AS seq FROM JSON_TABLE(CONCAT('[0', REPEAT(',0', %lld), ']'),"
               " '$[*]' COLUMNS (at FOR ORDINALITY)) AS numbered) AS numbers",
               (long long)first - 1, (long long)count - 1)
        .data;
}

uint64_t peer_soon(void)
{
    return clock_monotonic_us() + 60000000;
}

/* ---- sessions of another program ---- */

struct server_session *peer_connect(struct fixture *fixture)
{
    struct slice target;
    const struct slice url = slice_of(fixture->url);
    const struct server_dialect *dialect = server_dialect_of(url);
    assert_non_null(dialect);
    const void *parsed = dialect->url_parse(url, fixture->arena, &target, &fixture->err);
    assert_non_null(parsed);
    const struct server_address address = {dialect, parsed, target};
    struct server_session *session =
        server_session_create(&(struct server_session_options){.address = &address, .wake_fd = -1});
    if (server_session_connect(session, peer_soon(), &fixture->err) != SERVER_OK)
        fail_msg("%.*s", SLICE_ARG(fixture->err.message));
    return session;
}

/* The first row of the last result. */
static void execute(struct fixture *fixture, struct server_session *session, const char *sql,
                    struct buf *row)
{
    struct err err = {.arena = fixture->arena};
    if (kind_of_server()->execute(session, sql, row, peer_soon(), &err) != SERVER_OK)
        fail_msg("%s: %.*s", sql, SLICE_ARG(err.message));
}

void peer_run(struct fixture *fixture, struct server_session *session, const char *sql)
{
    struct buf ignored = {0};
    execute(fixture, session, sql, &ignored);
    buf_free(&ignored);
}

int64_t peer_number(struct fixture *fixture, struct server_session *session, const char *sql)
{
    struct buf row = {0};
    execute(fixture, session, sql, &row);
    buf_append_char(&row, '\0');
    int64_t number = atoll(row.data);
    buf_free(&row);
    return number;
}

bool peer_try(struct fixture *fixture, struct server_session *session, const char *sql)
{
    struct buf ignored = {0};
    struct err err = {.arena = fixture->arena};
    enum server_outcome outcome =
        kind_of_server()->execute(session, sql, &ignored, peer_soon(), &err);
    buf_free(&ignored);
    return outcome == SERVER_OK;
}

static const char *row_of(struct fixture *fixture, const char *sql)
{
    struct buf row = {0};
    struct server_session *session = peer_connect(fixture);
    execute(fixture, session, sql, &row);
    if (server_session_in_transaction(session))
        peer_run(fixture, session, "COMMIT");
    server_session_destroy(session);
    const char *text = arena_copy(fixture->arena, buf_slice(&row)).data;
    buf_free(&row);
    return text;
}

int64_t peer_execute(struct fixture *fixture, const char *sql)
{
    return atoll(row_of(fixture, sql));
}

void peer_expect(struct fixture *fixture, const char *sql, const char *row)
{
    assert_string_equal(row_of(fixture, sql), row);
}

/* ---- what else happens to a server ---- */

int64_t peer_connection(const struct server_session *session)
{
    return kind_of_server()->connection(session);
}

void peer_terminate(struct fixture *fixture, const struct server_session *session)
{
    int64_t connection = peer_connection(session);
    const struct peer_kind *kind = kind_of_server();
    (void)peer_execute(fixture, kind->terminate(fixture->arena, connection));
    AWAIT(peer_execute(fixture, kind->has_ended(fixture->arena, connection)) == 1);
}

void peer_await_queue(struct fixture *fixture, int count)
{
    AWAIT(peer_execute(fixture, kind_of_server()->queue) == count);
}

static void execute_all(struct fixture *fixture, const char *const *statements)
{
    for (size_t i = 0; statements[i] != NULL; i++)
        (void)peer_execute(fixture, statements[i]);
}

void peer_set_standby(struct fixture *fixture, bool is_standby)
{
    const struct peer_kind *kind = kind_of_server();
    execute_all(fixture, is_standby ? kind->standby : kind->primary);
}

struct server_session *peer_hold_commits(struct fixture *fixture)
{
    const struct peer_kind *kind = kind_of_server();
    struct server_session *holder = peer_connect(fixture);
    for (size_t i = 0; kind->hold[i] != NULL; i++)
        peer_run(fixture, holder, kind->hold[i]);
    return holder;
}

void peer_release_commits(struct fixture *fixture, struct server_session *holder)
{
    const struct peer_kind *kind = kind_of_server();
    for (size_t i = 0; kind->release[i] != NULL; i++)
        peer_run(fixture, holder, kind->release[i]);
    server_session_destroy(holder);
}

struct server_session *peer_hold_lock(struct fixture *fixture)
{
    struct server_session *holder = peer_connect(fixture);
    peer_take_lock(fixture, holder);
    return holder;
}

void peer_take_lock(struct fixture *fixture, struct server_session *holder)
{
    assert_int_equal(holder->dialect->lock_wait(holder, 60000000, &fixture->err), SERVER_OK);
}

void peer_leave_lock(struct fixture *fixture, struct server_session *holder)
{
    assert_int_equal(holder->dialect->lock_leave(holder, 60000000, &fixture->err), SERVER_OK);
}

struct server_session *peer_lock_row(struct fixture *fixture, int64_t provider)
{
    struct server_session *holder = peer_connect(fixture);
    peer_run(fixture, holder, "BEGIN");
    peer_run(fixture, holder,
             arena_printf(fixture->arena,
                          "UPDATE resource_providers SET name = name WHERE id = %lld",
                          (long long)provider)
                 .data);
    return holder;
}

void peer_set_last_id(struct fixture *fixture, enum store_table table, int64_t last)
{
    (void)peer_execute(fixture,
                       kind_of_server()->set_last_id(fixture->arena, id_table_name(table), last));
}

enum store_result peer_commit_project(struct fixture *fixture, struct store *store, int64_t id,
                                      const char *name)
{
    struct store_stamp stamp;
    bool foreign;
    struct change_list list = changes_of(fixture);
    add_catalog(&list, CHANGE_PROJECT_INSERT, id, name);
    const struct store_batch batch = {.changes = list.items, .ends = &list.count, .requests = 1};
    return store_commit(store, &batch, &stamp, &foreign, &fixture->err);
}

enum store_result peer_await_decision(struct fixture *fixture, struct store *store)
{
    struct store_stamp stamp;
    bool foreign;
    return store_await(store, UINT64_MAX, &stamp, &foreign, &fixture->err);
}

enum store_result peer_await_last(struct fixture *fixture, struct store *store)
{
    enum store_result result = STORE_PENDING;
    while (result == STORE_PENDING)
        result = peer_await_decision(fixture, store);
    return result;
}
