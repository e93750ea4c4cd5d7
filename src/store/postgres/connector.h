/* A thread that connects the sessions of those that must not wait (asker.h): what takes long may
 * take as long as it likes there. Any thread, unless a function says otherwise. */
#ifndef BERTH_STORE_POSTGRES_CONNECTOR_H
#define BERTH_STORE_POSTGRES_CONNECTOR_H

#include "store/postgres/session.h"
#include "store/store.h"

struct pg_connector;

/* A session that is to be connected; it then belongs to the connector. Until `done` is called,
 * perhaps on its thread, nobody else uses it. */
struct pg_connecting {
    struct pg_session *session;
    void (*done)(struct pg_connecting *connecting, bool is_connected);
};

enum { PG_CONNECTING_MOST = STORE_ASKERS_MOST };

/* The counts, which outlive it, are those of all sessions of the store: when another one has been
 * connected, it is worth another attempt. NULL: no thread can be started. */
struct pg_connector *pg_connector_create(const struct pg_connection_counts *counts,
                                         uint64_t timeout_us);

/* No wait goes on, nor does another one begin. */
void pg_connector_stop(struct pg_connector *connector);

/* NULL is allowed. */
void pg_connector_destroy(struct pg_connector *connector);

/* For the waits of the sessions: it belongs to one session. */
struct server_meanwhile pg_connector_meanwhile(struct pg_connector *connector);

/* Whether an attempt is worth it: after attempts that have failed, there are pauses of a second to
 * a minute, whosever they were. */
bool pg_connector_may_try(const struct pg_connector *connector);

/* Has it connected. There are at most PG_CONNECTING_MOST at a time. */
void pg_connector_connect(struct pg_connector *connector, struct pg_connecting *connecting);

/* Returns when the connector does not use it, and will not. */
void pg_connector_drop(struct pg_connector *connector, const struct pg_connecting *connecting);

#endif
