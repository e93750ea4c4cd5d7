/* See upstream.h. The statements of a sync, without those that would fail because there is nothing
 * for them to do. */
#include "upstream.h"

#include <string.h>

#include "store/mariadb/schema/upstream_schema.h"

static bool has_something_to_do(const char *statement)
{
    return strncmp(statement, "DROP INDEX", strlen("DROP INDEX")) != 0 &&
           strstr(statement, MARIADB_CREATING_TABLE) == NULL;
}

static void append_statements(const char *const *statements, struct buf *sql)
{
    for (; *statements != NULL; statements++)
        if (has_something_to_do(*statements))
            buf_printf(sql, "%s;", *statements);
}

void append_upstream(struct buf *sql)
{
    append_statements(mariadb_migration_texts.create_newest, sql);
    append_statements(mariadb_migration_texts.restore_indexes, sql);
    buf_append_char(sql, '\0');
}
