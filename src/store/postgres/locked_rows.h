/* Providers whose rows another session has locked for long: a program that was stopped in a
 * transaction, or somebody's psql.
 *
 * A batch waits for a row that it changes, and all instances wait for the batch. So after one has
 * waited in vain, the next one first locks the rows of all its providers without waiting, and fails
 * at once with an error that names the one that is locked; and as long as that one is, so does each
 * batch that changes it. The writer only. */
#ifndef BERTH_STORE_POSTGRES_LOCKED_ROWS_H
#define BERTH_STORE_POSTGRES_LOCKED_ROWS_H

#include "base/arena.h"
#include "model/change.h"
#include "store/postgres/array.h"

/* Fails if one of the rows is locked. Its parameter: their ids. */
extern const char LOCKED_ROWS_SQL[];

enum { LOCKED_ROWS_KNOWN = 64 };

/* All zero: none is known. */
struct locked_rows {
    bool is_unnamed;                /* a batch has waited for a row of which no more is known */
    int64_t ids[LOCKED_ROWS_KNOWN]; /* of providers; 0: free. An old one makes room for a new one */
    unsigned next;
};

/* What a batch asks for: its changes, in the order of the parameter. */
struct locked_look {
    size_t *changes;
    size_t count;
};

/* Fills `ids`, the parameter, and the look, in the arena. 0: the batch need not look. */
size_t locked_rows_ask(const struct locked_rows *rows, struct locked_look *look,
                       struct arena *arena, const struct change *changes, size_t count,
                       struct pg_array *ids);

/* A batch has waited in vain. */
void locked_rows_wait_ended(struct locked_rows *rows);

/* The statement has failed. Returns the position of the change whose provider is locked; SIZE_MAX:
 * the message names none. */
size_t locked_rows_find(struct locked_rows *rows, const struct locked_look *look,
                        const struct change *changes, struct slice message);

/* Whose row a change changes; 0: no provider's that is there. */
int64_t locked_rows_provider(const struct change *change);

/* The batch was committed: what it asked for is not locked any more. */
void locked_rows_passed(struct locked_rows *rows, const struct locked_look *look,
                        const struct change *changes);

#endif
