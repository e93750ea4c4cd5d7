/* See backend.h.
 *
 * A proxy that understands the protocol (ProxySQL, MaxScale) may answer for a server that has gone
 * with another one, on a connection of its own: without wsrep_sync_wait a Galera node then answers
 * what it has, without autocommit what it had, and of another cluster nothing is known. So an
 * answer that is to be the newest state says who gives it. A server numbers its connections from 1
 * on, hence the name beside the number; and after a restart from 1 on again, hence the setting. If
 * something differs, the session is connected anew, which verifies the rest, and its owner asks
 * again.
 *
 * The number is a variable: proxies answer CONNECTION_ID() themselves. The session's thread. */
#include "store/mariadb/session/backend.h"

#include <string.h>

#include "store/mariadb/session/exchange.h"
#include "store/mariadb/session/variables.h"
#include "store/server/failure.h"

enum { NUMBER, NAME, SYNC_WAIT };

void mariadb_backend_columns(const struct mariadb_session *session, struct buf *sql)
{
    const struct mariadb_server *server = &session->server;
    if (server->backend_id == 0)
        return;
    buf_append_lit(sql, ", @@pseudo_thread_id, ");
    if (server->is_galera)
        buf_append_lit(sql, "@@wsrep_node_name, @@wsrep_sync_wait");
    else
        buf_append_lit(sql, "@@hostname");
}

static bool is_own_connection(const struct mariadb_session *session,
                              const struct mariadb_rows *rows, size_t column)
{
    const struct mariadb_server *server = &session->server;
    char name[MARIADB_FACT_BYTES];
    int64_t number, sync_wait;
    mariadb_copy_value(name, sizeof(name), mariadb_rows_bytes(rows, 0, column + NAME));
    if (!mariadb_rows_int(rows, 0, column + NUMBER, &number) ||
        (uint64_t)number != server->backend_id ||
        strcmp(name, server->is_galera ? server->node : server->host) != 0)
        return false;
    return !server->is_galera || (mariadb_rows_int(rows, 0, column + SYNC_WAIT, &sync_wait) &&
                                  sync_wait == session->sync_wait);
}

enum server_outcome mariadb_backend_check(struct mariadb_session *session,
                                          const struct mariadb_rows *rows, size_t column,
                                          struct err *err)
{
    if (session->server.backend_id == 0 || is_own_connection(session, rows, column))
        return SERVER_OK;
    mariadb_exchange_drop(session);
    return server_failure_set(SERVER_LOST, session->url.target, "read",
                              SLICE_LIT("a proxy has continued the connection on another one"),
                              err);
}
