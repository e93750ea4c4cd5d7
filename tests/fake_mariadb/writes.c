/* Writes of rows, as write_sql.c and join_sql.c make them: read into a plan and its values, and
 * then executed as the other fake does. What a statement does not find is only counted. One thread.
 */
#include "base/arena.h"
#include "maria.h"
#include "store/instant.h"

enum { LETTERS = 26 };

/* A statement that is being read. */
struct reading {
    struct call *call;
    struct slice at;
    struct write_plan plan;
    enum record_table records;
    bool is_record;
    size_t rows;
    int column_of[LETTERS]; /* of the derived table; -1: none has that name */
    unsigned derived_count;
    struct value derived[LETTERS][ROWS_AT_ONCE];
    unsigned count; /* of values */
    struct write_values values;
    struct record_values record_values;
};

static void expect(struct reading *reading, const char *text)
{
    if (!maria_skip(&reading->at, text))
        maria_give_up(reading->call);
}

static struct slice cut(struct reading *reading, const char *text)
{
    struct slice found = maria_cut(&reading->at, text);
    if (found.data == NULL)
        maria_give_up(reading->call);
    return found;
}

static struct value literal(struct reading *reading)
{
    struct value value;
    if (!maria_take_literal(&reading->at, &value))
        maria_give_up(reading->call);
    return value;
}

static void set_table(struct reading *reading, struct slice name)
{
    enum rows_table table = table_named(name);
    if (table >= ROWS_PARENTS)
        maria_give_up(reading->call);
    reading->is_record = rows_is_record(table);
    reading->plan.table = table;
    if (reading->is_record)
        reading->records = (enum record_table)(table - ROWS_RECORDS);
}

static const struct rows_column *column_named(struct reading *reading, struct slice name)
{
    const struct rows_info *info = rows_info(reading->plan.table);
    for (unsigned i = 0; i < info->count; i++)
        if (slice_equal(slice_of(info->columns[i].name), name) &&
            (info->columns[i].flags & ROWS_OF_CONSUMER) == 0)
            return &info->columns[i];
    maria_give_up(reading->call);
}

/* The position of a record's value: 0 is its id. */
static unsigned field_named(struct reading *reading, struct slice name)
{
    const struct record_shape *shape = record_tables[reading->records].shape;
    if (slice_equal(name, SLICE_LIT("id")))
        return 0;
    for (unsigned f = 0; f < shape->stored && name.len > 2; f++)
        if (slice_equal(slice_of(shape->fields[f].name),
                        (struct slice){name.data + 1, name.len - 2}))
            return 1 + f;
    maria_give_up(reading->call);
}

/* ---- INSERT INTO traits(id,name)VALUES(1,'A'),(2,'B') ---- */

static unsigned read_columns(struct reading *reading, unsigned fields[static 1 + RECORD_FIELDS_MAX])
{
    struct slice names = cut(reading, ")VALUES");
    unsigned count = 0;
    while (names.len > 0) {
        struct slice name = slice_cut(&names, ',');
        check(count < 1 + RECORD_FIELDS_MAX);
        if (reading->is_record) {
            fields[count++] = field_named(reading, name);
            continue;
        }
        check(count < PLAN_COLUMNS);
        reading->plan.set[count] = (struct pair){column_named(reading, name), count + 1};
        count++;
    }
    reading->plan.set_count = reading->is_record ? 0 : count;
    return count;
}

static void read_insert(struct reading *reading)
{
    unsigned fields[1 + RECORD_FIELDS_MAX];
    reading->plan.action = ACTION_INSERT;
    set_table(reading, cut(reading, "("));
    unsigned count = read_columns(reading, fields);
    do {
        size_t row = reading->rows++;
        check(row < (reading->is_record ? RECORDS_AT_ONCE : ROWS_AT_ONCE));
        for (unsigned i = 0; i < count; i++) {
            expect(reading, i == 0 ? "(" : ",");
            struct value value = literal(reading);
            if (reading->is_record)
                reading->record_values.values[fields[i]][row] = value;
            else
                reading->values.values[i][row] = value;
        }
        expect(reading, ")");
    } while (maria_skip(&reading->at, ","));
}

/* ---- UPDATE nodes SET `a`=1,`b`='x' WHERE id=7 ---- */

static void read_record_update(struct reading *reading)
{
    do {
        struct slice name = cut(reading, "=");
        reading->record_values.values[field_named(reading, name)][0] = literal(reading);
    } while (maria_skip(&reading->at, ","));
    expect(reading, " WHERE id=");
    reading->record_values.values[0][0] = literal(reading);
    reading->rows = 1;
}

/* ---- UPDATE (SELECT 1 a,2 b UNION ALL SELECT 3,4)v STRAIGHT_JOIN t … ---- */

static void read_derived(struct reading *reading)
{
    if (!maria_skip(&reading->at, "(SELECT "))
        return;
    do {
        check(reading->rows < ROWS_AT_ONCE);
        unsigned column = 0;
        do {
            check(column < LETTERS);
            reading->derived[column][reading->rows] = literal(reading);
            if (reading->rows == 0) {
                expect(reading, " ");
                int letter = reading->at.data[0] - 'a';
                check(letter >= 0 && letter < LETTERS);
                reading->column_of[letter] = (int)column;
                reading->at = slice_skip(reading->at, 1);
            }
            column++;
        } while (maria_skip(&reading->at, ","));
        reading->rows++;
    } while (maria_skip(&reading->at, " UNION ALL SELECT "));
    expect(reading, ")v STRAIGHT_JOIN ");
}

/* Adds a value for each row: "v.a", or a literal that all rows share. Returns its parameter. */
static unsigned add_value(struct reading *reading)
{
    check(reading->count < PLAN_COLUMNS);
    struct value *values = reading->values.values[reading->count++];
    if (maria_skip(&reading->at, "v.")) {
        int column = reading->column_of[reading->at.data[0] - 'a'];
        check(column >= 0);
        reading->at = slice_skip(reading->at, 1);
        memcpy(values, reading->derived[column], reading->rows * sizeof(*values));
        return reading->count;
    }
    struct value shared = literal(reading);
    for (size_t row = 0; row < reading->rows; row++)
        values[row] = shared;
    return reading->count;
}

/* "t.generation=" or "COALESCE(t.generation,0)=" */
static struct slice read_compared(struct reading *reading)
{
    bool coalesces = maria_skip(&reading->at, "COALESCE(");
    expect(reading, "t.");
    return coalesces ? cut(reading, ",0)=") : cut(reading, "=");
}

static void read_joined(struct reading *reading)
{
    struct write_plan *plan = &reading->plan;
    if (reading->rows == 0)
        reading->rows = 1; /* all its values are literals */
    set_table(reading, cut(reading, " t"));
    if (maria_skip(&reading->at, " FORCE INDEX("))
        (void)cut(reading, ")");
    if (plan->action == ACTION_UPDATE) {
        expect(reading, " SET ");
        do {
            expect(reading, "t.");
            const struct rows_column *column = column_named(reading, cut(reading, "="));
            plan->set[plan->set_count++] = (struct pair){column, add_value(reading)};
        } while (maria_skip(&reading->at, ","));
    }
    expect(reading, " WHERE ");
    if (reading->is_record) {
        expect(reading, "t.id=");
        (void)add_value(reading);
        memcpy(reading->record_values.values[0], reading->values.values[0],
               reading->rows * sizeof(struct value));
        return;
    }
    do {
        const struct rows_column *column = column_named(reading, read_compared(reading));
        plan->where[plan->where_count++] = (struct pair){column, add_value(reading)};
    } while (maria_skip(&reading->at, " AND "));
}

/* ---- all ---- */

static void read(struct reading *reading)
{
    for (int i = 0; i < LETTERS; i++)
        reading->column_of[i] = -1;
    if (maria_skip(&reading->at, "INSERT INTO ")) {
        read_insert(reading);
    } else if (maria_skip(&reading->at, "DELETE t FROM ")) {
        reading->plan.action = ACTION_DELETE;
        read_derived(reading);
        read_joined(reading);
    } else if (maria_skip(&reading->at, "UPDATE ")) {
        struct slice rest = reading->at;
        struct slice name = maria_cut(&rest, " SET `");
        reading->plan.action = ACTION_UPDATE;
        if (name.data != NULL && table_named(name) < ROWS_PARENTS) {
            set_table(reading, name);
            expect(reading, name.data == NULL ? "" : rows_name(reading->plan.table));
            expect(reading, " SET ");
            read_record_update(reading);
        } else {
            read_derived(reading);
            read_joined(reading);
        }
    }
    if (reading->at.len > 0 || reading->rows == 0)
        maria_give_up(reading->call);
    reading->values.rows = reading->record_values.rows = reading->rows;
}

/* The error of MariaDB, and the row. */
static enum outcome translate(struct call *call, const struct reading *reading,
                              const struct write_found *found)
{
    const char *sqlstate = call->result->sqlstate;
    bool is_primary =
        call->result->constraint != NULL && strcmp(call->result->constraint, "some_pkey") == 0;
    call->session->maria.failed_row =
        reading->plan.action == ACTION_INSERT ? (int64_t)found->failed + 1 : 0;
    if (strcmp(sqlstate, "23505") == 0)
        return maria_fail(call, ERROR_DUPLICATE, "Duplicate entry 'x' for key '%s'",
                          is_primary ? "PRIMARY" : "some_unique");
    if (strcmp(sqlstate, "23503") == 0)
        return maria_fail(call,
                          reading->plan.action == ACTION_DELETE ? ERROR_REFERRED : ERROR_REFERENCE,
                          "a foreign key constraint fails (`placement`.`some`, CONSTRAINT `some` "
                          "FOREIGN KEY");
    return OUTCOME_ERROR; /* a deadlock */
}

enum outcome maria_write(struct call *call)
{
    static struct reading reading;
    struct write_found found = {0};
    memset(&reading.plan, 0, sizeof(reading.plan));
    reading.call = call;
    reading.at = slice_of(call->sql);
    reading.rows = 0;
    reading.count = 0;
    read(&reading);
    enum outcome outcome = reading.is_record
                               ? records_write(call, reading.plan.action, reading.records,
                                               &reading.record_values, &found)
                               : rows_write(call, &reading.plan, &reading.values, &found);
    if (outcome == OUTCOME_BLOCKED)
        return outcome;
    return outcome == OUTCOME_DONE ? maria_affected(call, found.rows)
                                   : translate(call, &reading, &found);
}
