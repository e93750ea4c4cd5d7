/* The rows of berth_epochs: each one stands for the times that the database went back since the row
 * before it, and there is none without such a time.
 *
 * A row is known by the state that its batch has made: it stands for all losses of rows of the log
 * before that. If a later loss takes the row as well, what it stood for is open again. A batch may
 * insert one only if something is open, and the row of the log that its reason names is among that.
 * And it must, if its instance has had a row whose loss is open: an instance that has had none does
 * not know. It still must after a restart. One thread. */
#include <inttypes.h>
#include <stdlib.h>

#include "fleet.h"
#include "sim.h"

struct lost_line {
    struct lost_line *next;
    const struct log_line *line;
    uint64_t at; /* the state to which the database went back */
};

void epochs_lose(const struct log_line *line)
{
    struct lost_line *lost = calloc(1, sizeof(*lost));
    check(lost != NULL);
    *lost = (struct lost_line){fleet.lost, line, server.states.newest};
    fleet.lost = lost;
}

void epochs_forget(void)
{
    while (fleet.lost != NULL) {
        struct lost_line *gone = fleet.lost;
        fleet.lost = gone->next;
        free(gone);
    }
}

/* A row may have been written and lost twice: the one that takes a number, if its COMMIT was not
 * answered. Then the first loss counts. */
void epochs_note_loss(struct instance *instance, int64_t number, struct slice mark)
{
    const struct lost_line *found = NULL;
    for (const struct lost_line *at = fleet.lost; at != NULL; at = at->next)
        if (at->line->number == number && slice_equal(at->line->mark, mark))
            found = at;
    if (found == NULL)
        sim_fail("row %" PRId64 " of the log is gone, although the database has not lost it",
                 number);
    if (instance->lost_at < found->at)
        instance->lost_at = found->at;
}

/* The state before which no loss is open any more; 0: there is none. */
static uint64_t closed_until(const struct state *state)
{
    uint64_t until = 0;
    for (unsigned i = 0; i < state->epoch_count; i++)
        if (until < state->epochs[i].at)
            until = state->epochs[i].at;
    return until;
}

static bool has_lost(int64_t number, uint64_t since)
{
    for (const struct lost_line *at = fleet.lost; at != NULL; at = at->next)
        if (at->line->number == number && at->at > since)
            return true;
    return false;
}

static void check_row(const struct epoch_line *epoch, const struct log_line *line,
                      const struct state *before)
{
    int64_t newest = before->epoch_count == 0 ? 0 : before->epochs[before->epoch_count - 1].epoch;
    fleet.tally.epochs++;
    if (epoch->epoch != newest + 1)
        sim_fail("epoch %" PRId64 " follows epoch %" PRId64, epoch->epoch, newest);
    if (epoch->number != line->number)
        sim_fail("epoch %" PRId64 " begins with row %" PRId64 " of the log, and row %" PRId64
                 " inserts it",
                 epoch->epoch, epoch->number, line->number);
    if (!has_lost(epoch->gone, closed_until(before)))
        sim_fail("epoch %" PRId64 " begins with row %" PRId64 " of the log because row %" PRId64
                 " is gone, which was not lost since the epoch before",
                 epoch->epoch, epoch->number, epoch->gone);
}

void epochs_check(const struct named_batch *batch, const struct session *session,
                  const struct log_line *line, const struct state *before)
{
    const struct epoch_line *epoch = &session->transaction.epoch;
    const struct instance *instance = batch->instance;
    if (epoch->epoch != 0)
        check_row(epoch, line, before);
    else if (line->entries.len > 0 && instance->lost_at > closed_until(before))
        sim_fail("row %" PRId64 " of the log begins no epoch, although instance %d has had rows "
                 "that are gone",
                 line->number, instance->process.number);
}
