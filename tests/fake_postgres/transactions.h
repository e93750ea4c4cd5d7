/* The transactions of the fake server's sessions: what they see, what they write, and whom they
 * wait for. One thread. */
#ifndef BERTH_FAKE_POSTGRES_TRANSACTIONS_H
#define BERTH_FAKE_POSTGRES_TRANSACTIONS_H

#include "server.h"

enum outcome { OUTCOME_DONE, OUTCOME_BLOCKED, OUTCOME_ERROR };

/* One statement that a session executes. */
struct call {
    struct session *session;
    const char *sql;
    const struct message *message;
    struct pg_result *result; /* with OUTCOME_DONE and OUTCOME_ERROR */
};

/* Sets the result; returns OUTCOME_ERROR. */
enum outcome call_fail(struct call *call, const char *sqlstate, const char *format, ...)
    BERTH_PRINTF(3, 4);

/* What a statement of the session sees. Valid until the next call of this function. */
struct view {
    const struct tables *tables;
    const struct state *state; /* without the transaction's own rows */
    const struct transaction *own;
};
struct view transaction_view(struct session *session);
/* The row of the log; NULL: it does not see one. */
const struct log_line *view_line(const struct view *view, int64_t number);
const struct log_line *view_head(const struct view *view);

/* Takes keys for the transaction. OUTCOME_BLOCKED: another one on the same node has one of them,
 * and none is taken. OUTCOME_ERROR: that one waits for this one. */
enum outcome transaction_take(struct call *call, const uint64_t *keys, size_t count);
/* Whether another transaction on the same node has one of the keys. */
bool transaction_is_taken(const struct call *call, const uint64_t *keys, size_t count);
/* The same for rows that the transaction refers to: other transactions may alter them and refer to
 * them, but not delete them. `keys`: those of their existence. */
enum outcome transaction_refer(struct call *call, const uint64_t *keys, size_t count);
/* The same for the advisory lock. */
enum outcome transaction_lock(struct call *call);

/* The keys of a row: that of its primary key first. Returns their number. */
enum { ROW_KEYS = 4 };
size_t row_keys(enum table table, const struct change *image, uint64_t keys[static ROW_KEYS]);
/* Another row that has one of the keys of this one: unique values are keys. Returns the position of
 * the key, of which the first is the primary one; ROW_KEYS: there is no such row. */
size_t row_find_duplicate(const struct rows *rows, const struct row_write *write);
/* Foreign keys. The keys of the existence of the rows to which a written row refers: of a provider,
 * its parent and root; of a provider's trait, both. `before`: the row as it was; NULL: it is new. A
 * reference that was there before, or to the row itself, does not count. Returns their number. */
enum { ROW_REFERENCES = 2 };
size_t row_references(enum table table, const struct change *before, const struct change *image,
                      uint64_t keys[static ROW_REFERENCES]);
/* The key of the existence of a row to which others may refer. A transaction that deletes the row
 * takes it. 0: the table is not referred to. */
uint64_t row_existence_key(enum table table, const struct change *image);
uint64_t line_key(int64_t number);
uint64_t epoch_key(int64_t epoch);

void transaction_begin(struct session *session, bool is_explicit, bool is_snapshot);
void transaction_write(struct session *session, const struct row_write *write);
void transaction_log(struct session *session, struct log_line *line);

/* OUTCOME_ERROR: it is rolled back, because of a commit on another node. */
enum outcome transaction_commit(struct call *call);
void transaction_roll_back(struct session *session);

/* The node has applied a state: transactions that have written the same cannot be committed. */
void transaction_applied(int node, const struct state *state);

#endif
