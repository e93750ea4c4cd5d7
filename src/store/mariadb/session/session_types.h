/* What a session is created from, and what it knows. */
#ifndef BERTH_STORE_MARIADB_SESSION_SESSION_TYPES_H
#define BERTH_STORE_MARIADB_SESSION_SESSION_TYPES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slice.h"
#include "store/server/session.h"

struct mariadb_session;
struct mariadb_url;
struct server_meanwhile;

/* wsrep_sync_wait on Galera: whether each read, and the begin of each transaction, waits until the
 * node has what the cluster committed before it. */
enum { MARIADB_SYNC_WAIT_OFF, MARIADB_SYNC_WAIT_READS };

enum { MARIADB_FACT_BYTES = 256 };

/* What is known of the server since the last connect. Behind a proxy, another server may execute
 * the next transaction (is_proxied). */
struct mariadb_server {
    bool is_mariadb;  /* otherwise MySQL */
    unsigned version; /* 101119 for MariaDB 10.11.19, 80036 for MySQL 8.0.36 */
    char version_text[MARIADB_FACT_BYTES];
    uint64_t connection_id;
    uint64_t backend_id; /* the same as the server itself numbers it, behind whatever proxy; 0: it
                            does not say */
    bool is_proxied;     /* the server has another number for the connection than who accepted it */
    bool uses_tls;
    bool is_read_only;                 /* read_only, or MySQL's super_read_only */
    bool is_galera;                    /* a node of a cluster, MariaDB's or Percona's */
    bool rolls_back_on_timeout;        /* innodb_rollback_on_timeout: 1205 ends the transaction */
    uint64_t text_bytes_most;          /* of a text that the session sends */
    uint64_t auto_increment_increment; /* the distance of ids: the number of nodes on Galera */
    char host[MARIADB_FACT_BYTES];     /* the server's own name for its machine */
    char node[MARIADB_FACT_BYTES];     /* wsrep_node_name; "" without Galera */
    char binlog_format[16];            /* "" if there is no binary log */
    struct server_id id; /* `started` is different for each start of each server, but the same for
                            all nodes of a Galera cluster, of which any will do; `system` is
                            different for each cluster, and without Galera for each server */
};

/* One or several statements, separated by ";". The server executes them in order, and after a
 * failure none of the rest. */
struct mariadb_text {
    struct slice sql;  /* valid until the text has ended */
    size_t statements; /* their number; 0: any */
    size_t commit; /* which of them is COMMIT, from 1; 0: none. Those after it are checks of it that
                      fail with 1242 if it has certainly not happened, and what cannot fail. If
                      base.commit stays SERVER_COMMIT_SENT, the check has to be made again */
    const char *what;         /* for messages: "the database '…' cannot be WHAT"; NULL: "used" */
    size_t result_bytes_most; /* of all rows together; 0: 64 MiB. Not of a stream */
};

#endif
