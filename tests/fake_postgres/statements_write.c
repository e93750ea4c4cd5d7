/* Executes writes of rows: what the statement says (write_plan.h), not what it should say. UPDATE
 * and DELETE fail if a row is missing. One thread. */
#include "memory_store/tables_internal.h"
#include "statements.h"
#include "write_plan.h"

/* ---- values ---- */

static uint64_t read_number(const char *bytes, size_t len)
{
    uint64_t value = len > 0 && (bytes[0] & 0x80) != 0 ? UINT64_MAX : 0;
    for (size_t i = 0; i < len; i++)
        value = value << 8 | (unsigned char)bytes[i];
    return value;
}

static struct value read_value(enum pg_type type, const char *bytes, size_t len)
{
    struct value value = {.text = {bytes, len}};
    uint64_t number = read_number(bytes, len <= 8 ? len : 0);
    value.integer = (int64_t)number;
    if (type == PG_TIMESTAMP)
        value.integer += PG_EPOCH_S * INT64_C(1000000);
    if (type == PG_FLOAT8)
        memcpy(&value.number, &number, sizeof(value.number));
    return value;
}

size_t parameter_array(const struct call *call, unsigned at, struct value *values, size_t most)
{
    enum { HEADER = 12, DIMENSION = 8 };
    struct slice bytes = parameter_bytes(call, at);
    check(bytes.len >= HEADER);
    enum pg_type type = (enum pg_type)read_number(bytes.data + 8, 4);
    if (read_number(bytes.data, 4) == 0)
        return 0;
    size_t count = (size_t)read_number(bytes.data + HEADER, 4);
    check(count <= most);
    const char *from = bytes.data + HEADER + DIMENSION;
    for (size_t i = 0; i < count; i++) {
        int64_t len = (int64_t)read_number(from, 4);
        from += 4;
        values[i] = len < 0 ? (struct value){.is_null = true} : read_value(type, from, (size_t)len);
        from += len < 0 ? 0 : len;
    }
    return count;
}

/* ---- rows ---- */

static void set_field(const struct tables *tables, const struct rows_column *column,
                      const struct value *value, struct change *image)
{
    char *field = (char *)image + column->at;
    int32_t narrow = (int32_t)value->integer;
    struct slice text = value->text;
    switch (column->cell) {
    case CELL_INTEGER:
    case CELL_NUMBER:
    case CELL_TIME:
        memcpy(field, column->bytes == sizeof(narrow) ? (void *)&narrow : (void *)&value->integer,
               column->bytes);
        return;
    case CELL_RATIO:
        memcpy(field, &value->number, sizeof(value->number));
        return;
    case CELL_TEXT:
        if (!value->is_null)
            text = tables_keep_text(tables, text);
        memcpy(field, &text, sizeof(text));
        return;
    }
}

static bool field_equals(const struct rows_column *column, const struct change *image,
                         const struct value *value)
{
    const char *field = (const char *)image + column->at;
    int64_t wide = 0;
    int32_t narrow = 0;
    struct slice text;
    if (value->is_null)
        return false;
    if (column->cell == CELL_TEXT) {
        memcpy(&text, field, sizeof(text));
        return slice_equal(text, value->text);
    }
    check(column->cell == CELL_INTEGER || column->cell == CELL_NUMBER);
    memcpy(column->bytes == sizeof(wide) ? (void *)&wide : (void *)&narrow, field, column->bytes);
    return wide + narrow == value->integer;
}

static const struct value *value_of(const struct write_values *values, const struct pair *pair,
                                    size_t row)
{
    return &values->values[pair->parameter - 1][row];
}

static bool matches(const struct write_plan *plan, const struct write_values *values, size_t at,
                    const struct change *image)
{
    for (unsigned i = 0; i < plan->where_count; i++)
        if (!field_equals(plan->where[i].column, image, value_of(values, &plan->where[i], at)))
            return false;
    return true;
}

/* The writes of a statement, before it is known whether it may execute them. */
struct effects {
    size_t count;
    struct row_write writes[ROWS_AT_ONCE];
    size_t key_count;
    uint64_t keys[ROWS_AT_ONCE * 2 * (ROW_KEYS + 1)];
    size_t reference_count;
    uint64_t references[ROWS_AT_ONCE * ROW_REFERENCES];
};

static void add_keys(struct effects *effects, const struct row_write *write)
{
    check(effects->key_count + ROW_KEYS + 1 <= sizeof(effects->keys) / sizeof(effects->keys[0]));
    effects->key_count +=
        row_keys(write->table, &write->row.image, &effects->keys[effects->key_count]);
    const uint64_t existence = row_existence_key(write->table, &write->row.image);
    if (write->is_delete && existence != 0)
        effects->keys[effects->key_count++] = existence;
}

/* `before`: the row as it was; NULL: it is new. */
static void add_write(struct effects *effects, const struct change *before,
                      const struct row_write *write)
{
    check(effects->count < ROWS_AT_ONCE);
    if (!write->is_delete)
        effects->reference_count += row_references(write->table, before, &write->row.image,
                                                   &effects->references[effects->reference_count]);
    effects->writes[effects->count++] = *write;
    add_keys(effects, write);
}

static void set_fields(const struct write_plan *plan, const struct write_values *values, size_t at,
                       const struct tables *tables, struct change *image)
{
    for (unsigned i = 0; i < plan->set_count; i++)
        set_field(tables, plan->set[i].column, value_of(values, &plan->set[i], at), image);
    if (plan->table == ROWS_CONSUMERS)
        image->consumer.expected_generation = image->consumer.generation;
}

static void insert(const struct write_plan *plan, const struct write_values *values,
                   const struct tables *tables, struct effects *effects)
{
    for (size_t at = 0; at < values->rows; at++) {
        struct row_write write = {
            .table = (enum table)plan->table,
            .row = {.birth = ++server.states.clock, .image.kind = rows_info(plan->table)->insert}};
        set_fields(plan, values, at, tables, &write.row.image);
        add_write(effects, NULL, &write);
    }
}

/* Returns how many rows the values' row finds. */
static unsigned change(const struct write_plan *plan, const struct write_values *values, size_t at,
                       const struct tables *tables, struct effects *effects)
{
    const struct rows *rows = &tables->rows[plan->table];
    unsigned found = 0;
    for (uint32_t i = 0; i < rows->count; i++) {
        struct row_write write = {.table = (enum table)plan->table,
                                  .is_delete = plan->action != ACTION_UPDATE,
                                  .row = rows->row[i]};
        if (!matches(plan, values, at, &write.row.image))
            continue;
        found++;
        add_keys(effects, &write);
        set_fields(plan, values, at, tables, &write.row.image);
        add_write(effects, &rows->row[i].image, &write);
    }
    return found;
}

/* ---- constraints ---- */

/* The text of a unique column, of which a row has one or two in the order of its keys. */
static enum outcome fail_duplicate(struct call *call, enum rows_table table, size_t key,
                                   const struct change *image)
{
    const struct rows_info *info = rows_info(table);
    size_t texts = 0;
    call_fail(call, "23505", "duplicate key value violates unique constraint");
    call->result->constraint = key == 0 ? "some_pkey" : "some_uniq";
    for (unsigned c = 0; c < info->count && key > 0; c++) {
        struct slice text;
        if (info->columns[c].cell != CELL_TEXT || ++texts < key)
            continue;
        memcpy(&text, (const char *)image + info->columns[c].at, sizeof(text));
        call->result->detail = arena_printf(call->result->arena, "Key (%s)=(%.*s) already exists.",
                                            info->columns[c].name, SLICE_ARG(text))
                                   .data;
        break;
    }
    return OUTCOME_ERROR;
}

static bool has_provider(const struct tables *tables, int64_t id)
{
    return id == 0 || tables_find(tables, TABLE_PROVIDERS, id) != NULL;
}

/* The foreign keys: a provider's to its parent and root, and those of its traits. */
static bool is_dangling(const struct tables *tables, const struct row_write *write)
{
    const struct change *image = &write->row.image;
    if (write->table == TABLE_PROVIDERS)
        return !has_provider(tables, image->provider.parent_id) ||
               !has_provider(tables, image->provider.root_id);
    return write->table == TABLE_PROVIDER_TRAITS &&
           (!has_provider(tables, image->link.provider_id) ||
            tables_find(tables, TABLE_TRAITS, image->link.other_id) == NULL);
}

/* Whether a row refers to the deleted one. */
static bool is_referred(const struct tables *tables, const struct row_write *write)
{
    const struct rows *providers = &tables->rows[TABLE_PROVIDERS];
    const struct rows *links = &tables->rows[TABLE_PROVIDER_TRAITS];
    const int64_t id = write->row.image.row.id;
    bool is_referred = false;
    for (uint32_t i = 0; i < providers->count && write->table == TABLE_PROVIDERS; i++)
        is_referred |= providers->row[i].image.provider.parent_id == id ||
                       providers->row[i].image.provider.root_id == id;
    for (uint32_t i = 0; i < links->count && write->table == TABLE_PROVIDERS; i++)
        is_referred |= links->row[i].image.link.provider_id == id;
    for (uint32_t i = 0; i < links->count && write->table == TABLE_TRAITS; i++)
        is_referred |= links->row[i].image.link.other_id == id;
    return is_referred;
}

/* *failed: the row that it refuses, from 0 on. */
static enum outcome execute(struct call *call, const struct write_plan *plan,
                            const struct effects *effects, size_t *failed)
{
    for (size_t i = 0; i < effects->count; i++)
        transaction_write(call->session, &effects->writes[i]);
    const struct view view = transaction_view(call->session);
    const struct rows *rows = &view.tables->rows[plan->table];
    for (size_t i = 0; i < effects->count; i++) {
        const struct row_write *write = &effects->writes[i];
        *failed = i;
        size_t key = write->is_delete ? ROW_KEYS : row_find_duplicate(rows, write);
        if (key < ROW_KEYS)
            return fail_duplicate(call, plan->table, key, &write->row.image);
        if (!write->is_delete && is_dangling(view.tables, write))
            return call_fail(call, "23503", "insert or update violates foreign key constraint");
        if (write->is_delete && is_referred(view.tables, write))
            return call_fail(call, "23503", "update or delete violates foreign key constraint");
    }
    return OUTCOME_DONE;
}

/* What a statement of that form returns if it finds every row: no rows. */
static void result_none(struct call *call, enum action action)
{
    call->result = action == ACTION_UPDATE || action == ACTION_DELETE
                       ? result_rows(call->message->is_binary)
                       : result_create(PGRES_COMMAND_OK);
    if (call->result->arena != NULL)
        result_column(call->result, PG_INT4);
}

enum outcome rows_write(struct call *call, const struct write_plan *plan,
                        const struct write_values *values, struct write_found *found)
{
    static struct effects effects;
    const struct tables *tables = transaction_view(call->session).tables;
    *found = (struct write_found){.missing = SIZE_MAX};
    effects.count = effects.key_count = effects.reference_count = 0;
    if (plan->action == ACTION_INSERT)
        insert(plan, values, tables, &effects);
    else
        for (size_t at = 0; at < values->rows; at++)
            if (change(plan, values, at, tables, &effects) == 0 && found->missing == SIZE_MAX)
                found->missing = at;
    found->rows = effects.count;
    enum outcome outcome = transaction_take(call, effects.keys, effects.key_count);
    if (outcome == OUTCOME_DONE)
        outcome = transaction_refer(call, effects.references, effects.reference_count);
    return outcome == OUTCOME_DONE ? execute(call, plan, &effects, &found->failed) : outcome;
}

enum outcome statement_write(struct call *call, bool *is_known)
{
    static struct write_values values;
    const struct write_plan *plan = write_plan_of(call->sql);
    struct write_found found;
    *is_known = plan != NULL;
    if (plan == NULL)
        return OUTCOME_DONE;
    for (unsigned p = 0; p < call->message->count; p++)
        values.rows = parameter_array(call, p + 1, values.values[p], ROWS_AT_ONCE);
    enum outcome outcome = rows_write(call, plan, &values, &found);
    if (outcome == OUTCOME_DONE && found.missing != SIZE_MAX && plan->action != ACTION_DELETE_ANY)
        return call_fail(call, "22P02", "invalid input syntax for type integer: \"!%zu\"",
                         found.missing + 1);
    if (outcome == OUTCOME_DONE)
        result_none(call, plan->action);
    return outcome;
}
