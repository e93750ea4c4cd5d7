/* Counts the rows that a request writes and decides whether it may write them. Each row costs the
 * writer thread about three microseconds, during which every other write waits. Any thread, except
 * for the functions that count. */
#include "engine/write_limit.h"

#include "engine/effects.h"
#include "model/record.h"
#include "replica/forest.h"
#include "replica/version.h"

/* Measured with 200 000 existing consumers. Four of a consumer's indexes are sorted by UUID: in
 * each, it needs a page of its own to be read and written, and a new consumer needs one in each
 * index of its allocations as well. The figure for new consumers applies when the pages must first
 * be read from disk. */
enum { ROWS_OF_NEW_CONSUMER = 15, ROWS_OF_CONSUMER = 7, ROWS_OF_GENERATION = 4 };
enum { BYTES_OF_ROW = 1024 };
/* That much work takes as long as a row. A link takes 35 ns if the slot sets are in the cache, and
 * ten times that if each must first be copied. */
enum { FOREST_WORK_OF_ROW = 16 };

static uint64_t rows_of(const struct change *change)
{
    switch (change->kind) {
    case CHANGE_CONSUMER_INSERT:
        return ROWS_OF_NEW_CONSUMER;
    case CHANGE_CONSUMER_DELETE:
        return ROWS_OF_CONSUMER;
    case CHANGE_CONSUMER_UPDATE:
        return change->is_generation_only ? ROWS_OF_GENERATION : ROWS_OF_CONSUMER;
    case CHANGE_NODE_PUT:
    case CHANGE_NODE_ALLOCATION_PUT:
    case CHANGE_VALET_CASES:
        return 1 + (change->row.record == NULL ? 0 : change->row.record->bytes / BYTES_OF_ROW);
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

/* When the shape of a tree changes, memory rewrites the positions of its providers, although a
 * child that is added or removed is only one row of the database. */
static uint64_t forest_work(const struct version *version, const struct effect_provider *provider)
{
    const struct change_provider *row = provider->row;
    const struct provider *parent = NULL;
    if (provider->is_gone)
        return provider->before == NULL ? 0 : forest_remove_work(version, provider->before->no);
    if (row == NULL)
        return 0;
    if (row->parent_id != 0)
        parent = version_provider_by_id(version, row->parent_id);
    if (provider->before == NULL)
        return parent == NULL ? 0 : forest_insert_work(version, parent->no);
    struct provider_no parent_no = {parent == NULL ? NUMBER_NONE : parent->no.v};
    if (provider->before->parent.v == parent_no.v)
        return 0;
    return forest_move_work(version, provider->before->no, parent_no);
}

/* A deletion of allocations is one change for everything that the consumer holds. */
uint64_t write_limit_rows(const struct effects *effects)
{
    uint64_t rows = write_limit_changes(effects->changes);
    for (size_t i = 0; i < effects->consumer_count; i++) {
        const struct effect_consumer *consumer = &effects->consumers[i];
        if (consumer->is_released && consumer->before != NULL &&
            consumer->before->allocation_count > 0)
            rows += consumer->before->allocation_count - 1;
    }
    uint64_t work = 0;
    for (size_t i = 0; i < effects->provider_count; i++)
        work += forest_work(effects->before, &effects->providers[i]);
    return rows + work / FOREST_WORK_OF_ROW;
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
