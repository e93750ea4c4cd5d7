/* See session.h. One thread at a time. */
#include "store/server/session.h"

#include "base/arena.h"
#include "base/clock.h"
#include "store/server/dialect.h"

struct server_session *server_session_create(const struct server_session_options *options)
{
    return options->address->dialect->create(options);
}

void server_session_init(struct server_session *session,
                         const struct server_session_options *options, struct arena *arena)
{
    const char *name = options->application_name;
    session->dialect = options->address->dialect;
    session->options = *options;
    session->options.address = NULL;
    session->options.application_name =
        arena_copy(arena, slice_of(name == NULL ? "berthd" : name)).data;
    session->target = arena_copy(arena, options->address->target);
    session->stop_fd = -1;
    session->node = "";
}

void server_session_destroy(struct server_session *session)
{
    if (session != NULL)
        session->dialect->destroy(session);
}

enum server_outcome server_session_connect(struct server_session *session, uint64_t deadline_us,
                                           struct err *err)
{
    struct server_connection_counts *counts = session->options.counts;
    enum server_outcome outcome = session->dialect->connect(session, deadline_us, err);
    if (outcome == SERVER_OK)
        session->connected_us = clock_monotonic_us();
    if (counts != NULL)
        atomic_fetch_add(outcome == SERVER_OK ? &counts->made : &counts->failed, 1);
    return outcome;
}

void server_session_set_stop(struct server_session *session, int fd)
{
    session->stop_fd = fd;
}

void server_session_close(struct server_session *session)
{
    session->dialect->close(session);
}

bool server_session_is_open(const struct server_session *session)
{
    return session->dialect->is_open(session);
}

int server_session_socket(const struct server_session *session)
{
    return session->dialect->socket(session);
}

void server_session_notice_end(struct server_session *session)
{
    session->dialect->notice_end(session);
}

bool server_session_is_old(const struct server_session *session, uint64_t age_us)
{
    return age_us > 0 && server_session_is_open(session) &&
           clock_monotonic_us() - session->connected_us >= age_us;
}

bool server_session_has_moved(const struct server_session *session)
{
    struct server_lineage *lineage = session->options.lineage;
    return lineage != NULL && (server_lineage_has_moved(lineage, &session->id) ||
                               server_lineage_has_left(lineage, session->connected_us));
}

bool server_session_in_transaction(const struct server_session *session)
{
    return session->dialect->in_transaction(session);
}

void server_session_rollback(struct server_session *session, const char *what, uint64_t deadline_us,
                             struct err *err)
{
    if (server_session_in_transaction(session) &&
        session->dialect->rollback(session, what, deadline_us, err) != SERVER_OK)
        server_session_close(session);
}

enum server_reason server_session_reason(const struct server_session *session)
{
    return session->dialect->reason(session);
}

bool server_session_take_unreplicated(struct server_session *session)
{
    bool is_unreplicated = session->is_unreplicated;
    session->is_unreplicated = false;
    return is_unreplicated;
}
