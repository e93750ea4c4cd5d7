/* Epochs: rows in berth_epochs, one for each time that the database went back.
 *
 * Of all instances that find it out, the first one that writes inserts the row, in the transaction
 * of its batch. The others see a row that memory did not have. The writer only. */
#ifndef BERTH_STORE_SERVER_EPOCHS_H
#define BERTH_STORE_SERVER_EPOCHS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A row, as far as instances are concerned. All zero: none. */
struct epoch_row {
    int64_t epoch;
    int64_t number; /* of the batch that inserted it */
    int64_t began_us;
};

/* Rows in the order of their epochs, from malloc. All zero: none. */
struct epoch_rows {
    struct epoch_row *at;
    size_t count;
};

void epoch_rows_append(struct epoch_rows *rows, const struct epoch_row *row);
void epoch_rows_free(struct epoch_rows *rows);

enum { EPOCHS_LEFT = 16 };

/* What the next process of the instance has to know. All zero: nothing. */
struct epochs_left {
    struct epoch_row rows[EPOCHS_LEFT]; /* the newest that are known, in their order; epoch 0: no
                                           more. If all are used, older ones are known as well */
    int64_t gone; /* an epoch is due, because that batch is gone; 0: none is */
};

struct epochs {
    int64_t known_below;     /* older epochs are known, too: an earlier process has read them */
    struct epoch_rows known; /* the rows in the state that memory has */
    struct epoch_rows read;  /* and in the snapshot */
    bool is_due;             /* the next batch inserts one */
    int64_t gone;            /* the batch that memory had when that was found out */
    int64_t pending;         /* the number of the row that a batch on its way inserts */
    int64_t began_us;
};

void epochs_free(struct epochs *epochs);

/* The rows in a snapshot, which then belong to the epochs. */
void epochs_note(struct epochs *epochs, struct epoch_rows *rows);

/* The snapshot has the rows that memory has. */
void epochs_note_same(struct epochs *epochs);

/* Memory has the state of the snapshot. `gone`: the batch that it had before, if the database no
 * longer has that one; 0: it has. */
void epochs_take(struct epochs *epochs, int64_t gone);

enum { EPOCH_REASON_BYTES = 512 };

/* A row that is to be inserted. */
struct epoch_insert {
    struct epoch_row row;
    char reason[EPOCH_REASON_BYTES];
};

/* If an epoch is due, the row that the batch with that number is to insert; false: none is. */
bool epochs_begin(struct epochs *epochs, int64_t number, struct epoch_insert *insert);

/* That batch was committed. */
void epochs_commit(struct epochs *epochs, int64_t number);

/* The newest row in memory's state. */
struct epoch_row epochs_newest(const struct epochs *epochs);

struct epochs_left epochs_leave(const struct epochs *epochs);

/* An earlier process has left that. Call it before the first epochs_take(). */
void epochs_restore(struct epochs *epochs, const struct epochs_left *left);

#endif
