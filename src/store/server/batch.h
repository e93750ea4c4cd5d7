/* A batch as the store hands it to a server, and why the server has refused it. */
#ifndef BERTH_STORE_SERVER_BATCH_H
#define BERTH_STORE_SERVER_BATCH_H

#include "store/server/epochs.h"
#include "store/server/failure.h"
#include "store/server/locked_rows.h"
#include "store/server/log_rows.h"
#include "store/waves.h"

/* One transaction: the lock of batches, the row of the log, a look for locked rows, the changes, an
 * epoch, COMMIT. All of it stays as it is until the outcome is known. */
struct server_batch {
    bool has_lock;                    /* the session's transaction has the lock already */
    const struct log_row *row;        /* number, mark, entries, and the digest of the row before */
    const struct log_state *before;   /* whose row must be there, or the batch is refused */
    const struct locked_look *look;   /* for these rows; without any: there is none */
    const struct change *changes;     /* of the bundles */
    const struct waves *waves;        /* the changes, in the order of their execution */
    const struct epoch_insert *epoch; /* NULL: none is inserted */
};

/* The part of a batch that the server has refused. */
enum server_part {
    SERVER_PART_OTHER,
    SERVER_PART_LOG,  /* the row of the log: somebody else has written one, or the database has not
                         the row before */
    SERVER_PART_LOOK, /* a row is locked */
    SERVER_PART_CHANGES,
};

struct server_refusal {
    enum server_part part;
    enum server_reason reason;
    size_t row;    /* SERVER_PART_LOOK: its position in the look; SIZE_MAX: not known */
    size_t change; /* SERVER_PART_CHANGES: the position of the change whose row it is;
                      STORE_UNNAMED: the server does not tell */
    char columns[sizeof(((struct store_refusal *)NULL)->columns)]; /* of a duplicate: the name of
                      the constraint, or "" */
};

#endif
