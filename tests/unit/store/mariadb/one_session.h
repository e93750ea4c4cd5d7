/* A session of each test's own, with two tables to write to. */
#ifndef BERTH_TESTS_UNIT_STORE_MARIADB_ONE_SESSION_H
#define BERTH_TESTS_UNIT_STORE_MARIADB_ONE_SESSION_H

#include "sessions.h"
#include "store/mariadb/session/session_state.h"

extern struct mariadb_session *session;
extern struct arena *arena;

/* Before and after each test. */
int one_session_begin(void **state);
int one_session_end(void **state);

enum server_outcome execute(const char *sql, const char *what, struct err *err);

/* The first value that the statement returns must be this one. */
void value_is(const char *sql, const char *expected);

/* The session becomes one with these options. */
void reconnect(struct server_session_options options);

#define EXPECT(outcome, expected, message)                                                         \
    do {                                                                                           \
        struct attempt tried = begin_attempt();                                                    \
        struct err *err = &tried.err;                                                              \
        enum server_outcome found = (outcome);                                                     \
        expect_outcome(&tried, session, found, expected, message);                                 \
    } while (0)

#endif
