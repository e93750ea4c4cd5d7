/* Shared by the files of the memory store. */
#ifndef BERTH_TESTS_MEMORY_STORE_INTERNAL_H
#define BERTH_TESTS_MEMORY_STORE_INTERNAL_H

#include "memory_store.h"

/* Sets err, with the fault's reason or this one. */
void memory_store_fail(const struct store *store, enum memory_fault fault, const char *reason,
                       struct err *err);

/* A store of store_open() is closed. */
void memory_store_release(struct memory_shared *shared);

/* Whether the fault strikes; err is then set. */
bool memory_store_fails(struct store *store, enum memory_fault fault, const char *reason,
                        struct err *err);

/* The reader has the state in the store's tables, which is that of the commit. */
void memory_store_mark_seen(struct store *store, uint64_t commit);

/* Executes the batch on the store's tables. */
enum store_result memory_store_execute(struct store *store, const struct store_batch *batch,
                                       struct err *err);

/* The stamp of the state after that many commits. */
void memory_store_write_stamp(struct store_stamp *stamp, uint64_t commit);

/* MEMORY_FOREIGN_WRITE may strike, and other threads may do something. */
void memory_store_meet_others(struct store *store);

#endif
