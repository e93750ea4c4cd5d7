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

/* The reader has been sent the state of the database. */
void memory_store_mark_seen(struct store *store);

/* The transaction fails: the reader gives up what it followed in it. */
void memory_store_take_back(struct store *store);

#endif
