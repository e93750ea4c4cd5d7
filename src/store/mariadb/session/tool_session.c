/* See tool_session.h. One thread at a time. */
#include "store/mariadb/session/tool_session.h"

#include "base/arena.h"
#include "base/clock.h"
#include "store/server/dialects.h"

enum { TOOL_CONNECT_S = 30, TOOL_ANSWER_S = 3600, TOOL_LOCK_S = 60 };

static uint64_t in_seconds(unsigned seconds)
{
    return clock_monotonic_us() + seconds * UINT64_C(1000000);
}

uint64_t mariadb_tool_deadline(void)
{
    return in_seconds(TOOL_ANSWER_S);
}

struct mariadb_session *mariadb_tool_open(struct slice connection, struct err *err)
{
    struct arena *arena = arena_create();
    struct mariadb_session *session = NULL;
    struct mariadb_url url;
    /* The server's own limit of statements is for clients that answer somebody. */
    if (mariadb_url_parse(connection, SLICE_LIT(""), arena, &url, err))
        session = mariadb_session_create(&(struct server_session_options){
            .address = &(struct server_address){server_dialect_of(connection), &url, url.target},
            .application_name = "placement-manage",
            .statement_timeout_ms = TOOL_ANSWER_S * 1000,
            .lock_timeout_ms = TOOL_LOCK_S * 1000,
            .wake_fd = -1});
    arena_destroy(arena);
    if (session == NULL ||
        mariadb_session_connect(session, in_seconds(TOOL_CONNECT_S), err) == SERVER_OK)
        return session;
    mariadb_session_destroy(session);
    return NULL;
}

enum server_outcome mariadb_tool_commit(struct mariadb_session *session, const char *what,
                                        uint64_t deadline_us, struct err *err)
{
    struct mariadb_text text = {
        .sql = SLICE_LIT("COMMIT"), .statements = 1, .commit = 1, .what = what};
    return mariadb_session_execute(session, &text, NULL, 0, NULL, deadline_us, err);
}
