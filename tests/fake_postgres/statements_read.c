/* Reads of rows: the texts that rows_sql.c makes for each table. What they check of other rows is
 * not: no row of the simulation refers to one that is missing. One thread. */
#include <stdlib.h>

#include "statements.h"
#include "store/postgres/exchange/rows_sql.h"
#include "write_plan.h"

enum { IDS_MOST = 1024 };

static struct {
    bool is_made;
    struct buf all[ROWS_TABLE_COUNT];
    struct buf of_ids[ROWS_TABLE_COUNT];
    struct buf recent[ROWS_TABLE_COUNT]; /* up to the condition */
} texts;

static const char SINCE[] = " WHERE age(t.xmin) <= age('";

static void make_texts(void)
{
    for (int table = 0; table < ROWS_TABLE_COUNT && !texts.is_made; table++) {
        pg_rows_sql_all((enum rows_table)table, &texts.all[table]);
        pg_rows_sql_of_ids((enum rows_table)table, &texts.of_ids[table]);
        pg_rows_sql_recent((enum rows_table)table, 0, &texts.recent[table]);
        *strstr(texts.recent[table].data, SINCE) = '\0';
    }
    texts.is_made = true;
}

void statements_forget(void)
{
    for (int table = 0; table < ROWS_TABLE_COUNT; table++) {
        buf_free(&texts.all[table]);
        buf_free(&texts.of_ids[table]);
        buf_free(&texts.recent[table]);
    }
    texts.is_made = false;
    write_plans_forget();
    statements_forget_records();
}

static enum pg_type type_of(const struct rows_column *column)
{
    static const enum pg_type types[] = {
        [CELL_INTEGER] = PG_INT4, [CELL_NUMBER] = PG_INT4,    [CELL_RATIO] = PG_FLOAT8,
        [CELL_TEXT] = PG_TEXT,    [CELL_TIME] = PG_TIMESTAMP,
    };
    return types[column->cell];
}

static int64_t integer_of(const struct rows_column *column, const char *field)
{
    int64_t wide = 0;
    int32_t narrow = 0;
    memcpy(column->bytes == sizeof(wide) ? (void *)&wide : (void *)&narrow, field, column->bytes);
    return wide + narrow;
}

static void add_value(struct pg_result *result, const struct rows_column *column,
                      const struct change *image)
{
    const char *field = (const char *)image + column->at;
    struct slice text;
    double ratio;
    switch (column->cell) {
    case CELL_INTEGER:
    case CELL_NUMBER:
        if (integer_of(column, field) == 0 && column->cell == CELL_INTEGER &&
            (column->flags & ROWS_NEEDED) == 0)
            result_add_null(result);
        else
            result_add_int(result, integer_of(column, field));
        return;
    case CELL_RATIO:
        memcpy(&ratio, field, sizeof(ratio));
        result_add_float(result, ratio);
        return;
    case CELL_TEXT:
        memcpy(&text, field, sizeof(text));
        result_add_bytes(result, text);
        return;
    case CELL_TIME:
        result_add_time(result, integer_of(column, field));
        return;
    }
}

static void add_row(struct pg_result *result, const struct rows_info *info,
                    const struct change *image)
{
    for (unsigned i = 0; i < info->count; i++)
        add_value(result, &info->columns[i], image);
}

static struct pg_result *begin_result(const struct call *call, const struct rows_info *info)
{
    struct pg_result *result = result_rows(call->message->is_binary);
    for (unsigned i = 0; i < info->count; i++)
        result_column(result, type_of(&info->columns[i]));
    return result;
}

static enum table table_of(enum rows_table table)
{
    return table == ROWS_PARENTS   ? TABLE_PROVIDERS
           : table == ROWS_HOLDERS ? TABLE_ALLOCATIONS
                                   : (enum table)table;
}

/* Rows with that value in the first column; allocations by their consumer or provider. */
static bool is_asked(enum rows_table table, const struct rows_info *info,
                     const struct change *image, int64_t id)
{
    if (table == ROWS_ALLOCATIONS)
        return image->allocation.consumer_id == id;
    if (table == ROWS_HOLDERS)
        return image->allocation.provider_id == id;
    return integer_of(&info->columns[0], (const char *)image + info->columns[0].at) == id;
}

static void read_all(struct call *call, enum rows_table table, const struct tables *tables)
{
    const struct rows_info *info = rows_info(table);
    const struct rows *rows = &tables->rows[table_of(table)];
    call->result = begin_result(call, info);
    for (uint32_t i = 0; i < rows->count; i++)
        add_row(call->result, info, &rows->row[i].image);
}

/* Each row comes once. */
static bool is_repeated(const struct value *ids, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (ids[i].integer == ids[at].integer)
            return true;
    return false;
}

static void read_of_ids(struct call *call, enum rows_table table, const struct tables *tables)
{
    static struct value ids[IDS_MOST];
    const struct rows_info *info = rows_info(table);
    const struct rows *rows = &tables->rows[table_of(table)];
    size_t count = parameter_array(call, 1, ids, IDS_MOST);
    call->result = begin_result(call, info);
    for (size_t k = 0; k < count; k++)
        for (uint32_t i = 0; i < rows->count && !is_repeated(ids, k); i++)
            if (is_asked(table, info, &rows->row[i].image, ids[k].integer))
                add_row(call->result, info, &rows->row[i].image);
}

/* Rows that were committed from that number of the clock on, which stands for transactions. */
static void read_recent(struct call *call, enum rows_table table, uint64_t from,
                        const struct tables *tables)
{
    const struct rows_info *info = rows_info(table);
    const struct rows *rows = &tables->rows[table_of(table)];
    call->result = begin_result(call, info);
    for (uint32_t i = 0; i < rows->count; i++)
        if (rows->row[i].revision >= from)
            add_row(call->result, info, &rows->row[i].image);
}

/* "SELECT count(*) FROM traits", "SELECT id FROM traits ORDER BY id" */
static bool read_ids(struct call *call)
{
    static const char count[] = "SELECT count(*) FROM ";
    static const char ids[] = "SELECT id FROM ";
    struct slice sql = slice_of(call->sql);
    bool is_count = slice_starts_with(sql, slice_of(count));
    if (!is_count && !slice_starts_with(sql, slice_of(ids)))
        return false;
    struct slice name = slice_skip(sql, is_count ? strlen(count) : strlen(ids));
    enum rows_table table = table_named(slice_cut(&name, ' '));
    const struct view view = transaction_view(call->session);
    const struct rows *rows = &view.tables->rows[table];
    check(table < ROWS_RECORDS);
    call->result = result_rows(call->message->is_binary);
    result_column(call->result, is_count ? PG_INT8 : PG_INT4);
    for (uint32_t i = 0; i < rows->count && !is_count; i++)
        result_add_int(call->result, rows->row[i].image.row.id);
    if (is_count)
        result_add_int(call->result, rows->count);
    return true;
}

static bool read_since(struct call *call)
{
    const char *since = strstr(call->sql, SINCE);
    for (int t = 0; since != NULL && t < ROWS_RECORDS; t++) {
        struct slice before = {call->sql, (size_t)(since - call->sql)};
        if (!slice_equal(before, slice_of(texts.recent[t].data)))
            continue;
        const struct view view = transaction_view(call->session);
        read_recent(call, (enum rows_table)t, strtoull(since + strlen(SINCE), NULL, 10),
                    view.tables);
        return true;
    }
    return false;
}

enum outcome statement_read(struct call *call, bool *is_known)
{
    make_texts();
    *is_known = read_ids(call) || read_since(call);
    for (int t = 0; !*is_known && t < ROWS_TABLE_COUNT; t++) {
        enum rows_table table = (enum rows_table)t;
        bool is_all = strcmp(call->sql, texts.all[t].data) == 0;
        if (!is_all && strcmp(call->sql, texts.of_ids[t].data) != 0)
            continue;
        *is_known = true;
        const struct view view = transaction_view(call->session);
        if (rows_is_record(table))
            records_read(call, (enum record_table)(table - ROWS_RECORDS), is_all, view.tables);
        else if (is_all)
            read_all(call, table, view.tables);
        else
            read_of_ids(call, table, view.tables);
        return OUTCOME_DONE;
    }
    return OUTCOME_DONE;
}
