/* Batches of changes from bytes, so that a fuzzer can vary them: a small universe, in which names,
 * consumers and providers are deleted, replaced and made again. One thread. */
#ifndef BERTH_TESTS_RANDOM_BATCH_H
#define BERTH_TESTS_RANDOM_BATCH_H

#include "store/store.h"
#include "tables.h"

/* Fills empty tables with some rows of each kind. */
void random_batch_base(struct tables *tables, struct arena *arena);

/* Makes a batch for tables in that state; most of its changes are accepted by them, one by one. The
 * same bytes give the same batch. `scratch` has the same texts as `base` and is overwritten. */
struct store_batch random_batch_make(const struct tables *base, struct tables *scratch,
                                     const uint8_t *data, size_t size, struct arena *arena);

#endif
