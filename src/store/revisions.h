/* The revisions of upstream's schema. */
#ifndef BERTH_STORE_REVISIONS_H
#define BERTH_STORE_REVISIONS_H

#include <stdbool.h>

#include "base/slice.h"

/* Upstream's revisions, oldest first. berth can serve the last two; older ones are upgraded by a
 * sync. */
enum schema_revision {
    SCHEMA_INITIAL,          /* b4ed3a175331 */
    SCHEMA_ROOTS_REQUIRED,   /* 611cd6dffd7b: no provider without a root */
    SCHEMA_CONSUMERS_NEEDED, /* b5c396305c25: no allocation without a consumer */
    SCHEMA_CONSUMER_TYPES,   /* 422ece571366: 8.0.0's newest */
    SCHEMA_INDEXES_DROPPED,  /* a082b8bb98d0: the newest */
    SCHEMA_REVISION_COUNT
};

enum {
    SCHEMA_NEWEST = SCHEMA_INDEXES_DROPPED,
    SCHEMA_OLDEST_SERVED = SCHEMA_CONSUMER_TYPES,
    SCHEMA_REVISION_LEN = 12
};

extern const char *const schema_revision_ids[SCHEMA_REVISION_COUNT];

/* The revision that upstream's tool would resolve `text` to: an id, a prefix of one of at least
 * four characters, "head" or "heads". -1: none. */
int schema_revision_find(struct slice text);

/* What a revision begins with while a copy to the database is not finished (copy.h). */
#define SCHEMA_UNFINISHED_COPY "berth_copying_"
bool schema_is_unfinished_copy(const char *revision);

#endif
