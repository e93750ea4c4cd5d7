/* See epochs.h. A database that went back may have lost rows as well, and epochs are numbered again
 * then; so a row is only known if all of it is. */
#include "store/server/epochs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "base/clock.h"

enum { HOST_BYTES = 256 };

/* There is a row for each time that a database went back: few, and none most of the time. */
void epoch_rows_append(struct epoch_rows *rows, const struct epoch_row *row)
{
    rows->at = reallocarray(rows->at, rows->count + 1, sizeof(*rows->at));
    check(rows->at != NULL);
    rows->at[rows->count++] = *row;
}

void epoch_rows_free(struct epoch_rows *rows)
{
    free(rows->at);
    *rows = (struct epoch_rows){0};
}

static void copy_rows(struct epoch_rows *to, const struct epoch_rows *from)
{
    epoch_rows_free(to);
    for (size_t i = 0; i < from->count; i++)
        epoch_rows_append(to, &from->at[i]);
}

void epochs_free(struct epochs *epochs)
{
    epoch_rows_free(&epochs->known);
    epoch_rows_free(&epochs->read);
}

void epochs_note(struct epochs *epochs, struct epoch_rows *rows)
{
    epoch_rows_free(&epochs->read);
    epochs->read = *rows;
    *rows = (struct epoch_rows){0};
}

void epochs_note_same(struct epochs *epochs)
{
    copy_rows(&epochs->read, &epochs->known);
}

static bool is_in(const struct epoch_row *row, const struct epoch_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++)
        if (memcmp(&rows->at[i], row, sizeof(*row)) == 0)
            return true;
    return false;
}

/* Whether somebody has inserted a row that memory did not have. */
static bool is_new_one_there(const struct epochs *epochs)
{
    for (size_t i = 0; i < epochs->read.count; i++)
        if (epochs->read.at[i].epoch >= epochs->known_below &&
            !is_in(&epochs->read.at[i], &epochs->known))
            return true;
    return false;
}

struct epochs_left epochs_leave(const struct epochs *epochs)
{
    struct epochs_left left = {.gone = epochs->is_due ? epochs->gone : 0};
    const struct epoch_rows *known = &epochs->known;
    size_t count = known->count < EPOCHS_LEFT ? known->count : EPOCHS_LEFT;
    for (size_t i = 0; i < count; i++)
        left.rows[i] = known->at[known->count - count + i];
    return left;
}

void epochs_restore(struct epochs *epochs, const struct epochs_left *left)
{
    epochs->known_below = left->rows[EPOCHS_LEFT - 1].epoch > 0 ? left->rows[0].epoch : 0;
    for (unsigned i = 0; i < EPOCHS_LEFT && left->rows[i].epoch > 0; i++)
        epoch_rows_append(&epochs->known, &left->rows[i]);
    epochs->is_due = left->gone > 0;
    epochs->gone = left->gone;
}

void epochs_take(struct epochs *epochs, int64_t gone)
{
    if (gone > 0) {
        epochs->is_due = true;
        epochs->gone = gone;
    }
    if (is_new_one_there(epochs))
        epochs->is_due = false;
    epochs->known_below = 0;
    copy_rows(&epochs->known, &epochs->read);
}

struct epoch_row epochs_newest(const struct epochs *epochs)
{
    const struct epoch_rows *known = &epochs->known;
    return known->count == 0 ? (struct epoch_row){0} : known->at[known->count - 1];
}

bool epochs_begin(struct epochs *epochs, int64_t number, struct epoch_insert *insert)
{
    char host[HOST_BYTES] = "";
    epochs->pending = 0;
    if (!epochs->is_due)
        return false;
    if (gethostname(host, sizeof(host) - 1) != 0)
        host[0] = '\0';
    snprintf(insert->reason, sizeof(insert->reason),
             "batch %lld is gone, as host %s, process %ld, found", (long long)epochs->gone, host,
             (long)getpid());
    epochs->pending = epochs_newest(epochs).epoch + 1;
    epochs->began_us = clock_wall_us();
    insert->row = (struct epoch_row){epochs->pending, number, epochs->began_us};
    return true;
}

void epochs_commit(struct epochs *epochs, int64_t number)
{
    if (epochs->pending == 0)
        return;
    epoch_rows_append(&epochs->known,
                      &(struct epoch_row){epochs->pending, number, epochs->began_us});
    epochs->is_due = false;
    epochs->pending = 0;
}
