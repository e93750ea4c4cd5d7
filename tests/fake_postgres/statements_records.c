/* Statements on berth's own tables of records: known by the texts that write_sql.c and rows_sql.c
 * make for each table. Values pass through the columns' types in both directions. One thread. */
#include <stdlib.h>

#include "base/arena.h"
#include "memory_store/tables_internal.h"
#include "statements.h"
#include "store/bundle.h"
#include "store/postgres/exchange/write_sql.h"
#include "store/record_rows.h"
#include "write_plan.h"

static const enum bundle_kind writes[] = {
    [ACTION_INSERT] = BUNDLE_RECORD_INSERT,
    [ACTION_UPDATE] = BUNDLE_RECORD_UPDATE,
    [ACTION_DELETE] = BUNDLE_RECORD_DELETE,
};
enum { WRITES = sizeof(writes) / sizeof(writes[0]) };

static struct buf texts[WRITES][RECORD_TABLE_COUNT];

static void make_texts(void)
{
    if (texts[0][0].data != NULL)
        return;
    for (int w = 0; w < WRITES; w++)
        for (int t = 0; t < RECORD_TABLE_COUNT; t++)
            write_sql_append((enum bundle_kind)((int)writes[w] + t), &texts[w][t]);
}

void statements_forget_records(void)
{
    for (int w = 0; w < WRITES; w++)
        for (int t = 0; t < RECORD_TABLE_COUNT; t++)
            buf_free(&texts[w][t]);
}

static enum table table_of(enum record_table table)
{
    _Static_assert((int)TABLE_NODE_ALLOCATIONS - (int)TABLE_NODES ==
                           (int)RECORD_TABLE_NODE_ALLOCATIONS &&
                       (int)TABLE_VALET - (int)TABLE_NODES == (int)RECORD_TABLE_VALET,
                   "the tables are in the same order");
    return (enum table)(TABLE_NODES + (int)table);
}

/* ---- writes ---- */

static struct cell cell_of(const struct record_field *field, const struct value *value)
{
    struct cell cell = {.is_null = value->is_null};
    bool is_text =
        field->kind == RECORD_TEXT || field->kind == RECORD_JSON || field->kind == RECORD_WORDS;
    if (cell.is_null)
        return cell;
    if (is_text)
        cell.text = value->text;
    else
        cell.integer = value->integer;
    return cell;
}

/* The record of a row of the values, kept with the tables' texts. */
static const struct record *record_of(const struct record_table_info *info,
                                      const struct record_values *values, size_t at,
                                      const struct tables *tables)
{
    struct cell cells[1 + RECORD_FIELDS_MAX];
    struct arena *arena = arena_create();
    cells[0] = (struct cell){.integer = values->values[0][at].integer};
    for (unsigned f = 0; f < info->shape->stored; f++)
        cells[1 + f] = cell_of(&info->shape->fields[f], &values->values[1 + f][at]);
    const struct record *record = record_rows_pack(info, cells, arena);
    check(record != NULL);
    struct slice bytes = {(const char *)record, record->bytes};
    const char *kept = tables_keep_text(tables, bytes).data;
    arena_destroy(arena);
    return (const struct record *)(const void *)kept;
}

/* The writes of a statement, and the first row that it does not find (SIZE_MAX: it finds all). */
struct effects {
    size_t count;
    struct row_write writes[RECORDS_AT_ONCE];
    size_t key_count;
    uint64_t keys[RECORDS_AT_ONCE * 2 * ROW_KEYS];
    size_t missing;
};

static void add_keys(struct effects *effects, const struct row_write *write)
{
    effects->key_count +=
        row_keys(write->table, &write->row.image, &effects->keys[effects->key_count]);
}

static void add_write(struct effects *effects, enum action action, enum record_table table,
                      const struct record_values *values, size_t at, const struct tables *tables)
{
    const struct record_table_info *info = &record_tables[table];
    int64_t id = values->values[0][at].integer;
    const struct row *known = tables_find(tables, table_of(table), id);
    struct row_write write = {.table = table_of(table), .is_delete = action == ACTION_DELETE};
    if (action == ACTION_INSERT) {
        write.row = (struct row){.birth = ++server.states.clock, .image.kind = info->put};
        write.row.image.row.id = id;
    } else if (known != NULL) {
        write.row = *known;
        add_keys(effects, &write);
    } else {
        effects->missing = at < effects->missing ? at : effects->missing;
        return;
    }
    if (action != ACTION_DELETE)
        write.row.image.row.record = record_of(info, values, at, tables);
    add_keys(effects, &write);
    effects->writes[effects->count++] = write;
}

static enum outcome execute(struct call *call, enum action action, enum table table,
                            const struct effects *effects, size_t *failed)
{
    for (size_t i = 0; i < effects->count; i++)
        transaction_write(call->session, &effects->writes[i]);
    const struct rows *rows = &transaction_view(call->session).tables->rows[table];
    for (size_t i = 0; i < effects->count && action != ACTION_DELETE; i++) {
        size_t key = row_find_duplicate(rows, &effects->writes[i]);
        if (key == ROW_KEYS)
            continue;
        *failed = i;
        call_fail(call, "23505", "duplicate key value violates unique constraint");
        call->result->constraint = key == 0 ? "some_pkey" : "some_uniq";
        return OUTCOME_ERROR;
    }
    return OUTCOME_DONE;
}

enum outcome records_write(struct call *call, enum action action, enum record_table table,
                           const struct record_values *values, struct write_found *found)
{
    static struct effects effects;
    const struct tables *tables = transaction_view(call->session).tables;
    *found = (struct write_found){0};
    effects.count = effects.key_count = 0;
    effects.missing = SIZE_MAX;
    for (size_t at = 0; at < values->rows; at++)
        add_write(&effects, action, table, values, at, tables);
    found->rows = effects.count;
    found->missing = effects.missing;
    enum outcome outcome = transaction_take(call, effects.keys, effects.key_count);
    return outcome == OUTCOME_DONE
               ? execute(call, action, table_of(table), &effects, &found->failed)
               : outcome;
}

static enum outcome write_records(struct call *call, enum action action, enum record_table table)
{
    static struct record_values values;
    struct write_found found;
    for (unsigned p = 0; p < call->message->count; p++)
        values.rows = parameter_array(call, p + 1, values.values[p], RECORDS_AT_ONCE);
    enum outcome outcome = records_write(call, action, table, &values, &found);
    if (outcome != OUTCOME_DONE)
        return outcome;
    if (found.missing != SIZE_MAX)
        return call_fail(call, "22P02", "invalid input syntax for type integer: \"!%zu\"",
                         found.missing + 1);
    call->result = action == ACTION_INSERT ? result_create(PGRES_COMMAND_OK)
                                           : result_rows(call->message->is_binary);
    if (action != ACTION_INSERT)
        result_column(call->result, PG_INT4);
    return OUTCOME_DONE;
}

enum outcome statement_record(struct call *call, bool *is_known)
{
    make_texts();
    for (int w = 0; w < WRITES; w++)
        for (int t = 0; t < RECORD_TABLE_COUNT; t++)
            if (strcmp(call->sql, texts[w][t].data) == 0) {
                *is_known = true;
                return write_records(call, (enum action)w, (enum record_table)t);
            }
    return OUTCOME_DONE;
}

/* ---- reads ---- */

static enum pg_type type_of(const struct record_field *field)
{
    static const enum pg_type types[] = {
        [RECORD_TEXT] = PG_TEXT, [RECORD_BOOL] = PG_BOOL,  [RECORD_TIME] = PG_TIMESTAMP,
        [RECORD_JSON] = PG_TEXT, [RECORD_WORDS] = PG_TEXT, [RECORD_REFERENCE] = PG_INT8,
    };
    return types[field->kind];
}

static void add_field(struct pg_result *result, enum pg_type type, const struct record *record,
                      unsigned field)
{
    int64_t number = record_number(record, field);
    if (type == PG_TEXT)
        result_add_bytes(result, record_text(record, field));
    else if (type == PG_TIMESTAMP)
        result_add_time(result, number);
    else if (number == 0)
        result_add_null(result);
    else if (type == PG_BOOL)
        result_add_bool(result, number == RECORD_TRUE);
    else
        result_add_int(result, number);
}

static bool is_asked(const struct value *ids, size_t count, int64_t id)
{
    for (size_t i = 0; i < count; i++)
        if (ids[i].integer == id)
            return true;
    return false;
}

void records_read(struct call *call, enum record_table table, bool is_all,
                  const struct tables *tables)
{
    static struct value ids[RECORDS_AT_ONCE];
    const struct record_shape *shape = record_tables[table].shape;
    const struct rows *rows = &tables->rows[table_of(table)];
    size_t count = is_all ? 0 : parameter_array(call, 1, ids, RECORDS_AT_ONCE);
    call->result = result_rows(call->message->is_binary);
    result_column(call->result, PG_INT8);
    for (unsigned f = 0; f < shape->stored; f++)
        result_column(call->result, type_of(&shape->fields[f]));
    for (uint32_t i = 0; i < rows->count; i++) {
        const struct change_row *row = &rows->row[i].image.row;
        if (!is_all && !is_asked(ids, count, row->id))
            continue;
        result_add_int(call->result, row->id);
        for (unsigned f = 0; f < shape->stored; f++)
            add_field(call->result, type_of(&shape->fields[f]), row->record, f);
    }
}
