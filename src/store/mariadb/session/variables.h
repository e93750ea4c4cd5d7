/* Lists of names and values, as SHOW VARIABLES and SHOW STATUS return them. Any thread. */
#ifndef BERTH_STORE_MARIADB_SESSION_VARIABLES_H
#define BERTH_STORE_MARIADB_SESSION_VARIABLES_H

#include "store/mariadb/session/rows.h"

/* The value of a name, whatever its case, followed by a NUL byte; "" if the list does not have it.
 */
struct slice mariadb_list_value(const struct mariadb_rows *rows, const char *name);

/* The same of a number; 0 if it is none. */
uint64_t mariadb_list_number(const struct mariadb_rows *rows, const char *name);

bool mariadb_value_is_on(struct slice value);

/* Whether a server with that read_only accepts writes. The value may be that of a SELECT, or of
 * SHOW VARIABLES. Without data: it does not. */
bool mariadb_value_accepts_writes(struct slice read_only);

/* read_only or MySQL's super_read_only. */
bool mariadb_list_is_read_only(const struct mariadb_rows *variables);

/* Whether the server is a node of a cluster, MariaDB's or Percona's. */
bool mariadb_list_is_galera(const struct mariadb_rows *variables);

/* Copies as much of it as there is room for, with a NUL byte. */
void mariadb_copy_value(char *out, size_t room, struct slice value);

#endif
