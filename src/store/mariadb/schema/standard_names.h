/* Standard resource classes and traits on MariaDB and MySQL. */
#ifndef BERTH_STORE_MARIADB_SCHEMA_STANDARD_NAMES_H
#define BERTH_STORE_MARIADB_SCHEMA_STANDARD_NAMES_H

#include <stdint.h>

#include "base/err.h"
#include "store/mariadb/session/session.h"
#include "store/mariadb/session/session_settings.h"

#define MARIADB_STANDARD_NAMES_UNDO "ROLLBACK; SET SESSION sql_mode='" MARIADB_SQL_MODE "'"

/* Inserts those that the database lacks, in one transaction and in the order of data/; without any,
 * only reads. Upstream does this at every start, whether or not the schema is synchronised. If
 * another process does the same meanwhile, it is refused (MARIADB_DUPLICATE or MARIADB_CONFLICT).
 * After any failure, the text MARIADB_STANDARD_NAMES_UNDO puts the session back, if it is open. */
enum server_outcome mariadb_standard_names_insert(struct mariadb_session *session,
                                                  uint64_t deadline_us,
                                                  struct err *err) BERTH_MUST_CHECK;

#endif
