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

/* A claimed root that loses allocations, or any that changes its aggregates. */
struct settle_host {
    int64_t id;
    bool has_moved; /* by its aggregates */
};

/* An aggregate goes from a host whose rack was claimed. */
struct settle_left {
    int64_t claim_id; /* of the rack */
    int64_t host_id;  /* if it is not there afterwards, it was deleted */
    bool is_taken;    /* it is the group's aggregate that goes */
};

/* Between the planning of a request and its end; everything is in the batch's arena. */
struct settle {
    struct settle_note *notes; /* placements whose consumers are written */
    size_t note_count;
    size_t note_capacity;
    struct settle_host *hosts;
    size_t host_count;
    size_t host_capacity;
    struct settle_left *left;
    size_t left_count;
    size_t left_capacity;
    bool is_wide; /* every claim is looked at, and not those of these hosts and racks alone */
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
bool settle_claims(struct settle *settle, const struct plan *plan);

/* settle.c: the host is one to be looked at. */
void settle_note_host(struct settle *settle, const struct plan *plan, int64_t id, bool has_moved);

#endif
