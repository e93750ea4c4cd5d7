/* berth's own tables on MariaDB and MySQL: berth_log, berth_epochs, berth_instances, berth_foreign,
 * berth_locks and the tables of records (store/record_tables.h).
 *
 * They are beside upstream's, and nothing refers from one to the other, so that the Python service
 * and its tool work as without them. Dropping all of them removes berth from a database. Texts are
 * utf8mb4, whatever the database's character set is. A unique key is called TABLE_COLUMN. */
#ifndef BERTH_STORE_MARIADB_SCHEMA_OWN_TABLES_H
#define BERTH_STORE_MARIADB_SCHEMA_OWN_TABLES_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "store/mariadb/session/session.h"

/* Statements in an arena. All zero: none. */
struct mariadb_own_statements {
    const char **sql;
    size_t count;
    size_t capacity;
};

/* Appends the statements that create the tables, columns, unique keys and rows of locks that the
 * database lacks, in an order in which they can be executed. Columns that only a newer berth knows
 * stay. If another process creates them meanwhile, a statement fails with 1050, 1060, 1061 or 1062,
 * and is done. */
enum server_outcome mariadb_own_tables_compare(struct mariadb_session *session, struct arena *arena,
                                               struct mariadb_own_statements *statements,
                                               uint64_t deadline_us,
                                               struct err *err) BERTH_MUST_CHECK;

#endif
