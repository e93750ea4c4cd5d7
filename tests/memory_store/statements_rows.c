/* Executes changes on berth's own tables of records. Unique fields stay unique, and a row that is
 * deleted exists. One thread. */
#include "model/node.h"
#include "model/node_allocation.h"
#include "tables_internal.h"

/* A copy that lives as long as the tables' texts. */
static const struct record *keep(const struct tables *tables, const struct record *record)
{
    struct slice bytes = {(const char *)record, record->bytes};
    return (const struct record *)(const void *)tables_keep_text(tables, bytes).data;
}

static bool has_clash(const struct rows *rows, const struct record_shape *shape,
                      const struct record *wanted)
{
    for (uint32_t i = 0; i < rows->count; i++) {
        const struct record *other = rows->row[i].image.row.record;
        for (unsigned f = 0; f < shape->stored && other->id != wanted->id; f++)
            if ((shape->fields[f].flags & RECORD_UNIQUE) != 0 && !record_is_null(wanted, f) &&
                slice_equal(record_text(wanted, f), record_text(other, f)))
                return true;
    }
    return false;
}

static bool has_other_names(const struct record_shape *shape, const struct row *row,
                            const struct change *change)
{
    const struct record *before = row->image.row.record;
    for (unsigned f = 0; f < shape->stored; f++)
        if ((shape->fields[f].flags & RECORD_UNIQUE) != 0 &&
            !slice_equal(record_text(before, f), record_text(change->row.record, f)))
            return true;
    return false;
}

static enum table table_of(enum change_kind kind, const struct record_shape **shape)
{
    if (kind >= CHANGE_VALET_GROUP_PUT) {
        enum valet_table table = change_valet_table(kind);
        *shape = &VALET_SHAPES[table];
        return (enum table)(TABLE_VALET + (int)table);
    }
    bool is_node = kind == CHANGE_NODE_PUT || kind == CHANGE_NODE_DELETE;
    *shape = is_node ? &NODE_SHAPE : &NODE_ALLOCATION_SHAPE;
    return is_node ? TABLE_NODES : TABLE_NODE_ALLOCATIONS;
}

const char *tables_execute_row(struct tables *tables, const struct change *change)
{
    const struct record_shape *shape;
    enum table table = table_of(change->kind, &shape);
    struct row *row = tables_row(tables, table, change->row.id);
    if (change->row.record == NULL) {
        if (row == NULL)
            return STALE("a record that is deleted exists");
        tables_erase(tables, table, row);
        return NULL;
    }
    if (has_clash(&tables->rows[table], shape, change->row.record))
        return UNIQUE("a field of a record is unique");
    struct change image = *change;
    image.row.record = keep(tables, change->row.record);
    if (row == NULL) {
        tables_insert(tables, table, &image);
    } else {
        row->image.row = image.row;
        tables_touch(tables, row, &image);
    }
    return NULL;
}

const char *tables_execute_planned(struct tables *tables, const struct change *change)
{
    if (change->kind < CHANGE_NODE_PUT || change->row.record == NULL)
        return tables_execute(tables, change);
    const struct record_shape *shape;
    enum table table = table_of(change->kind, &shape);
    const struct row *row = tables_row(tables, table, change->row.id);
    if (row != NULL && change->is_new)
        return UNIQUE("the id of a record is unique");
    if (row == NULL && !change->is_new)
        return STALE("a record that is replaced exists");
    if (row != NULL && change->keeps_names && has_other_names(shape, row, change))
        return STALE("the record has the same names");
    return tables_execute(tables, change);
}
