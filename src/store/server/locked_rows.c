/* See locked_rows.h. */
#include "store/server/locked_rows.h"

/* Of more providers than these, the others are waited for. */
enum { ROWS_MOST = 8192 };

/* Whose row a change changes; 0: no provider's that is there. */
static int64_t provider_of(const struct change *change)
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

struct locked_look locked_rows_ask(const struct locked_rows *rows, struct arena *arena,
                                   const struct change *changes, size_t count)
{
    if (!is_any_noted(rows))
        return (struct locked_look){0};
    size_t *found = arena_array(arena, count, sizeof(*found));
    int64_t *ids = arena_array(arena, count, sizeof(*ids));
    size_t found_n = 0;
    for (size_t i = 0; i < count && found_n < ROWS_MOST; i++) {
        int64_t id = provider_of(&changes[i]);
        if (id <= 0 || id != (int32_t)id || !(rows->is_unnamed || is_noted(rows, id)))
            continue;
        ids[found_n] = id;
        found[found_n++] = i;
    }
    return (struct locked_look){ids, found, found_n};
}

void locked_rows_wait_ended(struct locked_rows *rows)
{
    rows->is_unnamed = true;
}

size_t locked_rows_find(struct locked_rows *rows, const struct locked_look *look, size_t row)
{
    if (row >= look->count)
        return SIZE_MAX;
    int64_t id = look->ids[row];
    if (!is_noted(rows, id))
        rows->ids[rows->next++ % LOCKED_ROWS_KNOWN] = id;
    rows->is_unnamed = false;
    return look->changes[row];
}

void locked_rows_passed(struct locked_rows *rows, const struct locked_look *look)
{
    rows->is_unnamed = false;
    for (size_t i = 0; i < look->count; i++)
        forget(rows, look->ids[i]);
}
