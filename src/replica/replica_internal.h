/* Shared by replica.c, garbage.c and version_free.c. The writer only, except for the
 * counters. */
#ifndef BERTH_REPLICA_REPLICA_INTERNAL_H
#define BERTH_REPLICA_REPLICA_INTERNAL_H

#include "base/counter.h"
#include "replica/version.h"

/* The versions pinned by readers, as read at one time. */
struct pins {
    uint64_t from;   /* this version and all later ones */
    uint64_t *exact; /* and these, in ascending order */
    size_t count;
};

/* Whether any version in [birth, number) is pinned. */
bool pins_need(const struct pins *pins, uint64_t birth, uint64_t number);

struct garbage_item;

/* The memory that publications have replaced and readers may still hold. */
struct garbage {
    struct garbage_item *oldest; /* in the order of publication */
    struct garbage_item *newest;
    size_t whole_count;     /* versions that wait as a whole: those replaced by a load */
    size_t waiting_nodes;   /* of all other items */
    size_t kept_nodes;      /* of these, the nodes of the oldest pinned version, as far as known */
    uint64_t kept_by;       /* that version */
    size_t sift_at;         /* with that many other nodes, a check of each is worthwhile */
    struct version *ending; /* a whole version that is being freed in parts; NULL: none */
    unsigned ending_part;
    struct counter count;
    struct counter bytes; /* of the nodes */
};

void garbage_init(struct garbage *garbage);

/* Notes that `number` has replaced `before`. If they share memory, `nodes` (whose ownership passes
 * to the garbage), of `bytes`, are those that `number` does not have; otherwise `bytes` is the size
 * of `before`. */
void garbage_add(struct garbage *garbage, uint64_t number, struct version *before, bool shares,
                 const struct cow_retired *nodes, size_t bytes);

/* Frees what was replaced up to version `oldest_pin` and returns its bytes. Here and below, whole
 * versions are freed later, by garbage_free_part(). */
size_t garbage_collect(struct garbage *garbage, uint64_t oldest_pin);

/* Frees the whole versions of loads in which no version is pinned; returns their bytes. */
size_t garbage_drop_loads(struct garbage *garbage, const struct pins *pins);

/* Checks each node that is not known to belong to the oldest pinned version, frees those that no
 * pinned version has, and returns their bytes. */
size_t garbage_sift(struct garbage *garbage, const struct pins *pins);

/* Whether enough nodes wait to make that worthwhile. */
bool garbage_is_to_sift(const struct garbage *garbage);

/* Frees the next part of a whole version that is not needed any more: this is done in parts because
 * it takes a tenth of a second in a cloud of a million hosts. False: there was none. */
bool garbage_free_part(struct garbage *garbage);

/* Frees one part of a version, each time the next one, and finally the version itself: false. */
bool version_free_part(struct version *version, unsigned part);

/* Frees the nodes of the version that were born at or after `birth`, and the version itself. */
void version_free(struct version *version, uint64_t birth);

#endif
