/* See epochs.h. The rows are kept as one text, "1:500:1795667861001792,2:…": epoch, number of the
 * batch, time. A database that went back may have lost rows as well, and epochs are numbered again
 * then; so a row is only known if all of it is. */
#include "store/postgres/epochs.h"

#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"

enum { HOST_BYTES = 256, REASON_BYTES = 512 };

static const char INSERT[] = "INSERT INTO berth_epochs (epoch, number, began_at, reason)"
                             " VALUES ($1::bigint, $2::bigint, $3::timestamp, $4::text)";

void epochs_free(struct epochs *epochs)
{
    buf_free(&epochs->known);
    buf_free(&epochs->read);
}

void epochs_note(struct epochs *epochs, struct slice rows)
{
    epochs->read.len = 0;
    buf_append_slice(&epochs->read, rows);
}

void epochs_note_same(struct epochs *epochs)
{
    epochs->read.len = 0;
    buf_append_slice(&epochs->read, buf_slice(&epochs->known));
}

static bool epochs_have(struct slice row, struct slice rows)
{
    while (rows.len > 0)
        if (slice_equal(slice_cut(&rows, ','), row))
            return true;
    return false;
}

/* Not strtoll(): the last row ends with the buffer, behind which may be more digits. */
static int64_t epochs_number(struct slice text)
{
    bool is_negative = text.len > 0 && text.data[0] == '-';
    int64_t number = 0;
    for (size_t i = is_negative; i < text.len && text.data[i] >= '0' && text.data[i] <= '9'; i++)
        number = number * 10 + (text.data[i] - '0');
    return is_negative ? -number : number;
}

static struct epoch_row row_of(struct slice text)
{
    struct slice epoch = slice_cut(&text, ':');
    struct slice number = slice_cut(&text, ':');
    return (struct epoch_row){epochs_number(epoch), epochs_number(number), epochs_number(text)};
}

/* Whether somebody has inserted a row that memory did not have. */
static bool is_new_one_there(const struct epochs *epochs)
{
    struct slice rows = buf_slice(&epochs->read);
    while (rows.len > 0) {
        struct slice row = slice_cut(&rows, ',');
        if (row_of(row).epoch >= epochs->known_below &&
            !epochs_have(row, buf_slice(&epochs->known)))
            return true;
    }
    return false;
}

static void append_row(struct epochs *epochs, const struct epoch_row *row)
{
    buf_printf(&epochs->known, "%s%lld:%lld:%lld", epochs->known.len == 0 ? "" : ",",
               (long long)row->epoch, (long long)row->number, (long long)row->began_us);
}

struct epochs_left epochs_leave(const struct epochs *epochs)
{
    struct epochs_left left = {.gone = epochs->is_due ? epochs->gone : 0};
    struct slice rows = buf_slice(&epochs->known);
    for (unsigned count = 0; rows.len > 0; count++) {
        if (count >= EPOCHS_LEFT)
            memmove(left.rows, left.rows + 1, sizeof(left.rows) - sizeof(left.rows[0]));
        left.rows[count < EPOCHS_LEFT ? count : EPOCHS_LEFT - 1] = row_of(slice_cut(&rows, ','));
    }
    return left;
}

void epochs_restore(struct epochs *epochs, const struct epochs_left *left)
{
    epochs->known_below = left->rows[EPOCHS_LEFT - 1].epoch > 0 ? left->rows[0].epoch : 0;
    for (unsigned i = 0; i < EPOCHS_LEFT && left->rows[i].epoch > 0; i++)
        append_row(epochs, &left->rows[i]);
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
    epochs->known.len = 0;
    epochs->known_below = 0;
    buf_append_slice(&epochs->known, buf_slice(&epochs->read));
}

struct epoch_row epochs_newest(const struct epochs *epochs)
{
    struct slice rows = buf_slice(&epochs->known);
    struct slice last = {0};
    while (rows.len > 0)
        last = slice_cut(&rows, ',');
    return last.len == 0 ? (struct epoch_row){0} : row_of(last);
}

enum server_outcome epochs_queue(struct epochs *epochs, struct pg_session *session, int64_t number,
                                 struct err *err)
{
    char host[HOST_BYTES] = "";
    char reason[REASON_BYTES];
    epochs->pending = 0;
    if (!epochs->is_due)
        return SERVER_OK;
    if (gethostname(host, sizeof(host) - 1) != 0)
        host[0] = '\0';
    snprintf(reason, sizeof(reason), "batch %lld is gone, as host %s, process %ld, found",
             (long long)epochs->gone, host, (long)getpid());
    epochs->pending = epochs_newest(epochs).epoch + 1;
    epochs->began_us = clock_wall_us();
    const struct pg_parameter parameters[] = {pg_int8(epochs->pending), pg_int8(number),
                                              pg_timestamp(epochs->began_us),
                                              pg_text(slice_of(reason))};
    const struct pg_statement insert = {
        .sql = INSERT, .parameters = parameters, .parameters_n = 4, .what = "written"};
    return pg_pipeline_queue(session, &insert, err);
}

void epochs_commit(struct epochs *epochs, int64_t number)
{
    if (epochs->pending == 0)
        return;
    append_row(epochs, &(struct epoch_row){epochs->pending, number, epochs->began_us});
    epochs->is_due = false;
    epochs->pending = 0;
}
