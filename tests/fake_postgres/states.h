/* The committed states of the database, in the order in which they became the newest: its timeline.
 *
 * A commit appends a state that follows from the newest one; when the database goes back, it
 * appends a copy of an earlier one. The last STATES_KEPT states are kept. One thread. */
#ifndef BERTH_FAKE_POSTGRES_STATES_H
#define BERTH_FAKE_POSTGRES_STATES_H

#include "memory_store/tables.h"
#include "store/rows.h"

enum { STATES_KEPT = 64, STATES_LOG_MOST = 1024, STATES_EPOCHS_MOST = 256, MARK_BYTES = 16 };

/* A row of berth_log. It never changes, and is freed with the timeline. */
struct log_line {
    struct log_line *next;
    int64_t number;
    int64_t written_at;    /* as it was sent */
    uint64_t committed_us; /* world time */
    struct slice mark;
    struct slice digest;
    struct slice entries;
};

/* A row of berth_epochs. */
struct epoch_line {
    int64_t epoch;
    int64_t number;
    int64_t began_us; /* since 1970 */
    int64_t gone;     /* the row of berth_log that its reason names */
    uint64_t at;      /* the state that its commit has made */
};

/* What a transaction has written (transactions.h): `keys`, and behind them the keys of the
 * existence of the rows to which it refers. */
struct written {
    const uint64_t *keys;
    size_t key_count, reference_count;
};

struct state {
    uint64_t at;      /* in the timeline, from 0 */
    uint64_t follows; /* the state before it in its history */
    struct tables tables;
    const struct log_line *log[STATES_LOG_MOST]; /* by number */
    unsigned log_count;
    const struct log_line *line; /* of the log, which its commit has added; NULL: none */
    struct epoch_line epochs[STATES_EPOCHS_MOST]; /* in their order */
    unsigned epoch_count;
    int64_t sequences[ROWS_PARENTS]; /* the last number that was given out, by enum rows_table */
    struct written written;          /* by its commit; the keys are from malloc */
};

/* A row that a transaction has inserted, altered or deleted. */
struct row_write {
    enum table table;
    bool is_delete;
    struct row row;
};

struct states {
    struct state kept[STATES_KEPT]; /* number N at N % STATES_KEPT */
    uint64_t newest;
    uint64_t clock;                  /* gives births and revisions */
    int64_t sequences[ROWS_PARENTS]; /* not bound to a commit */
    struct texts texts;
    struct log_line *lines; /* all that ever were */
};

/* One empty state. */
void states_begin(struct states *states);
void states_end(struct states *states);

const struct state *states_newest(const struct states *states);
/* NULL: it is not kept any more. */
const struct state *states_at(const struct states *states, uint64_t at);

/* A copy of the newest state, which becomes the newest after it has been altered: states_append()
 * publishes it. The keys are the caller's until then. */
struct state *states_draft(struct states *states);
void states_append(struct states *states, struct state *draft, struct written written);

/* The database goes back by that many states of its history, its sequences with it. False: these
 * are not kept, or have no rows. */
bool states_go_back(struct states *states, uint64_t by);

/* Executes a transaction's write on tables. */
void states_write(struct tables *tables, const struct row_write *write);

/* After all writes of a transaction: gives each allocation the id of the consumer that has its
 * uuid; 0: none has. */
void states_join(struct tables *tables);

/* A row of the log; `mark`, `digest` and `entries` are copied. */
struct log_line *states_line(struct states *states, int64_t number, int64_t written_at,
                             struct slice mark, struct slice digest, struct slice entries);

/* The row of a number; NULL: there is none. */
const struct log_line *state_line(const struct state *state, int64_t number);

/* The newest row; NULL: the log is empty. */
static inline const struct log_line *state_head(const struct state *state)
{
    return state->log_count == 0 ? NULL : state->log[state->log_count - 1];
}

#endif
