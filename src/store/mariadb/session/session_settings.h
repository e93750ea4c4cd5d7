/* Settings of the server that the session relies on, and facts about the server. */
#ifndef BERTH_STORE_MARIADB_SESSION_SESSION_SETTINGS_H
#define BERTH_STORE_MARIADB_SESSION_SESSION_SETTINGS_H

#include "base/arena.h"
#include "store/mariadb/session/rows.h"
#include "store/mariadb/session/session_types.h"

/* The SQL mode of all of berth's statements: TRADITIONAL, and a backslash in a text is just a
 * backslash. */
#define MARIADB_SQL_MODE                                                                           \
    "STRICT_TRANS_TABLES,STRICT_ALL_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,"                          \
    "ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,NO_BACKSLASH_ESCAPES"

/* The end of every transaction that is not committed: on clusters autocommit was off. */
#define MARIADB_ROLLBACK "ROLLBACK;SET autocommit=1"

/* The results of the text. */
enum {
    MARIADB_SETTINGS_NAMES,
    MARIADB_SETTINGS_SET,
    MARIADB_SETTINGS_TRANSACTION,
    MARIADB_SETTINGS_STATUS,
    MARIADB_SETTINGS_VARIABLES,
    MARIADB_SETTINGS_CONNECTION,
    MARIADB_SETTINGS_RESULTS,
};

/* A text that applies them and asks for the facts. It is accepted by every supported version of
 * MariaDB and MySQL. In the arena. */
struct slice mariadb_settings_text(const struct server_session_options *options,
                                   struct arena *arena);

/* Reads the facts from the results. NULL: this server can be used. Otherwise one line in the arena,
 * and *passes: it may be used later. */
const char *mariadb_settings_read(const struct mariadb_rows rows[static MARIADB_SETTINGS_RESULTS],
                                  uint64_t accepted_id, struct mariadb_server *server,
                                  struct arena *arena, bool *passes);

/* Appends statements, each with a ";" after it, that set wsrep_sync_wait and wsrep_dirty_reads, if
 * the session's values are other ones. */
void mariadb_settings_sync_wait(int sync_wait, const struct mariadb_rows *variables,
                                struct buf *sql);

#endif
