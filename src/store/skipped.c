/* See skipped.h. Sorted arrays: they are nearly always empty, and are searched only for names that
 * memory does not know. The writer only. */
#include "store/skipped.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "log/log.h"

enum { NAMED_MAX = 20 }; /* logged one by one for one load */

struct skipped_text {
    enum change_kind kind;
    unsigned field;
    struct slice text;
};

static int skipped_compare_rows(const void *a, const void *b)
{
    const struct skipped_row *left = a;
    const struct skipped_row *right = b;
    int order = strcmp(left->table, right->table);
    return order != 0 ? order : (left->id > right->id) - (left->id < right->id);
}

static int compare_texts(const void *a, const void *b)
{
    const struct skipped_text *left = a;
    const struct skipped_text *right = b;
    if (left->kind != right->kind)
        return left->kind < right->kind ? -1 : 1;
    if (left->field != right->field)
        return left->field < right->field ? -1 : 1;
    return slice_compare(&left->text, &right->text);
}

static void *grow(void *array, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return array;
    *capacity = *capacity == 0 ? 16 : *capacity * 2;
    array = reallocarray(array, *capacity, size);
    check(array != NULL);
    return array;
}

void skipped_begin(struct skipped *skipped)
{
    struct skipped_rows spare = skipped->before;
    skipped->before = skipped->rows;
    skipped->rows = spare;
    skipped->rows.count = 0;
    skipped->text_count = 0;
    memset(skipped->referred, 0, sizeof(skipped->referred));
    if (skipped->arena != NULL)
        arena_reset(skipped->arena);
}

void skipped_add(struct skipped *skipped, const char *table, bool is_own_id, int64_t id)
{
    struct skipped_rows *rows = &skipped->rows;
    rows->at = grow(rows->at, rows->count, &rows->capacity, sizeof(*rows->at));
    rows->at[rows->count++] = (struct skipped_row){table, id, is_own_id};
}

void skipped_take(struct skipped *skipped, enum change_kind kind, unsigned field, struct slice text)
{
    if (text.data == NULL)
        return;
    if (skipped->arena == NULL)
        skipped->arena = arena_create();
    skipped->texts =
        grow(skipped->texts, skipped->text_count, &skipped->text_capacity, sizeof(*skipped->texts));
    skipped->texts[skipped->text_count++] =
        (struct skipped_text){kind, field, arena_copy(skipped->arena, text)};
}

void skipped_refer(struct skipped *skipped, enum store_table table, int64_t id)
{
    if (id > skipped->referred[table])
        skipped->referred[table] = id;
}

static bool is_in(const struct skipped_rows *rows, const struct skipped_row *row)
{
    return rows->count > 0 &&
           bsearch(row, rows->at, rows->count, sizeof(*row), skipped_compare_rows) != NULL;
}

void skipped_end(struct skipped *skipped, const char *path)
{
    struct skipped_rows *rows = &skipped->rows;
    if (skipped->text_count > 0)
        qsort(skipped->texts, skipped->text_count, sizeof(*skipped->texts), compare_texts);
    if (rows->count > 0)
        qsort(rows->at, rows->count, sizeof(*rows->at), skipped_compare_rows);
    size_t fresh = 0;
    for (size_t i = 0; i < rows->count; i++) {
        const struct skipped_row *row = &rows->at[i];
        bool is_twin = i > 0 && skipped_compare_rows(row, row - 1) == 0;
        if (is_twin || is_in(&skipped->before, row) || ++fresh > NAMED_MAX)
            continue;
        log_write(LOG_LEVEL_WARNING, "berth", LOG_NO_CONTEXT,
                  "the database '%s': a row of %s (%s %ld) is ignored: a value that it needs is "
                  "missing or invalid, or it refers to a row that does not exist",
                  path, row->table, row->is_own_id ? "id" : "resource_provider_id", row->id);
    }
    if (fresh > NAMED_MAX)
        log_write(LOG_LEVEL_WARNING, "berth", LOG_NO_CONTEXT,
                  "the database '%s': %zu more rows are ignored", path, fresh - NAMED_MAX);
}

bool skipped_has(const struct skipped *skipped, enum change_kind kind, unsigned field,
                 struct slice text)
{
    struct skipped_text wanted = {kind, field, text};
    return skipped->text_count > 0 && bsearch(&wanted, skipped->texts, skipped->text_count,
                                              sizeof(wanted), compare_texts) != NULL;
}

void skipped_free(struct skipped *skipped)
{
    free(skipped->rows.at);
    free(skipped->before.at);
    free(skipped->texts);
    if (skipped->arena != NULL)
        arena_destroy(skipped->arena);
}
