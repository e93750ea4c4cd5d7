/* The rows of berth_log: the order of all batches, and the proof that the database still has them.
 *
 * Row n + 1 contains the digest of row n. A state of the database is therefore known by the number,
 * the mark and the digest of its newest row: two histories that differ in any batch differ in all
 * later digests. */
#ifndef BERTH_STORE_SERVER_LOG_ROWS_H
#define BERTH_STORE_SERVER_LOG_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slice.h"
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
    int64_t number; /* 0: it has none, as only another program could have written it */
    struct slice mark;
    struct slice before; /* the digest of the row before; of the first row: zeros */
    struct slice entries;
};

/* Rows in their order, with a server's answer that their texts are part of. All zero: none. */
struct log_rows {
    struct log_row *at; /* from malloc */
    size_t count;
    void *answer; /* NULL: there was none */
    void (*free_answer)(void *answer);
};

void log_rows_free(struct log_rows *rows);

/* The state whose newest row this is. False: another program wrote the row. */
bool log_row_state(const struct log_row *row, struct log_state *state);

/* What a server answers when it is asked for the newest row. All zero: it has not answered. */
struct log_newest {
    struct log_rows rows; /* that row; none: the log is empty */
    bool is_primary;      /* otherwise it may be behind: what it has need not be the newest state */
    bool is_known;        /* the row has the mark that was asked about, and comes without entries */
    int64_t epoch; /* the newest; 0: there is none, or the row is known, or it was not asked for */
    int64_t seen;  /* the highest number that was read, also if the rest cannot be used; 0: none */
};

enum log_found {
    LOG_FOUND_STATE,
    LOG_FOUND_FOREIGN, /* another program wrote the row */
    LOG_FOUND_STANDBY, /* the server is not the primary */
};

/* The state in an answer. `known`: that with the mark that was asked about; NULL: none was. */
enum log_found log_newest_state(const struct log_newest *newest, const struct log_state *known,
                                struct log_state *state);

bool log_state_equal(const struct log_state *a, const struct log_state *b);

/* `taken`: of the foreign_view (foreign_view.h) that memory has with that state. */
struct store_stamp log_state_stamp(const struct log_state *state, uint32_t taken);
/* One that no state of memory has. */
struct store_stamp log_stamp_of_none(void);

#endif
