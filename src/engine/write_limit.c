/* How many rows one request writes, and whether it may. One row more costs the writer's thread
 * three or four microseconds, in which every other write waits. Any thread, but what counts. */
#include "engine/write_limit.h"

#include "engine/effects.h"

/* Measured beside 200 000 consumers. Four of a consumer's indexes are sorted by UUID: in each it
 * has a page of its own to be read and written. */
enum { ROWS_OF_CONSUMER = 5, ROWS_OF_GENERATION = 2 };

static uint64_t rows_of(const struct change *change)
{
    switch (change->kind) {
    case CHANGE_CONSUMER_INSERT:
    case CHANGE_CONSUMER_DELETE:
        return ROWS_OF_CONSUMER;
    case CHANGE_CONSUMER_UPDATE:
        return change->is_generation_only ? ROWS_OF_GENERATION : ROWS_OF_CONSUMER;
    default:
        return 1;
    }
}

uint64_t write_limit_changes(const struct change_list *changes)
{
    uint64_t rows = 0;
    for (size_t i = 0; i < changes->count; i++)
        rows += rows_of(&changes->items[i]);
    return rows;
}

/* A deletion of allocations is one change for all that the consumer holds. */
uint64_t write_limit_rows(const struct effects *effects)
{
    uint64_t rows = write_limit_changes(effects->changes);
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
