/* A version compared with all rows of the database, as a load streams them: which entities differ.
 *
 * Memory for the comparison: some bytes for each provider and consumer, none for the other rows,
 * and one difference for each entity that differs, up to a limit. Writer thread, on a version that
 * is not changed meanwhile. */
#ifndef BERTH_REPLICA_COMPARE_H
#define BERTH_REPLICA_COMPARE_H

#include "model/change.h"
#include "model/difference.h"
#include "replica/version.h"

struct comparison;

/* `most`: of more differences only that there are more is noted. */
struct comparison *compare_begin(const struct version *version, size_t most);

/* Takes one record of a load; cls is the struct comparison. */
void compare_change(void *cls, const struct change *change);

/* All records have come. NULL: there are too many differences. What it returns lives until
 * compare_free() and as long as the version. */
const struct differences *compare_end(struct comparison *comparison);

void compare_free(struct comparison *comparison);

#endif
