/* The constraints of berth's own tables of records: what is unique, and that what goes is there.
 * One thread. */
#include "model/node.h"
#include "model/node_allocation.h"
#include "tables_internal.h"

/* The row's record as one that stays as long as the program runs. */
static const struct record *keep(const struct record *record)
{
    struct slice bytes = {(const char *)record, record->bytes};
    return (const struct record *)(const void *)tables_keep_text(bytes).data;
}

static const char *find_clash(const struct rows *rows, const struct record_shape *shape,
                              const struct record *wanted)
{
    for (uint32_t i = 0; i < rows->count; i++) {
        const struct record *other = rows->row[i].image.row.record;
        for (unsigned f = 0; f < shape->stored && other->id != wanted->id; f++)
            if ((shape->fields[f].flags & RECORD_UNIQUE) != 0 && !record_is_null(wanted, f) &&
                slice_equal(record_text(wanted, f), record_text(other, f)))
                return shape->fields[f].name;
    }
    return NULL;
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
            return "the row that goes is there";
        tables_erase(tables, table, row);
        return NULL;
    }
    const char *clash = find_clash(&tables->rows[table], shape, change->row.record);
    if (clash != NULL)
        return clash;
    struct change image = *change;
    image.row.record = keep(change->row.record);
    if (row == NULL) {
        tables_insert(tables, table, &image);
    } else {
        row->image.row = image.row;
        tables_touch(tables, row, &image);
    }
    return NULL;
}
