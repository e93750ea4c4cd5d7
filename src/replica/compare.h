/* Compares a version with all rows of the database, as a load streams them, and finds the entities
 * that differ.
 *
 * The comparison needs some bytes for each provider and consumer, none for other rows, and one
 * difference for each entity that differs, up to a limit. The writer, on a version that is not
 * changed meanwhile. */
#ifndef BERTH_REPLICA_COMPARE_H
#define BERTH_REPLICA_COMPARE_H

#include "model/change.h"
#include "model/difference.h"
#include "replica/version.h"

struct comparison;

/* With more than `most` differences, only the fact that there are more is recorded. */
struct comparison *compare_begin(const struct version *version, size_t most);

/* Whether memory has the row of a catalog, a provider, an aggregate of a provider or a consumer, as
 * a record of a load states it. Any thread, on a pinned version. */
bool compare_has(const struct version *version, const struct change *change);

/* Processes one record of a load; cls is the struct comparison. */
void compare_change(void *cls, const struct change *change);

/* Called after the last record. NULL: there are too many differences. The result is valid until
 * compare_free(), and only while the version exists. */
const struct differences *compare_end(struct comparison *comparison);

void compare_free(struct comparison *comparison);

#endif
