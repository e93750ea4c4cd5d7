/* Sessions for the tests, and expectations of outcomes. */
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "store/server/dialects.h"

uint64_t in_ms(unsigned ms)
{
    return clock_monotonic_us() + ms * (uint64_t)1000;
}

uint64_t soon(void)
{
    return in_ms(60000);
}

const char *url_of_server(struct arena *arena)
{
    const char *url = getenv("BERTH_TEST_POSTGRES");
    if (url == NULL)
        fail_msg("run this with tests/databases/with_postgres.py");
    return arena_copy(arena, slice_of(url)).data;
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

struct pg_session *make_session(const char *url, struct server_session_options options)
{
    struct arena *arena = arena_create();
    struct err err = {.arena = arena};
    struct pg_url parsed;
    if (!pg_url_parse(slice_of(url), SLICE_LIT(""), arena, &parsed, &err))
        fail_msg("%s", err.message.data);
    const struct server_address address = {&pg_dialect, &parsed, parsed.target};
    options.address = &address;
    struct pg_session *session = pg_session_create(&options);
    arena_destroy(arena);
    return session;
}

struct pg_session *open_session(void)
{
    struct attempt attempt = begin_attempt();
    struct pg_session *session =
        make_session(url_of_server(attempt.arena), (struct server_session_options){.wake_fd = -1});
    expect_outcome(&attempt, session, pg_session_connect(session, soon(), &attempt.err), SERVER_OK,
                   NULL);
    return session;
}

void run(struct pg_session *session, const char *sql)
{
    struct attempt attempt = begin_attempt();
    expect_outcome(&attempt, session, pg_session_run(session, sql, "used", soon(), &attempt.err),
                   SERVER_OK, NULL);
}

const char *value_of(struct arena *arena, struct pg_session *session, const char *sql)
{
    struct attempt attempt = begin_attempt();
    struct pg_statement statement = {.sql = sql};
    struct pg_rows rows = {0};
    expect_outcome(&attempt, session,
                   pg_session_execute(session, &statement, &rows, soon(), &attempt.err), SERVER_OK,
                   NULL);
    struct slice value = pg_rows_bytes(&rows, 0, 0);
    const char *text = value.data == NULL ? NULL : arena_copy(arena, value).data;
    pg_rows_free(&rows);
    return text;
}

struct attempt begin_attempt(void)
{
    struct arena *arena = arena_create();
    return (struct attempt){.arena = arena, .err = {.arena = arena}};
}

void expect_outcome(struct attempt *attempt, const struct pg_session *session,
                    enum server_outcome outcome, enum server_outcome expected, const char *message)
{
    if (outcome != expected && err_is_set(&attempt->err))
        print_error("%s\n", attempt->err.message.data);
    assert_int_equal(outcome, expected);
    if (message == NULL) {
        assert_false(err_is_set(&attempt->err));
    } else {
        struct slice target = pg_session_target(session);
        struct slice whole = arena_printf(attempt->arena, "the database '%.*s' cannot be %s",
                                          SLICE_ARG(target), message);
        assert_int_equal(attempt->err.status, 503);
        assert_string_equal(attempt->err.message.data, whole.data);
        assert_null(strstr(attempt->err.message.data, "berth-password"));
        assert_null(strchr(attempt->err.message.data, '\n'));
    }
    arena_destroy(attempt->arena);
}
