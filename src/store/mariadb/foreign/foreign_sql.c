/* See foreign_sql.h. */
#include "store/mariadb/foreign/foreign_sql.h"

#include "store/mariadb/foreign/foreign_ids.h"
#include "store/mariadb/foreign/foreign_triggers.h"

/* Ids beyond are not in the view, so that their notes are read again. Nobody has moved them for
 * long. */
#define IDS_MOST "100000"

#define IDS "SELECT id FROM berth_foreign ORDER BY id LIMIT " IDS_MOST ";"

/* Of a consumer with the id that it has now. The uuids are compared as texts first, of which the
 * server converts the note's whatever the column's character set is, so that the index is used; and
 * then byte by byte. */
#define ENTITY_ID                                                                                  \
    "CASE WHEN f.entity = 'consumer' AND f.entity_id = 0 THEN COALESCE((SELECT c.id FROM"          \
    " consumers c WHERE c.uuid = CONVERT(f.consumer_uuid USING"                                    \
    " ascii) AND HEX(c.uuid) = HEX(f.consumer_uuid)), 0)"                                          \
    " ELSE f.entity_id END"

static const char *text_of(const struct foreign_view *view, bool is_of_server)
{
    return is_of_server ? view->text : NULL;
}

void mariadb_foreign_exists(const struct foreign_view *view, bool is_of_server, struct buf *sql)
{
    buf_append_lit(sql, "EXISTS(SELECT 1 FROM berth_foreign WHERE ");
    mariadb_foreign_ids_condition(text_of(view, is_of_server), sql);
    buf_append_char(sql, ')');
}

void mariadb_foreign_new(const struct foreign_view *view, bool is_of_server, struct buf *sql)
{
    buf_append_lit(sql, "SELECT f.entity, " ENTITY_ID ", f.consumer_uuid FROM (SELECT DISTINCT"
                        " entity, entity_id, consumer_uuid FROM berth_foreign WHERE ");
    mariadb_foreign_ids_condition(text_of(view, is_of_server), sql);
    buf_printf(sql, " LIMIT %d) f;" IDS, FOREIGN_ROWS_MOST + 1);
}

static void read_note(const struct mariadb_rows *rows, size_t row, size_t column,
                      struct foreign_notes *notes)
{
    int64_t id = 0;
    if (!mariadb_rows_int(rows, row, column + 1, &id))
        id = 0;
    foreign_notes_add(notes, mariadb_rows_bytes(rows, row, column), id,
                      mariadb_rows_bytes(rows, row, column + 2));
}

void mariadb_foreign_read_new(const struct mariadb_rows results[static MARIADB_FOREIGN_RESULTS],
                              struct foreign_notes *notes)
{
    const struct mariadb_rows *rows = &results[MARIADB_FOREIGN_NEW];
    notes->were_asked = true;
    notes->view = mariadb_foreign_view(&results[MARIADB_FOREIGN_IDS]);
    for (size_t i = 0; i < mariadb_rows_count(rows); i++)
        read_note(rows, i, 0, notes);
}

char *mariadb_foreign_view(const struct mariadb_rows *ids)
{
    struct mariadb_foreign_ids made = {0};
    int64_t id;
    for (size_t i = 0; i < mariadb_rows_count(ids); i++)
        if (mariadb_rows_int(ids, i, 0, &id) && id > made.last)
            mariadb_foreign_ids_add(&made, id);
    return mariadb_foreign_ids_end(&made);
}

void mariadb_foreign_look(struct buf *sql)
{
    buf_append_lit(sql, "SELECT " MARIADB_FOREIGN_TRIGGERS_SEEN ", " MARIADB_FOREIGN_IS_COMPLETE
                        ";" IDS);
}

bool mariadb_foreign_coexists(const struct mariadb_rows *look)
{
    int64_t triggers, is_complete;
    return mariadb_rows_int(look, 0, 0, &triggers) && mariadb_rows_int(look, 0, 1, &is_complete) &&
           triggers == MARIADB_FOREIGN_TRIGGERS && is_complete == 1;
}

void mariadb_foreign_first(unsigned most, struct buf *sql)
{
    buf_printf(sql,
               "SELECT f.id, f.entity, " ENTITY_ID ", f.consumer_uuid FROM (SELECT id, entity,"
               " entity_id, consumer_uuid FROM berth_foreign ORDER BY id LIMIT %u) f"
               " ORDER BY f.entity, f.entity_id, f.consumer_uuid;",
               most);
}

static bool is_as_before(const struct mariadb_rows *rows, size_t row)
{
    for (size_t column = 1; column < 4; column++)
        if (row == 0 || !slice_equal(mariadb_rows_bytes(rows, row, column),
                                     mariadb_rows_bytes(rows, row - 1, column)))
            return false;
    return true;
}

void mariadb_foreign_read_first(const struct mariadb_rows *rows, struct foreign_notes *notes)
{
    for (size_t i = 0; i < mariadb_rows_count(rows); i++)
        if (!is_as_before(rows, i))
            read_note(rows, i, 1, notes);
}
