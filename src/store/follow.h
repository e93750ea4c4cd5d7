/* Reads again the entities that other instances' batches changed. */
#ifndef BERTH_STORE_FOLLOW_H
#define BERTH_STORE_FOLLOW_H

#include "store/log.h"
#include "store/row_reader.h"
#include "store/store.h"

/* Whether these entries can be followed. If providers were both deleted and moved, there may be no
 * valid order (a provider below the new namesake of its deleted parent): rare enough to read
 * everything. */
bool follow_is_possible(const struct log_entries *entries);

/* Reads the entities that the entries name, oldest entry first, and sends them in the order of a
 * follow (model/change.h). False: err is set, and nothing was sent. */
bool follow_read(const struct row_reader *reader, const struct log_entries *entries,
                 store_sink *sink, void *cls, struct err *err) BERTH_MUST_CHECK;

#endif
