/* See check_waves.h. A database may execute the rows of an update in any order: they are executed
 * forwards and backwards. One thread. */
#include "check_waves.h"

#include <stdlib.h>

#include "base/arena.h"
#include "random_batch.h"

/* ---- the form of the result ---- */

static bool is_folded_kind(const struct bundle *bundle)
{
    return bundle->kind == BUNDLE_PROVIDER_GENERATION;
}

/* Marks the changes of a row; returns how many were folded into it. */
static size_t mark_row(const struct bundle *bundle, const struct bundle_row *row,
                       const struct change *changes, bool *marks)
{
    check(bundle_kind_of(&changes[row->first]) == bundle->kind);
    check(row->first == row->last || is_folded_kind(bundle));
    size_t count = 0;
    for (size_t i = row->first; i <= row->last; i++) {
        if (changes[i].kind != changes[row->first].kind ||
            (i != row->first &&
             changes[i].generation.provider_id != changes[row->first].generation.provider_id))
            continue;
        check(!marks[i]);
        marks[i] = true;
        count++;
    }
    return count - 1;
}

/* Whether a statement of that kind must not have two rows with the same key. */
static bool has_keys(enum bundle_kind kind)
{
    bool is_insert = kind >= BUNDLE_RECORD_INSERT && kind < BUNDLE_CLASS_RENAME;
    bool is_delete = kind > BUNDLE_ALLOCATIONS_OF_DELETE && kind < BUNDLE_CLASS_INSERT;
    return is_insert || is_delete || kind >= BUNDLE_CLASS_RENAME;
}

static bool has_two_keys(const struct change *change)
{
    return change->kind >= CHANGE_INVENTORY_INSERT &&
           change->kind <= CHANGE_PROVIDER_AGGREGATE_DELETE;
}

/* The keys are first in each kind of change. */
static void check_keys(const struct bundle *bundle, const struct change *changes)
{
    for (size_t i = 0; i < bundle->count; i++)
        for (size_t j = 0; j < i; j++) {
            const struct change *a = &changes[bundle->rows[i].first];
            const struct change *b = &changes[bundle->rows[j].first];
            check(a->link.provider_id != b->link.provider_id ||
                  (has_two_keys(a) && a->link.other_id != b->link.other_id));
            check(bundle->kind < BUNDLE_CONSUMER_UPDATE ||
                  a->link.provider_id > b->link.provider_id);
        }
}

static size_t check_form(const struct waves *waves, const struct store_batch *batch, size_t count,
                         struct arena *arena)
{
    bool *marks = arena_zalloc(arena, count * sizeof(*marks));
    size_t folded = 0;
    for (size_t i = 0; i < waves->count; i++) {
        const struct bundle *bundle = &waves->bundles[i];
        const struct bundle *before = i == 0 ? NULL : bundle - 1;
        check(bundle->count > 0 && bundle->wave < waves->waves);
        check(before == NULL || before->wave < bundle->wave ||
              (before->wave == bundle->wave && before->kind < bundle->kind));
        for (size_t r = 0; r < bundle->count; r++)
            folded += mark_row(bundle, &bundle->rows[r], batch->changes, marks);
        if (has_keys(bundle->kind))
            check_keys(bundle, batch->changes);
    }
    for (size_t i = 0; i < count; i++)
        check(marks[i]);
    return folded;
}

/* ---- execution ---- */

static bool execute_one_by_one(struct tables *tables, const struct store_batch *batch, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (tables_execute_planned(tables, &batch->changes[i]) != NULL)
            return false;
    return true;
}

static bool execute_bundle(struct tables *tables, const struct bundle *bundle,
                           const struct change *changes, bool is_backwards)
{
    for (size_t i = 0; i < bundle->count; i++) {
        bool is_from_end = is_backwards && bundle->kind >= BUNDLE_CLASS_RENAME;
        const struct bundle_row *row = &bundle->rows[is_from_end ? bundle->count - 1 - i : i];
        struct change change = changes[row->last];
        if (is_folded_kind(bundle))
            change.generation.expected = changes[row->first].generation.expected;
        if (tables_execute_planned(tables, &change) != NULL)
            return false;
    }
    return true;
}

static bool execute_waves(struct tables *tables, const struct waves *waves,
                          const struct store_batch *batch, bool is_backwards)
{
    for (size_t i = 0; i < waves->count; i++)
        if (!execute_bundle(tables, &waves->bundles[i], batch->changes, is_backwards))
            return false;
    return true;
}

/* Changes are zeroed before they are filled, and equal texts of tables are the same text. */
static struct slice bytes_of(const struct change *image)
{
    return (struct slice){(const char *)image, sizeof(*image)};
}

/* Rows without ids are in no order. */
static bool has_row(const struct rows *rows, const struct change *image)
{
    for (uint32_t i = 0; i < rows->count; i++)
        if (slice_equal(bytes_of(&rows->row[i].image), bytes_of(image)))
            return true;
    return false;
}

static void check_equal(const struct tables *a, const struct tables *b)
{
    for (int t = 0; t < TABLE_COUNT; t++) {
        check(a->rows[t].count == b->rows[t].count);
        for (uint32_t i = 0; i < a->rows[t].count; i++)
            check(has_row(&b->rows[t], &a->rows[t].row[i].image));
    }
}

static bool compare(const struct tables *base, struct tables *one, struct tables *other,
                    const struct waves *waves, const struct store_batch *batch, size_t count)
{
    tables_copy(one, base);
    bool is_done = execute_one_by_one(one, batch, count);
    for (int is_backwards = 0; is_backwards <= 1; is_backwards++) {
        tables_copy(other, base);
        check(execute_waves(other, waves, batch, is_backwards != 0) == is_done);
        if (is_done)
            check_equal(one, other);
    }
    return is_done;
}

struct check_waves_seen check_waves_of_bytes(const uint8_t *data, size_t size)
{
    struct texts texts = {0};
    struct arena *arena = arena_create();
    struct tables *tables = calloc(3, sizeof(*tables));
    check(tables != NULL);
    tables->texts = &texts;
    random_batch_base(tables, arena);
    struct store_batch batch = random_batch_make(tables, &tables[1], data, size, arena);
    size_t count = batch.ends[batch.requests - 1];
    struct waves waves = waves_arrange(&batch, arena);
    struct check_waves_seen seen = {
        .changes = count,
        .statements = waves.count,
        .folded = check_form(&waves, &batch, count, arena),
        .waves = waves.waves,
        .is_refused = !compare(tables, &tables[1], &tables[2], &waves, &batch, count),
    };
    free(tables);
    texts_free(&texts);
    arena_destroy(arena);
    return seen;
}
