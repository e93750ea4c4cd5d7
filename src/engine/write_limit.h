/* The number of rows that a request writes; plan.h has plan_rows_fit(). */
#ifndef BERTH_ENGINE_WRITE_LIMIT_H
#define BERTH_ENGINE_WRITE_LIMIT_H

#include <stdint.h>

struct change_list;
struct effects;

/* The rows of the planned changes, with the generations that are raised. The writer only. */
uint64_t write_limit_rows(const struct effects *effects);

/* The rows of a list of changes alone: the deletion of allocations counts once per consumer. Writer
 * thread only. */
uint64_t write_limit_changes(const struct change_list *changes);

#endif
