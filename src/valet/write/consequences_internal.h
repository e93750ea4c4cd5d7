/* Shared by consequences.c, consequences_notes.c and consequences_claims.c. The writer only. */
#ifndef BERTH_VALET_WRITE_CONSEQUENCES_INTERNAL_H
#define BERTH_VALET_WRITE_CONSEQUENCES_INTERNAL_H

#include "base/slice.h"
#include "valet/state/hosts.h"
#include "valet/write/consequences_set.h"

struct consequences_note {
    int64_t placement_id;
    struct slice location; /* before the changes; data == NULL: as in its row */
    bool is_first;         /* its server is new */
};

/* A claim whose provider is deleted, or leaves a rack or aggregate. */
struct consequences_left {
    int64_t claim_id; /* of the provider, or of a rack that it was in */
    int64_t host_id;  /* if it does not exist afterwards, it was deleted */
    bool is_taken;    /* it is the group's aggregate that is removed */
};

/* State between the planning of a request and its end; everything is in the batch's arena. */
struct consequences {
    struct consequences_note *notes; /* placements whose consumers are written */
    size_t note_count;
    size_t note_capacity;
    struct consequences_set providers;
    struct consequences_left *left;
    size_t left_count;
    size_t left_capacity;
    bool is_wide;  /* every claim is examined, not only those of these providers */
    uint32_t step; /* the current step for claims */
    bool has_marks;
    struct host_marks marks; /* once they are needed; from before the changes */
    bool has_dropped;
    bool has_located;
};

#endif
