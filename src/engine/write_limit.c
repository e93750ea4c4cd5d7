/* How many rows one request writes, and whether it may. One row more costs the writer's thread two
 * or three microseconds, in which every other write waits. Any thread, but write_limit_rows. */
#include "engine/write_limit.h"

#include "engine/effects.h"

/* A deletion of allocations is one change for all that the consumer holds. */
uint64_t write_limit_rows(const struct effects *effects)
{
    uint64_t rows = effects->changes->count;
    for (size_t i = 0; i < effects->consumer_count; i++) {
        const struct effect_consumer *consumer = &effects->consumers[i];
        if (consumer->is_released && consumer->before != NULL &&
            consumer->before->allocation_count > 0)
            rows += consumer->before->allocation_count - 1;
    }
    return rows;
}

bool plan_rows_fit(uint64_t rows, uint64_t max_rows, struct err *err)
{
    if (max_rows == 0 || rows <= max_rows)
        return true;
    err_set(err, 413, "placement.write.too_many_rows",
            "The request writes at least %llu rows of the database, and one request may write %llu "
            "([berth] max_write_rows). Split it.",
            (unsigned long long)rows, (unsigned long long)max_rows);
    return err_of_kind(err, REFUSED_TOO_MANY_ROWS);
}
