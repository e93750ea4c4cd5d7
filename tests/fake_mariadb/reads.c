/* Reads of rows: the texts that rows_sql.c makes for each table, cut where their values are. What
 * they check of other rows is not: no row of the simulation refers to one that is missing. One
 * thread. */
#include <stdio.h>
#include <stdlib.h>

#include "maria.h"
#include "store/instant.h"
#include "store/mariadb/exchange/rows_sql.h"

enum { IDS_MOST = 1024 };

/* A text with a gap for values, which are not what is in the gap here. */
static const int64_t SOME_VALUE = 77777777;
#define SOME_TEXT "77777777"

struct read_text {
    struct buf text;
    struct slice before, behind; /* its first gap */
};

static struct {
    bool is_made;
    struct read_text all[ROWS_TABLE_COUNT]; /* without a gap */
    struct read_text of_ids[ROWS_TABLE_COUNT];
    struct read_text since[ROWS_TABLE_COUNT];
} texts;

/* Without the ";" at the end. */
static void end_text(struct read_text *text)
{
    const struct slice whole = {text->text.data, text->text.len - 1};
    check(text->text.len > 0 && whole.data[whole.len] == ';');
    text->behind = whole;
    text->before = maria_cut(&text->behind, SOME_TEXT);
}

static void make_texts(void)
{
    const struct mariadb_indexes indexes = {true, true, true};
    for (int table = 0; table < ROWS_TABLE_COUNT && !texts.is_made; table++) {
        mariadb_rows_sql_all((enum rows_table)table, &texts.all[table].text);
        mariadb_rows_sql_of_ids((enum rows_table)table, &SOME_VALUE, 1, &indexes,
                                &texts.of_ids[table].text);
        mariadb_rows_sql_since((enum rows_table)table, SOME_VALUE, &texts.since[table].text);
        end_text(&texts.all[table]);
        end_text(&texts.of_ids[table]);
        end_text(&texts.since[table]);
    }
    texts.is_made = true;
}

void maria_reads_forget(void)
{
    for (int table = 0; table < ROWS_TABLE_COUNT; table++) {
        buf_free(&texts.all[table].text);
        buf_free(&texts.of_ids[table].text);
        buf_free(&texts.since[table].text);
    }
    texts.is_made = false;
}

/* ---- columns ---- */

void maria_add_time(struct call *call, int64_t us)
{
    char text[INSTANT_LEN];
    if (us == 0) {
        maria_add_null(call);
        return;
    }
    instant_format(us, text);
    maria_add_text(call, (struct slice){text, INSTANT_LEN});
}

static int64_t integer_of(const struct rows_column *column, const struct change *image)
{
    const char *field = (const char *)image + column->at;
    int64_t wide = 0;
    int32_t narrow = 0;
    memcpy(column->bytes == sizeof(wide) ? (void *)&wide : (void *)&narrow, field, column->bytes);
    return wide + narrow;
}

static void add_value(struct call *call, const struct rows_column *column,
                      const struct change *image)
{
    const char *field = (const char *)image + column->at;
    struct slice text;
    double ratio;
    char digits[40];
    switch (column->cell) {
    case CELL_INTEGER:
    case CELL_NUMBER:
        if (integer_of(column, image) == 0 && column->cell == CELL_INTEGER &&
            (column->flags & ROWS_NEEDED) == 0)
            maria_add_null(call);
        else
            maria_add_int(call, integer_of(column, image));
        return;
    case CELL_RATIO:
        memcpy(&ratio, field, sizeof(ratio));
        snprintf(digits, sizeof(digits), "%.6g", ratio);
        maria_add_text(call, slice_of(digits));
        return;
    case CELL_TEXT:
        memcpy(&text, field, sizeof(text));
        maria_add_text(call, text);
        return;
    case CELL_TIME:
        maria_add_time(call, integer_of(column, image));
        return;
    }
}

static void add_row(struct call *call, enum rows_table table, bool is_joined,
                    const struct change *image)
{
    const struct rows_info *info = rows_info(table);
    for (unsigned i = 0; i < info->count; i++)
        if ((info->columns[i].flags & ROWS_OF_CONSUMER) != 0 && !is_joined)
            maria_add_null(call);
        else
            add_value(call, &info->columns[i], image);
}

static void add_field(struct call *call, const struct record_field *field,
                      const struct record *record, unsigned at)
{
    int64_t number = record_number(record, at);
    switch ((enum record_kind)field->kind) {
    case RECORD_TEXT:
    case RECORD_JSON:
    case RECORD_WORDS:
        maria_add_text(call, record_text(record, at));
        return;
    case RECORD_TIME:
        maria_add_time(call, number);
        return;
    case RECORD_BOOL:
        if (number == 0)
            maria_add_null(call);
        else
            maria_add_int(call, number == RECORD_TRUE);
        return;
    default:
        if (number == 0)
            maria_add_null(call);
        else
            maria_add_int(call, number);
    }
}

static void add_record(struct call *call, enum rows_table table, const struct change *image)
{
    const struct record_shape *shape = rows_record_info(table)->shape;
    maria_add_int(call, image->row.id);
    for (unsigned f = 0; f < shape->stored; f++)
        add_field(call, &shape->fields[f], image->row.record, f);
}

static void add_any(struct call *call, enum rows_table table, bool is_joined,
                    const struct change *image)
{
    if (rows_is_record(table))
        add_record(call, table, image);
    else
        add_row(call, table, is_joined, image);
}

static void begin_columns(struct call *call, enum rows_table table)
{
    unsigned count = rows_is_record(table) ? 1 + rows_record_info(table)->shape->stored
                                           : rows_info(table)->count;
    char kinds[RESULT_COLUMNS_MOST + 1];
    check(count <= RESULT_COLUMNS_MOST);
    memset(kinds, 't', count);
    kinds[count] = '\0';
    maria_columns(call, kinds);
}

/* ---- rows ---- */

static enum table table_of(enum rows_table table)
{
    return table == ROWS_PARENTS   ? TABLE_PROVIDERS
           : table == ROWS_HOLDERS ? TABLE_ALLOCATIONS
                                   : (enum table)table;
}

static const struct rows *rows_of(struct call *call, enum rows_table table)
{
    return &transaction_view(call->session).tables->rows[table_of(table)];
}

/* By the first column; allocations by their consumer or provider. */
static int64_t asked_by(enum rows_table table, const struct change *image)
{
    if (rows_is_record(table))
        return image->row.id;
    if (table == ROWS_ALLOCATIONS)
        return image->allocation.consumer_id;
    if (table == ROWS_HOLDERS)
        return image->allocation.provider_id;
    return integer_of(&rows_info(table)->columns[0], image);
}

static bool is_written_since(enum rows_table table, const struct change *image, int64_t since)
{
    check(!rows_is_record(table));
    return image->created_at_us >= since * 1000000 || image->updated_at_us >= since * 1000000;
}

/* The statement that was recognised last. */
static struct {
    enum rows_table table;
    int64_t since;
    size_t count;
    int64_t ids[IDS_MOST];
} asked;

static enum outcome read_all(struct call *call)
{
    const struct rows *rows = rows_of(call, asked.table);
    begin_columns(call, asked.table);
    for (uint32_t i = 0; i < rows->count; i++)
        add_any(call, asked.table, false, &rows->row[i].image);
    return OUTCOME_DONE;
}

static bool is_asked(int64_t id)
{
    for (size_t i = 0; i < asked.count; i++)
        if (asked.ids[i] == id)
            return true;
    return false;
}

static int compare_ids(const void *a, const void *b)
{
    const int64_t *left = a, *right = b;
    return *left < *right ? -1 : *left > *right;
}

/* In the order of the column by which they are asked for. */
static enum outcome read_of_ids(struct call *call)
{
    const struct rows *rows = rows_of(call, asked.table);
    begin_columns(call, asked.table);
    for (uint32_t i = 0; i < rows->count && asked.table == ROWS_HOLDERS; i++)
        if (is_asked(rows->row[i].image.allocation.provider_id))
            add_any(call, asked.table, true, &rows->row[i].image);
    if (asked.table == ROWS_HOLDERS)
        return OUTCOME_DONE;
    qsort(asked.ids, asked.count, sizeof(asked.ids[0]), compare_ids);
    for (size_t k = 0; k < asked.count; k++)
        for (uint32_t i = 0; i < rows->count && (k == 0 || asked.ids[k] != asked.ids[k - 1]); i++)
            if (asked_by(asked.table, &rows->row[i].image) == asked.ids[k])
                add_any(call, asked.table, true, &rows->row[i].image);
    return OUTCOME_DONE;
}

static enum outcome read_since(struct call *call)
{
    const struct rows *rows = rows_of(call, asked.table);
    begin_columns(call, asked.table);
    for (uint32_t i = 0; i < rows->count; i++)
        if (is_written_since(asked.table, &rows->row[i].image, asked.since))
            add_any(call, asked.table, false, &rows->row[i].image);
    return OUTCOME_DONE;
}

static enum outcome add_up(struct call *call)
{
    const struct rows *rows = rows_of(call, asked.table);
    int64_t ids = 0, generations = 0;
    for (uint32_t i = 0; i < rows->count; i++) {
        const struct change *image = &rows->row[i].image;
        ids += image->row.id;
        generations += asked.table == ROWS_PROVIDERS   ? image->provider.generation
                       : asked.table == ROWS_CONSUMERS ? image->consumer.generation
                                                       : 0;
    }
    maria_columns(call, "nnn");
    maria_add_int(call, rows->count);
    maria_add_int(call, ids);
    maria_add_int(call, generations);
    return OUTCOME_DONE;
}

static enum outcome read_ids(struct call *call)
{
    const struct rows *rows = rows_of(call, asked.table);
    maria_columns(call, "n");
    for (uint32_t i = 0; i < rows->count; i++)
        maria_add_int(call, rows->row[i].image.row.id);
    return OUTCOME_DONE;
}

/* ---- what is asked when something was refused ---- */

#define NAMES "WITH n AS (SELECT 0 i, "

static const struct rows_column *column_named(const struct call *call, struct slice name)
{
    const struct rows_info *info = rows_info(asked.table);
    for (unsigned i = 0; i < info->count; i++)
        if (slice_equal(slice_of(info->columns[i].name), name) &&
            (info->columns[i].flags & ROWS_OF_CONSUMER) == 0)
            return &info->columns[i];
    maria_give_up(call);
}

static struct slice text_in(const struct row *row, const struct rows_column *column)
{
    struct slice text;
    memcpy(&text, (const char *)&row->image + column->at, sizeof(text));
    return text;
}

/* "SELECT id, name FROM traits WHERE name='A'" */
static enum outcome read_namesakes(struct call *call)
{
    const struct rows *rows = rows_of(call, asked.table);
    struct slice at = slice_of(strstr(call->sql, " WHERE ") + strlen(" WHERE "));
    const struct rows_column *column = column_named(call, maria_cut(&at, "="));
    struct value value;
    if (!maria_take_literal(&at, &value) || at.len > 0)
        maria_give_up(call);
    maria_columns(call, "nt");
    for (uint32_t i = 0; i < rows->count; i++) {
        struct slice text = text_in(&rows->row[i], column);
        if (!slice_equal(text, value.text))
            continue;
        maria_add_int(call, rows->row[i].image.row.id);
        maria_add_text(call, text);
    }
    return OUTCOME_DONE;
}

/* "WITH n AS (SELECT 0 i, name name FROM traits WHERE FALSE UNION ALL SELECT 0, _ascii 'A' …)
 * SELECT n.i, f.i, …": no two names of a request have equal bytes, so none is alike before it. */
static enum outcome read_names_alike(struct call *call)
{
    const struct rows *rows = rows_of(call, asked.table);
    struct slice at = slice_of(call->sql + strlen(NAMES));
    const struct rows_column *column = column_named(call, slice_cut(&at, ' '));
    struct value value;
    int64_t number;
    (void)maria_cut(&at, " WHERE FALSE");
    maria_columns(call, "nnnt");
    while (maria_skip(&at, " UNION ALL SELECT ")) {
        if (!maria_take_int(&at, &number) || !maria_skip(&at, ", ") ||
            !maria_take_literal(&at, &value))
            maria_give_up(call);
        for (uint32_t i = 0; i < rows->count; i++) {
            if (!slice_equal(text_in(&rows->row[i], column), value.text))
                continue;
            maria_add_int(call, number);
            maria_add_int(call, number);
            maria_add_int(call, rows->row[i].image.row.id);
            maria_add_text(call, value.text);
        }
    }
    if (!maria_skip(&at, ") SELECT n.i, f.i, COALESCE(t.id, 0), t."))
        maria_give_up(call);
    return OUTCOME_DONE;
}

/* "SELECT id, COALESCE(generation, 0) FROM resource_providers WHERE id IN(1,2)" */
static enum outcome read_known_by(struct call *call)
{
    struct slice at = slice_of(call->sql + strlen("SELECT "));
    struct slice id = maria_cut(&at, ", ");
    struct slice other = maria_cut(&at, " FROM ");
    const struct rows *rows = rows_of(call, asked.table);
    bool is_record = rows_is_record(asked.table);
    const struct rows_column *second = NULL;
    if (maria_skip(&other, "COALESCE("))
        other = maria_cut(&other, ", 0)");
    if (!slice_equal(other, SLICE_LIT("0")))
        second = column_named(call, other);
    const struct rows_column *first = is_record ? NULL : column_named(call, id);
    maria_columns(call, "nn");
    for (uint32_t i = 0; i < rows->count; i++) {
        const struct change *image = &rows->row[i].image;
        int64_t value = first == NULL ? image->row.id : integer_of(first, image);
        if (!is_asked(value))
            continue;
        maria_add_int(call, value);
        maria_add_int(call, second == NULL ? 0 : integer_of(second, image));
    }
    return OUTCOME_DONE;
}

/* ---- recognising ---- */

/* "1,2,3", or such lists with ")OR t.id IN(" between them. */
static bool take_ids(struct slice list)
{
    asked.count = 0;
    while (list.len > 0) {
        check(asked.count < IDS_MOST);
        if (!maria_take_int(&list, &asked.ids[asked.count++]))
            return false;
        if (list.len > 0 && !maria_skip(&list, ",") &&
            (!maria_skip(&list, ")OR ") || maria_cut(&list, " IN(").data == NULL))
            return false;
    }
    return asked.count > 0;
}

/* Whether the statement is the text with something else in its gap. */
static bool fits(struct slice sql, const struct read_text *text, struct slice *inside)
{
    const struct slice before = text->before, behind = text->behind;
    if (sql.len < before.len + behind.len || memcmp(sql.data, before.data, before.len) != 0 ||
        memcmp(sql.data + sql.len - behind.len, behind.data, behind.len) != 0)
        return false;
    *inside = (struct slice){sql.data + before.len, sql.len - before.len - behind.len};
    return true;
}

/* Its second gap has the same value. */
static bool fits_since(struct slice sql, const struct read_text *text)
{
    if (!slice_starts_with(sql, text->before))
        return false;
    sql = slice_skip(sql, text->before.len);
    return maria_take_int(&sql, &asked.since) &&
           slice_starts_with(sql, SLICE_LIT(") OR t.updated_at>="));
}

static bool finds_table(struct slice name)
{
    asked.table = table_named(name);
    return asked.table < ROWS_PARENTS;
}

static enum outcome (*small_read_of(const char *sql))(struct call *)
{
    struct slice at = slice_of(sql);
    struct slice columns = {0};
    if (maria_skip(&at, NAMES))
        return maria_cut(&at, " name FROM ").data != NULL && finds_table(slice_cut(&at, ' '))
                   ? read_names_alike
                   : NULL;
    if (maria_skip(&at, "SELECT COUNT(*), ")) {
        (void)maria_cut(&at, " FROM ");
        return finds_table(at) ? add_up : NULL;
    }
    if (maria_skip(&at, "SELECT ") && (columns = maria_cut(&at, " FROM ")).data != NULL) {
        struct slice name = slice_cut(&at, ' ');
        bool is_id = slice_equal(columns, SLICE_LIT("id"));
        if (!finds_table(name))
            return NULL;
        if (is_id && slice_equal(at, SLICE_LIT("ORDER BY id")))
            return read_ids;
        if (is_id || !maria_skip(&at, "WHERE "))
            return NULL;
        if (maria_cut(&at, " IN(").data != NULL && take_ids((struct slice){at.data, at.len - 1}))
            return read_known_by;
        if (!rows_is_record(asked.table) && maria_cut(&at, "='").data != NULL)
            return read_namesakes;
    }
    return NULL;
}

struct maria_statement maria_read_of(const struct call *call, bool *is_known)
{
    struct maria_statement read = {MARIA_READS, NULL};
    const struct slice sql = slice_of(call->sql);
    struct slice inside;
    make_texts();
    for (int t = 0; t < ROWS_TABLE_COUNT && read.execute == NULL; t++) {
        if (slice_equal(sql, texts.all[t].behind))
            read.execute = read_all;
        else if (fits(sql, &texts.of_ids[t], &inside) && take_ids(inside))
            read.execute = read_of_ids;
        else if (fits_since(sql, &texts.since[t]))
            read.execute = read_since;
        asked.table = (enum rows_table)t;
    }
    if (read.execute == NULL)
        read.execute = small_read_of(call->sql);
    *is_known = read.execute != NULL;
    return read;
}
