/* Analyses INSERT of arrays, and UPDATE and DELETE of the rows that arrays name: which column gets
 * which array, and which columns are compared with which. One thread. */
#include "write_plan.h"

#include <stdlib.h>

#include "statements.h"

enum { PLANS_MOST = 128 };

static struct write_plan plans[PLANS_MOST];
static size_t plan_count;

/* ---- texts ---- */

static bool skip(struct slice *at, const char *text)
{
    if (!slice_starts_with(*at, slice_of(text)))
        return false;
    *at = slice_skip(*at, strlen(text));
    return true;
}

/* Up to the text, which is skipped. Without data: it is not there. */
static struct slice cut(struct slice *at, const char *text)
{
    const char *found = at->len == 0 ? NULL : memmem(at->data, at->len, text, strlen(text));
    if (found == NULL)
        return (struct slice){0};
    struct slice before = {at->data, (size_t)(found - at->data)};
    *at = slice_skip(*at, before.len + strlen(text));
    return before;
}

static const struct rows_column *find_column(enum rows_table table, struct slice name)
{
    const struct rows_info *info = rows_info(table);
    for (unsigned i = 0; i < info->count; i++)
        if (slice_equal(slice_of(info->columns[i].name), name) &&
            (info->columns[i].flags & ROWS_OF_CONSUMER) == 0)
            return &info->columns[i];
    return NULL;
}

/* The names of "AS v(id, name, row)": the position of one, from 1 on; 0: it is none of them. */
static unsigned find_name(struct slice names, struct slice name)
{
    for (unsigned at = 1; names.len > 0; at++)
        if (slice_equal(slice_trim(slice_cut(&names, ',')), name))
            return at;
    return 0;
}

static bool add_pair(struct pair *pairs, unsigned *count, const struct rows_column *column,
                     unsigned parameter)
{
    if (column == NULL || parameter == 0 || *count == PLAN_COLUMNS)
        return false;
    pairs[(*count)++] = (struct pair){column, parameter};
    return true;
}

/* "name = v.name, parent_provider_id = v.parent" */
static bool parse_set(struct write_plan *plan, struct slice list, struct slice names)
{
    while (list.len > 0) {
        struct slice value = slice_cut(&list, ',');
        struct slice column = slice_trim(slice_cut(&value, '='));
        value = slice_trim(value);
        if (!skip(&value, "v.") ||
            !add_pair(plan->set, &plan->set_count, find_column(plan->table, column),
                      find_name(names, value)))
            return false;
    }
    return true;
}

/* "t.id = ANY (ARRAY[v.id]) AND coalesce(t.generation, 0) = v.expected" */
static bool parse_where(struct write_plan *plan, struct slice list, struct slice names)
{
    while (list.len > 0) {
        struct slice value = cut(&list, " AND ");
        if (value.data == NULL) {
            value = list;
            list.len = 0;
        }
        struct slice column = slice_trim(slice_cut(&value, '='));
        value = slice_trim(value);
        if (skip(&column, "coalesce("))
            column = slice_cut(&column, ',');
        if (skip(&value, "ANY (ARRAY["))
            value = slice_cut(&value, ']');
        if (!skip(&column, "t.") || !skip(&value, "v.") ||
            !add_pair(plan->where, &plan->where_count, find_column(plan->table, column),
                      find_name(names, value)))
            return false;
    }
    return true;
}

static bool parse_checked(struct write_plan *plan, struct slice at)
{
    bool is_update = skip(&at, "WITH w AS (UPDATE ");
    if (!is_update && !skip(&at, "WITH w AS (DELETE FROM "))
        return false;
    plan->action = is_update ? ACTION_UPDATE : ACTION_DELETE;
    plan->table = table_named(cut(&at, " t "));
    if (plan->table >= ROWS_RECORDS)
        return false;
    struct slice set = {0};
    if (is_update && (!skip(&at, "SET ") || (set = cut(&at, " FROM unnest(")).data == NULL))
        return false;
    if (cut(&at, " AS v(").data == NULL)
        return false;
    struct slice names = cut(&at, ") WHERE ");
    struct slice where = cut(&at, " RETURNING v.row)");
    return names.data != NULL && where.data != NULL && parse_set(plan, set, names) &&
           parse_where(plan, where, names);
}

static bool parse_insert(struct write_plan *plan, struct slice at)
{
    if (!skip(&at, "INSERT INTO "))
        return false;
    plan->action = ACTION_INSERT;
    plan->table = table_named(cut(&at, " ("));
    struct slice columns = cut(&at, ") SELECT ");
    if (plan->table >= ROWS_RECORDS || columns.data == NULL)
        return false;
    for (unsigned parameter = 1; columns.len > 0; parameter++)
        if (!add_pair(plan->set, &plan->set_count,
                      find_column(plan->table, slice_trim(slice_cut(&columns, ','))), parameter))
            return false;
    return true;
}

/* "DELETE FROM allocations WHERE consumer_id = ANY ($1::text[])" */
static bool parse_delete_any(struct write_plan *plan, struct slice at)
{
    if (!skip(&at, "DELETE FROM "))
        return false;
    plan->action = ACTION_DELETE_ANY;
    plan->table = table_named(cut(&at, " WHERE "));
    struct slice column = cut(&at, " = ANY ($1::");
    return plan->table < ROWS_RECORDS && column.data != NULL &&
           add_pair(plan->where, &plan->where_count, find_column(plan->table, column), 1);
}

const struct write_plan *write_plan_of(const char *sql)
{
    for (size_t i = 0; i < plan_count; i++)
        if (strcmp(plans[i].sql, sql) == 0)
            return &plans[i];
    struct write_plan *plan = &plans[plan_count];
    bool (*const parsers[])(struct write_plan *, struct slice) = {parse_checked, parse_insert,
                                                                  parse_delete_any};
    for (size_t i = 0; i < sizeof(parsers) / sizeof(parsers[0]); i++) {
        *plan = (struct write_plan){0};
        if (!parsers[i](plan, slice_of(sql)))
            continue;
        check(++plan_count < PLANS_MOST);
        plan->sql = slice_dup(slice_of(sql));
        return plan;
    }
    return NULL;
}

void write_plans_forget(void)
{
    while (plan_count > 0)
        free(plans[--plan_count].sql);
}
