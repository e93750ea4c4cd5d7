/* See columns.h. The information schema shows a user only what the user has some right on, and of
 * each column which rights these are, wherever they come from. One thread at a time. */
#include "store/mariadb/schema/columns.h"

#include <string.h>

#include "base/check.h"
#include "store/mariadb/session/ask.h"
#include "store/mariadb/session/variables.h"

enum { NAME, COLUMN, CHARS, CHARSET, COLLATION, RIGHTS };

static const char COLUMNS[] =
    "SELECT TABLE_NAME, COLUMN_NAME, CHARACTER_MAXIMUM_LENGTH, CHARACTER_SET_NAME, COLLATION_NAME,"
    " PRIVILEGES FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME IN"
    " ('allocations', 'consumer_types', 'consumers', 'inventories', 'placement_aggregates',"
    " 'projects', 'resource_classes', 'resource_provider_aggregates', 'resource_provider_traits',"
    " 'resource_providers', 'traits', 'users')";

/* NULL for one that berth does not use. */
static struct mariadb_column *columns_find(struct mariadb_columns *columns, struct slice table,
                                           struct slice name)
{
    for (unsigned t = 0; t < ROWS_RECORDS; t++) {
        const struct rows_info *info = rows_info((enum rows_table)t);
        check(info->count <= VALUE_COLUMNS_MOST);
        if (!slice_equal(table, slice_of(info->name)))
            continue;
        for (unsigned i = 0; i < info->count; i++)
            if ((info->columns[i].flags & ROWS_OF_CONSUMER) == 0 &&
                slice_equal_nocase(name, slice_of(info->columns[i].name)))
                return &columns->of[t][i];
    }
    return NULL;
}

static void take_column(const struct mariadb_rows *rows, size_t i, struct mariadb_column *column)
{
    int64_t chars = mariadb_answer_int(rows, i, CHARS);
    const char *rights = mariadb_rows_bytes(rows, i, RIGHTS).data;
    column->is_there = true;
    column->chars = (uint16_t)(chars > UINT16_MAX ? UINT16_MAX : chars);
    mariadb_copy_value(column->charset, sizeof(column->charset),
                       mariadb_rows_bytes(rows, i, CHARSET));
    mariadb_copy_value(column->collation, sizeof(column->collation),
                       mariadb_rows_bytes(rows, i, COLLATION));
    column->may_select = rights != NULL && strstr(rights, "select") != NULL;
    column->may_insert = rights != NULL && strstr(rights, "insert") != NULL;
    column->may_update = rights != NULL && strstr(rights, "update") != NULL;
}

enum server_outcome mariadb_columns_read(struct mariadb_session *session,
                                         struct mariadb_columns *columns, uint64_t deadline_us,
                                         struct err *err)
{
    struct mariadb_rows rows = {0};
    enum server_outcome outcome = mariadb_ask(session, SLICE_LIT(COLUMNS), &rows, deadline_us, err);
    if (outcome == SERVER_OK)
        *columns = (struct mariadb_columns){0};
    for (size_t i = 0; outcome == SERVER_OK && i < mariadb_rows_count(&rows); i++) {
        struct mariadb_column *column = columns_find(columns, mariadb_rows_bytes(&rows, i, NAME),
                                                     mariadb_rows_bytes(&rows, i, COLUMN));
        if (column != NULL)
            take_column(&rows, i, column);
    }
    mariadb_rows_free(&rows);
    return outcome;
}
