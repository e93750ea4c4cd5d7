/* Finds out what became of a batch whose COMMIT was not answered. */
#ifndef BERTH_STORE_POSTGRES_UNKNOWN_H
#define BERTH_STORE_POSTGRES_UNKNOWN_H

#include "store/postgres/store_internal.h"

/* `row`: the batch's, written on top of the state that memory has. STORE_OK: it is committed.
 * STORE_FAILED: it is not, and never will be. STORE_UNKNOWN: the database has not been reached in
 * time. err is not touched. */
enum store_result postgres_resolve(struct postgres_store *store, const struct log_row *row,
                                   struct arena *arena) BERTH_MUST_CHECK;

#endif
