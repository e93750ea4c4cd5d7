/* The dialect of MariaDB and MySQL: the functions that need no file of their own, and the table. */
#include "store/mariadb/session.h"
#include "store/mariadb/session_internal.h"
#include "store/server/dialects.h"

static const void *mariadb_parse(struct slice url, struct arena *arena, struct slice *target,
                                 struct err *err)
{
    struct mariadb_url *parsed = arena_zalloc(arena, sizeof(*parsed));
    if (!mariadb_url_parse(url, SLICE_LIT(""), arena, parsed, err))
        return NULL;
    *target = parsed->target;
    return parsed;
}

static struct server_session *mariadb_create(const struct server_session_options *options)
{
    return &mariadb_session_create(options)->base;
}

static void mariadb_destroy(struct server_session *session)
{
    mariadb_session_destroy(mariadb_session_of(session));
}

static enum server_outcome mariadb_reach(struct server_session *session, uint64_t deadline_us,
                                         struct err *err)
{
    return mariadb_session_connect(mariadb_session_of(session), deadline_us, err);
}

static void mariadb_leave(struct server_session *session)
{
    mariadb_session_close(mariadb_session_of(session));
}

static bool mariadb_is_open(const struct server_session *session)
{
    return mariadb_session_is_open(mariadb_session_of_const(session));
}

static int mariadb_socket(const struct server_session *session)
{
    return mariadb_session_socket(mariadb_session_of_const(session));
}

static void mariadb_notice_end(struct server_session *session)
{
    mariadb_session_notice_end(mariadb_session_of(session));
}

static bool mariadb_in_transaction(const struct server_session *session)
{
    return mariadb_session_in_transaction(mariadb_session_of_const(session));
}

static enum server_outcome mariadb_rollback(struct server_session *session, const char *what,
                                            uint64_t deadline_us, struct err *err)
{
    return mariadb_session_run(mariadb_session_of(session), "ROLLBACK", what, deadline_us, err);
}

static enum server_reason mariadb_reason(const struct server_session *session)
{
    return mariadb_session_reason(mariadb_session_of_const(session));
}

const struct server_dialect mariadb_dialect = {
    .url_matches = mariadb_url_matches,
    .url_parse = mariadb_parse,
    .create = mariadb_create,
    .destroy = mariadb_destroy,
    .connect = mariadb_reach,
    .close = mariadb_leave,
    .is_open = mariadb_is_open,
    .socket = mariadb_socket,
    .notice_end = mariadb_notice_end,
    .in_transaction = mariadb_in_transaction,
    .rollback = mariadb_rollback,
    .reason = mariadb_reason,
    .standby = "is read-only: writes need a server that accepts them",
};
