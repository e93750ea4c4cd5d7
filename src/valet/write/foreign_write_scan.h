/* Detects foreign writes that break Valet's rules, such as those of the Python service on the same
 * database (Valet spec, 9.4), when the database is loaded again. The next batch that writes repairs
 * them. The writer only. */
#ifndef BERTH_VALET_WRITE_FOREIGN_WRITE_SCAN_H
#define BERTH_VALET_WRITE_FOREIGN_WRITE_SCAN_H

#include "replica/version.h"
#include "valet/write/consequences.h"

/* Initially all zero. The holds to be dropped are those of the placements as they are in the newest
 * version: one that another program has written since is removed from the list. */
struct foreign_write_scan {
    bool is_due;
    int64_t *placement_ids;
    size_t count;
    size_t capacity;
};

void foreign_write_scan_free(struct foreign_write_scan *scan);

/* The version, which was loaded, replaces the other one (NULL: it is the first). Logs each new
 * breach of exclusivity. The arena is for temporary memory. */
void foreign_write_scan_compare(struct foreign_write_scan *scan, const struct version *before,
                                const struct version *after, struct arena *arena);

/* The version, in which another berthd's commits were followed, replaces the other one. */
void foreign_write_scan_follow(struct foreign_write_scan *scan, const struct version *before,
                               const struct version *after);

/* Begins the derivation of consequences that is due; NULL: none is. */
struct consequences *foreign_write_scan_begin(const struct foreign_write_scan *scan,
                                              const struct plan *plan);

/* The consequences were committed, or trying again is pointless. */
void foreign_write_scan_end(struct foreign_write_scan *scan);

#endif
