/* Reads entities again, beside programs that write no log. */
#ifndef BERTH_STORE_REREAD_H
#define BERTH_STORE_REREAD_H

#include "model/memory_view.h"
#include "store/log.h"
#include "store/missing_consumers.h"
#include "store/row_reader.h"
#include "store/store.h"

/* Reads the entities that the entries of both lists name, and sends what differs from memory in the
 * order of a merge (model/change.h). `missing` gets the consumers that have allocations and no row:
 * if there are some, nothing is sent; NULL: they are left out. False: err is set, and nothing was
 * sent. */
bool reread_entries(const struct row_reader *reader, const struct log_entries *logged,
                    const struct log_entries *suspected, const struct memory_view *memory,
                    struct missing_consumers *missing, store_sink *sink, void *cls,
                    struct err *err) BERTH_MUST_CHECK;

/* The entry with which an entity is read again, with everything that belongs to it. `uuid`: of a
 * consumer, at most 36 bytes. */
struct log_entry reread_entry(enum entity entity, int64_t id, struct slice uuid);

#endif
