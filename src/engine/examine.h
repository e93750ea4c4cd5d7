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
    bool is_incomplete; /* the writer has to read everything */
    bool is_full;       /* there are more than EXAMINE_SUSPECTS_MOST: those are left out */
};

/* A program may change all rows at once. The writer reads so many of them again, and then the next
 * look finds the next ones, as it would if the program had changed them one after the other. */
enum { EXAMINE_SUSPECTS_MOST = 100000 };

/* The uuid is copied. cls is the struct suspects. */
void suspects_add(void *cls, enum entity entity, int64_t id, struct slice uuid);

/* Appends whatever differs, up to EXAMINE_SUSPECTS_MOST. The version is pinned, and has the state
 * of the observer's snapshot. False: err is set, and what was appended may be incomplete. Any one
 * thread. */
bool examine_rows(struct store_observer *rows, const struct version *version,
                  struct suspects *suspects, struct err *err) BERTH_MUST_CHECK;

#endif
