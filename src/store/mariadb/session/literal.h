/* Values as they are written in the text of a statement.
 *
 * A literal means the same whatever the session's sql_mode is. The session's character set has to
 * be utf8mb4. Each function appends one literal; NULL is one, too. */
#ifndef BERTH_STORE_MARIADB_SESSION_LITERAL_H
#define BERTH_STORE_MARIADB_SESSION_LITERAL_H

#include "base/buf.h"

/* Any valid UTF-8, also with U+0000. Without data: NULL. */
void mariadb_literal_text(struct buf *sql, struct slice text);

/* A text that is compared with a column of a joined table: whatever the column's character set and
 * collation are, the server converts the text and not the column, so that an index can be used.
 * This needs ASCII; any other text is written so that the comparison is right, but may be slow. */
void mariadb_literal_compared(struct buf *sql, struct slice text);

/* The most bytes that either literal of the text takes. */
size_t mariadb_literal_bytes(struct slice text);

/* Binary. Without data: NULL; the second: empty. */
void mariadb_literal_binary(struct buf *sql, struct slice bytes);
void mariadb_literal_blob(struct buf *sql, struct slice bytes);

void mariadb_literal_int(struct buf *sql, int64_t value);

/* 0: NULL. */
void mariadb_literal_reference(struct buf *sql, int64_t id);

/* A finite number. The server reads exactly this double. */
void mariadb_literal_double(struct buf *sql, double value);

/* Microseconds since 1970 UTC; 0: NULL. The first is for DATETIME, and cut to whole seconds,
 * because MariaDB would cut a fraction and MySQL round it. The second is for DATETIME(6). */
void mariadb_literal_second(struct buf *sql, int64_t us);
void mariadb_literal_instant(struct buf *sql, int64_t us);

#endif
