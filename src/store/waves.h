/* Turns a batch into few statements, each for many rows, for a database behind a network.
 *
 * The changes of a batch are executed in waves. A wave has at most one statement for each enum
 * bundle_kind, and its statements are executed in the order of the kinds. The result is the same as
 * if the changes were executed one by one in the order of the batch, with unique columns and
 * foreign keys checked at each step: either the tables are equal, or both are refused (not always
 * because of the same change).
 *
 * Each change is in the first wave that allows this. Claims, replacements, moves and deletes of
 * different consumers share one wave, as do inventories and links of different providers. A change
 * is in a later wave than an earlier change of the batch on which it depends, if the order of the
 * kinds is not theirs:
 *   - both write the same row with the same kind of statement. But compare-and-sets of a provider
 *     whose generations follow on each other are folded into one. If they do not, the database has
 *     to refuse;
 *   - the later one deletes a row that the earlier one wrote or refers to;
 *   - the later one might need a unique text that the earlier one gives up, or the other way round.
 *     Deletes of providers, classes, traits and records do not name their texts, nor do updates
 *     name the old ones. So such a delete is not in the wave of an earlier insert or update in its
 *     table, and an insert or update not in that of an earlier update. Puts of records that keep
 *     their unique texts are no such updates;
 *   - the later one may end the last reference to a provider or class that the earlier one deletes.
 * Such sequences cost at most what the changes would cost one by one.
 *
 * Because the ids of new rows are new, allocations' ids are not compared. A consumer's id and uuid
 * always come together. A database that checks foreign keys only at the end of a statement accepts
 * deletes of providers in the wrong order. Pure; any thread. */
#ifndef BERTH_STORE_WAVES_H
#define BERTH_STORE_WAVES_H

#include "store/bundle.h"

struct arena;

enum { WAVES_CHANGES_MOST = 1 << 24 };

struct waves {
    const struct bundle *bundles; /* in the order of execution */
    size_t count;
    uint32_t waves;
};

/* A batch of at most WAVES_CHANGES_MOST changes. The arena owns the result; its time and memory are
 * proportional to the changes, but for the sorting of compare-and-sets. */
struct waves waves_arrange(const struct store_batch *batch, struct arena *arena);

#endif
