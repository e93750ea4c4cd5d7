/* Sessions for the tests, and expectations of outcomes. */
#include "sessions.h"

#include "await.h"
#include "store/mariadb/session/session_state.h"
#include "store/server/dialects.h"

#include <stdlib.h>

#include "base/clock.h"
#include "store/mariadb/schema/own_tables.h"
#include "upstream.h"

uint64_t in_ms(unsigned ms)
{
    return clock_monotonic_us() + ms * (uint64_t)1000;
}

uint64_t soon(void)
{
    return in_ms(60000);
}

static const char *url_of(struct arena *arena, const char *variable)
{
    const char *url = getenv(variable);
    if (url == NULL)
        fail_msg("run this with tests/databases/with_mariadb.py");
    return arena_copy(arena, slice_of(url)).data;
}

const char *url_of_server(struct arena *arena)
{
    return url_of(arena, "BERTH_TEST_MARIADB_URL");
}

const char *url_with(struct arena *arena, const char *host, int port, const char *more)
{
    struct slice rest = slice_of(url_of_server(arena));
    struct slice user = slice_cut(&rest, '@');
    (void)slice_cut(&rest, '/');
    return arena_printf(arena, "%.*s@%s:%d/%.*s%s", SLICE_ARG(user), host, port, SLICE_ARG(rest),
                        more)
        .data;
}

int port_of_server(struct arena *arena)
{
    struct slice rest = slice_of(url_of_server(arena));
    (void)slice_cut(&rest, '@');
    (void)slice_cut(&rest, ':');
    return atoi(rest.data);
}

struct mariadb_session *make_session(const char *url, struct server_session_options options)
{
    struct arena *arena = arena_create();
    struct err err = {.arena = arena};
    struct mariadb_url parsed;
    if (!mariadb_url_parse(slice_of(url), SLICE_LIT(""), arena, &parsed, &err))
        fail_msg("%s", err.message.data);
    const struct server_address address = {&mariadb_dialect, &parsed, parsed.target};
    options.address = &address;
    struct mariadb_session *session = mariadb_session_create(&options);
    arena_destroy(arena);
    return session;
}

static struct mariadb_session *open_url(const char *variable)
{
    struct attempt attempt = begin_attempt();
    struct mariadb_session *session = make_session(url_of(attempt.arena, variable),
                                                   (struct server_session_options){.wake_fd = -1});
    expect_outcome(&attempt, session, server_session_connect(&session->base, soon(), &attempt.err),
                   SERVER_OK, NULL);
    return session;
}

struct mariadb_session *open_session(void)
{
    return open_url("BERTH_TEST_MARIADB_URL");
}

struct mariadb_session *open_admin(void)
{
    return open_url("BERTH_TEST_MARIADB_ADMIN");
}

void run(struct mariadb_session *session, const char *sql)
{
    struct attempt attempt = begin_attempt();
    expect_outcome(&attempt, session,
                   mariadb_session_run(session, sql, "used", soon(), &attempt.err), SERVER_OK,
                   NULL);
}

struct mariadb_session *open_upstream(const char *charset)
{
    struct arena *arena = arena_create();
    struct mariadb_session *session = open_session();
    const char *name = value_of(arena, session, "SELECT DATABASE()");
    run(session,
        arena_printf(arena, "DROP DATABASE %s; CREATE DATABASE %s CHARACTER SET %s; USE %s", name,
                     name, charset, name)
            .data);
    struct buf sql = {0};
    append_upstream(&sql);
    run(session, sql.data);
    buf_free(&sql);
    arena_destroy(arena);
    return session;
}

struct mariadb_session *open_served(const char *charset)
{
    struct mariadb_session *session = open_upstream(charset);
    struct attempt attempt = begin_attempt();
    struct arena *arena = arena_create();
    struct mariadb_own_statements statements = {0};
    expect_outcome(&attempt, session,
                   mariadb_own_tables_compare(session, arena, &statements, soon(), &attempt.err),
                   SERVER_OK, NULL);
    /* as a server with a binary log of statements accepts it */
    run(session, "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ");
    for (size_t i = 0; i < statements.count; i++)
        run(session, statements.sql[i]);
    run(session, "CREATE TABLE alembic_version (version_num VARCHAR(32) PRIMARY KEY);"
                 "INSERT INTO alembic_version VALUES ('a082b8bb98d0');"
                 "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED");
    arena_destroy(arena);
    return session;
}

const char *value_of(struct arena *arena, struct mariadb_session *session, const char *sql)
{
    struct attempt attempt = begin_attempt();
    struct mariadb_text text = {.sql = slice_of(sql)};
    struct mariadb_rows rows = {0};
    expect_outcome(&attempt, session,
                   mariadb_session_execute(session, &text, &rows, 1, NULL, soon(), &attempt.err),
                   SERVER_OK, NULL);
    struct slice value = mariadb_rows_bytes(&rows, 0, 0);
    const char *found = value.data == NULL ? NULL : arena_copy(arena, value).data;
    mariadb_rows_free(&rows);
    return found;
}

struct attempt begin_attempt(void)
{
    struct arena *arena = arena_create();
    return (struct attempt){.arena = arena, .err = {.arena = arena}};
}

void expect_outcome(struct attempt *attempt, const struct mariadb_session *session,
                    enum server_outcome outcome, enum server_outcome expected, const char *message)
{
    if (outcome != expected && err_is_set(&attempt->err))
        print_error("%s\n", attempt->err.message.data);
    assert_int_equal(outcome, expected);
    if (message == NULL) {
        assert_false(err_is_set(&attempt->err));
    } else {
        struct slice target = session->base.target;
        struct slice whole = arena_printf(attempt->arena, "the database '%.*s' cannot be %s",
                                          SLICE_ARG(target), message);
        assert_int_equal(attempt->err.status, 503);
        assert_string_equal(attempt->err.message.data, whole.data);
        assert_null(strstr(attempt->err.message.data, "berth-password"));
        assert_null(strchr(attempt->err.message.data, '\n'));
    }
    arena_destroy(attempt->arena);
}

static bool has_database(struct mariadb_session *session)
{
    struct arena *arena = arena_create();
    struct err err = {.arena = arena};
    bool has = mariadb_session_connect(session, soon(), &err) == SERVER_OK &&
               mariadb_session_run(session, "SET /*M! wsrep_sync_wait = 1, */ autocommit = 1",
                                   "used", soon(), &err) == SERVER_OK &&
               value_of(arena, session, "SELECT DATABASE()") != NULL;
    arena_destroy(arena);
    return has;
}

struct mariadb_session *open_on_node(const char *url)
{
    struct mariadb_session *session = NULL;
    AWAIT((mariadb_session_destroy(session),
           session = make_session(url, (struct server_session_options){.wake_fd = -1}),
           has_database(session)));
    return session;
}
