/* What tests of store/server/ do to a database behind the store's back, on each kind of server: see
 * fixture.h for how a test's database comes about. */
#ifndef BERTH_TESTS_UNIT_STORE_SERVER_PEER_H
#define BERTH_TESTS_UNIT_STORE_SERVER_PEER_H

#include "store/fixture.h"

#include "store/server/dialects.h"
#include "store/server/store_internal.h"

/* The statement for the server that the tests run on. */
const char *peer_sql(const char *postgres, const char *mariadb);

/* A literal of bytes, from hexadecimal digits, or from a text of ASCII. */
const char *peer_hex(struct fixture *fixture, const char *digits);
const char *peer_bytes(struct fixture *fixture, const char *text);

/* On MariaDB and MySQL: a table of a FROM clause, whose column `seq` has that many numbers. */
const char *peer_numbers(struct fixture *fixture, int64_t first, int64_t count);

/* A time that is far enough in the future for everything that is expected to succeed. */
uint64_t peer_soon(void);

/* ---- sessions of another program ---- */

struct server_session *peer_connect(struct fixture *fixture);

/* Executes a statement, on MariaDB also several, that must succeed. */
void peer_run(struct fixture *fixture, struct server_session *session, const char *sql);

/* The same; the number that the first value of the last result is, 0 if there is none. */
int64_t peer_number(struct fixture *fixture, struct server_session *session, const char *sql);

/* The same; false: it failed. */
bool peer_try(struct fixture *fixture, struct server_session *session, const char *sql);

/* As peer_number() on a connection of its own, committed. */
int64_t peer_execute(struct fixture *fixture, const char *sql);

/* The first row that the statement returns must be this one, with its columns separated by "|". */
void peer_expect(struct fixture *fixture, const char *sql, const char *row);

/* ---- batches in steps ---- */

/* Sends a batch that inserts a project: STORE_PENDING. */
enum store_result peer_commit_project(struct fixture *fixture, struct store *store, int64_t id,
                                      const char *name);
/* What became of it, or STORE_PENDING: what the answer means is being found out. */
enum store_result peer_await_decision(struct fixture *fixture, struct store *store);
/* What became of it in the end. */
enum store_result peer_await_last(struct fixture *fixture, struct store *store);

/* ---- what else happens to a server ---- */

/* The server's number for the connection. */
int64_t peer_connection(const struct server_session *session);

/* Ends another session's connection, and waits until it has ended. */
void peer_terminate(struct fixture *fixture, const struct server_session *session);

/* Waits until as many connections to the database wait for a lock, or for their commit to go on. */
void peer_await_queue(struct fixture *fixture, int count);

/* From now on, the server accepts no writes of new connections, or does so again. */
void peer_set_standby(struct fixture *fixture, bool is_standby);

/* The next transaction that writes a trait is stuck in its COMMIT, until the store's session is
 * terminated or commits go on. */
struct server_session *peer_hold_commits(struct fixture *fixture);
void peer_release_commits(struct fixture *fixture, struct server_session *holder);

/* A session that is in a transaction with the lock of batches. */
struct server_session *peer_hold_lock(struct fixture *fixture);
/* It leaves the lock to others, or takes it again. */
void peer_leave_lock(struct fixture *fixture, struct server_session *holder);
void peer_take_lock(struct fixture *fixture, struct server_session *holder);

/* A session that is in a transaction, and has locked the provider's row. */
struct server_session *peer_lock_row(struct fixture *fixture, int64_t provider);

/* Gives out only ids after that one. */
void peer_set_last_id(struct fixture *fixture, enum store_table table, int64_t last);

#endif
