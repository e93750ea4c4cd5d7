/* Random batches, executed on tables in memory change by change, and on a server as statements: the
 * results are equal. */
#include <stdlib.h>

#include "fixture.h"
#include "random_batch.h"
#include "store/mariadb/exchange/rows_sql.h"

enum { BATCHES = 200, BYTES = 300, SECOND_US = 1000000 };

_Static_assert((int)TABLE_ALLOCATIONS == (int)ROWS_ALLOCATIONS &&
                   (int)TABLE_NODES == (int)ROWS_RECORDS && (int)TABLE_COUNT == (int)ROWS_PARENTS,
               "tables have one order");

/* ---- comparison ---- */

static bool is_equal_column(const struct rows_column *column, const struct change *a,
                            const struct change *b)
{
    const char *of_a = (const char *)a + column->at;
    const char *of_b = (const char *)b + column->at;
    struct slice text_a, text_b;
    int64_t time_a, time_b;
    double ratio_a, ratio_b;
    switch (column->cell) {
    case CELL_TEXT:
        memcpy(&text_a, of_a, sizeof(text_a));
        memcpy(&text_b, of_b, sizeof(text_b));
        return slice_equal(text_a, text_b);
    case CELL_TIME: /* the server has whole seconds */
        memcpy(&time_a, of_a, sizeof(time_a));
        memcpy(&time_b, of_b, sizeof(time_b));
        return time_a / SECOND_US == time_b / SECOND_US;
    case CELL_RATIO:
        memcpy(&ratio_a, of_a, sizeof(ratio_a));
        memcpy(&ratio_b, of_b, sizeof(ratio_b));
        return (float)ratio_a == (float)ratio_b;
    default:
        return memcmp(of_a, of_b, column->bytes) == 0;
    }
}

static bool is_equal_row(enum rows_table table, const struct change *a, const struct change *b)
{
    const struct rows_info *info = rows_info(table);
    if (info == NULL)
        return a->row.id == b->row.id && record_equal(a->row.record, b->row.record);
    for (unsigned i = 0; i < info->count; i++)
        if (!is_equal_column(&info->columns[i], a, b))
            return false;
    return true;
}

static bool has_row(enum rows_table table, const struct rows *rows, const struct change *image)
{
    for (uint32_t i = 0; i < rows->count; i++)
        if (is_equal_row(table, &rows->row[i].image, image))
            return true;
    return false;
}

static int compare_ids(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left;
    int64_t b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

/* The allocations of all consumers that have one, if any has. */
static void append_allocations(const struct rows *rows, struct buf *sql)
{
    static const struct mariadb_indexes indexes = {true, true, true};
    static int64_t ids[ROWS_MAX];
    size_t count = 0;
    for (uint32_t i = 0; i < rows->count; i++)
        ids[i] = rows->row[i].image.allocation.consumer_id;
    qsort(ids, rows->count, sizeof(*ids), compare_ids);
    for (uint32_t i = 0; i < rows->count; i++)
        if (count == 0 || ids[i] != ids[count - 1])
            ids[count++] = ids[i];
    if (count > 0)
        mariadb_rows_sql_of_ids(ROWS_ALLOCATIONS, ids, count, &indexes, sql);
}

/* Some of the records that are made up here are invisible: these are only counted. */
static void expect_equal_table(struct server *server, enum rows_table table,
                               const struct rows *rows)
{
    static struct change read[ROWS_MAX];
    struct buf sql = {0};
    size_t visible = 0;
    if (table == ROWS_ALLOCATIONS)
        append_allocations(rows, &sql);
    else
        mariadb_rows_sql_all(table, &sql);
    if (sql.len > 0)
        visible = read_rows(server, table, &sql, read, ROWS_MAX);
    sql.len = 0;
    buf_printf(&sql, "SELECT COUNT(*) FROM %s%c", rows_name(table), 0);
    size_t count = strtoul(value_of(server, sql.data), NULL, 10);
    buf_free(&sql);
    if (count != rows->count || (visible != count && !rows_is_record(table)))
        fail_msg("%s: %zu and %zu instead of %u", rows_name(table), count, visible, rows->count);
    for (size_t i = 0; i < visible; i++)
        if (!has_row(table, rows, &read[i]))
            fail_msg("%s: row %zu differs", rows_name(table), i);
}

/* ---- batches ---- */

static void append(struct server *server, const struct change *change)
{
    *change_append(&server->list, change->kind) = *change;
}

static void insert_base(struct server *server, const struct tables *base)
{
    for (int table = 0; table < TABLE_COUNT; table++)
        for (uint32_t i = 0; i < base->rows[table].count; i++) {
            struct change change = base->rows[table].row[i].image;
            change.is_new = table >= TABLE_NODES;
            append(server, &change);
        }
    expect_written(server);
}

/* The tables do not compare the generation of what is deleted: this is the one that they have. */
static void set_generation(const struct tables *tables, struct change *change)
{
    const struct row *row = NULL;
    if (change->kind == CHANGE_PROVIDER_DELETE)
        row = tables_find(tables, TABLE_PROVIDERS, change->provider.id);
    else if (change->kind == CHANGE_CONSUMER_DELETE)
        row = tables_find(tables, TABLE_CONSUMERS, change->consumer.id);
    if (row != NULL && change->kind == CHANGE_PROVIDER_DELETE)
        change->provider.generation = row->image.provider.generation;
    else if (row != NULL)
        change->consumer.expected_generation = row->image.consumer.generation;
}

/* Appends the changes to the server's list. False: the tables refuse one. */
static bool execute(struct server *server, struct tables *tables, const struct store_batch *batch,
                    size_t count)
{
    bool is_done = true;
    for (size_t i = 0; i < count; i++) {
        struct change change = batch->changes[i];
        set_generation(tables, &change);
        append(server, &change);
        is_done = is_done && tables_execute_planned(tables, &change) == NULL;
    }
    return is_done;
}

/* What the tables accept, the server does, too. It has fewer foreign keys, so that it may accept
 * more. Returns whether it was accepted by the tables. */
static bool check_batch(struct server *server, const struct tables *base, struct tables *scratch,
                        uint64_t seed, unsigned *refused)
{
    struct arena *arena = arena_create();
    struct rng rng = {seed};
    uint8_t data[BYTES];
    size_t size = 10 + (size_t)rng_below(&rng, BYTES - 10);
    for (size_t i = 0; i < size; i++)
        data[i] = (uint8_t)rng_next(&rng);
    const struct store_batch batch = random_batch_make(base, scratch, data, size, arena);
    size_t count = batch.ends[batch.requests - 1];
    tables_copy(scratch, base);
    bool is_done = execute(server, scratch, &batch, count);
    struct outcome outcome = begin_batch(server, server->mysql);
    if (is_done && !outcome.is_ok)
        fail_msg("seed %llu: %u: %s", (unsigned long long)seed, outcome.error, outcome.message);
    for (int table = 0; is_done && table < TABLE_COUNT; table++)
        expect_equal_table(server, (enum rows_table)table, &scratch->rows[table]);
    *refused += !outcome.is_ok;
    run(server->mysql, "ROLLBACK");
    arena_destroy(arena);
    return is_done;
}

static void test_random_batches(void **state)
{
    (void)state;
    struct server server;
    struct texts texts = {0};
    struct tables *tables = calloc(2, sizeof(*tables));
    unsigned accepted = 0, refused = 0;
    assert_non_null(tables);
    server_begin(&server, "utf8mb4");
    tables->texts = &texts;
    random_batch_base(tables, server.arena);
    insert_base(&server, tables);
    for (uint64_t seed = 1; seed <= BATCHES; seed++)
        accepted += check_batch(&server, tables, &tables[1], seed, &refused);
    assert_in_range(accepted, BATCHES / 4, BATCHES);
    assert_in_range(refused, BATCHES / 40, BATCHES / 2);
    free(tables);
    texts_free(&texts);
    server_end(&server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_batches)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
