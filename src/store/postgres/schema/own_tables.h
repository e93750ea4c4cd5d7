/* berth's own tables on PostgreSQL: berth_log, berth_epochs, berth_instances, berth_foreign and the
 * tables of records (store/record_tables.h).
 *
 * They are beside upstream's, and nothing refers from one to the other, so that the Python service
 * and its tool work as without them. Dropping all of them removes berth from a database. Ids are
 * bigint, from an identity column's sequence TABLE_id_seq. A unique constraint is called
 * uniq_TABLE0COLUMN, as upstream's are. */
#ifndef BERTH_STORE_POSTGRES_SCHEMA_OWN_TABLES_H
#define BERTH_STORE_POSTGRES_SCHEMA_OWN_TABLES_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "store/postgres/session/session.h"

/* Statements in an arena. All zero: none. */
struct own_statements {
    const char **sql;
    size_t count;
    size_t capacity;
};

/* Appends the statements that create the tables, columns and unique constraints that the database
 * lacks, in an order in which they can be executed. Columns that only a newer berth knows stay. */
enum server_outcome own_tables_compare(struct pg_session *session, struct arena *arena,
                                       struct own_statements *statements, uint64_t deadline_us,
                                       struct err *err) BERTH_MUST_CHECK;

#endif
