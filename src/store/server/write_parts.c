/* See write_parts.h. */
#include "store/server/write_parts.h"

#include <string.h>

#include "base/check.h"

const struct rows_info *write_parts_inserted(enum bundle_kind kind)
{
    static const enum rows_table tables[] = {
        ROWS_CLASSES,         ROWS_TRAITS,
        ROWS_AGGREGATES,      ROWS_PROJECTS,
        ROWS_USERS,           ROWS_CONSUMER_TYPES,
        ROWS_PROVIDERS,       ROWS_INVENTORIES,
        ROWS_PROVIDER_TRAITS, ROWS_PROVIDER_AGGREGATES,
        ROWS_CONSUMERS,       ROWS_ALLOCATIONS,
    };
    check(kind >= BUNDLE_CLASS_INSERT && kind <= BUNDLE_ALLOCATION_INSERT);
    return rows_info(tables[kind - BUNDLE_CLASS_INSERT]);
}

const struct record_table_info *write_parts_record(enum bundle_kind kind, enum record_write *write)
{
    static const enum bundle_kind first[] = {
        [RECORD_WRITE_DELETE] = BUNDLE_RECORD_DELETE,
        [RECORD_WRITE_INSERT] = BUNDLE_RECORD_INSERT,
        [RECORD_WRITE_UPDATE] = BUNDLE_RECORD_UPDATE,
    };
    *write = RECORD_WRITE_NONE;
    for (int i = RECORD_WRITE_DELETE; i <= RECORD_WRITE_UPDATE; i++)
        if (kind >= first[i] && kind - first[i] < RECORD_TABLE_COUNT) {
            *write = (enum record_write)i;
            return &record_tables[kind - first[i]];
        }
    return NULL;
}

struct cell write_parts_cell(const struct rows_column *column, const struct change *change)
{
    const char *field = (const char *)change + column->at;
    struct cell cell = {0};
    int32_t narrow = 0;
    switch (column->cell) {
    case CELL_INTEGER:
    case CELL_NUMBER:
        memcpy(column->bytes == sizeof(narrow) ? (void *)&narrow : (void *)&cell.integer, field,
               column->bytes);
        cell.integer += narrow;
        cell.is_null =
            column->cell == CELL_INTEGER && (column->flags & ROWS_NEEDED) == 0 && cell.integer == 0;
        break;
    case CELL_RATIO:
        memcpy(&cell.ratio, field, sizeof(cell.ratio));
        break;
    case CELL_TEXT:
        memcpy(&cell.text, field, sizeof(cell.text));
        cell.is_null = cell.text.data == NULL;
        break;
    case CELL_TIME:
        memcpy(&cell.integer, field, sizeof(cell.integer));
    }
    return cell;
}

int64_t write_parts_expected(const struct change *change)
{
    return change->kind == CHANGE_PROVIDER_GENERATION ? change->generation.expected
           : change->kind == CHANGE_PROVIDER_DELETE   ? change->provider.generation
                                                      : change->consumer.expected_generation;
}

struct slice write_parts_consumer_uuid(const struct change *change)
{
    return change->kind == CHANGE_ALLOCATIONS_OF_DELETE ? change->allocation.consumer_uuid
                                                        : change->consumer.uuid;
}
