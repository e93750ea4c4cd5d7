/* See backend.h.
 *
 * A proxy that understands the protocol (ProxySQL, MaxScale) may answer for a server that has gone
 * with another one, on a connection of its own: without wsrep_sync_wait a Galera node then answers
 * what it has, without autocommit what it had, and of another cluster nothing is known. So an
 * answer that is to be the newest state contains the session's sign, a user variable that the
 * server has filled with what tells connections apart. A server numbers its connections from 1 on,
 * hence the name beside the number; and after a restart from 1 on again, hence the setting. Another
 * connection has no sign, and if the proxy repeats there what sets it, another one. Then the
 * session is connected anew, which verifies the rest, and its owner asks again.
 *
 * One variable, because each that a query reads costs the server as much as reading the row. The
 * number is a variable too: proxies answer CONNECTION_ID() themselves. The session's thread. */
#include "store/mariadb/session/backend.h"

#include <stdio.h>
#include <string.h>

#include "store/mariadb/session/exchange.h"
#include "store/mariadb/session/literal.h"
#include "store/mariadb/session/variables.h"
#include "store/server/failure.h"

#define SIGN "@berth_session"

enum { SIGN_BYTES = MARIADB_FACT_BYTES + 32 };

/* "" instead of a name of which only the beginning is known. */
static const char *known_name(const struct mariadb_server *server)
{
    const char *name = server->is_galera ? server->node : server->host;
    return strlen(name) < MARIADB_FACT_BYTES - 1 ? name : "";
}

void mariadb_backend_sign(const struct mariadb_session *session, struct buf *sql)
{
    const struct mariadb_server *server = &session->server;
    if (server->backend_id == 0)
        return;
    buf_printf(sql, "SET " SIGN "=CONCAT_WS('/', @@pseudo_thread_id, %s, %s);",
               server->is_galera ? "@@wsrep_sync_wait*(1-@@wsrep_dirty_reads)" : "0",
               known_name(server)[0] == '\0' ? "''"
               : server->is_galera           ? "@@wsrep_node_name"
                                             : "@@hostname");
}

void mariadb_backend_column(const struct mariadb_session *session, struct buf *sql)
{
    if (session->server.backend_id != 0)
        buf_append_lit(sql, ", " SIGN);
}

static struct slice write_sign(const struct mariadb_session *session, char sign[static SIGN_BYTES])
{
    const struct mariadb_server *server = &session->server;
    int len = snprintf(sign, SIGN_BYTES, "%llu/%d/%s", (unsigned long long)server->backend_id,
                       server->is_galera ? session->sync_wait : 0, known_name(server));
    return (struct slice){sign, (size_t)len};
}

void mariadb_backend_condition(const struct mariadb_session *session, struct buf *sql)
{
    char sign[SIGN_BYTES];
    if (session->server.backend_id == 0) {
        buf_append_char(sql, '1');
        return;
    }
    buf_append_lit(sql, SIGN "<=>");
    mariadb_literal_text(sql, write_sign(session, sign));
}

static bool is_own_connection(const struct mariadb_session *session,
                              const struct mariadb_rows *rows, size_t column)
{
    char sign[SIGN_BYTES];
    return slice_equal(mariadb_rows_bytes(rows, 0, column), write_sign(session, sign));
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
