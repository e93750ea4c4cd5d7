/* Sessions on the server that tests/databases/with_postgres.py has started for this program. */
#ifndef BERTH_TESTS_UNIT_STORE_POSTGRES_FIXTURE_H
#define BERTH_TESTS_UNIT_STORE_POSTGRES_FIXTURE_H

#include "base/arena.h"
#include "store/postgres/session/pipeline.h"
#include "store/postgres/session/session.h"
#include "unit.h"

/* A time that is far enough in the future for everything that is expected to succeed. */
uint64_t soon(void);

uint64_t in_ms(unsigned ms);

/* The URL of the environment, or the same with another host and port, and more text at its end. */
const char *url_of_server(struct arena *arena);
const char *url_with(struct arena *arena, const char *host, int port, const char *more);

/* A session that is not connected. */
struct pg_session *make_session(const char *url, struct server_session_options options);

/* Connected to the server, with the defaults. */
struct pg_session *open_session(void);

/* Executes a statement that must succeed. */
void run(struct pg_session *session, const char *sql);

/* The text of the first value that a statement returns, in the arena; NULL if there is none. */
const char *value_of(struct arena *arena, struct pg_session *session, const char *sql);

/* The outcome of an operation, with its message. */
struct attempt {
    struct arena *arena;
    struct err err;
};
struct attempt begin_attempt(void);

/* The outcome must be this one, and the message this one after "the database 'TARGET' cannot be ";
 * NULL: no message. */
void expect_outcome(struct attempt *attempt, const struct pg_session *session,
                    enum server_outcome outcome, enum server_outcome expected, const char *message);

#endif
