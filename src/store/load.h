/* Streams a whole database into memory, or into a comparison with memory. */
#ifndef BERTH_STORE_LOAD_H
#define BERTH_STORE_LOAD_H

#include "store/missing_consumers.h"
#include "store/row_reader.h"
#include "store/skipped.h"
#include "store/tree_order.h"

/* Sends all rows that clients can see, in the order that store_load() promises. `forest`, which is
 * initialised with zeros, then has the places of all providers, and `skipped` the rows that were
 * left out. `missing` gets the consumers that have allocations and no row; NULL: these allocations
 * are left out as well. False: err is set. */
bool load_stream(const struct row_reader *reader, struct tree_order *forest,
                 struct skipped *skipped, struct missing_consumers *missing, store_sink *sink,
                 void *cls, struct err *err) BERTH_MUST_CHECK;

#endif
