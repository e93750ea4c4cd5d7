/* What replica.c, garbage.c and version_free.c share. Writer thread only, but for the counters. */
#ifndef BERTH_REPLICA_REPLICA_INTERNAL_H
#define BERTH_REPLICA_REPLICA_INTERNAL_H

#include "base/counter.h"
#include "replica/version.h"

/* The versions that readers hold, as seen at one look. */
struct pins {
    uint64_t from;   /* this one and all after it */
    uint64_t *exact; /* and these, in ascending order */
    size_t count;
};

/* Whether a version in [birth, number) is pinned. */
bool pins_need(const struct pins *pins, uint64_t birth, uint64_t number);

struct garbage_item;

/* What publications have replaced and readers may still hold. */
struct garbage {
    struct garbage_item *oldest; /* in the order of publication */
    struct garbage_item *newest;
    size_t whole_count;     /* versions that wait as a whole: those before a load */
    size_t waiting_nodes;   /* of all others */
    size_t kept_nodes;      /* of these, the oldest pinned version's, as far as that is known */
    uint64_t kept_by;       /* that version */
    size_t sift_at;         /* so many of the rest are worth a look at each */
    struct version *ending; /* a whole version that is freed part by part; NULL: none is */
    unsigned ending_part;
    struct counter count;
    struct counter bytes; /* of the nodes */
};

void garbage_init(struct garbage *garbage);

/* `number` has replaced `before`: either it shares memory with it, and `nodes` (taken over) of
 * `bytes` are those that it has no more; or it shares none, and `before` has `bytes`. */
void garbage_add(struct garbage *garbage, uint64_t number, struct version *before, bool shares,
                 const struct cow_retired *nodes, size_t bytes);

/* Frees what was replaced up to version `oldest_pin`; returns its bytes. Here and below, whole
 * versions are freed later, by garbage_free_part(). */
size_t garbage_collect(struct garbage *garbage, uint64_t oldest_pin);

/* Frees the whole versions of loads that no pin is in; returns their bytes. */
size_t garbage_drop_loads(struct garbage *garbage, const struct pins *pins);

/* Looks at each node that is not known to be the oldest pinned version's, and frees those that no
 * pinned version has; returns their bytes. */
size_t garbage_sift(struct garbage *garbage, const struct pins *pins);

/* Whether so many nodes wait that it is worth it. */
bool garbage_is_to_sift(const struct garbage *garbage);

/* Frees the next part of a whole version that nobody needs any more: what takes a tenth of a second
 * in a cloud of a million hosts is done bit by bit. False: there was none. */
bool garbage_free_part(struct garbage *garbage);

/* Frees one part of a version, the next one each time, and at last the version itself: false. */
bool version_free_part(struct version *version, unsigned part);

/* Frees what of the version was born at or after `birth`, and the version itself. */
void version_free(struct version *version, uint64_t birth);

#endif
