/* The rows that a request writes; plan.h has plan_rows_fit(). */
#ifndef BERTH_ENGINE_WRITE_LIMIT_H
#define BERTH_ENGINE_WRITE_LIMIT_H

#include <stdint.h>

struct change_list;
struct effects;

/* Of what was planned, with the generations that are raised. Writer thread only. */
uint64_t write_limit_rows(const struct effects *effects);

/* Of changes alone: allocations that go count once for each consumer. Writer thread only. */
uint64_t write_limit_changes(const struct change_list *changes);

#endif
