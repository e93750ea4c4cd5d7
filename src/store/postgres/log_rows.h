/* The rows of berth_log: the order of all batches, and the proof that the database still has them.
 *
 * Row n + 1 contains the digest of row n. A state of the database is therefore known by the number,
 * the mark and the digest of its newest row: two histories that differ in any batch differ in all
 * later digests. */
#ifndef BERTH_STORE_POSTGRES_LOG_ROWS_H
#define BERTH_STORE_POSTGRES_LOG_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slice.h"
#include "store/postgres/rows.h"
#include "store/store.h"

enum { LOG_MARK_LEN = 16, LOG_DIGEST_LEN = 16 };

/* A state: the newest row. All zero: the log is empty. */
struct log_state {
    int64_t number;
    unsigned char mark[LOG_MARK_LEN];     /* of the batch; unique */
    unsigned char digest[LOG_DIGEST_LEN]; /* of the row, for the next one */
};

/* A row as it is stored. */
struct log_row {
    int64_t number;
    struct slice mark;
    struct slice before; /* the digest of the row before; of the first row: zeros */
    struct slice entries;
};

/* The row at that position of a result, whose first columns are number, mark, digest and entries.
 * False: it has no number. */
bool log_row_read(const struct pg_rows *rows, size_t at, struct log_row *row);

/* The state whose newest row this is. False: another program wrote the row. */
bool log_row_state(const struct log_row *row, struct log_state *state);

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
extern const char LOG_NEWEST_UNLESS_KNOWN[];
enum {
    LOG_NEWEST_COLUMNS = 5,
    LOG_NEWEST_EPOCH = 5, /* only in the second one */
    LOG_NEWEST_UNLESS_KNOWN_COLUMNS,
};

enum log_newest {
    LOG_NEWEST_KNOWN,
    LOG_NEWEST_FOREIGN, /* another program wrote the row */
    LOG_NEWEST_STANDBY, /* a standby may be behind: what it has is not the newest state */
};

/* The state in the result of one of these statements. `known`: the state with the mark, of the
 * second one; NULL: the result is that of the first one. */
enum log_newest log_newest_state(const struct pg_rows *rows, const struct log_state *known,
                                 struct log_state *state);

bool log_state_equal(const struct log_state *a, const struct log_state *b);

/* `taken`: of the foreign_view (foreign_rows.h) that memory has with that state. */
struct store_stamp log_state_stamp(const struct log_state *state, uint32_t taken);
/* One that no state of memory has. */
struct store_stamp log_stamp_of_none(void);

#endif
