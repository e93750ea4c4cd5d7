/* Sessions on the server that tests/databases/with_mariadb.py has started for this program. */
#ifndef BERTH_TESTS_UNIT_STORE_MARIADB_SESSIONS_H
#define BERTH_TESTS_UNIT_STORE_MARIADB_SESSIONS_H

#include "base/arena.h"
#include "store/mariadb/session/session.h"
#include "unit.h"

/* A time that is far enough in the future for everything that is expected to succeed. */
uint64_t soon(void);

uint64_t in_ms(unsigned ms);

/* The URL of the environment, or the same with another host and port, and more text at its end. */
const char *url_of_server(struct arena *arena);
const char *url_with(struct arena *arena, const char *host, int port, const char *more);
int port_of_server(struct arena *arena);

/* A session that is not connected. */
struct mariadb_session *make_session(const char *url, struct server_session_options options);

/* Connected to the server, with the defaults; as its root user. */
struct mariadb_session *open_session(void);
struct mariadb_session *open_admin(void);

/* On another node, once it has the database that this one has made. */
struct mariadb_session *open_on_node(const char *url);

/* Executes a text that must succeed. */
void run(struct mariadb_session *session, const char *sql);

/* Connected to the server's database, which is made anew with upstream's tables and that character
 * set. */
struct mariadb_session *open_upstream(const char *charset);

/* The same with the newest revision, and berth's own tables. */
struct mariadb_session *open_served(const char *charset);

/* The text of the first value that a statement returns, in the arena; NULL if there is none. */
const char *value_of(struct arena *arena, struct mariadb_session *session, const char *sql);

/* The outcome of an operation, with its message. */
struct attempt {
    struct arena *arena;
    struct err err;
};
struct attempt begin_attempt(void);

/* The outcome must be this one, and the message this one after "the database 'TARGET' cannot be ";
 * NULL: no message. */
void expect_outcome(struct attempt *attempt, const struct mariadb_session *session,
                    enum server_outcome outcome, enum server_outcome expected, const char *message);

#endif
