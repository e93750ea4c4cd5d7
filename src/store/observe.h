/* What the observers of all databases share (store.h). */
#ifndef BERTH_STORE_OBSERVE_H
#define BERTH_STORE_OBSERVE_H

#include "store/row_reader.h"
#include "store/store.h"

/* See store_observer_find(). The reader's thread. */
bool observe_find(const struct row_reader *reader, enum entity entity, const int64_t *ids,
                  size_t count, store_sink *sink, void *cls, struct err *err) BERTH_MUST_CHECK;

#endif
