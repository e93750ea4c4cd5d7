/* See tool_session.h. One thread at a time. */
#include "store/postgres/session/tool_session.h"

#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/wait.h"
#include "store/server/dialects.h"

enum { CONNECT_S = 30, ANSWER_S = 3600, HELD_UP_FOR_S = 60, AGAIN_US = 300000 };

static uint64_t after(unsigned seconds)
{
    return clock_monotonic_us() + seconds * UINT64_C(1000000);
}

uint64_t tool_session_deadline(void)
{
    return after(ANSWER_S);
}

struct pg_session *tool_session_open(struct slice connection, struct err *err)
{
    struct arena *arena = arena_create();
    struct pg_session *session = NULL;
    struct pg_url url;
    if (pg_url_parse(connection, SLICE_LIT(""), arena, &url, err))
        session = pg_session_create(&(struct server_session_options){
            .address = &(struct server_address){server_dialect_of(connection), &url, url.target},
            .application_name = "placement-manage",
            .wake_fd = -1});
    arena_destroy(arena);
    if (session == NULL || pg_session_connect(session, after(CONNECT_S), err) == SERVER_OK)
        return session;
    pg_session_destroy(session);
    return NULL;
}

enum server_outcome tool_session_begin(struct pg_session *session, uint64_t deadline_us,
                                       struct err *err)
{
    enum server_outcome outcome = pg_session_begin(
        session, "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE", deadline_us, err);
    if (outcome != SERVER_OK)
        return outcome;
    return pg_session_run(session, "SET LOCAL lock_timeout = '60s'", "changed", deadline_us, err);
}

enum server_outcome tool_session_hurry(struct pg_session *session, uint64_t deadline_us,
                                       struct err *err)
{
    return pg_session_run(session, "SET LOCAL lock_timeout = '500ms'", "changed", deadline_us, err);
}

bool tool_session_was_held_up(const struct pg_session *session)
{
    static const char LOCK_NOT_AVAILABLE[] = "55P03";
    static const char DEADLOCK_DETECTED[] = "40P01";
    const char *state = pg_session_failure(session)->sqlstate;
    return strcmp(state, LOCK_NOT_AVAILABLE) == 0 || strcmp(state, DEADLOCK_DETECTED) == 0;
}

void tool_session_roll_back(struct pg_session *session, uint64_t deadline_us, struct arena *arena)
{
    struct err ignored = {.arena = arena};
    if (pg_session_is_open(session) && pg_session_in_transaction(session) &&
        pg_session_run(session, "ROLLBACK", "changed", deadline_us, &ignored) != SERVER_OK)
        pg_session_close(session);
}

uint64_t tool_session_patience(void)
{
    return after(HELD_UP_FOR_S);
}

bool tool_session_give_way(struct pg_session *session, uint64_t until_us, uint64_t deadline_us,
                           struct arena *arena)
{
    if (clock_monotonic_us() >= until_us)
        return false;
    tool_session_roll_back(session, deadline_us, arena);
    if (!pg_session_is_open(session))
        return false;
    wait_sleep_us(AGAIN_US);
    return true;
}

enum server_outcome tool_session_commit(struct pg_session *session, uint64_t deadline_us,
                                        struct err *err)
{
    struct pg_statement statement = {.sql = "COMMIT", .is_commit = true, .what = "changed"};
    return pg_session_execute(session, &statement, NULL, deadline_us, err);
}
