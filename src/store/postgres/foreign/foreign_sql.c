/* See foreign_sql.h. Pure; any thread. */
#include "store/postgres/foreign/foreign_sql.h"

#include <stdlib.h>

const char FOREIGN_NEW[] =
    "SELECT txid_current_snapshot()::text, f.entity, CASE WHEN f.entity = 'consumer'"
    " AND f.entity_id = 0 THEN coalesce((SELECT c.id FROM consumers c WHERE c.uuid ="
    " f.consumer_uuid), 0) ELSE f.entity_id END, f.consumer_uuid FROM (SELECT 1) one"
    " LEFT JOIN LATERAL (SELECT DISTINCT entity, entity_id, consumer_uuid FROM berth_foreign"
    " WHERE " FOREIGN_IS_NEW("$1", "$2") " LIMIT 4001) f ON true";

const char FOREIGN_WAITING[] = "SELECT " FOREIGN_WAITING_COUNT;

const char FOREIGN_LOOK[] = "SELECT txid_snapshot_xmin(txid_current_snapshot()), " FOREIGN_TRIGGERS
                            ", txid_current_snapshot()::text";

/* Its xmin, with which it begins. */
static int64_t oldest_of(const char *snapshot)
{
    return strtoll(snapshot, NULL, 10);
}

char *foreign_view_text(struct slice snapshot)
{
    char *text = snapshot.len == 0 ? NULL : slice_dup(snapshot);
    if (text == NULL || oldest_of(text) > 0)
        return text;
    free(text);
    return NULL;
}

void foreign_view_parameters(const struct foreign_view *view, bool is_of_server,
                             struct pg_parameter parameters[static FOREIGN_PARAMETERS])
{
    bool is_known = is_of_server && view->text != NULL;
    parameters[0] = pg_int8(is_known ? oldest_of(view->text) : 0);
    parameters[1] = pg_text(is_known ? slice_of(view->text) : SLICE_LIT("1:1:"));
}

void foreign_notes_read(const struct pg_rows *rows, size_t column, struct foreign_notes *notes)
{
    for (size_t i = 0; i < pg_rows_count(rows); i++) {
        struct slice entity = pg_rows_bytes(rows, i, column);
        int64_t id = 0;
        if (!pg_rows_int(rows, i, column + 1, &id))
            id = 0;
        if (entity.data != NULL)
            foreign_notes_add(notes, entity, id, pg_rows_bytes(rows, i, column + 2));
    }
}
