/* See row_reader.h. The thread of the reader's transaction. */
#include "store/row_reader.h"

enum {
    /* Ids in one call of find(). A database's client may keep the whole answer in memory: a row of
     * most tables has about 200 bytes, and a provider or consumer some ten rows, so 1000 of them
     * need 2 MB. A round trip for each 1000 costs nothing beside reading them. */
    IDS_MOST = 1000,
    SETS_MOST = 2 * ROWS_TABLE_COUNT
};

void row_set_take(const struct row_set *set, const struct cell *cells)
{
    struct change change;
    struct change_list *list = set->list;
    if (!rows_change(set->table, cells, list->arena, &change))
        return;
    rows_copy_texts(set->table, list->arena, &change);
    *change_append(list, change.kind) = change;
}

bool row_reader_find(const struct row_reader *reader, const struct row_set *sets, size_t count,
                     struct err *err)
{
    struct row_set part[SETS_MOST];
    size_t parts = 0;
    size_t ids = 0;
    size_t at = 0; /* in the ids of sets[i] */
    for (size_t i = 0; i < count;) {
        size_t left = sets[i].count - at;
        size_t take = left < IDS_MOST - ids ? left : IDS_MOST - ids;
        if (take > 0) {
            part[parts] = sets[i];
            part[parts].ids += at;
            part[parts++].count = take;
        }
        ids += take;
        at += take;
        if (at == sets[i].count) {
            i++;
            at = 0;
        }
        if (parts == SETS_MOST || ids == IDS_MOST || (i == count && parts > 0)) {
            if (!reader->find(reader->cls, part, parts, err))
                return false;
            parts = 0;
            ids = 0;
        }
    }
    return true;
}

bool row_reader_find_consumers(const struct row_reader *reader, const struct slice *uuids,
                               size_t count, consumer_take *take, void *take_cls, struct err *err)
{
    if (reader->find_consumers == NULL) {
        for (size_t i = 0; i < count; i++)
            take(take_cls, 0, uuids[i]);
        return true;
    }
    for (size_t at = 0; at < count; at += ROW_READER_UUIDS_MOST) {
        size_t left = count - at;
        if (!reader->find_consumers(reader->cls, uuids + at,
                                    left < ROW_READER_UUIDS_MOST ? left : ROW_READER_UUIDS_MOST,
                                    take, take_cls, err))
            return false;
    }
    return true;
}
