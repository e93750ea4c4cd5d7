/* What follows from a request's changes for claims of groups, holds and last known locations (Valet
 * spec, 8.2 and 8.3), in the same transaction. Writer thread only. */
#ifndef BERTH_WRITE_VALET_SETTLE_H
#define BERTH_WRITE_VALET_SETTLE_H

#include "write/pipeline.h"

struct settle_note {
    int64_t placement_id;
    struct slice location; /* as it was; data == NULL: as its row says */
    bool is_first;         /* its server has come from nothing */
};

/* The aggregate of a group that has claimed the host's rack goes from the host. */
struct settle_taken {
    int64_t claim_id; /* of the rack */
    int64_t host_id;  /* if it is there afterwards; else it was deleted */
};

/* Between the planning of a request and its end; everything is in the batch's arena. */
struct settle {
    struct settle_note *notes; /* placements whose consumers are written */
    size_t note_count;
    size_t note_capacity;
    int64_t *hosts; /* ids of claimed roots that lose allocations */
    size_t host_count;
    size_t host_capacity;
    struct settle_taken *taken;
    size_t taken_count;
    size_t taken_capacity;
    bool is_wide; /* every claim is looked at, and not those of these hosts alone */
    bool has_dropped;
    bool has_located;
};

/* Looks at the plan's changes while its version is still as before them. Without placements and
 * claims it looks at nothing. */
void settle_begin(struct settle *settle, const struct plan *plan);

/* The same for all that is there, after somebody else has written: also the holds of those
 * placements go. */
void settle_begin_all(struct settle *settle, const int64_t *placement_ids, size_t count,
                      const struct plan *plan);

/* After the changes were applied, and the list is empty: appends what follows next, to be applied
 * in its turn. False: nothing more. */
bool settle_next(struct settle *settle, const struct plan *plan);

/* settle_claims.c: the claims' part of it. */
bool settle_claims(const struct settle *settle, const struct plan *plan);

#endif
