/* See write_sql.h. An insert has a list of rows; the other statements are in join_sql.h, but for
 * the updates of records. A check adds 1 to the largest number, which is an error (1690), unless
 * the count is right. Pure; any thread. */
#include "store/mariadb/exchange/write_sql.h"

#include "model/record.h"
#include "store/mariadb/exchange/join_sql.h"
#include "store/mariadb/session/literal.h"
#include "store/rows.h"
#include "store/server/write_parts.h"

enum {
    INSERT_ROWS_MOST = 1000,
    JOIN_ROWS_MOST = 128, /* a SELECT for each, and MySQL reads them recursively */
    BYTES_MOST = 1 << 20,
    ROW_BYTES = 256, /* numbers, times and punctuation of any row but a record */
    FIELD_BYTES = 32 /* the same for each field of a record */
};

void mariadb_write_append_check(size_t rows, struct buf *sql)
{
    buf_printf(sql, "SET @berth=~0+(ROW_COUNT()<>%zu);", rows);
}

/* ---- rows of upstream's tables ---- */

static void append_cell(const struct rows_column *column, const struct cell *cell, struct buf *sql)
{
    switch (column->cell) {
    case CELL_INTEGER:
    case CELL_NUMBER:
        if (cell->is_null)
            buf_append_lit(sql, "NULL");
        else
            mariadb_literal_int(sql, cell->integer);
        return;
    case CELL_RATIO:
        mariadb_literal_double(sql, cell->ratio);
        return;
    case CELL_TEXT:
        mariadb_literal_text(sql, cell->text);
        return;
    case CELL_TIME:
        mariadb_literal_second(sql, cell->integer);
    }
}

static void write_sql_append_insert(const struct rows_info *info, const struct bundle *chunk,
                                    const struct change *changes, struct buf *sql)
{
    buf_printf(sql, "INSERT INTO %s(", info->name);
    for (unsigned i = 0; i < info->count; i++)
        if ((info->columns[i].flags & ROWS_OF_CONSUMER) == 0)
            buf_printf(sql, "%s%s", i == 0 ? "" : ",", info->columns[i].name);
    buf_append_lit(sql, ")VALUES");
    for (size_t row = 0; row < chunk->count; row++) {
        buf_append_slice(sql, row == 0 ? SLICE_LIT("(") : SLICE_LIT(",("));
        for (unsigned i = 0; i < info->count; i++) {
            if ((info->columns[i].flags & ROWS_OF_CONSUMER) != 0)
                continue;
            if (i > 0)
                buf_append_char(sql, ',');
            const struct rows_column *column = &info->columns[i];
            struct cell cell = write_parts_cell(column, &changes[chunk->rows[row].first]);
            append_cell(column, &cell, sql);
        }
        buf_append_char(sql, ')');
    }
    buf_append_char(sql, ';');
}

/* ---- records ---- */

static bool is_text(const struct record_field *field)
{
    return field->kind == RECORD_TEXT || field->kind == RECORD_JSON || field->kind == RECORD_WORDS;
}

static void append_field(const struct record_field *field, const struct record *record, unsigned at,
                         struct buf *sql)
{
    switch ((enum record_kind)field->kind) {
    case RECORD_TEXT:
    case RECORD_JSON:
    case RECORD_WORDS:
        mariadb_literal_text(sql, record_text(record, at));
        return;
    case RECORD_BOOL:
        if (record_is_null(record, at))
            buf_append_lit(sql, "NULL");
        else
            buf_append_char(sql, record_bool(record, at) ? '1' : '0');
        return;
    case RECORD_TIME:
        mariadb_literal_instant(sql, record_number(record, at));
        return;
    case RECORD_REFERENCE:
        mariadb_literal_reference(sql, record_number(record, at));
        return;
    case RECORD_DERIVED:
        break;
    }
    check(false);
}

static void append_record_insert(const struct record_table_info *table, const struct bundle *chunk,
                                 const struct change *changes, struct buf *sql)
{
    const struct record_shape *shape = table->shape;
    buf_printf(sql, "INSERT INTO %s(id", table->name);
    for (unsigned i = 0; i < shape->stored; i++)
        buf_printf(sql, ",`%s`", shape->fields[i].name);
    buf_append_lit(sql, ")VALUES");
    for (size_t row = 0; row < chunk->count; row++) {
        const struct change_row *put = &changes[chunk->rows[row].first].row;
        buf_printf(sql, "%s(%lld", row == 0 ? "" : ",", (long long)put->id);
        for (unsigned i = 0; i < shape->stored; i++) {
            buf_append_char(sql, ',');
            append_field(&shape->fields[i], put->record, i, sql);
        }
        buf_append_char(sql, ')');
    }
    buf_append_char(sql, ';');
}

static void append_record_update(const struct record_table_info *table, const struct bundle *chunk,
                                 const struct change *changes, struct buf *sql)
{
    const struct record_shape *shape = table->shape;
    const struct change_row *put = &changes[chunk->rows[0].first].row;
    check(chunk->count == 1);
    buf_printf(sql, "UPDATE %s SET ", table->name);
    for (unsigned i = 0; i < shape->stored; i++) {
        buf_printf(sql, "%s`%s`=", i == 0 ? "" : ",", shape->fields[i].name);
        append_field(&shape->fields[i], put->record, i, sql);
    }
    buf_printf(sql, " WHERE id=%lld;", (long long)put->id);
}

/* ---- any bundle ---- */

static bool is_insert(enum bundle_kind kind)
{
    return kind >= BUNDLE_CLASS_INSERT && kind < BUNDLE_CLASS_RENAME;
}

unsigned mariadb_write_append(const struct bundle *chunk, const struct change *changes,
                              const struct mariadb_indexes *indexes, struct buf *sql)
{
    enum record_write write;
    const struct record_table_info *table = write_parts_record(chunk->kind, &write);
    const struct mariadb_join *join = mariadb_join_of(chunk->kind);
    struct mariadb_join of_record;
    unsigned results = 0;
    check(chunk->count > 0);
    if (write == RECORD_WRITE_DELETE) {
        of_record = mariadb_join_delete(table->name);
        join = &of_record;
    }
    if (join != NULL && join->is_unchecked) {
        mariadb_join_append(join, chunk, changes, indexes, sql);
        return 1;
    }
    if (is_insert(chunk->kind)) {
        if (table != NULL)
            append_record_insert(table, chunk, changes, sql);
        else
            write_sql_append_insert(write_parts_inserted(chunk->kind), chunk, changes, sql);
        return 1;
    }
    if (chunk->kind == BUNDLE_PROVIDER_DELETE) {
        mariadb_join_append(&mariadb_join_unlink, chunk, changes, indexes, sql);
        mariadb_write_append_check(chunk->count, sql);
        results = 2;
    }
    if (join != NULL)
        mariadb_join_append(join, chunk, changes, indexes, sql);
    else
        append_record_update(table, chunk, changes, sql);
    mariadb_write_append_check(chunk->count, sql);
    return results + 2;
}

/* A statement without a check is the only one. */
bool mariadb_write_is_check(unsigned result)
{
    return result % 2 == 1;
}

struct bundle_limit mariadb_write_limit(enum bundle_kind kind)
{
    enum record_write write;
    (void)write_parts_record(kind, &write);
    const struct mariadb_join *join = mariadb_join_of(kind);
    bool is_single = write == RECORD_WRITE_UPDATE || (join != NULL && join->is_single);
    return (struct bundle_limit){.rows = is_single         ? 1
                                         : is_insert(kind) ? INSERT_ROWS_MOST
                                                           : JOIN_ROWS_MOST,
                                 .bytes = BYTES_MOST,
                                 .row_bytes = mariadb_write_bytes};
}

static size_t record_bytes(const struct record_shape *shape, const struct record *record)
{
    size_t bytes = ROW_BYTES;
    for (unsigned i = 0; i < shape->stored; i++)
        bytes += is_text(&shape->fields[i]) ? 1 + mariadb_literal_bytes(record_text(record, i))
                                            : FIELD_BYTES;
    return bytes;
}

/* By which a row that is deleted or renamed is known, beside its id. */
static struct slice known_text(const struct change *change)
{
    switch (change->kind) {
    case CHANGE_ALLOCATIONS_OF_DELETE:
        return change->allocation.consumer_uuid;
    case CHANGE_CONSUMER_DELETE:
        return change->consumer.uuid;
    case CHANGE_PROVIDER_DELETE:
        return change->provider.uuid;
    case CHANGE_TRAIT_DELETE:
    case CHANGE_CLASS_DELETE:
        return change->catalog.name;
    case CHANGE_CLASS_RENAME:
        return change->renamed.before;
    default:
        return (struct slice){0};
    }
}

/* Of a change without texts, too many may be counted. */
size_t mariadb_write_bytes(const struct change *change)
{
    if (change->kind >= CHANGE_NODE_PUT)
        return change->row.record == NULL
                   ? ROW_BYTES
                   : record_bytes(record_table_of(change->kind)->shape, change->row.record);
    enum rows_table table = rows_written_by(change->kind);
    const struct rows_info *info = table == ROWS_TABLE_COUNT ? NULL : rows_info(table);
    size_t bytes = ROW_BYTES + mariadb_literal_bytes(known_text(change));
    for (unsigned i = 0; info != NULL && i < info->count; i++)
        if (info->columns[i].cell == CELL_TEXT)
            bytes += mariadb_literal_bytes(write_parts_cell(&info->columns[i], change).text);
    return bytes;
}
