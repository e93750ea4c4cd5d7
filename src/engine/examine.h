/* Compares what other programs have written lately with memory, in a snapshot of the state that
 * memory has. */
#ifndef BERTH_ENGINE_EXAMINE_H
#define BERTH_ENGINE_EXAMINE_H

#include "base/arena.h"
#include "replica/version.h"
#include "store/store.h"

/* Entities that memory may not have as the database does. The arena owns all of it. */
struct suspects {
    struct arena *arena;
    struct differences list;
    size_t capacity;
    size_t older;       /* rows with a lower generation than memory's, also those left out */
    bool is_incomplete; /* the writer has to read everything */
    bool is_full;       /* there are more than EXAMINE_SUSPECTS_MOST: those are left out */
};

/* A program may change all rows at once. The writer reads so many of them again, and then the next
 * look finds the next ones, as it would if the program had changed them one after the other. */
enum { EXAMINE_SUSPECTS_MOST = 100000 };

/* What the sums of an entity's rows have more than memory's; all zero: nothing. */
struct examined_sums {
    int64_t rows, ids, generations;
};

/* What an examination knows of those before it, after each of which all suspects were read again;
 * all zero: there was none. */
struct examined_before {
    struct examined_rest {
        struct examined_sums sums; /* because of them, all rows were compared */
        uint64_t print;            /* of the rows that differed */
        bool stays;                /* it was the same the time before */
        unsigned looks;            /* since then */
    } rests[ENTITY_CONSUMER + 1];
};

/* The uuid is copied. cls is the struct suspects. */
void suspects_add(void *cls, enum entity entity, int64_t id, struct slice uuid);

/* Appends whatever differs, each once, up to EXAMINE_SUSPECTS_MOST. The version is pinned, and has
 * the state of the observer's snapshot. False: err is set, and what was appended may be incomplete.
 * Any one thread. */
bool examine_rows(struct store_observer *rows, const struct version *version,
                  struct examined_before *before, struct suspects *suspects,
                  struct err *err) BERTH_MUST_CHECK;

#endif
