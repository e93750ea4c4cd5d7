/* See write_sql.h.
 *
 * A statement that changes rows joins the table with its arrays. The rows that this does not return
 * are those that the database does not have in the form that memory has; their positions are cast
 * to a number together with a "!", which fails with a message that contains them. The cast is over
 * rows, so the planner cannot evaluate it beforehand.
 *
 * A session plans a statement once, perhaps while the table is empty, for which a scan of all rows
 * is as good as any other plan. BY() leaves it no choice but the index. Pure; any thread. */
#include "store/postgres/exchange/write_sql.h"

#include "model/record.h"
#include "store/server/write_parts.h"

/* What an array contains. */
enum value {
    VALUE_NONE,
    VALUE_ID,         /* the row's */
    VALUE_OTHER,      /* of a link */
    VALUE_CLASS,      /* of an inventory */
    VALUE_UPDATED_AT, /* of the last change */
    VALUE_NAME,       /* of a catalog */
    VALUE_NAME_BEFORE,
    VALUE_CONSUMER_UUID,
    VALUE_PROVIDER_UUID,
    VALUE_PROVIDER_NAME,
    VALUE_ROOT,
    VALUE_PARENT,
    VALUE_EXPECTED, /* the generation */
    VALUE_NEXT,
    VALUE_PROJECT,
    VALUE_USER,
    VALUE_TYPE,
    VALUE_TOTAL,
    VALUE_RESERVED,
    VALUE_MIN_UNIT,
    VALUE_MAX_UNIT,
    VALUE_STEP_SIZE,
    VALUE_RATIO,
};

enum { VALUES_MOST = 10 };

struct form {
    const char *sql;
    enum value values[VALUES_MOST]; /* $1 and following */
};

/* "column = value" in a form that cannot be used to merge: a scan in the order of the column's
 * index is then of no use. */
#define BY(column, value) column " = ANY (ARRAY[" value "])"
/* `dml` changes rows and refers to the arrays as v; `first` is the type of $1. */
#define CHECKED(dml, first)                                                                        \
    "WITH w AS (" dml " RETURNING v.row) SELECT ('!' || v.row)::int FROM unnest($1::" first        \
    ") WITH ORDINALITY AS v(id, row) WHERE v.row NOT IN (SELECT row FROM w)"
/* Another program may have changed the row since memory read it. And an id may be that of another
 * row by now, perhaps with the same generation: a database that went back gives out ids again, and
 * the Python service always does so for the newest class. So the text of the row is compared. */
#define DELETE_NAMED(table)                                                                        \
    {                                                                                              \
        CHECKED("DELETE FROM " table                                                               \
                " t USING unnest($1::int[], $2::text[]) WITH ORDINALITY AS v(id, name, row)"       \
                " WHERE " BY("t.id", "v.id") " AND " BY("t.name", "v.name"),                       \
                "int[]"),                                                                          \
        {                                                                                          \
            VALUE_ID, VALUE_NAME                                                                   \
        }                                                                                          \
    }
#define DELETE_COMPARED(table, generation, uuid)                                                   \
    {                                                                                              \
        CHECKED("DELETE FROM " table                                                               \
                " t USING unnest($1::int[], $2::int[], $3::text[]) WITH ORDINALITY"                \
                " AS v(id, expected, uuid, row) WHERE " BY(                                        \
                    "t.id", "v.id") " AND " generation                                             \
                                    " = v.expected AND " BY("t.uuid", "v.uuid"),                   \
                "int[]"),                                                                          \
        {                                                                                          \
            VALUE_ID, VALUE_EXPECTED, (uuid)                                                       \
        }                                                                                          \
    }
#define DELETE_PAIR(table, other, value)                                                           \
    {                                                                                              \
        CHECKED("DELETE FROM " table                                                               \
                " t USING unnest($1::int[], $2::int[]) WITH ORDINALITY AS v(id, other, row)"       \
                " WHERE " BY("t.resource_provider_id", "v.id") " AND " BY("t." other, "v.other"),  \
                "int[]"),                                                                          \
        {                                                                                          \
            VALUE_ID, (value)                                                                      \
        }                                                                                          \
    }

static const struct form forms[BUNDLE_KIND_COUNT] = {
    [BUNDLE_ALLOCATIONS_OF_DELETE] =
        {"DELETE FROM allocations WHERE consumer_id = ANY ($1::text[])", {VALUE_CONSUMER_UUID}},
    [BUNDLE_CONSUMER_DELETE] = DELETE_COMPARED("consumers", "t.generation", VALUE_CONSUMER_UUID),
    [BUNDLE_PROVIDER_TRAIT_DELETE] =
        DELETE_PAIR("resource_provider_traits", "trait_id", VALUE_OTHER),
    [BUNDLE_PROVIDER_AGGREGATE_DELETE] =
        DELETE_PAIR("resource_provider_aggregates", "aggregate_id", VALUE_OTHER),
    [BUNDLE_INVENTORY_DELETE] = DELETE_PAIR("inventories", "resource_class_id", VALUE_CLASS),
    [BUNDLE_PROVIDER_DELETE] =
        DELETE_COMPARED("resource_providers", "coalesce(t.generation, 0)", VALUE_PROVIDER_UUID),
    [BUNDLE_TRAIT_DELETE] = DELETE_NAMED("traits"),
    [BUNDLE_CLASS_DELETE] = DELETE_NAMED("resource_classes"),
    [BUNDLE_CLASS_RENAME] =
        {CHECKED("UPDATE resource_classes t SET name = v.name, updated_at = v.at"
                 " FROM unnest($1::int[], $2::text[], $3::timestamp[], $4::text[]) WITH ORDINALITY"
                 " AS v(id, name, at, before, row) WHERE " BY("t.id", "v.id") " AND " BY(
                     "t.name", "v.before"),
                 "int[]"),
         {VALUE_ID, VALUE_NAME, VALUE_UPDATED_AT, VALUE_NAME_BEFORE}},
    [BUNDLE_PROVIDER_UPDATE] =
        {CHECKED("UPDATE resource_providers t SET name = v.name, root_provider_id = v.root,"
                 " parent_provider_id = v.parent, updated_at = v.at"
                 " FROM unnest($1::int[], $2::text[], $3::int[], $4::int[], $5::timestamp[],"
                 " $6::text[]) WITH ORDINALITY AS v(id, name, root, parent, at, uuid, row)"
                 " WHERE " BY("t.id", "v.id") " AND " BY("t.uuid", "v.uuid"),
                 "int[]"),
         {VALUE_ID, VALUE_PROVIDER_NAME, VALUE_ROOT, VALUE_PARENT, VALUE_UPDATED_AT,
          VALUE_PROVIDER_UUID}},
    [BUNDLE_PROVIDER_ROOT] =
        {CHECKED("UPDATE resource_providers t SET root_provider_id = v.root, updated_at = v.at"
                 " FROM unnest($1::int[], $2::int[], $3::timestamp[], $4::text[]) WITH ORDINALITY"
                 " AS v(id, root, at, uuid, row)"
                 " WHERE " BY("t.id", "v.id") " AND " BY("t.uuid", "v.uuid"),
                 "int[]"),
         {VALUE_ID, VALUE_ROOT, VALUE_UPDATED_AT, VALUE_PROVIDER_UUID}},
    [BUNDLE_INVENTORY_UPDATE] =
        {CHECKED("UPDATE inventories t SET total = v.total, reserved = v.reserved,"
                 " min_unit = v.least, max_unit = v.most, step_size = v.step,"
                 " allocation_ratio = v.ratio, updated_at = v.at"
                 " FROM unnest($1::int[], $2::int[], $3::timestamp[], $4::int[], $5::int[],"
                 " $6::int[], $7::int[], $8::int[], $9::float8[]) WITH ORDINALITY"
                 " AS v(id, class, at, total, reserved, least, most, step, ratio, row)"
                 " WHERE " BY("t.resource_provider_id", "v.id") " AND " BY("t.resource_class_id",
                                                                           "v.class"),
                 "int[]"),
         {VALUE_ID, VALUE_CLASS, VALUE_UPDATED_AT, VALUE_TOTAL, VALUE_RESERVED, VALUE_MIN_UNIT,
          VALUE_MAX_UNIT, VALUE_STEP_SIZE, VALUE_RATIO}},
    [BUNDLE_CONSUMER_UPDATE] =
        {CHECKED("UPDATE consumers t SET project_id = v.project, user_id = v.usr,"
                 " consumer_type_id = v.type, generation = v.next, updated_at = v.at"
                 " FROM unnest($1::int[], $2::int[], $3::int[], $4::timestamp[], $5::int[],"
                 " $6::int[], $7::int[], $8::text[]) WITH ORDINALITY"
                 " AS v(id, expected, next, at, project, usr, type, uuid, row)"
                 " WHERE " BY("t.id", "v.id") " AND t.generation = v.expected AND " BY("t.uuid",
                                                                                       "v.uuid"),
                 "int[]"),
         {VALUE_ID, VALUE_EXPECTED, VALUE_NEXT, VALUE_UPDATED_AT, VALUE_PROJECT, VALUE_USER,
          VALUE_TYPE, VALUE_CONSUMER_UUID}},
    [BUNDLE_CONSUMER_GENERATION] =
        {CHECKED("UPDATE consumers t SET generation = v.next, updated_at = v.at"
                 " FROM unnest($1::int[], $2::int[], $3::int[], $4::timestamp[], $5::text[])"
                 " WITH ORDINALITY AS v(id, expected, next, at, uuid, row)"
                 " WHERE " BY("t.id",
                              "v.id") " AND t.generation = v.expected AND " BY("t.uuid", "v.uuid"),
                 "int[]"),
         {VALUE_ID, VALUE_EXPECTED, VALUE_NEXT, VALUE_UPDATED_AT, VALUE_CONSUMER_UUID}},
    [BUNDLE_PROVIDER_GENERATION] =
        {CHECKED("UPDATE resource_providers t SET generation = v.next, updated_at = v.at"
                 " FROM unnest($1::int[], $2::int[], $3::int[], $4::timestamp[]) WITH ORDINALITY"
                 " AS v(id, expected, next, at, row)"
                 " WHERE " BY("t.id", "v.id") " AND coalesce(t.generation, 0) = v.expected",
                 "int[]"),
         {VALUE_ID, VALUE_EXPECTED, VALUE_NEXT, VALUE_UPDATED_AT}},
};

static enum pg_type array_of(enum value value)
{
    switch (value) {
    case VALUE_UPDATED_AT:
        return PG_TIMESTAMP_ARRAY;
    case VALUE_NAME:
    case VALUE_NAME_BEFORE:
    case VALUE_CONSUMER_UUID:
    case VALUE_PROVIDER_UUID:
    case VALUE_PROVIDER_NAME:
        return PG_TEXT_ARRAY;
    case VALUE_RATIO:
        return PG_FLOAT8_ARRAY;
    default:
        return PG_INT4_ARRAY;
    }
}

/* 0: NULL. */
static void add_reference(struct pg_array *array, int64_t id)
{
    if (id == 0)
        pg_array_add_null(array);
    else
        pg_array_add_int(array, id);
}

static void add_text(struct pg_array *array, struct slice text)
{
    if (text.data == NULL)
        pg_array_add_null(array);
    else
        pg_array_add_text(array, text);
}

/* Each kind of change begins with the id of its row, or with that of its provider. */
static int64_t id_of(const struct change *change)
{
    return change->row.id;
}

static void add_value(struct pg_array *array, enum value value, const struct change *first,
                      const struct change *last)
{
    switch (value) {
    case VALUE_ID:
        pg_array_add_int(array, id_of(first));
        return;
    case VALUE_OTHER:
        pg_array_add_int(array, first->link.other_id);
        return;
    case VALUE_CLASS:
        pg_array_add_int(array, first->inventory.class_id);
        return;
    case VALUE_UPDATED_AT:
        pg_array_add_time(array, last->updated_at_us);
        return;
    case VALUE_NAME:
        add_text(array, first->catalog.name);
        return;
    case VALUE_NAME_BEFORE:
        add_text(array, first->renamed.before);
        return;
    case VALUE_CONSUMER_UUID:
        add_text(array, write_parts_consumer_uuid(first));
        return;
    case VALUE_PROVIDER_UUID:
        add_text(array, first->provider.uuid);
        return;
    case VALUE_PROVIDER_NAME:
        add_text(array, first->provider.name);
        return;
    case VALUE_ROOT:
        add_reference(array, first->provider.root_id);
        return;
    case VALUE_PARENT:
        add_reference(array, first->provider.parent_id);
        return;
    case VALUE_EXPECTED:
        pg_array_add_int(array, write_parts_expected(first));
        return;
    case VALUE_NEXT:
        pg_array_add_int(array, last->kind == CHANGE_PROVIDER_GENERATION
                                    ? last->generation.next
                                    : last->consumer.generation);
        return;
    case VALUE_PROJECT:
        pg_array_add_int(array, first->consumer.project_id);
        return;
    case VALUE_USER:
        pg_array_add_int(array, first->consumer.user_id);
        return;
    case VALUE_TYPE:
        add_reference(array, first->consumer.type_id);
        return;
    case VALUE_TOTAL:
        pg_array_add_int(array, first->inventory.total);
        return;
    case VALUE_RESERVED:
        pg_array_add_int(array, first->inventory.reserved);
        return;
    case VALUE_MIN_UNIT:
        pg_array_add_int(array, first->inventory.min_unit);
        return;
    case VALUE_MAX_UNIT:
        pg_array_add_int(array, first->inventory.max_unit);
        return;
    case VALUE_STEP_SIZE:
        pg_array_add_int(array, first->inventory.step_size);
        return;
    case VALUE_RATIO:
        pg_array_add_float(array, first->inventory.allocation_ratio);
        return;
    case VALUE_NONE:
        break;
    }
    check(false);
}

static size_t fill_form(const struct form *form, const struct bundle *bundle,
                        const struct change *changes, struct pg_array *arrays)
{
    size_t count = 0;
    for (; count < VALUES_MOST && form->values[count] != VALUE_NONE; count++) {
        pg_array_begin(&arrays[count], array_of(form->values[count]));
        for (size_t i = 0; i < bundle->count; i++)
            add_value(&arrays[count], form->values[count], &changes[bundle->rows[i].first],
                      &changes[bundle->rows[i].last]);
    }
    return count;
}

/* ---- rows of upstream's tables ---- */

static const char *array_name(enum pg_type array)
{
    switch (array) {
    case PG_INT4_ARRAY:
        return "int[]";
    case PG_INT8_ARRAY:
        return "bigint[]";
    case PG_TEXT_ARRAY:
        return "text[]";
    case PG_FLOAT8_ARRAY:
        return "float8[]";
    case PG_TIMESTAMP_ARRAY:
        return "timestamp[]";
    case PG_BOOL_ARRAY:
        return "boolean[]";
    default:
        check(false);
        return NULL;
    }
}

static enum pg_type array_of_cell(enum cell_kind cell)
{
    static const enum pg_type types[] = {
        [CELL_INTEGER] = PG_INT4_ARRAY,   [CELL_NUMBER] = PG_INT4_ARRAY,
        [CELL_RATIO] = PG_FLOAT8_ARRAY,   [CELL_TEXT] = PG_TEXT_ARRAY,
        [CELL_TIME] = PG_TIMESTAMP_ARRAY,
    };
    return types[cell];
}

static void add_cell(struct pg_array *array, const struct rows_column *column,
                     const struct cell *cell)
{
    switch (column->cell) {
    case CELL_INTEGER:
    case CELL_NUMBER:
        if (cell->is_null)
            pg_array_add_null(array);
        else
            pg_array_add_int(array, cell->integer);
        return;
    case CELL_RATIO:
        pg_array_add_float(array, cell->ratio);
        return;
    case CELL_TEXT:
        add_text(array, cell->text);
        return;
    case CELL_TIME:
        pg_array_add_time(array, cell->integer);
    }
}

static size_t fill_insert(const struct rows_info *info, const struct bundle *bundle,
                          const struct change *changes, struct pg_array *arrays)
{
    size_t count = 0;
    for (unsigned i = 0; i < info->count; i++) {
        const struct rows_column *column = &info->columns[i];
        if ((column->flags & ROWS_OF_CONSUMER) != 0)
            continue;
        struct pg_array *array = &arrays[count++];
        pg_array_begin(array, array_of_cell(column->cell));
        for (size_t row = 0; row < bundle->count; row++) {
            struct cell cell = write_parts_cell(column, &changes[bundle->rows[row].first]);
            add_cell(array, column, &cell);
        }
    }
    return count;
}

static void append_insert(const struct rows_info *info, struct buf *sql)
{
    unsigned count = 0;
    buf_printf(sql, "INSERT INTO %s (", info->name);
    for (unsigned i = 0; i < info->count; i++)
        if ((info->columns[i].flags & ROWS_OF_CONSUMER) == 0)
            buf_printf(sql, "%s%s", i == 0 ? "" : ", ", info->columns[i].name);
    buf_append_lit(sql, ") SELECT ");
    for (unsigned i = 0; i < info->count; i++)
        if ((info->columns[i].flags & ROWS_OF_CONSUMER) == 0) {
            count++;
            buf_printf(sql, "%sunnest($%u::%s)", count == 1 ? "" : ", ", count,
                       array_name(array_of_cell(info->columns[i].cell)));
        }
}

/* ---- records ---- */

static enum pg_type array_of_field(const struct record_field *field)
{
    switch ((enum record_kind)field->kind) {
    case RECORD_TEXT:
    case RECORD_JSON:
    case RECORD_WORDS:
        return PG_TEXT_ARRAY;
    case RECORD_BOOL:
        return PG_BOOL_ARRAY;
    case RECORD_TIME:
        return PG_TIMESTAMP_ARRAY;
    case RECORD_REFERENCE:
        return PG_INT8_ARRAY;
    case RECORD_DERIVED:
        break;
    }
    check(false);
    return PG_INFER;
}

static void add_field(struct pg_array *array, const struct record *record, unsigned at)
{
    int64_t number = record_number(record, at);
    switch (array->type) {
    case PG_TEXT_ARRAY:
        add_text(array, record_text(record, at));
        return;
    case PG_BOOL_ARRAY:
        if (number == RECORD_NULL)
            pg_array_add_null(array);
        else
            pg_array_add_bool(array, number == RECORD_TRUE);
        return;
    case PG_TIMESTAMP_ARRAY:
        pg_array_add_time(array, number);
        return;
    default:
        add_reference(array, number);
    }
}

static const char *cast_of(const struct record_field *field)
{
    return field->kind == RECORD_JSON ? "::json" : "";
}

/* The end of a statement that begins with `WITH w AS (` and changes the rows of v. */
#define NAMES_MISSING_ROWS                                                                         \
    " RETURNING v.row) SELECT ('!' || v.row)::int FROM unnest($1::bigint[]) WITH ORDINALITY"       \
    " AS v(id, row) WHERE v.row NOT IN (SELECT row FROM w)"

static size_t fill_put(const struct record_table_info *table, const struct bundle *bundle,
                       const struct change *changes, struct pg_array *arrays)
{
    pg_array_begin(&arrays[0], PG_INT8_ARRAY);
    for (size_t row = 0; row < bundle->count; row++)
        pg_array_add_int(&arrays[0], changes[bundle->rows[row].first].row.id);
    for (unsigned i = 0; i < table->shape->stored; i++) {
        pg_array_begin(&arrays[1 + i], array_of_field(&table->shape->fields[i]));
        for (size_t row = 0; row < bundle->count; row++)
            add_field(&arrays[1 + i], changes[bundle->rows[row].first].row.record, i);
    }
    return 1 + table->shape->stored;
}

/* The columns' values, of which the first is the id: "unnest($1::bigint[]), ..." or, `from`, the
 * arrays alone. */
static void append_values(const struct record_shape *shape, bool from, struct buf *sql)
{
    buf_append_slice(sql, from ? SLICE_LIT("$1::bigint[]") : SLICE_LIT("unnest($1::bigint[])"));
    for (unsigned i = 0; i < shape->stored; i++) {
        const char *array = array_name(array_of_field(&shape->fields[i]));
        if (from)
            buf_printf(sql, ", $%u::%s", i + 2, array);
        else
            buf_printf(sql, ", unnest($%u::%s)%s", i + 2, array, cast_of(&shape->fields[i]));
    }
}

/* An id that is given out twice violates the primary key. */
static void append_record_insert(const struct record_table_info *table, struct buf *sql)
{
    const struct record_shape *shape = table->shape;
    buf_printf(sql, "INSERT INTO %s (id", table->name);
    for (unsigned i = 0; i < shape->stored; i++)
        buf_printf(sql, ", \"%s\"", shape->fields[i].name);
    buf_append_lit(sql, ") SELECT ");
    append_values(shape, false, sql);
}

static void append_record_update(const struct record_table_info *table, struct buf *sql)
{
    const struct record_shape *shape = table->shape;
    buf_printf(sql, "WITH w AS (UPDATE %s t SET ", table->name);
    for (unsigned i = 0; i < shape->stored; i++)
        buf_printf(sql, "%s\"%s\" = v.c%u%s", i == 0 ? "" : ", ", shape->fields[i].name, i,
                   cast_of(&shape->fields[i]));
    buf_append_lit(sql, " FROM unnest(");
    append_values(shape, true, sql);
    buf_append_lit(sql, ") WITH ORDINALITY AS v(id");
    for (unsigned i = 0; i < shape->stored; i++)
        buf_printf(sql, ", c%u", i);
    buf_append_lit(sql, ", row) WHERE " BY("t.id", "v.id") NAMES_MISSING_ROWS);
}

static void append_record_delete(const struct record_table_info *table, struct buf *sql)
{
    buf_printf(
        sql,
        "WITH w AS (DELETE FROM %s t USING unnest($1::bigint[]) WITH ORDINALITY AS v(id, row)"
        " WHERE " BY("t.id", "v.id") NAMES_MISSING_ROWS,
        table->name);
}

/* ---- any bundle ---- */

static size_t fill_record_delete(const struct bundle *bundle, const struct change *changes,
                                 struct pg_array *arrays)
{
    pg_array_begin(&arrays[0], PG_INT8_ARRAY);
    for (size_t row = 0; row < bundle->count; row++)
        pg_array_add_int(&arrays[0], changes[bundle->rows[row].first].row.id);
    return 1;
}

size_t write_sql_fill(const struct bundle *bundle, const struct change *changes,
                      struct pg_array arrays[static WRITE_SQL_ARRAYS_MOST])
{
    enum record_write write;
    const struct record_table_info *table = write_parts_record(bundle->kind, &write);
    if (forms[bundle->kind].sql != NULL)
        return fill_form(&forms[bundle->kind], bundle, changes, arrays);
    if (table == NULL)
        return fill_insert(write_parts_inserted(bundle->kind), bundle, changes, arrays);
    return write == RECORD_WRITE_DELETE ? fill_record_delete(bundle, changes, arrays)
                                        : fill_put(table, bundle, changes, arrays);
}

size_t write_sql_bytes(const struct change *change)
{
    enum record_write write;
    const struct record_table_info *table = write_parts_record(bundle_kind_of(change), &write);
    return table == NULL || write == RECORD_WRITE_DELETE ? 0 : change->row.record->bytes;
}

void write_sql_append(enum bundle_kind kind, struct buf *sql)
{
    enum record_write write;
    const struct record_table_info *table = write_parts_record(kind, &write);
    if (forms[kind].sql != NULL)
        buf_append_slice(sql, slice_of(forms[kind].sql));
    else if (table == NULL)
        append_insert(write_parts_inserted(kind), sql);
    else if (write == RECORD_WRITE_INSERT)
        append_record_insert(table, sql);
    else if (write == RECORD_WRITE_UPDATE)
        append_record_update(table, sql);
    else
        append_record_delete(table, sql);
    buf_append_char(sql, '\0');
    sql->len--;
}

/* The last one: names of users and databases before it may look like one. */
size_t write_sql_row(struct slice message)
{
    size_t found = SIZE_MAX;
    for (size_t at = 0; at < message.len; at++) {
        size_t row = 0;
        size_t end = at + 1;
        for (; end < message.len && message.data[end] >= '0' && message.data[end] <= '9'; end++)
            row = row * 10 + (size_t)(message.data[end] - '0');
        if (message.data[at] == '!' && row > 0 && end < message.len)
            found = row - 1;
    }
    return found;
}
