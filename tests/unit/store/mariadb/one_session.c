/* See one_session.h. */
#include "one_session.h"

struct mariadb_session *session;
struct arena *arena;

int one_session_begin(void **state)
{
    (void)state;
    arena = arena_create();
    session = open_session();
    run(session,
        "DROP TABLE IF EXISTS child, parent; "
        "CREATE TABLE parent (id BIGINT PRIMARY KEY, name VARCHAR(20) CHARACTER SET utf8mb3"
        " NOT NULL, number TINYINT, UNIQUE KEY parent_name (name)) ENGINE=InnoDB; "
        "CREATE TABLE child (id INT, parent BIGINT, CONSTRAINT child_parent"
        " FOREIGN KEY (parent) REFERENCES parent (id)) ENGINE=InnoDB");
    return 0;
}

int one_session_end(void **state)
{
    (void)state;
    mariadb_session_destroy(session);
    arena_destroy(arena);
    return 0;
}

enum server_outcome execute(const char *sql, const char *what, struct err *err)
{
    return mariadb_session_run(session, sql, what, soon(), err);
}

void value_is(const char *sql, const char *expected)
{
    const char *value = value_of(arena, session, sql);
    assert_non_null(value);
    assert_string_equal(value, expected);
}

void reconnect(struct server_session_options options)
{
    mariadb_session_destroy(session);
    options.wake_fd = -1;
    session = make_session(url_of_server(arena), options);
    EXPECT(mariadb_session_connect(session, soon(), err), SERVER_OK, NULL);
}
