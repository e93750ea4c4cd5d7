/* What somebody else has written that keeps none of Valet's rules, such as the Python service on
 * the same database (Valet spec, 9.4): seen when the database is loaded anew, mended by the next
 * batch that writes. Writer thread only. */
#ifndef BERTH_VALET_WRITE_FOREIGN_WRITE_SCAN_H
#define BERTH_VALET_WRITE_FOREIGN_WRITE_SCAN_H

#include "replica/version.h"
#include "valet/write/consequences.h"

/* All zero at first. The holds that are to go are those of the placements as they are in the newest
 * version: one that somebody else has written since is noted no more. */
struct foreign_write_scan {
    bool is_due;
    int64_t *placement_ids;
    size_t count;
    size_t capacity;
};

void foreign_write_scan_free(struct foreign_write_scan *scan);

/* The version, which was loaded, takes the place of the other one (NULL: it is the first). Logs
 * each breach of exclusivity that came with it. The arena is for what that needs. */
void foreign_write_scan_compare(struct foreign_write_scan *scan, const struct version *before,
                                const struct version *after, struct arena *arena);

/* The version, in which another berthd's commits were followed, takes the place of the other one.
 */
void foreign_write_scan_follow(struct foreign_write_scan *scan, const struct version *before,
                               const struct version *after);

/* Begins the the derivation of consequences that is due; NULL: none is. */
struct consequences *foreign_write_scan_begin(const struct foreign_write_scan *scan,
                                              const struct plan *plan);

/* It was committed, or there is no point in trying it again. */
void foreign_write_scan_end(struct foreign_write_scan *scan);

#endif
