/* Providers whose rows another session has locked for long: a program that was stopped in a
 * transaction, or somebody's psql.
 *
 * A batch waits for a row that it changes, and all instances wait for the batch. So after one has
 * waited in vain, the next one first locks the rows of all its providers without waiting, and fails
 * at once with an error that names the one that is locked; and as long as that one is, so does each
 * batch that changes it. The writer only. */
#ifndef BERTH_STORE_SERVER_LOCKED_ROWS_H
#define BERTH_STORE_SERVER_LOCKED_ROWS_H

#include "base/arena.h"
#include "model/change.h"

enum { LOCKED_ROWS_KNOWN = 64 };

/* All zero: none is known. */
struct locked_rows {
    bool is_unnamed;                /* a batch has waited for a row of which no more is known */
    int64_t ids[LOCKED_ROWS_KNOWN]; /* of providers; 0: free. An old one makes room for a new one */
    unsigned next;
};

/* What a batch asks for: the ids of the providers of these changes. */
struct locked_look {
    const int64_t *ids;
    const size_t *changes;
    size_t count; /* 0: the batch need not look */
};

/* The look of a batch with these changes, in the arena. */
struct locked_look locked_rows_ask(const struct locked_rows *rows, struct arena *arena,
                                   const struct change *changes, size_t count);

/* A batch has waited in vain. */
void locked_rows_wait_ended(struct locked_rows *rows);

/* The look has failed because of the row with that position. Returns the position of the change
 * whose provider is locked; SIZE_MAX: the position is none. */
size_t locked_rows_find(struct locked_rows *rows, const struct locked_look *look, size_t row);

/* The batch was committed: what it asked for is not locked any more. */
void locked_rows_passed(struct locked_rows *rows, const struct locked_look *look);

#endif
