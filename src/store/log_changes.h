/* The log's other form: instead of the entities that a batch has changed, the changes themselves.
 *
 * A follower that has the state before needs nothing else, and reads no table. Only batches of
 * claims are written so, which are nearly all of them: of generations of providers, consumers and
 * allocations. A blob has a version byte, and then a byte for each change, with the numbers that
 * its kind has; what is as in the change before (consumer, times) is left out. A blob may have been
 * written by any program: everything is checked. Pure; any one thread. */
#ifndef BERTH_STORE_LOG_CHANGES_H
#define BERTH_STORE_LOG_CHANGES_H

#include "base/buf.h"
#include "model/change.h"

enum { LOG_CHANGES_BYTES_MOST = 65536 };

/* Whether the blob has changes, as far as its first byte tells. */
bool log_changes_is(struct slice blob);

/* Appends a whole blob to an empty buffer. False: the changes are not of these kinds, or need more
 * bytes than that; the buffer is empty again. */
bool log_changes_append(struct buf *blob, const struct change *changes, size_t count);

/* Receives a change, whose text is valid during the call. False: no more are wanted. */
typedef bool log_changes_take(void *cls, const struct change *change);

/* Passes the changes on, in their order. False: the blob is invalid, or no more were wanted. */
bool log_changes_read(struct slice blob, log_changes_take *take, void *cls);

/* The consumer of the change; 0: it does not concern one. */
int64_t log_changes_consumer(const struct change *change);
struct slice log_changes_uuid(const struct change *change);

#endif
