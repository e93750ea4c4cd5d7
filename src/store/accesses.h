/* What the statements of a batch touch, and when: finds the earliest moment at which one more
 * change may be executed so that the result is the same as in the order of the batch.
 *
 * A moment is the number of a statement in the order of execution, from 1. An object is something
 * that changes depend on: the existence of a row, its contents, the unique texts of a table. To own
 * an object is to change it; to use it is to depend on it, or to refer to it. Changes that only use
 * an object may be executed in any order. One that owns it must be executed after all earlier
 * changes that use or own it, and before all later ones. In one arena; one thread. */
#ifndef BERTH_STORE_ACCESSES_H
#define BERTH_STORE_ACCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash_map.h"
#include "base/slice.h"

enum access {
    ACCESS_USE,
    ACCESS_SHARE, /* own, but one statement may do so several times, in the order of its rows */
    ACCESS_OWN    /* own, and a statement may do so only once */
};

/* The last moments at which an object was touched; 0: never. */
struct object {
    uint32_t owned;
    uint32_t used;
};

/* The objects of one row or one key, found together. */
struct object_key {
    uint32_t kind; /* chosen by the caller */
    int64_t a, b;
    struct slice text; /* data NULL: none. Another object owns it */
};

enum { OBJECTS_OF_KEY = 3, TOUCHES_MOST = 8 };

struct object_entry {
    struct object_key key;
    struct object object[OBJECTS_OF_KEY];
    uint32_t note_and_1; /* for the caller; 0: none */
};

/* Zeroed, with its arena: empty. */
struct accesses {
    struct arena *arena;
    struct object_entry *entries;
    size_t count, capacity;
    struct hash_map map;
    size_t last_text; /* the entry that was last found by a text */

    /* The change that is being placed. */
    uint32_t earliest;
    unsigned touches;
    struct touch {
        uint32_t entry;
        uint8_t which;
        uint8_t access;
    } touch[TOUCHES_MOST];
};

/* The position of the key's entry in `entries`, which is made if there is none. */
uint32_t accesses_entry(struct accesses *accesses, const struct object_key *key);

/* The change that is being placed touches an object of that entry. Objects are touched in any
 * order, each once. */
void accesses_touch(struct accesses *accesses, uint32_t entry, unsigned which, enum access access);

/* Ends a change: it is executed at `moment`, which must not be before `earliest`. */
void accesses_place(struct accesses *accesses, uint32_t moment);

#endif
