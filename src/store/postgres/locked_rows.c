/* See locked_rows.h. A row that is not there either is not locked: the statement that changes it
 * says so. */
#include "store/postgres/locked_rows.h"

#include "store/postgres/write_sql.h"

/* Of more providers than these, the others are waited for. */
enum { ROWS_MOST = 8192 };

const char LOCKED_ROWS_SQL[] =
    "SELECT CASE WHEN l.id IS NULL AND EXISTS (SELECT FROM resource_providers t WHERE t.id = p.id)"
    " THEN ('!' || p.n)::int END FROM unnest($1::int[]) WITH ORDINALITY AS p (id, n)"
    " LEFT JOIN (SELECT id FROM resource_providers WHERE id = ANY ($1::int[])"
    " FOR NO KEY UPDATE SKIP LOCKED) l ON l.id = p.id";

int64_t locked_rows_provider(const struct change *change)
{
    switch (change->kind) {
    case CHANGE_PROVIDER_GENERATION:
        return change->generation.provider_id;
    case CHANGE_PROVIDER_UPDATE:
    case CHANGE_PROVIDER_DELETE:
        return change->provider.id;
    default:
        return 0;
    }
}

static bool is_noted(const struct locked_rows *rows, int64_t id)
{
    bool is = false;
    for (unsigned i = 0; i < LOCKED_ROWS_KNOWN; i++)
        is |= rows->ids[i] == id;
    return is;
}

static void forget(struct locked_rows *rows, int64_t id)
{
    for (unsigned i = 0; i < LOCKED_ROWS_KNOWN; i++)
        if (rows->ids[i] == id)
            rows->ids[i] = 0;
}

static bool is_any_noted(const struct locked_rows *rows)
{
    bool is = rows->is_unnamed;
    for (unsigned i = 0; i < LOCKED_ROWS_KNOWN; i++)
        is |= rows->ids[i] != 0;
    return is;
}

size_t locked_rows_ask(const struct locked_rows *rows, struct locked_look *look,
                       struct arena *arena, const struct change *changes, size_t count,
                       struct pg_array *ids)
{
    *look = (struct locked_look){0};
    if (!is_any_noted(rows))
        return 0;
    look->changes = arena_array(arena, count, sizeof(size_t));
    pg_array_begin(ids, PG_INT4_ARRAY);
    for (size_t i = 0; i < count && look->count < ROWS_MOST; i++) {
        int64_t id = locked_rows_provider(&changes[i]);
        if (id <= 0 || id != (int32_t)id || !(rows->is_unnamed || is_noted(rows, id)))
            continue;
        pg_array_add_int(ids, id);
        look->changes[look->count++] = i;
    }
    return look->count;
}

void locked_rows_wait_ended(struct locked_rows *rows)
{
    rows->is_unnamed = true;
}

size_t locked_rows_find(struct locked_rows *rows, const struct locked_look *look,
                        const struct change *changes, struct slice message)
{
    size_t row = write_sql_row(message);
    if (row >= look->count)
        return SIZE_MAX;
    int64_t id = locked_rows_provider(&changes[look->changes[row]]);
    if (!is_noted(rows, id))
        rows->ids[rows->next++ % LOCKED_ROWS_KNOWN] = id;
    rows->is_unnamed = false;
    return look->changes[row];
}

void locked_rows_passed(struct locked_rows *rows, const struct locked_look *look,
                        const struct change *changes)
{
    rows->is_unnamed = false;
    for (size_t i = 0; i < look->count; i++)
        forget(rows, locked_rows_provider(&changes[look->changes[i]]));
}
