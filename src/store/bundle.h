/* The changes of a batch that one statement executes: rows of one table, written in one way.
 *
 * Pure; any thread. */
#ifndef BERTH_STORE_BUNDLE_H
#define BERTH_STORE_BUNDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/record_tables.h"
#include "store/store.h"

/* The kinds of statements, in the order in which a wave executes them: deletes, dependents first;
 * inserts, referents first; then updates. */
enum bundle_kind {
    BUNDLE_ALLOCATIONS_OF_DELETE, /* the same consumer may be in several rows */
    BUNDLE_CONSUMER_DELETE,
    BUNDLE_PROVIDER_TRAIT_DELETE,
    BUNDLE_PROVIDER_AGGREGATE_DELETE,
    BUNDLE_INVENTORY_DELETE,
    BUNDLE_PROVIDER_DELETE,
    BUNDLE_TRAIT_DELETE,
    BUNDLE_CLASS_DELETE,
    BUNDLE_RECORD_DELETE, /* one kind for each of record_tables[], in its order */

    BUNDLE_CLASS_INSERT = BUNDLE_RECORD_DELETE + RECORD_TABLE_COUNT,
    BUNDLE_TRAIT_INSERT,
    BUNDLE_AGGREGATE_INSERT,
    BUNDLE_PROJECT_INSERT,
    BUNDLE_USER_INSERT,
    BUNDLE_CONSUMER_TYPE_INSERT,
    BUNDLE_PROVIDER_INSERT,
    BUNDLE_INVENTORY_INSERT,
    BUNDLE_PROVIDER_TRAIT_INSERT,
    BUNDLE_PROVIDER_AGGREGATE_INSERT,
    BUNDLE_CONSUMER_INSERT,
    BUNDLE_ALLOCATION_INSERT,
    BUNDLE_RECORD_INSERT, /* a put that is_new; one kind for each of record_tables[], in its order
                           */

    BUNDLE_CLASS_RENAME = BUNDLE_RECORD_INSERT + RECORD_TABLE_COUNT,
    BUNDLE_PROVIDER_UPDATE,
    BUNDLE_PROVIDER_ROOT, /* PROVIDER_UPDATE that is_root_only */
    BUNDLE_INVENTORY_UPDATE,
    BUNDLE_RECORD_UPDATE, /* any other put; likewise */
    BUNDLE_CONSUMER_UPDATE = BUNDLE_RECORD_UPDATE + RECORD_TABLE_COUNT,
    BUNDLE_CONSUMER_GENERATION, /* CONSUMER_UPDATE that is_generation_only */
    BUNDLE_PROVIDER_GENERATION,
    BUNDLE_KIND_COUNT
};

/* The kind of statement that executes the change. Changes of loads, follows and merges have none:
 * they fail a check. */
enum bundle_kind bundle_kind_of(const struct change *change);

/* A row of the statement: the indexes in the batch of its first and last change. They differ only
 * in a BUNDLE_PROVIDER_GENERATION whose compare-and-sets were folded: the row expects the first
 * change's generation, and sets the generation and time of the last. */
struct bundle_row {
    uint32_t first;
    uint32_t last;
};

struct bundle {
    enum bundle_kind kind;
    uint32_t wave;                 /* from 0 */
    const struct bundle_row *rows; /* in the order of the batch. Compare-and-sets (CONSUMER_UPDATE,
                                    * CONSUMER_GENERATION, PROVIDER_GENERATION): by ascending id, so
                                    * that two writers cannot deadlock */
    size_t count;                  /* at least 1 */
};

/* How large one statement may be. */
struct bundle_limit {
    size_t rows; /* at least 1 */
    size_t bytes;
    size_t (*row_bytes)(const struct change *change); /* NULL: `bytes` is no limit */
};

/* Cuts a bundle into statements of limited size. `chunk` is all zero before the first call; each
 * call replaces it with the next rows, at least one. False: there are none left. */
bool bundle_next_chunk(const struct bundle *bundle, const struct change *changes,
                       const struct bundle_limit *limit, struct bundle *chunk);

/* The values that a database's error names: DETAIL "Key (a, b)=(1, x)". A value may contain any
 * text, so only a row's own values tell where each of them ends. */
struct bundle_key {
    struct slice columns; /* as the table has them, with ", " between them */
    struct slice values;  /* likewise; numbers in decimal */
};

enum { BUNDLE_DIGITS = 24 };

/* What the change has in that column; a number in decimal, written to `digits`. data NULL: it does
 * not have the column, or no value in it. */
struct slice bundle_value(const struct change *change, struct slice column,
                          char digits[static BUNDLE_DIGITS]);

/* The index in the batch of the first change that writes a row with all these values. For folded
 * compare-and-sets that is the first change of the provider. SIZE_MAX: there is none, or the
 * change, such as a delete, does not have one of the columns. Searches all rows. */
size_t bundle_find(const struct bundle *bundle, const struct change *changes,
                   const struct bundle_key *key);

/* The same for a row's id: a provider's for PROVIDER_GENERATION. */
size_t bundle_find_id(const struct bundle *bundle, const struct change *changes, int64_t id);

/* The index of the request that the change is part of. */
size_t bundle_request_of(const struct store_batch *batch, size_t change);

#endif
