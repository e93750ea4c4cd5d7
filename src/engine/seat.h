/* The writer's seat: whoever has it is the writer, and nobody else uses the writer's state, in the
 * pipeline and in the store. The writer thread has it most of the time that it does not sleep. A
 * thread that has an event loop may have it for a moment (direct.h), and then leave it with a batch
 * that is on its way. */
#ifndef BERTH_ENGINE_SEAT_H
#define BERTH_ENGINE_SEAT_H

#include <stdbool.h>

struct pipeline;

enum seat {
    SEAT_FREE,
    SEAT_TAKEN,
    SEAT_PARKED, /* nobody has it, and a batch is on its way */
};

/* Takes it if nobody has it, nothing waits for the writer, and none of the last batches had several
 * requests. Any thread. */
bool seat_take_if_idle(struct pipeline *pipeline);

/* Takes it if a batch is on its way that nobody looks after. Any thread. */
bool seat_take_parked(struct pipeline *pipeline);

/* For whoever has it: leaves it with the batch that is on its way. `is_due`: the writer thread is
 * to look after that at once. */
void seat_park(struct pipeline *pipeline, bool is_due);

/* For whoever has it: leaves it. */
void seat_leave(struct pipeline *pipeline);

/* Under the pipeline's lock, for the writer thread: whether it has something to do, apart from
 * upkeep. */
bool seat_is_wanted(const struct pipeline *pipeline);

/* Under the pipeline's lock, for the writer thread: takes it; waits while another thread has it. */
void seat_take(struct pipeline *pipeline);

#endif
