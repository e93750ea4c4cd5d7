/* Upstream's schema as data, and the operations of placement-manage on it.
 *
 * The text of every table and index is that of the Python service's migrations (SQLAlchemy's
 * rendering, including blanks), so that sqlite_master is the same in our files and in those of the
 * Python service. Source: operators spec, Database. */
#ifndef BERTH_STORE_SCHEMA_H
#define BERTH_STORE_SCHEMA_H

#include <stdbool.h>

#include "base/err.h"
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

/* NULL-terminated lists of statements. */
extern const char *const schema_create_newest[];        /* an empty database to SCHEMA_NEWEST */
extern const char *const schema_create_version_table[]; /* alembic_version */
extern const char *const schema_add_consumer_types[];   /* to SCHEMA_CONSUMER_TYPES */
extern const char *const schema_drop_indexes[];         /* to SCHEMA_INDEXES_DROPPED */
extern const char *const schema_restore_indexes[];      /* and back */
extern const char *const schema_create_ours[];          /* berth_head, berth_log; idempotent */

/* The revision that upstream's tool would resolve `text` to: an id, a prefix of one of at least
 * four characters, "head" or "heads". -1: none. */
int schema_revision_find(struct slice text);

/* placement-manage db sync, version, stamp on the database of that URL. On failure, err has one
 * clear line and nothing is changed. */
bool schema_sync(struct slice connection, struct err *err) BERTH_MUST_CHECK;

/* The revision as stored, even if unknown (at most 32 bytes and a NUL); empty if there is none. */
bool schema_version(struct slice connection, char revision[static 33],
                    struct err *err) BERTH_MUST_CHECK;

/* Writes the revision without migrating, but restores the indexes that the newest revision dropped
 * when the database is stamped with an older one: 8.0.0 then finds its own schema. "base" removes
 * the revision. */
bool schema_stamp(struct slice connection, struct slice revision, struct err *err) BERTH_MUST_CHECK;

#endif
