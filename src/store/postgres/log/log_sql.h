/* The statements that read rows of the log, and their results. Any thread. */
#ifndef BERTH_STORE_POSTGRES_LOG_LOG_SQL_H
#define BERTH_STORE_POSTGRES_LOG_LOG_SQL_H

#include "store/postgres/session/rows.h"
#include "store/server/epochs.h"
#include "store/server/log_rows.h"

#define LOG_NEWEST_FROM                                                                            \
    " LEFT JOIN LATERAL (SELECT number, mark, digest, entries FROM berth_log"                      \
    " ORDER BY number DESC LIMIT 1) l ON true"
/* Reads the newest row, and whether the server is a standby: one row, of NULLs if the log is
 * empty. */
#define LOG_NEWEST_SQL                                                                             \
    "SELECT l.number, l.mark, l.digest, l.entries, pg_is_in_recovery() FROM (SELECT 1) "           \
    "one" LOG_NEWEST_FROM
/* The same with the newest epoch, and without both and the entries if the row has that mark:
 * whoever knows the row needs none of them. */
#define LOG_NEWEST_UNLESS_KNOWN_SQL                                                                \
    "SELECT l.number, l.mark, l.digest, CASE WHEN l.mark = $1::bytea THEN NULL ELSE l.entries END" \
    " AS entries, pg_is_in_recovery(), CASE WHEN l.mark = $1::bytea THEN NULL"                     \
    " ELSE (SELECT max(epoch) FROM berth_epochs) END AS epoch FROM (SELECT 1) one" LOG_NEWEST_FROM
enum {
    LOG_NEWEST_COLUMNS = 5,
    LOG_NEWEST_UNLESS_KNOWN_COLUMNS, /* the last one is the epoch */
};

/* Moves a result whose first columns are number, mark, digest and entries. */
void pg_log_rows(struct pg_rows *result, struct log_rows *rows);

/* The same for the result of one of the statements above. */
void pg_log_newest(struct pg_rows *result, struct log_newest *newest);

/* An expression for all epochs, as they are in a snapshot: "1:500:1795667861001792,2:…", which are
 * epoch, number of the batch and time. NULL if there are none. */
#define EPOCHS_COLUMN                                                                              \
    "(SELECT string_agg(epoch || ':' || number || ':' ||"                                          \
    " (extract(epoch FROM began_at) * 1000000)::bigint, ',' ORDER BY epoch) FROM berth_epochs)"
void pg_epoch_rows(struct slice text, struct epoch_rows *rows);

#endif
