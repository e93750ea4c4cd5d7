/* See seat.h. `seat` is guarded by the pipeline's lock, so whoever takes it sees what the one
 * before has done. */
#include "engine/seat.h"

#include "base/clock.h"
#include "engine/pipeline_internal.h"

/* Reads that wait for its commit may need news. */
enum { PARKED_MOST_US = 50000 };

bool seat_take_if_idle(struct pipeline *pipeline)
{
    pthread_mutex_lock(&pipeline->lock);
    bool is_idle = pipeline->seat == SEAT_FREE && pipeline->queue.count == 0 &&
                   !pipeline->stopping && !pipeline->awaits_seat && pipeline->usual_batch <= 1;
    if (is_idle)
        pipeline->seat = SEAT_TAKEN;
    pthread_mutex_unlock(&pipeline->lock);
    return is_idle;
}

bool seat_take_parked(struct pipeline *pipeline)
{
    pthread_mutex_lock(&pipeline->lock);
    bool is_parked = pipeline->seat == SEAT_PARKED && !pipeline->direct.is_due;
    if (is_parked)
        pipeline->seat = SEAT_TAKEN;
    pthread_mutex_unlock(&pipeline->lock);
    return is_parked;
}

static void seat_change(struct pipeline *pipeline, enum seat seat, bool is_due)
{
    pthread_mutex_lock(&pipeline->lock);
    check(pipeline->seat == SEAT_TAKEN);
    pipeline->seat = seat;
    pipeline->writer_has_seat = false;
    pipeline->direct.is_due = is_due;
    bool wakes = seat_is_wanted(pipeline) || pipeline->awaits_seat;
    pthread_mutex_unlock(&pipeline->lock);
    if (wakes)
        pthread_cond_signal(&pipeline->wake);
}

void seat_park(struct pipeline *pipeline, bool is_due)
{
    seat_change(pipeline, SEAT_PARKED, is_due);
}

void seat_leave(struct pipeline *pipeline)
{
    seat_change(pipeline, SEAT_FREE, false);
}

bool seat_is_wanted(const struct pipeline *pipeline)
{
    return pipeline->queue.count > 0 || pipeline->stopping ||
           (pipeline->seat == SEAT_PARKED &&
            (pipeline->direct.is_due ||
             clock_monotonic_us() - pipeline->direct.sent_us >= PARKED_MOST_US));
}

void seat_take(struct pipeline *pipeline)
{
    check(!pipeline->writer_has_seat);
    pipeline->awaits_seat = true;
    while (pipeline->seat == SEAT_TAKEN)
        pthread_cond_wait(&pipeline->wake, &pipeline->lock);
    pipeline->awaits_seat = false;
    pipeline->writer_has_seat = true;
    pipeline->seat = SEAT_TAKEN;
}
