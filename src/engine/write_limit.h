/* The rows that a request writes; plan.h has plan_rows_fit(). */
#ifndef BERTH_ENGINE_WRITE_LIMIT_H
#define BERTH_ENGINE_WRITE_LIMIT_H

#include <stdint.h>

struct effects;

/* Of what was planned, with the generations that are raised. Writer thread only. */
uint64_t write_limit_rows(const struct effects *effects);

#endif
