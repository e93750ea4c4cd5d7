/* Trees of rows. */
#include "replica/rows.h"

#include <stdlib.h>

#include "base/hash.h"

static struct record_row *rows_row_of(const struct record *record)
{
    return (struct record_row *)(uintptr_t)((const char *)record -
                                            offsetof(struct record_row, record));
}

const struct record *rows_at(const struct ptree *rows, int64_t id)
{
    uint64_t value;
    if (!ptree_find(rows, (uint64_t)id, 0, &value))
        return NULL;
    return &((const struct record_row *)(uintptr_t)value)->record;
}

const struct record *rows_find_text(const struct ptree *rows, const struct ptree *tree,
                                    unsigned field, struct slice text)
{
    uint64_t hash = hash_text(text);
    int64_t id = 0;
    while ((id = rows_next_under(tree, hash, id)) != 0) {
        const struct record *row = rows_at(rows, id);
        if (slice_equal(record_text(row, field), text))
            return row;
    }
    return NULL;
}

int64_t rows_next_id(const struct ptree *tree, int64_t after)
{
    struct ptree_iter iter;
    ptree_seek(tree, (uint64_t)after + 1, 0, &iter);
    const struct ptree_entry *entry = ptree_iter_get(&iter);
    return entry == NULL ? 0 : (int64_t)entry->k1;
}

int64_t rows_next_under(const struct ptree *tree, uint64_t key, int64_t after)
{
    struct ptree_iter iter;
    ptree_seek(tree, key, (uint64_t)after + 1, &iter);
    const struct ptree_entry *entry = ptree_iter_get(&iter);
    return entry == NULL || entry->k1 != key ? 0 : (int64_t)entry->k2;
}

const struct record *rows_replace(struct cow *cow, struct ptree *rows, int64_t id,
                                  const struct record *record)
{
    if (record == NULL) {
        ptree_remove(cow, rows, (uint64_t)id, 0);
        return NULL;
    }
    check(record->id == id && id > 0);
    struct record_row *row = cow_new(cow, sizeof(struct cow_node) + record->bytes);
    memcpy(&row->record, record, record->bytes);
    ptree_set(cow, rows, (uint64_t)id, 0, (uintptr_t)row);
    return &row->record;
}

void rows_drop(struct cow *cow, const struct record *record)
{
    if (record != NULL)
        cow_drop(cow, rows_row_of(record));
}

void rows_move_key(struct cow *cow, struct ptree *tree, int64_t id, bool had, uint64_t before,
                   bool has, uint64_t after)
{
    if (had == has && (!had || before == after))
        return;
    if (had)
        ptree_remove(cow, tree, before, (uint64_t)id);
    if (has)
        ptree_set(cow, tree, after, (uint64_t)id, 0);
}

static void free_row(void *cls, const struct ptree_entry *entry)
{
    struct record_row *row = (struct record_row *)(uintptr_t)entry->value;
    if (row->cow.birth >= *(const uint64_t *)cls)
        free(row);
}

void rows_free(struct ptree *rows, uint64_t birth)
{
    ptree_free(rows, birth, free_row, &birth);
}
