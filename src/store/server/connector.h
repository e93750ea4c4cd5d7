/* A thread that connects the sessions of those that must not wait (asker.h): what takes long may
 * take as long as it likes there. Any thread, unless a function says otherwise. */
#ifndef BERTH_STORE_SERVER_CONNECTOR_H
#define BERTH_STORE_SERVER_CONNECTOR_H

#include "store/server/session.h"
#include "store/store.h"

struct server_connector;

/* A session that is to be connected; it then belongs to the connector. Until `done` is called,
 * perhaps on its thread, nobody else uses it. */
struct server_connecting {
    struct server_session *session;
    void (*done)(struct server_connecting *connecting, bool is_connected);
};

enum { SERVER_CONNECTING_MOST = STORE_ASKERS_MOST };

/* The counts, which outlive it, are those of all sessions of the store: when another one has been
 * connected, it is worth another attempt. NULL: no thread can be started. */
struct server_connector *server_connector_create(const struct server_connection_counts *counts,
                                                 uint64_t timeout_us);

/* No wait goes on, nor does another one begin. */
void server_connector_stop(struct server_connector *connector);

/* NULL is allowed. */
void server_connector_destroy(struct server_connector *connector);

/* For the waits of the sessions: it belongs to one session. */
struct server_meanwhile server_connector_meanwhile(struct server_connector *connector);

/* Whether an attempt is worth it: after attempts that have failed, there are pauses of a second to
 * a minute, whosever they were. */
bool server_connector_may_try(const struct server_connector *connector);

/* Has it connected. There are at most SERVER_CONNECTING_MOST at a time. */
void server_connector_connect(struct server_connector *connector,
                              struct server_connecting *connecting);

/* Returns when the connector does not use it, and will not. */
void server_connector_drop(struct server_connector *connector,
                           const struct server_connecting *connecting);

#endif
