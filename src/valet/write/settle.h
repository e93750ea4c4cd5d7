/* What follows from a request's changes for claims of groups, holds and last known locations (Valet
 * spec, 8.2 and 8.3), in the same transaction. Writer thread only. */
#ifndef BERTH_VALET_WRITE_SETTLE_H
#define BERTH_VALET_WRITE_SETTLE_H

#include "engine/effects.h"
#include "valet/state/hosts.h"

struct settle_note {
    int64_t placement_id;
    struct slice location; /* as it was; data == NULL: as its row says */
    bool is_first;         /* its server has come from nothing */
};

/* A provider whose claims, and those of its racks, are to be looked at. */
struct settle_provider {
    int64_t id;
    bool has_moved; /* what it is in, or below, has changed; else it loses allocations only */
    uint32_t step;  /* the last that changed its aggregates or claims; 0: none did */
};

/* Each id once, in the order of their coming. All zero at first; in the batch's arena. */
struct settle_set {
    struct settle_provider *items;
    size_t count;
    size_t capacity;
    uint32_t *table; /* of positions, hashed by id: index + 1 */
    size_t room;     /* of the table, a power of two */
};

/* settle_set.c: its item, new or not; NULL from find: there is none. Valid until the next add. */
struct settle_provider *settle_set_add(struct settle_set *set, int64_t id, struct arena *arena);
struct settle_provider *settle_set_find(const struct settle_set *set, int64_t id);

/* A claim whose provider goes, or leaves what it was in. */
struct settle_left {
    int64_t claim_id; /* of the provider, or of a rack that it was in */
    int64_t host_id;  /* if it is not there afterwards, it was deleted */
    bool is_taken;    /* it is the group's aggregate that goes */
};

/* Between the planning of a request and its end; everything is in the batch's arena. */
struct settle {
    struct settle_note *notes; /* placements whose consumers are written */
    size_t note_count;
    size_t note_capacity;
    struct settle_set providers;
    struct settle_left *left;
    size_t left_count;
    size_t left_capacity;
    bool is_wide;  /* every claim is looked at, and not those of these providers alone */
    uint32_t step; /* of the claims, that is being made */
    bool has_marks;
    struct host_marks marks; /* once something asked for them; as they were before the changes */
    bool has_dropped;
    bool has_located;
};

/* Looks at what a request touches while the plan's version is still as before it. In the batch's
 * arena; NULL: without placements and claims there is nothing to look at. */
struct settle *settle_begin(const struct effects *effects, const struct plan *plan);

/* The same for all that is there, after somebody else has written: also the holds of those
 * placements go. */
struct settle *settle_begin_all(const int64_t *placement_ids, size_t count,
                                const struct plan *plan);

/* After the changes were applied, and the list is empty: appends what follows next, to be applied
 * in its turn. False: nothing more. */
bool settle_next(struct settle *settle, const struct plan *plan);

/* settle_notes.c: notes what claims rest on; there are some. */
void settle_note_claims(struct settle *settle, const struct plan *plan,
                        const struct change *change);
/* The consumer (NULL: none) loses all that it has. */
void settle_note_loss(struct settle *settle, const struct plan *plan,
                      const struct consumer *consumer);
/* Whether the provider gets another parent, or none. */
bool settle_is_moved(const struct version *version, const struct provider *provider,
                     const struct change_provider *change);

/* settle_claims.c: the claims' part of settle_next. */
bool settle_claims(struct settle *settle, const struct plan *plan);

#endif
