/* Rows, their order and their texts. Texts are kept once, in a list: there are few. One thread. */
#include "tables_internal.h"

#include <stdlib.h>

struct text {
    struct text *next;
    size_t len;
    _Alignas(8) char data[]; /* a record's bytes, too */
};

void texts_free(struct texts *texts)
{
    while (texts->first != NULL) {
        struct text *gone = texts->first;
        texts->first = gone->next;
        free(gone);
    }
}

struct slice tables_keep_text(const struct tables *tables, struct slice text)
{
    struct texts *texts = tables->texts;
    if (text.data == NULL)
        return text;
    for (struct text *at = texts->first; at != NULL; at = at->next)
        if (slice_equal((struct slice){at->data, at->len}, text))
            return (struct slice){at->data, at->len};
    struct text *kept = malloc(sizeof(*kept) + text.len + 1);
    check(kept != NULL);
    *kept = (struct text){.next = texts->first, .len = text.len};
    memcpy(kept->data, text.data, text.len);
    texts->first = kept;
    return (struct slice){kept->data, kept->len};
}

void tables_copy(struct tables *to, const struct tables *from)
{
    for (int t = 0; t < TABLE_COUNT; t++) {
        to->rows[t].count = from->rows[t].count;
        memcpy(to->rows[t].row, from->rows[t].row, from->rows[t].count * sizeof(struct row));
    }
    to->clock = from->clock;
    to->texts = from->texts;
}

/* Providers, consumers, allocations, catalogs and rows of ours have their id first in the union. */
static int64_t id_of(const struct row *row)
{
    return row->image.catalog.id;
}

_Static_assert(offsetof(struct change, catalog.id) == offsetof(struct change, provider.id) &&
                   offsetof(struct change, catalog.id) == offsetof(struct change, consumer.id) &&
                   offsetof(struct change, catalog.id) == offsetof(struct change, allocation.id) &&
                   offsetof(struct change, catalog.id) == offsetof(struct change, row.id),
               "one id_of for all");

static bool has_ids(enum table table)
{
    return table != TABLE_INVENTORIES && table != TABLE_PROVIDER_TRAITS &&
           table != TABLE_PROVIDER_AGGREGATES;
}

struct row *tables_row(struct tables *tables, enum table table, int64_t id)
{
    struct rows *rows = &tables->rows[table];
    for (uint32_t i = 0; i < rows->count; i++)
        if (id_of(&rows->row[i]) == id)
            return &rows->row[i];
    return NULL;
}

const struct row *tables_find(const struct tables *tables, enum table table, int64_t id)
{
    const struct rows *rows = &tables->rows[table];
    for (uint32_t i = 0; i < rows->count; i++)
        if (id_of(&rows->row[i]) == id)
            return &rows->row[i];
    return NULL;
}

int64_t tables_highest_id(const struct tables *tables, enum table table)
{
    const struct rows *rows = &tables->rows[table];
    return rows->count == 0 ? 0 : id_of(&rows->row[rows->count - 1]);
}

int64_t tables_used(const struct tables *tables, int64_t provider_id, int64_t class_id)
{
    const struct rows *rows = &tables->rows[TABLE_ALLOCATIONS];
    int64_t sum = 0;
    for (uint32_t i = 0; i < rows->count; i++) {
        const struct change_allocation *allocation = &rows->row[i].image.allocation;
        if (allocation->provider_id == provider_id && allocation->class_id == class_id)
            sum += allocation->used;
    }
    return sum;
}

void tables_insert(struct tables *tables, enum table table, const struct change *image)
{
    struct rows *rows = &tables->rows[table];
    check(rows->count < ROWS_MAX);
    struct row row = {.birth = ++tables->clock, .image = *image};
    uint32_t at = rows->count++;
    for (; has_ids(table) && at > 0 && id_of(&rows->row[at - 1]) > id_of(&row); at--)
        rows->row[at] = rows->row[at - 1];
    rows->row[at] = row;
}

void tables_erase(struct tables *tables, enum table table, const struct row *row)
{
    struct rows *rows = &tables->rows[table];
    size_t at = (size_t)(row - rows->row);
    memmove(&rows->row[at], &rows->row[at + 1], (rows->count - at - 1) * sizeof(struct row));
    rows->count--;
}

void tables_touch(struct tables *tables, struct row *row, const struct change *change)
{
    row->revision = ++tables->clock;
    row->image.updated_at_us = change->updated_at_us;
}
