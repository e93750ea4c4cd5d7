/* Names in the log what other programs have made exceed a capacity (replica/over_capacity.h): no
 * rule of berth's applies to them, and the database may have lost commits. The writer only. */
#ifndef BERTH_PLACEMENT_WRITE_OVER_CAPACITY_LOG_H
#define BERTH_PLACEMENT_WRITE_OVER_CAPACITY_LOG_H

#include "engine/rules.h"

/* Initially all zero. */
struct over_capacity_log {
    uint64_t logged_us;  /* when the last line was logged; 0: never */
    uint64_t not_logged; /* inventories since then */
};

/* As the function `foreign` of a rule (engine/rules.h). At most one line a minute names the first
 * few inventories that `before` did not have among them. */
void over_capacity_log_foreign(struct over_capacity_log *log, enum foreign_write kind,
                               const struct version *before, const struct version *after);

#endif
