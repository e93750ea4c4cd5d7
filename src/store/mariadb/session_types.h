/* What a session is created from, and what it knows. */
#ifndef BERTH_STORE_MARIADB_SESSION_TYPES_H
#define BERTH_STORE_MARIADB_SESSION_TYPES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/slice.h"
#include "store/server/lineage.h"

struct mariadb_session;
struct mariadb_url;
struct server_meanwhile;

/* For metrics, of any number of sessions. Any thread. */
struct mariadb_connection_counts {
    _Atomic uint64_t made;
    _Atomic uint64_t failed; /* attempts */
};

enum { MARIADB_SYNC_WAIT_OFF, MARIADB_SYNC_WAIT_READS };

struct mariadb_session_options {
    const struct mariadb_url *url; /* is copied */
    const char *program_name;      /* unless the URL has one; NULL: "berthd" */
    /* Settings of the server for this session; 0: the server's own. */
    int statement_timeout_ms;   /* MySQL: of SELECTs only */
    int idle_in_transaction_ms; /* MariaDB only; in seconds, at least one */
    int lock_timeout_ms;        /* in seconds, at least one */
    int sync_wait; /* wsrep_sync_wait on Galera: MARIADB_SYNC_WAIT_READS makes each read wait until
                      the node has what the cluster committed before it */
    struct server_lineage *lineage; /* of the store; NULL: any server will do */
    int wake_fd; /* a descriptor (eventfd) that ends the waits of mariadb_stream_next(); -1: none */
    struct mariadb_connection_counts *counts; /* outlive the session; NULL: it is not counted */
    struct server_meanwhile *meanwhile;       /* for all waits; the same */
};

enum { MARIADB_FACT_BYTES = 256 };

/* What is known of the server since the last connect. Behind a proxy, another server may execute
 * the next transaction (is_proxied). */
struct mariadb_server {
    bool is_mariadb;  /* otherwise MySQL */
    unsigned version; /* 101119 for MariaDB 10.11.19, 80036 for MySQL 8.0.36 */
    char version_text[MARIADB_FACT_BYTES];
    uint64_t connection_id;
    bool is_proxied; /* the server has another number for the connection than who accepted it */
    bool uses_tls;
    bool is_read_only;          /* read_only, or MySQL's super_read_only */
    bool is_galera;             /* a node of a cluster, MariaDB's or Percona's */
    bool snapshot_isolation;    /* innodb_snapshot_isolation: 1020 instead of a lost update */
    bool rolls_back_on_timeout; /* innodb_rollback_on_timeout: 1205 ends the transaction */
    uint64_t text_bytes_most;   /* of a text that the session sends */
    uint64_t auto_increment_increment; /* the distance of ids: the number of nodes on Galera */
    char host[MARIADB_FACT_BYTES];     /* the server's own name for its machine */
    char node[MARIADB_FACT_BYTES];     /* wsrep_node_name; "" without Galera */
    char binlog_format[16];            /* "" if there is no binary log */
    struct server_id id; /* `started` is different for each start of each server, `system` for each
                            cluster */
};

/* What is known of the last COMMIT that was sent. */
enum mariadb_commit {
    MARIADB_COMMIT_NONE,    /* there was none, or it certainly has not happened and never will */
    MARIADB_COMMIT_SENT,    /* its result has not been read */
    MARIADB_COMMIT_DONE,    /* it has happened */
    MARIADB_COMMIT_UNKNOWN, /* the connection ended before its result, or the server does not say:
                               it may have happened, or may even happen later */
};

/* One or several statements, separated by ";". The server executes them in order, and after a
 * failure none of the rest. */
struct mariadb_text {
    struct slice sql;  /* valid until the text has ended */
    size_t statements; /* their number; 0: any. Needed with ends_with_commit */
    bool ends_with_commit;
    const char *what;         /* for messages: "the database '…' cannot be WHAT"; NULL: "used" */
    size_t result_bytes_most; /* of all rows together; 0: 64 MiB. Not of a stream */
};

#endif
