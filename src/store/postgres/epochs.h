/* Epochs: rows in berth_epochs, one for each time that the database went back.
 *
 * Of all instances that find it out, the first one that writes inserts the row, in the transaction
 * of its batch. The others see a row that memory did not have. Writer thread only. */
#ifndef BERTH_STORE_POSTGRES_EPOCHS_H
#define BERTH_STORE_POSTGRES_EPOCHS_H

#include "base/buf.h"
#include "store/postgres/pipeline.h"
#include "store/postgres/session.h"

struct epochs {
    struct buf known; /* the rows as text, in the state that memory has */
    struct buf read;  /* and in the snapshot */
    bool is_due;      /* the next batch inserts one */
    int64_t gone;     /* the batch that memory had when that was found out */
    int64_t pending;  /* the number of the row that a batch on its way inserts */
    int64_t began_us;
};

void epochs_free(struct epochs *epochs);

/* An expression for the rows as they are in a snapshot. */
#define EPOCHS_COLUMN                                                                              \
    "(SELECT string_agg(epoch || ':' || number || ':' ||"                                          \
    " (extract(epoch FROM began_at) * 1000000)::bigint, ',' ORDER BY epoch) FROM berth_epochs)"

/* Its value in a snapshot; without data: there are none. */
void epochs_note(struct epochs *epochs, struct slice rows);

/* Memory has the state of the snapshot. `gone`: the batch that it had before, if the database no
 * longer has that one; 0: it has. */
void epochs_take(struct epochs *epochs, int64_t gone);

/* If one is due, appends its insert to the pipeline of the batch with that number. */
enum pg_outcome epochs_queue(struct epochs *epochs, struct pg_session *session, int64_t number,
                             struct err *err) BERTH_MUST_CHECK;

/* That batch was committed. */
void epochs_commit(struct epochs *epochs, int64_t number);

/* The number of the newest epoch in memory's state; 0: there is none. */
int64_t epochs_newest(const struct epochs *epochs);

#endif
