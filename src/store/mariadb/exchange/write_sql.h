/* The statements that write a bundle, as text.
 *
 * They are part of one text that is sent as a whole, in which an error keeps everything after it
 * from being executed, COMMIT included. What must find its rows is followed by a check: a statement
 * that fails unless the one before it changed as many rows as the bundle has. The session needs
 * CLIENT_MULTI_STATEMENTS and CLIENT_FOUND_ROWS, and a strict sql_mode. */
#ifndef BERTH_STORE_MARIADB_EXCHANGE_WRITE_SQL_H
#define BERTH_STORE_MARIADB_EXCHANGE_WRITE_SQL_H

#include "store/mariadb/exchange/join_sql.h"

/* The most bytes that the row of the change takes in a text. */
size_t mariadb_write_bytes(const struct change *change);

/* The most bytes that a statement takes besides its rows, with its check. */
enum { MARIADB_WRITE_FRAME = 8192 };

/* How many rows, and bytes of them, one statement may have. */
struct bundle_limit mariadb_write_limit(enum bundle_kind kind);

/* Appends the statements that write the chunk, each with a ";" after it, and returns their number:
 * that of the results that the server sends if none fails. The chunk is within the limit of its
 * kind. */
unsigned mariadb_write_append(const struct bundle *chunk, const struct change *changes,
                              const struct mariadb_indexes *indexes, struct buf *sql);

/* Whether the result at that position among those of a chunk, from 0, is that of a check. If it is
 * an error, at least one row was not there in the form that memory has. */
bool mariadb_write_is_check(unsigned result);

/* "SET @berth = …;", a statement that fails unless the one before it changed that many rows. */
void mariadb_write_append_check(size_t rows, struct buf *sql);

#endif
