/* The change log's row: which entities a batch changed, and how.
 *
 * A blob: a version byte, then entries: a byte of enum log_kind, the id as a base-128 varint, and
 * for LOG_CONSUMER the uuid (a length byte and the text; length 0: 16 raw bytes of a uuid in its
 * usual form). A berth that does not know a kind, because it is older, reads the tables again: a
 * new kind needs no new version byte. */
#ifndef BERTH_STORE_LOG_H
#define BERTH_STORE_LOG_H

#include "base/buf.h"
#include "model/change.h"

enum log_kind {
    LOG_CLASS_INSERTED,
    LOG_CLASS_RENAMED,
    LOG_CLASS_DELETED,
    LOG_TRAIT_INSERTED,
    LOG_TRAIT_DELETED,
    LOG_AGGREGATE_INSERTED,
    LOG_PROJECT_INSERTED,
    LOG_USER_INSERTED,
    LOG_CONSUMER_TYPE_INSERTED,
    LOG_PROVIDER_INSERTED,
    LOG_PROVIDER_UPDATED,    /* name, parent, root */
    LOG_PROVIDER_GENERATION, /* and nothing else of it */
    LOG_PROVIDER_CONTENTS,   /* inventories, traits, aggregates */
    LOG_PROVIDER_DELETED,
    LOG_CONSUMER, /* any part of it, including its allocations */
    LOG_NODE,     /* put or deleted */
    LOG_NODE_ALLOCATION,
    LOG_VALET, /* the same, of the tables of model/valet.h in its order */
    LOG_KIND_COUNT = LOG_VALET + VALET_TABLE_COUNT,
    /* Any part of a provider, by a program that writes no log; only on servers. Other instances may
     * not know yet what it has written, so it is named by the next instance that writes. */
    LOG_PROVIDER_FOREIGN = 64,
    /* Anything, by such programs: whoever follows compares all rows. It cannot be parsed. */
    LOG_EVERYTHING = 65
};
_Static_assert(LOG_KIND_COUNT < LOG_PROVIDER_FOREIGN, "the kinds differ");

struct log_entry {
    enum log_kind kind;
    uint8_t uuid_len;
    int64_t id;
    char uuid[36];
};

enum { LOG_ENTRIES_MAX = 200000 };

/* The entries of several rows, oldest first; `data` is malloc'd. */
struct log_entries {
    struct log_entry *data;
    size_t count;
    size_t capacity;
};

/* Appends the entities that `change` affects to the blob. */
void log_append(struct buf *blob, const struct change *change);

/* The same for all changes of a batch. Those of one consumer usually come together: it is then
 * named once. */
void log_append_all(struct buf *blob, const struct change *changes, size_t count);

/* Appends an entry to the blob. */
void log_append_entry(struct buf *blob, const struct log_entry *entry);

/* Appends an entry to the list. */
void log_entries_push(struct log_entries *entries, const struct log_entry *entry);

/* False: not a blob written by this version, or more than LOG_ENTRIES_MAX entries in total. */
bool log_parse(struct slice blob, struct log_entries *entries);

void log_entries_free(struct log_entries *entries);

#endif
