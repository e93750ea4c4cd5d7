/* What consequences.c, consequences_notes.c and consequences_claims.c share. Writer thread only. */
#ifndef BERTH_VALET_WRITE_CONSEQUENCES_INTERNAL_H
#define BERTH_VALET_WRITE_CONSEQUENCES_INTERNAL_H

#include "base/slice.h"
#include "valet/state/hosts.h"
#include "valet/write/consequences_set.h"

struct consequences_note {
    int64_t placement_id;
    struct slice location; /* as it was; data == NULL: as its row says */
    bool is_first;         /* its server has come from nothing */
};

/* A claim whose provider goes, or leaves what it was in. */
struct consequences_left {
    int64_t claim_id; /* of the provider, or of a rack that it was in */
    int64_t host_id;  /* if it is not there afterwards, it was deleted */
    bool is_taken;    /* it is the group's aggregate that goes */
};

/* Between the planning of a request and its end; everything is in the batch's arena. */
struct consequences {
    struct consequences_note *notes; /* placements whose consumers are written */
    size_t note_count;
    size_t note_capacity;
    struct consequences_set providers;
    struct consequences_left *left;
    size_t left_count;
    size_t left_capacity;
    bool is_wide;  /* every claim is looked at, and not those of these providers alone */
    uint32_t step; /* of the claims, that is being made */
    bool has_marks;
    struct host_marks marks; /* once something asked for them; as they were before the changes */
    bool has_dropped;
    bool has_located;
};

#endif
