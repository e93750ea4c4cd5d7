/* See asker.h. The session belongs to the asker's own thread, except while it is to be connected,
 * which may take long: then it belongs to the connector (connector.h). `state` passes it from one
 * to the other. Whatever is not an answer closes the connection: the same question is then asked by
 * the head, which finds out what is wrong, and how long that may take. */
#include "store/server/asker.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/arena.h"
#include "store/driver.h"
#include "store/server/connector.h"
#include "store/server/dialect.h"
#include "store/server/head.h"
#include "store/server/io.h"

enum asker_state {
    ASKER_CLOSED,
    ASKER_CONNECTS, /* the session belongs to the connector */
    ASKER_READY,
    ASKER_HAS_ASKED,
};

struct server_asker {
    struct store_asker base; /* first */
    struct server_connecting connecting;
    struct server_connector *connector;
    struct server_head *head;
    struct server_session *session;
    struct server_meanwhile meanwhile; /* of the session */
    uint64_t recycle_us;
    _Atomic int state;
    struct question question;
    struct arena *arena; /* of errors, which nobody reads */
};

static struct server_asker *asker_of(struct store_asker *base)
{
    return (struct server_asker *)base;
}

static void close_session(struct server_asker *asker)
{
    server_session_close(asker->session);
    asker->state = ASKER_CLOSED;
}

/* On the connector's thread. */
static void connected(struct server_connecting *connecting, bool is_connected)
{
    struct server_asker *asker =
        (struct server_asker *)((char *)connecting - offsetof(struct server_asker, connecting));
    asker->state = is_connected ? ASKER_READY : ASKER_CLOSED;
}

struct server_asker *
server_asker_create(struct server_head *head, struct server_connector *connector,
                    const struct server_address *address, struct server_lineage *lineage,
                    struct server_connection_counts *counts, uint64_t recycle_us)
{
    struct server_asker *asker = calloc(1, sizeof(*asker));
    check(asker != NULL);
    asker->head = head;
    asker->connector = connector;
    asker->meanwhile = server_connector_meanwhile(connector);
    asker->recycle_us = recycle_us;
    asker->session =
        server_session_create(&(struct server_session_options){.address = address,
                                                               .lineage = lineage,
                                                               .wake_fd = -1,
                                                               .counts = counts,
                                                               .meanwhile = &asker->meanwhile});
    asker->connecting = (struct server_connecting){asker->session, connected};
    asker->arena = arena_create();
    return asker;
}

const struct server_session *server_asker_session(const struct server_asker *asker)
{
    return asker->session;
}

void server_asker_close(struct store_asker *base)
{
    struct server_asker *asker = asker_of(base);
    server_connector_drop(asker->connector, &asker->connecting);
    server_session_destroy(asker->session);
    question_free(&asker->question);
    arena_destroy(asker->arena);
    free(asker);
}

/* Whether there is a connection that may be used. One that is begun now is for the next question.
 */
static bool is_ready(struct server_asker *asker)
{
    if (asker->state == ASKER_READY && (server_session_is_old(asker->session, asker->recycle_us) ||
                                        server_session_has_moved(asker->session)))
        close_session(asker);
    if (asker->state != ASKER_CLOSED)
        return asker->state == ASKER_READY;
    if (server_connector_may_try(asker->connector)) {
        asker->state = ASKER_CONNECTS;
        server_connector_connect(asker->connector, &asker->connecting);
    }
    return false;
}

static bool asker_send(struct server_asker *asker)
{
    struct err ignored = {.arena = asker->arena};
    server_head_prepare(asker->head, &asker->question);
    question_begin(&asker->question, &asker->session->id);
    return asker->session->dialect->question_send(asker->session, &asker->question, &ignored);
}

int server_asker_ask(struct store_asker *base)
{
    struct server_asker *asker = asker_of(base);
    check(asker->state != ASKER_HAS_ASKED);
    if (!is_ready(asker))
        return -1;
    bool is_sent = asker_send(asker);
    arena_reset(asker->arena);
    if (!is_sent) {
        close_session(asker);
        return -1;
    }
    asker->state = ASKER_HAS_ASKED;
    return server_session_socket(asker->session);
}

/* Nothing was asked, so the connection has ended, or the server has said something that is not an
 * answer. */
static void look(struct server_asker *asker)
{
    if (asker->state != ASKER_READY)
        return;
    server_session_notice_end(asker->session);
    if (!server_session_is_open(asker->session))
        close_session(asker);
}

enum store_asked server_asker_take(struct store_asker *base, struct store_head *head)
{
    struct server_asker *asker = asker_of(base);
    struct err ignored = {.arena = asker->arena};
    struct log_state state;
    *head = (struct store_head){0};
    if (asker->state != ASKER_HAS_ASKED) {
        look(asker);
        return STORE_ASKED_NOTHING;
    }
    struct question_answer answer = {0};
    enum server_outcome outcome = asker->session->dialect->question_receive(
        asker->session, &asker->question, &answer, &ignored);
    arena_reset(asker->arena);
    server_head_note_seen(asker->head, answer.newest.seen);
    if (outcome == SERVER_WOKEN && !asker->session->dialect->has_failed(asker->session))
        return STORE_ASKED_PENDING;
    head->is_known =
        outcome == SERVER_OK && question_state(&asker->question, &answer, &state, &head->stamp);
    if (!head->is_known) {
        log_rows_free(&answer.newest.rows);
        close_session(asker);
        return STORE_ASKED_IN_VAIN;
    }
    server_head_note_answer(asker->head, &asker->question, &state, &head->stamp,
                            &asker->session->id, &answer.newest);
    log_rows_free(&answer.newest.rows);
    asker->state = ASKER_READY;
    return STORE_ASKED_ANSWERED;
}

void server_asker_forget(struct store_asker *base)
{
    struct server_asker *asker = asker_of(base);
    if (asker->state == ASKER_HAS_ASKED)
        close_session(asker);
}
