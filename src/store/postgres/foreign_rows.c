/* See foreign_rows.h. Pure; any thread. */
#include "store/postgres/foreign_rows.h"

#include <stdlib.h>
#include <string.h>

#include "store/cell.h"
#include "store/reread.h"

const char FOREIGN_NEW[] =
    "SELECT txid_current_snapshot()::text, f.entity, CASE WHEN f.entity = 'consumer'"
    " AND f.entity_id = 0 THEN coalesce((SELECT c.id FROM consumers c WHERE c.uuid ="
    " f.consumer_uuid), 0) ELSE f.entity_id END, f.consumer_uuid FROM (SELECT 1) one"
    " LEFT JOIN LATERAL (SELECT DISTINCT entity, entity_id, consumer_uuid FROM berth_foreign"
    " WHERE " FOREIGN_IS_NEW("$1", "$2") " LIMIT 4001) f ON true";

const char FOREIGN_WAITING[] = "SELECT " FOREIGN_WAITING_COUNT;

const char FOREIGN_LOOK[] = "SELECT txid_snapshot_xmin(txid_current_snapshot()), " FOREIGN_TRIGGERS
                            ", txid_current_snapshot()::text";

void foreign_view_free(struct foreign_view *view)
{
    free(view->snapshot);
    *view = (struct foreign_view){0};
}

void foreign_view_copy(struct foreign_view *to, const struct foreign_view *from)
{
    char *snapshot = from->snapshot == NULL ? NULL : slice_dup(slice_of(from->snapshot));
    free(to->snapshot);
    *to = *from;
    to->snapshot = snapshot;
}

bool foreign_view_set(struct foreign_view *view, struct slice snapshot,
                      const struct server_id *server)
{
    if (snapshot.len == 0)
        return false;
    free(view->snapshot);
    view->snapshot = slice_dup(snapshot);
    view->oldest = strtoll(view->snapshot, NULL, 10);
    view->server = *server;
    return view->oldest > 0;
}

void foreign_view_parameters(const struct foreign_view *view, bool is_of_server,
                             struct pg_parameter parameters[static FOREIGN_PARAMETERS])
{
    bool is_known = is_of_server && view->snapshot != NULL;
    parameters[0] = pg_int8(is_known ? view->oldest : 0);
    parameters[1] = pg_text(is_known ? slice_of(view->snapshot) : SLICE_LIT("1:1:"));
}

static const char *const entities[ENTITY_NODE] = {
    [ENTITY_CLASS] = "class",         [ENTITY_TRAIT] = "trait",
    [ENTITY_AGGREGATE] = "aggregate", [ENTITY_PROJECT] = "project",
    [ENTITY_USER] = "user",           [ENTITY_CONSUMER_TYPE] = "consumer type",
    [ENTITY_PROVIDER] = "provider",   [ENTITY_CONSUMER] = "consumer",
};

static enum entity entity_named(struct slice name)
{
    for (int entity = 0; entity < ENTITY_NODE; entity++)
        if (slice_equal(name, slice_of(entities[entity])))
            return (enum entity)entity;
    return ENTITY_COUNT;
}

/* A consumer whose uuid is none is invisible, as is one without a row. */
static bool is_visible(struct slice uuid)
{
    return uuid.len <= sizeof(((struct log_entry *)NULL)->uuid) && cell_is_uuid(uuid);
}

void foreign_entries_read(const struct pg_rows *rows, size_t column, struct foreign_entries *found)
{
    for (size_t i = 0; i < pg_rows_count(rows); i++) {
        struct slice name = pg_rows_bytes(rows, i, column);
        struct slice uuid = pg_rows_bytes(rows, i, column + 2);
        enum entity entity = entity_named(name);
        int64_t id = 0;
        if (name.data == NULL)
            continue;
        found->count++;
        found->is_everything |= entity == ENTITY_COUNT;
        if (entity == ENTITY_COUNT || !pg_rows_int(rows, i, column + 1, &id) || id == 0)
            continue;
        if (entity == ENTITY_CONSUMER && !is_visible(uuid))
            continue;
        const struct log_entry entry =
            reread_entry(entity, id, entity == ENTITY_CONSUMER ? uuid : (struct slice){0});
        log_entries_push(found->entries, &entry);
    }
    found->is_everything |= found->count > FOREIGN_ROWS_MOST;
}
